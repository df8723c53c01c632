//! Threads that blocked each other for good.

use serde::Serialize;
use trace_analysis::{ChainIndex, Entities, StillBlocked, ThreadIndex};
use trace_report::human;

use super::finding::{Finding, Named};
use super::stuck::{self, Stuck, StuckThread, StuckWait};
use crate::hash::SeededSet;
use crate::sum::Sum;

/// A deadlock: threads each of which waited for a lock that the next one held.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockRecord {
    /// When it began, in nanoseconds since its trace's start.
    pub start_ns: u64,
    /// Its duration until the trace ended, in nanoseconds.
    pub duration_ns: u64,
    /// The threads.
    pub threads: Vec<DeadlockedThread>,
    /// Threads that wait for one of them, directly or through others; the nearest ones.
    pub behind: Vec<StuckThread>,
    /// The number of such threads that are not listed.
    pub more_behind: usize,
    /// The waits of all of them, those in the cycle first.
    #[serde(skip)]
    waits: Vec<StuckWait>,
}

/// The name of the pattern.
const DEADLOCK: &str = "deadlock";

/// The most names in a title.
const LISTED_NAMES: usize = 6;
/// The most threads listed that wait for a deadlock.
const LISTED_BEHIND: usize = 20;

/// A thread of a deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockedThread {
    /// Its wait.
    #[serde(flatten)]
    pub stuck: StuckThread,
    /// The lock that it held.
    pub holds: String,
    /// Where it acquired that lock, innermost first; empty if not known.
    pub holds_frames: Vec<String>,
    #[serde(skip)]
    lock_class: Named,
}

/// Returns the deadlocks of all traces.
pub fn deadlocks<'a>(
    still_blocked: impl Iterator<Item = &'a StillBlocked>,
    entities: &Entities,
) -> Vec<DeadlockRecord> {
    let frames = |chain: ChainIndex| entities.frame_labels(chain);
    let found = still_blocked.flat_map(StillBlocked::deadlocks);
    found
        .map(|deadlock| DeadlockRecord {
            start_ns: deadlock.threads[0].start_ns,
            duration_ns: deadlock.duration_ns(),
            threads: deadlock
                .threads
                .iter()
                .enumerate()
                .map(|(place, blocked)| {
                    let held = deadlock.held_by(place);
                    DeadlockedThread {
                        stuck: StuckThread::new(blocked, entities),
                        holds: held.map_or(String::new(), |(lock, _)| entities.lock_label(lock)),
                        holds_frames: held.map_or(Vec::new(), |(_, chain)| frames(chain)),
                        lock_class: stuck::lock_class(blocked.lock, entities),
                    }
                })
                .collect(),
            behind: deadlock
                .behind
                .iter()
                .take(LISTED_BEHIND)
                .map(|blocked| StuckThread::new(blocked, entities))
                .collect(),
            more_behind: deadlock.behind.len().saturating_sub(LISTED_BEHIND),
            waits: deadlock
                .threads
                .iter()
                .chain(&deadlock.behind)
                .map(|blocked| StuckWait::new(blocked, entities))
                .collect(),
        })
        .collect()
}

/// Returns the threads that deadlocks block, in a cycle or waiting for one.
pub(crate) fn stuck_threads<'a>(
    still_blocked: impl Iterator<Item = &'a StillBlocked>,
) -> SeededSet<ThreadIndex> {
    let deadlocks = still_blocked.flat_map(StillBlocked::deadlocks);
    let threads = deadlocks.flat_map(|deadlock| {
        let threads = deadlock.threads.into_iter().chain(deadlock.behind);
        threads.map(|blocked| blocked.thread)
    });
    threads.collect()
}

/// Returns the findings of deadlocks, which come before all others. `total_ns` is the time of all waits.
pub(crate) fn findings(deadlocks: &[DeadlockRecord], total_ns: Sum, run_ns: u64) -> Vec<Finding> {
    let findings = deadlocks.iter();
    findings
        .map(|deadlock| finding(deadlock, total_ns, run_ns))
        .collect()
}

/// Returns how long all threads blocked by the deadlocks waited.
pub(crate) fn blocked_ns(deadlocks: &[DeadlockRecord]) -> Sum {
    stuck::blocked_ns(deadlocks.iter().flat_map(|deadlock| &deadlock.waits))
}

/// Returns the names of the threads, up to a limit.
fn names(threads: &[DeadlockedThread]) -> String {
    let names = threads.iter().take(LISTED_NAMES);
    let names: Vec<&str> = names.map(|thread| thread.stuck.thread.as_str()).collect();
    match threads.len().saturating_sub(LISTED_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more threads", names.join(", ")),
    }
}

fn finding(deadlock: &DeadlockRecord, total_ns: Sum, run_ns: u64) -> Finding {
    let threads = &deadlock.threads;
    let keys = deadlock.waits.iter().map(|wait| wait.thread_key.as_str());
    let cycle: Vec<&str> = keys.take(threads.len()).collect();
    let behind = match deadlock.waits.len() - threads.len() {
        0 => String::new(),
        1 => ", and one more thread waits behind them".to_owned(),
        more => format!(", and {more} more threads wait behind them"),
    };
    let stuck = Stuck {
        id: format!("deadlock:{}", cycle.join(":")),
        pattern: DEADLOCK,
        title: format!(
            "Deadlock: {} have blocked each other for {}{behind}",
            names(threads),
            human::duration(deadlock.duration_ns)
        ),
        remedy: "Acquire the locks in the same order everywhere, or use tryLock with a time limit.",
        lock_class: threads[0].lock_class.clone(),
        owner: None,
        waits: &deadlock.waits,
        level: "high",
        notes: Vec::new(),
    };
    stuck.finding(total_ns, run_ns)
}
