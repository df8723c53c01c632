//! The call chains behind forward references.
//!
//! They come behind the exits that refer to them: when the method that acquired the
//! lock releases it for good. There is one for each contended hold with an
//! `Object.wait` in it, so a long trace has too many to keep them all. But nearly all
//! come soon: a reader that is some way ahead of the analysis finds them
//! ([`Lookahead`]). Only if it does not, a pass over the whole trace finds those that
//! come late ([`Survey`]).

use std::collections::VecDeque;
use std::fmt;

use trace_format::{
    ChainId, ChainRef, Chunk, ContendedExit, Event, EventsChunk, ForwardRef, ForwardResolved,
};

use crate::hash::SeededMap;
use crate::trace_file::{FileReader, TraceError, TraceFile};

/// Where the chains behind forward references are found.
#[derive(Debug)]
pub(crate) enum ForwardSource {
    /// All of them are known.
    Collected(ForwardRefs),
    /// They are in a file.
    File(Box<Lookahead>),
}

impl ForwardSource {
    pub(crate) fn chain(&mut self, forward_ref: ForwardRef) -> Option<ChainId> {
        match self {
            Self::Collected(known) => known.chain(forward_ref),
            Self::File(ahead) => ahead.chain(forward_ref),
        }
    }

    /// How many references that were resolved had to be forgotten for want of memory.
    pub(crate) fn forgotten(&self) -> u64 {
        match self {
            Self::Collected(_) => 0,
            Self::File(ahead) => ahead.forgotten,
        }
    }
}

/// The chains behind forward references.
///
/// References are serial numbers, so neighbours share an entry, which makes six bytes
/// for each.
#[derive(Debug, Default)]
pub(crate) struct ForwardRefs {
    pages: SeededMap<u64, Page>,
}

/// How many pages to keep at most: more are of no tracer, which numbers its references
/// one after the other and resolves nearly all of them soon.
const MAX_PAGES: usize = 1 << 18;

/// The chains of consecutive references; none for those not known.
type Page = [ChainId; PAGE as usize];

const PAGE: u64 = 16;

impl ForwardRefs {
    pub(crate) fn insert(&mut self, forward_ref: ForwardRef, chain: ChainId) {
        let page = self.pages.entry(forward_ref.0 / PAGE).or_default();
        page[(forward_ref.0 % PAGE) as usize] = chain;
    }

    /// No page can be added any more.
    fn is_full(&self) -> bool {
        self.pages.len() >= MAX_PAGES
    }

    fn remove(&mut self, forward_ref: ForwardRef) {
        let number = forward_ref.0 / PAGE;
        if let Some(page) = self.pages.get_mut(&number) {
            page[(forward_ref.0 % PAGE) as usize] = ChainId::NONE;
            if *page == Page::default() {
                self.pages.remove(&number);
            }
        }
    }

    pub(crate) fn chain(&self, forward_ref: ForwardRef) -> Option<ChainId> {
        let page = self.pages.get(&(forward_ref.0 / PAGE))?;
        Some(page[(forward_ref.0 % PAGE) as usize]).filter(|chain| !chain.is_none())
    }
}

/// Chunks of events that [`Lookahead`] may be ahead, and that it remembers behind the
/// analysis.
const WINDOW: u64 = 256;

/// Reads a file ahead of its analysis, as far as needed.
pub(crate) struct Lookahead {
    file: TraceFile,
    reader: Option<FileReader>,
    /// Number of the chunk of events that the analysis is at.
    position: u64,
    /// Chunks of events read.
    read: u64,
    /// There are no more.
    at_end: bool,
    /// What is known of the last chunks read.
    recent: ForwardRefs,
    /// The references that each of the last chunks read resolves.
    resolved: VecDeque<Vec<ForwardRef>>,
    /// What is resolved further behind its exit than the window, once that is known.
    late: Option<ForwardRefs>,
    /// How many references that were resolved had to be forgotten for want of memory.
    forgotten: u64,
    failure: Option<TraceError>,
}

impl fmt::Debug for Lookahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookahead")
            .field("file", &self.file)
            .field("position", &self.position)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

impl Lookahead {
    /// For an analysis that begins with the first chunk of `file`.
    pub(crate) fn new(file: &TraceFile) -> Self {
        Self {
            file: file.clone(),
            reader: None,
            position: 0,
            read: 0,
            at_end: false,
            recent: ForwardRefs::default(),
            resolved: VecDeque::new(),
            late: None,
            forgotten: 0,
            failure: None,
        }
    }

    /// The analysis goes on to the next chunk of events. Fails if reading has failed.
    pub(crate) fn next_chunk(&mut self) -> Result<(), TraceError> {
        self.position += 1;
        self.failure.take().map_or(Ok(()), Err)
    }

    fn chain(&mut self, forward_ref: ForwardRef) -> Option<ChainId> {
        loop {
            if let Some(chain) = self.recent.chain(forward_ref) {
                return Some(chain);
            }
            let is_far_enough = self.at_end || self.read >= self.position + WINDOW;
            if is_far_enough || !self.succeeds(Self::read_chunk) {
                break;
            }
        }
        if self.late.is_none() {
            self.succeeds(Self::survey);
        }
        self.late.as_ref()?.chain(forward_ref)
    }

    /// Keeps the failure of `work` for the analysis to learn.
    fn succeeds(&mut self, work: impl FnOnce(&mut Self) -> Result<bool, TraceError>) -> bool {
        match work(self) {
            Ok(succeeds) => succeeds,
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }

    /// Reads the next chunk of events, and forgets those far behind the analysis.
    /// `false` at the end of the file.
    fn read_chunk(&mut self) -> Result<bool, TraceError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => self.reader.insert(self.file.read()?),
        };
        let mut freed = Vec::new();
        while self.read - self.resolved.len() as u64 + WINDOW < self.position
            && let Some(old) = self.resolved.pop_front()
        {
            freed = old;
            for forward_ref in freed.drain(..) {
                self.recent.remove(forward_ref);
            }
        }
        while let Some(chunk) = self.file.next_chunk(reader)? {
            let Chunk::Events(events) = chunk else {
                continue;
            };
            for event in events_of(&events) {
                if let Event::ForwardResolved(ForwardResolved { forward_ref, chain }) = event {
                    if self.recent.is_full() {
                        self.forgotten += 1;
                        continue;
                    }
                    self.recent.insert(forward_ref, chain);
                    freed.push(forward_ref);
                }
            }
            self.resolved.push_back(freed);
            self.read += 1;
            return Ok(true);
        }
        self.at_end = true;
        Ok(false)
    }

    /// Finds in the whole file what comes late.
    fn survey(&mut self) -> Result<bool, TraceError> {
        let mut reader = self.file.read()?;
        let mut survey = Survey::default();
        while let Some(chunk) = self.file.next_chunk(&mut reader)? {
            if let Chunk::Events(events) = chunk {
                for event in events_of(&events) {
                    survey.event(&event);
                }
                survey.chunk += 1;
            }
        }
        self.forgotten += survey.forgotten;
        self.late = Some(survey.late);
        Ok(true)
    }
}

fn events_of<'a>(chunk: &EventsChunk<'a>) -> impl Iterator<Item = Event<'a>> {
    let segments = chunk.segments().flatten();
    segments.flat_map(|segment| segment.events()).flatten()
}

/// Finds the references that are resolved late.
#[derive(Debug, Default)]
struct Survey {
    /// Number of the chunk with the first exit that refers to it.
    awaited: SeededMap<ForwardRef, u64>,
    /// Number of the chunk of the events.
    chunk: u64,
    late: ForwardRefs,
    /// How many there was no room for.
    forgotten: u64,
}

/// How many references may be awaited at once. Of a tracer that is one for each monitor
/// that a thread has while it waits. A resolution of any other counts as late.
const MAX_AWAITED: usize = 1 << 19;

impl Survey {
    /// Keeps what is resolved far behind the first exit that refers to it, or before
    /// any.
    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::ContendedExit(ContendedExit {
                chain: ChainRef::Forward(forward_ref),
                ..
            }) if self.awaited.len() < MAX_AWAITED => {
                self.awaited.entry(forward_ref).or_insert(self.chunk);
            }
            Event::ForwardResolved(ForwardResolved { forward_ref, chain }) => {
                let exit = self.awaited.remove(&forward_ref);
                if exit.is_some_and(|exit| self.chunk - exit < WINDOW) {
                    return;
                }
                if self.late.is_full() {
                    self.forgotten += 1;
                } else {
                    self.late.insert(forward_ref, chain);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use trace_format::LockId;

    use super::*;

    #[test]
    fn references_are_found_wherever_they_are() {
        let mut known = ForwardRefs::default();
        for forward_ref in [0, 1, 15, 16, u64::MAX] {
            known.insert(ForwardRef(forward_ref), ChainId(9));
        }
        known.remove(ForwardRef(15));
        known.remove(ForwardRef(17));
        assert_eq!(known.chain(ForwardRef(16)), Some(ChainId(9)));
        assert_eq!(known.chain(ForwardRef(u64::MAX)), Some(ChainId(9)));
        assert_eq!(
            (known.chain(ForwardRef(2)), known.chain(ForwardRef(15))),
            (None, None)
        );
        for forward_ref in [0, 1, 16, u64::MAX] {
            known.remove(ForwardRef(forward_ref));
        }
        assert!(known.pages.is_empty());
    }

    #[test]
    fn only_what_comes_late_is_late() {
        let exit = |forward_ref| {
            Event::ContendedExit(ContendedExit {
                lock: LockId(1),
                sequence: 1,
                time_ns: 0,
                hold: trace_format::Hold::NotKnown,
                chain: ChainRef::Forward(forward_ref),
            })
        };
        let resolved = |forward_ref| {
            Event::ForwardResolved(ForwardResolved {
                forward_ref,
                chain: ChainId(1),
            })
        };
        let mut survey = Survey::default();
        for forward_ref in [1, 2, 3] {
            survey.event(&exit(ForwardRef(forward_ref)));
        }
        survey.chunk = WINDOW - 1;
        survey.event(&exit(ForwardRef(2)));
        survey.event(&resolved(ForwardRef(1)));
        survey.chunk = WINDOW;
        // The first exit counts.
        survey.event(&resolved(ForwardRef(2)));
        survey.event(&resolved(ForwardRef(4)));
        let late =
            [1, 2, 3, 4].map(|forward_ref| survey.late.chain(ForwardRef(forward_ref)).is_some());
        assert_eq!(
            late,
            [false, true, false, true],
            "3 never, 4 before its exit"
        );
        assert_eq!(survey.awaited.len(), 1);
    }
}
