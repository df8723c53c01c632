//! The waits of owners, for those who waited for them.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::contention::{OwnWait, Root, RootEnd, RootPart, Wait, WaitKind};
use crate::entity::{LockIndex, ThreadIndex};
use crate::held_waits::{Slot, cost};
use crate::packed_owner::PackedOwner;
use crate::search::{count_between, count_from_back, count_near};

/// The waits of all threads: those that are held back, and the last of those that are resolved.
///
/// They are resolved in the order of their ends and forgotten in the same order, so that what is
/// known of them lies one behind the other. Each thread has places only.
#[derive(Debug, Default)]
pub(crate) struct KnownWaits {
    /// By [`ThreadIndex`].
    threads: Vec<ThreadWaits>,
    /// Those that are resolved.
    resolved: VecDeque<ResolvedWait>,
    /// How many were forgotten before those.
    forgotten: u64,
    /// How much those count.
    cost: usize,
    /// What was behind the parts of those for locks: nobody asks for that of others.
    roots: VecDeque<KnownRoot>,
    /// How many were forgotten before those.
    roots_forgotten: u64,
}

/// Where the waits of a thread are. It does not wait twice at once, unless a trace is damaged.
#[derive(Debug, Default)]
struct ThreadWaits {
    /// Those held back, by their begins.
    held: VecDeque<HeldPlace>,
    /// Those resolved, by their ends.
    resolved: VecDeque<ResolvedPlace>,
    /// Near the one of those that was wanted last.
    near: Cell<usize>,
    /// What the thread did until then is forgotten.
    forgotten_until_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HeldPlace {
    start_ns: u64,
    slot: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ResolvedPlace {
    end_ns: u64,
    /// Counted since the beginning.
    place: u64,
}

/// A wait that is resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResolvedWait {
    pub(crate) own: OwnWait,
    pub(crate) end_ns: u64,
    thread: ThreadIndex,
    cost: u32,
    /// Its [`KnownRoot`]s: how many, and how many there were before since the beginning.
    roots: u32,
    first_root: u64,
}

/// What was behind a part of a wait. The part begins where the one before ends, the first one where
/// the wait begins.
#[derive(Clone, Copy, Debug)]
struct KnownRoot {
    end_ns: u64,
    /// [`PackedOwner::NONE`] of a cycle.
    end: PackedOwner,
    lock: LockIndex,
    depth: u32,
}

impl HeldPlace {
    fn of(wait: &Wait, slot: Slot) -> Self {
        let start_ns = wait.start_ns;
        Self { start_ns, slot }
    }
}

impl KnownRoot {
    fn of(part: &RootPart) -> Self {
        let Root { end, lock, depth } = part.root;
        let end = match end {
            RootEnd::Owner(owner) => owner.into(),
            RootEnd::Cycle => PackedOwner::NONE,
        };
        Self {
            end_ns: part.start_ns + part.duration_ns,
            end,
            lock,
            depth,
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
        }
    }
}

impl KnownWaits {
    /// Adds a wait for a lock that is held back there.
    pub(crate) fn hold(&mut self, wait: &Wait, slot: Slot) {
        self.of_thread(wait.thread).hold(HeldPlace::of(wait, slot));
    }

    /// Adds a wait of another kind.
    pub(crate) fn add(&mut self, wait: &Wait) {
        let place = self.push(wait);
        self.of_thread(wait.thread).add(place);
    }

    fn of_thread(&mut self, thread: ThreadIndex) -> &mut ThreadWaits {
        let index = thread.0 as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, ThreadWaits::default);
        }
        &mut self.threads[index]
    }

    /// The wait, which was held back there, is resolved.
    pub(crate) fn resolve(&mut self, wait: &Wait, slot: Slot) {
        let place = self.push(wait);
        self.threads[wait.thread.0 as usize].resolve(HeldPlace::of(wait, slot), place);
    }

    fn push(&mut self, wait: &Wait) -> ResolvedPlace {
        let wanted: &[RootPart] = match wait.kind {
            WaitKind::Contention => &wait.roots,
            _ => &[],
        };
        let cost = cost(wait.roots.len());
        let resolved = ResolvedWait {
            own: OwnWait {
                kind: wait.kind,
                lock: wait.lock,
                chain: wait.chain,
                start_ns: wait.start_ns,
            },
            end_ns: wait.start_ns + wait.duration_ns,
            thread: wait.thread,
            cost: cost as u32,
            roots: wanted.len() as u32,
            first_root: self.roots_forgotten + self.roots.len() as u64,
        };
        let place = ResolvedPlace {
            end_ns: resolved.end_ns,
            place: self.forgotten + self.resolved.len() as u64,
        };
        self.resolved.push_back(resolved);
        self.cost += cost;
        self.roots.extend(wanted.iter().map(KnownRoot::of));
        place
    }

    /// Forgets the waits resolved first, until those left count no more than that.
    pub(crate) fn forget(&mut self, max_cost: usize) {
        while self.cost > max_cost
            && let Some(first) = self.resolved.pop_front()
        {
            self.cost -= first.cost as usize;
            self.roots.drain(..first.roots as usize);
            self.roots_forgotten += u64::from(first.roots);
            self.threads[first.thread.0 as usize].forget(first.end_ns);
            self.forgotten += 1;
        }
    }

    /// Until when it is forgotten what a thread did.
    pub(crate) fn forgotten_until_ns(&self, thread: ThreadIndex) -> u64 {
        let of_thread = self.threads.get(thread.0 as usize);
        of_thread.map_or(0, |of_thread| of_thread.forgotten_until_ns)
    }

    /// The resolved waits of a thread that ended behind `start_ns` and began before `end_ns`.
    #[inline]
    pub(crate) fn resolved_during(
        &self,
        thread: ThreadIndex,
        (start_ns, end_ns): (u64, u64),
    ) -> impl Iterator<Item = &ResolvedWait> {
        let of_thread = self.threads.get(thread.0 as usize);
        let places = of_thread.map(|of_thread| of_thread.resolved_behind(start_ns));
        let waits = places.into_iter().flatten().map(|known| {
            let index = known.place - self.forgotten;
            &self.resolved[index as usize]
        });
        waits.take_while(move |wait| wait.own.start_ns < end_ns)
    }

    /// Where those waits of a thread are held back that began before `end_ns`.
    #[inline]
    pub(crate) fn held_before(
        &self,
        thread: ThreadIndex,
        end_ns: u64,
    ) -> impl Iterator<Item = Slot> {
        let of_thread = self.threads.get(thread.0 as usize);
        let held = of_thread.into_iter().flat_map(|of_thread| &of_thread.held);
        let held = held.take_while(move |held| held.start_ns < end_ns);
        held.map(|held| held.slot)
    }

    /// Calls `on_part` with what was behind the parts of a wait for a lock, from begin to end.
    pub(crate) fn roots_during(
        &self,
        wait: &ResolvedWait,
        (start_ns, end_ns): (u64, u64),
        mut on_part: impl FnMut(u64, u64, Root),
    ) {
        let first = (wait.first_root - self.roots_forgotten) as usize;
        let behind = first + wait.roots as usize;
        let is_before = |part: &KnownRoot| part.end_ns <= start_ns;
        let place = count_between(&self.roots, first, behind, is_before);
        let mut at_ns = match place == first {
            true => wait.own.start_ns,
            false => self.roots[place - 1].end_ns,
        };
        for part in self.roots.range(place..behind) {
            if at_ns >= end_ns {
                break;
            }
            on_part(at_ns.max(start_ns), part.end_ns.min(end_ns), part.root());
            at_ns = part.end_ns;
        }
    }
}

impl ThreadWaits {
    fn hold(&mut self, held: HeldPlace) {
        let index = count_from_back(&self.held, |known| *known < held);
        self.held.insert(index, held);
    }

    /// A wait that was held back is resolved.
    fn resolve(&mut self, held: HeldPlace, resolved: ResolvedPlace) {
        take(&mut self.held, held);
        self.add(resolved);
    }

    fn add(&mut self, resolved: ResolvedPlace) {
        let index = count_from_back(&self.resolved, |known| *known < resolved);
        self.resolved.insert(index, resolved);
    }

    /// A wait that ended then is forgotten, and with it what there was before.
    fn forget(&mut self, end_ns: u64) {
        self.forgotten_until_ns = self.forgotten_until_ns.max(end_ns);
        let until_ns = self.forgotten_until_ns;
        let near = self.near.get_mut();
        while let Some(first) = self.resolved.front()
            && first.end_ns <= until_ns
        {
            self.resolved.pop_front();
            *near = near.saturating_sub(1);
        }
        give_back(&mut self.resolved);
    }

    /// Those resolved that ended behind that time.
    #[inline]
    fn resolved_behind(&self, time_ns: u64) -> impl Iterator<Item = &ResolvedPlace> {
        let near = self.near.get();
        let first = count_near(&self.resolved, near, |known| known.end_ns <= time_ns);
        self.near.set(first);
        self.resolved.range(first..)
    }
}

/// Takes a place out of a queue in order: the first one, unless a trace is damaged.
fn take(queue: &mut VecDeque<HeldPlace>, place: HeldPlace) {
    if queue.front() == Some(&place) {
        queue.pop_front();
    } else if let Ok(index) = queue.binary_search(&place) {
        queue.remove(index);
    }
    give_back(queue);
}

/// Gives back what a queue does not need any more: a program may have many threads that are gone.
fn give_back<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() {
        *queue = VecDeque::new();
    } else if queue.capacity() > queue.len().max(SMALL) * SPARE {
        queue.shrink_to(queue.len() * 2);
    }
}

/// Room for so many places is kept of a thread that waits.
const SMALL: usize = 4;

/// Room for so many times what there is, is given back.
const SPARE: usize = 8;
