//! The model: filled while traces are analyzed, queried at any time.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trace_analysis::{Detail, Entities, Wait, WaitKind};

use crate::classes::{ClassCache, Classes, Side};
use crate::dimension::Dimension;
use crate::limits::Limits;
use crate::store::{Folded, Place, Store};
use crate::tables::Tables;
use crate::time_axis::{Arrangement, MAX_NS, offset_ns};

/// Larger traces have more parts of waits than are kept, so the analysis does not find them.
const MAX_BYTES_WITH_PARTS: u64 = 16 << 20;

/// A trace of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Where it begins on the time axis, in nanoseconds.
    pub offset_ns: u64,
    /// Its duration, as far as it was read, in nanoseconds.
    pub duration_ns: u64,
    /// When it began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
}

impl Trace {
    /// Returns where it ends on the time axis, in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.offset_ns.saturating_add(self.duration_ns).min(MAX_NS)
    }
}

/// The waits of a kind.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct KindTotals {
    /// Their number.
    pub waits: u64,
    /// Their duration, in nanoseconds.
    pub duration_ns: u64,
}

/// The times that make figures of contention less certain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Confidence {
    /// The duration of all contention, in nanoseconds.
    pub duration_ns: u64,
    /// The time in which nobody held the lock.
    pub free_ns: u64,
    /// The time in which the owner of the lock is not known.
    pub unknown_ns: u64,
    /// The time in which the process did not run.
    pub frozen_ns: u64,
    /// The time in which the JVM was in safepoints.
    pub safepoint_ns: u64,
    /// The time in which threads returned from `Object.wait` or `Condition.await`.
    pub reenter_after_wait_ns: u64,
    /// How often a thread acquired a lock without waiting while others waited.
    pub barging_holds: u64,
}

/// The waits that are not kept one by one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Folding {
    /// Their number.
    pub waits: u64,
    /// Their duration, in nanoseconds.
    pub duration_ns: u64,
    /// The longest duration, in nanoseconds.
    pub longest_ns: u64,
}

impl Folding {
    pub(crate) fn of(folded: &Folded) -> Option<Self> {
        let totals = folded.totals();
        (totals.waits > 0).then_some(Self {
            waits: totals.waits,
            duration_ns: totals.duration_ns,
            longest_ns: totals.max_ns,
        })
    }
}

/// Waits of one or more traces.
#[derive(Debug)]
pub struct Model {
    pub(crate) store: Store,
    pub(crate) tables: Tables,
    pub(crate) traces: Vec<Trace>,
    pub(crate) kinds: [KindTotals; WaitKind::ALL.len()],
    pub(crate) confidence: Confidence,
    arrangement: Arrangement,
    /// The number of the next wait.
    next_id: u64,
    /// The keys of labels, as far as a question needed them.
    keys: KeyTable,
    classes: ClassCache,
}

impl Model {
    /// Creates an empty model for traces of `bytes` in all. Methods whose names begin with one of
    /// `libraries` are not the program's.
    pub fn new(
        limits: Limits,
        arrangement: Arrangement,
        bytes: u64,
        libraries: Vec<String>,
    ) -> Self {
        Self {
            store: Store::new(limits, bytes <= MAX_BYTES_WITH_PARTS),
            tables: Tables::new(&limits, libraries),
            traces: Vec::new(),
            kinds: [KindTotals::default(); WaitKind::ALL.len()],
            confidence: Confidence::default(),
            arrangement,
            next_id: 0,
            keys: KeyTable::default(),
            classes: ClassCache::default(),
        }
    }

    /// Creates a model of what is known already.
    pub(crate) fn of(
        store: Store,
        tables: Tables,
        traces: Vec<Trace>,
        kinds: [KindTotals; WaitKind::ALL.len()],
        confidence: Confidence,
    ) -> Self {
        Self {
            traces,
            kinds,
            confidence,
            store,
            tables,
            ..Self::new(
                Limits::default(),
                Arrangement::OneAfterTheOther,
                0,
                Vec::new(),
            )
        }
    }

    /// Returns the detail that an analysis needs for this model.
    pub fn detail(&self) -> Detail {
        if self.store.has_parts() {
            Detail::CONTENTIONS
        } else {
            Detail::OWNERS
        }
    }

    /// Folds waits that ended longer ago than this before any others. For traces that are still being
    /// written, whose newest part matters most.
    pub fn keep_recent(&mut self, recent_ns: u64) {
        self.store.keep_recent(recent_ns);
    }

    /// Begins a trace, which the waits that follow are from. Traces begin in the order of time.
    pub fn begin_trace(&mut self, start_unix_ns: u64) {
        let last = self.traces.last();
        let last = last.map(|trace| (trace.offset_ns, trace.start_unix_ns));
        self.traces.push(Trace {
            offset_ns: offset_ns(self.arrangement, start_unix_ns, last, self.end_ns()),
            duration_ns: 0,
            start_unix_ns,
        });
    }

    /// Adds a wait of the last trace. Does nothing without one.
    pub fn add(&mut self, wait: &Wait, entities: &Entities) {
        let Some(trace) = self.traces.last_mut() else {
            return;
        };
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns).min(MAX_NS);
        trace.duration_ns = trace.duration_ns.max(end_ns);
        let offset_ns = trace.offset_ns;
        let position = (self.traces.len() - 1).min(u16::MAX.into()) as u16;
        let place = Place {
            id: self.next_id,
            trace: position,
            offset_ns,
        };
        self.store.add(wait, place, &mut self.tables, entities);
        self.next_id += 1;
        let totals = &mut self.kinds[wait.kind as usize];
        totals.waits += 1;
        totals.duration_ns = totals.duration_ns.saturating_add(wait.duration_ns);
        if wait.kind == WaitKind::Contention {
            self.confidence.add(wait);
        }
    }

    /// Extends the last trace to at least this duration.
    pub fn goes_on_until(&mut self, duration_ns: u64) {
        if let Some(trace) = self.traces.last_mut() {
            trace.duration_ns = trace.duration_ns.max(duration_ns.min(MAX_NS));
        }
    }

    /// Returns the traces, in the order in which they began.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// Returns where the time axis ends, in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.traces.iter().map(Trace::end_ns).max().unwrap_or(0)
    }

    /// Returns whether there are no waits.
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|totals| totals.waits == 0)
    }

    /// Returns the totals of each kind.
    pub fn kinds(&self) -> impl Iterator<Item = (WaitKind, KindTotals)> {
        WaitKind::ALL.into_iter().zip(self.kinds)
    }

    /// Returns the totals of one kind.
    pub fn totals(&self, kind: WaitKind) -> KindTotals {
        self.kinds[kind as usize]
    }

    /// Returns how long threads waited for locks while the process ran, in nanoseconds.
    pub fn contention_ns(&self) -> u64 {
        let all_ns = self.totals(WaitKind::Contention).duration_ns;
        all_ns.saturating_sub(self.confidence.frozen_ns)
    }

    /// Returns the times that make figures of contention less certain.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Returns whether the parts of all waits are known.
    pub fn is_exact(&self) -> bool {
        self.store.has_parts()
    }

    /// Returns what is not kept one by one; `None` if everything is.
    pub fn folding(&self) -> Option<Folding> {
        Folding::of(self.store.folded())
    }

    /// Prepares an answer: sorts waits, and finds the keys of all labels if needed.
    pub(crate) fn prepare(&mut self, entities: &Entities, needs_keys: bool) {
        self.store.sort();
        if needs_keys {
            self.keys.update(&self.tables, entities);
        }
    }

    /// Forgets the names of threads and other things, which may change while a trace is read.
    pub fn forget_names(&mut self) {
        self.keys = KeyTable::default();
    }

    /// Returns the classes of waiters or owners by these aspects.
    pub(crate) fn classes(&self, side: Side, by: &[Dimension]) -> Arc<Classes> {
        self.classes.get(&self.tables, side, by)
    }

    pub(crate) fn keys(&self) -> &KeyTable {
        &self.keys
    }
}

impl Confidence {
    fn add(&mut self, wait: &Wait) {
        let add = |sum: &mut u64, ns: u64| *sum = sum.saturating_add(ns);
        add(&mut self.duration_ns, wait.duration_ns);
        add(
            &mut self.safepoint_ns,
            wait.safepoint_ns.min(wait.duration_ns),
        );
        if wait.after_wait {
            add(&mut self.reenter_after_wait_ns, wait.duration_ns);
        }
        for blame in &wait.blame {
            match blame.owner {
                trace_analysis::Owner::Thread { .. } => {}
                trace_analysis::Owner::Free => add(&mut self.free_ns, blame.duration_ns),
                trace_analysis::Owner::Unknown(_) => add(&mut self.unknown_ns, blame.duration_ns),
                trace_analysis::Owner::Frozen => add(&mut self.frozen_ns, blame.duration_ns),
            }
        }
    }
}

/// The labels of each key, which labels of different aspects may share.
#[derive(Debug, Default)]
pub(crate) struct KeyTable {
    labels: HashMap<Box<str>, Vec<u32>>,
    known: usize,
}

impl KeyTable {
    fn update(&mut self, tables: &Tables, entities: &Entities) {
        for (index, label) in (0..).zip(tables.labels()).skip(self.known) {
            let key = tables.key(label, entities).into_boxed_str();
            self.labels.entry(key).or_default().push(index);
        }
        self.known = tables.labels().len();
    }

    /// Returns the positions of the labels with this key.
    pub(crate) fn labels(&self, key: &str) -> &[u32] {
        self.labels.get(key).map_or(&[], Vec::as_slice)
    }
}
