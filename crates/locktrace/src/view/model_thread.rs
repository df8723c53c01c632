//! The thread that reads the traces, and answers questions meanwhile and afterwards.
//!
//! It has the model for itself: a question waits until the wait at hand is added, not
//! until a trace is read.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use trace_analysis::{Entities, TraceError};

use crate::view::answer::{AnswerError, Question};
use crate::view::loader::{Loaded, Loader, Watcher};
use crate::view::progress::Progress;
use crate::view::state::State;

/// How long to wait for a question before looking whether there is more to read.
const PAUSE: Duration = Duration::from_millis(50);
/// Who does not ask for so long looks at what is there.
const QUIET: Duration = Duration::from_secs(1);
/// Questions that may wait for an answer; a page asks a few at once.
const MAX_WAITING: usize = 64;

/// A question, and where its answer goes.
struct Request {
    question: Question,
    reply: oneshot::Sender<Result<String, AnswerError>>,
}

/// Asks the thread.
#[derive(Clone, Debug)]
pub(crate) struct Asker(SyncSender<Request>);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// The question has none.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// Too many questions are waiting.
    #[error("too many questions at once")]
    Busy,
    /// A trace could not be read.
    #[error("the traces cannot be read")]
    Gone,
}

impl Asker {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    pub(crate) async fn ask(&self, question: Question) -> Result<String, AskError> {
        let (reply, answer) = oneshot::channel();
        match self.0.try_send(Request { question, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(AskError::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(AskError::Gone),
        }
        Ok(answer.await.map_err(|_| AskError::Gone)??)
    }
}

/// The thread, as others see it.
pub(crate) struct ModelThread {
    pub(crate) asker: Asker,
    pub(crate) progress: watch::Receiver<Progress>,
    /// Says why it has ended.
    pub(crate) failure: oneshot::Receiver<TraceError>,
}

/// Starts the thread.
pub(crate) fn start(loader: Loader) -> ModelThread {
    let (sender, requests) = sync_channel(MAX_WAITING);
    let (progress, progress_seen) = watch::channel(loader.progress());
    let (failed, failure) = oneshot::channel();
    thread::spawn(move || {
        let mut answering = Answering { requests, progress };
        match loader.load(&mut answering) {
            Ok(mut loaded) => answering.forever(&mut loaded),
            Err(error) => {
                // Nobody listens once the server has ended.
                let _ = failed.send(error);
            }
        }
    });
    ModelThread {
        asker: Asker(sender),
        progress: progress_seen,
        failure,
    }
}

struct Answering {
    requests: Receiver<Request>,
    progress: watch::Sender<Progress>,
}

impl Watcher for Answering {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.progress.send_replace(progress);
        ControlFlow::Continue(())
    }

    fn look(&mut self, state: &mut State, entities: &Entities) {
        self.answer_all(state, entities);
        state.search_when_due(entities);
    }

    fn wait(&mut self, state: &mut State, entities: &Entities) {
        if let Ok(request) = self.requests.recv_timeout(PAUSE) {
            request.answer(state, entities);
        }
        self.look(state, entities);
    }

    fn before_done(&mut self, state: &mut State, entities: &Entities) {
        state.find_the_rest(entities, |state| self.answer_all(state, entities));
    }
}

impl Answering {
    /// All questions that wait.
    fn answer_all(&self, state: &mut State, entities: &Entities) {
        while let Ok(request) = self.requests.try_recv() {
            request.answer(state, entities);
        }
    }

    /// Until nobody can ask any more. Writes an index as soon as nobody asks for a while.
    fn forever(&self, loaded: &mut Loaded) {
        loop {
            match self.requests.recv_timeout(QUIET) {
                Ok(request) => request.answer(&mut loaded.state, &loaded.entities),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        if let Some(index) = loaded.new_index() {
            thread::spawn(move || index.write());
        }
        while let Ok(request) = self.requests.recv() {
            request.answer(&mut loaded.state, &loaded.entities);
        }
    }
}

impl Request {
    fn answer(self, state: &mut State, entities: &Entities) {
        // The page may have gone on to another question.
        if !self.reply.is_closed() {
            let _ = self.reply.send(state.answer(&self.question, entities));
        }
    }
}
