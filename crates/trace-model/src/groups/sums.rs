//! The sums of the groups in a tree.

use std::sync::Arc;

use crate::classes::{Classes, Side};
use crate::dimension::THREAD;
use crate::groups::group::Group;
use crate::groups::tree::Tree;
use crate::scale::Scale;
use crate::scope::{Piece, PieceShare, Scope, Source};
use crate::series::Series;
use crate::store::{Part, WaitRow};
use crate::sum::Sum;
use crate::tables::WaiterIndex;
use trace_analysis::histogram::Histogram;

const NONE: u32 = u32::MAX;

/// Adds up the sums of each selected group.
pub(crate) struct GroupSums<'m, 's> {
    tree: Tree<'m>,
    scope: &'s Scope<'m>,
    /// The group of each node.
    group_of: Vec<u32>,
    /// The node of each group.
    nodes: Vec<u32>,
    groups: Vec<GroupTotals>,
    series: Vec<Series>,
    wall_series: Series,
    safepoint_series: Series,
    seen: Seen,
    /// The leaves of the shares to come, in their order.
    leaves: std::vec::IntoIter<u32>,
    /// The share of each leaf in the current piece, by node.
    leaf_shares: Vec<LeafShare>,
    /// The leaves with a share in it.
    touched_leaves: Vec<u32>,
    /// The groups with a share in it.
    touched: Vec<u32>,
    /// Above this depth groups have whole waits, from it on parts: everywhere if the selection is
    /// about owners.
    common: usize,
}

/// The sums of all groups.
pub(crate) struct FinishedSums<'m> {
    pub(crate) tree: Tree<'m>,
    /// The root first. Without paths.
    pub(crate) groups: Vec<Group>,
    /// The node of each group.
    pub(crate) nodes: Vec<u32>,
}

/// The share of a leaf in the current piece.
#[derive(Clone, Copy, Debug, Default)]
struct LeafShare {
    duration_ns: u64,
    contentions: u64,
    waits: u64,
    max_ns: u64,
    is_touched: bool,
}

#[derive(Debug, Default)]
struct GroupTotals {
    waits: u64,
    contentions: u64,
    max_ns: u64,
    histogram: Histogram,
    /// The time covered by any of the waits concerned.
    union_ns: u64,
    /// The time up to which that is counted.
    covered_ns: u64,
    /// The whole duration of the waits concerned.
    full_ns: Sum,
    safepoint_ns: Sum,
    /// The share of the group in the current piece.
    piece: LeafShare,
}

impl<'m, 's> GroupSums<'m, 's> {
    pub(crate) fn new(mut tree: Tree<'m>, scope: &'s Scope<'m>, buckets: usize) -> Self {
        let mut group_of = vec![NONE; tree.len()];
        let mut nodes = Vec::new();
        for node in 0..tree.len() as u32 {
            if tree.is_selected(node) {
                group_of[node as usize] = nodes.len() as u32;
                nodes.push(node);
            }
        }
        let series = Series::new(scope.from_ns, scope.to_ns, buckets);
        Self {
            scope,
            groups: nodes.iter().map(|_| GroupTotals::default()).collect(),
            series: vec![series.clone(); if series.is_empty() { 0 } else { nodes.len() }],
            wall_series: series.clone(),
            safepoint_series: series,
            seen: Seen::new(&tree),
            leaves: tree.take_leaves().into_iter(),
            leaf_shares: vec![LeafShare::default(); tree.len()],
            touched_leaves: Vec::new(),
            touched: Vec::new(),
            common: if scope.selects_owners() {
                0
            } else {
                tree.common_depth() + 1
            },
            group_of,
            nodes,
            tree,
        }
    }

    /// Adds a piece. They come in the order in which they were added to the tree.
    pub(crate) fn add(&mut self, piece: &Piece<'_>) {
        let leaves = self.leaves.as_slice();
        let (&first, others) = leaves[..piece.shares.len()]
            .split_first()
            .expect("a piece has shares");
        if others.iter().all(|&leaf| leaf == first) {
            let mut share = LeafShare::default();
            for own in piece.shares {
                share.add(own);
            }
            self.add_leaf(first, &share, piece.waiter);
        } else {
            self.add_leaves(piece);
        }
        self.leaves.nth(piece.shares.len() - 1);
        if !self.wall_series.is_empty() {
            self.add_to_series(piece);
        }
        let touched = std::mem::take(&mut self.touched);
        for &group in &touched {
            let is_common = self.tree.depth(self.nodes[group as usize]) < self.common;
            self.groups[group as usize].finish_piece(piece, is_common);
        }
        self.touched = touched;
        self.touched.clear();
    }

    fn add_leaves(&mut self, piece: &Piece<'_>) {
        for (share, &leaf) in piece.shares.iter().zip(self.leaves.as_slice()) {
            let of_leaf = &mut self.leaf_shares[leaf as usize];
            if !of_leaf.is_touched {
                of_leaf.is_touched = true;
                self.touched_leaves.push(leaf);
            }
            of_leaf.add(share);
        }
        let mut leaves = std::mem::take(&mut self.touched_leaves);
        for &leaf in &leaves {
            let share = std::mem::take(&mut self.leaf_shares[leaf as usize]);
            self.add_leaf(leaf, &share, piece.waiter);
        }
        leaves.clear();
        self.touched_leaves = leaves;
    }

    fn add_leaf(&mut self, leaf: u32, share: &LeafShare, waiter: WaiterIndex) {
        self.seen.add(leaf, waiter);
        for node in self.tree.with_ancestors(leaf) {
            let group = self.group_of[node as usize];
            if group != NONE {
                let sums = &mut self.groups[group as usize];
                if !sums.piece.is_touched {
                    self.touched.push(group);
                }
                sums.piece.merge(share);
            }
        }
    }

    fn add_to_series(&mut self, piece: &Piece<'_>) {
        let Source::Wait(wait) = piece.source else {
            self.add_evenly(piece);
            let duration_ns = piece.duration_ns();
            self.wall_series
                .add_capped(piece.from_ns, piece.to_ns, duration_ns);
            return;
        };
        match self.tree.model().store.parts(wait) {
            Some(parts) => self.add_parts(piece, wait, parts),
            None => self.add_evenly(piece),
        }
        self.wall_series.add_covered(piece.from_ns, piece.to_ns);
        let part = Scale::new(piece.to_ns - piece.from_ns, wait.duration_ns);
        let safepoint_ns = part.down(wait.safepoint_ns);
        self.safepoint_series
            .add(piece.from_ns, piece.to_ns, safepoint_ns);
    }

    /// Spreads the share of each group evenly over a piece.
    fn add_evenly(&mut self, piece: &Piece<'_>) {
        let buckets = self.wall_series.buckets(piece.from_ns, piece.to_ns);
        for &group in &self.touched {
            let duration_ns = self.groups[group as usize].piece.duration_ns;
            self.series[group as usize].add_to(buckets, piece.from_ns, piece.to_ns, duration_ns);
        }
    }

    /// Adds the share of each group in a piece where its parts lie.
    fn add_parts(&mut self, piece: &Piece<'_>, wait: &WaitRow, parts: &[Part]) {
        let mut at_ns = wait.start_ns;
        for part in parts {
            let end_ns = at_ns + part.duration_ns;
            let (from_ns, to_ns) = (at_ns.max(piece.from_ns), end_ns.min(piece.to_ns));
            at_ns = end_ns;
            let position = |share: &PieceShare| share.position;
            let Ok(share) = piece.shares.binary_search_by_key(&part.share, position) else {
                continue;
            };
            if from_ns >= to_ns {
                continue;
            }
            let class = self.tree.owner_class(piece.shares[share].owner);
            let leaf = self.tree.leaf(piece.waiter, class);
            let buckets = self.wall_series.buckets(from_ns, to_ns);
            for node in self.tree.with_ancestors(leaf) {
                let group = self.group_of[node as usize];
                if group != NONE {
                    let series = &mut self.series[group as usize];
                    series.add_to(buckets, from_ns, to_ns, to_ns - from_ns);
                }
            }
        }
    }

    pub(crate) fn finish(self) -> FinishedSums<'m> {
        let threads = self
            .seen
            .count_threads(&self.tree, &self.group_of, self.nodes.len());
        let range_ns = self.scope.to_ns - self.scope.from_ns;
        let mut groups: Vec<Group> = self
            .groups
            .into_iter()
            .zip(&self.nodes)
            .zip(threads)
            .map(|((sums, &node), threads)| {
                let duration_ns = self.tree.duration_ns(node);
                Group {
                    duration_ns,
                    threads,
                    wall_ns: sums.wall_ns(duration_ns, range_ns),
                    waits: sums.waits,
                    contentions: sums.contentions,
                    max_ns: sums.max_ns,
                    safepoint_ns: sums.safepoint_ns,
                    p50_ns: sums.histogram.percentile_ns(50),
                    p99_ns: sums.histogram.percentile_ns(99),
                    ..Group::default()
                }
            })
            .collect();
        for (group, series) in groups.iter_mut().zip(self.series) {
            group.series = series.finish();
        }
        groups[0].wall_series = self.wall_series.finish();
        groups[0].safepoint_series = self.safepoint_series.finish();
        FinishedSums {
            tree: self.tree,
            groups,
            nodes: self.nodes,
        }
    }
}

impl LeafShare {
    fn add(&mut self, share: &PieceShare) {
        self.duration_ns = self.duration_ns.saturating_add(share.duration_ns);
        self.contentions = self.contentions.saturating_add(share.contentions);
        self.waits += share.waits;
        self.max_ns = self.max_ns.max(share.max_ns);
    }

    fn merge(&mut self, other: &LeafShare) {
        self.is_touched = true;
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.contentions = self.contentions.saturating_add(other.contentions);
        self.waits += other.waits;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

impl GroupTotals {
    /// Counts the share of the group in a piece, which `is_common` if it is the whole piece.
    fn finish_piece(&mut self, piece: &Piece<'_>, is_common: bool) {
        let own = std::mem::take(&mut self.piece);
        self.contentions = self.contentions.saturating_add(own.contentions);
        self.full_ns.add(piece.full_ns);
        match piece.source {
            Source::Wait(wait) => {
                if wait.safepoint_ns > 0 {
                    let own_part = Scale::new(own.duration_ns, wait.duration_ns);
                    self.safepoint_ns.add(own_part.down(wait.safepoint_ns));
                }
                self.waits += 1;
                self.histogram.add(own.duration_ns, 1);
                let from_ns = piece.from_ns.max(self.covered_ns);
                self.union_ns += piece.to_ns.saturating_sub(from_ns);
                self.covered_ns = self.covered_ns.max(piece.to_ns);
            }
            Source::Folded(folded) => {
                let waits = if is_common {
                    piece.waits
                } else {
                    own.waits.min(piece.waits)
                };
                self.waits += waits;
                if is_common {
                    let max_ns = folded.max_ns.min(own.duration_ns);
                    self.histogram
                        .add_buckets(folded.histogram_of(waits), max_ns);
                } else {
                    self.histogram.add(own.duration_ns / waits.max(1), waits);
                    self.max_ns = self.max_ns.max(own.max_ns);
                }
                let length_ns = piece.to_ns - piece.from_ns;
                self.union_ns = self.union_ns.saturating_add(piece.full_ns.min(length_ns));
            }
        }
        self.max_ns = self.max_ns.max(self.histogram.max_ns());
    }

    /// Returns the time in which any thread waited because of the group.
    fn wall_ns(&self, duration_ns: Sum, range_ns: u64) -> u64 {
        let union_ns = self.union_ns.min(range_ns);
        let share = duration_ns.of(self.full_ns);
        if share < 1.0 {
            (union_ns as f64 * share).round() as u64
        } else {
            union_ns
        }
    }
}

/// The threads that wait in each leaf.
struct Seen {
    /// The thread of each waiter, numbered from 0.
    threads: Arc<Classes>,
    /// Pairs of a leaf and a thread, some more than once.
    seen: Vec<(u32, u32)>,
    /// The last thread of each leaf.
    last: Vec<u32>,
}

impl Seen {
    fn new(tree: &Tree<'_>) -> Self {
        Self {
            threads: tree.model().classes(Side::Waiters, &[THREAD]),
            seen: Vec::new(),
            last: vec![NONE; tree.len()],
        }
    }

    #[inline]
    fn add(&mut self, leaf: u32, waiter: WaiterIndex) {
        let thread = self.threads.of[waiter.0 as usize];
        let last = &mut self.last[leaf as usize];
        if *last != thread {
            *last = thread;
            self.seen.push((leaf, thread));
        }
    }

    /// Returns the number of threads that wait in each group.
    fn count_threads(self, tree: &Tree<'_>, group_of: &[u32], groups: usize) -> Vec<u64> {
        let depths = tree.max_depth() + 1;
        let mut counts = vec![0; groups];
        // For each thread, the last group of each depth that counted it: the leaves of a group are
        // next to each other.
        let mut counted_by = vec![NONE; self.threads.len() * depths];
        for (leaf, thread) in in_order(self.seen, &tree.walk()) {
            let counted_by = &mut counted_by[thread as usize * depths..][..depths];
            for (node, counted_by) in tree.with_ancestors(leaf).zip(counted_by) {
                let group = group_of[node as usize];
                if group != NONE && *counted_by != group {
                    *counted_by = group;
                    counts[group as usize] += 1;
                }
            }
        }
        counts
    }
}

/// Sorts by the position of the leaf.
fn in_order(seen: Vec<(u32, u32)>, positions: &[u32]) -> Vec<(u32, u32)> {
    let mut start = vec![0_u32; positions.len() + 1];
    for &(leaf, _) in &seen {
        start[positions[leaf as usize] as usize + 1] += 1;
    }
    for at in 1..start.len() {
        start[at] += start[at - 1];
    }
    let mut sorted = vec![(0, 0); seen.len()];
    for entry in seen {
        let place = &mut start[positions[entry.0 as usize] as usize];
        sorted[*place as usize] = entry;
        *place += 1;
    }
    sorted
}
