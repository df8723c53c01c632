//! For how long threads waited for a processor, of what the system said now and then.
//!
//! What is counted grows, and no faster than time: so what it was in between lies between bounds.
//! A wait for a processor counts when it is over. What is counted then is more than the time since
//! the system was asked before, if the wait had begun earlier: a part of it was there already.

use std::collections::VecDeque;

use crate::entity::ThreadIndex;
use crate::hash::SeededMap;
use crate::system_fact::Times;

/// What the system has counted of a thread that runs is as old as the clock's last tick: there are
/// a hundred in a second at least.
const TICK_NS: u64 = 10_000_000;

/// What the system said of some threads.
#[derive(Debug)]
pub(crate) struct RunDelays {
    threads: SeededMap<ThreadIndex, VecDeque<Sample>>,
    /// Whose sample came first, next, and so on.
    order: VecDeque<ThreadIndex>,
    max: usize,
}

/// What is known of a thread at a time. Delays are those since the thread began to run at all.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time_ns: u64,
    processor_ns: u64,
    counted_ns: u64,
    /// The delay with the wait that was going on, at least.
    least_ns: u64,
    /// At most; `u64::MAX` while it has not shown.
    most_ns: u64,
}

/// How some time of a thread divides. The parts add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Division {
    /// On a processor.
    pub(crate) processor_ns: u64,
    /// Waiting for one.
    pub(crate) run_delay_ns: u64,
    /// Neither: the thread slept in the system.
    pub(crate) asleep_ns: u64,
    /// The system was not asked around that time.
    pub(crate) not_known_ns: u64,
    /// Between what the delay must have been.
    pub(crate) least_run_delay_ns: u64,
    pub(crate) most_run_delay_ns: u64,
}

impl RunDelays {
    /// Keeps so many samples.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            threads: SeededMap::default(),
            order: VecDeque::new(),
            max,
        }
    }

    /// Adds what the system said next of a thread.
    pub(crate) fn add(&mut self, times: Times) {
        let samples = self.threads.entry(times.thread).or_default();
        if let Some(last) = samples.back()
            && (times.time_ns <= last.time_ns
                || times.processor_ns < last.processor_ns
                || times.run_delay_ns < last.counted_ns)
        {
            return;
        }
        let sample = Sample {
            time_ns: times.time_ns,
            processor_ns: times.processor_ns,
            counted_ns: times.run_delay_ns,
            least_ns: times.run_delay_ns,
            most_ns: u64::MAX,
        };
        if let Some(&last) = samples.back()
            && last.counted_ns < sample.counted_ns
        {
            // What went on then is over.
            let same = samples.iter_mut().rev();
            for earlier in same.take_while(|earlier| earlier.counted_ns == last.counted_ns) {
                earlier.most_ns = sample.counted_ns;
            }
        }
        for earlier in samples.iter_mut().rev() {
            // Whatever the thread did not run, it waited at most.
            let between_ns = sample.time_ns - earlier.time_ns;
            let ran_ns = sample.processor_ns - earlier.processor_ns;
            let waited_ns = between_ns.saturating_sub(ran_ns.saturating_sub(TICK_NS));
            let least_ns = sample.counted_ns.saturating_sub(waited_ns);
            if least_ns <= earlier.least_ns {
                break;
            }
            earlier.least_ns = least_ns.min(earlier.most_ns);
        }
        samples.push_back(sample);
        self.order.push_back(times.thread);
        if self.order.len() > self.max {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let Some(thread) = self.order.pop_front() else {
            return;
        };
        if let Some(samples) = self.threads.get_mut(&thread) {
            samples.pop_front();
            if samples.is_empty() {
                self.threads.remove(&thread);
            }
        }
    }

    /// Divides the time of a thread from begin to end.
    pub(crate) fn divide(&self, thread: ThreadIndex, start_ns: u64, end_ns: u64) -> Division {
        let whole_ns = end_ns.saturating_sub(start_ns);
        let samples = self.threads.get(&thread);
        let known = samples.and_then(|samples| {
            let (first, last) = (samples.front()?, samples.back()?);
            let known = start_ns.max(first.time_ns)..end_ns.min(last.time_ns);
            (known.start < known.end).then_some((samples, known))
        });
        let Some((samples, known)) = known else {
            return Division {
                not_known_ns: whole_ns,
                ..Division::default()
            };
        };
        let (Some(begin), Some(end)) = (
            Moment::at(samples, known.start),
            Moment::at(samples, known.end),
        ) else {
            return Division::default();
        };
        let known_ns = known.end - known.start;
        let least_run_delay_ns = end.least_ns.saturating_sub(begin.most_ns).min(known_ns);
        let ran_ns = (end.least_processor_ns).saturating_sub(begin.most_processor_ns);
        let most_run_delay_ns = (end.most_ns)
            .saturating_sub(begin.least_ns)
            .min(known_ns.saturating_sub(ran_ns))
            .max(least_run_delay_ns);
        let run_delay_ns = (end.delay_ns)
            .saturating_sub(begin.delay_ns)
            .clamp(least_run_delay_ns, most_run_delay_ns);
        let processor_ns = (end.processor_ns)
            .saturating_sub(begin.processor_ns)
            .min(known_ns - run_delay_ns);
        Division {
            processor_ns,
            run_delay_ns,
            asleep_ns: known_ns - run_delay_ns - processor_ns,
            not_known_ns: whole_ns - known_ns,
            least_run_delay_ns,
            most_run_delay_ns,
        }
    }
}

/// What a thread's counts were at some time between two samples.
struct Moment {
    least_ns: u64,
    most_ns: u64,
    least_processor_ns: u64,
    most_processor_ns: u64,
    /// As if they had grown evenly.
    delay_ns: u64,
    processor_ns: u64,
}

impl Moment {
    /// At a time from that of the first sample to that of the last.
    fn at(samples: &VecDeque<Sample>, time_ns: u64) -> Option<Self> {
        let after = samples.partition_point(|sample| sample.time_ns < time_ns);
        let after = samples.get(after)?;
        let before = samples.partition_point(|sample| sample.time_ns <= time_ns);
        let before = samples.get(before.checked_sub(1)?)?;
        let since_ns = time_ns - before.time_ns;
        let until_ns = after.time_ns - time_ns;
        let even = |from: u64, to: u64| {
            let share = u128::from(to.saturating_sub(from)) * u128::from(since_ns);
            let grown = share.checked_div(u128::from(since_ns + until_ns));
            from + grown.map_or(0, |grown| grown as u64)
        };
        let most_ns = before.most_ns.saturating_add(since_ns);
        let ran_ns = before.processor_ns.saturating_add(since_ns);
        Some(Self {
            least_ns: before.least_ns.max(after.least_ns.saturating_sub(until_ns)),
            most_ns: most_ns.min(after.most_ns),
            least_processor_ns: (before.processor_ns)
                .max(after.processor_ns.saturating_sub(until_ns)),
            most_processor_ns: ran_ns.min(after.processor_ns).saturating_add(TICK_NS),
            delay_ns: even(before.least_ns, after.least_ns),
            processor_ns: even(before.processor_ns, after.processor_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const THREAD: ThreadIndex = ThreadIndex(1);

    /// What a thread does for a while.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Doing {
        Running,
        WaitingToRun,
        Sleeping,
    }

    /// A thread's life: what it does one after the other, and how long.
    type Life = Vec<(Doing, u64)>;

    fn done(life: &Life, doing: Doing, until_ns: u64) -> u64 {
        let mut at_ns = 0;
        let mut done_ns = 0;
        for &(did, duration_ns) in life {
            let end_ns = (at_ns + duration_ns).min(until_ns);
            if did == doing && end_ns > at_ns {
                done_ns += end_ns - at_ns;
            }
            at_ns += duration_ns;
        }
        done_ns
    }

    /// As the system counts: a wait counts when it is over.
    fn counted_delay(life: &Life, at_ns: u64) -> u64 {
        let mut begin_ns = 0;
        for &(did, duration_ns) in life {
            let end_ns = begin_ns + duration_ns;
            if did == Doing::WaitingToRun && (begin_ns..end_ns).contains(&at_ns) {
                return done(life, Doing::WaitingToRun, begin_ns);
            }
            begin_ns = end_ns;
        }
        done(life, Doing::WaitingToRun, at_ns)
    }

    fn lives() -> impl Strategy<Value = Life> {
        let doing = prop_oneof![
            Just(Doing::Running),
            Just(Doing::WaitingToRun),
            Just(Doing::Sleeping)
        ];
        // One who waits comes to run: two waits beside each other are one.
        let lives = prop::collection::vec((doing, 1_000_000..60_000_000_u64), 1..40);
        lives.prop_map(|mut life| {
            life.dedup_by_key(|(doing, _)| *doing);
            life
        })
    }

    proptest! {
        #[test]
        fn delays_lie_between_the_bounds(
            life in lives(),
            mut asked in prop::collection::vec((0..1_000_000_000_u64, 0..TICK_NS), 2..60),
            times in prop::collection::vec((0..1_000_000_000_u64, 0..300_000_000_u64), 1..20),
        ) {
            asked.sort_unstable();
            let mut delays = RunDelays::new(1000);
            let mut processor_ns = 0;
            for (time_ns, late_ns) in asked {
                // What the system has counted of a thread that runs is a little old.
                processor_ns = done(&life, Doing::Running, time_ns)
                    .saturating_sub(late_ns)
                    .max(processor_ns);
                delays.add(Times {
                    thread: THREAD,
                    time_ns,
                    processor_ns,
                    run_delay_ns: counted_delay(&life, time_ns),
                });
            }
            for (start_ns, duration_ns) in times {
                let end_ns = start_ns + duration_ns;
                let found = delays.divide(THREAD, start_ns, end_ns);
                let parts_ns = found.processor_ns
                    + found.run_delay_ns
                    + found.asleep_ns
                    + found.not_known_ns;
                prop_assert_eq!(parts_ns, duration_ns, "conserved");
                prop_assert!(found.least_run_delay_ns <= found.run_delay_ns);
                prop_assert!(found.run_delay_ns <= found.most_run_delay_ns);
                if found.not_known_ns > 0 {
                    continue;
                }
                let truth_ns = done(&life, Doing::WaitingToRun, end_ns)
                    - done(&life, Doing::WaitingToRun, start_ns);
                prop_assert!(
                    (found.least_run_delay_ns..=found.most_run_delay_ns).contains(&truth_ns),
                    "{truth_ns} ns: {found:?}"
                );
            }
        }
    }

    fn times(time_ns: u64, processor_ns: u64, run_delay_ns: u64) -> Times {
        Times {
            thread: THREAD,
            time_ns,
            processor_ns,
            run_delay_ns,
        }
    }

    const MS: u64 = 1_000_000;

    /// A wait of 90 ms that began before it counts is found where it was.
    #[test]
    fn a_long_delay_is_not_where_it_was_counted() {
        let mut delays = RunDelays::new(1000);
        for (time, delay) in [
            (100, 0),
            (120, 0),
            (140, 0),
            (160, 0),
            (200, 90),
            (220, 110),
        ] {
            delays.add(times(time * MS, 0, delay * MS));
        }
        let found = delays.divide(THREAD, 160 * MS, 200 * MS);
        assert_eq!(found.run_delay_ns, 40 * MS);
        let found = delays.divide(THREAD, 110 * MS, 200 * MS);
        assert_eq!(found.run_delay_ns, 90 * MS);
    }

    #[test]
    fn who_was_not_asked_for_is_not_known() {
        let mut delays = RunDelays::new(2);
        for time in [100, 200, 300] {
            delays.add(times(time * MS, time * MS, 0));
        }
        // The first one is forgotten.
        let found = delays.divide(THREAD, 150 * MS, 350 * MS);
        let known = (found.processor_ns, found.not_known_ns);
        assert_eq!(known, (100 * MS, 100 * MS));
        let found = delays.divide(ThreadIndex(2), 150 * MS, 350 * MS);
        assert_eq!(found.not_known_ns, 200 * MS);
    }
}
