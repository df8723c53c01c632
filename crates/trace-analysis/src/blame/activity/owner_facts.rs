//! Facts from which the activity of owners is added up: directly, or by a thread of its own.

use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

use crate::blame::activity::owner_times::OwnerTimes;
use crate::blame::activity::sums::{OwnerFact, OwnerTimesSum};
use crate::blame::timeline::hold_spans::{HoldSpans, ThreadTime};
use crate::collections::batch::{Batch, MAX_WAITING};
use crate::model::detail::Detail;
use crate::model::wait::{OwnerActivity, Wait, WaitKind};
use crate::order::system_fact::SystemFact;

/// Takes facts and passes them on.
#[derive(Debug)]
pub(crate) struct OwnerFacts {
    /// What owners did is in the waits: it is found with what was behind their parts.
    is_in_roots: bool,
    /// All of it, or what the other thread does not need.
    sum: OwnerTimesSum,
    thread: Option<ToThread>,
}

impl OwnerFacts {
    /// Of waits of which so much is found out.
    pub(crate) fn new(detail: Detail) -> Self {
        Self {
            is_in_roots: detail.roots && detail.has_contentions(),
            sum: OwnerTimesSum::default(),
            thread: None,
        }
    }

    /// From now on, that thread adds up what it can.
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

    /// The JVM or the system did that.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        self.add(OwnerFact::System(fact));
    }

    /// A thread, which may own locks, waited.
    pub(crate) fn add_own_wait(&mut self, wait: &Wait) {
        if !self.is_in_roots {
            let activity = OwnerActivity::of_wait(wait.kind);
            self.add(OwnerFact::OwnWait(ThreadTime::of(wait), activity));
        }
    }

    /// Takes when owners had locks that threads waited for.
    pub(crate) fn add_spans(&mut self, spans: &mut HoldSpans) {
        self.sum.add_by_nobody(spans);
        for span in spans.spans.drain(..) {
            self.add(OwnerFact::Held(span));
        }
    }

    /// Takes a wait that is selected. What owners did is looked for of its contentions, unless it is in
    /// its roots, or comes in spans.
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

    /// The sums over all that was not passed to another thread.
    pub(crate) fn finish(self) -> OwnerTimes {
        if let Some(mut thread) = self.thread {
            thread.send();
        }
        self.sum.finish()
    }
}

/// Passes facts to a thread that adds them up.
#[derive(Debug)]
pub(crate) struct ToThread {
    facts: Batch<OwnerFact>,
    queue: SyncSender<Vec<OwnerFact>>,
}

/// The state of that thread.
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

    /// A thread that does not take its facts has panicked, which is found when it is joined.
    fn send(&mut self) {
        if let Some(facts) = self.facts.take() {
            let _ = self.queue.send(facts);
        }
    }
}

impl AddingUp {
    /// Adds up all facts, until there will be no more.
    pub(crate) fn run(self) -> OwnerTimes {
        let mut sum = OwnerTimesSum::default();
        for mut facts in self.queue {
            facts.drain(..).for_each(|fact| sum.add(fact));
            // The sender may be gone: then nobody needs it.
            let _ = self.empty.send(facts);
        }
        sum.finish()
    }
}
