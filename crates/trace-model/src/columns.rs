//! A model as columns of numbers, from which a page answers questions without a server.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;
use trace_analysis::{Aspect, Entities};

use crate::dimension::{Dimension, OWNER_ASPECTS, WAITER_ASPECTS};
use crate::model::{Folding, Model};
use crate::name_collector::NameCollector;
use crate::names::Names;
use crate::store::{Store, WaitRow};
use crate::tables::{OwnerIndex, WaiterIndex};

/// The size of an exported model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Waits and their shares: the longest waits are kept one by one, the others folded.
    pub rows: usize,
    /// Sums of folded waits, by owner.
    pub folded_shares: usize,
    /// Parts of waits. None are written if there are more, or if waits are folded.
    pub parts: usize,
}

/// A model, or its longest waits with the sums of the others.
#[derive(Debug, Serialize)]
pub struct Columns {
    /// The names that the tables of waiters and owners refer to.
    #[serde(flatten)]
    pub names: Names,
    /// The value of each waiter, by aspect.
    pub waiters: BTreeMap<Dimension, Vec<u32>>,
    /// The value of each owner, by aspect.
    pub owners: BTreeMap<Dimension, Vec<u32>>,
    /// The waits, in the order in which they began.
    pub waits: WaitColumns,
    /// The shares of the waits, in their order.
    pub shares: ShareColumns,
    /// The parts of the waits, in their order; `None` if not all are known.
    pub parts: Option<PartColumns>,
    /// The waits that are not kept one by one.
    pub folded: FoldedColumns,
    /// The shares of the folded waits, in their order.
    pub folded_shares: FoldedShareColumns,
    /// The amount that is folded; `None` if nothing is.
    #[serde(skip)]
    pub folding: Option<Folding>,
}

/// Single waits.
#[derive(Debug, Default, Serialize)]
pub struct WaitColumns {
    id: Vec<u64>,
    waiter: Vec<u32>,
    /// The difference from the previous wait.
    start_ns: Vec<u64>,
    duration_ns: Vec<u64>,
    safepoint_ns: Vec<u64>,
    /// 1: ended, 2: after `Object.wait`.
    flags: Vec<u8>,
    /// The number of shares.
    shares: Vec<u32>,
}

/// The shares of owners in waits.
#[derive(Debug, Default, Serialize)]
pub struct ShareColumns {
    owner: Vec<u32>,
    duration_ns: Vec<u64>,
    contentions: Vec<u32>,
}

/// The parts of waits.
#[derive(Debug, Default, Serialize)]
pub struct PartColumns {
    /// The number of parts of each wait.
    count: Vec<u32>,
    /// The position among the wait's shares.
    share: Vec<u32>,
    duration_ns: Vec<u64>,
}

/// Sums of waits.
#[derive(Debug, Default, Serialize)]
pub struct FoldedColumns {
    waiter: Vec<u32>,
    from_ns: Vec<u64>,
    to_ns: Vec<u64>,
    waits: Vec<u64>,
    duration_ns: Vec<u64>,
    max_ns: Vec<u64>,
    /// The numbers of waits, by bucket of their duration.
    histogram: Vec<Vec<(u16, u64)>>,
    /// The number of shares.
    shares: Vec<u32>,
}

/// The shares of owners in folded waits.
#[derive(Debug, Default, Serialize)]
pub struct FoldedShareColumns {
    owner: Vec<u32>,
    waits: Vec<u64>,
    duration_ns: Vec<u64>,
    contentions: Vec<u64>,
    max_ns: Vec<u64>,
}

impl Model {
    /// Returns the model, or as much of it as `budget` allows.
    pub fn columns(&mut self, budget: Budget, entities: &Entities) -> Columns {
        self.prepare(entities, false);
        let store = self.within(budget);
        let mut writer = Writer::new(self, &store, entities);
        for wait in store.waits() {
            writer.wait(wait);
        }
        writer.folded();
        writer.finish()
    }

    /// Reduces the model to what [`columns`](Self::columns) returns: its answers are then those of an
    /// exported file.
    pub fn fold_to(&mut self, budget: Budget, entities: &Entities) {
        self.prepare(entities, false);
        self.store = self.within(budget);
    }

    /// Returns the longest waits and the sums of the others.
    fn within(&mut self, budget: Budget) -> Store {
        let mut by_duration: Vec<usize> = (0..self.store.waits().len()).collect();
        by_duration.sort_by_key(|&at| std::cmp::Reverse(self.store.waits()[at].duration_ns));
        let mut rows = 0;
        let mut fits = |at: usize| {
            rows += 1 + self.store.shares(&self.store.waits()[at]).len();
            rows <= budget.rows
        };
        let kept = by_duration.iter().take_while(|&&at| fits(at)).count();
        by_duration[..kept].sort_unstable();
        let mut folded = self.store.folded().by_time_only();
        for &at in &by_duration[kept..] {
            let wait = self.store.waits()[at];
            folded.add_by_time(&wait, self.store.shares(&wait), &mut self.tables);
            folded.shrink(budget.folded_shares, &mut self.tables);
        }
        folded.shrink(budget.folded_shares, &mut self.tables);
        let kept = &by_duration[..kept];
        self.store.with_sums(kept, folded, budget.parts)
    }
}

struct Writer<'m> {
    model: &'m Model,
    store: &'m Store,
    names: NameCollector<'m>,
    waiters: IndexMap<WaiterIndex, (), foldhash::fast::RandomState>,
    owners: IndexMap<OwnerIndex, (), foldhash::fast::RandomState>,
    last_start_ns: u64,
    waits: WaitColumns,
    shares: ShareColumns,
    parts: PartColumns,
    folded: FoldedColumns,
    folded_shares: FoldedShareColumns,
}

impl<'m> Writer<'m> {
    fn new(model: &'m Model, store: &'m Store, entities: &'m Entities) -> Self {
        Self {
            model,
            store,
            names: NameCollector::new(&model.tables, entities),
            waiters: IndexMap::default(),
            owners: IndexMap::default(),
            last_start_ns: 0,
            waits: WaitColumns::default(),
            shares: ShareColumns::default(),
            parts: PartColumns::default(),
            folded: FoldedColumns::default(),
            folded_shares: FoldedShareColumns::default(),
        }
    }

    fn waiter(&mut self, waiter: WaiterIndex) -> u32 {
        self.waiters.insert_full(waiter, ()).0 as u32
    }

    fn owner(&mut self, owner: OwnerIndex) -> u32 {
        self.owners.insert_full(owner, ()).0 as u32
    }

    fn wait(&mut self, wait: &WaitRow) {
        let shares = self.store.shares(wait);
        let waiter = self.waiter(wait.waiter);
        let columns = &mut self.waits;
        columns.id.push(wait.id);
        columns.waiter.push(waiter);
        columns.start_ns.push(wait.start_ns - self.last_start_ns);
        self.last_start_ns = wait.start_ns;
        columns.duration_ns.push(wait.duration_ns);
        columns.safepoint_ns.push(wait.safepoint_ns);
        let flags = u8::from(wait.ended) | u8::from(wait.after_wait) << 1;
        columns.flags.push(flags);
        columns.shares.push(shares.len() as u32);
        for share in shares {
            let owner = self.owner(share.owner);
            self.shares.owner.push(owner);
            self.shares.duration_ns.push(share.duration_ns);
            self.shares.contentions.push(share.contentions);
        }
        let parts = self.store.parts(wait).unwrap_or_default();
        self.parts.count.push(parts.len() as u32);
        for part in parts {
            self.parts.share.push(part.share);
            self.parts.duration_ns.push(part.duration_ns);
        }
    }

    fn folded(&mut self) {
        let folded = self.store.folded();
        let end_ns = self.model.end_ns();
        for (waiter, bucket, waits) in folded.by_time.rows() {
            let waiter = self.waiter(waiter);
            let (from_ns, to_ns) = folded.bucket_range_ns(bucket);
            let columns = &mut self.folded;
            columns.waiter.push(waiter);
            columns.from_ns.push(from_ns);
            columns.to_ns.push(to_ns.min(end_ns));
            columns.waits.push(waits.waits);
            columns.duration_ns.push(waits.duration_ns);
            columns.max_ns.push(waits.max_ns);
            columns.histogram.push(waits.histogram.clone());
            columns.shares.push(waits.shares.len() as u32);
            for share in &waits.shares {
                let owner = self.owner(share.owner);
                let columns = &mut self.folded_shares;
                columns.owner.push(owner);
                columns.waits.push(share.waits);
                columns.duration_ns.push(share.duration_ns);
                columns.contentions.push(share.contentions);
                columns.max_ns.push(share.max_ns);
            }
        }
    }

    fn finish(mut self) -> Columns {
        let tables = &self.model.tables;
        let columns = |aspects: &[Aspect]| -> BTreeMap<Dimension, Vec<u32>> {
            let aspects = aspects.iter().map(|&aspect| Dimension::Aspect(aspect));
            aspects.map(|aspect| (aspect, Vec::new())).collect()
        };
        let mut waiters = columns(&WAITER_ASPECTS);
        waiters.insert(Dimension::Trace, Vec::new());
        for &waiter in self.waiters.keys() {
            for aspect in WAITER_ASPECTS.map(Dimension::Aspect) {
                let label = tables.of_waiter(waiter, aspect);
                let value = self.names.add(aspect, label);
                waiters.entry(aspect).or_default().push(value);
            }
            let trace = tables.waiters()[waiter.0 as usize].trace;
            let traces = waiters.entry(Dimension::Trace).or_default();
            traces.push(trace.into());
        }
        let mut owners = columns(&OWNER_ASPECTS);
        for &owner in self.owners.keys() {
            for aspect in OWNER_ASPECTS.map(Dimension::Aspect) {
                let label = tables.of_owner(owner, aspect);
                let value = self.names.add(aspect, label);
                owners.entry(aspect).or_default().push(value);
            }
        }
        Columns {
            names: self.names.finish(),
            waiters,
            owners,
            waits: self.waits,
            shares: self.shares,
            parts: self.store.has_parts().then_some(self.parts),
            folded: self.folded,
            folded_shares: self.folded_shares,
            folding: Folding::of(self.store.folded()),
        }
    }
}
