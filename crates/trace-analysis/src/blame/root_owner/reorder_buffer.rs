//! A reorder buffer: holds waits for locks back until the waits of their owners have come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use trace_format::ParkTimeout;

use crate::blame::root_owner::part_walk::walk;
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Contention, Mechanism, Wait, WaitEnd, WaitId, WaitKind};

/// Waits for locks, ordered by their ends.
///
/// A wait is written once when it arrives and read once when it leaves, and allocates no memory in
/// between: there are far too many waits to stay in the caches.
#[derive(Debug, Default)]
pub(crate) struct ReorderBuffer {
    slots: Vec<Held>,
    free: Vec<Slot>,
    order: Order,
    /// The parts of the waits, including some that have left.
    parts: Vec<DirectPart>,
    /// Number of parts of the waits still held.
    parts_held: usize,
    /// Total cost of the waits that arrived and are not held back, and of those before a wait that
    /// has left.
    others: u64,
    others_passed: u64,
}

/// Place of a wait while it is held back.
pub(crate) type Slot = u32;

/// A wait in compact form.
#[derive(Debug)]
struct Held {
    first_part: u32,
    parts: u32,
    /// Total cost of the waits that arrived before and were not held back.
    others: u64,
    id: WaitId,
    start_ns: u64,
    duration_ns: u64,
    whole_start_ns: u64,
    whole_duration_ns: u64,
    safepoint_ns: u64,
    barging_holds: u64,
    timeout: ParkTimeout,
    holder: Option<(ThreadIndex, ChainIndex)>,
    lock: LockIndex,
    thread: ThreadIndex,
    chain: ChainIndex,
    mechanism: Mechanism,
    after_wait: bool,
    end: WaitEnd,
}

impl Held {
    /// Packs a wait, without its parts.
    fn of(wait: &Wait) -> Self {
        Self {
            first_part: 0,
            parts: 0,
            others: 0,
            id: wait.id,
            start_ns: wait.start_ns,
            duration_ns: wait.duration_ns,
            whole_start_ns: wait.whole_start_ns,
            whole_duration_ns: wait.whole_duration_ns,
            safepoint_ns: wait.safepoint_ns,
            barging_holds: wait.barging_holds,
            timeout: wait.timeout,
            holder: wait.holder,
            lock: wait.lock,
            thread: wait.thread,
            chain: wait.chain,
            mechanism: wait.mechanism,
            after_wait: wait.after_wait,
            end: wait.end,
        }
    }

    fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }

    /// Returns where its parts are.
    fn parts(&self) -> Range<usize> {
        let first = self.first_part as usize;
        first..first + self.parts as usize
    }

    /// Fills in the wait, without its parts.
    fn fill_in(&self, wait: &mut Wait) {
        wait.id = self.id;
        wait.mechanism = self.mechanism;
        wait.kind = WaitKind::Contention;
        wait.after_wait = self.after_wait;
        wait.lock = self.lock;
        wait.thread = self.thread;
        wait.chain = self.chain;
        wait.start_ns = self.start_ns;
        wait.duration_ns = self.duration_ns;
        wait.whole_start_ns = self.whole_start_ns;
        wait.whole_duration_ns = self.whole_duration_ns;
        wait.safepoint_ns = self.safepoint_ns;
        wait.end = self.end;
        wait.timeout = self.timeout;
        wait.holder = self.holder;
        wait.barging_holds = self.barging_holds;
        wait.roots.clear();
    }

    /// Fills in the contentions of the wait from these parts.
    fn fill_in_parts(&self, parts: &[DirectPart], wait: &mut Wait) {
        let mut start_ns = self.start_ns;
        wait.contentions.clear();
        wait.contentions.extend(parts.iter().map(|part| {
            let begin_ns = std::mem::replace(&mut start_ns, part.end_ns);
            Contention {
                start_ns: begin_ns,
                duration_ns: part.end_ns - begin_ns,
                owner: part.owner.get(),
            }
        }));
        wait.add_up_contentions();
    }
}

/// A part of a wait. It begins where the previous part ends, the first one where the wait begins.
#[derive(Clone, Copy, Debug)]
struct DirectPart {
    end_ns: u64,
    owner: PackedOwner,
}

/// Number of parts of waits that have left that is always tolerated.
const FEW: usize = 1 << 12;

impl ReorderBuffer {
    /// Returns the number of waits.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns the cost of all waits, and of those that arrived meanwhile and are not held back.
    pub(crate) fn cost(&self) -> usize {
        self.parts_held + self.len() + self.cost_of_others()
    }

    /// Returns the cost of those that arrived meanwhile and are not held back.
    pub(crate) fn cost_of_others(&self) -> usize {
        (self.others - self.others_passed) as usize
    }

    /// Counts a wait with this number of parts that need not be held back.
    pub(crate) fn pass(&mut self, parts: usize) {
        self.others += cost(parts) as u64;
        if self.len() == 0 {
            self.others_passed = self.others;
        }
    }

    /// Adds a wait with its contentions, which are without gaps.
    pub(crate) fn push(&mut self, wait: &Wait) -> Slot {
        let mut held = Held::of(wait);
        held.others = self.others;
        held.first_part = self.parts.len() as u32;
        held.parts = wait.contentions.len() as u32;
        self.parts
            .extend(wait.contentions.iter().map(|part| DirectPart {
                end_ns: part.start_ns + part.duration_ns,
                owner: part.owner.into(),
            }));
        self.parts_held += wait.contentions.len();
        let end_ns = held.end_ns();
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = held;
                slot
            }
            None => {
                self.slots.push(held);
                (self.slots.len() - 1) as Slot
            }
        };
        self.order.push(end_ns, slot, &self.slots);
        slot
    }

    /// Removes the wait that ended first, and fills it in, without its roots. Returns its place.
    pub(crate) fn pop(&mut self, wait: &mut Wait) -> Option<Slot> {
        let slot = self.order.pop(&self.slots)?;
        let held = &mut self.slots[slot as usize];
        held.fill_in(wait);
        held.fill_in_parts(&self.parts[held.parts()], wait);
        self.parts_held -= held.parts as usize;
        held.parts = 0;
        self.others_passed = self.others_passed.max(held.others);
        self.free.push(slot);
        if self.parts.len() > 2 * self.parts_held + FEW {
            self.forget_parts();
        }
        Some(slot)
    }

    /// Keeps only the parts of waits that are held back.
    fn forget_parts(&mut self) {
        let mut kept = Vec::with_capacity(2 * self.parts_held + FEW);
        for held in &mut self.slots {
            let parts = held.parts();
            held.first_part = kept.len() as u32;
            kept.extend_from_slice(&self.parts[parts]);
        }
        self.parts = kept;
    }

    /// Calls `on_part` with the parts of a wait that is held back, from begin to end.
    pub(crate) fn parts_during(
        &self,
        slot: Slot,
        time: (u64, u64),
        on_part: impl FnMut(u64, u64, PackedOwner),
    ) {
        let held = &self.slots[slot as usize];
        let parts = &self.parts[held.parts()];
        let passed = parts.partition_point(|part| part.end_ns <= time.0);
        let start_ns = match passed {
            0 => held.start_ns,
            _ => parts[passed - 1].end_ns,
        };
        let parts = parts[passed..].iter().map(|part| (part.end_ns, part.owner));
        walk(start_ns, parts, time, on_part);
    }
}

/// Returns the cost of a wait with this number of parts.
pub(crate) fn cost(parts: usize) -> usize {
    parts + 1
}

/// Waits in the order of their ends.
///
/// Some waits arrive much later than others that ended after them, because threads write their
/// buffers when these are full. So the earlier half of all waits is sorted whenever the previously
/// sorted ones are used up; by then nearly all that belong there have arrived. Only a wait that
/// arrives still later has to be inserted.
#[derive(Debug, Default)]
struct Order {
    /// The next waits, the first of them at the end.
    next: Vec<Entry>,
    /// Waits that arrived later, but precede some of the sorted ones.
    late: BinaryHeap<Reverse<(EndKey, Slot)>>,
    /// All waits that end before are in `next` or `late`; all others end then or later.
    sorted_until: Option<EndKey>,
    rest: Vec<Entry>,
}

/// A wait and its end, which nearly always determines the order.
#[derive(Clone, Copy, Debug)]
struct Entry {
    end_ns: u64,
    slot: Slot,
}

/// A sort key that also distinguishes waits that end at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EndKey {
    end_ns: u64,
    start_ns: u64,
    id: WaitId,
}

impl EndKey {
    fn of(slots: &[Held], slot: Slot) -> Self {
        let held = &slots[slot as usize];
        Self {
            end_ns: held.end_ns(),
            start_ns: held.start_ns,
            id: held.id,
        }
    }
}

impl Order {
    fn push(&mut self, end_ns: u64, slot: Slot, slots: &[Held]) {
        let is_late = self.sorted_until.is_some_and(|until| {
            end_ns < until.end_ns || end_ns == until.end_ns && EndKey::of(slots, slot) < until
        });
        if is_late {
            self.late.push(Reverse((EndKey::of(slots, slot), slot)));
        } else {
            self.rest.push(Entry { end_ns, slot });
        }
    }

    fn pop(&mut self, slots: &[Held]) -> Option<Slot> {
        if self.next.is_empty() && self.late.is_empty() {
            self.sort_next(slots);
        }
        let is_late = match (self.next.last(), self.late.peek()) {
            (Some(next), Some(Reverse((late, _)))) => {
                late.end_ns <= next.end_ns && *late < EndKey::of(slots, next.slot)
            }
            (next, _) => next.is_none(),
        };
        match is_late {
            true => self.late.pop().map(|Reverse((_, slot))| slot),
            false => self.next.pop().map(|entry| entry.slot),
        }
    }

    fn sort_next(&mut self, slots: &[Held]) {
        let later_first = |one: &Entry, other: &Entry| {
            let by_end = other.end_ns.cmp(&one.end_ns);
            by_end.then_with(|| EndKey::of(slots, other.slot).cmp(&EndKey::of(slots, one.slot)))
        };
        let later = self.rest.len() / 2;
        if later > 0 {
            self.rest.select_nth_unstable_by(later, later_first);
        }
        self.next.extend(self.rest.drain(later..));
        self.next.sort_unstable_by(later_first);
        let last = self.next.first();
        self.sorted_until = last.map(|last| EndKey::of(slots, last.slot));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::model::wait::Owner;

    /// Returns a wait with this number of parts, each 1 ns longer than the one before.
    fn wait(number: u64, start_ns: u64, parts: u64) -> Wait {
        let mut wait = Wait {
            start_ns,
            ..Wait::blank()
        };
        wait.id.number = number;
        for part in 0..parts {
            let thread = ThreadIndex((number + part) as u32 % 3);
            let chain = ChainIndex::NOT_RECORDED;
            wait.contentions.push(Contention {
                start_ns: start_ns + wait.duration_ns,
                duration_ns: part,
                owner: Owner::Thread { thread, chain },
            });
            wait.duration_ns += part;
        }
        wait.add_up_contentions();
        wait
    }

    proptest! {
        /// In any order of arrival, the wait that ended first always leaves first, unchanged.
        #[test]
        fn waits_go_in_the_order_of_their_ends(
            steps in proptest::collection::vec((0..50u64, 1..40u64, 0..3u32), 1..400),
        ) {
            let (mut held, mut expected) = (ReorderBuffer::default(), BTreeMap::new());
            let mut gone = Wait::blank();
            for (number, &(start_ns, parts, pops)) in (0..).zip(&steps) {
                let wait = wait(number, start_ns, parts);
                held.push(&wait);
                expected.insert((start_ns + wait.duration_ns, start_ns, wait.id), wait);
                let is_last = number + 1 == steps.len() as u64;
                let pops = if is_last { u32::MAX } else { pops };
                for _ in 0..pops {
                    let Some((_, wait)) = expected.pop_first() else {
                        break;
                    };
                    prop_assert!(held.pop(&mut gone).is_some());
                    prop_assert_eq!(&gone, &wait);
                }
                let parts = expected.values().map(|wait| cost(wait.contentions.len()));
                prop_assert_eq!(held.cost(), parts.sum::<usize>());
                prop_assert!(held.parts.len() <= 2 * held.parts_held + FEW + 40);
            }
            prop_assert_eq!(held.pop(&mut gone), None);
        }
    }
}
