//! The model: filled while traces are analyzed, asked at any time.

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

/// Traces with more bytes have more parts of waits than are kept: it is not worth while to
/// find them.
const MAX_BYTES_WITH_PARTS: u64 = 16 << 20;

/// A trace of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Where it begins on the time axis, in nanoseconds.
    pub offset_ns: u64,
    /// How long it is, as far as it was read, in nanoseconds.
    pub duration_ns: u64,
    /// When it began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
}

impl Trace {
    /// Where it ends on the time axis, in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.offset_ns.saturating_add(self.duration_ns).min(MAX_NS)
    }
}

/// How much waiting there is of a kind.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct KindTotals {
    /// Waits.
    pub waits: u64,
    /// Their duration, in nanoseconds.
    pub duration_ns: u64,
}

/// What makes the numbers about contention less sure.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Confidence {
    /// The duration of all contention, in nanoseconds.
    pub duration_ns: u64,
    /// In which nobody held the lock.
    pub free_ns: u64,
    /// In which it is not known who held the lock.
    pub unknown_ns: u64,
    /// In which the process did not run.
    pub frozen_ns: u64,
    /// In which the JVM was in safepoints.
    pub safepoint_ns: u64,
    /// In which threads came back from `Object.wait` or `Condition.await`.
    pub reenter_after_wait_ns: u64,
    /// How often a thread acquired a lock without waiting while others waited.
    pub barging_holds: u64,
}

/// How much is not kept one by one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Folding {
    /// Waits.
    pub waits: u64,
    /// Their duration, in nanoseconds.
    pub duration_ns: u64,
    /// The longest of them, in nanoseconds.
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
    /// Keys of labels, as far as a question needed them.
    keys: KeyTable,
    classes: ClassCache,
}

impl Model {
    /// An empty model of traces that have so many bytes together. What begins with one of
    /// `libraries` is no caller.
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

    /// A model of what is known already.
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

    /// How much an analysis has to find out for this model.
    pub fn detail(&self) -> Detail {
        if self.store.has_parts() {
            Detail::Contentions
        } else {
            Detail::Owners
        }
    }

    /// What ended longer than that before the newest wait is folded before anything else is: for
    /// traces that are still being written, whose newest part matters most.
    pub fn keep_recent(&mut self, recent_ns: u64) {
        self.store.keep_recent(recent_ns);
    }

    /// The waits that follow are of a trace that began then; those before it began
    /// earlier.
    pub fn begin_trace(&mut self, start_unix_ns: u64) {
        let last = self.traces.last();
        let last = last.map(|trace| (trace.offset_ns, trace.start_unix_ns));
        self.traces.push(Trace {
            offset_ns: offset_ns(self.arrangement, start_unix_ns, last, self.end_ns()),
            duration_ns: 0,
            start_unix_ns,
        });
    }

    /// Adds a wait of the trace that began last. Does nothing if none began.
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

    /// The trace that began last goes on until `duration_ns` after its start at least.
    pub fn goes_on_until(&mut self, duration_ns: u64) {
        if let Some(trace) = self.traces.last_mut() {
            trace.duration_ns = trace.duration_ns.max(duration_ns.min(MAX_NS));
        }
    }

    /// The traces, in the order in which they began.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// Where the time axis ends, in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.traces.iter().map(Trace::end_ns).max().unwrap_or(0)
    }

    /// There are no waits.
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|totals| totals.waits == 0)
    }

    /// How much waiting there is of each kind.
    pub fn kinds(&self) -> impl Iterator<Item = (WaitKind, KindTotals)> {
        WaitKind::ALL.into_iter().zip(self.kinds)
    }

    /// How much waiting there is of one kind.
    pub fn totals(&self, kind: WaitKind) -> KindTotals {
        self.kinds[kind as usize]
    }

    /// How long threads waited for locks while the process ran, in nanoseconds.
    pub fn contention_ns(&self) -> u64 {
        let all_ns = self.totals(WaitKind::Contention).duration_ns;
        all_ns.saturating_sub(self.confidence.frozen_ns)
    }

    /// What makes the numbers about contention less sure.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Whether the parts of all waits are known.
    pub fn is_exact(&self) -> bool {
        self.store.has_parts()
    }

    /// How much is not kept one by one; `None` if everything is.
    pub fn folding(&self) -> Option<Folding> {
        Folding::of(self.store.folded())
    }

    /// Prepares an answer: puts waits in order, and knows the keys of all labels if asked.
    pub(crate) fn prepare(&mut self, entities: &Entities, needs_keys: bool) {
        self.store.sort();
        if needs_keys {
            self.keys.update(&self.tables, entities);
        }
    }

    /// Forgets what threads and others are called: while a trace is read, names may change.
    pub fn forget_names(&mut self) {
        self.keys = KeyTable::default();
    }

    /// The waiters, or the owners, that aspects do not tell apart.
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

/// The labels of each key. Those of different aspects can share one.
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

    /// The positions of the labels with this key.
    pub(crate) fn labels(&self, key: &str) -> &[u32] {
        self.labels.get(key).map_or(&[], Vec::as_slice)
    }
}
