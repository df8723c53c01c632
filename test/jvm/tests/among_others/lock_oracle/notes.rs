//! The scenario's notes about itself. Times are readings of `System.nanoTime()`.

use std::collections::BTreeMap;

use jvm_tests::{ParkAction, ParkLog, Run, TraceClock};

/// All notes of a run.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The conversion between the trace's clock and the program's.
    pub(crate) clock: TraceClock,
    /// Begins and ends of each thread's calls that acquired the lock, or tried to.
    pub(crate) calls: BTreeMap<String, Vec<(i64, i64)>>,
    /// By their begins.
    pub(crate) holds: Vec<Hold>,
    /// The times between an unpark and the end of the park that it ended, which do
    /// not overlap: a thread was to run, but did not yet. Not a note, but in the
    /// trace.
    pub(crate) wakings: Vec<(i64, i64)>,
}

/// The time that a thread had the lock.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) thread: String,
    pub(crate) method: String,
    /// Other threads could have the lock, too: it is a reader.
    pub(crate) shared: bool,
    /// Before it asked for the lock.
    pub(crate) wanted_ns: i64,
    /// After it had acquired the lock.
    pub(crate) acquired_ns: i64,
    /// Before it released the lock.
    pub(crate) released_ns: i64,
    /// After it had released the lock.
    pub(crate) left_ns: i64,
}

impl Notes {
    /// Reads the output of a run.
    pub(crate) fn of(run: &Run) -> Notes {
        let log = ParkLog::read(&run.trace());
        let clock = TraceClock::of(run);
        let holds = run.lines_of("hold").map(|words| Hold::of(&words));
        let mut holds: Vec<_> = holds.collect();
        holds.sort_by_key(|hold| hold.acquired_ns);
        Notes {
            clock,
            calls: calls(run, &holds),
            holds,
            wakings: wakings(&log, clock),
        }
    }

    /// The wakings that overlap with some time.
    pub(crate) fn wakings_between(&self, begin_ns: i64, end_ns: i64) -> &[(i64, i64)] {
        let first = self
            .wakings
            .partition_point(|(_, to_ns)| *to_ns <= begin_ns);
        let last = self
            .wakings
            .partition_point(|(from_ns, _)| *from_ns < end_ns);
        &self.wakings[first..last.max(first)]
    }
}

impl Hold {
    fn of(words: &[&str]) -> Hold {
        let [thread, method, wanted_ns, acquired_ns, released_ns, left_ns] = words else {
            panic!("not a hold: {words:?}");
        };
        Hold {
            thread: (*thread).to_owned(),
            method: (*method).to_owned(),
            shared: method.starts_with("read"),
            wanted_ns: time(wanted_ns),
            acquired_ns: time(acquired_ns),
            released_ns: time(released_ns),
            left_ns: time(left_ns),
        }
    }

    /// Its times, in their order.
    pub(crate) fn times(&self) -> [i64; 4] {
        [
            self.wanted_ns,
            self.acquired_ns,
            self.released_ns,
            self.left_ns,
        ]
    }

    /// Returns whether it certainly had the lock in the slice, which contains none of its times.
    pub(crate) fn had(&self, (from_ns, to_ns): (i64, i64)) -> bool {
        self.acquired_ns <= from_ns && to_ns <= self.released_ns
    }

    /// Returns whether it may have had the lock in the slice.
    pub(crate) fn may_have_had(&self, (from_ns, to_ns): (i64, i64)) -> bool {
        self.wanted_ns <= from_ns && to_ns <= self.left_ns
    }
}

fn calls(run: &Run, holds: &[Hold]) -> BTreeMap<String, Vec<(i64, i64)>> {
    let mut calls: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for hold in holds {
        let of_thread = calls.entry(hold.thread.clone()).or_default();
        of_thread.push((hold.wanted_ns, hold.acquired_ns));
    }
    for words in run.lines_of("failure") {
        let [thread, wanted_ns, returned_ns] = words[..] else {
            panic!("not a failure: {words:?}");
        };
        let of_thread = calls.entry(thread.to_owned()).or_default();
        of_thread.push((time(wanted_ns), time(returned_ns)));
    }
    calls.values_mut().for_each(|calls| calls.sort_unstable());
    calls
}

fn wakings(log: &ParkLog, clock: TraceClock) -> Vec<(i64, i64)> {
    let mut given = BTreeMap::new();
    for (_, event) in log.unparks() {
        if let ParkAction::Unpark { target, permit, .. } = event.action {
            given.insert((target, permit), event.time_ns);
        }
    }
    let mut wakings = Vec::new();
    for thread in &log.threads {
        for [begin, end] in thread.parks() {
            if let ParkAction::End { permit, .. } = end.action
                && let Some(given_ns) = given.get(&(thread.java_id, permit))
            {
                let from_ns = clock.program_time_ns(*given_ns.max(&begin.time_ns));
                wakings.push((from_ns, clock.program_time_ns(end.time_ns)));
            }
        }
    }
    disjoint(wakings)
}

/// The same times as spans that do not overlap, in their order.
fn disjoint(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    spans.sort_unstable();
    let mut until_ns = i64::MIN;
    for (from_ns, to_ns) in &mut spans {
        *from_ns = until_ns.max(*from_ns);
        until_ns = until_ns.max(*to_ns);
        *to_ns = until_ns;
    }
    spans
}

fn time(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::disjoint;

    #[test]
    fn spans_lose_what_they_share() {
        let spans = disjoint(vec![(5, 9), (1, 6), (2, 3), (20, 30)]);
        assert_eq!(spans, [(1, 6), (6, 6), (6, 9), (20, 30)]);
    }
}
