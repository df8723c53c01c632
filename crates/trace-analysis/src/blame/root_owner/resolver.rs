//! Finds the thread at the end of the chain of owners for each part of a wait.
//!
//! While a thread waits for a lock, the lock's owner may wait for another one. That wait ends
//! before the owner releases the lock, so nearly everything relevant to a wait has ended when the
//! wait does. Waits arrive here in any order. They are held back for a while, are resolved in the
//! order in which they ended, and stay known for a while to the waits that they delayed. So each
//! part is found with one look at the waits of its owner, however long the chain is.

use crate::blame::facts::safepoints::Safepoints;
use crate::blame::root_owner::cache::{OwnersTime, RootCache};
use crate::blame::root_owner::reorder_buffer::ReorderBuffer;
use crate::blame::root_owner::samples::OwnerSamples;
use crate::blame::root_owner::wait_history::{KnownParts, KnownWait, WaitHistory};
use crate::blame::timeline::hold_spans::Trail;
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::pending_chains::PendingChains;
use crate::model::wait::{
    Contention, HeldInWait, OwnWait, Owner, Root, RootEnd, RootPart, SafepointPhase, UnknownOwner,
    Wait, WaitKind,
};
use crate::order::system_fact::SystemFact;

/// Limits of the search for root owners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootLimits {
    /// Maximum number of parts of waits held back until the waits of their owners have arrived.
    pub(crate) max_held_parts: usize,
    /// Maximum number of further parts of waits that stay known.
    pub(crate) max_known_parts: usize,
    /// Maximum number of parts that one wait is split into.
    pub(crate) max_parts_of_wait: usize,
    /// Maximum number of unresolved waits that are followed: those of a thread that gave up, or did
    /// not come back.
    pub(crate) max_unresolved: usize,
    /// Maximum number of samples of owners that stay known.
    pub(crate) max_samples: usize,
}

impl Default for RootLimits {
    /// About 80 MB by the sizes of the elements; not measured. Known waits are read far from where
    /// they were written: doubling their number cost a tenth of the time of an analysis.
    fn default() -> Self {
        Self {
            max_held_parts: 1 << 18,
            max_known_parts: 1 << 19,
            max_parts_of_wait: 1 << 16,
            max_unresolved: 256,
            max_samples: 1 << 18,
        }
    }
}

/// Splits waits by their root owners.
#[derive(Debug)]
pub(crate) struct RootResolver {
    limits: RootLimits,
    /// The waits not resolved yet.
    held: ReorderBuffer,
    /// Those waits, and the ones resolved recently.
    known: WaitHistory,
    /// If all owners of a wait are root owners, the time of each is added up.
    adds_up: bool,
    safepoints: Safepoints,
    /// The code of owners over time, if parts are to be split by it.
    samples: Option<OwnerSamples>,
    /// The parts found last.
    recent: RootCache,
    /// The waiting threads along the chain; kept to reuse the memory.
    behind: Vec<ThreadIndex>,
}

/// A span of an owner's time, at the end of a chain of waits.
#[derive(Clone, Copy)]
struct Link {
    thread: ThreadIndex,
    chain: ChainIndex,
    /// The lock that the last of the waits is for.
    lock: LockIndex,
    depth: u32,
}

impl RootResolver {
    pub(crate) fn new(limits: RootLimits, detail: Detail) -> Self {
        Self {
            limits,
            held: ReorderBuffer::default(),
            known: WaitHistory::default(),
            adds_up: detail.adds_up_roots(),
            safepoints: Safepoints::default(),
            samples: detail
                .samples
                .then(|| OwnerSamples::new(limits.max_samples)),
            recent: RootCache::default(),
            behind: Vec::new(),
        }
    }

    /// Adds an action of the JVM or the system.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        match (fact, &mut self.samples) {
            (SystemFact::Safepoint(safepoint), _) => self.safepoints.add(safepoint),
            (SystemFact::Sample(sample), Some(samples)) => samples.add(sample),
            _ => {}
        }
    }

    /// Returns how many waits are held back.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Adds a wait with its contentions. Returns whether its roots are known at once, and filled
    /// in: for a wait for a lock they seldom are if one of its owners waited itself.
    pub(crate) fn add(&mut self, wait: &mut Wait, trail: Trail, chains: &PendingChains) -> bool {
        if trail.is_direct && self.adds_up {
            self.held.pass(wait.contention_count() as usize);
            self.known.add_direct(wait, trail.run);
            wait.root_is_owner();
            wait.contentions.clear();
        } else if wait.kind == WaitKind::Contention {
            let slot = self.held.push(wait);
            self.known.hold(wait, slot);
            return false;
        } else {
            self.name_enders(wait, chains);
            self.held.pass(1);
            self.known.add(wait);
        }
        self.forget();
        true
    }

    /// Fills in the roots of a wait for something that nobody held: the thread that ended it did
    /// not delay it.
    fn name_enders(&self, wait: &mut Wait, chains: &PendingChains) {
        if self.adds_up {
            return wait.root_is_owner();
        }
        let mut found = Found::of(wait, self.limits, chains);
        for part in &wait.contentions {
            found.begins_contention = true;
            found.add_direct(part, wait.lock);
        }
        wait.roots = found.parts;
    }

    /// Forgets the waits resolved first. Waits that were not held back count only from the time
    /// when they would have left the buffer.
    fn forget(&mut self) {
        let max = self.limits.max_known_parts + self.held.cost_of_others();
        self.known.forget(max);
    }

    /// Fills in the next wait that has been held back long enough, or is left at the end. Returns
    /// `false` if no such wait is left.
    pub(crate) fn next(&mut self, is_over: bool, chains: &PendingChains, wait: &mut Wait) -> bool {
        if !is_over && self.held.cost() <= self.limits.max_held_parts {
            return false;
        }
        let Some(slot) = self.held.pop(wait) else {
            return false;
        };
        self.resolve(wait, chains);
        self.known.resolve(wait, slot);
        if self.adds_up {
            wait.contentions.clear();
        }
        self.forget();
        true
    }

    /// Fills in the roots of a wait.
    fn resolve(&mut self, wait: &mut Wait, chains: &PendingChains) {
        let mut behind = std::mem::take(&mut self.behind);
        let mut recent = std::mem::take(&mut self.recent);
        behind.clear();
        behind.push(wait.thread);
        let mut found = Found::of(wait, self.limits, chains);
        for part in &wait.contentions {
            found.begins_contention = true;
            if part.duration_ns == 0 || part.owner.thread().is_none() {
                found.add_direct(part, wait.lock);
                continue;
            }
            let time = OwnersTime::of(part, wait.lock);
            if let Some(known) = recent.of(&time)
                && found.fits(known.len())
            {
                found.add_known(known);
                continue;
            }
            let before = found.parts.len();
            found.owner = part.owner;
            found.is_same_for_all = true;
            self.split_by_samples(part, |start_ns, end_ns, sample| {
                found.sample = sample;
                let waits = (start_ns, end_ns, part.owner, wait.lock, 1);
                self.follow(waits, &mut behind, &mut found);
            });
            found.sample = None;
            let parts = &found.parts[before..];
            let are_all = (parts.first()).is_some_and(|first| first.start_ns == part.start_ns);
            if are_all && found.is_same_for_all && found.fits(1) {
                recent.add(time, parts);
            }
        }
        wait.roots = found.parts;
        (self.behind, self.recent) = (behind, recent);
    }

    /// Calls `on_part` with the parts of a contention, and the owner's code in each.
    fn split_by_samples(
        &self,
        part: &Contention,
        mut on_part: impl FnMut(u64, u64, Option<ChainIndex>),
    ) {
        let time = (part.start_ns, part.start_ns + part.duration_ns);
        match (&self.samples, part.owner) {
            (Some(samples), Owner::Thread { thread, .. }) => samples.split(thread, time, on_part),
            _ => on_part(time.0, time.1, None),
        }
    }

    /// Adds the roots of an owner's span, at the end of the waits of the threads in `behind`.
    fn follow(
        &self,
        (start_ns, end_ns, owner, lock, depth): (u64, u64, Owner, LockIndex, u32),
        behind: &mut Vec<ThreadIndex>,
        found: &mut Found<'_>,
    ) {
        let Some((thread, chain)) = owner.thread() else {
            return found.add(
                start_ns,
                end_ns,
                Root::at(RootEnd::Owner(owner), lock, depth),
            );
        };
        if behind.contains(&thread) {
            found.is_same_for_all = false;
            return found.add(start_ns, end_ns, Root::at(RootEnd::Cycle, lock, depth));
        }
        if behind.len() > self.limits.max_unresolved {
            return found.add(start_ns, end_ns, Root::at(UNKNOWN, lock, depth));
        }
        behind.push(thread);
        let link = Link {
            thread,
            chain,
            lock,
            depth,
        };
        self.split(start_ns, end_ns, link, behind, found);
        behind.pop();
    }

    /// Splits an owner's time by its own waits.
    fn split(
        &self,
        start_ns: u64,
        end_ns: u64,
        link: Link,
        behind: &mut Vec<ThreadIndex>,
        found: &mut Found<'_>,
    ) {
        let running = RootEnd::Owner(Owner::Thread {
            thread: link.thread,
            chain: link.chain,
        });
        let mut at_ns = start_ns;
        let known_ns = self.known.forgotten_until_ns(link.thread);
        let known_ns = known_ns.clamp(at_ns, end_ns);
        found.add(at_ns, known_ns, Root::at(UNKNOWN, link.lock, link.depth));
        at_ns = known_ns;
        for wait in self.known.during(link.thread, (at_ns, end_ns)) {
            let from_ns = wait.own.start_ns.max(at_ns);
            let to_ns = wait.end_ns.min(end_ns);
            if from_ns < to_ns {
                self.add_running(at_ns, from_ns, running, link, found);
                let is_direct = link.depth == 1;
                if is_direct {
                    found.own_wait = Some(wait.own);
                }
                self.in_wait((from_ns, to_ns), link, wait, behind, found);
                if is_direct {
                    found.own_wait = None;
                }
                at_ns = to_ns;
            }
        }
        self.add_running(at_ns, end_ns, running, link, found);
    }

    /// Adds a span in which an owner did not wait itself.
    fn add_running(
        &self,
        start_ns: u64,
        end_ns: u64,
        running: RootEnd,
        link: Link,
        found: &mut Found<'_>,
    ) {
        if link.depth > 1 || start_ns >= end_ns {
            return found.add(start_ns, end_ns, Root::at(running, link.lock, link.depth));
        }
        self.safepoints
            .split(start_ns, end_ns, |start_ns, end_ns, phase| {
                found.safepoint = phase;
                found.add(start_ns, end_ns, Root::at(running, link.lock, link.depth));
            });
        found.safepoint = None;
    }

    /// Adds the roots of a span in which an owner waited itself.
    fn in_wait(
        &self,
        (start_ns, end_ns): (u64, u64),
        link: Link,
        wait: &KnownWait,
        behind: &mut Vec<ThreadIndex>,
        found: &mut Found<'_>,
    ) {
        let OwnWait {
            kind, lock, chain, ..
        } = wait.own;
        let depth = link.depth.saturating_add(1);
        if kind != WaitKind::Contention {
            // Nobody had the lock that it waited for: it is the end of the chain itself.
            let thread = link.thread;
            let end = RootEnd::Owner(Owner::Thread { thread, chain });
            let held = HeldInWait {
                kind,
                lock: link.lock,
                chain: link.chain,
            };
            let root = Root {
                held: Some(held),
                ..Root::at(end, lock, depth)
            };
            return found.add(start_ns, end_ns, root);
        }
        let time = (start_ns, end_ns);
        match wait.parts {
            KnownParts::Held(slot) => {
                found.is_same_for_all = false;
                let chains = found.chains;
                self.held
                    .parts_during(slot, time, |start_ns, end_ns, owner| {
                        let owner = chains.named(owner.get());
                        let waits = (start_ns, end_ns, owner, lock, depth);
                        self.follow(waits, behind, found);
                    });
            }
            KnownParts::Shared(number) => {
                let chains = found.chains;
                let on_part =
                    |start_ns, end_ns, root| found.add_behind(start_ns, end_ns, root, link);
                self.known
                    .shared_during((wait.own, number), time, chains, on_part);
            }
            KnownParts::Resolved(roots) => {
                let on_part =
                    |start_ns, end_ns, root| found.add_behind(start_ns, end_ns, root, link);
                self.known.roots_during((wait.own, roots), time, on_part);
            }
        }
    }
}

const UNKNOWN: RootEnd = RootEnd::Owner(Owner::Unknown(UnknownOwner::Collapsed));

/// The parts of a wait found so far.
struct Found<'a> {
    parts: Vec<RootPart>,
    chains: &'a PendingChains,
    /// The next part begins a contention.
    begins_contention: bool,
    /// The direct owner, and what it waits for itself.
    owner: Owner,
    own_wait: Option<OwnWait>,
    safepoint: Option<SafepointPhase>,
    /// The code of the direct owner.
    sample: Option<ChainIndex>,
    /// The result is the same for every wait that the part belongs to.
    is_same_for_all: bool,
    max_parts: usize,
}

impl<'a> Found<'a> {
    /// Begins a wait without parts, and reuses its memory.
    fn of(wait: &mut Wait, limits: RootLimits, chains: &'a PendingChains) -> Self {
        let mut parts = std::mem::take(&mut wait.roots);
        parts.clear();
        Self {
            parts,
            chains,
            begins_contention: false,
            owner: Owner::Free,
            own_wait: None,
            safepoint: None,
            sample: None,
            is_same_for_all: false,
            max_parts: limits.max_parts_of_wait,
        }
    }

    /// Adds a part whose owner is the root.
    fn add_direct(&mut self, part: &Contention, lock: LockIndex) {
        self.owner = part.owner;
        let end_ns = part.start_ns + part.duration_ns;
        let end = RootEnd::Owner(part.owner);
        self.add(part.start_ns, end_ns, Root::at(end, lock, 1));
    }

    /// Returns whether this many more parts can be kept separate.
    fn fits(&self, parts: usize) -> bool {
        self.parts.len() + parts <= self.max_parts
    }

    /// Adds the parts found for another wait.
    fn add_known<'p>(&mut self, mut parts: impl Iterator<Item = &'p RootPart>) {
        if let Some(first) = parts.next() {
            self.push(*first);
        }
        self.parts.extend(parts);
    }

    /// Adds a part of an owner's own wait, with the root of that wait.
    fn add_behind(&mut self, start_ns: u64, end_ns: u64, root: Root, link: Link) {
        let depth = root.depth.saturating_add(link.depth);
        self.add(start_ns, end_ns, Root { depth, ..root });
    }

    /// Adds a part; ignores an empty one, except the first.
    fn add(&mut self, start_ns: u64, end_ns: u64, mut root: Root) {
        if start_ns >= end_ns && !self.parts.is_empty() {
            return;
        }
        if root.end == RootEnd::Cycle {
            // The cycle never ends.
            root.depth = u32::MAX;
        }
        if !self.fits(1) {
            root.end = UNKNOWN;
        }
        let part = RootPart {
            start_ns,
            duration_ns: end_ns - start_ns,
            contentions: 1,
            owner: self.owner,
            own_wait: self.own_wait,
            safepoint: self.safepoint,
            sample: self.sample,
            root,
        };
        self.push(part);
    }

    /// Appends a part, or extends the last one if both belong to one contention.
    fn push(&mut self, part: RootPart) {
        let is_full = !self.fits(1);
        let is_first = std::mem::take(&mut self.begins_contention);
        let Some(last) = self.parts.last_mut() else {
            return self.parts.push(part);
        };
        let is_of_same = last.owner == part.owner
            && last.own_wait == part.own_wait
            && last.safepoint == part.safepoint
            && last.sample == part.sample;
        if last.duration_ns == 0 {
            let start_ns = last.start_ns;
            *last = RootPart { start_ns, ..part };
        } else if !is_first && is_of_same && last.root == part.root {
            last.duration_ns += part.duration_ns;
        } else if is_full && last.owner == part.owner && last.root.end == UNKNOWN {
            (last.own_wait, last.safepoint, last.sample) = (None, None, None);
            last.duration_ns += part.duration_ns;
        } else {
            self.parts.push(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a wait of `thread` for a lock that `owner` has.
    fn wait(number: u64, thread: u32, (start_ns, end_ns): (u64, u64), owner: u32) -> Wait {
        let mut wait = Wait::blank();
        wait.id.number = number;
        wait.thread = ThreadIndex(thread);
        wait.lock = LockIndex(owner);
        (wait.start_ns, wait.duration_ns) = (start_ns, end_ns - start_ns);
        wait.contentions.push(Contention {
            start_ns,
            duration_ns: end_ns - start_ns,
            owner: thread_owner(owner),
        });
        wait
    }

    fn thread_owner(thread: u32) -> Owner {
        Owner::Thread {
            thread: ThreadIndex(thread),
            chain: ChainIndex::NOT_RECORDED,
        }
    }

    /// Thread 2 waits for 1 twice, and all that time 3 waits for 2; returns the roots of the last
    /// wait.
    fn ends_of_last(limits: RootLimits) -> Vec<(u64, RootEnd)> {
        let mut roots = RootResolver::new(limits, Detail::CONTENTIONS.with_roots());
        let waits = [
            wait(1, 2, (10, 20), 1),
            wait(2, 2, (30, 40), 1),
            wait(3, 3, (0, 50), 2),
        ];
        let mut last = Wait::blank();
        let chains = PendingChains::default();
        for mut wait in waits {
            roots.add(&mut wait, Trail::default(), &chains);
            roots.next(false, &chains, &mut last);
        }
        while roots.next(true, &chains, &mut last) {}
        assert_eq!(roots.held(), 0);
        let parts = last.roots.iter();
        parts
            .map(|part| (part.duration_ns, part.root.end))
            .collect()
    }

    #[test]
    fn what_is_forgotten_is_unknown() {
        let [one, two] = [1, 2].map(|thread| RootEnd::Owner(thread_owner(thread)));
        let all = RootLimits::default();
        let ends = [(10, two), (10, one), (10, two), (10, one), (10, two)];
        assert_eq!(ends_of_last(all), ends);
        let one_wait = RootLimits {
            max_known_parts: 2,
            ..all
        };
        let ends = [(20, UNKNOWN), (10, two), (10, one), (10, two)];
        assert_eq!(ends_of_last(one_wait), ends);
        let none = RootLimits {
            max_known_parts: 0,
            ..all
        };
        assert_eq!(ends_of_last(none), [(40, UNKNOWN), (10, two)]);
    }

    /// A damaged trace has a thread wait for two others at once, and the one that began first
    /// ends last.
    #[test]
    fn a_thread_that_waits_twice_at_once_waits_for_one_at_a_time() {
        let mut roots = RootResolver::new(RootLimits::default(), Detail::CONTENTIONS.with_roots());
        let chains = PendingChains::default();
        let mut waits = [
            wait(1, 2, (10, 40), 1),
            wait(2, 2, (20, 30), 4),
            wait(3, 3, (0, 50), 2),
        ];
        for wait in &mut waits {
            roots.add(wait, Trail::default(), &chains);
        }
        let mut last = Wait::blank();
        while roots.next(true, &chains, &mut last) {}
        let sum: u64 = last.roots.iter().map(|part| part.duration_ns).sum();
        assert_eq!((last.id.number, sum), (3, 50));
        let ends: Vec<_> = last.roots.iter().map(|part| part.root.end).collect();
        let [two, four, one] = [2, 4, 1].map(|thread| RootEnd::Owner(thread_owner(thread)));
        assert_eq!(ends, [two, four, one, two]);
    }

    #[test]
    fn a_wait_of_too_many_parts_is_unknown_from_there_on() {
        let limits = RootLimits {
            max_parts_of_wait: 2,
            ..RootLimits::default()
        };
        let [one, two] = [1, 2].map(|thread| RootEnd::Owner(thread_owner(thread)));
        let ends = ends_of_last(limits);
        assert_eq!(ends, [(10, two), (10, one), (30, UNKNOWN)]);
    }
}
