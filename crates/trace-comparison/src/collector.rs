//! The waits of each run, by rows and slices of time.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use trace_analysis::{
    Aspect, Detail, DivisibleSink, Entities, MethodTable, Selection, Selector, Value, Wait,
    WaitSink,
};

use crate::series::{MAX_SLICES, Series};

/// The width of the first slices.
const FIRST_WIDTH_NS: u64 = 1 << 20;

/// The values of a row under each aspect.
pub(crate) type Path = Box<[Value]>;

/// The divisor of blocked time.
#[derive(Clone, Debug)]
pub enum Unit {
    /// The duration of the run.
    Second,
    /// Units of work, as many as the user says, done evenly over the run.
    Given,
    /// The number of waits that this selects, whatever else is compared: such as the waits of a
    /// worker for its next task.
    Waits(Selection),
}

/// Adds up the waits of some traces, for each trace by rows and slices of time.
///
/// It takes waits of all kinds, and selects itself which are compared: others may count as [units
/// of work](Unit::Waits).
#[derive(Debug)]
pub struct RunCollector {
    aspects: Vec<Aspect>,
    libraries: Vec<String>,
    compared: Selection,
    unit: Unit,
    compared_selector: Selector,
    unit_selector: Option<Selector>,
    methods: MethodTable,
    /// The start of the considered time in each trace, in nanoseconds since its start.
    from_ns: Vec<u64>,
    runs: Vec<RunSums>,
    /// The path of the part at hand.
    path: Vec<Value>,
}

/// The sums of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunSums {
    pub(crate) width_ns: u64,
    pub(crate) total: RowSums,
    pub(crate) units: Series,
    pub(crate) rows: HashMap<Path, RowSums, RandomState>,
}

/// Sums of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSums {
    pub(crate) waits: u64,
    pub(crate) duration_ns: u64,
    pub(crate) by_slice: Series,
    /// The wait added last, counted from 1.
    last_wait: u64,
}

impl RowSums {
    fn merge(&mut self, other: &Self) {
        self.waits += other.waits;
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.by_slice.merge(&other.by_slice);
    }
}

impl Default for RunSums {
    fn default() -> Self {
        Self {
            width_ns: FIRST_WIDTH_NS,
            total: RowSums::default(),
            units: Series::default(),
            rows: HashMap::default(),
        }
    }
}

impl RunSums {
    /// Widens slices until there are not too many before `time_ns`.
    fn reach(&mut self, time_ns: u64) {
        while time_ns / self.width_ns >= MAX_SLICES {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        self.units.widen();
        self.total.by_slice.widen();
        for row in self.rows.values_mut() {
            row.by_slice.widen();
        }
    }

    fn merge(&mut self, mut other: Self) {
        while self.width_ns < other.width_ns {
            self.widen();
        }
        while other.width_ns < self.width_ns {
            other.widen();
        }
        self.units.merge(&other.units);
        self.total.merge(&other.total);
        for (path, row) in other.rows {
            self.rows.entry(path).or_default().merge(&row);
        }
    }
}

impl RunCollector {
    /// Creates a collector with rows by `aspects`, of the waits that `compared` selects but for its
    /// time range: that begins at one of `from_ns` in each trace, in nanoseconds since its start.
    /// Classes and packages called as one of `libraries`, with all in them, are no callers.
    pub fn new(
        aspects: Vec<Aspect>,
        libraries: Vec<String>,
        compared: Selection,
        unit: Unit,
        from_ns: Vec<u64>,
    ) -> Self {
        let unit_selector = match &unit {
            Unit::Waits(selection) => Some(Selector::new(selection)),
            Unit::Second | Unit::Given => None,
        };
        Self {
            compared_selector: Selector::new(&compared),
            unit_selector,
            methods: MethodTable::new(libraries.clone()),
            runs: vec![RunSums::default(); from_ns.len()],
            path: Vec::new(),
            aspects,
            libraries,
            compared,
            unit,
            from_ns,
        }
    }

    /// Returns the detail that an analysis has to find.
    pub fn detail(&self) -> Detail {
        let of_threads = self.aspects.contains(&Aspect::OwnerThread);
        let of_rows = if of_threads {
            Detail::OWNERS
        } else {
            Detail::CODE
        };
        of_rows.and(self.compared.detail())
    }

    /// Returns the aspects of the rows.
    pub fn aspects(&self) -> &[Aspect] {
        &self.aspects
    }

    /// Returns the divisor of blocked time.
    pub(crate) fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Returns the runs, in the order of the traces.
    pub(crate) fn runs(&self) -> &[RunSums] {
        &self.runs
    }

    fn add(&mut self, wait: &Wait, entities: &Entities) {
        let trace = wait.id.trace as usize;
        let (Some(run), Some(&from_ns)) = (self.runs.get_mut(trace), self.from_ns.get(trace))
        else {
            return;
        };
        let start_ns = wait.start_ns.saturating_sub(from_ns);
        let end_ns = start_ns.saturating_add(wait.duration_ns);
        run.reach(end_ns);
        run.total.waits += 1;
        run.total.duration_ns = run.total.duration_ns.saturating_add(wait.duration_ns);
        let width_ns = run.width_ns;
        let total = &mut run.total.by_slice;
        total.spread(wait.duration_ns, start_ns, end_ns, width_ns);
        for blame in &wait.blame {
            self.path.clear();
            for aspect in &self.aspects {
                let value = aspect.value(wait, blame.owner, entities, &mut self.methods);
                self.path.push(value);
            }
            let row = match run.rows.get_mut(self.path.as_slice()) {
                Some(row) => row,
                None => run.rows.entry(self.path.as_slice().into()).or_default(),
            };
            if row.last_wait != run.total.waits {
                row.last_wait = run.total.waits;
                row.waits += 1;
            }
            row.duration_ns = row.duration_ns.saturating_add(blame.duration_ns);
            let by_slice = &mut row.by_slice;
            by_slice.spread(blame.duration_ns, start_ns, end_ns, width_ns);
        }
    }

    fn count(&mut self, wait: &Wait, entities: &Entities) {
        let trace = wait.id.trace as usize;
        let (Some(selector), Some(run)) = (&mut self.unit_selector, self.runs.get_mut(trace))
        else {
            return;
        };
        if selector.selected(wait, entities).is_some() {
            // A wait counts where it ends: then the work begins.
            let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
            let end_ns = end_ns.saturating_sub(self.from_ns[trace]);
            run.reach(end_ns);
            run.units.add(end_ns / run.width_ns, 1);
        }
    }
}

impl WaitSink for RunCollector {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.count(wait, entities);
        if let Some(part) = self.compared_selector.selected(wait, entities) {
            self.add(&part, entities);
        }
    }
}

impl DivisibleSink for RunCollector {
    fn part(&self) -> Self {
        Self::new(
            self.aspects.clone(),
            self.libraries.clone(),
            self.compared.clone(),
            self.unit.clone(),
            self.from_ns.clone(),
        )
    }

    fn merge(&mut self, part: Self) {
        for (run, other) in self.runs.iter_mut().zip(part.runs) {
            run.merge(other);
        }
    }
}
