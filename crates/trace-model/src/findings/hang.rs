//! Threads that wait for something that does not come, but for deadlocks.

use serde::Serialize;
use trace_analysis::{ChainIndex, Entities, Hang, StillBlocked, ThreadIndex, Value, Verdict};
use trace_report::{HangWords, human};

use super::finding::{Code, Finding, Named};
use super::stuck::{self, Stuck, StuckThread, StuckWait};
use crate::hash::SeededSet;
use crate::sum::Sum;

/// A lock that is not released any more, or seems not to be, and who waits for it.
#[derive(Clone, Debug, Serialize)]
pub struct HangRecord {
    /// The name of the verdict, as in a finding's `pattern`.
    pub verdict: &'static str,
    /// The problem, in one sentence without its end.
    pub title: String,
    /// What that is concluded from, and what is not known; empty if there is no doubt.
    pub basis: String,
    /// The usual remedy.
    pub advice: &'static str,
    /// When the first of the threads began to wait, in nanoseconds since its trace's start.
    pub start_ns: u64,
    /// How long the lock was not released until the trace ended, in nanoseconds.
    pub stalled_ns: u64,
    /// The lock.
    pub lock: String,
    /// The thread that has it; `None` if that is not known.
    pub holder: Option<HangHolder>,
    /// The threads that wait, those for the lock itself first; the first ones.
    pub threads: Vec<StuckThread>,
    /// The number of such threads that are not listed.
    pub more_threads: usize,
    #[serde(skip)]
    lock_class: Named,
    /// Where the thread that has the lock acquired it, waits itself, or was sampled.
    #[serde(skip)]
    owner: Option<Code>,
    #[serde(skip)]
    level: &'static str,
    /// The waits of all of them.
    #[serde(skip)]
    waits: Vec<StuckWait>,
}

/// The thread that has a lock.
#[derive(Clone, Debug, Serialize)]
pub struct HangHolder {
    /// Its name.
    pub thread: String,
    /// When it ended, in nanoseconds since its trace's start; `None` if it has not.
    pub ended_ns: Option<u64>,
    /// Where it acquired the lock, innermost first; empty if it did not have to wait.
    pub acquired_frames: Vec<String>,
    /// When and where it was sampled last.
    pub seen_ns: Option<u64>,
    /// Those frames, innermost first; empty if it was not.
    pub seen_frames: Vec<String>,
    /// Where it waits itself, innermost first; empty if it does not, as far as the trace shows.
    pub waits_frames: Vec<String>,
}

/// The most threads that are listed.
const LISTED_THREADS: usize = 20;

/// Returns the hangs of all traces, the surest of each first.
pub fn hangs<'a>(
    still_blocked: impl Iterator<Item = &'a StillBlocked>,
    entities: &Entities,
) -> Vec<HangRecord> {
    let hangs = still_blocked.flat_map(|still_blocked| still_blocked.hangs(entities));
    hangs.map(|hang| HangRecord::new(&hang, entities)).collect()
}

impl HangRecord {
    fn new(hang: &Hang, entities: &Entities) -> Self {
        let frames = |chain: ChainIndex| entities.frame_labels(chain);
        let words = HangWords::new(hang, entities);
        let first = hang.first();
        let acquired = first.holder.map(|(_, chain)| chain);
        let acquired = acquired.filter(|&chain| !entities.chain(chain).frames().is_empty());
        let seen = first.holder_facts.seen;
        let owner = match (acquired, &hang.holder_wait, seen) {
            (Some(chain), ..) => Some(stuck::code(chain, first.lock, entities)),
            (None, Some(wait), _) => Some(stuck::code(wait.chain, wait.lock, entities)),
            (None, None, Some((_, chain))) => Some(stuck::own_code(chain, entities)),
            (None, None, None) => None,
        };
        let threads = hang.threads().take(LISTED_THREADS);
        Self {
            verdict: hang.verdict.name(),
            title: words.title,
            basis: words.basis,
            advice: words.advice,
            start_ns: first.start_ns,
            stalled_ns: hang.stalled_ns(),
            lock: entities.lock_label(first.lock),
            holder: first.holder.map(|(thread, _)| HangHolder {
                thread: entities.thread(thread).name.to_string(),
                ended_ns: first.holder_facts.ended_ns,
                acquired_frames: acquired.map_or(Vec::new(), frames),
                seen_ns: seen.map(|(time_ns, _)| time_ns),
                seen_frames: seen.map_or(Vec::new(), |(_, chain)| frames(chain)),
                waits_frames: hang
                    .holder_wait
                    .map_or(Vec::new(), |wait| frames(wait.chain)),
            }),
            threads: threads
                .map(|wait| StuckThread::new(wait, entities))
                .collect(),
            more_threads: hang.threads().count().saturating_sub(LISTED_THREADS),
            lock_class: stuck::lock_class(first.lock, entities),
            owner,
            level: level(hang.verdict),
            waits: hang
                .threads()
                .map(|wait| StuckWait::new(wait, entities))
                .collect(),
        }
    }
}

fn level(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NeverReleased => "high",
        Verdict::PossibleDeadlock | Verdict::NoPermit | Verdict::Starved => "medium",
        Verdict::StillHeld => "low",
    }
}

/// Returns the threads that wait because of a hang.
pub(crate) fn stuck_threads<'a>(
    still_blocked: impl Iterator<Item = &'a StillBlocked>,
    entities: &Entities,
) -> SeededSet<ThreadIndex> {
    let hangs = still_blocked.flat_map(|still_blocked| still_blocked.hangs(entities));
    let threads = hangs.flat_map(|hang| {
        let threads: Vec<_> = hang.threads().map(|wait| wait.thread).collect();
        threads
    });
    threads.collect()
}

/// Returns the findings of hangs, which come after deadlocks and before all others. `total_ns` is the time
/// of all waits.
pub(crate) fn findings(hangs: &[HangRecord], total_ns: Sum, run_ns: u64) -> Vec<Finding> {
    let findings = hangs.iter().map(|hang| {
        let notes = Some(hang.basis.clone()).filter(|basis| !basis.is_empty());
        let first = hang.waits.first().map(|wait| wait.thread_key.as_str());
        let stuck = Stuck {
            id: format!("{}:{}", hang.verdict, first.unwrap_or_default()),
            pattern: hang.verdict,
            title: hang.title.clone(),
            remedy: hang.advice,
            lock_class: hang.lock_class.clone(),
            owner: hang.owner.clone(),
            waits: &hang.waits,
            level: hang.level,
            notes: notes.into_iter().collect(),
        };
        stuck.finding(total_ns, run_ns)
    });
    findings.collect()
}

/// Returns how long all threads waited because of the hangs.
pub(crate) fn blocked_ns(hangs: &[HangRecord]) -> Sum {
    stuck::blocked_ns(hangs.iter().flat_map(|hang| &hang.waits))
}

/// Adds a finding to the hang that it is a part of, if it is one: threads that gave up waiting for a lock that
/// was not released any more.
pub(crate) fn join(findings: &mut [Finding], other: &Finding, entities: &Entities) -> bool {
    let not_released = Value::Chain(ChainIndex::NOT_RELEASED).key(entities);
    let owner = other.owner.as_ref();
    let is_unreleased = owner.is_some_and(|owner| owner.key == not_released);
    let is_same = |finding: &&mut Finding| {
        finding.hang && is_unreleased && finding.lock_class.key == other.lock_class.key
    };
    let Some(hang) = findings.iter_mut().find(is_same) else {
        return false;
    };
    hang.confidence.notes.push(format!(
        "Other threads waited {} for it and gave up.",
        human::duration(other.duration_ns.ns())
    ));
    true
}
