//! Facts about owners, summed up in the same thread or a separate one.

use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

use crate::blame::activity::owner_times::OwnerTimes;
use crate::blame::activity::sums::{OwnerFact, OwnerTimesSum};
use crate::blame::timeline::hold_spans::{HoldSpans, ThreadTime};
use crate::collections::batch::{Batch, MAX_WAITING};
use crate::model::detail::Detail;
use crate::model::wait::{OwnerActivity, Wait, WaitKind};
use crate::order::system_fact::SystemFact;

/// Collects facts and passes them on.
#[derive(Debug)]
pub(crate) struct OwnerFacts {
    /// The waits have root owners, which include the owners' activity.
    is_in_roots: bool,
    /// The sums of everything, or of what the other thread does not take.
    sum: OwnerTimesSum,
    thread: Option<ToThread>,
}

impl OwnerFacts {
    /// Creates a collector for waits analyzed in this detail.
    pub(crate) fn new(detail: Detail) -> Self {
        Self {
            is_in_roots: detail.roots && detail.has_contentions(),
            sum: OwnerTimesSum::default(),
            thread: None,
        }
    }

    /// Passes facts to `thread` from now on, as far as possible.
    pub(crate) fn pass_to(&mut self, thread: ToThread) {
        self.thread = (!self.is_in_roots).then_some(thread);
    }

    #[inline]
    fn add(&mut self, fact: OwnerFact) {
        match &mut self.thread {
            Some(thread) => thread.push(fact),
            None => self.sum.add(fact),
        }
    }

    /// Adds an action of the JVM or the system.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        self.add(OwnerFact::System(fact));
    }

    /// Adds a wait of a thread, which may own locks itself.
    pub(crate) fn add_own_wait(&mut self, wait: &Wait) {
        if !self.is_in_roots {
            let activity = OwnerActivity::of_wait(wait.kind);
            self.add(OwnerFact::OwnWait(ThreadTime::of(wait), activity));
        }
    }

    /// Takes the spans in which owners held locks that threads waited for.
    pub(crate) fn add_spans(&mut self, spans: &mut HoldSpans) {
        self.sum.add_by_nobody(spans);
        for span in spans.spans.drain(..) {
            self.add(OwnerFact::Held(span));
        }
    }

    /// Adds a selected wait. The owners' activity is derived from its contentions, unless its roots
    /// include it, or spans are added separately.
    pub(crate) fn add_wait(&mut self, wait: &Wait) {
        if wait.kind != WaitKind::Contention {
            return;
        }
        if self.is_in_roots {
            return self.sum.add_roots(wait);
        }
        self.add(OwnerFact::Waited(ThreadTime::of(wait)));
        let mut spans = HoldSpans::default();
        for part in &wait.contentions {
            let time = (part.start_ns, part.start_ns + part.duration_ns);
            spans.add_part(part.owner, time, false);
        }
        self.add_spans(&mut spans);
    }

    /// Returns the sums over everything not passed to another thread.
    pub(crate) fn finish(self) -> OwnerTimes {
        if let Some(mut thread) = self.thread {
            thread.send();
        }
        self.sum.finish()
    }
}

/// A sender of facts to a thread that sums them up.
#[derive(Debug)]
pub(crate) struct ToThread {
    facts: Batch<OwnerFact>,
    queue: SyncSender<Vec<OwnerFact>>,
}

/// The state of the thread that sums up facts.
pub(crate) struct AddingUp {
    queue: Receiver<Vec<OwnerFact>>,
    empty: Sender<Vec<OwnerFact>>,
}

/// Returns both ends of a queue of facts.
pub(crate) fn queue() -> (ToThread, AddingUp) {
    let (to_thread, queue) = sync_channel(MAX_WAITING);
    let (facts, empty) = Batch::new();
    let to_thread = ToThread {
        facts,
        queue: to_thread,
    };
    (to_thread, AddingUp { queue, empty })
}

impl ToThread {
    #[inline]
    fn push(&mut self, fact: OwnerFact) {
        if self.facts.push(fact) {
            self.send();
        }
    }

    /// Sends the batch. If the receiver is gone, it has panicked, which shows when it is joined.
    fn send(&mut self) {
        if let Some(facts) = self.facts.take() {
            let _ = self.queue.send(facts);
        }
    }
}

impl AddingUp {
    /// Sums up facts until the sender closes the queue.
    pub(crate) fn run(self) -> OwnerTimes {
        let mut sum = OwnerTimesSum::default();
        for mut facts in self.queue {
            facts.drain(..).for_each(|fact| sum.add(fact));
            // The sender may be gone, and needs no empty batch then.
            let _ = self.empty.send(facts);
        }
        sum.finish()
    }
}
