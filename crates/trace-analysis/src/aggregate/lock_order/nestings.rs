//! Nestings of locks: which was owned while which was waited for.

use std::collections::BTreeMap;

use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::wait::Wait;
use crate::model::wait_sink::{DivisibleSink, WaitSink};

/// The single waits that are distinguished, in all; of others only the time is counted.
const MAX_TIMES: usize = 1 << 20;

/// The one lock, owned, and the other one, waited for.
pub type Order = (LockIndex, LockIndex);

/// Threads that owned one lock while they waited for another one.
#[derive(Clone, Debug, Default)]
pub struct Nesting {
    /// When each began to wait, by begin, and where.
    pub(super) times: BTreeMap<(u64, ThreadIndex), ChainIndex>,
    pub(super) threads: SeededSet<ThreadIndex>,
    blocked_ns: u64,
    codes: SeededMap<NestingCode, u64>,
}

/// Where a thread stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NestingCode {
    /// Where it waited for the inner lock.
    pub waiting: ChainIndex,
    /// What is known of where it owned the outer lock, as of any owner.
    pub owning: ChainIndex,
}

impl Nesting {
    /// How often a thread began to wait for the one while it owned the other.
    pub fn times(&self) -> usize {
        self.times.len()
    }

    /// How many threads did.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How long others waited for the outer lock meanwhile, in nanoseconds.
    pub fn blocked_ns(&self) -> u64 {
        self.blocked_ns
    }

    /// Where the threads stood, and how long others were blocked by that: the most first.
    pub fn codes(&self) -> Vec<(NestingCode, u64)> {
        let mut codes: Vec<_> = self.codes.iter().map(|(&code, &ns)| (code, ns)).collect();
        codes.sort_unstable_by_key(|&(code, blocked_ns)| {
            (u64::MAX - blocked_ns, code.waiting.0, code.owning.0)
        });
        codes
    }
}

/// Collects nestings from the waits that an analysis with
/// [root owners](crate::Detail::with_roots) finds.
#[derive(Clone, Debug, Default)]
pub struct LockOrder {
    pub(super) nestings: BTreeMap<Order, Nesting>,
    times: usize,
    are_times_missing: bool,
}

impl LockOrder {
    /// The nestings, those first that blocked others longest.
    pub fn nestings(&self) -> Vec<(Order, &Nesting)> {
        let nestings = self.nestings.iter();
        let mut nestings: Vec<_> = nestings.map(|(&order, nesting)| (order, nesting)).collect();
        nestings.sort_by_key(|(order, nesting)| (u64::MAX - nesting.blocked_ns, *order));
        nestings
    }

    /// The nesting of two locks, if there is one.
    pub fn nesting(&self, order: Order) -> Option<&Nesting> {
        self.nestings.get(&order)
    }

    /// Returns whether waits were not distinguished, to bound memory: there were more than
    /// [`Nesting::times`] says.
    pub fn are_times_missing(&self) -> bool {
        self.are_times_missing
    }

    fn add(&mut self, wait: &Wait) {
        for part in &wait.roots {
            let Some((own, thread, chain)) = part.nested_in(wait.lock) else {
                continue;
            };
            let nesting = self.nestings.entry((wait.lock, own.lock)).or_default();
            nesting.blocked_ns = nesting.blocked_ns.saturating_add(part.duration_ns);
            nesting.threads.insert(thread);
            let code = NestingCode {
                waiting: own.chain,
                owning: chain,
            };
            *nesting.codes.entry(code).or_default() += part.duration_ns;
            if self.times < MAX_TIMES {
                let begin = (own.start_ns, thread);
                self.times += usize::from(nesting.times.insert(begin, own.chain).is_none());
            } else {
                self.are_times_missing |= !nesting.times.contains_key(&(own.start_ns, thread));
            }
        }
    }
}

impl WaitSink for LockOrder {
    fn wait(&mut self, wait: &Wait, _entities: &Entities) {
        self.add(wait);
    }
}

impl DivisibleSink for LockOrder {
    fn part(&self) -> Self {
        Self::default()
    }

    fn merge(&mut self, part: Self) {
        self.are_times_missing |= part.are_times_missing;
        for (order, nesting) in part.nestings {
            let merged = self.nestings.entry(order).or_default();
            merged.blocked_ns = merged.blocked_ns.saturating_add(nesting.blocked_ns);
            merged.threads.extend(nesting.threads);
            for (code, blocked_ns) in nesting.codes {
                *merged.codes.entry(code).or_default() += blocked_ns;
            }
            let before = merged.times.len();
            merged.times.extend(nesting.times);
            self.times += merged.times.len() - before;
        }
    }
}
