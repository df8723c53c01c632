//! Decoding of a trace by a thread of its own, some events ahead of those who take them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use trace_format::{Event, ThreadId};

use crate::contents::Contents;
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

impl Decoder {
    /// Decodes the trace until its end, or until nobody takes its events any more. Returns what
    /// it consists of.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub(crate) fn run(self, input: &mut TraceInput) -> Result<Contents, TraceError> {
        let mut contents = Contents::default();
        let mut batch = self.batch();
        loop {
            let Some(chunk) = input.next_chunk()? else {
                return Ok(contents);
            };
            let mut taken = Ok(());
            let has_events = contents.chunk(chunk, |thread, event: &Event<'_>| {
                batch.push((thread, OwnedEvent::new(event)));
                if batch.len() == BATCH && taken.is_ok() {
                    let full = std::mem::replace(&mut batch, self.batch());
                    taken = self.send(full, None);
                }
            });
            let end = ChunkEnd {
                has_events,
                bytes: input.offset(),
            };
            let rest = std::mem::replace(&mut batch, self.batch());
            if taken.and_then(|()| self.send(rest, Some(end))).is_err() {
                return Ok(contents);
            }
        }
    }

    fn batch(&self) -> Vec<(ThreadId, OwnedEvent)> {
        let empty = self.empty.try_recv();
        empty.unwrap_or_else(|_| Vec::with_capacity(BATCH))
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
    pub(crate) fn recycle(&self, mut events: Vec<(ThreadId, OwnedEvent)>) {
        events.clear();
        // The decoder may have finished.
        let _ = self.empty.send(events);
    }
}
