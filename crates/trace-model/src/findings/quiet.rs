//! Whether any lock is worth changing, and what threads wait for if none is.

use serde::Serialize;
use trace_analysis::{Value, WaitKind};

use super::code::CodeNames;
use super::evidence::{Evidence, KindEvidence};
use crate::sum::Sum;

/// The share of the run in which anybody is blocked, up to which no lock matters.
const QUIET_WALL: f64 = 0.005;
/// The share of the threads' time that is spent blocked, up to which no lock matters.
const QUIET_THREADS: f64 = 0.01;

/// How little threads were blocked, where no lock is worth changing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quiet {
    /// How long threads were blocked, in nanoseconds.
    pub blocked_ns: Sum,
    /// The share of the run in which at least one was, 0 to 1.
    pub wall_share: f64,
    /// The threads that were ever blocked.
    pub threads: u64,
    /// The share of their time that they were blocked, 0 to 1.
    pub threads_share: f64,
}

/// What threads waited for that is no lock.
#[derive(Clone, Debug, Serialize)]
pub struct OtherWaits {
    /// `conditional`, `idle` or `sleep`.
    pub kind: &'static str,
    /// How long, in nanoseconds.
    pub duration_ns: Sum,
    /// How often.
    pub waits: u64,
    /// The number of threads.
    pub threads: u64,
    /// The class of what they waited for longest in one place; empty if that is not known.
    pub lock_class: String,
    /// That place.
    pub place: String,
    /// How long they waited there, in nanoseconds.
    pub place_ns: Sum,
}

impl Evidence {
    /// Returns how little threads were blocked in a run of `run_ns`, if no lock is worth changing.
    pub fn quiet(&self, run_ns: u64) -> Option<Quiet> {
        let contention = self.kind(WaitKind::Contention);
        let threads = contention.threads.len() as u64;
        let share = |part_ns: u64, whole_ns: u64| part_ns as f64 / whole_ns.max(1) as f64;
        let quiet = Quiet {
            blocked_ns: contention.running_ns(),
            wall_share: share(contention.coverage.covered().duration_ns, run_ns),
            threads,
            threads_share: share(
                contention.running_ns().ns(),
                threads.max(1).saturating_mul(run_ns),
            ),
        };
        let is_quiet = quiet.wall_share < QUIET_WALL && quiet.threads_share < QUIET_THREADS;
        is_quiet.then_some(quiet)
    }

    /// Returns what threads waited for that is no lock, by kind.
    pub(crate) fn other_waits(&self, names: &CodeNames<'_>) -> Vec<OtherWaits> {
        let kinds = [WaitKind::Conditional, WaitKind::Idle, WaitKind::Sleep];
        let waited = kinds.into_iter().map(|kind| (kind, self.kind(kind)));
        let waited = waited.filter(|(_, of_kind)| of_kind.waits > 0);
        waited
            .map(|(kind, of_kind)| other_waits(kind, of_kind, names))
            .collect()
    }
}

fn other_waits(kind: WaitKind, of_kind: &KindEvidence, names: &CodeNames<'_>) -> OtherWaits {
    let key = |(class, chain)| names.key(class) + &names.key(Value::Chain(chain));
    let largest = of_kind.places.largest(key);
    let (lock_class, place) = largest.map_or_else(Default::default, |((class, chain), _)| {
        let method = names.waiting_method(chain, names.lock_class(class));
        (names.label(class), method)
    });
    OtherWaits {
        kind: kind.name(),
        duration_ns: of_kind.running_ns(),
        waits: of_kind.waits,
        threads: of_kind.threads.len() as u64,
        lock_class,
        place,
        place_ns: Sum::from(largest.map_or(0, |(_, sum)| sum.duration_ns)),
    }
}
