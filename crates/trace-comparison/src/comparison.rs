//! Comparison of both sides.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use trace_analysis::{Entities, Value};

use crate::collector::{RowSums, RunCollector, RunSums, Unit};
use crate::resampling::{Change, Ratio, Resampling, Sides};
use crate::row::{Amount, ComparedRow, Names};

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Work {
    /// The traces, by their position among those analyzed, and the duration of the considered part
    /// of each, in nanoseconds.
    pub runs: Vec<(usize, u64)>,
    /// The units of work done in all of these, with [`Unit::Given`].
    pub units: f64,
}

/// The change of lock contention.
#[derive(Debug)]
pub struct Comparison {
    /// Everything that was compared: before and after.
    pub total: (Amount, Amount, Change),
    /// The rows with the largest differences, those first.
    pub rows: Vec<ComparedRow>,
    /// The number of rows left out.
    pub omitted: usize,
    /// The units of work of each side; seconds, if it is by time.
    pub units: [f64; 2],
}

/// One side.
struct Side<'c> {
    runs: Vec<&'c RunSums>,
    /// The number of slices of each run.
    slices: Vec<usize>,
    /// The work in each slice, one run after the other.
    work: Vec<f64>,
}

/// A row on both sides: the sums in each run of each side.
struct Row<'c> {
    path: &'c [Value],
    sums: [Vec<Vec<&'c RowSums>>; 2],
}

impl Comparison {
    /// Compares the waits collected from some traces with those from others. At most `top` rows are
    /// compared; all if it is `None`.
    pub fn new(
        collected: &RunCollector,
        [before, after]: [&Work; 2],
        top: Option<usize>,
        entities: &Entities,
    ) -> Self {
        let sides = [before, after].map(|work| Side::new(collected, work));
        let mut names = Names::new(entities);
        let mut rows = rows(&sides, &mut names);
        let difference_ns = |row: &Row<'_>| {
            let [before, after] = [0, 1].map(|side| sides[side].ratio(&row.sums[side]).value());
            (after - before).abs()
        };
        rows.sort_by_cached_key(|row| (Reverse(ordered(difference_ns(row))), names.keys(row.path)));
        let shown = top.unwrap_or(usize::MAX).min(rows.len());
        let rates = shown + 1;
        let drawn = Sides {
            before: Resampling::new(&sides[0].slices, 0),
            after: Resampling::new(&sides[1].slices, 1),
        };
        let compare = |sums: [&[Vec<&RowSums>]; 2]| {
            let [before, after] = [0, 1].map(|side| sides[side].ratio(sums[side]));
            let change = drawn.change(&before, &after, rates);
            let [before, after] = [0, 1].map(|side| sides[side].amount(sums[side]));
            (before, after, change)
        };
        let totals = [0, 1].map(|side| {
            let totals = sides[side].runs.iter().map(|run| vec![&run.total]);
            totals.collect::<Vec<_>>()
        });
        Self {
            total: compare([&totals[0], &totals[1]]),
            omitted: rows.len() - shown,
            rows: rows[..shown]
                .iter()
                .map(|row| {
                    let (before, after, change) = compare([&row.sums[0], &row.sums[1]]);
                    let values = collected.aspects().iter().zip(row.path);
                    ComparedRow {
                        values: values
                            .map(|(&aspect, &value)| names.name(aspect, value))
                            .collect(),
                        before,
                        after,
                        change,
                    }
                })
                .collect(),
            units: [0, 1].map(|side| match collected.unit() {
                Unit::Given => [before, after][side].units,
                Unit::Second | Unit::Waits(_) => sides[side].work.iter().sum(),
            }),
        }
    }
}

/// Returns the rows of both sides: those with the same keys are the same.
fn rows<'c>(sides: &[Side<'c>; 2], names: &mut Names<'_>) -> Vec<Row<'c>> {
    let mut by_keys: HashMap<Vec<String>, Row<'c>, RandomState> = HashMap::default();
    for (at, side) in sides.iter().enumerate() {
        for (position, &run) in side.runs.iter().enumerate() {
            for (path, sums) in &run.rows {
                let row = by_keys.entry(names.keys(path)).or_insert_with(|| Row {
                    path,
                    sums: [0, 1].map(|side| vec![Vec::new(); sides[side].runs.len()]),
                });
                row.sums[at][position].push(sums);
            }
        }
    }
    by_keys.into_values().collect()
}

/// Returns a number that has the same order.
fn ordered(number: f64) -> u64 {
    // No number is negative, and those are ordered as their bits are.
    number.to_bits()
}

impl<'c> Side<'c> {
    fn new(collected: &'c RunCollector, work: &Work) -> Self {
        let mut side = Self {
            runs: Vec::new(),
            slices: Vec::new(),
            work: Vec::new(),
        };
        let whole_ns: f64 = work.runs.iter().map(|&(_, ns)| ns as f64).sum();
        for &(trace, duration_ns) in &work.runs {
            let Some(run) = collected.runs().get(trace) else {
                continue;
            };
            let slices = duration_ns.div_ceil(run.width_ns).max(1) as usize;
            let units = run.units.sums(slices);
            for (slice, units) in (0..).zip(units) {
                let start_ns = slice * run.width_ns;
                let slice_ns = duration_ns.saturating_sub(start_ns).min(run.width_ns) as f64;
                side.work.push(match collected.unit() {
                    Unit::Second => slice_ns / 1e9,
                    Unit::Given => work.units * slice_ns / whole_ns,
                    Unit::Waits(_) => units as f64,
                });
            }
            side.runs.push(run);
            side.slices.push(slices);
        }
        side
    }

    /// Returns blocked time by work.
    fn ratio(&self, sums: &[Vec<&RowSums>]) -> Ratio<'_> {
        let mut numerators = Vec::with_capacity(self.work.len());
        for (of_run, &slices) in sums.iter().zip(&self.slices) {
            let first = numerators.len();
            numerators.resize(first + slices, 0.0);
            for row in of_run {
                for (sum, &ns) in numerators[first..]
                    .iter_mut()
                    .zip(&row.by_slice.sums(slices))
                {
                    *sum += ns as f64;
                }
            }
        }
        Ratio {
            numerators,
            denominators: &self.work,
        }
    }

    fn amount(&self, sums: &[Vec<&RowSums>]) -> Amount {
        let all = || sums.iter().flatten();
        Amount {
            waits: all().map(|row| row.waits).sum(),
            duration_ns: all().fold(0, |sum: u64, row| sum.saturating_add(row.duration_ns)),
            rate_ns: self.ratio(sums).value(),
        }
    }
}
