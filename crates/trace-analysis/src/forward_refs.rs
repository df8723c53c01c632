//! The call chains behind forward references.
//!
//! They come behind the exits that refer to them: when the method that acquired the
//! lock releases it for good. Until then a chain that is [pending](ChainIndex::is_pending)
//! stands for each, and waits that it has a part in are not passed on.

use std::collections::VecDeque;

use trace_format::ForwardRef;

use crate::entity::ChainIndex;
use crate::hash::SeededMap;

/// The chains behind forward references, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct ForwardRefs {
    /// The slots of the references, counted from the first one of all.
    slots: SeededMap<ForwardRef, u64>,
    /// What is known of each, the oldest first.
    known: VecDeque<Known>,
    /// Slot of the first one that is known.
    first: u64,
    /// No more chains will come.
    is_closed: bool,
    unresolved_exits: u64,
    forgotten: u64,
}

#[derive(Debug)]
struct Known {
    forward_ref: ForwardRef,
    chain: Option<ChainIndex>,
    /// How many exits refer to it.
    exits: u64,
}

/// How many references to remember. A tracer numbers them one after the other and resolves
/// nearly all of them soon.
const MAX_KNOWN: usize = 1 << 17;

impl ForwardRefs {
    /// The chain of an exit: a pending one if it is still to come.
    pub(crate) fn refer(&mut self, forward_ref: ForwardRef) -> ChainIndex {
        let slot = self.slot(forward_ref);
        let known = &mut self.known[(slot - self.first) as usize];
        known.exits += 1;
        known.chain.unwrap_or(ChainIndex::pending(slot))
    }

    /// What the reference stands for is known. Returns the pending chain that stood for it.
    pub(crate) fn resolve(&mut self, forward_ref: ForwardRef, chain: ChainIndex) -> ChainIndex {
        let slot = self.slot(forward_ref);
        self.known[(slot - self.first) as usize].chain = Some(chain);
        ChainIndex::pending(slot)
    }

    fn slot(&mut self, forward_ref: ForwardRef) -> u64 {
        if let Some(&slot) = self.slots.get(&forward_ref) {
            return slot;
        }
        if self.known.len() == MAX_KNOWN
            && let Some(oldest) = self.known.pop_front()
        {
            self.slots.remove(&oldest.forward_ref);
            self.first += 1;
            if oldest.chain.is_none() {
                self.unresolved_exits += oldest.exits;
                self.forgotten += u64::from(oldest.exits > 0);
            }
        }
        let slot = self.first + self.known.len() as u64;
        self.known.push_back(Known {
            forward_ref,
            chain: None,
            exits: 0,
        });
        self.slots.insert(forward_ref, slot);
        slot
    }

    /// The chain for which a pending one stands; `None` if that is still to come.
    pub(crate) fn chain(&self, pending: ChainIndex) -> Option<ChainIndex> {
        let distance = pending.distance_from(self.first);
        match self.known.get(distance) {
            Some(known) if self.is_closed => Some(known.chain.unwrap_or(ChainIndex::UNRESOLVED)),
            Some(known) => known.chain,
            None => Some(ChainIndex::UNRESOLVED),
        }
    }

    /// No more chains will come: unknown ones are unresolved.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        let unresolved = self.known.iter().filter(|known| known.chain.is_none());
        self.unresolved_exits += unresolved.map(|known| known.exits).sum::<u64>();
    }

    /// How many exits will never have a chain.
    pub(crate) fn unresolved_exits(&self) -> u64 {
        self.unresolved_exits
    }

    /// How many references of exits were forgotten for want of memory before their chain came.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: ChainIndex = ChainIndex(7);

    #[test]
    fn a_chain_may_come_before_or_behind_its_exits() {
        let mut refs = ForwardRefs::default();
        let first = refs.refer(ForwardRef(u64::MAX));
        let second = refs.refer(ForwardRef(3));
        assert_eq!(refs.refer(ForwardRef(u64::MAX)), first);
        assert!(first.is_pending() && second.is_pending() && first != second);
        assert_eq!(refs.chain(first), None);
        assert_eq!(refs.resolve(ForwardRef(u64::MAX), CHAIN), first);
        assert_eq!(refs.chain(first), Some(CHAIN));
        refs.resolve(ForwardRef(5), CHAIN);
        assert_eq!(refs.refer(ForwardRef(5)), CHAIN);
        refs.close();
        assert_eq!(refs.chain(second), Some(ChainIndex::UNRESOLVED));
        assert_eq!(refs.unresolved_exits(), 1);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut refs = ForwardRefs::default();
        let first = refs.refer(ForwardRef(0));
        let more = (1..=MAX_KNOWN as u64).map(|number| refs.refer(ForwardRef(number)));
        let last = more.last().expect("many");
        assert_eq!(refs.chain(first), Some(ChainIndex::UNRESOLVED));
        assert_eq!(refs.chain(last), None);
        assert_eq!((refs.forgotten(), refs.known.len()), (1, MAX_KNOWN));
    }
}
