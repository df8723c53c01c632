//! The owners of a lock over time, as a program noted them itself, and the consequences for the
//! threads that waited meanwhile.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use trace_analysis::{Chain, ChainIndex, Contention, Entities, Owner, Wait};

use crate::jvm::Run;
use crate::summary::analyze;
use crate::trace_clock::TraceClock;

/// The time that a thread had the lock, on the trace's clock. The program reads its clock
/// a moment before and after, and can lose its processor in between.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// Its thread and method.
    by: usize,
    /// The earliest time at which it may have had the lock.
    wanted_ns: i64,
    /// It had the lock from then on at least.
    acquired_ns: i64,
    /// It had the lock until then at least.
    released_ns: i64,
    /// From then on it did not have the lock.
    left_ns: i64,
}

/// All holds of one lock, in their order.
#[derive(Debug)]
pub struct HoldLog {
    /// Threads and the simple names of methods.
    owners: Vec<(String, String)>,
    holds: Vec<Hold>,
    /// Of a time of the log on the trace's clock.
    uncertainty_ns: i64,
    /// The tracer sees a thread acquire the lock only if that waited for it.
    has_unseen_acquisitions: bool,
}

/// The bounds of a thread's blame, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// At least.
    pub least_ns: u64,
    /// At most.
    pub most_ns: u64,
}

/// The time that each owner kept threads waiting.
#[derive(Clone, Debug, Default)]
pub struct Blame<T> {
    /// By the thread that waited and the one that had the lock.
    pub pairs: BTreeMap<(String, String), T>,
    /// By the method that had the lock.
    pub methods: BTreeMap<String, T>,
    /// Somebody had the lock.
    pub held: T,
    /// Nobody had the lock.
    pub free: T,
    /// Time with an unknown owner.
    pub unknown: T,
}

/// The blame for waits for one lock according to a trace, and according to the program.
#[derive(Debug)]
pub struct Compared {
    /// The number of waits.
    pub waits: usize,
    /// By the trace, in nanoseconds.
    pub found: Blame<u64>,
    /// By the program.
    pub truth: Blame<Bounds>,
    /// The owners of both at the same times.
    pub overlay: Overlay,
}

/// The owners of a trace laid over those of the program, on one clock. Sums can agree where these
/// do not. The time between two readings of the program's clock is nobody's fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlay {
    /// Time in waits for which the program has an owner.
    pub held_ns: u64,
    /// The part of it for which the trace has nobody, or another thread.
    pub missed_ns: u64,
    /// Time in waits for which the trace has an owner.
    pub blamed_ns: u64,
    /// The part of it for which the program has nobody, or another thread.
    pub wrong_ns: u64,
}

impl HoldLog {
    /// Reads the lines `holds THREAD METHOD WANTED_NS ACQUIRED_NS RELEASED_NS LEFT_NS ...`
    /// of a run.
    pub fn of(run: &Run, clock: TraceClock) -> Self {
        let mut log = Self {
            owners: Vec::new(),
            holds: Vec::new(),
            uncertainty_ns: clock.uncertainty_ns(),
            has_unseen_acquisitions: false,
        };
        let trace_start_ns = clock.program_time_ns(0);
        for words in run.lines_of("holds") {
            let owner = (words[0].to_owned(), words[1].to_owned());
            let known = log.owners.iter().position(|other| *other == owner);
            let by = known.unwrap_or_else(|| {
                log.owners.push(owner);
                log.owners.len() - 1
            });
            let time_ns = |word: &str| word.parse::<i64>().expect("a time") - trace_start_ns;
            log.holds.extend(words[2..].chunks(4).map(|times| Hold {
                by,
                wanted_ns: time_ns(times[0]),
                acquired_ns: time_ns(times[1]),
                released_ns: time_ns(times[2]),
                left_ns: time_ns(times[3]),
            }));
        }
        log.holds.sort_unstable_by_key(|hold| hold.acquired_ns);
        let mut pairs = log.holds.windows(2);
        let overlap = pairs.find(|pair| pair[1].acquired_ns < pair[0].released_ns);
        assert!(overlap.is_none(), "two threads had the lock: {overlap:?}");
        log
    }

    /// As the agent traces: it may blame who did not wait for the lock from the release before on,
    /// and does not show that nobody had the lock in between.
    #[must_use]
    pub fn with_unseen_acquisitions(mut self) -> Self {
        self.has_unseen_acquisitions = true;
        self
    }

    /// Compares the trace of the run with it, as far as waits for objects of `lock_class`
    /// go.
    pub fn compare(mut self, run: &Run, lock_class: &str) -> Compared {
        let mut found = Blame::default();
        let mut waits = Vec::new();
        each_wait(run, lock_class, |wait, entities| {
            let waiter = entities.thread(wait.thread).name.to_string();
            add_found(&mut found, &waiter, wait, entities);
            let start_ns = signed(wait.start_ns);
            waits.push((waiter, start_ns, start_ns + signed(wait.duration_ns)));
        });
        self.narrow(&waits);
        let mut overlay = Overlay::default();
        each_wait(run, lock_class, |wait, entities| {
            for part in &wait.contentions {
                self.lay_over(&mut overlay, part, entities);
            }
        });
        let mut truth = Blame::default();
        for (waiter, start_ns, end_ns) in &waits {
            self.add_truth(&mut truth, waiter, *start_ns, *end_ns);
        }
        Compared {
            waits: waits.len(),
            found,
            truth,
            overlay,
        }
    }

    /// Lays the owner of a part of a wait over the program's.
    fn lay_over(&self, overlay: &mut Overlay, part: &Contention, entities: &Entities) {
        let owner = match part.owner {
            Owner::Thread { thread, .. } => Some(&entities.thread(thread).name),
            Owner::Free | Owner::Frozen | Owner::Unknown(_) => None,
        };
        let start_ns = signed(part.start_ns);
        let end_ns = start_ns + signed(part.duration_ns);
        let during =
            |from_ns: i64, until_ns: i64| length_ns(from_ns.max(start_ns), until_ns.min(end_ns));
        let unsure_ns = self.uncertainty_ns;
        let first =
            (self.holds).partition_point(|hold| hold.left_ns.saturating_add(unsure_ns) <= start_ns);
        let holds = self.holds[first..].iter();
        let mut right_ns = 0;
        for hold in holds.take_while(|hold| hold.wanted_ns.saturating_sub(unsure_ns) < end_ns) {
            let held_ns = during(
                hold.acquired_ns.saturating_add(unsure_ns),
                hold.released_ns.saturating_sub(unsure_ns),
            );
            overlay.held_ns += held_ns;
            if owner.is_some_and(|owner| **owner == self.owners[hold.by].0) {
                right_ns += during(
                    hold.wanted_ns.saturating_sub(unsure_ns),
                    hold.left_ns.saturating_add(unsure_ns),
                );
            } else {
                overlay.missed_ns += held_ns;
            }
        }
        if owner.is_some() {
            overlay.blamed_ns += part.duration_ns;
            overlay.wrong_ns += part.duration_ns.saturating_sub(right_ns);
        }
    }

    /// Narrows holds: a waiter does not have the lock before the end of the wait; nobody has it
    /// while another thread has.
    fn narrow(&mut self, waits: &[(String, i64, i64)]) {
        let mut ends: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for (waiter, _, end_ns) in waits {
            ends.entry(waiter).or_default().push(*end_ns);
        }
        for ends in ends.values_mut() {
            ends.sort_unstable();
        }
        let mut released_ns = i64::MIN;
        for hold in &mut self.holds {
            let (thread, _) = &self.owners[hold.by];
            let ends = ends.get(thread.as_str()).map_or(&[][..], Vec::as_slice);
            let before = ends.partition_point(|&end_ns| end_ns <= hold.acquired_ns);
            let waited_until_ns = before.checked_sub(1).map_or(i64::MIN, |last| ends[last]);
            let has_waited = waited_until_ns >= hold.wanted_ns;
            if self.has_unseen_acquisitions && !has_waited {
                hold.wanted_ns = released_ns;
            }
            hold.wanted_ns = hold.wanted_ns.max(waited_until_ns).max(released_ns);
            released_ns = hold.released_ns;
        }
        let mut acquired_ns = i64::MAX;
        for hold in self.holds.iter_mut().rev() {
            hold.left_ns = hold.left_ns.min(acquired_ns);
            acquired_ns = hold.acquired_ns;
        }
    }

    fn add_truth(&self, truth: &mut Blame<Bounds>, waiter: &str, start_ns: i64, end_ns: i64) {
        let duration_ns = length_ns(start_ns, end_ns);
        let during =
            |from_ns: i64, until_ns: i64| length_ns(from_ns.max(start_ns), until_ns.min(end_ns));
        let first = self.holds.partition_point(|hold| hold.left_ns <= start_ns);
        let holds = self.holds[first..].iter();
        let mut all = Bounds::default();
        for hold in holds.take_while(|hold| hold.wanted_ns < end_ns) {
            let bounds = Bounds {
                least_ns: during(hold.acquired_ns, hold.released_ns),
                most_ns: during(hold.wanted_ns, hold.left_ns),
            };
            let (owner, method) = &self.owners[hold.by];
            if owner == waiter {
                continue;
            }
            all.add(bounds);
            let pair = (waiter.to_owned(), owner.clone());
            truth.pairs.entry(pair).or_default().add(bounds);
            truth.methods.entry(method.clone()).or_default().add(bounds);
        }
        truth.held.add(all);
        truth.free.add(Bounds {
            least_ns: duration_ns.saturating_sub(all.most_ns),
            most_ns: duration_ns.saturating_sub(all.least_ns),
        });
    }
}

impl Overlay {
    /// The share of the program's holds that the trace misses.
    pub fn missed(&self) -> f64 {
        self.missed_ns as f64 / self.held_ns.max(1) as f64
    }

    /// The share of the trace's blame that is wrong.
    pub fn wrong(&self) -> f64 {
        self.wrong_ns as f64 / self.blamed_ns.max(1) as f64
    }
}

impl Display for Overlay {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [missed, wrong] = [self.missed(), self.wrong()].map(|share| 100.0 * share);
        write!(
            f,
            "{missed:.2} % of holds missed, {wrong:.2} % of blame wrong"
        )
    }
}

impl Bounds {
    /// Adds what somebody else may be blamed for.
    pub fn add(&mut self, other: Self) {
        self.least_ns += other.least_ns;
        self.most_ns += other.most_ns;
    }
}

/// Finds the waits for objects of a class in the trace of the run.
fn each_wait(run: &Run, lock_class: &str, mut on_wait: impl FnMut(&Wait, &Entities)) {
    analyze(&run.trace(), |wait, entities| {
        let class = entities.lock_class(wait.lock);
        if class.is_some_and(|class| entities.class_name(class) == lock_class) {
            on_wait(wait, entities);
        }
    })
    .unwrap_or_else(|error| panic!("{error}"));
}

fn add_found(found: &mut Blame<u64>, waiter: &str, wait: &Wait, entities: &Entities) {
    for part in &wait.contentions {
        match part.owner {
            Owner::Thread { thread, chain } => {
                let owner = entities.thread(thread).name.to_string();
                let method = method_of_program(chain, entities).unwrap_or("?");
                *found.pairs.entry((waiter.to_owned(), owner)).or_default() += part.duration_ns;
                *found.methods.entry(method.to_owned()).or_default() += part.duration_ns;
                found.held += part.duration_ns;
            }
            Owner::Free => found.free += part.duration_ns,
            Owner::Frozen | Owner::Unknown(_) => found.unknown += part.duration_ns,
        }
    }
}

/// The innermost method that does not belong to a lock.
fn method_of_program(chain: ChainIndex, entities: &Entities) -> Option<&str> {
    let Chain::Known { frames, .. } = entities.chain(chain) else {
        return None;
    };
    let methods = frames.iter().map(|frame| entities.method(frame.method));
    let of_program = methods.into_iter().find(|method| {
        let class = method.class.map_or("", |class| entities.class_name(class));
        !class.starts_with("java.util.concurrent.") && !class.contains("$Mutex")
    });
    of_program.map(|method| &*method.name)
}

fn length_ns(from_ns: i64, until_ns: i64) -> u64 {
    u64::try_from(until_ns.saturating_sub(from_ns)).unwrap_or(0)
}

fn signed(time_ns: u64) -> i64 {
    time_ns
        .try_into()
        .expect("a trace is shorter than 292 years")
}
