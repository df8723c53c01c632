//! Classes of waiters and of owners that some aspects do not distinguish.

use std::cell::RefCell;
use std::sync::Arc;

use crate::dimension::{Dimension, LabelIndex};
use crate::hash::SeededMap;
use crate::tables::Tables;

/// The class of those that are not selected.
const NONE: u32 = u32::MAX;
/// The size of the cache: two entries for each of the page's usual orders of aspects.
const KEPT: usize = 16;

/// A partition of waiters or owners: those that the aspects do not distinguish are of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// The class of each.
    pub(crate) of: Vec<u32>,
    /// One of each class.
    pub(crate) examples: Vec<u32>,
}

/// The side of a wait that has the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Waiters,
    Owners,
}

impl Side {
    /// Returns the columns of the aspects that are about this side.
    fn columns(self, by: &[Dimension]) -> Vec<usize> {
        let of_owner = self == Side::Owners;
        let mut columns: Vec<usize> = by
            .iter()
            .filter(|dimension| dimension.is_of_owner() == of_owner)
            .map(|dimension| dimension.column())
            .collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Classes {
    fn new(tables: &Tables, side: Side, columns: &[usize]) -> Self {
        let all = match side {
            Side::Waiters => tables.waiters().len(),
            Side::Owners => tables.owners().len(),
        };
        let label = |index: usize, column: usize| match side {
            Side::Waiters => tables.waiters()[index].labels[column],
            Side::Owners => tables.owners()[index][column],
        };
        let Some((&first, rest)) = columns.split_first() else {
            return Self {
                of: vec![0; all],
                examples: if all > 0 { vec![0] } else { Vec::new() },
            };
        };
        let mut classes = Self::by_label(tables.labels().len(), all, |index| label(index, first));
        for &column in rest {
            classes.refine(|index| label(index, column));
        }
        classes
    }

    fn by_label(labels: usize, all: usize, label: impl Fn(usize) -> LabelIndex) -> Self {
        let mut class_of = vec![NONE; labels];
        let mut classes = Self::default();
        for index in 0..all {
            let class = &mut class_of[label(index).0 as usize];
            if *class == NONE {
                *class = classes.examples.len() as u32;
                classes.examples.push(index as u32);
            }
            classes.of.push(*class);
        }
        classes
    }

    /// Splits the classes by one more aspect.
    fn refine(&mut self, label: impl Fn(usize) -> LabelIndex) {
        let mut known: SeededMap<(u32, LabelIndex), u32> = SeededMap::default();
        let mut last = ((NONE, LabelIndex(NONE)), NONE);
        self.examples.clear();
        for (index, class) in self.of.iter_mut().enumerate() {
            let key = (*class, label(index));
            if key != last.0 {
                let next = self.examples.len() as u32;
                let refined = *known.entry(key).or_insert(next);
                if refined == next {
                    self.examples.push(index as u32);
                }
                last = (key, refined);
            }
            *class = last.1;
        }
    }

    /// Returns the classes of the selected ones only.
    pub(crate) fn only(&self, is_selected: impl Fn(u32) -> bool) -> Self {
        let mut renumbered = vec![NONE; self.examples.len()];
        let mut examples = Vec::new();
        let of = (0..).zip(&self.of).map(|(index, &class)| {
            if !is_selected(index) {
                return NONE;
            }
            let renumbered = &mut renumbered[class as usize];
            if *renumbered == NONE {
                *renumbered = examples.len() as u32;
                examples.push(index);
            }
            *renumbered
        });
        let of = of.collect();
        Self { of, examples }
    }

    /// Returns the number of classes.
    pub(crate) fn len(&self) -> usize {
        self.examples.len()
    }
}

/// A cache of the classes that questions used last.
#[derive(Debug, Default)]
pub(crate) struct ClassCache(RefCell<Vec<CachedClasses>>);

#[derive(Debug)]
struct CachedClasses {
    side: Side,
    columns: Vec<usize>,
    classes: Arc<Classes>,
}

impl ClassCache {
    /// Returns the classes by these aspects.
    pub(crate) fn get(&self, tables: &Tables, side: Side, by: &[Dimension]) -> Arc<Classes> {
        let columns = side.columns(by);
        let all = match side {
            Side::Waiters => tables.waiters().len(),
            Side::Owners => tables.owners().len(),
        };
        let mut cache = self.0.borrow_mut();
        let position = cache
            .iter()
            .position(|known| known.side == side && known.columns == columns);
        let known = position.map(|position| cache.remove(position));
        // An entry lacks what came since.
        let known = known.filter(|known| known.classes.of.len() == all);
        let known = known.unwrap_or_else(|| CachedClasses {
            side,
            classes: Arc::new(Classes::new(tables, side, &columns)),
            columns,
        });
        let classes = Arc::clone(&known.classes);
        cache.truncate(KEPT - 1);
        cache.insert(0, known);
        classes
    }
}
