//! The tree of a selection's groups.

use std::cmp::Reverse;

use crate::classes::{Classes, Side};
use crate::dimension::{Dimension, LabelIndex};
use crate::groups::group::Omitted;
use crate::hash::SeededMap;
use crate::model::Model;
use crate::scope::{Piece, Scope};
use crate::sum::Sum;
use crate::tables::{OwnerIndex, WaiterIndex};

/// The most aspects, and so levels.
pub(crate) const MAX_DEPTH: usize = 8;

/// The node of the whole selection.
pub(crate) const ROOT: u32 = 0;

const UNKNOWN: u32 = u32::MAX;

/// A tree with a node for each combination of values, an aspect a level.
pub(crate) struct Tree<'m> {
    model: &'m Model,
    by: &'m [Dimension],
    /// The root comes first, and children after their parents.
    nodes: Vec<Node>,
    children: SeededMap<(u32, LabelIndex), u32>,
    /// By waiter.
    waiter_class: Classes,
    /// By owner.
    owner_class: Classes,
    leaves: Leaves,
    /// The leaf of each share that was added, in their order.
    leaf_of_share: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    depth: u8,
    label: LabelIndex,
    duration_ns: Sum,
    is_selected: bool,
}

/// The leaf of each class of waiters with each class of owners.
enum Leaves {
    /// A table with a row for each class of waiters.
    Few(Vec<u32>),
    Many(SeededMap<(u32, u32), u32>),
}

/// The largest table of leaves.
const MAX_TABLE: usize = 1 << 21;

impl<'m> Tree<'m> {
    pub(crate) fn new(model: &'m Model, scope: &Scope<'_>, by: &'m [Dimension]) -> Self {
        let waiter_class = model.classes(Side::Waiters, by);
        let waiter_class = waiter_class.only(|waiter| scope.has_waiter(WaiterIndex(waiter)));
        let owner_class = model.classes(Side::Owners, by);
        let owner_class = owner_class.only(|owner| scope.has_owner(OwnerIndex(owner)));
        let size = waiter_class.len() * owner_class.len();
        Self {
            model,
            by,
            nodes: vec![Node {
                parent: ROOT,
                depth: 0,
                label: LabelIndex(0),
                duration_ns: Sum::default(),
                is_selected: true,
            }],
            children: SeededMap::default(),
            waiter_class,
            owner_class,
            leaves: if size <= MAX_TABLE {
                Leaves::Few(vec![UNKNOWN; size])
            } else {
                Leaves::Many(SeededMap::default())
            },
            leaf_of_share: Vec::new(),
        }
    }

    pub(crate) fn model(&self) -> &'m Model {
        self.model
    }

    /// Returns the class of a selected owner.
    #[inline]
    pub(crate) fn owner_class(&self, owner: OwnerIndex) -> u32 {
        self.owner_class.of[owner.0 as usize]
    }

    /// Returns the leaf for a waiter and a class of owners, both selected.
    #[inline]
    pub(crate) fn leaf(&mut self, waiter: WaiterIndex, owner_class: u32) -> u32 {
        let waiter_class = self.waiter_class.of[waiter.0 as usize];
        let place = waiter_class as usize * self.owner_class.examples.len() + owner_class as usize;
        let known = match &self.leaves {
            Leaves::Few(table) => table[place],
            Leaves::Many(map) => {
                let known = map.get(&(waiter_class, owner_class));
                known.copied().unwrap_or(UNKNOWN)
            }
        };
        if known != UNKNOWN {
            return known;
        }
        let leaf = self.make_leaf(waiter_class, owner_class);
        match &mut self.leaves {
            Leaves::Few(table) => table[place] = leaf,
            Leaves::Many(map) => {
                map.insert((waiter_class, owner_class), leaf);
            }
        }
        leaf
    }

    #[cold]
    fn make_leaf(&mut self, waiter_class: u32, owner_class: u32) -> u32 {
        let tables = &self.model.tables;
        let waiter = WaiterIndex(self.waiter_class.examples[waiter_class as usize]);
        let owner = OwnerIndex(self.owner_class.examples[owner_class as usize]);
        let mut node = ROOT;
        for (depth, &dimension) in (1..).zip(self.by) {
            let label = if dimension.is_of_owner() {
                tables.of_owner(owner, dimension)
            } else {
                tables.of_waiter(waiter, dimension)
            };
            let next = self.nodes.len() as u32;
            let parent = node;
            node = *self.children.entry((parent, label)).or_insert(next);
            if node == next {
                self.nodes.push(Node {
                    parent,
                    depth,
                    label,
                    duration_ns: Sum::default(),
                    is_selected: false,
                });
            }
        }
        node
    }

    /// Adds the durations of a piece to the leaves.
    pub(crate) fn add(&mut self, piece: &Piece<'_>) {
        let mut last = (UNKNOWN, ROOT);
        for share in piece.shares {
            let class = self.owner_class(share.owner);
            if class != last.0 {
                last = (class, self.leaf(piece.waiter, class));
            }
            let node = &mut self.nodes[last.1 as usize];
            node.duration_ns.add(share.duration_ns);
            self.leaf_of_share.push(last.1);
        }
    }

    /// Takes the leaves of all shares that were added, in their order.
    pub(crate) fn take_leaves(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.leaf_of_share)
    }

    /// Returns the position of each node in a pre-order walk of the tree.
    pub(crate) fn walk(&self) -> Vec<u32> {
        let mut size = vec![1_u32; self.nodes.len()];
        for at in (1..self.nodes.len()).rev() {
            size[self.nodes[at].parent as usize] += size[at];
        }
        let mut position = vec![0; self.nodes.len()];
        // The position of the next child of each node.
        let mut next = vec![1; self.nodes.len()];
        for at in 1..self.nodes.len() {
            let parent = self.nodes[at].parent as usize;
            position[at] = next[parent];
            next[at] = position[at] + 1;
            next[parent] += size[at];
        }
        position
    }

    /// Adds the durations of nodes to their parents, and selects at each depth the nodes with the most
    /// time.
    pub(crate) fn select(&mut self, limit: usize) -> Vec<Omitted> {
        for at in (1..self.nodes.len()).rev() {
            let Node {
                parent,
                duration_ns,
                ..
            } = self.nodes[at];
            self.nodes[parent as usize].duration_ns.add_sum(duration_ns);
        }
        let mut by_depth = vec![Vec::new(); self.by.len()];
        for at in 1..self.nodes.len() {
            by_depth[usize::from(self.nodes[at].depth) - 1].push(at as u32);
        }
        by_depth
            .iter()
            .map(|nodes| self.select_among(nodes, limit))
            .collect()
    }

    /// Selects among nodes of one depth.
    fn select_among(&mut self, nodes: &[u32], limit: usize) -> Omitted {
        let has_place = |&node: &u32| {
            let parent = self.nodes[node as usize].parent;
            self.nodes[parent as usize].is_selected
        };
        let mut selected: Vec<u32> = nodes.iter().copied().filter(has_place).collect();
        if selected.len() > limit {
            selected.sort_by_key(|&node| Reverse(self.duration_ns(node)));
            selected.truncate(limit);
        }
        for node in selected {
            self.nodes[node as usize].is_selected = true;
        }
        let mut omitted = Omitted::default();
        for &node in nodes {
            if !self.is_selected(node) {
                omitted.groups += 1;
                omitted.duration_ns.add_sum(self.duration_ns(node));
            }
        }
        omitted
    }

    /// Returns the depth up to which nodes have whole waits.
    pub(crate) fn common_depth(&self) -> usize {
        let first = self.by.iter().position(|dimension| dimension.is_of_owner());
        first.unwrap_or(self.by.len())
    }

    /// Returns the labels on the path to each leaf, with its time.
    pub(crate) fn leaf_sums(&self) -> impl Iterator<Item = (Vec<LabelIndex>, Sum)> {
        let nodes = (0_u32..).zip(&self.nodes);
        let leaves = nodes.filter(|(_, node)| usize::from(node.depth) == self.by.len());
        leaves.map(|(at, node)| (self.path(at), node.duration_ns))
    }

    /// Returns the number of children of each node.
    pub(crate) fn child_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.nodes.len()];
        for node in &self.nodes[1..] {
            counts[node.parent as usize] += 1;
        }
        counts
    }

    /// Returns the depth of the leaves.
    pub(crate) fn max_depth(&self) -> usize {
        self.by.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn is_selected(&self, node: u32) -> bool {
        self.nodes[node as usize].is_selected
    }

    pub(crate) fn duration_ns(&self, node: u32) -> Sum {
        self.nodes[node as usize].duration_ns
    }

    pub(crate) fn depth(&self, node: u32) -> usize {
        self.nodes[node as usize].depth.into()
    }

    /// Returns the node and its ancestors, the root last.
    #[inline]
    pub(crate) fn with_ancestors(&self, node: u32) -> impl Iterator<Item = u32> {
        let parent = |&node: &u32| (node != ROOT).then(|| self.nodes[node as usize].parent);
        std::iter::successors(Some(node), parent)
    }

    /// Returns the labels on the path to a node, the outermost first.
    pub(crate) fn path(&self, node: u32) -> Vec<LabelIndex> {
        let nodes = self.with_ancestors(node).filter(|&node| node != ROOT);
        let mut labels: Vec<_> = nodes.map(|node| self.nodes[node as usize].label).collect();
        labels.reverse();
        labels
    }
}
