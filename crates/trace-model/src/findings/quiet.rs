//! Whether any lock is worth changing, and what threads wait for if none is.

use serde::Serialize;
use trace_analysis::{Value, WaitKind};

use super::code::CodeNames;
use super::evidence::{Evidence, KindEvidence};
use super::run::Run;
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
    /// Whether more than that were worth changing, but only at the start.
    pub only_start_up: bool,
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

/// Returns whether threads are blocked so seldom that a change of a lock cannot matter: by the share of a time
/// in which any is, and by how much of their own time.
pub(crate) fn is_small(wall_ns: u64, blocked_ns: u64, threads: u64, time_ns: u64) -> bool {
    let threads_ns = threads.max(1).saturating_mul(time_ns);
    share(wall_ns, time_ns) < QUIET_WALL && share(blocked_ns, threads_ns) < QUIET_THREADS
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    part_ns as f64 / whole_ns.max(1) as f64
}

impl Evidence {
    /// Returns how little threads were blocked, if no lock is worth changing: in the whole run, or, if it is
    /// only one, after its start.
    pub(crate) fn quiet(&self, run: Run<'_>) -> Option<Quiet> {
        let contention = self.kind(WaitKind::Contention);
        let threads = contention.threads.len() as u64;
        let (blocked_ns, run_ns) = (contention.running_ns(), run.duration_ns);
        let wall_ns = contention.coverage.covered().duration_ns;
        let is_small_after_start = run.start_ns().is_some_and(|start_ns| {
            let wall_ns = contention.coverage.covered_from_ns(start_ns);
            let at_start_ns = contention.series.until_ns(start_ns);
            let blocked_ns = blocked_ns.ns().saturating_sub(at_start_ns);
            is_small(wall_ns, blocked_ns, threads, run_ns - start_ns)
        });
        let is_quiet = is_small(wall_ns, blocked_ns.ns(), threads, run_ns);
        (is_quiet || is_small_after_start).then(|| Quiet {
            blocked_ns,
            wall_share: share(wall_ns, run_ns),
            threads,
            threads_share: share(blocked_ns.ns(), threads.max(1).saturating_mul(run_ns)),
            only_start_up: !is_quiet,
        })
    }

    /// Returns what threads waited for that is no lock, by kind.
    pub(crate) fn other_waits(&self, names: &CodeNames<'_>) -> Vec<OtherWaits> {
        let kinds = [
            WaitKind::Conditional,
            WaitKind::Join,
            WaitKind::Idle,
            WaitKind::Sleep,
        ];
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
