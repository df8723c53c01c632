//! Pictures of a trace, which may still be written.
//!
//! A thread reads the trace and takes pictures between two chunks: the tracer writes one at least
//! about once a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trace_analysis::{
    Analysis, Detail, Entities, Limits, TraceAnalysis, TraceError, TraceInput, TraceSummary, Wait,
};
use trace_format::Chunk;

use crate::cli::KindArguments;
use crate::input;
use crate::top::photographer::{Moment, Photographer};
use crate::top::picture::{Phase, Picture};
use crate::top::source::Source;

/// The newest picture, or why there will be no more.
type Latest = Arc<Mutex<Option<Result<Arc<Picture>, TraceError>>>>;

/// See the [module](self).
pub(crate) struct TraceSource(Latest);

impl TraceSource {
    /// Begins to read a trace, and takes a picture at most once in `interval`. The tables are
    /// about waits of these kinds.
    pub(crate) fn start(input: TraceInput, kinds: KindArguments, interval: Duration) -> Self {
        let latest = Latest::default();
        let reader = Reader {
            latest: Arc::clone(&latest),
            photographer: Photographer::new(input.path(), input.header()),
            kinds,
            interval,
            has_caught_up: false,
            next_live: Instant::now(),
            next_behind: Instant::now() + interval,
        };
        thread::spawn(move || reader.read(input));
        Self(latest)
    }
}

impl Source for TraceSource {
    fn latest(&mut self) -> anyhow::Result<Option<Arc<Picture>>> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            None => Ok(None),
            Some(Ok(picture)) => Ok(Some(Arc::clone(picture))),
            Some(Err(_)) => match latest.take() {
                Some(Err(error)) => Err(error.into()),
                _ => Ok(None),
            },
        }
    }
}

struct Reader {
    latest: Latest,
    photographer: Photographer,
    kinds: KindArguments,
    interval: Duration,
    /// All that had been written was read at some time.
    has_caught_up: bool,
    /// When to take the next picture, at the earliest: if all that is written has been read, and
    /// if not.
    next_live: Instant,
    next_behind: Instant,
}

/// At most this part of the time is spent on pictures.
const PICTURE_SHARE: u32 = 5;

impl Reader {
    fn read(mut self, input: TraceInput) {
        let picture = self.read_all(input);
        self.publish(picture);
    }

    fn publish(&self, picture: Result<Picture, TraceError>) {
        let picture = picture.map(Arc::new);
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(picture);
    }

    /// Reads to the end, and takes the last picture.
    fn read_all(&mut self, mut input: TraceInput) -> Result<Picture, TraceError> {
        let mut analysis = Analysis::new(Limits::default()).with_detail(Detail::Contentions);
        let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
        while let Some(chunk) = input.next_chunk()? {
            // It says until when the trace is complete: what has been read is about that moment,
            // and what comes next already about a later one. Until the first one, what busy threads
            // have written may be there, and what threads are blocked by since the start not yet.
            let is_complete = matches!(chunk, Chunk::Counters(_));
            self.add(&mut trace, chunk);
            let phase = self.phase(&input);
            let next = match phase {
                Phase::CatchingUp { .. } => self.next_behind,
                Phase::Live | Phase::Ended => self.next_live,
            };
            let is_moment = is_complete || phase != Phase::Live;
            if is_moment && Instant::now() >= next {
                self.take(&mut trace, phase);
            }
        }
        let range = trace.range();
        let findings = trace.finish(&mut self.sink());
        let summary = TraceSummary::new(&input, range, findings);
        let moment = Moment::at_end(&summary);
        Ok(self.photographer.take(&moment, analysis.entities()))
    }

    fn add(&mut self, trace: &mut TraceAnalysis<'_>, chunk: Chunk<'_>) {
        trace.chunk(chunk, &mut self.sink());
    }

    /// Takes the waits that the tables are about.
    fn sink(&mut self) -> impl FnMut(&Wait, &Entities) {
        let Self {
            photographer,
            kinds,
            ..
        } = self;
        |wait, entities| {
            if kinds.contains(wait.kind) {
                photographer.recent.add(wait, entities);
            }
        }
    }

    /// Takes a picture of the events so far.
    fn take(&mut self, trace: &mut TraceAnalysis<'_>, phase: Phase) {
        let start = Instant::now();
        let moment = Moment::of(&trace.snapshot(), phase, &self.kinds);
        let picture = self.photographer.take(&moment, trace.entities());
        self.publish(Ok(picture));
        let (now, least) = (Instant::now(), start.elapsed() * PICTURE_SHARE);
        // Several chunks come at once: the picture wanted is that behind the last one.
        self.next_live = now + least.max(self.interval / 10);
        self.next_behind = now + least.max(self.interval);
    }

    /// Whether there is more to read than has been read.
    fn phase(&mut self, input: &TraceInput) -> Phase {
        let read_bytes = input.offset();
        let total_bytes = input::len_now(input).max(read_bytes);
        let unread_bytes = total_bytes - read_bytes;
        let allowed_bytes = if self.has_caught_up {
            input::MAX_UNREAD_BYTES
        } else {
            0
        };
        self.has_caught_up = unread_bytes <= allowed_bytes;
        if self.has_caught_up {
            Phase::Live
        } else {
            Phase::CatchingUp {
                read_bytes,
                total_bytes,
            }
        }
    }
}
