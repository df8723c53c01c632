//! The bytes of the trace on their way from the drainer to the analysis in the same process.
//!
//! The bytes are those of a trace file, so the same reader decodes them. Their number is
//! bounded. If the analysis falls behind, the drainer waits for it, not the application:
//! buffers stay where they are until their bound is reached, and are given up as if a disk
//! were slow.

use std::collections::{TryReserveError, VecDeque};
use std::io::{self, Read};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use trace_report::Question;

/// The queue between the drainer, the analysis, and threads that ask for a report.
#[derive(Debug)]
pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
    /// The most bytes in the queue.
    room: usize,
}

#[derive(Debug, Default)]
struct State {
    bytes: VecDeque<u8>,
    /// Nothing will be appended any more.
    is_closed: bool,
    /// The analysis takes nothing any more.
    is_deaf: bool,
    outcome: Option<Outcome>,
    requests: VecDeque<Request>,
}

/// How an analysis ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its report is written.
    Done,
    /// It panicked.
    Failed,
}

/// A thread waits for a report.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) question: Question,
    /// How many bytes of the trace have to be in the report.
    pub(crate) bytes: u64,
    pub(crate) answer: SyncSender<String>,
}

/// The reader's end of a feed.
pub(crate) struct FeedReader(pub(crate) Arc<Feed>);

impl Feed {
    /// Returns a feed of at most this many bytes.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn new(room: usize) -> Result<Arc<Self>, TryReserveError> {
        let mut state = State::default();
        state.bytes.try_reserve_exact(room)?;
        Ok(Arc::new(Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            room,
        }))
    }

    /// Appends bytes. Waits while the feed is full and the analysis goes on.
    pub(crate) fn append(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let is_full = |state: &mut State| state.bytes.len() >= self.room && state.listens();
            let waited = self.changed.wait_while(self.lock(), is_full);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            if !state.listens() {
                return;
            }
            let room = self.room.saturating_sub(state.bytes.len());
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            state.bytes.extend(now);
            bytes = later;
            self.changed.notify_all();
        }
    }

    /// Nothing will be appended any more.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Everything was appended.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits until the analysis has ended.
    pub(crate) fn await_end(&self) -> Outcome {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = state.outcome {
                return outcome;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How the analysis ended, if it has.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.lock().outcome
    }

    /// Notes that the analysis has ended. Threads that wait for a report get none.
    pub(crate) fn end(&self, outcome: Outcome) {
        let mut state = self.lock();
        state.outcome = Some(outcome);
        state.requests = VecDeque::new();
        state.bytes = VecDeque::new();
        self.changed.notify_all();
    }

    /// The analysis takes nothing any more, but answers.
    pub(crate) fn stop_listening(&self) {
        let mut state = self.lock();
        state.is_deaf = true;
        state.bytes = VecDeque::new();
        self.changed.notify_all();
    }

    /// Asks for a report. Returns false if no answer will come.
    pub(crate) fn ask(&self, request: Request) -> bool {
        let mut state = self.lock();
        let is_answered = state.outcome.is_none() && state.requests.try_reserve(1).is_ok();
        if is_answered {
            state.requests.push_back(request);
            self.changed.notify_all();
        }
        is_answered
    }

    /// Returns the next request that can be answered once this many bytes were analyzed.
    pub(crate) fn take_request(&self, bytes: u64) -> Option<Request> {
        let mut state = self.lock();
        let is_due = state.is_due(bytes);
        if is_due {
            state.requests.pop_front()
        } else {
            None
        }
    }

    /// Waits for the first byte, or the end.
    pub(crate) fn await_begin(&self) {
        self.wait_while(|state| state.bytes.is_empty() && !state.is_closed);
    }

    /// Waits for more bytes, the end, or a request that can be answered once this many bytes were
    /// analyzed.
    pub(crate) fn await_work(&self, bytes: u64) {
        self.wait_while(|state| state.bytes.is_empty() && !state.is_closed && !state.is_due(bytes));
    }

    /// Waits for a request, or the end, of a feed whose bytes are not read any more.
    pub(crate) fn await_request(&self) -> Option<Request> {
        self.wait_while(|state| state.requests.is_empty() && !state.is_closed);
        self.take_request(u64::MAX)
    }

    fn wait_while(&self, condition: impl Fn(&State) -> bool) {
        let waited = self
            .changed
            .wait_while(self.lock(), |state| condition(state));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// A poisoned lock is as good as any: the state is always valid.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn listens(&self) -> bool {
        !self.is_deaf && self.outcome.is_none()
    }

    fn is_due(&self, bytes: u64) -> bool {
        let first = self.requests.front();
        first.is_some_and(|request| request.bytes <= bytes)
    }
}

impl Read for FeedReader {
    /// Has [nothing yet](io::ErrorKind::WouldBlock) while the feed is empty and not closed.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        if state.bytes.is_empty() && !state.is_closed {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let len = state.bytes.read(buffer)?;
        drop(state);
        self.0.changed.notify_all();
        Ok(len)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn bytes_come_in_order_and_memory_is_bounded() {
        const LEN: usize = 100_000;
        let feed = Feed::new(1000).unwrap();
        let writer = Arc::clone(&feed);
        let writer = thread::spawn(move || {
            let bytes: Vec<u8> = (0..LEN).map(|at| (at % 251) as u8).collect();
            bytes.chunks(1777).for_each(|bytes| writer.append(bytes));
            writer.close();
        });
        let mut reader = FeedReader(Arc::clone(&feed));
        let mut read = Vec::new();
        let mut buffer = [0; 300];
        loop {
            assert!(feed.lock().bytes.len() <= 1000);
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => read.extend_from_slice(&buffer[..len]),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    feed.await_work(0);
                }
            }
        }
        writer.join().unwrap();
        assert_eq!(read.len(), LEN);
        assert!(
            read.iter()
                .enumerate()
                .all(|(at, &byte)| byte == (at % 251) as u8)
        );
    }

    #[test]
    fn nobody_waits_for_an_analysis_that_is_over() {
        let feed = Feed::new(10).unwrap();
        let writer = Arc::clone(&feed);
        let writer = thread::spawn(move || writer.append(&[0; 100]));
        thread::sleep(Duration::from_millis(20));
        assert!(!writer.is_finished());
        let (answer, answered) = sync_channel(1);
        let request = |answer| Request {
            question: Question::default(),
            bytes: 50,
            answer,
        };
        assert!(feed.ask(request(answer.clone())));
        assert!(feed.take_request(49).is_none());
        feed.end(Outcome::Failed);
        writer.join().unwrap();
        assert_eq!(feed.await_end(), Outcome::Failed);
        assert!(!feed.ask(request(answer)));
        assert!(answered.recv().is_err());
    }
}
