//! The path of waits from the analyzers to the caller's sink.

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::selection::{Selection, Selector};
use crate::aggregate::still_blocked::StillBlocked;
use crate::blame::activity::owner_facts::{OwnerFacts, ToThread};
use crate::blame::activity::owner_times::OwnerTimes;
use crate::blame::activity::scheduling::LongParts;
use crate::blame::monitor::dispatcher::detail_of;
use crate::blame::root_owner::resolver::{RootLimits, RootResolver};
use crate::blame::timeline::hold_spans::{HoldSpans, Trail};
use crate::blame::timeline::splitter::Shares;
use crate::collections::hash::SeededMap;
use crate::model::counter::{Counter, Counters};
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, Entities};
use crate::model::entity_store::InUse;
use crate::model::lock_group::{LOCK_GROUPS, lock_group};
use crate::model::pending_chains::PendingChains;
use crate::model::wait::{Mechanism, Owner, Wait};
use crate::model::wait_sink::WaitSink;
use crate::order::system_fact::SystemFact;

/// An output that holds waits back until the chains of their owners are known, counts them all, and
/// passes on the selected ones.
#[derive(Debug)]
pub(crate) struct Output {
    detail: Detail,
    pub(crate) chains: PendingChains,
    /// The waits held back, by the pending chain they wait for.
    held: SeededMap<ChainIndex, Vec<(Wait, Trail)>>,
    /// Number of parts of the waits held back, by group of locks.
    held_parts: [usize; LOCK_GROUPS],
    /// Splits waits by their root owners, if requested.
    roots: Option<RootResolver>,
    /// The wait that was split last; kept to reuse the memory.
    resolved: Wait,
    passage: Passage,
    pub(crate) still_blocked: StillBlocked,
}

/// The last stage that waits pass.
#[derive(Debug)]
struct Passage {
    selector: Selector,
    waits: WaitTally,
    /// How root owners were scheduled, if requested.
    long_parts: Option<LongParts>,
    /// The activity of owners, if requested.
    owner_times: Option<OwnerFacts>,
}

impl Passage {
    /// Passes on the selected parts of a wait.
    fn pass_on(&mut self, wait: &mut Wait, entities: &Entities, sink: &mut dyn WaitSink) {
        if self.selector.select(wait, entities) {
            self.waits.add(wait);
            if let Some(long_parts) = &mut self.long_parts {
                long_parts.describe(wait);
            }
            if let Some(owner_times) = &mut self.owner_times {
                owner_times.add_wait(wait);
            }
            sink.wait(wait, entities);
        }
    }
}

/// Returns the maximum number of parts of the waits held back for a group of locks. Where
/// contentions are wanted, a wait has one part per owner that the lock had meanwhile: some
/// thousands where threads wait for processors as well.
fn max_held_parts(detail: Detail) -> usize {
    match detail.has_contentions() {
        false => 1 << 16,
        true => 1 << 19,
    }
}

impl Output {
    pub(crate) fn new(selection: &Selection, detail: Detail, owner_times: bool) -> Self {
        Self {
            detail,
            chains: PendingChains::default(),
            held: SeededMap::default(),
            held_parts: [0; LOCK_GROUPS],
            roots: detail
                .roots
                .then(|| RootResolver::new(RootLimits::default(), detail)),
            resolved: Wait::blank(),
            passage: Passage {
                selector: Selector::new(selection),
                waits: WaitTally::default(),
                long_parts: detail.samples.then(LongParts::default),
                owner_times: owner_times.then(|| OwnerFacts::new(detail)),
            },
            still_blocked: StillBlocked::default(),
        }
    }

    /// Passes facts about owners to `thread` from now on, as far as possible.
    pub(crate) fn pass_owner_facts_to(&mut self, thread: ToThread) {
        if let Some(owner_times) = &mut self.passage.owner_times {
            owner_times.pass_to(thread);
        }
    }

    /// Takes an action of the JVM or the system.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        if let Some(roots) = &mut self.roots {
            roots.system(fact);
        }
        if let Some(long_parts) = &mut self.passage.long_parts {
            long_parts.system(fact);
        }
        if let Some(owner_times) = &mut self.passage.owner_times {
            owner_times.system(fact);
        }
    }

    /// Takes the owners' spans of the waits passed on, shared or per wait, where contentions do not
    /// show them.
    #[inline]
    pub(crate) fn add_spans(&mut self, spans: &mut HoldSpans) {
        if spans.are_wanted
            && let Some(owner_times) = &mut self.passage.owner_times
        {
            owner_times.add_spans(spans);
        }
    }

    /// Returns the activity of owners in the waits passed on, if requested. No wait may come
    /// afterwards.
    pub(crate) fn take_owner_times(&mut self) -> Option<OwnerTimes> {
        self.passage.owner_times.take().map(OwnerFacts::finish)
    }

    /// Returns the tally of waits passed on.
    pub(crate) fn waits(&self) -> &WaitTally {
        &self.passage.waits
    }

    /// Returns how many waits are held back.
    pub(crate) fn held(&self) -> usize {
        let without_roots = self.roots.as_ref().map_or(0, RootResolver::held);
        self.held.values().map(Vec::len).sum::<usize>() + without_roots
    }

    /// Adds the entities of the waits held back.
    pub(crate) fn add_in_use(&self, in_use: &mut InUse) {
        for (wait, _) in self.held.values().flatten() {
            in_use.locks.insert(wait.lock);
            in_use.threads.insert(wait.thread);
        }
    }

    /// Takes a wait, and passes it on if the chains of its owners are known.
    pub(crate) fn pass_on(
        &mut self,
        (wait, trail): (&mut Wait, Trail),
        entities: &Entities,
        counters: &mut Counters,
        sink: &mut dyn WaitSink,
    ) {
        if let Some(owner_times) = &mut self.passage.owner_times
            && !wait.blame.is_empty()
        {
            owner_times.add_own_wait(wait);
        }
        self.complete((wait, trail), entities, counters, sink);
    }

    /// Releases the waits for a pending chain, which has been resolved.
    pub(crate) fn resolved(
        &mut self,
        pending: ChainIndex,
        entities: &Entities,
        counters: &mut Counters,
        sink: &mut dyn WaitSink,
    ) {
        for (mut wait, trail) in self.held.remove(&pending).unwrap_or_default() {
            *self.held_parts_of_group(&wait) -= parts(&wait);
            self.complete((&mut wait, trail), entities, counters, sink);
        }
    }

    /// Ends the trace: no more chains will arrive.
    pub(crate) fn finish(
        &mut self,
        entities: &Entities,
        counters: &mut Counters,
        sink: &mut dyn WaitSink,
    ) {
        self.chains.close();
        let mut held: Vec<_> = self.held.drain().flat_map(|(_, waits)| waits).collect();
        held.sort_unstable_by_key(|(wait, _)| wait.id);
        for (mut wait, trail) in held {
            self.complete((&mut wait, trail), entities, counters, sink);
        }
        self.pass_on_resolved(true, entities, sink);
    }

    fn complete(
        &mut self,
        (wait, trail): (&mut Wait, Trail),
        entities: &Entities,
        counters: &mut Counters,
        sink: &mut dyn WaitSink,
    ) {
        if wait.blame.iter().any(|blame| is_pending(blame.owner)) {
            match self.first_unknown(wait) {
                Some(pending) if self.fits(wait) => {
                    *self.held_parts_of_group(wait) += parts(wait);
                    return self
                        .held
                        .entry(pending)
                        .or_default()
                        .push((wait.clone(), trail));
                }
                unknown => {
                    counters.add(Counter::ForwardRefsForgotten, unknown.is_some().into());
                    self.name_owners(wait, entities);
                }
            }
        }
        self.deliver((wait, trail), entities, counters, sink);
    }

    fn fits(&mut self, wait: &Wait) -> bool {
        let max = max_held_parts(self.detail);
        *self.held_parts_of_group(wait) + parts(wait) <= max
    }

    /// Returns the number of parts held back for locks of the same group. Only monitors have
    /// forward references.
    fn held_parts_of_group(&mut self, wait: &Wait) -> &mut usize {
        debug_assert_eq!(wait.mechanism, Mechanism::Monitor);
        &mut self.held_parts[lock_group(wait.id.lock)]
    }

    /// Returns the first chain of an owner that is not known yet.
    fn first_unknown(&self, wait: &Wait) -> Option<ChainIndex> {
        let owners = wait.blame.iter().filter_map(|blame| blame.owner.thread());
        let mut pending = owners
            .map(|(_, chain)| chain)
            .filter(|chain| chain.is_pending());
        pending.find(|&chain| self.chains.chain(chain).is_none())
    }

    /// Replaces pending chains by the chains that they stand for.
    fn name_owners(&self, wait: &mut Wait, entities: &Entities) {
        for contention in &mut wait.contentions {
            contention.owner = self.chains.named(contention.owner);
        }
        // Several references can stand for the same chain.
        let blame = std::mem::take(&mut wait.blame);
        let detail = detail_of(wait.lock, self.detail, entities);
        let mut shares = Shares::new(detail, &mut wait.blame, None);
        for blame in blame {
            shares.add_parts(
                self.chains.named(blame.owner).into(),
                blame.duration_ns,
                blame.contentions,
            );
        }
    }

    /// Checks a wait, and passes on its selected parts.
    fn deliver(
        &mut self,
        (wait, trail): (&mut Wait, Trail),
        entities: &Entities,
        counters: &mut Counters,
        sink: &mut dyn WaitSink,
    ) {
        if wait.blame.is_empty() {
            // No part of it is in the time range considered.
            return;
        }
        let blamed_ns: u64 = wait.blame.iter().map(|blame| blame.duration_ns).sum();
        if blamed_ns != wait.duration_ns {
            counters.add(Counter::UnbalancedWaits, 1);
        }
        let Some(roots) = &mut self.roots else {
            return self.passage.pass_on(wait, entities, sink);
        };
        if roots.add(wait, trail, &self.chains) {
            self.passage.pass_on(wait, entities, sink);
        }
        self.pass_on_resolved(false, entities, sink);
    }

    /// Passes on the waits whose root owners are known.
    fn pass_on_resolved(&mut self, is_over: bool, entities: &Entities, sink: &mut dyn WaitSink) {
        let Some(roots) = &mut self.roots else {
            return;
        };
        while roots.next(is_over, &self.chains, &mut self.resolved) {
            self.passage.pass_on(&mut self.resolved, entities, sink);
        }
    }
}

fn is_pending(owner: Owner) -> bool {
    matches!(owner, Owner::Thread { chain, .. } if chain.is_pending())
}

/// Returns the number of parts of a wait that take memory.
fn parts(wait: &Wait) -> usize {
    wait.blame.len() + wait.contentions.len() + 1
}
