//! What a finding says.

use serde::Serialize;

use crate::selection::WaitSelection;
use crate::sum::Sum;

/// Code that waited, at most, in a finding.
pub(super) const LISTED_WAITERS: usize = 3;

/// Something to fix.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Stands for the same finding in every analysis.
    pub id: String,
    /// The name of its pattern.
    pub pattern: &'static str,
    /// What is the matter, in one sentence.
    pub title: String,
    /// What usually helps.
    pub remedy: &'static str,
    /// The class of the locks.
    pub lock_class: Named,
    /// The code that held them; `None` if no thread is known to have done so.
    pub owner: Option<Code>,
    /// The code that waited, that with the most time first; three at most.
    pub waiters: Vec<WaitingCode>,
    /// How many methods waited.
    pub waiter_sites: u64,
    /// The time waited because of it, in nanoseconds.
    pub duration_ns: Sum,
    /// Its share of all such waiting, 0 to 1.
    pub share: f64,
    /// The time in which anybody waited because of it, in nanoseconds.
    pub wall_ns: u64,
    /// That is the time of the parts that it is about. Else it is in proportion: the time in which
    /// any of the waits concerned went on, times the finding's share of them.
    pub wall_exact: bool,
    /// Its share of the time in which the traces ran, 0 to 1.
    pub wall_share: f64,
    /// How many waits.
    pub waits: u64,
    /// Half of them waited at most so long because of it, in nanoseconds.
    pub p50_ns: u64,
    /// Of 100 waits, 99 waited at most so long because of it, in nanoseconds.
    pub p99_ns: u64,
    /// The longest waited so long because of it, in nanoseconds.
    pub max_ns: u64,
    /// How many threads waited at once on average, when any did.
    pub mean_waiters: f64,
    /// How many threads waited.
    pub threads: u64,
    /// How many lock objects.
    pub locks: u64,
    /// How sure it is.
    pub confidence: FindingConfidence,
    /// It was so at the start of the traces only.
    pub start_up_only: bool,
    /// What it would save to fix it, if that was [predicted](Finding::predict_saving).
    pub saving: Option<Saving>,
    /// What it is about.
    pub selection: WaitSelection,
}

/// Something with a name.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// Text that stands for the same thing in every analysis.
    pub key: String,
    /// Text for people.
    pub label: String,
}

/// A method, and where it stood most of the time.
#[derive(Clone, Debug, Serialize)]
pub struct Code {
    /// The method's key.
    pub key: String,
    /// The method.
    pub label: String,
    /// Method, file and line; empty if the call chain is not known.
    pub frame: String,
    /// Of a method of the JDK or of a library, the innermost frame outside of them; empty of
    /// others, and if there is none.
    pub called_from: String,
}

/// Code that waited.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingCode {
    /// Which.
    #[serde(flatten)]
    pub code: Code,
    /// How long, in nanoseconds.
    pub duration_ns: Sum,
    /// How many waits.
    pub waits: u64,
}

/// How sure a finding is.
#[derive(Clone, Debug, Serialize)]
pub struct FindingConfidence {
    /// `high`, `medium` or `low`.
    pub level: &'static str,
    /// How long threads waited for these locks when nobody had them, in nanoseconds.
    pub free_ns: Sum,
    /// How long it is not known who had them, in nanoseconds.
    pub unknown_ns: Sum,
    /// How much of the finding's time was spent in safepoints, in nanoseconds, as far as
    /// its waits are known one by one.
    pub safepoint_ns: Sum,
    /// Why the level is not high, and what else to know.
    pub notes: Vec<String>,
}

/// What it would bring if code held a lock for no time: no remedy for that code alone can do more.
///
/// Each replay of the trace finds a share that is saved, in proportion to what it makes of the trace as
/// it is. They assume different things of what a trace does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// The share of the time that threads waited for any lock, to do the same work, that the replays find
    /// on the average: 1 is all of it. Negative where threads would wait even longer elsewhere.
    pub share: f64,
    /// The largest share of all replays.
    pub share_at_most: f64,
    /// The smallest one.
    pub share_at_least: f64,
    /// It is about the time up to then, in nanoseconds since the trace's start; of the rest too much
    /// is in the trace.
    pub until_ns: Option<u64>,
}
