//! Takes snapshots: from what the analysis knows at one moment to text for people.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use trace_analysis::{
    ChainIndex, Entities, OpenWait, Overloads, Snapshot, StillBlocked, ThreadIndex, TraceSummary,
    Value, WaitKind,
};
use trace_format::FileHeader;
use trace_report::name::printable;
use trace_report::{HangWords, problem};

use crate::arguments::waits::KindArguments;
use crate::text::human::plural;
use crate::top::recent::{self, Group, Recent, Tally};
use crate::top::snapshot::{
    Blocked, ChainEnd, Owner, Pair, Phase, Row, Stack, Standing, Table, TopSnapshot, Window,
};

/// What is known at one moment.
pub(super) struct Moment {
    phase: Phase,
    until_ns: u64,
    /// The waits for the tables that have not ended; empty if they are among those that have.
    open: Vec<OpenWait>,
    still_blocked: StillBlocked,
    incomplete: Vec<String>,
}

impl Moment {
    /// The moment until which a trace is complete.
    pub(super) fn of(snapshot: &Snapshot, phase: Phase, kinds: &KindArguments) -> Self {
        let until_ns = match snapshot.complete_until_ns {
            // Traces of old versions do not say it.
            0 => snapshot.last_event_ns,
            complete_until_ns => complete_until_ns,
        };
        let begun = snapshot.open.iter().filter(|wait| wait.start_ns < until_ns);
        let mut still_blocked = StillBlocked::default();
        for &wait in begun.clone() {
            still_blocked.add(wait);
        }
        let mut incomplete = Vec::new();
        if snapshot.waits_without_names > 0 {
            incomplete.push(format!(
                "waits not shown until the call chain of their owner is known: {}",
                snapshot.waits_without_names
            ));
        }
        Self {
            phase,
            until_ns,
            still_blocked,
            open: begun
                .filter(|wait| kinds.contains(wait.kind))
                .copied()
                .collect(),
            incomplete,
        }
    }

    /// The end of a trace.
    pub(super) fn at_end(summary: &TraceSummary) -> Self {
        Self {
            phase: Phase::Ended,
            until_ns: summary.duration_ns,
            open: Vec::new(),
            still_blocked: summary.still_blocked.clone(),
            incomplete: problem::lines(summary),
        }
    }
}

/// Of more blocked threads, or rows, only the number and the sums are shown.
const MAX_SHOWN: usize = 1_000;
/// The hangs that are shown.
const MAX_HANGS: usize = 3;
/// The pairs of call chains that are kept for a row.
const MAX_PAIRS: usize = 8;
/// The owners that are shown of a chain of them.
const MAX_OWNERS: usize = 32;
/// The call chains that are kept as text.
const MAX_STACKS: usize = 8_192;

/// Takes snapshots of one trace.
pub(super) struct Capture {
    /// The waits that have ended.
    pub(super) recent: Recent,
    name: String,
    pid: u64,
    start_unix_ns: u64,
    stacks: HashMap<ChainIndex, Stack>,
    /// Threads that waited for locks before the trace began, which it does not have.
    pub(super) earlier_waits: u64,
}

impl Capture {
    pub(super) fn new(path: &Path, header: &FileHeader) -> Self {
        Self {
            recent: Recent::default(),
            name: printable(&path.display().to_string()),
            pid: header.pid.into(),
            start_unix_ns: header.start_unix_ns,
            stacks: HashMap::new(),
            earlier_waits: 0,
        }
    }

    pub(super) fn take(&mut self, moment: &Moment, entities: &Entities) -> TopSnapshot {
        if self.stacks.len() > MAX_STACKS {
            self.stacks.clear();
        }
        let others = moment.still_blocked.others().iter();
        let others = others.filter(|wait| wait.kind == WaitKind::Conditional);
        let for_locks = moment.still_blocked.threads().iter();
        let by_thread: HashMap<_, _> = (for_locks.chain(others.clone()))
            .map(|wait| (wait.thread, *wait))
            .collect();
        let mut blocked = moment.still_blocked.threads().to_vec();
        let for_locks = blocked.len();
        blocked.extend(others.filter(|wait| !entities.is_worker_loop(wait.chain)));
        blocked.sort_by_key(|wait| {
            let is_for_lock = wait.kind == WaitKind::Contention;
            (!is_for_lock, wait.start_ns, wait.thread)
        });
        let hangs = moment.still_blocked.hangs(entities);
        let shown = blocked.iter().take(MAX_SHOWN);
        TopSnapshot {
            name: self.name.clone(),
            pid: self.pid,
            phase: moment.phase,
            until_ns: moment.until_ns,
            until_unix_ns: self.start_unix_ns.saturating_add(moment.until_ns),
            blocked: shown
                .map(|waiting| self.blocked(waiting, &by_thread, moment.until_ns, entities))
                .collect(),
            blocked_omitted: blocked.len().saturating_sub(MAX_SHOWN),
            wait_otherwise: blocked.len() - for_locks,
            hangs: hangs
                .iter()
                .take(MAX_HANGS)
                .map(|hang| HangWords::new(hang, entities).title)
                .collect(),
            tables: Window::ALL.map(|window| self.table(window, moment, entities)),
            incomplete: self.incomplete(moment),
        }
    }

    fn incomplete(&self, moment: &Moment) -> Vec<String> {
        let mut lines = moment.incomplete.clone();
        if self.earlier_waits > 0 {
            lines.push(format!(
                "waits begun before tracing, of {} at least: jstack {} shows them",
                plural(self.earlier_waits, "thread"),
                self.pid
            ));
        }
        lines
    }

    fn blocked(
        &mut self,
        waiting: &OpenWait,
        by_thread: &HashMap<ThreadIndex, OpenWait>,
        until_ns: u64,
        entities: &Entities,
    ) -> Blocked {
        let mut owners = Vec::new();
        let mut met = HashSet::from([waiting.thread]);
        let mut last = *waiting;
        let end = loop {
            if last.kind != WaitKind::Contention {
                break ChainEnd::OtherThread;
            }
            let Some((thread, acquired)) = last.holder else {
                break ChainEnd::Unknown;
            };
            if owners.len() == MAX_OWNERS {
                break ChainEnd::Cut;
            }
            let waits_itself = by_thread.get(&thread).copied();
            let mut owner = self.owner(thread, acquired, waits_itself.as_ref(), entities);
            if last.holder_facts.ended_ns.is_some() {
                owner.thread += " (ended)";
            }
            owners.push(owner);
            if !met.insert(thread) {
                break ChainEnd::Deadlock;
            }
            match waits_itself {
                Some(next) => last = next,
                None => break ChainEnd::Runs,
            }
        };
        Blocked {
            id: thread_id(waiting.thread, entities),
            thread: thread_name(waiting.thread, entities),
            for_ns: until_ns.saturating_sub(waiting.start_ns),
            lock: printable(&entities.lock_label(waiting.lock)),
            stack: self.stack(waiting.chain, entities),
            owners,
            end,
        }
    }

    fn owner(
        &mut self,
        thread: ThreadIndex,
        acquired: ChainIndex,
        waits_itself: Option<&OpenWait>,
        entities: &Entities,
    ) -> Owner {
        let standing = match waits_itself {
            Some(waiting) => Standing::Blocked {
                lock: printable(&entities.lock_label(waiting.lock)),
                stack: self.stack(waiting.chain, entities),
            },
            None if acquired == ChainIndex::NOT_RELEASED => Standing::NotKnown,
            None => Standing::Acquired(self.stack(acquired, entities)),
        };
        Owner {
            thread: thread_name(thread, entities),
            standing,
        }
    }

    fn table(&mut self, window: Window, moment: &Moment, entities: &Entities) -> Table {
        let goes_on = moment.phase != Phase::Ended;
        let bounds = Recent::bounds(window, moment.until_ns, goes_on);
        let Tally {
            total,
            groups,
            mut rest,
            pairs,
        } = self.recent.tally(window, bounds, &moment.open, entities);
        let groups = groups.into_iter();
        let mut groups: Vec<_> = groups.filter(|(_, sums)| sums.blocked_ns > 0).collect();
        groups.sort_by_key(|(_, sums)| Reverse(sums.blocked_ns));
        for (_, sums) in groups.split_off(MAX_SHOWN.min(groups.len())) {
            rest.add(sums);
        }
        let mut pairs_of: HashMap<Group, Vec<(recent::Pair, u64)>> = HashMap::new();
        for (pair, blocked_ns) in pairs {
            pairs_of
                .entry(pair.group)
                .or_default()
                .push((pair, blocked_ns));
        }
        let overloads = Overloads::new(entities);
        let label = |value: Value| printable(&value.label(entities, &overloads));
        let rows = groups.into_iter().map(|(group, sums)| {
            let mut pairs = pairs_of.remove(&group).unwrap_or_default();
            pairs.sort_by_key(|&(_, blocked_ns)| Reverse(blocked_ns));
            let shown = pairs
                .iter()
                .take(MAX_PAIRS)
                .map(|&(pair, blocked_ns)| Pair {
                    method: label(pair.method),
                    stack: self.stack(pair.chain, entities),
                    owner_stack: pair.owner_chain.map(|chain| self.stack(chain, entities)),
                    blocked_ns,
                });
            Row {
                pairs: shown.collect(),
                pairs_omitted: pairs.len().saturating_sub(MAX_PAIRS),
                lock_class: label(group.lock_class),
                owner: match group.owner {
                    recent::Owner::Known(value) => label(value),
                    recent::Owner::StillToCome => "<wait not over>".to_owned(),
                },
                sums,
            }
        });
        Table {
            from_ns: bounds.0,
            until_ns: bounds.1,
            total,
            rows: rows.collect(),
            rest,
        }
    }

    fn stack(&mut self, chain: ChainIndex, entities: &Entities) -> Stack {
        let stack = self.stacks.entry(chain).or_insert_with(|| {
            let mut frames = entities.frame_labels(chain);
            if frames.is_empty() {
                frames.push(entities.chain_label(chain, 0));
            }
            frames.iter().map(|frame| printable(frame)).collect()
        });
        Arc::clone(stack)
    }
}

fn thread_name(thread: ThreadIndex, entities: &Entities) -> String {
    printable(&entities.thread(thread).name)
}

fn thread_id(thread: ThreadIndex, entities: &Entities) -> u64 {
    entities.thread(thread).java_id.0
}
