//! Groups of a selection's waits by aspects, with sums.

mod group;
mod sums;
pub(crate) mod tree;

use serde::{Deserialize, Serialize};
use trace_analysis::Entities;

use crate::dimension::Dimension;
use crate::groups::sums::{FinishedSums, GroupSums};
use crate::groups::tree::{MAX_DEPTH, ROOT, Tree};
use crate::model::Model;
use crate::name_collector::NameCollector;
use crate::names::Names;
use crate::scope::{Scope, is_about_threads, needs_keys, run_time_ns};
use crate::selection::{QuestionError, WaitSelection, check};

pub use group::{Group, Omitted};

/// Asks for the groups of a selection by aspects.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The waits that the question is about.
    #[serde(default)]
    pub selection: WaitSelection,
    /// The aspects, outermost first.
    #[serde(default)]
    pub by: Vec<Dimension>,
    /// The most groups of each depth: those with the most time.
    #[serde(default = "default_limit")]
    pub limit: usize,
    /// The number of values in each group's series.
    #[serde(default)]
    pub buckets: usize,
}

fn default_limit() -> usize {
    2_000
}

const MAX_LIMIT: usize = 50_000;
const MAX_BUCKETS: usize = 2_048;
/// The most groups times buckets.
const MAX_CELLS: usize = 4_000_000;

/// A part of the time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Where it begins, in nanoseconds.
    pub from_ns: u64,
    /// Where it ends, in nanoseconds.
    pub to_ns: u64,
}

/// The answer to a [`Query`].
#[derive(Clone, Debug, Serialize)]
pub struct Groups {
    /// The selection's part of the time axis.
    pub range: Range,
    /// The time for which the selection's traces ran in it, in nanoseconds.
    pub time_ns: u64,
    /// Whether waits are cut where their owners changed.
    pub exact: bool,
    /// Whether some sums are so large that they are rounded.
    pub rounded: bool,
    /// The groups, in no order.
    pub groups: Vec<Group>,
    /// The groups that the limit left out, by depth, from 1.
    pub omitted: Vec<Omitted>,
    /// The names that the groups' paths refer to.
    #[serde(flatten)]
    pub names: Names,
}

impl Model {
    /// Answers `query`.
    ///
    /// # Errors
    ///
    /// If it asks for more than an answer can hold, or its selection is not valid.
    pub fn query(&mut self, query: &Query, entities: &Entities) -> Result<Groups, QuestionError> {
        query.selection.check()?;
        check("the number of aspects", query.by.len(), MAX_DEPTH)?;
        check("limit", query.limit, MAX_LIMIT)?;
        check("buckets", query.buckets, MAX_BUCKETS)?;
        check(
            "limit times buckets",
            query.limit * query.buckets,
            MAX_CELLS,
        )?;
        self.prepare(entities, needs_keys(&query.selection));
        let knows_code = self.store.folded().knows_owners_by_time();
        let is_about_threads = is_about_threads(&query.selection, &query.by);
        let wants_time = query.buckets > 0 && knows_code && !is_about_threads;
        let scope = Scope::new(self, &query.selection, wants_time);
        let mut tree = Tree::new(self, &scope, &query.by);
        scope.for_each(|piece| tree.add(piece));
        let omitted = tree.select(query.limit);
        let mut sums = GroupSums::new(tree, &scope, query.buckets);
        scope.for_each(|piece| sums.add(piece));
        Ok(answer(sums.finish(), omitted, query, &scope, entities))
    }
}

fn answer(
    sums: FinishedSums<'_>,
    omitted: Vec<Omitted>,
    query: &Query,
    scope: &Scope<'_>,
    entities: &Entities,
) -> Groups {
    let FinishedSums {
        tree,
        mut groups,
        nodes,
    } = sums;
    let model = tree.model();
    let mut names = NameCollector::new(&model.tables, entities);
    let children = tree.child_counts();
    for (group, node) in groups.iter_mut().zip(nodes) {
        group.children = children[node as usize];
        let labels = tree.path(node).into_iter();
        let path = labels.zip(&query.by);
        group.path = path
            .map(|(label, &aspect)| names.add(aspect, label))
            .collect();
    }
    Groups {
        range: Range {
            from_ns: scope.from_ns,
            to_ns: scope.to_ns,
        },
        time_ns: run_time_ns(model, &query.selection),
        exact: model.is_exact(),
        rounded: tree.duration_ns(ROOT).is_rounded(),
        groups,
        omitted,
        names: names.finish(),
    }
}
