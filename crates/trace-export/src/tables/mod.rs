//! Tables in Parquet files, for DuckDB, Spark, pandas, and questions over many runs.
//!
//! ```text
//! DIRECTORY/waits/day=2026-11-24/host=shop-1/run=1795557600000000000-4711/part-0.parquet
//!           blame/day=…
//!           nestings/ threads/ methods/ chains/ locks/ runs/
//! ```
//!
//! `docs/tables.md` describes the columns of each. Rows are written as waits are found; memory
//! holds the rows of one group, and the entities that waits refer to. All files get their names
//! when they are complete, `runs` last: a run that is in `runs` is complete. The same trace always
//! makes the same files.

mod column;
mod coverage;
mod layout;
mod names;
mod place;
mod referred;
mod table;

use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use trace_analysis::{
    Aspect, Blame, Entities, MethodTable, Owner, RootPart, ThreadIndex, TraceSummary, Value, Wait,
    WaitKind,
};

use self::column::Cell;
pub use self::coverage::Coverage;
use self::layout::Layout;
use self::names::Names;
pub use self::place::{Place, host_folder};
use self::referred::Referred;
use self::table::{Finished, Table};

/// Version of the tables' layout, which each file has as `locktrace.tables` in its metadata. Raised
/// when a column changes its meaning or is removed, not when one is added.
pub const VERSION: u32 = 1;

/// The selection of waits in the tables of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The kinds of the waits.
    pub kinds: Vec<WaitKind>,
    /// Whether some waits of these kinds are left out.
    pub is_filtered: bool,
    /// Nestings are wanted: the analysis finds contentions with [root owners](trace_analysis::Detail).
    pub has_nestings: bool,
}

/// The tables of a run under construction. They vanish if they are not finished.
pub struct RunTables {
    place: Place,
    extent: Extent,
    waits: Table,
    blame: Table,
    nestings: Table,
    names: Names,
    methods: MethodTable,
    referred: Referred,
    /// The number of waits.
    count: u64,
    duration_ns: u64,
}

/// The cells that the waits and their parts share.
struct Common {
    number: u64,
    lock_class: Rc<str>,
    lock: u64,
    thread: u64,
    method: Rc<str>,
    chain: Rc<str>,
    start_unix_ns: u64,
}

impl RunTables {
    /// Begins the tables of a run.
    ///
    /// # Errors
    ///
    /// If a file cannot be created; the folder is named.
    pub fn create(place: Place, extent: Extent) -> io::Result<Self> {
        Ok(Self {
            waits: create(&layout::WAITS, &place)?,
            blame: create(&layout::BLAME, &place)?,
            nestings: create(&layout::NESTINGS, &place)?,
            place,
            extent,
            names: Names::default(),
            methods: MethodTable::default(),
            referred: Referred::default(),
            count: 0,
            duration_ns: 0,
        })
    }

    /// Adds a wait, for which the analysis has found at least
    /// [`Detail::OWNERS`](trace_analysis::Detail).
    ///
    /// # Errors
    ///
    /// If a file cannot be written; it is named.
    pub fn add(&mut self, wait: &Wait, entities: &Entities) -> io::Result<()> {
        self.count += 1;
        self.duration_ns = self.duration_ns.saturating_add(wait.duration_ns);
        let common = self.common(wait, entities);
        let number = |number: Option<u64>| number.map_or(Cell::Nothing, Cell::Number);
        let deadline_ns = self.place.deadline_ns(wait);
        let waker = waker(wait).map(|thread| self.referred.thread(thread));
        self.waits.push([
            Cell::Number(common.number),
            Cell::Number(wait.id.lock.0),
            Cell::Number(wait.id.number),
            Cell::Text(wait.mechanism.name()),
            Cell::Text(wait.kind.name()),
            Cell::Text(wait.end.name()),
            Cell::Flag(wait.after_wait),
            Cell::Flag(wait.begun_before()),
            Cell::Text(&common.lock_class),
            Cell::Number(common.lock),
            Cell::Number(common.thread),
            Cell::Text(&common.method),
            Cell::Text(&common.chain),
            Cell::Time(common.start_unix_ns),
            Cell::Number(wait.start_ns),
            Cell::Number(wait.duration_ns),
            Cell::Number(wait.safepoint_ns),
            Cell::Number(wait.barging_holds),
            number(deadline_ns),
            number(waker),
        ])?;
        let mut blame: Vec<_> = wait.blame.iter().collect();
        // The parts of a wait have no order, but the same trace makes the same files.
        blame.sort_by_cached_key(|blame| {
            let code = self.name(Aspect::OwnerChain, wait, blame.owner, entities);
            let thread = blame.owner.thread().map(|(thread, _)| thread);
            (thread, code, blame.duration_ns)
        });
        let mut blame = blame.into_iter();
        blame.try_for_each(|blame| self.add_blame(wait, blame, &common, entities))?;
        let wanted = self.extent.has_nestings.then_some(&wait.roots);
        let mut parts = wanted.into_iter().flatten();
        parts.try_for_each(|part| self.add_nesting(wait, part, &common, entities))
    }

    fn common(&mut self, wait: &Wait, entities: &Entities) -> Common {
        let [lock_class, method] = [Aspect::LockClass, Aspect::Method]
            .map(|aspect| self.name(aspect, wait, Owner::Free, entities));
        Common {
            number: self.count,
            lock: self.referred.lock(wait.lock, &lock_class),
            thread: self.referred.thread(wait.thread),
            chain: self
                .names
                .key(Value::Chain(self.referred.chain(wait.chain)), entities),
            start_unix_ns: self.place.start_unix_ns.saturating_add(wait.start_ns),
            lock_class,
            method,
        }
    }

    fn add_blame(
        &mut self,
        wait: &Wait,
        blame: &Blame,
        common: &Common,
        entities: &Entities,
    ) -> io::Result<()> {
        let (owner, unknown_reason) = match blame.owner {
            Owner::Thread { .. } => ("thread", None),
            Owner::Free => ("free", None),
            Owner::Frozen => ("frozen", None),
            Owner::Unknown(reason) => ("unknown", Some(reason.name())),
        };
        let known = blame.owner.thread();
        let owner_method =
            known.map(|_| self.name(Aspect::OwnerMethod, wait, blame.owner, entities));
        let owner_thread = known.map(|(thread, _)| self.referred.thread(thread));
        let owner_chain = known.map(|(_, chain)| {
            let chain = self.referred.chain(chain);
            self.names.key(Value::Chain(chain), entities)
        });
        self.blame.push([
            Cell::Number(common.number),
            Cell::Text(wait.mechanism.name()),
            Cell::Text(wait.kind.name()),
            Cell::Text(&common.lock_class),
            Cell::Number(common.lock),
            Cell::Number(common.thread),
            Cell::Text(&common.method),
            Cell::Text(&common.chain),
            Cell::Text(owner),
            Cell::from(unknown_reason),
            Cell::from(owner_thread),
            Cell::from(owner_method.as_deref()),
            Cell::from(owner_chain.as_deref()),
            Cell::Time(common.start_unix_ns),
            Cell::Number(blame.duration_ns),
            Cell::Number(blame.contentions),
        ])
    }

    /// Adds a part of a wait during which the owner of the lock waited for another one.
    fn add_nesting(
        &mut self,
        wait: &Wait,
        part: &RootPart,
        common: &Common,
        entities: &Entities,
    ) -> io::Result<()> {
        let Some((inner, thread, owning)) = part.nested_in(wait.lock) else {
            return Ok(());
        };
        let inner_class = Value::of_lock_class(inner.lock, entities);
        let inner_class = self.names.key(inner_class, entities);
        let waiting_method = self.methods.value(inner.chain, inner.lock, entities);
        let waiting_method = self.method(waiting_method, entities);
        let owning_method = self.name(Aspect::OwnerMethod, wait, part.owner, entities);
        let [owning_chain, waiting_chain] = [owning, inner.chain].map(|chain| {
            let chain = self.referred.chain(chain);
            self.names.key(Value::Chain(chain), entities)
        });
        self.nestings.push([
            Cell::Number(common.number),
            Cell::Text(&common.lock_class),
            Cell::Number(common.lock),
            Cell::Text(&inner_class),
            Cell::Number(self.referred.lock(inner.lock, &inner_class)),
            Cell::Number(self.referred.thread(thread)),
            Cell::Text(&owning_method),
            Cell::Text(&owning_chain),
            Cell::Text(&waiting_method),
            Cell::Text(&waiting_chain),
            Cell::Time(self.place.start_unix_ns.saturating_add(inner.start_ns)),
            Cell::Number(inner.start_ns),
            Cell::Number(part.duration_ns),
        ])
    }

    /// Returns the name of a part of a wait under an aspect, which is the same in every run. The
    /// name of a method may stand for more than the method.
    fn name(&mut self, aspect: Aspect, wait: &Wait, owner: Owner, entities: &Entities) -> Rc<str> {
        let value = aspect.value(wait, owner, entities, &mut self.methods);
        self.method(value, entities)
    }

    /// Returns the name of a value that may be a method.
    fn method(&mut self, value: Value, entities: &Entities) -> Rc<str> {
        if let Value::Method(method) | Value::MethodInWait(method) = value {
            self.referred.method(value, method);
        }
        self.names.key(value, entities)
    }

    /// Returns the coverage of the run by the tables, if all its waits were added. `summary` is the
    /// result of the analysis.
    pub fn coverage(&self, summary: &TraceSummary) -> Coverage {
        Coverage {
            is_complete: summary.is_complete(),
            duration_ns: summary.duration_ns,
            waits: self.count,
        }
    }

    /// Ends the tables, adds the entities that their waits refer to, and gives all files their
    /// names. `summary` is the result of the analysis. Returns the files, `runs` last.
    ///
    /// # Errors
    ///
    /// If a file cannot be written; it is named.
    pub fn finish(self, summary: &TraceSummary, entities: &Entities) -> io::Result<Vec<PathBuf>> {
        let runs = self.runs(summary)?;
        let place = &self.place;
        let tables = [
            self.waits.finish()?,
            self.blame.finish()?,
            self.nestings.finish()?,
            self.referred
                .write_threads(create(&layout::THREADS, place)?, entities)?,
            self.referred
                .write_locks(create(&layout::LOCKS, place)?, entities)?,
            self.referred
                .write_chains(create(&layout::CHAINS, place)?, entities)?,
            self.referred
                .write_methods(create(&layout::METHODS, place)?, entities)?,
        ];
        runs.remove_old()?;
        let published = tables.into_iter().chain([runs]).map(Finished::publish);
        published.collect()
    }

    fn runs(&self, summary: &TraceSummary) -> io::Result<Finished> {
        let extent = &self.extent;
        let kinds: Vec<_> = extent.kinds.iter().map(|kind| kind.name()).collect();
        let mut runs = create(&layout::RUNS, &self.place)?;
        runs.push([
            Cell::Number(u64::from(self.place.pid)),
            Cell::Text(&summary.file.header().jvm),
            Cell::Time(self.place.start_unix_ns),
            Cell::Number(self.place.start_unix_ns),
            Cell::Number(summary.duration_ns),
            Cell::Text(&kinds.join(",")),
            Cell::Flag(extent.is_filtered),
            Cell::Flag(extent.has_nestings),
            Cell::Number(self.count),
            Cell::Number(self.duration_ns),
            Cell::Flag(summary.is_complete()),
            Cell::Number(summary.lost_events()),
            Cell::from(self.place.release.as_deref()),
        ])?;
        runs.finish()
    }
}

fn create(layout: &Layout, place: &Place) -> io::Result<Table> {
    Table::create(layout, place, VERSION)
}

/// Returns the thread that ended a wait for something other than a lock.
fn waker(wait: &Wait) -> Option<ThreadIndex> {
    if wait.kind == WaitKind::Contention {
        return None;
    }
    let threads = wait.blame.iter().filter_map(|blame| blame.owner.thread());
    threads.map(|(thread, _)| thread).next()
}
