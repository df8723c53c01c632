//! What if one lock were another one, or held for a shorter time, or not there?
//!
//! A replay keeps each thread's own work and its order, and changes the lock: so threads wait
//! elsewhere, where before they did not meet. A trace does not show all that this depends on. So
//! there are several replays, each with other assumptions, and the prediction lies between them.

mod assumed;
mod clock;
mod hold;
mod holds;
mod known_lock;
mod known_thread;
mod observed;
mod owner_code;
mod program;
mod replay;

use std::fmt;
use std::str::FromStr;

use crate::model::entity::{ChainIndex, Entities, LockIndex};
use crate::model::wait::{EndedHolds, Mechanism, Wait, WaitKind};
use crate::model::wait_sink::{DivisibleSink, WaitSink};
use observed::Observed;
pub use owner_code::OwnerCode;
use program::{Program, Programs};
use replay::{LockRule, Replayed, Scenario, replay};

/// How often stripes are drawn at random.
const DRAWS: u64 = 3;

/// More stripes are as good as no lock.
const MAX_STRIPES: u32 = 1 << 10;

/// The number of slices of a run's time, which show how much the waiting varies.
const SLICES: usize = 32;

/// Standard errors on each side of a replay: chance exceeds them once in twenty times.
const STANDARD_ERRORS: f64 = 2.0;

/// The change of a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LockChange {
    /// It is not there any more: what was done while it was held needs no lock.
    Removed,
    /// What is done while it is held takes longer by this factor.
    Holds(f64),
    /// It is replaced by this many locks, one for each part of its keys, used equally often.
    Split(u32),
    /// Who came first gets it first: nobody takes it while others wait.
    Fair,
    /// Who comes while it is free takes it, also if others wait.
    Unfair,
    /// Those who only read share it.
    ReadWrite,
}

/// The text is no change of a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected removed, holds=FACTOR (0 to 100), split=STRIPES (1 to {MAX_STRIPES}), fair, unfair or read-write"
)]
pub struct UnknownChange;

impl FromStr for LockChange {
    type Err = UnknownChange;

    fn from_str(text: &str) -> Result<Self, UnknownChange> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        match (name, number) {
            ("removed", None) => Ok(Self::Removed),
            ("fair", None) => Ok(Self::Fair),
            ("unfair", None) => Ok(Self::Unfair),
            ("read-write", None) => Ok(Self::ReadWrite),
            ("holds", Some(factor)) => {
                let factor = factor.parse().map_err(|_| UnknownChange)?;
                let is_possible = (0.0..=100.0).contains(&factor);
                is_possible
                    .then_some(Self::Holds(factor))
                    .ok_or(UnknownChange)
            }
            ("split", Some(stripes)) => {
                let stripes = stripes.parse().map_err(|_| UnknownChange)?;
                let is_possible = (1..=MAX_STRIPES).contains(&stripes);
                is_possible
                    .then_some(Self::Split(stripes))
                    .ok_or(UnknownChange)
            }
            _ => Err(UnknownChange),
        }
    }
}

impl fmt::Display for LockChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("removed"),
            Self::Holds(factor) => write!(f, "holds={factor}"),
            Self::Split(stripes) => write!(f, "split={stripes}"),
            Self::Fair => f.write_str("fair"),
            Self::Unfair => f.write_str("unfair"),
            Self::ReadWrite => f.write_str("read-write"),
        }
    }
}

/// What a replay assumes where a trace shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumptions {
    /// Of threads that wait for a monitor, the one that came last gets it first, and not the one
    /// that came first.
    pub last_first: bool,
    /// The number of processors, which own work needs. `None`: all threads go on at once, like
    /// threads that wait for input or output.
    pub processors: Option<u64>,
    /// Threads also hold locks when nobody notices.
    pub assumed_holds: bool,
}

/// A replay of a trace, as it is and with the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// What it assumes.
    pub assumptions: Assumptions,
    /// How long threads wait in all, in nanoseconds, if nothing is changed: in truth as long
    /// as the trace says.
    pub unchanged_ns: u64,
    /// The same with the change.
    pub changed_ns: u64,
    /// The least and the most that this comes to, as far as the replay of what was not changed
    /// went wrong, and as far as runs differ by chance.
    pub range_ns: (u64, u64),
    /// How often threads waited for each other in a cycle, and one of them went on without
    /// its lock.
    pub forced: u64,
}

/// What becomes of the waiting for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockOutcome {
    /// The lock.
    pub lock: LockIndex,
    /// It is what is changed.
    pub is_changed: bool,
    /// How long threads waited for it in the trace, in nanoseconds.
    pub before_ns: u64,
    /// How long they would: the least and the most of all replays, in nanoseconds.
    pub after_ns: (u64, u64),
}

/// What a change of a lock would bring: how long all threads together would wait for locks, to do
/// the same work.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// How many waits were replayed.
    pub waits: u64,
    /// How long they are, in nanoseconds: without the time in which the process did not run.
    pub before_ns: u64,
    /// How long threads would wait, in nanoseconds: the mean of the replays without assumed holds.
    pub after_ns: u64,
    /// The least and the most that it may be under one of the assumptions, in nanoseconds.
    pub after_range_ns: (u64, u64),
    /// How long they would wait at most if it turns out that threads queue up for a lock that nobody
    /// waited for in the trace. `None` if the change does not only let threads go on earlier.
    pub after_with_unseen_lock_ns: Option<u64>,
    /// How much of the waiting is for the locks that are changed, in nanoseconds.
    pub for_changed_ns: u64,
    /// How much of the waiting nobody knows the owner of, in nanoseconds: it stays as it is.
    pub unexplained_ns: u64,
    /// How long the same threads waited for others to act, in nanoseconds: it stays as it is,
    /// although they may act earlier.
    pub conditional_ns: u64,
    /// How many holds were assumed that the trace does not record.
    pub assumed_holds: u64,
    /// The waits from then on are left out, of which there are too many; in nanoseconds since the
    /// trace's start.
    pub until_ns: Option<u64>,
    /// The replays.
    pub replays: Vec<Replay>,
    /// The locks, those first that threads wait for longest in one of them.
    pub locks: Vec<LockOutcome>,
}

/// Collects what threads did, for predictions, from the waits that an analysis with
/// [`Detail::CONTENTIONS`](crate::Detail::CONTENTIONS) finds: of all kinds, and of one trace.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    observed: Observed,
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q, L, C> {
    /// The change.
    pub change: LockChange,
    /// Which locks are changed.
    pub is_changed: L,
    /// Which code [`Holds`](LockChange::Holds) and [`ReadWrite`](LockChange::ReadWrite) affect, where
    /// it acquires the lock or releases it: whose holds get shorter, or what only reads. `None`
    /// is code that nobody knows.
    pub is_affected: C,
    /// How many processors the machine has, if it is known.
    pub processors: Option<u64>,
    /// What the waits refer to.
    pub entities: &'q Entities,
}

impl WhatIf {
    /// Predicts what a change of one or several locks would bring.
    pub fn predict<L, C>(&mut self, question: &Question<'_, L, C>) -> Prediction
    where
        L: Fn(LockIndex) -> bool,
        C: Fn(Option<ChainIndex>, LockIndex) -> bool,
    {
        self.observed.merge_spans();
        let without_frozen = self.observed.without_frozen();
        let observed = without_frozen.as_ref().unwrap_or(&self.observed);
        let is_affected = |chain, lock| (question.is_affected)(Some(chain), lock);
        let programs = Programs::new(observed, question.processors, is_affected);
        Predictor::new(question, programs).predict(observed)
    }
}

impl WaitSink for WhatIf {
    fn wait(&mut self, wait: &Wait, _entities: &Entities) {
        self.observed.add_wait(wait);
    }

    fn wants_holds(&self) -> bool {
        true
    }

    fn holds(&mut self, holds: EndedHolds) {
        self.observed.add_holds(holds);
    }
}

impl DivisibleSink for WhatIf {
    fn part(&self) -> Self {
        Self::default()
    }

    fn merge(&mut self, part: Self) {
        self.observed.append(part.observed);
    }
}

struct Predictor {
    change: LockChange,
    processors: Option<u64>,
    programs: Programs,
    steps: Vec<Program>,
    steps_with_assumed: Vec<Program>,
    assumed: u64,
    /// By the number of the lock.
    is_changed: Vec<bool>,
    /// Nobody takes the lock while others wait.
    is_fair: Vec<bool>,
    /// The change affects code that nobody knows.
    affects_unknown: Vec<bool>,
}

impl Predictor {
    fn new<L, C>(question: &Question<'_, L, C>, mut programs: Programs) -> Self
    where
        L: Fn(LockIndex) -> bool,
        C: Fn(Option<ChainIndex>, LockIndex) -> bool,
    {
        let indexes = || programs.locks.iter().map(|lock| lock.index);
        let is_changed: Vec<bool> = indexes().map(&question.is_changed).collect();
        let is_fair = indexes()
            .map(|lock| is_fair(lock, question.entities))
            .collect();
        let steps = programs.steps();
        // A class is initialized once, and a lock that is removed is not held.
        let is_left_out: Vec<bool> = indexes()
            .zip(&is_changed)
            .map(|(lock, &is_changed)| {
                let is_removed = question.change == LockChange::Removed && is_changed;
                is_removed || question.entities.initialized_class(lock).is_some()
            })
            .collect();
        let affects_unknown: Vec<bool> = indexes()
            .map(|lock| (question.is_affected)(None, lock))
            .collect();
        let assumed = assumed::assume_holds(
            &mut programs,
            |lock| is_left_out[lock],
            |lock| affects_unknown[lock],
        );
        let steps_with_assumed = match assumed {
            0 => Vec::new(),
            _ => programs.steps(),
        };
        let threads = steps.len() as u64;
        Self {
            change: question.change,
            // With a processor for each, it makes no difference how many there are.
            processors: question.processors.filter(|&it| (1..threads).contains(&it)),
            steps,
            steps_with_assumed,
            assumed,
            is_changed,
            is_fair,
            affects_unknown,
            programs,
        }
    }

    fn predict(&self, observed: &Observed) -> Prediction {
        let waits = observed.waits.iter();
        let before_ns = waits.clone().map(|wait| wait.end_ns - wait.start_ns).sum();
        let timed = |wait: &observed::Waited| (wait.start_ns, wait.end_ns - wait.start_ns);
        let error = relative_error(&waits.clone().map(timed).collect::<Vec<_>>());
        let mut locks: Vec<_> = self
            .programs
            .locks
            .iter()
            .zip(&self.is_changed)
            .map(|(lock, &is_changed)| LockOutcome {
                lock: lock.index,
                is_changed,
                before_ns: lock.waited_ns,
                after_ns: (u64::MAX, 0),
            })
            .collect();
        let mut replays = Vec::new();
        for assumptions in self.assumptions() {
            let unchanged = self.replay(assumptions, None, 0);
            for seed in 0..self.draws() {
                let changed = self.replay(assumptions, Some(self.change), seed);
                for (lock, &after_ns) in locks.iter_mut().zip(&changed.waiting_ns) {
                    let (least_ns, most_ns) = lock.after_ns;
                    lock.after_ns = (least_ns.min(after_ns), most_ns.max(after_ns));
                }
                replays.push(Replay {
                    assumptions,
                    unchanged_ns: unchanged.total_ns(),
                    changed_ns: changed.total_ns(),
                    range_ns: range_ns(before_ns, error, &unchanged, &changed),
                    forced: changed.forced,
                });
            }
        }
        locks.sort_by_key(|lock| (u64::MAX - lock.before_ns.max(lock.after_ns.1), lock.lock));
        let ranges = || replays.iter().map(|replay| replay.range_ns);
        let least_ns = ranges().map(|(least_ns, _)| least_ns).min();
        let most_ns = ranges().map(|(_, most_ns)| most_ns).max();
        let with_unseen_lock_ns = self.with_unseen_lock_ns(before_ns);
        // Replays with others in front may find more than can be.
        let limit_ns = with_unseen_lock_ns.map_or(u64::MAX, |limit_ns| {
            (limit_ns as f64 * (1.0 + STANDARD_ERRORS * error)) as u64
        });
        Prediction {
            waits: observed.waits.len() as u64,
            before_ns,
            after_ns: mean_ns(before_ns, &replays),
            after_range_ns: (
                least_ns.unwrap_or(0).min(limit_ns),
                most_ns.unwrap_or(0).min(limit_ns),
            ),
            after_with_unseen_lock_ns: with_unseen_lock_ns,
            for_changed_ns: self.for_changed_ns(),
            unexplained_ns: waits.map(|wait| wait.unexplained_ns).sum(),
            conditional_ns: self.conditional_ns(observed),
            assumed_holds: self.assumed,
            until_ns: observed.until_ns(),
            replays,
            locks,
        }
    }

    /// How long threads waited for the locks that are changed.
    fn for_changed_ns(&self) -> u64 {
        let locks = self.programs.locks.iter().zip(&self.is_changed);
        let changed = locks.filter(|(_, is_changed)| **is_changed);
        changed.map(|(lock, _)| lock.waited_ns).sum()
    }

    /// No thread is done later than in the trace, and it has as much to do. Of shorter holds nobody
    /// knows how much less there is to do: the trace has those only that others waited for.
    fn with_unseen_lock_ns(&self, before_ns: u64) -> Option<u64> {
        match self.change {
            LockChange::Removed | LockChange::Split(_) | LockChange::ReadWrite => Some(before_ns),
            LockChange::Holds(_) | LockChange::Fair | LockChange::Unfair => None,
        }
    }

    fn conditional_ns(&self, observed: &Observed) -> u64 {
        let pauses = observed.pauses.iter();
        let conditional = pauses.filter(|pause| pause.kind == WaitKind::Conditional);
        let waiting: std::collections::BTreeSet<_> =
            observed.waits.iter().map(|wait| wait.thread).collect();
        conditional
            .filter(|pause| waiting.contains(&pause.thread))
            .map(|pause| pause.end_ns - pause.start_ns)
            .sum()
    }

    fn draws(&self) -> u64 {
        match self.change {
            LockChange::Split(stripes) if stripes > 1 => DRAWS,
            _ => 1,
        }
    }

    /// All combinations that make a difference.
    fn assumptions(&self) -> Vec<Assumptions> {
        let locks = &self.programs.locks;
        let has_monitors = locks
            .iter()
            .any(|lock| lock.mechanism == Mechanism::Monitor);
        let mut assumptions = Vec::new();
        for last_first in [false, true] {
            for processors in [None, self.processors] {
                for assumed_holds in [false, true] {
                    let next = Assumptions {
                        last_first: last_first && has_monitors,
                        processors,
                        assumed_holds: assumed_holds && self.assumed > 0,
                    };
                    if !assumptions.contains(&next) {
                        assumptions.push(next);
                    }
                }
            }
        }
        assumptions
    }

    fn replay(&self, assumptions: Assumptions, change: Option<LockChange>, seed: u64) -> Replayed {
        let locks = self.programs.locks.iter().enumerate();
        let rules: Vec<_> = locks
            .map(|(at, lock)| {
                let mut rule = LockRule {
                    is_removed: false,
                    hold_factor: 1.0,
                    unknown_hold_factor: 1.0,
                    stripes: 1,
                    is_barging: !self.is_fair[at],
                    is_shared: false,
                    is_last_first: assumptions.last_first && lock.mechanism == Mechanism::Monitor,
                };
                if let (Some(change), true) = (change, self.is_changed[at]) {
                    match change {
                        LockChange::Removed => rule.is_removed = true,
                        LockChange::Holds(factor) => {
                            rule.hold_factor = factor;
                            rule.unknown_hold_factor = rule.factor(self.affects_unknown[at]);
                        }
                        LockChange::Split(stripes) => rule.stripes = stripes,
                        LockChange::Fair => {
                            rule.is_barging = false;
                            rule.is_last_first = false;
                        }
                        LockChange::Unfair => rule.is_barging = true,
                        LockChange::ReadWrite => rule.is_shared = true,
                    }
                }
                rule
            })
            .collect();
        replay(Scenario {
            programs: match assumptions.assumed_holds {
                true => &self.steps_with_assumed,
                false => &self.steps,
            },
            locks: &rules,
            processors: assumptions.processors,
            seed,
        })
    }
}

/// Whether a lock of `java.util.concurrent` was made so that who came first gets it first.
fn is_fair(lock: LockIndex, entities: &Entities) -> bool {
    let class = entities.lock_class(lock);
    class.is_some_and(|class| entities.class_name(class).ends_with("$FairSync"))
}

/// The mean of the replays without assumed holds, of each in proportion to what it makes of the trace
/// as it is.
fn mean_ns(before_ns: u64, replays: &[Replay]) -> u64 {
    let without = replays.iter().filter(|it| !it.assumptions.assumed_holds);
    let after =
        without.map(|replay| in_proportion(before_ns, replay.unchanged_ns, replay.changed_ns));
    let (count, sum_ns) = after.fold((0, 0.0), |(count, sum_ns), ns| (count + 1, sum_ns + ns));
    (sum_ns / f64::from(count.max(1))).round() as u64
}

/// What a replay finds, in proportion to what it should have found without a change.
fn in_proportion(before_ns: u64, unchanged_ns: u64, changed_ns: u64) -> f64 {
    match unchanged_ns {
        0 => changed_ns as f64,
        unchanged_ns => changed_ns as f64 * (before_ns as f64 / unchanged_ns as f64),
    }
}

/// How long threads wait according to a replay. Of the trace as it is, it may have found too much or too
/// little: then it does so of the changed one at most in the same proportion. And another run would
/// not be the same.
fn range_ns(
    before_ns: u64,
    error_before: f64,
    unchanged: &Replayed,
    changed: &Replayed,
) -> (u64, u64) {
    let found_ns = changed.total_ns() as f64;
    let corrected_ns = in_proportion(before_ns, unchanged.total_ns(), changed.total_ns());
    let by_chance = STANDARD_ERRORS * error_before.hypot(relative_error(&changed.waits));
    let least_ns = found_ns.min(corrected_ns) * (1.0 - by_chance).max(0.0);
    let most_ns = found_ns.max(corrected_ns) * (1.0 + by_chance);
    (least_ns as u64, most_ns as u64)
}

/// The standard error of the sum of waits, of which the begin and the duration are given, in
/// proportion to the sum: judging by how the slices of a run vary.
fn relative_error(waits: &[(u64, u64)]) -> f64 {
    let starts = || waits.iter().map(|&(start_ns, _)| start_ns);
    let (Some(from_ns), Some(until_ns)) = (starts().min(), starts().max()) else {
        return 0.0;
    };
    let mut slices = [0.0; SLICES];
    for &(start_ns, duration_ns) in waits {
        let share = (start_ns - from_ns) as f64 / (until_ns - from_ns + 1) as f64;
        slices[(share * SLICES as f64) as usize] += duration_ns as f64;
    }
    let (count, sum) = (SLICES as f64, slices.iter().sum::<f64>());
    if sum == 0.0 {
        return 0.0;
    }
    let squares: f64 = slices.iter().map(|ns| (ns - sum / count).powi(2)).sum();
    (squares / (count - 1.0) * count).sqrt() / sum
}
