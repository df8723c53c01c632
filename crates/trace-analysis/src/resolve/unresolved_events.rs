//! Events that refer to what is not described yet.
//!
//! A description and a reference to it can be in buffers of different threads, so the
//! reference can come first. The event is then held back until the description comes. The
//! rearranger waits for its number meanwhile, so nothing overtakes it.

use std::collections::VecDeque;

use trace_format::{ChainId, ClassId, JavaThreadId, MethodId, ThreadId};

use crate::collections::hash::SeededMap;
use crate::resolve::owned_event::OwnedEvent;

/// What has to be described before an event can be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Missing {
    Thread(ThreadId),
    JavaThread(JavaThreadId),
    Class(ClassId),
    Method(MethodId),
    Chain(ChainId),
}

/// An event that is held back.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) thread: ThreadId,
    pub(crate) event: OwnedEvent,
}

/// The events that are held back, by what they wait for.
#[derive(Debug)]
pub(crate) struct UnresolvedEvents {
    waiting: SeededMap<Missing, Vec<Held>>,
    /// In the order in which the first event began to wait for each; also what is not missing any
    /// more.
    order: VecDeque<(Position, Missing)>,
    len: usize,
    max: usize,
    now: Position,
}

/// A position in the trace.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    /// The chunks of events before it.
    chunk: u64,
    /// The moments before it: each time that the tracer had written all buffers.
    moment: u64,
}

/// How many events to hold back at most, and the part of the events that may be pending which
/// that is at most.
const MAX_HELD: usize = 1 << 18;
const PART_OF_PENDING: usize = 8;
/// They are held back in any case.
const MIN_HELD: usize = 1 << 10;

/// How many chunks to wait for a description at most: fewer than have as many events as the
/// rearranger holds back. The tracer writes every buffer about once a second, and writes no
/// hundred chunks meanwhile.
const MAX_CHUNKS: u64 = 1 << 7;

/// Maximum number of moments to wait for a description. The trace of a program that hangs has one
/// chunk of events, and a moment once a second.
const MAX_MOMENTS: u64 = 1 << 4;

impl Missing {
    /// Returns the maximum number of moments to wait for it. A thread that others name can be
    /// described at any time later: it is renamed then.
    fn max_moments(self) -> u64 {
        match self {
            Self::JavaThread(_) => 1,
            Self::Thread(_) | Self::Class(_) | Self::Method(_) | Self::Chain(_) => MAX_MOMENTS,
        }
    }
}

impl UnresolvedEvents {
    /// Creates one for an analysis that may hold back `max_pending` events for other reasons.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            waiting: SeededMap::default(),
            order: VecDeque::new(),
            len: 0,
            max: (max_pending / PART_OF_PENDING).clamp(MIN_HELD, MAX_HELD),
            now: Position::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// One more, and some have to be given up.
    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.max
    }

    /// Something is described that events wait for.
    pub(crate) fn contains(&self, missing: Missing) -> bool {
        self.waiting.contains_key(&missing)
    }

    /// Holds back an event until `missing` is described.
    pub(crate) fn push(&mut self, missing: Missing, held: Held) {
        let waiting = self.waiting.entry(missing).or_insert_with(|| {
            self.order.push_back((self.now, missing));
            Vec::new()
        });
        waiting.push(held);
        self.len += 1;
    }

    /// The events that waited for this.
    pub(crate) fn take(&mut self, missing: Missing) -> Vec<Held> {
        let events = self.waiting.remove(&missing).unwrap_or_default();
        self.len -= events.len();
        if self.len == 0 {
            self.order.clear();
        }
        events
    }

    /// Notes that one more chunk of events has been read.
    pub(crate) fn next_chunk(&mut self) {
        self.now.chunk += 1;
    }

    /// Notes that all buffers were written. Returns what has been missing for too many moments.
    pub(crate) fn next_moment(&mut self) -> Vec<Missing> {
        self.now.moment += 1;
        let moment = self.now.moment;
        let overdue = self.order.iter().filter(|(since, missing)| {
            since.moment + missing.max_moments() <= moment && self.contains(*missing)
        });
        overdue.map(|&(_, missing)| missing).collect()
    }

    /// What has been missing the longest; with `only_old`, if that is too long.
    pub(crate) fn oldest(&mut self, only_old: bool) -> Option<Missing> {
        while let Some(&(since, missing)) = self.order.front() {
            if only_old && since.chunk + MAX_CHUNKS > self.now.chunk {
                return None;
            }
            self.order.pop_front();
            if self.contains(missing) {
                return Some(missing);
            }
        }
        None
    }
}
