//! The call chains behind forward references.
//!
//! They come behind the exits that refer to them: when the method that acquired the
//! lock releases it for good. There is one for each contended tenure with an
//! `Object.wait` in it, so a long trace has too many to keep them all. Nearly all
//! come soon. The first pass over a trace finds those that do not
//! ([`ForwardSurvey`]). The second pass knows these from the begin, and learns the
//! others from a reader that is some way ahead of it ([`Lookahead`]).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use trace_format::{ChainId, ChainRef, Event, EventsChunk, ForwardRef, NONE};

/// The chains behind forward references.
///
/// References are serial numbers, so neighbours share an entry, which makes six bytes
/// for each.
#[derive(Debug, Default)]
pub(crate) struct ForwardRefs {
    pages: FxHashMap<u64, Page>,
}

/// The chains of consecutive references; [`NONE`] for those not known.
type Page = [ChainId; PAGE as usize];

const PAGE: u64 = 16;

impl ForwardRefs {
    pub(crate) fn insert(&mut self, forward_ref: ForwardRef, chain: ChainId) {
        let page = self.pages.entry(forward_ref / PAGE).or_default();
        page[(forward_ref % PAGE) as usize] = chain;
    }

    fn remove(&mut self, forward_ref: ForwardRef) {
        let number = forward_ref / PAGE;
        if let Some(page) = self.pages.get_mut(&number) {
            page[(forward_ref % PAGE) as usize] = NONE;
            if *page == Page::default() {
                self.pages.remove(&number);
            }
        }
    }

    pub(crate) fn chain(&self, forward_ref: ForwardRef) -> Option<ChainId> {
        let page = self.pages.get(&(forward_ref / PAGE))?;
        Some(page[(forward_ref % PAGE) as usize]).filter(|&chain| chain != NONE)
    }
}

/// Chunks of events that [`Lookahead`] is ahead, and that it remembers.
pub(crate) const WINDOW: u64 = 256;

/// Finds the references that are resolved late.
#[derive(Debug, Default)]
pub(crate) struct ForwardSurvey {
    /// Number of the chunk with the first exit that refers to it.
    awaited: FxHashMap<ForwardRef, u64>,
    /// Some reference is resolved soon.
    pub(crate) some_soon: bool,
}

impl ForwardSurvey {
    /// Takes an event of the chunk with this number. `true` if it resolves a reference
    /// so late that it has to be remembered, or before any exit refers to it.
    pub(crate) fn is_late(&mut self, event: &Event<'_>, chunk: u64) -> bool {
        match *event {
            Event::ContendedExit {
                chain: ChainRef::Forward(forward_ref),
                ..
            } => {
                self.awaited.entry(forward_ref).or_insert(chunk);
                false
            }
            Event::ForwardResolved { forward_ref, .. } => {
                let exit = self.awaited.remove(&forward_ref);
                let is_soon = exit.is_some_and(|exit| chunk - exit <= WINDOW);
                self.some_soon |= is_soon;
                !is_soon
            }
            _ => false,
        }
    }
}

/// What a reader ahead of the analysis has learned.
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    /// The references that each of the last chunks read resolves.
    chunks: VecDeque<Vec<ForwardRef>>,
}

impl Lookahead {
    /// Takes the next chunk. Forgets what was resolved long before the place that the
    /// analysis has come to.
    pub(crate) fn read(&mut self, events: &EventsChunk<'_>, known: &mut ForwardRefs) {
        let reusable = if self.chunks.len() as u64 > 2 * WINDOW {
            self.chunks.pop_front()
        } else {
            None
        };
        let mut resolved = reusable.unwrap_or_default();
        for forward_ref in resolved.drain(..) {
            known.remove(forward_ref);
        }
        for event in events
            .segments()
            .flatten()
            .flat_map(|segment| segment.events())
        {
            if let Ok(Event::ForwardResolved { forward_ref, chain }) = event
                && known.chain(forward_ref).is_none()
            {
                known.insert(forward_ref, chain);
                resolved.push(forward_ref);
            }
        }
        self.chunks.push_back(resolved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_wherever_they_are() {
        let mut known = ForwardRefs::default();
        for forward_ref in [0, 1, 15, 16, u64::MAX] {
            known.insert(forward_ref, 9);
        }
        known.remove(15);
        known.remove(17);
        assert_eq!(known.chain(16), Some(9));
        assert_eq!(known.chain(u64::MAX), Some(9));
        assert_eq!((known.chain(2), known.chain(15)), (None, None));
        for forward_ref in [0, 1, 16, u64::MAX] {
            known.remove(forward_ref);
        }
        assert!(known.pages.is_empty());
    }

    #[test]
    fn only_what_comes_late_is_late() {
        let exit = |forward_ref| Event::ContendedExit {
            lock: 1,
            sequence: 1,
            time_ns: 0,
            chain: ChainRef::Forward(forward_ref),
        };
        let resolved = |forward_ref| Event::ForwardResolved {
            forward_ref,
            chain: 1,
        };
        let mut survey = ForwardSurvey::default();
        for forward_ref in [1, 2] {
            assert!(!survey.is_late(&exit(forward_ref), 0));
        }
        // The first exit counts.
        assert!(!survey.is_late(&exit(2), WINDOW));
        assert!(!survey.is_late(&resolved(1), WINDOW));
        assert!(survey.is_late(&resolved(2), WINDOW + 1));
        assert!(survey.is_late(&resolved(3), 0), "its exit may still come");
        assert!(survey.awaited.is_empty());
    }
}
