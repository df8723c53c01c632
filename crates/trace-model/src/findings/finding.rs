//! A finding.

use serde::Serialize;
use trace_analysis::ChainIndex;

use crate::selection::WaitSelection;
use crate::sum::Sum;

/// The most code that waited, in a finding.
pub(super) const LISTED_WAITERS: usize = 3;
/// The most places of owners, in a finding.
pub(super) const LISTED_PLACES: usize = 3;

/// Something to fix.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Identifies the same finding in every analysis.
    pub id: String,
    /// The name of its pattern.
    pub pattern: &'static str,
    /// Whether it is a deadlock or another hang: its waits went on when the trace ended.
    pub hang: bool,
    /// The problem, in one sentence.
    pub title: String,
    /// The usual remedy.
    pub remedy: &'static str,
    /// The class of the locks.
    pub lock_class: Named,
    /// The code that held them; `None` if no thread is known as the owner.
    pub owner: Option<Code>,
    /// The code that waited, the most time first; three at most.
    pub waiters: Vec<WaitingCode>,
    /// The number of methods that waited.
    pub waiter_sites: u64,
    /// The owners of other locks that waited for it themselves, the most time first; three at most.
    pub through: Vec<Through>,
    /// Where the owner was, by samples of its stack, the most time first; three at most. Empty if too little
    /// of its time was sampled, or too few samples were taken.
    pub owner_places: Vec<OwnerPlace>,
    /// Of waits for other threads: the methods that called the code which woke them, the most time first; three at
    /// most.
    pub owner_callers: Vec<OwnerPlace>,
    /// Of a pool: for how long its users kept what they had waited for, the most time first; three at most.
    pub kept_by: Vec<Kept>,
    /// The share of the owner's time that was sampled, 0 to 1.
    pub owner_sampled: f64,
    /// The number of samples in that time, at least, as if all of them stood for the same time.
    pub owner_samples: u64,
    /// For how much of the waiting the owner was on a processor; `None` if that is hardly known.
    pub owner_on_processor: Option<OnProcessor>,
    /// The time waited because of it, in nanoseconds.
    pub duration_ns: Sum,
    /// Its share of all such waiting, 0 to 1.
    pub share: f64,
    /// The time in which any thread waited because of it, in nanoseconds.
    pub wall_ns: u64,
    /// Whether that is exact, from the parts of waits. Otherwise it is in proportion: the time covered by
    /// the waits concerned, times the finding's share of them.
    pub wall_exact: bool,
    /// Its share of the time for which the traces ran, 0 to 1.
    pub wall_share: f64,
    /// The number of waits.
    pub waits: u64,
    /// The median time of a wait because of it, in nanoseconds.
    pub p50_ns: u64,
    /// The 99th percentile of that time, in nanoseconds.
    pub p99_ns: u64,
    /// The longest such time, in nanoseconds.
    pub max_ns: u64,
    /// The mean number of threads that waited at once, while any did.
    pub mean_waiters: f64,
    /// The number of threads that waited.
    pub threads: u64,
    /// The number of lock objects.
    pub locks: u64,
    /// The confidence in it.
    pub confidence: FindingConfidence,
    /// Whether it was so only at the start of the traces.
    pub start_up_only: bool,
    /// The saving by a fix, if it was predicted.
    pub saving: Option<Saving>,
    /// Why it cannot be predicted: replays of the trace as it is miss what the trace says, or the owner mostly waits for
    /// another lock itself.
    pub unreliable: Option<&'static str>,
    /// The waits that it is about.
    pub selection: WaitSelection,
}

/// Something with a name.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// A text that identifies the same thing in every analysis.
    pub key: String,
    /// The text for people.
    pub label: String,
}

/// A method, and its most frequent place.
#[derive(Clone, Debug, Serialize)]
pub struct Code {
    /// The method's key.
    pub key: String,
    /// The method.
    pub label: String,
    /// Method, file and line; empty if the call chain is not known.
    pub frame: String,
    /// For a method of the JDK or of a library, the innermost frame outside of both, if any; empty for
    /// other methods.
    pub called_from: String,
}

/// Code that waited.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingCode {
    /// The code.
    #[serde(flatten)]
    pub code: Code,
    /// The time waited, in nanoseconds.
    pub duration_ns: Sum,
    /// The number of waits.
    pub waits: u64,
}

/// A thread that waited for a lock, while others waited for one of its own.
#[derive(Clone, Debug, Serialize)]
pub struct Through {
    /// The class of the locks that the others waited for.
    pub lock_class: Named,
    /// The code that held them.
    pub owner: Named,
    /// The time that the others waited, in nanoseconds.
    pub duration_ns: Sum,
}

/// A place in which the owner of a lock was.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerPlace {
    /// The innermost method of the program itself, and what it called.
    pub place: String,
    /// The share of the sampled time, 0 to 1.
    pub share: f64,
}

/// For how much of the time that others waited for it an owner was on a processor, by the system's counters. Shares, 0
/// to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OnProcessor {
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
    /// The least share in which it was ready to run, but not on a processor.
    pub run_delay_least: f64,
}

/// A method that kept what it had waited for.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    /// The method that called the code which gave it back.
    pub by: String,
    /// For how long on average, in nanoseconds.
    pub mean_ns: u64,
    /// How often that was seen: between a wait, and a wait of another thread that it ended.
    pub times: u64,
    /// Where it gave it back.
    #[serde(skip)]
    pub(super) given_in: Vec<ChainIndex>,
}

/// The confidence in a finding.
#[derive(Clone, Debug, Serialize)]
pub struct FindingConfidence {
    /// `high`, `medium` or `low`.
    pub level: &'static str,
    /// How long threads waited for these locks while they were free, in nanoseconds.
    pub free_ns: Sum,
    /// How long threads waited for these locks while their owners are unknown, in nanoseconds.
    pub unknown_ns: Sum,
    /// The part of the finding's time that was spent in safepoints, in nanoseconds, as far as its waits
    /// are known one by one.
    pub safepoint_ns: Sum,
    /// The reasons for the level, and other notes.
    pub notes: Vec<String>,
}

/// The saving if code did after the release of a lock what it does while it holds the lock; of a pool, if the
/// user that keeps what it borrows longest did so after it has given that back.
///
/// Each replay of the trace finds a share that is saved, relative to its replay of the trace as it is. The
/// replays differ in what they assume where the trace says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// How many times as fast the threads that contend would do the same work.
    pub speedup: f64,
    /// The least that it may be.
    pub speedup_least: f64,
    /// The most that it may be.
    pub speedup_most: f64,
    /// `work`: the program would be done sooner, or do more. `latency`: requests would be answered sooner.
    pub speedup_of: &'static str,
    /// The mean share of all time waited for locks, for the same work: 1 is all of it. Negative if threads
    /// would wait even longer elsewhere.
    pub share: f64,
    /// The largest share of a replay.
    pub share_at_most: f64,
    /// The smallest share of a replay.
    pub share_at_least: f64,
    /// The share of the time of the trace that was replayed: 1, or less if the trace is too large.
    pub replayed_share: f64,
}
