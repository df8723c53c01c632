//! The sums of a report as a bounded number of series.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use trace_analysis::{Entities, Row, Rows};

/// Stands for all lock classes, or methods, that have no series of their own.
const OTHER: &str = "other";

/// The values of one series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeriesValues {
    pub(super) duration_ns: u64,
    pub(super) waits: u64,
    pub(super) longest_ns: u64,
}

impl SeriesValues {
    fn of(row: &Row) -> Self {
        Self {
            duration_ns: row.sums.duration_ns,
            waits: row.sums.waits,
            longest_ns: row.sums.max_wait_ns,
        }
    }

    fn add(&mut self, other: Self) {
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.waits = self.waits.saturating_add(other.waits);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// Values by their names. What shares all names is one series: there must not be two.
type Named<const N: usize> = BTreeMap<[String; N], SeriesValues>;

/// The series of a trace. Over the series, as over the rows, the times and the waits have the
/// same sums.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// By kind, lock class and owner's method.
    pub(super) by_owner: Named<3>,
    /// By kind and lock class.
    pub(super) by_lock_class: Named<2>,
}

impl Series {
    /// Those of rows by kind, lock class and owner's method: `max` of each, and one `other` for
    /// each kind.
    pub(super) fn of(rows: &Rows, max: usize, entities: &Entities) -> Self {
        let (mut by_owner, mut by_lock_class) = (Named::new(), Named::new());
        for kind in &rows.rows {
            for class in &kind.children.rows {
                let lock_class = class.value.name(entities);
                let names = [&kind.label, &lock_class].map(Clone::clone);
                add(&mut by_lock_class, names, SeriesValues::of(class));
                for owner in &class.children.rows {
                    let names = [&kind.label, &lock_class, &owner.label].map(Clone::clone);
                    add(&mut by_owner, names, SeriesValues::of(owner));
                }
            }
        }
        Self {
            by_owner: bounded(by_owner, max),
            by_lock_class: bounded(by_lock_class, max),
        }
    }
}

fn add<const N: usize>(series: &mut Named<N>, names: [String; N], sums: SeriesValues) {
    series.entry(names).or_default().add(sums);
}

/// The `max` series with the longest times, and the others added up by kind, which is the first
/// of their names.
fn bounded<const N: usize>(series: Named<N>, max: usize) -> Named<N> {
    let mut all: Vec<_> = series.into_iter().collect();
    all.sort_by_key(|&(_, sums)| Reverse(sums.duration_ns));
    let others = all.split_off(max.min(all.len()));
    let mut kept: Named<N> = all.into_iter().collect();
    for (mut names, sums) in others {
        names[1..].fill(OTHER.to_owned());
        add(&mut kept, names, sums);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(duration_ns: u64, waits: u64) -> SeriesValues {
        SeriesValues {
            duration_ns,
            waits,
            longest_ns: duration_ns,
        }
    }

    fn names(kind: &str, lock_class: &str) -> [String; 2] {
        [kind.to_owned(), lock_class.to_owned()]
    }

    #[test]
    fn what_has_no_series_of_its_own_is_added_up() {
        let series = [
            (names("contention", "A"), sums(50, 1)),
            (names("contention", "B"), sums(7, 2)),
            (names("contention", "C"), sums(9, 3)),
            (names("idle", "D"), sums(5, 4)),
            // A class of the program.
            (names("contention", OTHER), sums(40, 5)),
        ];
        let expected = [
            (names("contention", "A"), sums(50, 1)),
            (
                names("contention", OTHER),
                SeriesValues {
                    longest_ns: 40,
                    ..sums(40 + 9 + 7, 5 + 3 + 2)
                },
            ),
            (names("idle", OTHER), sums(5, 4)),
        ];
        assert_eq!(bounded(series.into(), 2), expected.into());
    }
}
