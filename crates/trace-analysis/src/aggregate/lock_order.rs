//! In which order locks were nested, and where one order contradicts others: what may deadlock.
//!
//! A thread that owns one lock and waits for another one has nested them. The trace tells that
//! of locks that were contended at the time: somebody waited for the first, and their owner for
//! the second.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::wait::Wait;
use crate::model::wait_sink::{DivisibleSink, WaitSink};

/// So many single waits are told apart, in all: what is beyond has its time counted only.
const MAX_TIMES: usize = 1 << 20;

/// So many cycles are told of.
const MAX_CYCLES: usize = 100;

/// The one lock, owned, and the other one, waited for.
pub type Order = (LockIndex, LockIndex);

/// Threads that owned one lock while they waited for another one.
#[derive(Clone, Debug, Default)]
pub struct Nesting {
    /// When each began to wait, by begin.
    times: BTreeSet<(u64, ThreadIndex)>,
    threads: SeededSet<ThreadIndex>,
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

/// Locks that were nested in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderCycle {
    /// Each lock is waited for by those who own the one before it, the first one by those who
    /// own the last one.
    pub locks: Vec<LockIndex>,
    /// The shortest time in which a wait of each order began: how near it was to a deadlock.
    pub closest_ns: u64,
}

impl OrderCycle {
    /// The orders that contradict each other.
    pub fn orders(&self) -> impl Iterator<Item = Order> {
        let next = self.locks.iter().skip(1).chain(self.locks.first());
        self.locks.iter().copied().zip(next.copied())
    }
}

/// Collects nestings from the waits that an analysis with
/// [`Detail::Roots`](crate::Detail::Roots) finds.
#[derive(Clone, Debug, Default)]
pub struct LockOrder {
    nestings: BTreeMap<Order, Nesting>,
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

    /// Some waits were not told apart, for want of memory: there were more than
    /// [`Nesting::times`] says.
    pub fn are_times_missing(&self) -> bool {
        self.are_times_missing
    }

    /// The shortest cycle through each order that is part of one, the nearest to a deadlock
    /// first; at most a hundred.
    pub fn cycles(&self) -> Vec<OrderCycle> {
        let mut inner = BTreeMap::<LockIndex, Vec<LockIndex>>::new();
        for &(outer, lock) in self.nestings.keys() {
            inner.entry(outer).or_default().push(lock);
        }
        let mut seen = BTreeSet::new();
        for &(outer, lock) in self.nestings.keys() {
            if seen.len() >= MAX_CYCLES {
                break;
            }
            if let Some(mut locks) = shortest_path(&inner, lock, outer) {
                let least = locks.iter().min().copied();
                let first = locks.iter().position(|&it| Some(it) == least);
                locks.rotate_left(first.unwrap_or(0));
                seen.insert(locks);
            }
        }
        let cycles = seen.into_iter().map(|locks| {
            let mut cycle = OrderCycle {
                locks,
                closest_ns: 0,
            };
            cycle.closest_ns = self.closest_ns(&cycle);
            cycle
        });
        let mut cycles: Vec<_> = cycles.collect();
        cycles.sort_by_key(|cycle| cycle.closest_ns);
        cycles
    }

    /// The shortest time in which a wait of each order begins.
    fn closest_ns(&self, cycle: &OrderCycle) -> u64 {
        let mut begins = Vec::new();
        for (at, order) in cycle.orders().enumerate() {
            let times = self.nestings.get(&order).map(|nesting| &nesting.times);
            let times = times.into_iter().flatten();
            begins.extend(times.map(|&(begin_ns, _)| (begin_ns, at)));
        }
        begins.sort_unstable();
        let mut last = vec![None; cycle.locks.len()];
        let mut closest_ns = u64::MAX;
        for (begin_ns, at) in begins {
            last[at] = Some(begin_ns);
            let earliest = last.iter().copied().min().flatten();
            // `None` comes first: one of the orders was not seen yet.
            if let Some(earliest_ns) = earliest {
                closest_ns = closest_ns.min(begin_ns - earliest_ns);
            }
        }
        closest_ns
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
                self.times += usize::from(nesting.times.insert((own.start_ns, thread)));
            } else {
                self.are_times_missing |= !nesting.times.contains(&(own.start_ns, thread));
            }
        }
    }
}

/// The locks from one to another one, both included; `None` if no order leads there.
fn shortest_path(
    inner: &BTreeMap<LockIndex, Vec<LockIndex>>,
    from: LockIndex,
    to: LockIndex,
) -> Option<Vec<LockIndex>> {
    let mut outer = BTreeMap::new();
    let mut next = VecDeque::from([from]);
    while let Some(lock) = next.pop_front() {
        if lock == to {
            let mut path = vec![to];
            let mut at = to;
            while at != from {
                at = *outer.get(&at)?;
                path.push(at);
            }
            path.reverse();
            return Some(path);
        }
        for &behind in inner.get(&lock).into_iter().flatten() {
            if behind != from && !outer.contains_key(&behind) {
                outer.insert(behind, lock);
                next.push_back(behind);
            }
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    fn order(nestings: &[(u32, u32, &[u64])]) -> LockOrder {
        let mut order = LockOrder::default();
        for &(outer, inner, begins) in nestings {
            let nesting = order
                .nestings
                .entry((LockIndex(outer), LockIndex(inner)))
                .or_default();
            let times = begins
                .iter()
                .map(|&begin_ns| (begin_ns, ThreadIndex(outer)));
            nesting.times.extend(times);
        }
        order
    }

    fn cycles(nestings: &[(u32, u32, &[u64])]) -> Vec<(Vec<u32>, u64)> {
        let cycles = order(nestings).cycles().into_iter();
        let numbers = |locks: Vec<LockIndex>| locks.into_iter().map(|lock| lock.0).collect();
        cycles
            .map(|cycle| (numbers(cycle.locks), cycle.closest_ns))
            .collect()
    }

    #[test]
    fn one_order_is_no_cycle() {
        assert_eq!(cycles(&[(1, 2, &[1]), (2, 3, &[2]), (1, 3, &[3])]), []);
    }

    #[test]
    fn both_orders_are_one_cycle_with_its_closest_times() {
        let both: &[(u32, u32, &[u64])] = &[(2, 1, &[50, 1_000]), (1, 2, &[100, 400, 1_030])];
        assert_eq!(cycles(both), [(vec![1, 2], 30)]);
    }

    #[test]
    fn longer_cycles_are_found_the_shortest_through_each_order() {
        let three: &[(u32, u32, &[u64])] = &[(3, 1, &[70]), (1, 2, &[10]), (2, 3, &[90, 20])];
        assert_eq!(cycles(three), [(vec![1, 2, 3], 60)]);
        let with_a_shortcut = [three, &[(2, 1, &[11])]].concat();
        assert_eq!(
            cycles(&with_a_shortcut),
            [(vec![1, 2], 1), (vec![1, 2, 3], 60)]
        );
    }
}
