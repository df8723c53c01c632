//! The call chains of forward references.
//!
//! They come after the exits that refer to them: when the method that acquired the
//! lock releases it for good. Until then a [pending](ChainIndex::is_pending) chain
//! stands for each, and waits that it has a part in are not passed on.

use std::collections::VecDeque;

use trace_format::ForwardRef;

use crate::collections::hash::SeededMap;
use crate::model::entity::ChainIndex;
use crate::model::pending_chains::MAX_KNOWN;

/// The chains of forward references, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct ForwardRefs {
    /// The slots of the references, counted from the first one of all.
    slots: SeededMap<ForwardRef, u64>,
    /// What is known of each, the oldest first.
    known: VecDeque<Known>,
    /// Slot of the first one that is known.
    first: u64,
    /// Exits of references that were forgotten.
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

/// A pending chain, and whether it is one that nobody has heard of yet.
pub(crate) type Given = (ChainIndex, bool);

impl ForwardRefs {
    /// The chain of an exit: a pending one if it is still to come.
    pub(crate) fn refer(&mut self, forward_ref: ForwardRef) -> Given {
        let (slot, is_new) = self.slot(forward_ref);
        let known = &mut self.known[(slot - self.first) as usize];
        known.exits += 1;
        (known.chain.unwrap_or(ChainIndex::pending(slot)), is_new)
    }

    /// What the reference stands for is known. Returns the pending chain that stood for it.
    pub(crate) fn resolve(&mut self, forward_ref: ForwardRef, chain: ChainIndex) -> Given {
        let (slot, is_new) = self.slot(forward_ref);
        self.known[(slot - self.first) as usize].chain = Some(chain);
        (ChainIndex::pending(slot), is_new)
    }

    fn slot(&mut self, forward_ref: ForwardRef) -> (u64, bool) {
        if let Some(&slot) = self.slots.get(&forward_ref) {
            return (slot, false);
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
        (slot, true)
    }

    /// How many exits have no chain so far.
    pub(crate) fn unresolved_exits(&self) -> u64 {
        let unresolved = self.known.iter().filter(|known| known.chain.is_none());
        self.unresolved_exits + unresolved.map(|known| known.exits).sum::<u64>()
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
    fn a_chain_may_come_before_or_after_its_exits() {
        let mut refs = ForwardRefs::default();
        let (first, is_new) = refs.refer(ForwardRef(u64::MAX));
        assert!(is_new);
        let (second, _) = refs.refer(ForwardRef(3));
        assert_eq!(refs.refer(ForwardRef(u64::MAX)), (first, false));
        assert!(first.is_pending() && second.is_pending() && first != second);
        assert_eq!(refs.resolve(ForwardRef(u64::MAX), CHAIN), (first, false));
        assert_eq!(refs.refer(ForwardRef(u64::MAX)), (CHAIN, false));
        assert!(refs.resolve(ForwardRef(5), CHAIN).1);
        assert_eq!(refs.refer(ForwardRef(5)), (CHAIN, false));
        assert_eq!(refs.unresolved_exits(), 1);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut refs = ForwardRefs::default();
        for number in 0..=MAX_KNOWN as u64 {
            refs.refer(ForwardRef(number));
        }
        assert_eq!((refs.forgotten(), refs.known.len()), (1, MAX_KNOWN));
        assert_eq!(refs.unresolved_exits(), MAX_KNOWN as u64 + 1);
    }
}
