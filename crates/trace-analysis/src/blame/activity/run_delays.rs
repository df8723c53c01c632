//! For how long threads waited for a processor, of what the system said now and then.
//!
//! What is counted grows, and no faster than time: so what it was in between lies between bounds.
//! A wait for a processor counts when it is over, and the thread comes to a processor. What is
//! counted then is more than the time since the system was asked before, if the wait had begun
//! earlier: a part of it was there already.

use std::collections::VecDeque;
use std::ops::Range;

use crate::collections::galloping::{count_from_front, count_near};
use crate::collections::hash::SeededMap;
use crate::model::entity::ThreadIndex;
use crate::order::system_fact::Times;

/// What the system has counted of a thread that runs is as old as the clock's last tick: there are
/// a hundred in a second at least (Linux's `CONFIG_HZ`), unless the processor was set apart for one
/// thread alone (`nohz_full`).
const TICK_NS: u64 = 10_000_000;

/// What the system said of some threads.
#[derive(Debug)]
pub(crate) struct RunDelays {
    threads: SeededMap<ThreadIndex, OfThread>,
    /// Whose sample came first, next, and so on.
    order: VecDeque<ThreadIndex>,
    max: usize,
}

/// Those of one thread, if there are any.
pub(crate) struct SamplesOf<'s>(Option<&'s mut OfThread>);

/// In the order of time.
#[derive(Debug, Default)]
struct OfThread {
    samples: VecDeque<Sample>,
    /// Near the place in them that was wanted last.
    near: usize,
    /// Two that follow each other, around the time that was asked for last.
    around: Option<[Sample; 2]>,
}

/// What is known of a thread at a time. Delays are those since the thread began to run at all.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time_ns: u64,
    processor_ns: u64,
    counted_ns: u64,
    /// How often the thread had come to a processor.
    timeslices: u64,
    /// The delay with the wait that was going on, at least.
    least_ns: u64,
    /// At most; `u64::MAX` while it has not shown.
    most_ns: u64,
}

/// How some time of a thread divides. The first five parts add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Division {
    /// On a processor, at least.
    pub(crate) processor_ns: u64,
    /// Waiting for one, at least.
    pub(crate) run_delay_ns: u64,
    /// Neither, at least: the thread slept in the system.
    pub(crate) asleep_ns: u64,
    /// One of these three: it was between two moments at which the system was asked.
    pub(crate) not_told_ns: u64,
    /// The system was not asked around that time.
    pub(crate) not_known_ns: u64,
    /// What the delay was at most, without what is not known.
    pub(crate) most_run_delay_ns: u64,
}

impl Sample {
    /// The thread came to a processor since an earlier sample, or waited for one, which counts. If it
    /// had to wait for no time to speak of, the delay alone does not show that.
    fn is_after_wait(&self, earlier: &Self) -> bool {
        earlier.counted_ns < self.counted_ns || earlier.timeslices < self.timeslices
    }

    /// Whatever the thread did not run since an earlier sample, it waited at most.
    fn not_run_since(&self, earlier: &Self) -> u64 {
        let ran_ns = self.processor_ns.saturating_sub(earlier.processor_ns);
        (self.time_ns - earlier.time_ns).saturating_sub(ran_ns.saturating_sub(TICK_NS))
    }
}

/// Behind the last sample with its counts a wait ended, which counts: whoever waited already at an
/// earlier one did so until the last.
fn end_of_wait(samples: &mut VecDeque<Sample>, last: Sample, counted_ns: u64) {
    let others = (samples.iter().rev()).take_while(|sample| !last.is_after_wait(sample));
    let first = samples.len() - others.count();
    let mut before: Option<Sample> = None;
    for sample in samples.range_mut(first..) {
        let most_ns = counted_ns.saturating_sub(last.time_ns - sample.time_ns);
        sample.most_ns = sample.most_ns.min(most_ns.max(sample.counted_ns));
        if let Some(before) = before {
            let most_ns = before.most_ns.saturating_add(sample.not_run_since(&before));
            sample.most_ns = sample.most_ns.min(most_ns);
        }
        before = Some(*sample);
    }
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
        let of_thread = self.threads.entry(times.thread).or_default();
        of_thread.around = None;
        let samples = &mut of_thread.samples;
        if let Some(last) = samples.back()
            && (times.time_ns <= last.time_ns
                || times.processor_ns < last.processor_ns
                || times.run_delay_ns < last.counted_ns
                || times.timeslices < last.timeslices)
        {
            return;
        }
        let mut sample = Sample {
            time_ns: times.time_ns,
            processor_ns: times.processor_ns,
            counted_ns: times.run_delay_ns,
            timeslices: times.timeslices,
            least_ns: times.run_delay_ns,
            most_ns: u64::MAX,
        };
        if let Some(&last) = samples.back()
            && sample.is_after_wait(&last)
        {
            end_of_wait(samples, last, sample.counted_ns);
        }
        if let Some(last) = samples.back() {
            let most_ns = last.most_ns.saturating_add(sample.not_run_since(last));
            sample.most_ns = most_ns.max(sample.counted_ns);
        }
        for earlier in samples.iter_mut().rev() {
            let least_ns = (sample.counted_ns).saturating_sub(sample.not_run_since(earlier));
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
        if let Some(of_thread) = self.threads.get_mut(&thread) {
            of_thread.samples.pop_front();
            of_thread.near = of_thread.near.saturating_sub(1);
            if of_thread.samples.is_empty() {
                self.threads.remove(&thread);
            }
        }
    }

    /// Those of a thread.
    pub(crate) fn of(&mut self, thread: ThreadIndex) -> SamplesOf<'_> {
        SamplesOf(self.threads.get_mut(&thread))
    }

    /// [Divides](SamplesOf::divide) the time of a thread from begin to end.
    pub(crate) fn divide(&mut self, thread: ThreadIndex, start_ns: u64, end_ns: u64) -> Division {
        self.of(thread).divide(start_ns, end_ns)
    }
}

impl SamplesOf<'_> {
    /// Divides the thread's time from begin to end. Costs the less the nearer that is to the time
    /// before.
    pub(crate) fn divide(&mut self, start_ns: u64, end_ns: u64) -> Division {
        let known = (self.0.as_mut()).and_then(|of_thread| of_thread.known(start_ns, end_ns));
        let whole_ns = end_ns.saturating_sub(start_ns);
        match known {
            Some((known, moments)) => Division::of(known.end - known.start, &moments, whole_ns),
            None => Division {
                not_known_ns: whole_ns,
                ..Division::default()
            },
        }
    }
}

impl OfThread {
    /// What is known of the time from begin to end, and of these two moments.
    fn known(&mut self, start_ns: u64, end_ns: u64) -> Option<(Range<u64>, [Moment; 2])> {
        if let Some([before, after]) = &self.around
            && before.time_ns < start_ns
            && start_ns < end_ns
            && end_ns <= after.time_ns
        {
            let moments = [start_ns, end_ns].map(|time_ns| Moment::between(before, after, time_ns));
            return Some((start_ns..end_ns, moments));
        }
        self.look_around(start_ns, end_ns)
    }

    /// The same, wherever it is.
    fn look_around(&mut self, start_ns: u64, end_ns: u64) -> Option<(Range<u64>, [Moment; 2])> {
        let Self {
            samples,
            near,
            around,
        } = self;
        let (first, last) = (samples.front()?, samples.back()?);
        let known = start_ns.max(first.time_ns)..end_ns.min(last.time_ns);
        if known.start >= known.end {
            return None;
        }
        let begin = count_near(samples, *near, |sample| sample.time_ns < known.start);
        let end = count_from_front(samples, begin, |sample| sample.time_ns < known.end);
        *near = begin;
        let moments = [
            Moment::at(samples, begin, known.start)?,
            Moment::at(samples, end, known.end)?,
        ];
        let before = end.checked_sub(1).and_then(|before| samples.get(before));
        *around = before
            .zip(samples.get(end))
            .map(|(before, after)| [*before, *after]);
        Some((known, moments))
    }
}

impl Division {
    /// Of a time of which so much is known, between these moments.
    fn of(known_ns: u64, [begin, end]: &[Moment; 2], whole_ns: u64) -> Self {
        let run_delay_ns = end.least_ns.saturating_sub(begin.most_ns).min(known_ns);
        let processor_ns = (end.least_processor_ns)
            .saturating_sub(begin.most_processor_ns)
            .min(known_ns - run_delay_ns);
        let most_run_delay_ns = (end.most_ns)
            .saturating_sub(begin.least_ns)
            .clamp(run_delay_ns, known_ns - processor_ns);
        let most_processor_ns = (end.most_processor_ns).saturating_sub(begin.least_processor_ns);
        let asleep_ns = known_ns
            .saturating_sub(most_run_delay_ns)
            .saturating_sub(most_processor_ns)
            .min(known_ns - run_delay_ns - processor_ns);
        Self {
            processor_ns,
            run_delay_ns,
            asleep_ns,
            not_told_ns: known_ns - run_delay_ns - processor_ns - asleep_ns,
            not_known_ns: whole_ns - known_ns,
            most_run_delay_ns,
        }
    }
}

/// Between what a thread's counts were at some time.
struct Moment {
    least_ns: u64,
    most_ns: u64,
    least_processor_ns: u64,
    most_processor_ns: u64,
}

impl Moment {
    /// At a time from that of the first sample to that of the last; `place` is that of the first one
    /// which is not before.
    fn at(samples: &VecDeque<Sample>, place: usize, time_ns: u64) -> Option<Self> {
        let after = samples.get(place)?;
        let before = match after.time_ns == time_ns {
            true => after,
            false => samples.get(place.checked_sub(1)?)?,
        };
        Some(Self::between(before, after, time_ns))
    }

    /// At a time between those of two samples.
    fn between(before: &Sample, after: &Sample, time_ns: u64) -> Self {
        let before = if after.time_ns == time_ns {
            after
        } else {
            before
        };
        let since_ns = time_ns - before.time_ns;
        let until_ns = after.time_ns - time_ns;
        let most_ns = before.most_ns.saturating_add(since_ns);
        let ran_ns = before.processor_ns.saturating_add(since_ns);
        Self {
            least_ns: before.least_ns.max(after.least_ns.saturating_sub(until_ns)),
            most_ns: most_ns.min(after.most_ns),
            least_processor_ns: (before.processor_ns)
                .max(after.processor_ns.saturating_sub(until_ns)),
            most_processor_ns: ran_ns.min(after.processor_ns).saturating_add(TICK_NS),
        }
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

    /// How often it began to run.
    fn timeslices(life: &Life, at_ns: u64) -> u64 {
        let mut begin_ns = 0;
        let mut count = 0;
        for &(doing, duration_ns) in life {
            count += u64::from(doing == Doing::Running && begin_ns <= at_ns);
            begin_ns += duration_ns;
        }
        count
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
                    timeslices: timeslices(&life, time_ns),
                });
            }
            for (start_ns, duration_ns) in times {
                let end_ns = start_ns + duration_ns;
                let found = delays.divide(THREAD, start_ns, end_ns);
                let parts_ns = found.processor_ns
                    + found.run_delay_ns
                    + found.asleep_ns
                    + found.not_told_ns
                    + found.not_known_ns;
                prop_assert_eq!(parts_ns, duration_ns, "conserved");
                let truth_ns =
                    |doing| done(&life, doing, end_ns) - done(&life, doing, start_ns);
                let delay_ns = truth_ns(Doing::WaitingToRun);
                prop_assert!(
                    found.run_delay_ns <= delay_ns
                        && delay_ns <= found.most_run_delay_ns + found.not_known_ns,
                    "{delay_ns} ns: {found:?}"
                );
                let ran_ns = truth_ns(Doing::Running);
                prop_assert!(found.processor_ns <= ran_ns, "{ran_ns} ns: {found:?}");
                // One is off the processors before its life begins and after it ends, too.
                let asleep_ns = duration_ns - ran_ns - delay_ns;
                prop_assert!(found.asleep_ns <= asleep_ns, "{asleep_ns} ns: {found:?}");
            }
        }
    }

    proptest! {
        /// As a damaged trace may say it.
        #[test]
        fn any_times_are_divided(
            said in prop::collection::vec(any::<[u64; 4]>(), 0..20),
            (start_ns, end_ns) in any::<(u64, u64)>(),
        ) {
            let mut delays = RunDelays::new(10);
            for [time_ns, processor_ns, run_delay_ns, timeslices] in said {
                delays.add(Times {
                    timeslices,
                    ..times(time_ns, processor_ns, run_delay_ns)
                });
            }
            let found = delays.divide(THREAD, start_ns.min(end_ns), start_ns.max(end_ns));
            let parts_ns = found.processor_ns
                + found.run_delay_ns
                + found.asleep_ns
                + found.not_told_ns
                + found.not_known_ns;
            prop_assert_eq!(parts_ns, start_ns.abs_diff(end_ns));
        }
    }

    fn times(time_ns: u64, processor_ns: u64, run_delay_ns: u64) -> Times {
        Times {
            thread: THREAD,
            time_ns,
            processor_ns,
            run_delay_ns,
            timeslices: 0,
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
        // It ended after 160, and had begun 90 before that.
        let found = delays.divide(THREAD, 160 * MS, 200 * MS);
        assert_eq!((found.run_delay_ns, found.most_run_delay_ns), (0, 40 * MS));
        let found = delays.divide(THREAD, 120 * MS, 200 * MS);
        assert_eq!(
            (found.run_delay_ns, found.most_run_delay_ns),
            (40 * MS, 80 * MS)
        );
        let found = delays.divide(THREAD, 100 * MS, 200 * MS);
        assert_eq!(
            (found.run_delay_ns, found.most_run_delay_ns),
            (60 * MS, 100 * MS)
        );
    }

    /// Between two looks that say the same the thread may have waited, or slept. Which of them shows
    /// when it comes to a processor, also if it had to wait for no time at all.
    #[test]
    fn who_sleeps_and_then_runs_at_once_did_not_wait() {
        for (timeslices, most_ms) in [(0, 100), (1, 0)] {
            let mut delays = RunDelays::new(1000);
            for time in [100, 200, 300] {
                delays.add(times(time * MS, 0, 0));
            }
            delays.add(Times {
                timeslices,
                ..times(400 * MS, 0, 0)
            });
            let found = delays.divide(THREAD, 150 * MS, 250 * MS);
            assert_eq!(found.most_run_delay_ns, most_ms * MS);
            // What it ran may be a tick.
            let least_asleep_ms = 100_u64.saturating_sub(most_ms).saturating_sub(10);
            assert_eq!(found.asleep_ns, least_asleep_ms * MS);
        }
    }

    /// Time between two looks is told where it could have been nothing else.
    #[test]
    fn what_is_short_is_not_told() {
        let mut delays = RunDelays::new(1000);
        let samples = [
            (100, 0, 0),
            (200, 100, 0),
            (300, 100, 50),
            (400, 100, 50),
            (500, 150, 60),
        ];
        for (time, processor, delay) in samples {
            delays.add(times(time * MS, processor * MS, delay * MS));
        }
        let mut part = |start, end| {
            let found = delays.divide(THREAD, start * MS, end * MS);
            let parts = [
                found.processor_ns,
                found.run_delay_ns,
                found.asleep_ns,
                found.not_told_ns,
            ];
            parts.map(|ns| ns / MS)
        };
        // What is counted on a processor may be a tick old.
        assert_eq!(part(110, 190), [70, 0, 0, 10]);
        assert_eq!(part(240, 260), [0, 0, 0, 20]);
        // A delay of 50, of which 20 may have been before and behind.
        assert_eq!(part(210, 290), [0, 20, 20, 40]);
        assert_eq!(part(310, 390), [0, 0, 60, 20]);
    }

    #[test]
    fn who_was_not_asked_for_is_not_known() {
        let mut delays = RunDelays::new(2);
        for time in [100, 200, 300] {
            delays.add(times(time * MS, time * MS, 0));
        }
        // The first one is forgotten.
        let found = delays.divide(THREAD, 150 * MS, 350 * MS);
        let known = (found.processor_ns, found.not_told_ns, found.not_known_ns);
        assert_eq!(known, (90 * MS, 10 * MS, 100 * MS));
        let found = delays.divide(ThreadIndex(2), 150 * MS, 350 * MS);
        assert_eq!(found.not_known_ns, 200 * MS);
    }
}
