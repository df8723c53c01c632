//! The hierarchy of selectors and aggregators (paper, section 4.2, figure 7).
//!
//! An aggregator sums up contentions. The selector below it distinguishes them by
//! the next aspect and has one aggregator for each value. Both are nodes of one
//! tree here: a node is an aggregator, and its children are the aggregators of the
//! selector below it.

use crate::aggregate::aspect::Aspect;
use crate::aggregate::method_table::MethodTable;
use crate::aggregate::overloads::Overloads;
use crate::aggregate::row_cache::{PathKey, RootKey, RootKeyParts, RowCache};
use crate::aggregate::value::Value;
use crate::collections::hash::SeededMap;
use crate::model::detail::{BlameBy, Detail};
use crate::model::entity::Entities;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Owner, UnknownOwner, Wait};
use crate::model::wait_sink::{DivisibleSink, WaitSink};

/// Sums over some contentions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// How many contentions.
    pub contentions: u64,
    /// How many waits they are part of.
    pub waits: u64,
    /// Their total duration in nanoseconds.
    pub duration_ns: u64,
    /// The longest time of one wait, counting only its contentions summed up
    /// here, in nanoseconds.
    pub max_wait_ns: u64,
}

/// Sums over all contentions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All contentions.
    pub all: Sums,
    /// How much of the total duration the lock was free, in nanoseconds.
    pub free_ns: u64,
    /// How much of the total duration the process did not run, in nanoseconds.
    pub frozen_ns: u64,
    /// How much of the total duration has no known owner, by reason in the order
    /// of [`UnknownOwner::ALL`], in nanoseconds.
    pub unknown_owner_ns: [u64; UnknownOwner::ALL.len()],
    /// How much of the total duration the JVM spent in safepoints, in
    /// nanoseconds.
    pub safepoint_ns: u64,
    /// How much of the total duration threads waited to re-acquire a lock after
    /// `Object.wait`, in nanoseconds.
    pub reenter_after_wait_ns: u64,
}

impl Totals {
    /// Returns how much of the total duration has no known owner, in
    /// nanoseconds.
    pub fn all_unknown_owner_ns(&self) -> u64 {
        let unknown_ns = self.unknown_owner_ns.iter().copied();
        unknown_ns.fold(0, u64::saturating_add)
    }

    /// Returns how much of the total duration has a known owner, in
    /// nanoseconds.
    pub fn known_owner_ns(&self) -> u64 {
        let by_nobody_ns = self.free_ns.saturating_add(self.all_unknown_owner_ns());
        let by_nobody_ns = by_nobody_ns.saturating_add(self.frozen_ns);
        self.all.duration_ns.saturating_sub(by_nobody_ns)
    }
}

/// Aggregates contentions by aspects. A copy is a snapshot of what was added so far.
#[derive(Clone, Debug)]
pub struct Aggregation {
    aspects: Vec<Aspect>,
    tree: NodeTree,
    methods: MethodTable,
    /// Where parts of waits went.
    paths: RowCache<PathKey>,
    /// Where those with root owners went.
    root_paths: RowCache<RootKey>,
    /// Up to the first aspect of owners, all parts of a wait go the same way.
    common: usize,
    /// Parts are distinguished by their root owners, and by what about them.
    by_root: bool,
    root_key: RootKeyParts,
    /// Waits are distinguished by thread.
    by_thread: bool,
    /// The part of a [`PackedOwner::key`] that distinguishes owners.
    owner_mask: u64,
    /// How many waits were added.
    waits: u64,
    free_ns: u64,
    frozen_ns: u64,
    unknown_owner_ns: [u64; UnknownOwner::ALL.len()],
    safepoint_ns: u64,
    reenter_after_wait_ns: u64,
}

/// The aggregators, and the selectors between them.
#[derive(Clone, Debug)]
struct NodeTree {
    /// The root comes first.
    nodes: Vec<Node>,
    /// Where the contentions added last went below each node, the last one first: a wait is often
    /// blamed by turns on those who hold the lock and on nobody.
    recent_children: Vec<RecentChildren>,
    /// The selectors: from a node and a value to the child.
    children: SeededMap<(u32, Value), u32>,
    /// The most nodes that have a value of their own. Beyond that, all new values below a node
    /// share one.
    max_nodes: usize,
}

/// The values and children of a node that were asked for last.
type RecentChildren = [Option<(Value, u32)>; 2];

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    sums: Sums,
    /// The wait added last, counted from 1.
    wait: u64,
    /// The time of that wait so far.
    wait_ns: u64,
}

/// One value of an aspect in the result.
#[derive(Clone, Debug)]
pub struct Row {
    /// The aspect.
    pub aspect: Aspect,
    /// Its value.
    pub value: Value,
    /// The value for people. An overloaded method has the types of its parameters;
    /// sibling threads of the same name have their numbers.
    pub label: String,
    /// Of a call chain: the position of the frame in which the program stands. Those
    /// before it are the lock's own.
    pub first_frame: usize,
    /// Sums over the contentions of this value.
    pub sums: Sums,
    /// The same contentions, distinguished by the next aspect.
    pub children: Rows,
}

/// Sibling rows, longest duration first.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The rows shown.
    pub rows: Vec<Row>,
    /// How many are left out.
    pub omitted: usize,
    /// Total duration of those left out, in nanoseconds.
    pub omitted_ns: u64,
}

/// Which rows to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowLimits {
    /// The most sibling rows.
    pub top: Option<usize>,
    /// Only rows with at least this share of the total duration, 0 to 1.
    pub min_share: f64,
    /// Where no row has that share, but all siblings together have ten times as much,
    /// selects by `top` only: a thousand threads with as little time each still matter.
    pub unless_all_are_small: bool,
}

impl RowLimits {
    /// Returns how many of the sibling rows are selected, longest duration first.
    fn count(&self, durations_ns: impl Iterator<Item = u64> + Clone, total_ns: u64) -> usize {
        const MANY: f64 = 10.0;
        let min_ns = self.min_share * total_ns as f64;
        let long = durations_ns.clone().take_while(|&ns| ns as f64 >= min_ns);
        let are_many = || durations_ns.clone().map(|ns| ns as f64).sum::<f64>() >= MANY * min_ns;
        let count = match long.count() {
            0 if self.unless_all_are_small && are_many() => durations_ns.count(),
            count => count,
        };
        count.min(self.top.unwrap_or(usize::MAX))
    }
}

impl Aggregation {
    /// Creates an aggregation by `aspects`, outermost first.
    pub fn new(aspects: impl Into<Vec<Aspect>>) -> Self {
        Self::with_libraries(aspects, Vec::new())
    }

    /// Creates an aggregation by `aspects`, outermost first. Classes and
    /// packages called as one of `libraries`, with all in them, are no callers
    /// ([`Aspect::Caller`], [`Aspect::OwnerCaller`]); the JDK never is.
    pub fn with_libraries(aspects: impl Into<Vec<Aspect>>, libraries: Vec<String>) -> Self {
        let aspects = aspects.into();
        let of_owner = |aspect: &Aspect| aspect.is_of_owner();
        let common = aspects.iter().position(of_owner).unwrap_or(aspects.len());
        let by_root = aspects.iter().any(|aspect| aspect.is_of_root());
        let (owner_mask, root_key) = keys(&aspects);
        let (direct, roots) = if by_root {
            (common, aspects.len())
        } else {
            (aspects.len(), 0)
        };
        Self {
            paths: RowCache::new(direct),
            root_paths: RowCache::new(roots),
            common,
            by_root,
            root_key,
            by_thread: aspects.contains(&Aspect::Thread),
            owner_mask,
            aspects,
            tree: NodeTree::default(),
            methods: MethodTable::new(libraries),
            waits: 0,
            free_ns: 0,
            frozen_ns: 0,
            unknown_owner_ns: [0; UnknownOwner::ALL.len()],
            safepoint_ns: 0,
            reenter_after_wait_ns: 0,
        }
    }

    /// Keeps rows apart only as long as they take no more memory than that, in bytes. What is
    /// new then is one [row](Value::Other) below each, so that sums are as without a limit.
    #[must_use]
    pub fn within(mut self, bytes: usize) -> Self {
        // Each node can have one such row below it.
        self.tree.max_nodes = bytes / (2 * NodeTree::NODE_BYTES);
        self
    }

    /// Returns how much an analysis has to find out for this aggregation.
    pub fn detail(&self) -> Detail {
        if self.root_key.by_sample {
            return Detail::CONTENTIONS.with_samples();
        }
        let by_thread = [Aspect::OwnerThread, Aspect::RootOwnerThread];
        let by = match by_thread.iter().any(|aspect| self.aspects.contains(aspect)) {
            true => BlameBy::Owner,
            false => BlameBy::Code,
        };
        Detail {
            by,
            roots: self.by_root,
            samples: false,
            is_sampled: false,
        }
    }

    /// Adds the contentions of a wait. By aspects of root owners, each part of a contention counts
    /// as a contention below the first aspect of an owner.
    pub fn add(&mut self, wait: &Wait, entities: &Entities) {
        add_saturating(
            &mut self.safepoint_ns,
            wait.safepoint_ns.min(wait.duration_ns),
        );
        if wait.after_wait {
            add_saturating(&mut self.reenter_after_wait_ns, wait.duration_ns);
        }
        // Of a lock without an owner's method, the thread stands for that.
        let mask = match entities.initialized_class(wait.lock) {
            Some(_) => u64::MAX,
            None => self.owner_mask,
        };
        let key = PathKey::of(wait, self.by_thread);
        self.waits += 1;
        let (aspects, tree) = (&self.aspects, &mut self.tree);
        let methods = &mut self.methods;
        for (index, blame) in wait.blame.iter().enumerate() {
            match blame.owner {
                Owner::Thread { .. } => {}
                Owner::Free => add_saturating(&mut self.free_ns, blame.duration_ns),
                Owner::Frozen => add_saturating(&mut self.frozen_ns, blame.duration_ns),
                Owner::Unknown(reason) => {
                    let unknown_ns = &mut self.unknown_owner_ns[reason as usize];
                    add_saturating(unknown_ns, blame.duration_ns);
                }
            }
            let owner = PackedOwner::from(blame.owner).key(mask);
            let path = self.paths.path(key.with_owner(owner), |path| {
                let mut node = 0;
                for (aspect, place) in aspects.iter().zip(path) {
                    let value = aspect.value(wait, blame.owner, entities, methods);
                    node = tree.child(node, value);
                    *place = node;
                }
            });
            let (common, of_owner) = path.split_at(self.common);
            if index == 0 {
                let contentions = wait.blame.iter().map(|blame| blame.contentions).sum();
                tree.nodes[0].add(self.waits, contentions, wait.duration_ns);
                for &node in common {
                    tree.nodes[node as usize].add(self.waits, contentions, wait.duration_ns);
                }
            }
            for &node in of_owner {
                tree.nodes[node as usize].add(self.waits, blame.contentions, blame.duration_ns);
            }
        }
        if self.by_root {
            self.add_roots(wait, (key, mask), entities);
        }
    }

    /// Adds the parts of a wait, which is known by that, to what depends on their owners.
    fn add_roots(&mut self, wait: &Wait, (key, mask): (PathKey, u64), entities: &Entities) {
        let (aspects, tree) = (&self.aspects, &mut self.tree);
        let methods = &mut self.methods;
        for part in &wait.roots {
            let owner = PackedOwner::from(part.owner).key(mask);
            let mut root_key = self.root_key;
            if entities.initialized_class(part.root.lock).is_some() {
                root_key.end_mask = u64::MAX;
            }
            let key = RootKey::of(key.with_owner(owner), part, root_key);
            let path = self.root_paths.path(key, |path| {
                let mut node = 0;
                for (aspect, place) in aspects.iter().zip(path) {
                    let value = match aspect.is_of_root() {
                        true => aspect.root_value(part, entities, methods),
                        false => aspect.value(wait, part.owner, entities, methods),
                    };
                    node = tree.child(node, value);
                    *place = node;
                }
            });
            for &node in &path[self.common..] {
                tree.nodes[node as usize].add(self.waits, part.contentions, part.duration_ns);
            }
        }
    }

    /// Adds what another aggregation has. Both are over waits of the same analysis, no wait is
    /// in both, and they are equal but for that.
    ///
    /// # Panics
    ///
    /// If they are not by the same aspects.
    pub fn merge(&mut self, other: &Self) {
        self.merge_as(other, |value| value);
    }

    /// Adds what another aggregation has, under the values that stand for its own.
    fn merge_as(&mut self, other: &Self, canonical: impl Fn(Value) -> Value) {
        assert_eq!(self.aspects, other.aspects, "aspects");
        // A parent has been made before its children, so it has a lower number.
        let mut edges: Vec<_> = other.tree.children.iter().collect();
        edges.sort_unstable_by_key(|&(_, &child)| child);
        let mut places = vec![0; other.tree.nodes.len()];
        self.tree.nodes[0].sums.merge(&other.tree.nodes[0].sums);
        for (&(parent, value), &node) in edges {
            let parent = places[parent as usize];
            let value = canonical(value);
            let place = self.tree.child(parent, value);
            places[node as usize] = place;
            self.tree.nodes[place as usize]
                .sums
                .merge(&other.tree.nodes[node as usize].sums);
        }
        self.methods.merge(&other.methods);
        add_saturating(&mut self.free_ns, other.free_ns);
        add_saturating(&mut self.frozen_ns, other.frozen_ns);
        for (sum_ns, &other_ns) in self
            .unknown_owner_ns
            .iter_mut()
            .zip(&other.unknown_owner_ns)
        {
            add_saturating(sum_ns, other_ns);
        }
        add_saturating(&mut self.safepoint_ns, other.safepoint_ns);
        add_saturating(&mut self.reenter_after_wait_ns, other.reenter_after_wait_ns);
    }

    /// Returns the sums over all contentions added.
    pub fn totals(&self) -> Totals {
        Totals {
            all: self.tree.nodes[0].sums,
            free_ns: self.free_ns,
            frozen_ns: self.frozen_ns,
            unknown_owner_ns: self.unknown_owner_ns,
            safepoint_ns: self.safepoint_ns,
            reenter_after_wait_ns: self.reenter_after_wait_ns,
        }
    }

    /// Returns the result, without the rows that `limits` leave out.
    pub fn rows(&self, limits: RowLimits, entities: &Entities) -> Rows {
        if !entities.has_canonical() {
            return self.rows_of_all(limits, entities);
        }
        let mut merged = Self::with_libraries(self.aspects.as_slice(), Vec::new());
        merged.merge_as(self, |value| match value {
            Value::Thread(thread) => Value::Thread(entities.canonical_thread(thread)),
            Value::OwnerThread(thread) => Value::OwnerThread(entities.canonical_thread(thread)),
            Value::Lock(lock) => Value::Lock(entities.canonical_lock(lock)),
            value => value,
        });
        merged.rows_of_all(limits, entities)
    }

    fn rows_of_all(&self, limits: RowLimits, entities: &Entities) -> Rows {
        let mut children: SeededMap<u32, Vec<(Value, u32)>> = SeededMap::default();
        for (&(parent, value), &child) in &self.tree.children {
            children.entry(parent).or_default().push((value, child));
        }
        let overloads = Overloads::new(entities);
        self.rows_below(0, &self.aspects, &children, limits, entities, &overloads)
    }

    fn rows_below(
        &self,
        parent: u32,
        aspects: &[Aspect],
        children: &SeededMap<u32, Vec<(Value, u32)>>,
        limits: RowLimits,
        entities: &Entities,
        overloads: &Overloads<'_>,
    ) -> Rows {
        let Some((&aspect, inner_aspects)) = aspects.split_first() else {
            return Rows::default();
        };
        let mut found = children.get(&parent).cloned().unwrap_or_default();
        found.sort_by_cached_key(|&(value, node)| {
            let duration_ns = self.duration_ns(node);
            (
                std::cmp::Reverse(duration_ns),
                self.label(value, entities, overloads),
                value.key(entities),
            )
        });
        let durations_ns = found.iter().map(|&(_, node)| self.duration_ns(node));
        let shown = limits.count(durations_ns, self.tree.nodes[0].sums.duration_ns);
        let (shown, omitted) = found.split_at(shown);
        let mut rows = Rows {
            rows: Vec::with_capacity(shown.len()),
            omitted: omitted.len(),
            omitted_ns: omitted
                .iter()
                .map(|&(_, node)| self.duration_ns(node))
                .fold(0, u64::saturating_add),
        };
        for &(value, node) in shown {
            rows.rows.push(Row {
                aspect,
                value,
                label: self.label(value, entities, overloads),
                first_frame: self.first_frame(value),
                sums: self.tree.nodes[node as usize].sums,
                children: self.rows_below(
                    node,
                    inner_aspects,
                    children,
                    limits,
                    entities,
                    overloads,
                ),
            });
        }
        distinguish(&mut rows.rows, entities, overloads);
        rows
    }

    fn label(&self, value: Value, entities: &Entities, overloads: &Overloads<'_>) -> String {
        match value {
            Value::Chain(chain) => entities.chain_label(chain, self.first_frame(value)),
            _ => value.label(entities, overloads),
        }
    }

    fn first_frame(&self, value: Value) -> usize {
        match value {
            Value::Chain(chain) => self.methods.position(chain),
            _ => 0,
        }
    }

    fn duration_ns(&self, node: u32) -> u64 {
        self.tree.nodes[node as usize].sums.duration_ns
    }
}

impl DivisibleSink for Aggregation {
    fn part(&self) -> Self {
        let mut part =
            Self::with_libraries(self.aspects.as_slice(), self.methods.libraries().to_vec());
        part.tree.max_nodes = self.tree.max_nodes;
        part
    }

    fn merge(&mut self, part: Self) {
        Self::merge(self, &part);
    }
}

impl WaitSink for Aggregation {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.add(wait, entities);
    }
}

/// The bits of a [`PackedOwner::key`] that hold the thread, and those that hold the call chain.
const THREAD_BITS: u64 = u64::MAX << 32;
const CHAIN_BITS: u64 = u32::MAX as u64;

/// What `aspects` look at of a [`PackedOwner::key`], and of root owners.
fn keys(aspects: &[Aspect]) -> (u64, RootKeyParts) {
    let (mut owner_mask, mut root) = (0, RootKeyParts::default());
    for aspect in aspects {
        match aspect {
            Aspect::OwnerThread => owner_mask |= THREAD_BITS,
            Aspect::OwnerMethod | Aspect::OwnerCaller | Aspect::OwnerChain => {
                owner_mask |= CHAIN_BITS;
            }
            Aspect::RootOwnerThread => root.end_mask |= THREAD_BITS,
            Aspect::RootOwnerMethod => root.end_mask |= CHAIN_BITS,
            Aspect::Depth => root.by_depth = true,
            Aspect::OwnerActivity => root.by_activity = true,
            Aspect::OwnerSample | Aspect::OwnerSampleChain => root.by_sample = true,
            // The lock is in the key in any case.
            Aspect::RootLockClass => {}
            Aspect::Mechanism
            | Aspect::Kind
            | Aspect::LockClass
            | Aspect::Lock
            | Aspect::LockSite
            | Aspect::LockSiteChain
            | Aspect::Thread
            | Aspect::Method
            | Aspect::Caller
            | Aspect::Chain
            | Aspect::WaitEnd => {}
        }
    }
    (owner_mask, root)
}

impl Default for NodeTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            recent_children: vec![RecentChildren::default()],
            children: SeededMap::default(),
            max_nodes: usize::MAX,
        }
    }
}

impl NodeTree {
    /// Memory that a node takes with its selector, in bytes: twice as much as what is in use,
    /// while vector and map grow.
    const NODE_BYTES: usize = 2
        * (size_of::<Node>() + size_of::<RecentChildren>() + size_of::<((u32, Value), u32)>() + 1);

    /// Returns the child of `parent` for `value`, which is added if missing.
    fn child(&mut self, parent: u32, value: Value) -> u32 {
        let recent = &mut self.recent_children[parent as usize];
        if let Some((_, child)) = recent[0].filter(|&(last, _)| last == value) {
            return child;
        }
        recent.swap(0, 1);
        if let Some((_, child)) = recent[0].filter(|&(last, _)| last == value) {
            return child;
        }
        let child = match self.children.get(&(parent, value)) {
            Some(&child) => child,
            None if self.nodes.len() < self.max_nodes => self.add_child(parent, value),
            None => match self.children.get(&(parent, Value::Other)) {
                Some(&child) => child,
                None => self.add_child(parent, Value::Other),
            },
        };
        self.recent_children[parent as usize][0] = Some((value, child));
        child
    }

    fn add_child(&mut self, parent: u32, value: Value) -> u32 {
        let child = self.nodes.len() as u32;
        self.nodes.push(Node::default());
        self.recent_children.push(RecentChildren::default());
        self.children.insert((parent, value), child);
        child
    }
}

/// Gives those of one label its long form.
fn distinguish(rows: &mut [Row], entities: &Entities, overloads: &Overloads<'_>) {
    let mut uses: SeededMap<String, u32> = SeededMap::default();
    for row in rows.iter() {
        *uses.entry(row.label.clone()).or_default() += 1;
    }
    for row in rows.iter_mut().filter(|row| uses[&row.label] > 1) {
        if let Some(label) = row.value.long_label(entities, overloads) {
            row.label = label;
        }
    }
}

impl Node {
    /// Adds a number of contentions of a wait, and their time.
    fn add(&mut self, wait: u64, contentions: u64, duration_ns: u64) {
        if self.wait != wait {
            self.wait = wait;
            self.wait_ns = 0;
            self.sums.waits += 1;
        }
        add_saturating(&mut self.wait_ns, duration_ns);
        self.sums.contentions += contentions;
        add_saturating(&mut self.sums.duration_ns, duration_ns);
        self.sums.max_wait_ns = self.sums.max_wait_ns.max(self.wait_ns);
    }
}

impl Sums {
    fn merge(&mut self, other: &Self) {
        self.contentions += other.contentions;
        self.waits += other.waits;
        add_saturating(&mut self.duration_ns, other.duration_ns);
        self.max_wait_ns = self.max_wait_ns.max(other.max_wait_ns);
    }
}

/// Adds a duration; damaged traces can hold enough of them to overflow.
fn add_saturating(sum_ns: &mut u64, duration_ns: u64) {
    *sum_ns = sum_ns.saturating_add(duration_ns);
}
