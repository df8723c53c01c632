//! Threads that blocked each other for good.

use serde::Serialize;
use trace_analysis::{ChainIndex, Entities, StillBlocked, ThreadIndex};

use super::{Confidence, Finding, Named};
use crate::human::duration_text;
use crate::selection::{Condition, Selection};
use crate::sum::Sum;

/// Threads each of which waited for a lock that the next one had.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockRecord {
    /// Since when, in nanoseconds since its trace's start.
    pub start_ns: u64,
    /// How long it lasted until the trace ended, in nanoseconds.
    pub duration_ns: u64,
    /// The threads.
    pub threads: Vec<DeadlockedThread>,
}

/// A thread of a deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockedThread {
    /// Its name.
    pub thread: String,
    /// The lock that it waited for.
    pub waits_for: String,
    /// Since when, in nanoseconds since its trace's start.
    pub since_ns: u64,
    /// Where it waited, innermost first.
    pub frames: Vec<String>,
    /// The lock that it had.
    pub holds: String,
    /// Where it acquired that; empty if that is not known.
    pub holds_frames: Vec<String>,
    #[serde(skip)]
    lock_class: Named,
    #[serde(skip)]
    thread_key: String,
}

/// The deadlocks of all traces.
pub fn deadlocks<'a>(
    still_blocked: impl Iterator<Item = &'a StillBlocked>,
    entities: &Entities,
) -> Vec<DeadlockRecord> {
    let frames = |chain: ChainIndex| entities.frame_labels(chain);
    let key = |thread: ThreadIndex| trace_analysis::Value::Thread(thread).key(entities);
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
                        thread_key: key(blocked.thread),
                    }
                })
                .collect(),
        })
        .collect()
}

/// They come before everything else.
pub(crate) fn findings(deadlocks: &[DeadlockRecord], run_ns: u64) -> Vec<Finding> {
    deadlocks
        .iter()
        .map(|deadlock| finding(deadlock, run_ns))
        .collect()
}

fn finding(deadlock: &DeadlockRecord, run_ns: u64) -> Finding {
    let threads = &deadlock.threads;
    let names: Vec<&str> = threads
        .iter()
        .map(|thread| thread.thread.as_str())
        .collect();
    let keys: Vec<String> = threads
        .iter()
        .map(|thread| thread.thread_key.clone())
        .collect();
    let mut duration_ns = Sum::default();
    for _ in threads {
        duration_ns.add(deadlock.duration_ns);
    }
    Finding {
        id: format!("deadlock:{}", keys.join(":")),
        pattern: "deadlock",
        title: format!(
            "Deadlock: {} have blocked each other for {}",
            names.join(", "),
            duration_text(deadlock.duration_ns)
        ),
        remedy: "Acquire the locks in the same order everywhere, or use tryLock with a time limit.",
        lock_class: threads[0].lock_class.clone(),
        owner: None,
        waiters: Vec::new(),
        waiter_sites: threads.len() as u64,
        duration_ns,
        share: 1.0,
        wall_ns: deadlock.duration_ns,
        wall_share: deadlock.duration_ns as f64 / run_ns.max(1) as f64,
        waits: threads.len() as u64,
        p50_ns: deadlock.duration_ns,
        p99_ns: deadlock.duration_ns,
        max_ns: deadlock.duration_ns,
        mean_waiters: threads.len() as f64,
        threads: threads.len() as u64,
        locks: threads.len() as u64,
        confidence: Confidence {
            level: "high",
            free_ns: Sum::default(),
            unknown_ns: Sum::default(),
            safepoint_ns: Sum::default(),
            notes: Vec::new(),
        },
        start_up_only: false,
        selection: Selection {
            filter: vec![Condition {
                aspect: trace_analysis::Aspect::Thread.into(),
                not: false,
                keys,
            }],
            ..Selection::default()
        },
    }
}
