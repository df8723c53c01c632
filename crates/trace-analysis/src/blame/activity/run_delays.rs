//! Run delays: how long threads waited for a processor, from samples of the system's counters.
//!
//! The counters only grow, and no faster than time, so their values between two samples lie between
//! bounds. The system counts a wait for a processor when it is over and the thread gets to run. If
//! a counter has grown by more than the time since the previous sample, the wait began before that
//! sample, and part of it belongs there.

use std::collections::VecDeque;
use std::ops::Range;

use crate::collections::galloping::{count_from_front, count_near};
use crate::collections::hash::SeededMap;
use crate::model::entity::ThreadIndex;
use crate::order::system_fact::Times;

/// The counters of a running thread are as old as the last clock tick. There are at least 100 ticks
/// per second (Linux's `CONFIG_HZ`), unless the processor is reserved for one thread (`nohz_full`).
pub(crate) const TICK_NS: u64 = 10_000_000;

/// Scheduling samples of some threads.
#[derive(Debug)]
pub(crate) struct RunDelays {
    threads: SeededMap<ThreadIndex, OfThread>,
    /// The thread of each sample, in order of arrival.
    order: VecDeque<ThreadIndex>,
    max: usize,
}

/// The samples of one thread, if there are any.
pub(crate) struct SamplesOf<'s>(Option<&'s mut OfThread>);

/// The samples of one thread, ordered by time.
#[derive(Debug, Default)]
struct OfThread {
    samples: VecDeque<Sample>,
    /// An index near the last one looked up.
    near: usize,
    /// Two consecutive samples around the last time looked up.
    around: Option<[Sample; 2]>,
}

/// A thread's counters at one time. Delays are counted since the thread was started.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time_ns: u64,
    processor_ns: u64,
    counted_ns: u64,
    /// Number of times the thread got to run.
    timeslices: u64,
    /// Lower bound of the delay, including a wait in progress.
    least_ns: u64,
    /// Upper bound of the delay; `u64::MAX` while it is not known.
    most_ns: u64,
}

/// Division of a span of a thread's time. The first five parts add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Division {
    /// On a processor, at least.
    pub(crate) processor_ns: u64,
    /// Waiting for a processor, at least.
    pub(crate) run_delay_ns: u64,
    /// Neither, at least: the thread was blocked in the system.
    pub(crate) asleep_ns: u64,
    /// One of these three: the samples do not distinguish them.
    pub(crate) ambiguous_ns: u64,
    /// There are no samples around that time.
    pub(crate) not_known_ns: u64,
    /// Upper bound of the run delay, without the time not known.
    pub(crate) most_run_delay_ns: u64,
    /// Not on a processor, at least.
    pub(crate) not_on_processor_ns: u64,
}

impl Sample {
    /// Returns whether the thread got to run since an earlier sample, and a wait for a processor
    /// was counted. The delay alone does not show that if the wait was too short to count.
    fn is_after_wait(&self, earlier: &Self) -> bool {
        earlier.counted_ns < self.counted_ns || earlier.timeslices < self.timeslices
    }

    /// Returns how long the thread did not run since an earlier sample: the maximum that it can
    /// have waited.
    fn not_run_since(&self, earlier: &Self) -> u64 {
        let ran_ns = self.processor_ns.saturating_sub(earlier.processor_ns);
        (self.time_ns - earlier.time_ns).saturating_sub(ran_ns.saturating_sub(TICK_NS))
    }
}

/// Applies the end of a wait that was counted after the `last` sample: if the thread was already
/// waiting at an earlier sample, it waited until then.
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
    /// Keeps at most `max` samples.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            threads: SeededMap::default(),
            order: VecDeque::new(),
            max,
        }
    }

    /// Adds the next sample of a thread.
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

    /// Returns the samples of a thread.
    pub(crate) fn of(&mut self, thread: ThreadIndex) -> SamplesOf<'_> {
        SamplesOf(self.threads.get_mut(&thread))
    }

    /// [Divides](SamplesOf::divide) a span of a thread's time.
    pub(crate) fn divide(&mut self, thread: ThreadIndex, start_ns: u64, end_ns: u64) -> Division {
        self.of(thread).divide(start_ns, end_ns)
    }
}

impl SamplesOf<'_> {
    /// Divides a span of the thread's time. The closer it is to the last one divided, the less this
    /// costs.
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
    /// Returns the sampled part of the span, and the bounds at its begin and end.
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

    /// Returns the same by a search of all samples.
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
    /// Divides `whole_ns`, of which `known_ns` are between these moments.
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
            ambiguous_ns: known_ns - run_delay_ns - processor_ns - asleep_ns,
            not_known_ns: whole_ns - known_ns,
            most_run_delay_ns,
            not_on_processor_ns: known_ns
                .saturating_sub(most_processor_ns)
                .clamp(run_delay_ns, known_ns - processor_ns),
        }
    }
}

/// Bounds of a thread's counters at one time.
struct Moment {
    least_ns: u64,
    most_ns: u64,
    least_processor_ns: u64,
    most_processor_ns: u64,
}

impl Moment {
    /// Returns the bounds at `time_ns`, unless no samples surround it; `place` is the first sample
    /// not before it.
    fn at(samples: &VecDeque<Sample>, place: usize, time_ns: u64) -> Option<Self> {
        let after = samples.get(place)?;
        let before = match after.time_ns == time_ns {
            true => after,
            false => samples.get(place.checked_sub(1)?)?,
        };
        Some(Self::between(before, after, time_ns))
    }

    /// Returns the bounds at a time between two samples.
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

    /// The state of a thread for a while.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Doing {
        Running,
        WaitingToRun,
        Sleeping,
    }

    /// The states of a thread one after the other, with their durations.
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

    /// Returns the run delay as the system counts it: a wait counts when it is over.
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

    /// Returns how often the thread began to run.
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
        // A wait ends when the thread runs, so adjacent waits are one.
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
                // The counters of a running thread lag a little.
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
                    + found.ambiguous_ns
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
                let not_ran_ns = duration_ns - ran_ns;
                prop_assert!(found.not_on_processor_ns <= not_ran_ns, "{not_ran_ns} ns: {found:?}");
                // Before its life begins and after it ends, a thread is off the processor, too.
                let asleep_ns = duration_ns - ran_ns - delay_ns;
                prop_assert!(found.asleep_ns <= asleep_ns, "{asleep_ns} ns: {found:?}");
            }
        }
    }

    proptest! {
        /// Values as in a damaged trace.
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
                + found.ambiguous_ns
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

    /// A wait of 90 ms counts when it took place, not when it was counted.
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

    /// Between two equal samples, the thread may have waited or slept. When it runs again, the
    /// counters distinguish these, even if it did not wait at all.
    #[test]
    fn a_thread_that_sleeps_and_then_runs_at_once_did_not_wait() {
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
            // It may have run for a tick.
            let least_asleep_ms = 100_u64.saturating_sub(most_ms).saturating_sub(10);
            assert_eq!(found.asleep_ns, least_asleep_ms * MS);
        }
    }

    /// Time between two samples is attributed only where there is one explanation.
    #[test]
    fn time_is_attributed_only_where_it_is_certain() {
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
                found.ambiguous_ns,
            ];
            parts.map(|ns| ns / MS)
        };
        // The processor time may be a tick old.
        assert_eq!(part(110, 190), [70, 0, 0, 10]);
        assert_eq!(part(240, 260), [0, 0, 0, 20]);
        // A delay of 50, of which 20 may lie outside the span.
        assert_eq!(part(210, 290), [0, 20, 20, 40]);
        assert_eq!(part(310, 390), [0, 0, 60, 20]);
    }

    #[test]
    fn time_without_samples_is_not_known() {
        let mut delays = RunDelays::new(2);
        for time in [100, 200, 300] {
            delays.add(times(time * MS, time * MS, 0));
        }
        // The first one is forgotten.
        let found = delays.divide(THREAD, 150 * MS, 350 * MS);
        let known = (found.processor_ns, found.ambiguous_ns, found.not_known_ns);
        assert_eq!(known, (90 * MS, 10 * MS, 100 * MS));
        let found = delays.divide(ThreadIndex(2), 150 * MS, 350 * MS);
        assert_eq!(found.not_known_ns, 200 * MS);
    }
}
