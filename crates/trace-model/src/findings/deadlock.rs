//! Threads that blocked each other for good.

use std::collections::BTreeSet;

use serde::Serialize;
use trace_analysis::{ChainIndex, Entities, LockIndex, StillBlocked, ThreadIndex, Value};

use super::finding::{Code, Finding, FindingConfidence, LISTED_WAITERS, Named, WaitingCode};
use crate::hash::SeededSet;
use crate::selection::{Condition, WaitSelection};
use crate::sum::Sum;
use trace_report::human;

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
    pub behind: Vec<ThreadBehind>,
    /// The number of such threads that are not listed.
    pub more_behind: usize,
    /// The waits of all of them, those in the cycle first.
    #[serde(skip)]
    waits: Vec<StuckWait>,
}

/// A thread that waits for a deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadBehind {
    /// Its name.
    pub thread: String,
    /// The lock that it waited for.
    pub waits_for: String,
    /// When that began, in nanoseconds since its trace's start.
    pub since_ns: u64,
    /// Where it waited, innermost first.
    pub frames: Vec<String>,
}

/// A wait that could not end.
#[derive(Clone, Debug)]
struct StuckWait {
    thread_key: String,
    lock: String,
    duration_ns: u64,
}

/// The name of the pattern.
pub(crate) const DEADLOCK: &str = "deadlock";

/// The most names in a title.
const LISTED_NAMES: usize = 6;
/// The most threads listed that wait for a deadlock.
const LISTED_BEHIND: usize = 20;
/// The most threads in a selection, so that it can be read.
const SELECTED_THREADS: usize = 1_000;

/// A thread of a deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockedThread {
    /// Its name.
    pub thread: String,
    /// The lock that it waited for.
    pub waits_for: String,
    /// When that began, in nanoseconds since its trace's start.
    pub since_ns: u64,
    /// Where it waited, innermost first.
    pub frames: Vec<String>,
    /// The lock that it held.
    pub holds: String,
    /// Where it acquired that lock, innermost first; empty if not known.
    pub holds_frames: Vec<String>,
    #[serde(skip)]
    lock_class: Named,
    /// The code that waited.
    #[serde(skip)]
    code: Code,
}

/// Returns the deadlocks of all traces.
pub fn deadlocks<'a>(
    still_blocked: impl Iterator<Item = &'a StillBlocked>,
    entities: &Entities,
) -> Vec<DeadlockRecord> {
    let frames = |chain: ChainIndex| entities.frame_labels(chain);
    let key = |thread: ThreadIndex| Value::Thread(thread).key(entities);
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
                    let class = entities.lock_class(blocked.lock);
                    let class = class.map(|class| entities.class_name(class).to_owned());
                    let class = class.unwrap_or_else(|| entities.lock_label(blocked.lock));
                    DeadlockedThread {
                        thread: entities.thread(blocked.thread).name.to_string(),
                        waits_for: entities.lock_label(blocked.lock),
                        since_ns: blocked.start_ns,
                        frames: frames(blocked.chain),
                        holds: held.map_or(String::new(), |(lock, _)| entities.lock_label(lock)),
                        holds_frames: held.map_or(Vec::new(), |(_, chain)| frames(chain)),
                        lock_class: Named {
                            key: class.clone(),
                            label: class,
                        },
                        code: code(blocked.chain, blocked.lock, entities),
                    }
                })
                .collect(),
            behind: deadlock
                .behind
                .iter()
                .take(LISTED_BEHIND)
                .map(|blocked| ThreadBehind {
                    thread: entities.thread(blocked.thread).name.to_string(),
                    waits_for: entities.lock_label(blocked.lock),
                    since_ns: blocked.start_ns,
                    frames: frames(blocked.chain),
                })
                .collect(),
            more_behind: deadlock.behind.len().saturating_sub(LISTED_BEHIND),
            waits: deadlock
                .threads
                .iter()
                .chain(&deadlock.behind)
                .map(|blocked| StuckWait {
                    thread_key: key(blocked.thread),
                    lock: entities.lock_label(blocked.lock),
                    duration_ns: blocked.duration_ns,
                })
                .collect(),
        })
        .collect()
}

/// Returns the code in which a thread waited for a lock.
fn code(chain: ChainIndex, lock: LockIndex, entities: &Entities) -> Code {
    let position = entities.code(chain, entities.lock_class(lock));
    let frame = position.and_then(|position| entities.chain(chain).frames().get(position));
    let value = frame.map_or(Value::Chain(chain), |frame| Value::Method(frame.method));
    let label = |at: usize| entities.frame_labels(chain).into_iter().nth(at);
    Code {
        key: value.key(entities),
        label: value.name(entities),
        frame: position.and_then(label).unwrap_or_default(),
        called_from: String::new(),
    }
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

/// Returns the findings of deadlocks, which come before all others. `others_ns` is the time of all other
/// waits.
pub(crate) fn findings(deadlocks: &[DeadlockRecord], others_ns: Sum, run_ns: u64) -> Vec<Finding> {
    let mut total_ns = blocked_ns(deadlocks);
    total_ns.add_sum(others_ns);
    let findings = deadlocks.iter();
    findings
        .map(|deadlock| finding(deadlock, total_ns, run_ns))
        .collect()
}

/// Returns how long all threads blocked by the deadlocks waited.
pub(crate) fn blocked_ns(deadlocks: &[DeadlockRecord]) -> Sum {
    let mut sum = Sum::default();
    for deadlock in deadlocks {
        for wait in &deadlock.waits {
            sum.add(wait.duration_ns);
        }
    }
    sum
}

/// Returns the names of the threads, up to a limit.
fn names(threads: &[DeadlockedThread]) -> String {
    let names = threads.iter().take(LISTED_NAMES);
    let names: Vec<&str> = names.map(|thread| thread.thread.as_str()).collect();
    match threads.len().saturating_sub(LISTED_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more threads", names.join(", ")),
    }
}

fn finding(deadlock: &DeadlockRecord, total_ns: Sum, run_ns: u64) -> Finding {
    let threads = &deadlock.threads;
    let keys = || deadlock.waits.iter().map(|wait| wait.thread_key.clone());
    let cycle: Vec<String> = keys().take(threads.len()).collect();
    let mut durations_ns: Vec<u64> = deadlock.waits.iter().map(|wait| wait.duration_ns).collect();
    durations_ns.sort_unstable();
    let percentile_ns = |percent: usize| {
        let rank = (durations_ns.len() * percent).div_ceil(100);
        let at = rank.saturating_sub(1);
        durations_ns.get(at).copied().unwrap_or_default()
    };
    let max_ns = percentile_ns(100);
    let duration_ns = blocked_ns(std::slice::from_ref(deadlock));
    let count = deadlock.waits.len() as u64;
    let behind = match count - threads.len() as u64 {
        0 => String::new(),
        1 => ", and one more thread waits behind them".to_owned(),
        more => format!(", and {more} more threads wait behind them"),
    };
    let locks: BTreeSet<&str> = deadlock
        .waits
        .iter()
        .map(|wait| wait.lock.as_str())
        .collect();
    Finding {
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
        waiters: threads
            .iter()
            .zip(&deadlock.waits)
            .take(LISTED_WAITERS)
            .map(|(thread, wait)| WaitingCode {
                code: thread.code.clone(),
                duration_ns: Sum::from(wait.duration_ns),
                waits: 1,
            })
            .collect(),
        waiter_sites: count,
        through: Vec::new(),
        owner_places: Vec::new(),
        owner_sampled: 0.0,
        duration_ns,
        share: duration_ns.of(total_ns),
        // All of them last until the end.
        wall_ns: max_ns,
        wall_exact: true,
        wall_share: max_ns as f64 / run_ns.max(1) as f64,
        waits: count,
        p50_ns: percentile_ns(50),
        p99_ns: percentile_ns(99),
        max_ns,
        mean_waiters: duration_ns.ns() as f64 / max_ns.max(1) as f64,
        threads: count,
        locks: locks.len() as u64,
        confidence: FindingConfidence {
            level: "high",
            free_ns: Sum::default(),
            unknown_ns: Sum::default(),
            safepoint_ns: Sum::default(),
            notes: Vec::new(),
        },
        start_up_only: false,
        saving: None,
        selection: WaitSelection {
            filter: vec![Condition {
                aspect: trace_analysis::Aspect::Thread.into(),
                not: false,
                keys: keys().take(SELECTED_THREADS).collect(),
            }],
            ..WaitSelection::default()
        },
    }
}
