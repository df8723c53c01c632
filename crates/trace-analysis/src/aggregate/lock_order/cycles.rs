//! Orders of locks that contradict each other, and whether threads can deadlock by them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::aggregate::lock_order::nestings::{LockOrder, Nesting, Order};
use crate::collections::hash::SeededSet;
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};

/// More cycles are not looked for.
const MAX_CYCLES: usize = 100;

/// More locks are not tried as the one that guards a cycle.
const MAX_GUARDS: usize = 16;

/// Locks that were nested in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderCycle {
    /// Each lock is waited for by owners of the one before it, the first one by owners of the
    /// last one.
    pub locks: Vec<LockIndex>,
    /// The shortest time in which different threads began to wait in each order, in nanoseconds:
    /// how near they were to a deadlock. Of more than two locks, a lower bound. `u64::MAX` if they
    /// are not different.
    pub closest_ns: u64,
    /// Whether threads can deadlock.
    pub risk: Risk,
}

/// Whether threads can deadlock in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Different threads nest in these orders, and never were seen to own one other lock meanwhile.
    Inversion,
    /// At some of these times all owned one other lock, the guard; at others it was not seen. A lock
    /// is seen while a thread waits for it.
    Possible,
    /// All of this code was seen to own the guard, and no other lock in its place.
    Guarded,
    /// There are fewer threads than orders.
    TooFewThreads,
}

impl Risk {
    /// Returns whether a deadlock cannot be excluded.
    pub fn may_deadlock(self) -> bool {
        matches!(self, Self::Inversion | Self::Possible)
    }
}

impl OrderCycle {
    /// The orders that contradict each other.
    pub fn orders(&self) -> impl Iterator<Item = Order> {
        orders(&self.locks)
    }
}

fn orders(locks: &[LockIndex]) -> impl Iterator<Item = Order> {
    let next = locks.iter().skip(1).chain(locks.first());
    locks.iter().copied().zip(next.copied())
}

impl LockOrder {
    /// Returns the shortest cycle through each order that is part of one, the riskiest first and of
    /// these the nearest to a deadlock; at most a hundred.
    pub fn cycles(&self) -> Vec<OrderCycle> {
        let mut inner = BTreeMap::<LockIndex, Vec<LockIndex>>::new();
        let mut outer = BTreeMap::<LockIndex, Vec<LockIndex>>::new();
        for &(owned, waited_for) in self.nestings.keys() {
            inner.entry(owned).or_default().push(waited_for);
            outer.entry(waited_for).or_default().push(owned);
        }
        let mut seen = BTreeSet::new();
        for &(owned, waited_for) in self.nestings.keys() {
            if seen.len() >= MAX_CYCLES {
                break;
            }
            if let Some(mut locks) = shortest_path(&inner, waited_for, owned) {
                let least = locks.iter().min().copied();
                let first = locks.iter().position(|&it| Some(it) == least);
                locks.rotate_left(first.unwrap_or(0));
                seen.insert(locks);
            }
        }
        let cycles = seen.into_iter().map(|locks| OrderCycle {
            closest_ns: self.closest_ns(&locks),
            risk: self.risk(&locks, &outer),
            locks,
        });
        let mut cycles: Vec<_> = cycles.collect();
        cycles.sort_by_key(|cycle| (cycle.risk, cycle.closest_ns));
        cycles
    }

    fn nestings_of(&self, locks: &[LockIndex]) -> Vec<&Nesting> {
        let nestings = orders(locks).filter_map(|order| self.nestings.get(&order));
        nestings.collect()
    }

    /// The shortest time in which a wait of each order began, each of another thread than the last.
    fn closest_ns(&self, locks: &[LockIndex]) -> u64 {
        let mut begins = Vec::new();
        for (at, nesting) in self.nestings_of(locks).into_iter().enumerate() {
            begins.extend(nesting.times.keys().map(|&begin| (begin, at)));
        }
        begins.sort_unstable();
        let mut latest = vec![LatestBegins::default(); locks.len()];
        let mut closest_ns = u64::MAX;
        for ((begin_ns, thread), at) in begins {
            latest[at].add(begin_ns, thread);
            let others = latest.iter().enumerate().filter(|&(other, _)| other != at);
            let others: Option<Vec<_>> = others.map(|(_, it)| it.of_others(thread)).collect();
            // `None`: one of the orders was not seen yet.
            if let Some(earliest_ns) = others.and_then(|others| others.into_iter().min()) {
                closest_ns = closest_ns.min(begin_ns - earliest_ns);
            }
        }
        closest_ns
    }

    fn risk(&self, locks: &[LockIndex], outer: &BTreeMap<LockIndex, Vec<LockIndex>>) -> Risk {
        let nestings = self.nestings_of(locks);
        let threads: Vec<_> = nestings.iter().map(|nesting| &nesting.threads).collect();
        if !have_a_thread_each(&threads) {
            return Risk::TooFewThreads;
        }
        let owned_with = |waited_for: LockIndex| outer.get(&waited_for).into_iter().flatten();
        let mut inner = orders(locks).map(|(_, waited_for)| waited_for);
        let first = inner.next().map(owned_with).into_iter().flatten();
        let rest: Vec<_> = inner.collect();
        let guards = first.filter(|guard| {
            let is_owned =
                |&waited_for: &LockIndex| self.nestings.contains_key(&(**guard, waited_for));
            !locks.contains(guard) && rest.iter().all(is_owned)
        });
        let risks = guards.take(MAX_GUARDS).map(|&guard| {
            let risks = orders(locks).map(|order| self.risk_with(guard, order, locks, outer));
            risks.min().unwrap_or(Risk::Inversion)
        });
        risks.max().unwrap_or(Risk::Inversion)
    }

    /// Returns the risk by one order of a cycle if `guard` is what makes it harmless.
    fn risk_with(
        &self,
        guard: LockIndex,
        order: Order,
        cycle: &[LockIndex],
        outer: &BTreeMap<LockIndex, Vec<LockIndex>>,
    ) -> Risk {
        let (Some(nesting), Some(guarded)) = (
            self.nestings.get(&order),
            self.nestings.get(&(guard, order.1)),
        ) else {
            return Risk::Inversion;
        };
        let others = outer.get(&order.1).into_iter().flatten();
        let others = others.filter(|lock| **lock != guard && !cycle.contains(lock));
        let others: Vec<_> = others
            .filter_map(|&lock| self.nestings.get(&(lock, order.1)))
            .collect();
        let mut is_replaced = false;
        let mut with_guard = SeededSet::<ChainIndex>::default();
        let mut without = SeededSet::<ChainIndex>::default();
        for (begin, &chain) in &nesting.times {
            if guarded.times.contains_key(begin) {
                with_guard.insert(chain);
            } else {
                without.insert(chain);
                is_replaced |= others.iter().any(|other| other.times.contains_key(begin));
            }
        }
        if with_guard.is_empty() {
            Risk::Inversion
        } else if is_replaced || !without.is_subset(&with_guard) {
            Risk::Possible
        } else {
            Risk::Guarded
        }
    }
}

/// When two different threads began last: one of them is another thread than any given one.
#[derive(Clone, Copy, Debug, Default)]
struct LatestBegins {
    last: Option<(u64, ThreadIndex)>,
    of_another: Option<(u64, ThreadIndex)>,
}

impl LatestBegins {
    fn add(&mut self, begin_ns: u64, thread: ThreadIndex) {
        if self.last.is_some_and(|(_, last)| last != thread) {
            self.of_another = self.last;
        }
        self.last = Some((begin_ns, thread));
    }

    /// The last begin of another thread.
    fn of_others(&self, thread: ThreadIndex) -> Option<u64> {
        let both = [self.last, self.of_another].into_iter().flatten();
        let mut others = both.filter(|&(_, other)| other != thread);
        others.next().map(|(begin_ns, _)| begin_ns)
    }
}

/// Returns whether each set can give a thread of its own (a bipartite matching).
fn have_a_thread_each(sets: &[&SeededSet<ThreadIndex>]) -> bool {
    /// Gives the set at `at` a thread, and others another one if need be.
    fn assign(
        at: usize,
        sets: &[&SeededSet<ThreadIndex>],
        set_of: &mut BTreeMap<ThreadIndex, usize>,
        tried: &mut BTreeSet<ThreadIndex>,
    ) -> bool {
        // As many threads as sets are enough to choose from.
        for &thread in sets[at].iter().take(sets.len()) {
            if !tried.insert(thread) {
                continue;
            }
            let holder = set_of.get(&thread).copied();
            if holder.is_none_or(|other| assign(other, sets, set_of, tried)) {
                set_of.insert(thread, at);
                return true;
            }
        }
        false
    }
    let mut set_of = BTreeMap::new();
    (0..sets.len()).all(|at| assign(at, sets, &mut set_of, &mut BTreeSet::new()))
}

/// Returns the locks from one to another one, both included; `None` if no order leads there.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that owns the first lock begins to wait for the second one at a time: all by the
    /// thread with this number, in code with the number of the thread.
    type Begin = (u32, u32, u64, u32);

    fn order(begins: &[Begin]) -> LockOrder {
        let mut order = LockOrder::default();
        for &(outer, inner, begin_ns, thread) in begins {
            let nesting = order
                .nestings
                .entry((LockIndex(outer), LockIndex(inner)))
                .or_default();
            nesting.threads.insert(ThreadIndex(thread));
            let begin = (begin_ns, ThreadIndex(thread));
            nesting.times.insert(begin, ChainIndex(thread));
        }
        order
    }

    fn cycles(begins: &[Begin]) -> Vec<(Vec<u32>, u64)> {
        let cycles = order(begins).cycles().into_iter();
        let numbers = |locks: Vec<LockIndex>| locks.into_iter().map(|lock| lock.0).collect();
        cycles
            .map(|cycle| (numbers(cycle.locks), cycle.closest_ns))
            .collect()
    }

    fn risks(begins: &[Begin]) -> Vec<Risk> {
        let cycles = order(begins).cycles().into_iter();
        cycles.map(|cycle| cycle.risk).collect()
    }

    #[test]
    fn one_order_is_no_cycle() {
        assert_eq!(cycles(&[(1, 2, 1, 1), (2, 3, 2, 2), (1, 3, 3, 3)]), []);
    }

    #[test]
    fn both_orders_are_one_cycle_with_its_closest_times() {
        let both: &[Begin] = &[
            (2, 1, 50, 2),
            (2, 1, 1_000, 2),
            (1, 2, 100, 1),
            (1, 2, 400, 1),
            (1, 2, 1_030, 1),
        ];
        assert_eq!(cycles(both), [(vec![1, 2], 30)]);
    }

    #[test]
    fn longer_cycles_are_found_the_shortest_through_each_order() {
        let three: &[Begin] = &[(3, 1, 70, 3), (1, 2, 10, 1), (2, 3, 90, 2), (2, 3, 20, 2)];
        assert_eq!(cycles(three), [(vec![1, 2, 3], 60)]);
        let with_a_shortcut = [three, &[(2, 1, 11, 2)]].concat();
        assert_eq!(
            cycles(&with_a_shortcut),
            [(vec![1, 2], 1), (vec![1, 2, 3], 60)]
        );
    }

    #[test]
    fn one_thread_cannot_deadlock_with_itself() {
        let by_one = &[(1, 2, 10, 1), (2, 1, 20, 1)];
        assert_eq!(risks(by_one), [Risk::TooFewThreads]);
        assert_eq!(cycles(by_one), [(vec![1, 2], u64::MAX)]);
        assert_eq!(risks(&[(1, 2, 10, 1), (2, 1, 20, 2)]), [Risk::Inversion]);
        // Two threads for three orders, whichever takes which.
        let three = &[(1, 2, 1, 1), (2, 3, 2, 1), (2, 3, 3, 2), (3, 1, 4, 2)];
        assert_eq!(risks(three), [Risk::TooFewThreads]);
        let by_three = [&three[..], &[(3, 1, 5, 3)]].concat();
        assert_eq!(risks(&by_three), [Risk::Inversion]);
    }

    #[test]
    fn the_closest_times_are_of_different_threads() {
        let begins = &[(1, 2, 10, 1), (2, 1, 11, 1), (2, 1, 40, 2), (1, 2, 45, 2)];
        assert_eq!(cycles(begins), [(vec![1, 2], 30)]);
    }

    /// Lock 9 is owned around both orders.
    #[test]
    fn a_guard_excludes_a_deadlock() {
        let guarded = &[(1, 2, 10, 1), (9, 2, 10, 1), (2, 1, 20, 2), (9, 1, 20, 2)];
        assert_eq!(risks(guarded), [Risk::Guarded]);
        // The same code without the guard: nobody waited for it then.
        let unseen = [&guarded[..], &[(1, 2, 30, 1)]].concat();
        assert_eq!(risks(&unseen), [Risk::Guarded]);
    }

    #[test]
    fn a_guard_that_is_not_always_seen_excludes_nothing() {
        let guarded = &[(1, 2, 10, 1), (9, 2, 10, 1), (2, 1, 20, 2), (9, 1, 20, 2)];
        let in_other_code = [&guarded[..], &[(1, 2, 30, 3)]].concat();
        assert_eq!(risks(&in_other_code), [Risk::Possible]);
        let under_another_lock = [&guarded[..], &[(1, 2, 30, 1), (8, 2, 30, 1)]].concat();
        assert_eq!(risks(&under_another_lock), [Risk::Possible]);
        let in_one_order = &[(1, 2, 10, 1), (9, 2, 10, 1), (2, 1, 20, 2)];
        assert_eq!(risks(in_one_order), [Risk::Inversion]);
    }
}
