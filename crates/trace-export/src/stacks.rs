//! Waits, added up by call chain.

use std::cmp::Reverse;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use trace_analysis::{
    Aspect, DivisibleSink, Entities, MethodTable, Owner, ThreadIndex, Value, Wait, WaitKind,
    WaitSink,
};

/// The call chains by which waits are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    /// The owners': the code that made others wait.
    Owners,
    /// The waiters'.
    Waiters,
    /// Both: the owner's, the lock, and the waiter's from the inside to the outside.
    ChainGraph,
}

/// The key of the sums, in addition to call chains and lock classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Nothing else.
    Code,
    /// The threads that owned the locks, those that waited, and the kind of the waits.
    ThreadsAndKind,
}

/// The key of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackKey {
    /// The class of the lock.
    pub(crate) lock_class: Value,
    /// The owner's call chain, or its placeholder; `None` if only waiters are distinguished.
    pub(crate) owner: Option<Value>,
    /// The waiter's call chain; `None` if only owners are distinguished.
    pub(crate) waiter: Option<Value>,
    /// The owner, or the reason why it is unknown. `None` if threads are not distinguished.
    pub(crate) owner_thread: Option<Value>,
    /// `None` if threads are not distinguished.
    pub(crate) waiting_thread: Option<ThreadIndex>,
    /// `None` if kinds are not distinguished.
    pub(crate) kind: Option<WaitKind>,
}

impl StackKey {
    /// The key of waits that have no key of their own, for want of memory.
    const OTHER: Self = Self {
        lock_class: Value::Other,
        owner: None,
        waiter: Some(Value::Other),
        owner_thread: None,
        waiting_thread: None,
        kind: None,
    };

    /// Returns the same key for all threads.
    fn of_any_threads(self) -> Self {
        Self {
            owner_thread: None,
            waiting_thread: None,
            ..self
        }
    }

    /// Returns the thread of the call chain; for a chain graph, the one whose frames are outermost.
    pub(crate) fn thread(&self) -> Option<ThreadIndex> {
        match (self.owner, self.owner_thread) {
            (None, _) => self.waiting_thread,
            (Some(_), Some(Value::Thread(owner))) => Some(owner),
            (Some(_), _) => None,
        }
    }
}

/// Sums of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StackSum {
    /// The number of waits in which the key had a part. A wait with several owners counts for each; where only waiters'
    /// call chains are distinguished, for the owner that had most of it.
    pub(crate) waits: u64,
    /// The waiting time, in nanoseconds.
    pub(crate) duration_ns: u64,
}

impl StackSum {
    pub(crate) fn add(&mut self, other: Self) {
        self.waits = self.waits.saturating_add(other.waits);
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
    }
}

/// Sums over waits by call chain. An analysis has to find [`Detail::OWNERS`](trace_analysis::Detail).
#[derive(Debug)]
pub struct StackSums {
    stacks: Stacks,
    group_by: GroupBy,
    sums: IndexMap<StackKey, StackSum, RandomState>,
    /// The most keys, three quarters of them by thread. The rest shares one key.
    max_keys: usize,
    methods: MethodTable,
}

impl StackSums {
    /// Keys of a million call chains take about 120 MB.
    const MAX_KEYS: usize = 1_000_000;

    /// Creates sums without waits.
    pub fn new(stacks: Stacks, group_by: GroupBy) -> Self {
        Self::with_max_keys(stacks, group_by, Self::MAX_KEYS)
    }

    fn with_max_keys(stacks: Stacks, group_by: GroupBy, max_keys: usize) -> Self {
        Self {
            stacks,
            group_by,
            sums: IndexMap::default(),
            max_keys,
            methods: MethodTable::default(),
        }
    }

    /// Returns the kind of call chains.
    pub fn stacks(&self) -> Stacks {
        self.stacks
    }

    /// Returns the waiting time, in nanoseconds: all sums together.
    pub fn duration_ns(&self) -> u64 {
        let durations = self.sums.values().map(|sum| sum.duration_ns);
        durations.fold(0, u64::saturating_add)
    }

    /// Returns the part of it that has no key for want of memory, in nanoseconds.
    pub fn other_ns(&self) -> u64 {
        let other = self.sums.get(&StackKey::OTHER);
        other.map_or(0, |sum| sum.duration_ns)
    }

    /// Returns the part that has a key of a call chain but not of a thread, in nanoseconds.
    pub fn of_any_threads_ns(&self) -> u64 {
        let is_of_any = |key: &StackKey| key.kind.is_some() && key.owner_thread.is_none();
        let sums = self.sums.iter().filter(|(key, _)| is_of_any(key));
        let durations = sums.map(|(_, sum)| sum.duration_ns);
        durations.fold(0, u64::saturating_add)
    }

    /// Returns all sums, the longest first. Their order does not depend on the order of the waits.
    pub(crate) fn sorted(&self, entities: &Entities) -> Vec<(&StackKey, &StackSum)> {
        let mut sums: Vec<_> = self.sums.iter().collect();
        sums.sort_by_cached_key(|(key, sum)| {
            let name = |value: Option<Value>| value.map(|value| value.key(entities));
            (
                Reverse(sum.duration_ns),
                name(key.owner),
                name(key.waiter),
                name(Some(key.lock_class)),
                name(key.owner_thread),
                name(key.waiting_thread.map(Value::Thread)),
                name(key.kind.map(Value::Kind)),
            )
        });
        sums
    }

    fn add(&mut self, key: StackKey, sum: StackSum) {
        // Call chains are distinguished longer than threads are.
        let max_keys_of_threads = self.max_keys - self.max_keys / 4;
        let key = if self.fits(&key, max_keys_of_threads) {
            key
        } else if self.fits(&key.of_any_threads(), self.max_keys) {
            key.of_any_threads()
        } else {
            StackKey::OTHER
        };
        self.sums.entry(key).or_default().add(sum);
    }

    fn fits(&self, key: &StackKey, max_keys: usize) -> bool {
        self.sums.len() < max_keys || self.sums.contains_key(key)
    }

    /// Returns the key of the share that `owner` had of a wait.
    fn key(&mut self, wait: &Wait, owner: Owner, entities: &Entities) -> StackKey {
        let methods = &mut self.methods;
        let mut value = |aspect: Aspect| aspect.value(wait, owner, entities, methods);
        let (of_owner, of_waiter) = match self.stacks {
            Stacks::Owners => (true, false),
            Stacks::Waiters => (false, true),
            Stacks::ChainGraph => (true, true),
        };
        let by_threads = self.group_by == GroupBy::ThreadsAndKind;
        StackKey {
            lock_class: value(Aspect::LockClass),
            owner: of_owner.then(|| value(Aspect::OwnerChain)),
            waiter: of_waiter.then(|| value(Aspect::Chain)),
            owner_thread: by_threads.then(|| value(Aspect::OwnerThread)),
            waiting_thread: by_threads.then_some(wait.thread),
            kind: by_threads.then_some(wait.kind),
        }
    }
}

impl WaitSink for StackSums {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        let parts = wait.blame.iter().enumerate();
        let longest = parts.max_by_key(|(_, blame)| blame.duration_ns);
        let longest = longest.map(|(at, _)| at);
        for (at, blame) in wait.blame.iter().enumerate() {
            // A waiter counts once, however many owners the lock had meanwhile.
            let counts = self.stacks != Stacks::Waiters || Some(at) == longest;
            let sum = StackSum {
                waits: u64::from(counts),
                duration_ns: blame.duration_ns,
            };
            let key = self.key(wait, blame.owner, entities);
            self.add(key, sum);
        }
    }
}

impl DivisibleSink for StackSums {
    fn part(&self) -> Self {
        Self::with_max_keys(self.stacks, self.group_by, self.max_keys)
    }

    fn merge(&mut self, part: Self) {
        for (key, sum) in part.sums {
            self.add(key, sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use trace_analysis::{Analysis, Detail, TraceFile};

    use super::*;

    fn sums_of_golden_trace(stacks: Stacks, max_keys: usize) -> StackSums {
        let golden = "../trace-format/tests/golden/v4.lct";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(golden);
        let mut analysis = Analysis::default().with_detail(Detail::OWNERS);
        let mut sums = StackSums::with_max_keys(stacks, GroupBy::ThreadsAndKind, max_keys);
        let trace = TraceFile::open(&path).expect("a trace");
        trace
            .analyze(&mut analysis, &mut sums, |_| ControlFlow::Continue(()))
            .expect("readable");
        sums
    }

    #[test]
    fn chains_are_distinguished_longer_than_threads() {
        let key = |chain, thread| StackKey {
            lock_class: Value::NoCaller,
            owner: Some(Value::Depth(chain)),
            waiter: None,
            owner_thread: Some(Value::Depth(thread)),
            waiting_thread: None,
            kind: Some(WaitKind::Contention),
        };
        let sum = StackSum {
            waits: 1,
            duration_ns: 1,
        };
        let mut sums = StackSums::with_max_keys(Stacks::Owners, GroupBy::ThreadsAndKind, 8);
        let of_any_and_other = |sums: &StackSums| (sums.of_any_threads_ns(), sums.other_ns());
        for thread in 0..6 {
            sums.add(key(0, thread), sum);
        }
        assert_eq!(of_any_and_other(&sums), (0, 0));
        for chain in [0, 1, 0] {
            sums.add(key(chain, 6), sum);
        }
        // Keys that exist still grow.
        sums.add(key(0, 5), sum);
        assert_eq!(of_any_and_other(&sums), (3, 0));
        assert_eq!(sums.sums[&key(0, 0).of_any_threads()].waits, 2);
        assert_eq!(sums.sums[&key(0, 5)].waits, 2);
        sums.add(key(2, 0), sum);
        assert_eq!(of_any_and_other(&sums), (3, 1));
        assert_eq!(sums.duration_ns(), 11);
    }

    #[test]
    fn undistinguished_waits_are_in_the_sum() {
        for stacks in [Stacks::Owners, Stacks::Waiters, Stacks::ChainGraph] {
            let all = sums_of_golden_trace(stacks, usize::MAX);
            assert_eq!(all.other_ns(), 0);
            let keys = all.sums.len();
            assert!(keys > 1, "{stacks:?}");
            let few = sums_of_golden_trace(stacks, 1);
            assert_eq!(few.duration_ns(), all.duration_ns());
            assert!(few.other_ns() > 0);
            assert_eq!(few.sums.len(), 2, "the first one and all others");
        }
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let whole = sums_of_golden_trace(Stacks::Owners, usize::MAX);
        let mut merged = whole.part();
        assert_eq!(merged.duration_ns(), 0);
        for _ in 0..2 {
            merged.merge(sums_of_golden_trace(Stacks::Owners, usize::MAX));
        }
        assert_eq!(merged.duration_ns(), 2 * whole.duration_ns());
        assert_eq!(merged.sums.len(), whole.sums.len());
    }
}
