//! The notes of the scenario `ManyLocks` about itself, and their consequences.

use std::collections::BTreeMap;

use jvm_tests::Run;

/// All notes of a run. Times are readings of `System.nanoTime()`.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The resolution of the clock.
    pub(crate) clock_step_ns: i64,
    /// The holds of each lock, by its name in a trace; in their order.
    pub(crate) holds: BTreeMap<String, Vec<Hold>>,
}

/// The time that a thread had a lock.
#[derive(Debug)]
pub(crate) struct Hold {
    /// The thread.
    pub(crate) thread: String,
    /// Before it asked for the lock.
    pub(crate) wanted_ns: i64,
    /// After it had acquired the lock.
    pub(crate) acquired_ns: i64,
    /// Before it released the lock.
    pub(crate) released_ns: i64,
    /// After it had released the lock.
    pub(crate) left_ns: i64,
    /// The JVM called it blocked on its way to the lock, no later than this.
    pub(crate) blocked_by_ns: Option<i64>,
    /// The latest time at which it was in the lock's queue: it was seen blocked once more. The JVM
    /// calls a thread blocked some microseconds before it queues.
    pub(crate) queued_by_ns: Option<i64>,
}

/// For how long one thread can have kept another one from a lock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) least_ns: i64,
    pub(crate) most_ns: i64,
}

/// For how long one thread kept another one from all locks together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blame {
    /// The time for which it had a lock, and the other one wanted it.
    pub(crate) held_ns: i64,
    /// The time by which that may be longer.
    pub(crate) perhaps_more_ns: i64,
    /// The other one may have wanted it for so much less.
    pub(crate) perhaps_less_ns: i64,
}

/// Two readings that belong together are some microseconds apart. If they are
/// farther apart than this, the thread did not run in between, on a busy machine,
/// and the notes do not say on which side of that the lock changed hands. It is
/// less than the shortest time for which a thread has a lock on purpose.
const STALL_NS: i64 = 500_000;

impl Notes {
    /// Reads the output of a run.
    pub(crate) fn of(run: &Run) -> Notes {
        let sightings = Sightings::of(run);
        let mut holds: BTreeMap<String, Vec<Hold>> = BTreeMap::new();
        for words in run.lines_of("hold") {
            let [thread, lock, times @ ..] = &words[..] else {
                panic!("not a hold: {words:?}");
            };
            let hold = Hold::of(thread, times, &sightings);
            holds.entry((*lock).to_owned()).or_default().push(hold);
        }
        for of_lock in holds.values_mut() {
            of_lock.sort_by_key(|hold| hold.acquired_ns);
        }
        let clock = run.lines_of("clock").next().expect("the clock's step");
        Notes {
            clock_step_ns: time(clock[0]),
            holds,
        }
    }
}

impl Hold {
    fn of(thread: &str, times: &[&str], sightings: &Sightings) -> Hold {
        let [wanted_ns, acquired_ns, released_ns, left_ns] = times else {
            panic!("not the times of a hold: {times:?}");
        };
        let (wanted_ns, acquired_ns) = (time(wanted_ns), time(acquired_ns));
        let mut seen = sightings.between(thread, wanted_ns, acquired_ns);
        Hold {
            thread: thread.to_owned(),
            wanted_ns,
            acquired_ns,
            released_ns: time(released_ns),
            left_ns: time(left_ns),
            blocked_by_ns: seen.next(),
            queued_by_ns: seen.next(),
        }
    }

    fn is_queued_at(&self, time_ns: i64) -> bool {
        self.queued_by_ns.is_some_and(|by_ns| by_ns <= time_ns)
    }
}

/// The times at which each thread was seen blocked: after the first time, before the second.
struct Sightings<'a>(BTreeMap<&'a str, Vec<(i64, i64)>>);

impl<'a> Sightings<'a> {
    fn of(run: &'a Run) -> Self {
        let mut sightings: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for words in run.lines_of("blocked") {
            let [from_ns, to_ns, threads @ ..] = &words[..] else {
                panic!("not a sighting: {words:?}");
            };
            for &thread in threads {
                let sighting = (time(from_ns), time(to_ns));
                sightings.entry(thread).or_default().push(sighting);
            }
        }
        Self(sightings)
    }

    /// Returns the latest times at which a thread was seen blocked between two times.
    fn between(&self, thread: &str, from_ns: i64, to_ns: i64) -> impl Iterator<Item = i64> {
        let seen = self.0.get(thread).map_or(&[][..], Vec::as_slice);
        let first = seen.partition_point(|(begin_ns, _)| *begin_ns < from_ns);
        let ends = seen[first..].iter().map(|(_, end_ns)| *end_ns);
        ends.take_while(move |end_ns| *end_ns <= to_ns)
    }
}

/// Returns the blame of each thread, by the thread that it blocked.
pub(crate) fn blame(notes: &Notes) -> BTreeMap<[&str; 2], Blame> {
    let mut blame: BTreeMap<_, Blame> = BTreeMap::new();
    for holds in notes.holds.values() {
        for (number, blocked) in holds.iter().enumerate() {
            let mut free_ns = blocked.wanted_ns;
            for pair in holds[..=number].windows(2) {
                let (owner, next) = (&pair[0], &pair[1]);
                let of_pair = [&*blocked.thread, &*owner.thread];
                let of_pair = blame.entry(of_pair).or_default();
                of_pair.add(blocked, free_ns, owner, next);
                free_ns = owner.released_ns.max(blocked.wanted_ns);
            }
        }
    }
    blame
}

impl Blame {
    /// Adds what a hold of an owner has to do with a thread that was blocked:
    /// nobody had the lock from `free_ns` on, and `next` had it afterwards.
    ///
    /// An owner that was not seen blocked may have acquired the lock without an
    /// event. Then the trace takes it to have had the lock since it was free.
    fn add(&mut self, blocked: &Hold, free_ns: i64, owner: &Hold, next: &Hold) {
        let wanted_ns = blocked.wanted_ns;
        let from_ns = owner.acquired_ns.max(wanted_ns);
        let to_ns = owner.released_ns.max(from_ns);
        let gone_by_ns = owner.left_ns.min(next.acquired_ns).max(to_ns);
        let blocked_by_ns = blocked.blocked_by_ns.unwrap_or(blocked.acquired_ns);

        self.held_ns += to_ns - from_ns;
        self.perhaps_more_ns += if_stalled(gone_by_ns - to_ns);
        self.perhaps_more_ns += match owner.blocked_by_ns {
            None => from_ns - free_ns,
            Some(_) => if_stalled(from_ns - free_ns),
        };
        let begin_by_ns = wanted_ns + if_stalled(blocked_by_ns - wanted_ns);
        self.perhaps_less_ns += begin_by_ns.clamp(from_ns, to_ns) - from_ns;
    }
}

fn if_stalled(gap_ns: i64) -> i64 {
    if gap_ns > STALL_NS { gap_ns } else { 0 }
}

/// For each thread that may have kept the thread of `holds[blocked]` from the
/// lock: how long, by the notes of both.
///
/// The wait began after the thread wanted the lock, and before it was seen
/// blocked. An owner is blamed from when it acquired the lock; or, if it did not
/// have to wait and so wrote no event, from the release before. It is blamed
/// until it released the lock: between the two readings around that, and before
/// the next owner had it. A release that found nobody queued has no event:
/// then the owner may not be blamed, and the next one in its place.
pub(crate) fn bounds(holds: &[Hold], blocked: usize) -> BTreeMap<&str, Bounds> {
    let mut bounds: BTreeMap<&str, Bounds> = BTreeMap::new();
    let wait = &holds[blocked];
    let mut blamed_from_ns = wait.wanted_ns;
    for pair in holds[..=blocked].windows(2) {
        let (owner, next) = (&pair[0], &pair[1]);
        let gone_by_ns = owner.left_ns.min(next.acquired_ns);
        if gone_by_ns <= wait.wanted_ns {
            continue;
        }
        let of_owner = bounds.entry(&owner.thread).or_default();
        of_owner.most_ns += gone_by_ns - blamed_from_ns;
        if wait.is_queued_at(owner.released_ns) {
            let held_from_ns = wait.blocked_by_ns.max(Some(owner.acquired_ns));
            of_owner.least_ns += held_from_ns.map_or(0, |from_ns| owner.released_ns - from_ns);
            blamed_from_ns = owner.released_ns;
        }
    }
    bounds
}

fn time(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(thread: &str, times: [&str; 4]) -> Hold {
        Hold::of(thread, &times, &Sightings(BTreeMap::new()))
    }

    /// The paper's figure 3: T2 and T3 want the lock while T1 has it.
    fn figure_3() -> Vec<Hold> {
        let mut holds = vec![
            hold("T1", ["0", "1", "40", "42"]),
            hold("T2", ["10", "45", "70", "71"]),
            hold("T3", ["20", "75", "90", "91"]),
        ];
        for (hold, seen_ns) in holds[1..].iter_mut().zip([12, 25]) {
            hold.blocked_by_ns = Some(seen_ns);
            hold.queued_by_ns = Some(seen_ns + 5);
        }
        holds
    }

    #[test]
    fn bounds_enclose_what_each_owner_is_to_blame_for() {
        let holds = figure_3();
        let bounds = bounds(&holds, 2);
        let spans = bounds
            .iter()
            .map(|(thread, b)| (*thread, b.least_ns, b.most_ns));
        assert_eq!(
            spans.collect::<Vec<_>>(),
            [("T1", 40 - 25, 42 - 20), ("T2", 70 - 45, 71 - 40)]
        );
    }

    #[test]
    fn blames_an_owner_for_as_long_as_it_had_the_lock() {
        let mut holds = figure_3();
        holds[1].blocked_by_ns = None;
        let notes = Notes {
            clock_step_ns: 1,
            holds: BTreeMap::from([("lock".to_owned(), holds)]),
        };
        let blame = blame(&notes);
        let of = |pair| (blame[&pair].held_ns, blame[&pair].perhaps_more_ns);
        assert_eq!(of(["T2", "T1"]), (30, 0));
        assert_eq!(of(["T3", "T1"]), (20, 0));
        assert_eq!(of(["T3", "T2"]), (25, 5));
    }
}
