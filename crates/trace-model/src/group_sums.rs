//! Sums over the groups of a tree.

use crate::dimension::LabelIndex;
use crate::groups::Group;
use crate::hash::SeededSet;
use crate::histogram::Histogram;
use crate::occurrences::THREAD;
use crate::scope::{Piece, PieceShare, Scale, Scope, Source};
use crate::series::Series;
use crate::store::{Part, WaitRow};
use crate::sum::Sum;
use crate::tables::WaiterIndex;
use crate::tree::{ROOT, Tree};

const NONE: u32 = u32::MAX;

/// Adds up what there is to know of each group that is selected.
pub(crate) struct GroupSums<'m, 's> {
    tree: Tree<'m>,
    scope: &'s Scope<'m>,
    /// The group of each node.
    group_of: Vec<u32>,
    /// The node of each group.
    nodes: Vec<u32>,
    groups: Vec<Sums>,
    series: Vec<Series>,
    wall_series: Series,
    safepoint_series: Series,
    seen: Seen,
    /// What each leaf has of the piece at hand, by node.
    leaf_shares: Vec<LeafShare>,
    /// The leaves that have anything of it.
    touched_leaves: Vec<u32>,
    /// The groups that have anything of it.
    touched: Vec<u32>,
    /// From that depth on, and everywhere if the selection is about owners, groups have
    /// parts of waits.
    common: usize,
}

/// All sums.
pub(crate) struct FinishedSums<'m> {
    pub(crate) tree: Tree<'m>,
    /// The root's comes first. Without paths.
    pub(crate) groups: Vec<Group>,
    /// The node of each group.
    pub(crate) nodes: Vec<u32>,
}

/// What a leaf has of the piece at hand.
#[derive(Clone, Copy, Debug, Default)]
struct LeafShare {
    duration_ns: u64,
    contentions: u64,
    waits: u64,
    max_ns: u64,
    is_touched: bool,
}

#[derive(Debug, Default)]
struct Sums {
    waits: u64,
    contentions: u64,
    max_ns: u64,
    histogram: Histogram,
    /// The time in which any of the waits concerned goes on.
    union_ns: u64,
    /// Up to where that is known.
    covered_ns: u64,
    /// All of the time of the waits concerned.
    full_ns: Sum,
    safepoint_ns: Sum,
    /// What the group has of the piece at hand.
    piece: LeafShare,
}

impl<'m, 's> GroupSums<'m, 's> {
    pub(crate) fn new(tree: Tree<'m>, scope: &'s Scope<'m>, buckets: usize) -> Self {
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
            groups: nodes.iter().map(|_| Sums::default()).collect(),
            series: vec![series.clone(); if series.is_empty() { 0 } else { nodes.len() }],
            wall_series: series.clone(),
            safepoint_series: series,
            seen: Seen::new(tree.len(), tree.model().tables.waiters().len()),
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

    pub(crate) fn add(&mut self, piece: &Piece<'_>) {
        let mut last = (NONE, ROOT);
        for share in piece.shares {
            let class = self.tree.owner_class(share.owner);
            if class != last.0 {
                last = (class, self.tree.leaf(piece.waiter, class));
            }
            let leaf = &mut self.leaf_shares[last.1 as usize];
            if !leaf.is_touched {
                leaf.is_touched = true;
                self.touched_leaves.push(last.1);
            }
            leaf.add(share);
        }
        let leaves = std::mem::take(&mut self.touched_leaves);
        for &leaf in &leaves {
            self.seen.add(leaf, piece.waiter);
            let share = std::mem::take(&mut self.leaf_shares[leaf as usize]);
            for node in self.tree.with_ancestors(leaf) {
                let group = self.group_of[node as usize];
                if group != NONE {
                    let sums = &mut self.groups[group as usize];
                    if !sums.piece.is_touched {
                        self.touched.push(group);
                    }
                    sums.piece.merge(&share);
                }
            }
        }
        self.touched_leaves = leaves;
        self.touched_leaves.clear();
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

    /// What each group has of a piece goes evenly over it.
    fn add_evenly(&mut self, piece: &Piece<'_>) {
        let buckets = self.wall_series.buckets(piece.from_ns, piece.to_ns);
        for &group in &self.touched {
            let duration_ns = self.groups[group as usize].piece.duration_ns;
            self.series[group as usize].add_to(buckets, piece.from_ns, piece.to_ns, duration_ns);
        }
    }

    /// What each group has of a piece goes where it was.
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

impl Sums {
    /// Counts what the group has of a piece. `is_common` if it has all of it.
    fn finish_piece(&mut self, piece: &Piece<'_>, is_common: bool) {
        let own = std::mem::take(&mut self.piece);
        self.contentions = self.contentions.saturating_add(own.contentions);
        self.full_ns.add(piece.full_ns);
        match piece.source {
            Source::Wait(wait) => {
                let own_part = Scale::new(own.duration_ns, wait.duration_ns);
                self.safepoint_ns.add(own_part.down(wait.safepoint_ns));
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
                    self.histogram.add_buckets(&folded.histogram, folded.max_ns);
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

    /// The time in which any thread waited, of a group that has so much time.
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

/// Which waiters have something of each leaf.
#[derive(Debug)]
enum Seen {
    /// A bit for each waiter, one leaf after the other.
    Few {
        bits: Vec<u64>,
        waiters: usize,
    },
    Many(SeededSet<(u32, WaiterIndex)>),
}

/// So many bits are not much.
const MAX_BITS: usize = 1 << 27;

impl Seen {
    fn new(leaves: usize, waiters: usize) -> Self {
        match leaves.checked_mul(waiters) {
            Some(bits) if bits <= MAX_BITS => Seen::Few {
                bits: vec![0; bits.div_ceil(64)],
                waiters,
            },
            _ => Seen::Many(SeededSet::default()),
        }
    }

    fn add(&mut self, leaf: u32, waiter: WaiterIndex) {
        match self {
            Seen::Few { bits, waiters } => {
                let at = leaf as usize * *waiters + waiter.0 as usize;
                bits[at / 64] |= 1 << (at % 64);
            }
            Seen::Many(seen) => {
                seen.insert((leaf, waiter));
            }
        }
    }

    fn for_each(&self, mut take: impl FnMut(u32, WaiterIndex)) {
        match self {
            Seen::Few { bits, waiters } => {
                for (word, &bits) in bits.iter().enumerate() {
                    let mut left = bits;
                    while left != 0 {
                        let at = word * 64 + left.trailing_zeros() as usize;
                        left &= left - 1;
                        take((at / waiters) as u32, WaiterIndex((at % waiters) as u32));
                    }
                }
            }
            Seen::Many(seen) => {
                for &(leaf, waiter) in seen {
                    take(leaf, waiter);
                }
            }
        }
    }

    /// How many threads wait in each group.
    fn count_threads(&self, tree: &Tree<'_>, group_of: &[u32], groups: usize) -> Vec<u64> {
        let tables = &tree.model().tables;
        let mut by_group: Vec<Vec<LabelIndex>> = vec![Vec::new(); groups];
        self.for_each(|leaf, waiter| {
            let thread = tables.of_waiter(waiter, THREAD);
            for node in tree.with_ancestors(leaf) {
                if let Some(threads) = by_group.get_mut(group_of[node as usize] as usize) {
                    threads.push(thread);
                }
            }
        });
        let mut seen_in = vec![NONE; tables.labels().len()];
        let count = |(group, threads): (u32, Vec<LabelIndex>)| {
            let mut count = 0;
            for thread in threads {
                let seen_in = &mut seen_in[thread.0 as usize];
                count += u64::from(*seen_in != group);
                *seen_in = group;
            }
            count
        };
        (0..).zip(by_group).map(count).collect()
    }
}
