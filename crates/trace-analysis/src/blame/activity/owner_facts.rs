//! Passes facts about owners on: adds them up directly, or sends them to a thread that does.

use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

use crate::blame::activity::owner_fact::OwnerFact;
use crate::blame::activity::sums::{OwnerTimes, OwnerTimesSum};
use crate::blame::timeline::hold_spans::{HoldSpan, HoldSpans, ThreadTime};
use crate::collections::batch::{Batch, MAX_WAITING};
use crate::model::wait::{Detail, OwnerActivity, Wait, WaitKind};
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
            is_in_roots: detail.has_roots() && !detail.adds_up_roots(),
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
        match &mut self.thread {
            Some(thread) => thread.append(&mut spans.spans),
            None => self.sum.add_spans(&mut spans.spans),
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
            thread.send_facts();
            thread.send_spans();
        }
        self.sum.finish()
    }
}

/// Passes facts to a thread that adds them up.
#[derive(Debug)]
pub(crate) struct ToThread {
    facts: Batch<OwnerFact>,
    spans: Batch<HoldSpan>,
    queue: SyncSender<Message>,
}

/// What goes to the thread.
enum Message {
    Facts(Vec<OwnerFact>),
    Spans(Vec<HoldSpan>),
}

/// The state of that thread.
pub(crate) struct AddingUp {
    queue: Receiver<Message>,
    empty_facts: Sender<Vec<OwnerFact>>,
    empty_spans: Sender<Vec<HoldSpan>>,
}

/// Both ends of a queue of facts.
pub(crate) fn queue() -> (ToThread, AddingUp) {
    let (queue, messages) = sync_channel(MAX_WAITING);
    let (facts, empty_facts) = Batch::new();
    let (spans, empty_spans) = Batch::new();
    let to_thread = ToThread {
        facts,
        spans,
        queue,
    };
    let adding_up = AddingUp {
        queue: messages,
        empty_facts,
        empty_spans,
    };
    (to_thread, adding_up)
}

impl ToThread {
    #[inline]
    fn push(&mut self, fact: OwnerFact) {
        if self.facts.push(fact) {
            self.send_facts();
        }
    }

    #[inline]
    fn append(&mut self, spans: &mut Vec<HoldSpan>) {
        if self.spans.append(spans) {
            self.send_spans();
        }
    }

    /// A thread that does not take its facts has panicked, which is found when it is joined.
    fn send_facts(&mut self) {
        if let Some(facts) = self.facts.take() {
            let _ = self.queue.send(Message::Facts(facts));
        }
    }

    fn send_spans(&mut self) {
        if let Some(spans) = self.spans.take() {
            let _ = self.queue.send(Message::Spans(spans));
        }
    }
}

impl AddingUp {
    /// Adds up all facts, until there will be no more.
    pub(crate) fn run(self) -> OwnerTimes {
        let mut sum = OwnerTimesSum::default();
        // The sender may be gone when a batch is given back: then nobody needs it.
        for message in self.queue {
            match message {
                Message::Facts(mut facts) => {
                    for fact in facts.drain(..) {
                        sum.add(fact);
                    }
                    let _ = self.empty_facts.send(facts);
                }
                Message::Spans(mut spans) => {
                    sum.add_spans(&mut spans);
                    let _ = self.empty_spans.send(spans);
                }
            }
        }
        sum.finish()
    }
}
