//! Decoding of a trace by a thread of its own, some events ahead of those who take them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use trace_format::{Event, ThreadId};

use crate::contents::{Contents, OnEvent};
use crate::owned_event::OwnedEvent;
use crate::trace_file::TraceError;
use crate::trace_input::TraceInput;

/// Decoded events of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) events: Vec<(ThreadId, OwnedEvent)>,
    /// Set at the end of a chunk.
    pub(crate) end: Option<ChunkEnd>,
}

/// The end of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkEnd {
    /// It was a chunk of events.
    pub(crate) has_events: bool,
    /// Bytes of the trace read until then.
    pub(crate) bytes: u64,
}

/// Events that are passed on together.
const BATCH: usize = 2048;

/// Batches that may wait to be taken.
const MAX_WAITING: usize = 4;

/// Decodes a trace.
pub(crate) struct Decoder {
    batches: SyncSender<Decoded>,
    /// Batches to be filled again.
    empty: Receiver<Vec<(ThreadId, OwnedEvent)>>,
}

/// Where decoded events come from.
pub(crate) struct DecodedEvents {
    batches: Receiver<Decoded>,
    empty: Sender<Vec<(ThreadId, OwnedEvent)>>,
}

/// A decoder, and who takes its events.
pub(crate) fn decode_ahead() -> (Decoder, DecodedEvents) {
    let (to_taker, batches) = sync_channel(MAX_WAITING);
    let (to_decoder, empty) = channel();
    let decoder = Decoder {
        batches: to_taker,
        empty,
    };
    let events = DecodedEvents {
        batches,
        empty: to_decoder,
    };
    (decoder, events)
}

/// Nobody takes the events any more.
struct NobodyTakes;

/// The events that are passed on next.
struct Filling<'d> {
    decoder: &'d Decoder,
    batch: Vec<(ThreadId, OwnedEvent)>,
    taken: Result<(), NobodyTakes>,
}

impl Filling<'_> {
    #[inline(never)]
    fn pass_on(&mut self, end: Option<ChunkEnd>) {
        let full = std::mem::replace(&mut self.batch, self.decoder.batch());
        if self.taken.is_ok() {
            self.taken = self.decoder.send(full, end);
        }
    }
}

impl OnEvent for Filling<'_> {
    #[inline(always)]
    fn event(&mut self, thread: ThreadId, event: &Event<'_>) {
        self.batch.push((thread, OwnedEvent::new(event)));
        if self.batch.len() == BATCH {
            self.pass_on(None);
        }
    }
}

impl Decoder {
    /// Decodes the trace until its end, or until nobody takes its events any more. Returns what
    /// it consists of.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub(crate) fn run(self, input: &mut TraceInput) -> Result<Contents, TraceError> {
        let mut contents = Contents::default();
        let mut filling = Filling {
            decoder: &self,
            batch: self.batch(),
            taken: Ok(()),
        };
        loop {
            let Some(chunk) = input.next_chunk()? else {
                return Ok(contents);
            };
            let has_events = contents.chunk(chunk, &mut filling);
            let end = ChunkEnd {
                has_events,
                bytes: input.offset(),
            };
            filling.pass_on(Some(end));
            if filling.taken.is_err() {
                return Ok(contents);
            }
        }
    }

    fn batch(&self) -> Vec<(ThreadId, OwnedEvent)> {
        let used = self.empty.try_recv();
        let mut batch = used.unwrap_or_else(|_| Vec::with_capacity(BATCH));
        batch.clear();
        batch
    }

    fn send(
        &self,
        events: Vec<(ThreadId, OwnedEvent)>,
        end: Option<ChunkEnd>,
    ) -> Result<(), NobodyTakes> {
        let sent = self.batches.send(Decoded { events, end });
        sent.map_err(|_| NobodyTakes)
    }
}

impl DecodedEvents {
    /// Returns the next events; `None` at the end.
    pub(crate) fn next(&self) -> Option<Decoded> {
        self.batches.recv().ok()
    }

    /// Gives back the memory of events.
    pub(crate) fn recycle(&self, events: Vec<(ThreadId, OwnedEvent)>) {
        // The decoder may have finished.
        let _ = self.empty.send(events);
    }
}
