//! Snapshots of a trace, which may still be written.
//!
//! A thread reads the trace and takes snapshots between two chunks: the tracer writes one at least
//! about once a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trace_analysis::{
    Analysis, Detail, Entities, Limits, TraceAnalysis, TraceError, TraceInput, TraceSummary, Wait,
};
use trace_format::{Chunk, Counter};

use crate::arguments::waits::KindArguments;
use crate::top::capture::{Capture, Moment};
use crate::top::snapshot::{Phase, TopSnapshot};
use crate::{input, outcome};

/// The newest snapshot, or why there will be no more.
type Latest = Arc<Mutex<Option<Result<Arc<TopSnapshot>, TraceError>>>>;

/// See the [module](self).
pub(crate) struct TraceSource(Latest);

impl TraceSource {
    /// Begins to read a trace, and takes a snapshot at most once in `interval`. The tables are
    /// about waits of these kinds.
    pub(crate) fn start(input: TraceInput, kinds: KindArguments, interval: Duration) -> Self {
        let latest = Latest::default();
        let reader = Reader {
            latest: Arc::clone(&latest),
            capture: Capture::new(input.path(), input.header()),
            kinds,
            interval,
            has_caught_up: false,
            next_live: Instant::now(),
            next_behind: Instant::now() + interval,
        };
        thread::spawn(move || reader.read(input));
        Self(latest)
    }

    /// Returns the newest snapshot; `None` before the first one. Does not wait.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read: there will be no more.
    pub(crate) fn latest(&mut self) -> outcome::Result<Option<Arc<TopSnapshot>>> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            None => Ok(None),
            Some(Ok(snapshot)) => Ok(Some(Arc::clone(snapshot))),
            Some(Err(_)) => match latest.take() {
                Some(Err(error)) => Err(error.into()),
                _ => Ok(None),
            },
        }
    }
}

struct Reader {
    latest: Latest,
    capture: Capture,
    kinds: KindArguments,
    interval: Duration,
    /// All that had been written was read at some time.
    has_caught_up: bool,
    /// When to take the next snapshot, at the earliest: if all that is written has been read, and
    /// if not.
    next_live: Instant,
    next_behind: Instant,
}

/// At most this part of the time is spent on snapshots.
const CAPTURE_SHARE: u32 = 5;

impl Reader {
    fn read(mut self, input: TraceInput) {
        let snapshot = self.read_all(input);
        self.publish(snapshot);
    }

    fn publish(&self, snapshot: Result<TopSnapshot, TraceError>) {
        let snapshot = snapshot.map(Arc::new);
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
    }

    /// Reads to the end, and takes the last snapshot.
    fn read_all(&mut self, mut input: TraceInput) -> Result<TopSnapshot, TraceError> {
        let mut analysis = Analysis::new(Limits::default()).with_detail(Detail::CONTENTIONS);
        let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
        while let Some(chunk) = input.next_chunk()? {
            // It says until when the trace is complete: what has been read is about that moment,
            // and what comes next already about a later one. Until the first one, what busy threads
            // have written may be there, and what threads are blocked by since the start not yet.
            let is_complete = matches!(chunk, Chunk::Counters(_));
            if let Chunk::Counters(counters) = &chunk {
                let known = counters.clone().flatten();
                let earlier = known.filter(|&(counter, _)| counter == Counter::EarlierWaits);
                self.capture.earlier_waits = earlier.map(|(_, value)| value).sum();
            }
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
        Ok(self.capture.take(&moment, analysis.entities()))
    }

    fn add(&mut self, trace: &mut TraceAnalysis<'_>, chunk: Chunk<'_>) {
        trace.chunk(chunk, &mut self.sink());
    }

    /// Takes the waits that the tables are about.
    fn sink(&mut self) -> impl FnMut(&Wait, &Entities) {
        let Self { capture, kinds, .. } = self;
        |wait, entities| {
            if kinds.contains(wait.kind) {
                capture.recent.add(wait, entities);
            }
        }
    }

    /// Takes a snapshot of the events so far.
    fn take(&mut self, trace: &mut TraceAnalysis<'_>, phase: Phase) {
        let start = Instant::now();
        let moment = Moment::of(&trace.snapshot(), phase, &self.kinds);
        let snapshot = self.capture.take(&moment, trace.entities());
        self.publish(Ok(snapshot));
        let (now, least) = (Instant::now(), start.elapsed() * CAPTURE_SHARE);
        // Several chunks come at once: the snapshot wanted is that behind the last one.
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
