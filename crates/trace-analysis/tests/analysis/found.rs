//! What the analysis finds, with names in place of entities.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use trace_analysis::{
    Analysis, ChainIndex, Counters, Detail, Entities, Limits, LockIndex, OpenWait, Owner as Blamed,
    Selection, StillBlocked, TimeRange, TraceFile, TraceSummary, Wait, WaitKind,
};
use trace_format::file::VERSION;
use trace_format::{Capabilities, Event, ThreadId};

use crate::script;

/// Analyzes `events` in the given order.
pub(crate) fn analyze(events: &[(ThreadId, Event<'_>)], limits: Limits) -> Analyzed {
    analyze_guaranteed(events, limits, Capabilities::default())
}

/// Analyzes `events` of a producer with these capabilities.
pub(crate) fn analyze_guaranteed(
    events: &[(ThreadId, Event<'_>)],
    limits: Limits,
    capabilities: Capabilities,
) -> Analyzed {
    let mut found = Found::default();
    let mut on_wait = |wait: &Wait, entities: &Entities| found.add(wait, entities);
    let mut analysis = Analysis::new(limits);
    let mut trace = analysis.begin_trace(VERSION, capabilities);
    for (thread, event) in script::metadata_events().iter().chain(events) {
        trace.event(*thread, event, &mut on_wait);
    }
    let findings = trace.finish(&mut on_wait);
    found.into_analyzed(
        findings.counters,
        findings.still_blocked,
        analysis.entities(),
    )
}

/// Analyzes a trace file.
pub(crate) fn analyze_file(path: &Path, limits: Limits) -> (Analyzed, TraceSummary) {
    analyze_range(path, limits, TimeRange::default())
}

/// Analyzes what happens in a trace file in some time.
pub(crate) fn analyze_range(
    path: &Path,
    limits: Limits,
    range: TimeRange,
) -> (Analyzed, TraceSummary) {
    let mut found = Found::default();
    let mut on_wait = |wait: &Wait, entities: &Entities| found.add(wait, entities);
    let mut analysis = Analysis::new(limits);
    analysis.select(Selection::default().in_range(range));
    let summary = TraceFile::open(path)
        .expect("a trace")
        .analyze(&mut analysis, &mut on_wait, |_| ControlFlow::Continue(()))
        .expect("readable");
    let counters = summary.counters.clone();
    let still_blocked = summary.still_blocked.clone();
    let analyzed = found.into_analyzed(counters, still_blocked, analysis.entities());
    (analyzed, summary)
}

/// What the analysis found.
pub(crate) struct Analyzed {
    /// Waits that ended.
    pub(crate) waits: Vec<FoundWait>,
    /// Waits that had not ended.
    pub(crate) open: Vec<FoundWait>,
    /// Names of the threads in each cycle.
    pub(crate) deadlocks: Vec<Vec<String>>,
    pub(crate) still_blocked: StillBlocked,
    pub(crate) counters: Counters,
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    waits: Vec<FoundWait>,
    open: Vec<FoundWait>,
}

impl Found {
    fn add(&mut self, wait: &Wait, entities: &Entities) {
        let waits = if wait.ended() {
            &mut self.waits
        } else {
            &mut self.open
        };
        waits.push(FoundWait::new(wait, entities));
    }

    fn into_analyzed(
        self,
        counters: Counters,
        still_blocked: StillBlocked,
        entities: &Entities,
    ) -> Analyzed {
        let name = |blocked: &OpenWait| entities.thread(blocked.thread).name.to_string();
        let deadlocks = still_blocked.deadlocks().into_iter();
        let deadlocks = deadlocks.map(|deadlock| deadlock.threads.iter().map(name).collect());
        Analyzed {
            waits: self.waits,
            open: self.open,
            deadlocks: deadlocks.collect(),
            still_blocked,
            counters,
        }
    }
}

/// Returns what each owner had of each wait, as found by an analysis of the file that looks for
/// `found`, with owners distinguished as in `shown`.
pub(crate) fn blame_of_file(
    path: &Path,
    limits: Limits,
    range: TimeRange,
    (found, shown): (Detail, Detail),
) -> Vec<String> {
    let trace = TraceFile::open(path).expect("a trace");
    let mut analysis = Analysis::new(limits).with_detail(found);
    analysis.select(Selection::default().in_range(range));
    let mut waits = Vec::new();
    let mut on_wait = |wait: &Wait, _: &Entities| {
        let mut shares: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for blame in &wait.blame {
            let owner = match (shown, blame.owner) {
                (Detail::CODE, Blamed::Thread { chain, .. }) => format!("{chain:?}"),
                (_, owner) => format!("{owner:?}"),
            };
            let share = shares.entry(owner).or_default();
            share.0 += blame.duration_ns;
            share.1 += blame.contentions;
        }
        waits.push(format!("{} {} {shares:?}", wait.id, wait.duration_ns));
    };
    let go_on = |_| ControlFlow::Continue(());
    trace
        .analyze(&mut analysis, &mut on_wait, go_on)
        .expect("readable");
    waits
}

/// A wait with names in place of entities.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundWait {
    pub(crate) thread: String,
    /// `enter`, `reenter-after-wait`, or what it waited for.
    pub(crate) entry: &'static str,
    pub(crate) method: String,
    pub(crate) lock: String,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// How it ended.
    pub(crate) end: &'static str,
    pub(crate) safepoint_ns: u64,
    pub(crate) barging_holds: u64,
    pub(crate) parts: Vec<Part>,
    /// Of a wait that had not ended.
    pub(crate) holder: Option<String>,
}

/// A contention with names in place of entities.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) owner: Owner,
}

/// Thread and method, or why there are none.
pub(crate) type Owner = Result<(String, String), &'static str>;

impl FoundWait {
    /// What is left of it in some time, without the holds that barged in.
    pub(crate) fn clip(mut self, range: TimeRange) -> Option<Self> {
        (self.start_ns, self.end_ns) = range.clip(self.start_ns, self.end_ns)?;
        self.parts.retain_mut(|part| {
            let inside = range.clip(part.start_ns, part.end_ns);
            (part.start_ns, part.end_ns) = inside.unwrap_or_default();
            inside.is_some()
        });
        self.barging_holds = 0;
        Some(self)
    }

    fn new(wait: &Wait, entities: &Entities) -> Self {
        let thread = |index| entities.thread(index).name.to_string();
        let parts = wait.contentions.iter().map(|contention| Part {
            start_ns: contention.start_ns,
            end_ns: contention.start_ns + contention.duration_ns,
            owner: match contention.owner {
                Blamed::Thread {
                    thread: owner,
                    chain,
                } => Ok((thread(owner), method(chain, wait.lock, entities))),
                Blamed::Free => Err("free"),
                Blamed::Frozen => Err("frozen"),
                Blamed::Unknown(reason) => Err(reason.name()),
            },
        });
        Self {
            thread: thread(wait.thread),
            entry: match wait.kind {
                WaitKind::Contention if wait.after_wait => "reenter-after-wait",
                WaitKind::Contention => "enter",
                other => other.name(),
            },
            method: method(wait.chain, wait.lock, entities),
            lock: entities.lock_name(wait.lock),
            start_ns: wait.start_ns,
            end_ns: wait.start_ns + wait.duration_ns,
            end: wait.end.name(),
            safepoint_ns: wait.safepoint_ns,
            barging_holds: wait.barging_holds,
            parts: parts.collect(),
            holder: wait.holder.map(|(holder, _)| thread(holder)),
        }
    }
}

/// The name of the method, `?` where the chain is not known.
fn method(chain: ChainIndex, lock: LockIndex, entities: &Entities) -> String {
    match entities.code(chain, entities.lock_class(lock)) {
        Some(position) => {
            let frame = entities.chain(chain).frames()[position];
            entities.method(frame.method).name.to_string()
        }
        None => "?".to_owned(),
    }
}

/// One line: `T2 enter b on Lock@1: 10-50 T1 a, 50-60 <handoff>`.
impl fmt::Display for FoundWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} on {}:",
            self.thread, self.entry, self.method, self.lock
        )?;
        for (at, part) in self.parts.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma} {}-{} ", part.start_ns, part.end_ns)?;
            match &part.owner {
                Ok((thread, method)) => write!(f, "{thread} {method}")?,
                Err(reason) => write!(f, "<{reason}>")?,
            }
        }
        match &self.holder {
            Some(holder) => write!(f, "; held by {holder}"),
            None => Ok(()),
        }
    }
}
