//! Findings about threads that wait until their trace ends.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use trace_analysis::{Aspect, ChainIndex, Entities, Frame, LockIndex, OpenWait, Value, WaitKind};

use super::finding::{Code, Finding, FindingConfidence, LISTED_WAITERS, Named, WaitingCode};
use crate::selection::{Condition, Kind, WaitSelection};
use crate::sum::Sum;

/// The most threads in a selection, so that it can be read.
const SELECTED_THREADS: usize = 1_000;

/// A thread that waited until its trace ended.
#[derive(Clone, Debug, Serialize)]
pub struct StuckThread {
    /// Its name.
    pub thread: String,
    /// The lock that it waited for.
    pub waits_for: String,
    /// When that began, in nanoseconds since its trace's start.
    pub since_ns: u64,
    /// Where it waited, innermost first.
    pub frames: Vec<String>,
}

impl StuckThread {
    pub(super) fn new(wait: &OpenWait, entities: &Entities) -> Self {
        Self {
            thread: entities.thread(wait.thread).name.to_string(),
            waits_for: entities.lock_label(wait.lock),
            since_ns: wait.start_ns,
            frames: entities.frame_labels(wait.chain),
        }
    }
}

/// A wait that could not end.
#[derive(Clone, Debug)]
pub(super) struct StuckWait {
    pub(super) thread_key: String,
    pub(super) lock: String,
    duration_ns: u64,
    kind: Kind,
    code: Code,
}

impl StuckWait {
    pub(super) fn new(wait: &OpenWait, entities: &Entities) -> Self {
        Self {
            thread_key: Value::Thread(wait.thread).key(entities),
            lock: entities.lock_label(wait.lock),
            duration_ns: wait.duration_ns,
            kind: Kind(wait.kind),
            code: code(wait.chain, wait.lock, entities),
        }
    }
}

/// What is known of waits that could not end.
pub(super) struct Stuck<'s> {
    pub(super) id: String,
    pub(super) pattern: &'static str,
    pub(super) title: String,
    pub(super) remedy: &'static str,
    pub(super) lock_class: Named,
    pub(super) owner: Option<Code>,
    /// The first threads that wait, and the number of all.
    pub(super) waits: &'s [StuckWait],
    pub(super) level: &'static str,
    pub(super) notes: Vec<String>,
}

/// Returns how long all threads waited.
pub(super) fn blocked_ns<'w>(waits: impl Iterator<Item = &'w StuckWait>) -> Sum {
    let mut sum = Sum::default();
    for wait in waits {
        sum.add(wait.duration_ns);
    }
    sum
}

impl Stuck<'_> {
    /// Returns the finding. `total_ns` is the time of all waits.
    pub(super) fn finding(self, total_ns: Sum, run_ns: u64) -> Finding {
        let waits = self.waits;
        let mut durations_ns: Vec<u64> = waits.iter().map(|wait| wait.duration_ns).collect();
        durations_ns.sort_unstable();
        let percentile_ns = |percent: usize| {
            let rank = (durations_ns.len() * percent).div_ceil(100);
            let at = rank.saturating_sub(1);
            durations_ns.get(at).copied().unwrap_or_default()
        };
        let max_ns = percentile_ns(100);
        let duration_ns = blocked_ns(waits.iter());
        let count = waits.len() as u64;
        let locks: BTreeSet<&str> = waits.iter().map(|wait| wait.lock.as_str()).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        for wait in waits {
            if !kinds.contains(&wait.kind) {
                kinds.push(wait.kind);
            }
        }
        if kinds == [Kind(WaitKind::Contention)] {
            kinds.clear();
        }
        let keys = waits.iter().map(|wait| wait.thread_key.clone());
        let mut waiters = waiters(waits);
        let waiter_sites = waiters.len() as u64;
        waiters.truncate(LISTED_WAITERS);
        Finding {
            id: self.id,
            pattern: self.pattern,
            hang: true,
            title: self.title,
            remedy: self.remedy,
            lock_class: self.lock_class,
            owner: self.owner,
            waiters,
            waiter_sites,
            through: Vec::new(),
            owner_places: Vec::new(),
            owner_callers: Vec::new(),
            kept_by: Vec::new(),
            owner_sampled: 0.0,
            owner_samples: 0,
            owner_on_processor: None,
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
                level: self.level,
                free_ns: Sum::default(),
                unknown_ns: Sum::default(),
                safepoint_ns: Sum::default(),
                notes: self.notes,
            },
            start_up_only: false,
            saving: None,
            unreliable: None,
            selection: WaitSelection {
                kinds,
                filter: vec![Condition {
                    aspect: Aspect::Thread.into(),
                    not: false,
                    keys: keys.take(SELECTED_THREADS).collect(),
                }],
                ..WaitSelection::default()
            },
        }
    }
}

/// Returns the code in which threads waited, the most time first.
fn waiters(waits: &[StuckWait]) -> Vec<WaitingCode> {
    let mut waiters: Vec<WaitingCode> = Vec::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for wait in waits {
        let place = (wait.code.key.as_str(), wait.code.frame.as_str());
        let at = *places.entry(place).or_insert_with(|| {
            waiters.push(WaitingCode {
                code: wait.code.clone(),
                duration_ns: Sum::default(),
                waits: 0,
            });
            waiters.len() - 1
        });
        waiters[at].duration_ns.add(wait.duration_ns);
        waiters[at].waits += 1;
    }
    waiters.sort_by_key(|waiter| Reverse(waiter.duration_ns));
    waiters
}

/// Returns the class of a lock.
pub(super) fn lock_class(lock: LockIndex, entities: &Entities) -> Named {
    let class = entities.lock_class(lock);
    let class = class.map(|class| entities.class_name(class).to_owned());
    let class = class.unwrap_or_else(|| entities.lock_label(lock));
    Named {
        key: class.clone(),
        label: class,
    }
}

/// Returns the code in which a thread stood that waited for a lock, or had it.
pub(super) fn code(chain: ChainIndex, lock: LockIndex, entities: &Entities) -> Code {
    let frames = entities.frames_from_code(chain, entities.lock_class(lock));
    code_at(chain, frames.first(), entities)
}

/// Returns the innermost code outside of the JDK of a thread that has a lock.
pub(super) fn own_code(chain: ChainIndex, entities: &Entities) -> Code {
    code_at(chain, entities.frame_outside_of_jdk(chain), entities)
}

fn code_at(chain: ChainIndex, frame: Option<&Frame>, entities: &Entities) -> Code {
    let value = frame.map_or(Value::Chain(chain), |frame| Value::Method(frame.method));
    Code {
        key: value.key(entities),
        label: value.name(entities),
        frame: frame.map_or_else(String::new, |frame| entities.frame_label(frame)),
        called_from: String::new(),
    }
}
