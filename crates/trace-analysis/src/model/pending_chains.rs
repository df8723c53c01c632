//! The chains that stand for forward references, where waits are delivered.

use std::collections::VecDeque;

use crate::model::entity::ChainIndex;
use crate::model::wait::Owner;

/// What is known of the newest forward references, as
/// [`ForwardRefs`](crate::resolve::forward_refs::ForwardRefs) has given them out.
#[derive(Debug, Default)]
pub(crate) struct PendingChains {
    /// What each stands for, if that has come; the oldest first.
    chains: VecDeque<Option<ChainIndex>>,
    /// Slot of the first one.
    first: u64,
    /// No more chains will come.
    is_closed: bool,
}

/// How many references to remember. A tracer numbers them one after the other and resolves
/// nearly all of them soon.
pub(crate) const MAX_KNOWN: usize = 1 << 17;

impl PendingChains {
    /// One more reference is known, and the oldest one perhaps no longer.
    pub(crate) fn push(&mut self) {
        if self.chains.len() == MAX_KNOWN {
            self.chains.pop_front();
            self.first += 1;
        }
        self.chains.push_back(None);
    }

    /// The pending chain stands for this one.
    pub(crate) fn resolve(&mut self, pending: ChainIndex, chain: ChainIndex) {
        let distance = pending.distance_from(self.first);
        if let Some(known) = self.chains.get_mut(distance) {
            *known = Some(chain);
        }
    }

    /// The chain for which a pending one stands; `None` if that is still to come.
    pub(crate) fn chain(&self, pending: ChainIndex) -> Option<ChainIndex> {
        let distance = pending.distance_from(self.first);
        match self.chains.get(distance) {
            Some(known) if self.is_closed => Some(known.unwrap_or(ChainIndex::UNRESOLVED)),
            Some(known) => *known,
            None => Some(ChainIndex::UNRESOLVED),
        }
    }

    /// The owner, with its chain in the place of the one that stood for it.
    pub(crate) fn named(&self, owner: Owner) -> Owner {
        match owner {
            Owner::Thread { thread, chain } if chain.is_pending() => Owner::Thread {
                thread,
                chain: self.chain(chain).unwrap_or(ChainIndex::UNRESOLVED),
            },
            owner => owner,
        }
    }

    /// No more chains will come: unknown ones are unresolved.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: ChainIndex = ChainIndex(7);

    #[test]
    fn a_chain_may_never_come() {
        let mut chains = PendingChains::default();
        let [first, second] = [0, 1].map(ChainIndex::pending);
        chains.push();
        chains.push();
        assert_eq!(chains.chain(first), None);
        chains.resolve(first, CHAIN);
        assert_eq!(chains.chain(first), Some(CHAIN));
        assert_eq!(chains.chain(second), None);
        chains.close();
        assert_eq!(chains.chain(first), Some(CHAIN));
        assert_eq!(chains.chain(second), Some(ChainIndex::UNRESOLVED));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut chains = PendingChains::default();
        (0..=MAX_KNOWN).for_each(|_| chains.push());
        let first = ChainIndex::pending(0);
        assert_eq!(chains.chain(first), Some(ChainIndex::UNRESOLVED));
        assert_eq!(chains.chain(ChainIndex::pending(1)), None);
        chains.resolve(first, CHAIN);
        assert_eq!(chains.chain(first), Some(ChainIndex::UNRESOLVED));
    }
}
