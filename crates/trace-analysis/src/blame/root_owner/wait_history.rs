//! The history of each thread's waits, to resolve the waits of threads that it delayed.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::blame::root_owner::part_walk::walk;
use crate::blame::root_owner::reorder_buffer::{Slot, cost};
use crate::blame::timeline::hold_chunks::HoldRun;
use crate::collections::galloping::{count_between, count_near, insert_from_back};
use crate::model::entity::{LockIndex, ThreadIndex};
use crate::model::packed_owner::PackedOwner;
use crate::model::pending_chains::PendingChains;
use crate::model::wait::{HeldInWait, OwnWait, Root, RootEnd, RootPart, Wait, WaitKind};

/// The waits of all threads: those held back, and the latest of those resolved.
///
/// A thread's waits are stored together, because lookups jump from thread to thread.
#[derive(Debug, Default)]
pub(crate) struct WaitHistory {
    /// By [`ThreadIndex`].
    threads: Vec<ThreadWaits>,
    /// The resolved waits, in the order in which they are forgotten.
    order: VecDeque<Forgettable>,
    /// Total cost of the resolved waits.
    cost: usize,
    /// The roots of the parts of waits for locks; those of other waits are not needed.
    roots: VecDeque<KnownRoot>,
    /// Number of roots forgotten before.
    roots_forgotten: u64,
    /// Waits that share holds, and the number forgotten before.
    shared: VecDeque<KnownShared>,
    shared_forgotten: u64,
}

/// The waits of a thread. They do not overlap, unless a trace is damaged.
#[derive(Debug, Default)]
struct ThreadWaits {
    /// Ordered by their ends.
    waits: VecDeque<KnownWait>,
    /// An index near the last one looked up.
    near: Cell<usize>,
    /// Waits before this time are forgotten.
    forgotten_until_ns: u64,
}

/// A wait of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownWait {
    pub(crate) own: OwnWait,
    pub(crate) end_ns: u64,
    pub(crate) parts: KnownParts,
}

/// The place of the parts of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KnownParts {
    /// The direct owners are known, but not yet the roots.
    Held(Slot),
    Resolved(KnownRoots),
    /// Each owner is the root owner, and some parts are shared; the number of such waits before.
    Shared(u64),
}

/// A wait that shares holds with others, and its own parts.
#[derive(Debug)]
struct KnownShared {
    parts: KnownRoots,
    run: HoldRun,
}

/// The [`KnownRoot`]s of a wait: their number, and the number of those added before since the
/// beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownRoots {
    count: u32,
    first: u64,
}

/// The parts of a resolved wait to forget.
#[derive(Clone, Copy, Debug)]
struct Forgettable {
    end_ns: u64,
    thread: ThreadIndex,
    cost: u32,
    roots: u32,
    is_shared: bool,
}

/// The root of a part of a wait. The part begins where the previous one ends, the first one where
/// the wait begins.
#[derive(Clone, Copy, Debug)]
struct KnownRoot {
    end_ns: u64,
    /// [`PackedOwner::NONE`] for a cycle.
    end: PackedOwner,
    lock: LockIndex,
    depth: u32,
    held: Option<HeldInWait>,
}

impl KnownWait {
    fn of(wait: &Wait, parts: KnownParts) -> Self {
        Self {
            own: OwnWait {
                kind: wait.kind,
                lock: wait.lock,
                chain: wait.chain,
                start_ns: wait.start_ns,
            },
            end_ns: wait.start_ns + wait.duration_ns,
            parts,
        }
    }

    /// Returns the sort key of waits.
    fn key(&self) -> (u64, u64) {
        (self.end_ns, self.own.start_ns)
    }
}

impl KnownRoot {
    fn of(part: &RootPart) -> Self {
        let Root {
            end,
            lock,
            depth,
            held,
        } = part.root;
        let end = match end {
            RootEnd::Owner(owner) => owner.into(),
            RootEnd::Cycle => PackedOwner::NONE,
        };
        Self {
            end_ns: part.start_ns + part.duration_ns,
            end,
            lock,
            depth,
            held,
        }
    }

    fn root(&self) -> Root {
        let end = match self.end {
            PackedOwner::NONE => RootEnd::Cycle,
            owner => RootEnd::Owner(owner.get()),
        };
        Root {
            end,
            lock: self.lock,
            depth: self.depth,
            held: self.held,
        }
    }
}

impl WaitHistory {
    /// Adds a wait for a lock that is held back at `slot`.
    pub(crate) fn hold(&mut self, wait: &Wait, slot: Slot) {
        let held = KnownWait::of(wait, KnownParts::Held(slot));
        self.of_thread(wait.thread).add(held);
    }

    /// Marks a wait that was held back at `slot` as resolved.
    pub(crate) fn resolve(&mut self, wait: &Wait, slot: Slot) {
        let resolved = self.resolved(wait);
        self.of_thread(wait.thread).resolve(slot, resolved);
    }

    /// Adds a wait whose owners are all root owners.
    pub(crate) fn add_direct(&mut self, wait: &Wait, run: Option<HoldRun>) {
        let parts = self.add_roots(wait.contentions.iter().map(|part| KnownRoot {
            end_ns: part.start_ns + part.duration_ns,
            end: part.owner.into(),
            lock: wait.lock,
            depth: 1,
            held: None,
        }));
        let cost = cost(wait.contention_count() as usize);
        self.note(wait, parts, cost, run.is_some());
        let known = match run {
            None => KnownParts::Resolved(parts),
            Some(run) => {
                self.shared.push_back(KnownShared { parts, run });
                KnownParts::Shared(self.shared_forgotten + self.shared.len() as u64 - 1)
            }
        };
        let known = KnownWait::of(wait, known);
        self.of_thread(wait.thread).add(known);
    }

    /// Adds a wait of another kind.
    pub(crate) fn add(&mut self, wait: &Wait) {
        let resolved = self.resolved(wait);
        self.of_thread(wait.thread).add(resolved);
    }

    fn of_thread(&mut self, thread: ThreadIndex) -> &mut ThreadWaits {
        let index = thread.0 as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, ThreadWaits::default);
        }
        &mut self.threads[index]
    }

    /// Adds the roots of a wait, and schedules it to be forgotten.
    fn resolved(&mut self, wait: &Wait) -> KnownWait {
        let wanted: &[RootPart] = match wait.kind {
            WaitKind::Contention => &wait.roots,
            _ => &[],
        };
        let roots = self.add_roots(wanted.iter().map(KnownRoot::of));
        self.note(wait, roots, cost(wait.roots.len()), false);
        KnownWait::of(wait, KnownParts::Resolved(roots))
    }

    fn add_roots(&mut self, roots: impl ExactSizeIterator<Item = KnownRoot>) -> KnownRoots {
        let added = KnownRoots {
            count: roots.len() as u32,
            first: self.roots_forgotten + self.roots.len() as u64,
        };
        self.roots.extend(roots);
        added
    }

    /// Schedules a wait with these roots to be forgotten.
    fn note(&mut self, wait: &Wait, roots: KnownRoots, cost: usize, is_shared: bool) {
        self.cost += cost;
        self.order.push_back(Forgettable {
            end_ns: wait.start_ns + wait.duration_ns,
            thread: wait.thread,
            cost: cost as u32,
            roots: roots.count,
            is_shared,
        });
    }

    /// Forgets the waits resolved first, until the rest costs no more than `max_cost`.
    pub(crate) fn forget(&mut self, max_cost: usize) {
        while self.cost > max_cost
            && let Some(first) = self.order.pop_front()
        {
            self.cost -= first.cost as usize;
            self.roots.drain(..first.roots as usize);
            self.roots_forgotten += u64::from(first.roots);
            if first.is_shared {
                self.shared.pop_front();
                self.shared_forgotten += 1;
            }
            self.threads[first.thread.0 as usize].forget(first.end_ns);
        }
    }

    /// Returns the time before which the thread's waits are forgotten.
    pub(crate) fn forgotten_until_ns(&self, thread: ThreadIndex) -> u64 {
        let of_thread = self.threads.get(thread.0 as usize);
        of_thread.map_or(0, |of_thread| of_thread.forgotten_until_ns)
    }

    /// Returns the waits of a thread that ended after `start_ns` and began before `end_ns`, ordered
    /// by their ends.
    #[inline]
    pub(crate) fn during(
        &self,
        thread: ThreadIndex,
        (start_ns, end_ns): (u64, u64),
    ) -> impl Iterator<Item = &KnownWait> {
        let of_thread = self.threads.get(thread.0 as usize);
        let waits = of_thread.map(|of_thread| of_thread.ended_after(start_ns));
        let waits = waits.into_iter().flatten();
        waits.take_while(move |wait| wait.own.start_ns < end_ns)
    }

    /// Calls `on_part` with the roots of the parts of a wait for a lock, from begin to end.
    pub(crate) fn roots_during(
        &self,
        (own, roots): (OwnWait, KnownRoots),
        (start_ns, end_ns): (u64, u64),
        on_part: impl FnMut(u64, u64, Root),
    ) {
        let first = (roots.first - self.roots_forgotten) as usize;
        let end = first + roots.count as usize;
        let is_before = |part: &KnownRoot| part.end_ns <= start_ns;
        let place = count_between(&self.roots, first, end, is_before);
        let at_ns = match place == first {
            true => own.start_ns,
            false => self.roots[place - 1].end_ns,
        };
        let parts = self.roots.range(place..end);
        let parts = parts.map(|part| (part.end_ns, part.root()));
        walk(at_ns, parts, (start_ns, end_ns), on_part);
    }

    /// Does the same for a wait that shares holds with others.
    pub(crate) fn shared_during(
        &self,
        (own, number): (OwnWait, u64),
        time: (u64, u64),
        chains: &PendingChains,
        on_part: impl FnMut(u64, u64, Root),
    ) {
        let KnownShared { parts, run } = &self.shared[(number - self.shared_forgotten) as usize];
        let first = (parts.first - self.roots_forgotten) as usize;
        let middle = first + run.before;
        let own_parts = |range| {
            self.roots
                .range(range)
                .map(|part| (part.end_ns, part.root()))
        };
        let holds = run.holds_after(time.0).map(|hold| {
            let owner = RootEnd::Owner(chains.named(hold.owner.get()));
            (hold.end_ns, Root::at(owner, own.lock, 1))
        });
        let before = own_parts(first..middle);
        let after = own_parts(middle..first + parts.count as usize);
        walk(
            own.start_ns,
            before.chain(holds).chain(after),
            time,
            on_part,
        );
    }
}

impl ThreadWaits {
    fn add(&mut self, wait: KnownWait) {
        insert_from_back(&mut self.waits, wait, |known| known.key() <= wait.key());
    }

    /// Replaces the wait that was held back at `slot`, unless it was resolved so late that it is
    /// already forgotten.
    fn resolve(&mut self, slot: Slot, resolved: KnownWait) {
        let near = self.near.get();
        let index = count_near(&self.waits, near, |known| known.key() < resolved.key());
        let waits = self.waits.range_mut(index..);
        let mut same = waits.take_while(|known| known.key() == resolved.key());
        let is_held =
            |known: &&mut KnownWait| matches!(known.parts, KnownParts::Held(at) if at == slot);
        if let Some(held) = same.find(is_held) {
            *held = resolved;
        }
    }

    /// Forgets the waits that ended at `end_ns` or before.
    fn forget(&mut self, end_ns: u64) {
        self.forgotten_until_ns = self.forgotten_until_ns.max(end_ns);
        let until_ns = self.forgotten_until_ns;
        let near = self.near.get_mut();
        while let Some(first) = self.waits.front()
            && first.end_ns <= until_ns
        {
            self.waits.pop_front();
            *near = near.saturating_sub(1);
        }
        give_back(&mut self.waits);
    }

    /// Returns the waits that ended after `time_ns`.
    #[inline]
    fn ended_after(&self, time_ns: u64) -> impl Iterator<Item = &KnownWait> {
        let near = self.near.get();
        let first = count_near(&self.waits, near, |known| known.end_ns <= time_ns);
        self.near.set(first);
        self.waits.range(first..)
    }
}

/// Releases unused memory of a queue: a program may have many threads that have ended.
fn give_back<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() {
        *queue = VecDeque::new();
    } else if queue.capacity() > queue.len().max(SMALL) * SPARE {
        queue.shrink_to(queue.len() * 2);
    }
}

/// Capacity that a waiting thread's queue always keeps.
const SMALL: usize = 4;

/// Ratio of capacity to length above which memory is released.
const SPARE: usize = 8;
