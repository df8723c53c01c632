//! Parked threads: who made them wait (paper, sections 3.3 and 4.1).
//!
//! ```text
//! events → permits → rearranger → thread dispatcher → lock analyzers, one per blocker → waits
//!                                                   → wakers                          → waits
//! ```
//!
//! * [`Permits`] finds the unpark that ended a park: park end and unpark name
//!   the same permit.
//! * The rearranger puts the events of each domain in order. All events of one
//!   blocker are of one domain.
//! * [`ParkDispatcher`] makes of each thread's begin, unpark and end a bundle,
//!   and passes it on by what the blocker's class means
//!   ([`Synchronizer`](crate::synchronizer::Synchronizer)) and by where the thread stands
//!   ([`Code`](code::Code)).
//! * [`LockAnalyzer`](lock_analyzer::LockAnalyzer) replays the events of one lock, keeps track of the owner,
//!   and splits the waits of all threads over the owners.
//! * Whoever waits for something else than a lock is woken by a thread that takes
//!   the owner's place ([`waker`]).

mod code;
mod dispatcher;
mod event;
mod lock_analyzer;
mod ownership;
mod permits;
mod sink;
mod waker;

pub(crate) use event::{Numbered, ParkEvent};
pub(crate) use sink::Sink;

use crate::contention::OpenWait;
use crate::last_events::TraceEnd;
use crate::rearranger::Rearranger;
use dispatcher::ParkDispatcher;
use permits::{Permits, Waker};

/// The stages of the analysis of parked threads, connected.
#[derive(Debug)]
pub(crate) struct Parks {
    permits: Permits<Numbered>,
    rearranger: Rearranger<ParkEvent>,
    dispatcher: ParkDispatcher,
}

impl Parks {
    /// Of this trace among those analyzed. Holds back up to `max_pending` events.
    pub(crate) fn new(trace: u32, max_pending: usize) -> Self {
        Self {
            permits: Permits::new(max_pending),
            // The tracer numbers them from 1 on.
            rearranger: Rearranger::new(1, max_pending),
            dispatcher: ParkDispatcher::new(trace),
        }
    }

    /// Takes an event. They may come in any order.
    pub(crate) fn event(&mut self, numbered: Numbered, sink: &mut Sink<'_>) {
        // The events behind a park end that is held back are more than it.
        if self.rearranger.is_full() || self.permits.is_full() {
            for end in self.permits.give_up_oldest() {
                self.arrive(end, sink);
            }
        }
        match numbered.2 {
            ParkEvent::Unpark(unpark) => {
                let waker = Waker {
                    thread: unpark.thread,
                    time_ns: unpark.time_ns,
                    chain: unpark.chain,
                    signalled: unpark.never_acquired.then_some(unpark.lock),
                };
                let held = self.permits.give(unpark.target, unpark.permit, waker);
                self.arrive(numbered, sink);
                if let Some(held) = held {
                    self.arrive(held, sink);
                }
            }
            ParkEvent::End(end) => {
                if let Some(end) = self.permits.hold(end.java_id, end.permit, numbered) {
                    self.arrive(end, sink);
                }
            }
            ParkEvent::Begin(_) | ParkEvent::Release(_) | ParkEvent::Lost { .. } => {
                self.arrive(numbered, sink);
            }
        }
    }

    /// How many events are held back.
    pub(crate) fn pending(&self) -> usize {
        self.rearranger.pending() + self.permits.pending()
    }

    /// Adds the waits that have not ended.
    pub(crate) fn add_open(&self, open: &mut Vec<OpenWait>) {
        self.dispatcher.add_open(open);
    }

    /// No more events: waits that have not ended go to `sink` as such.
    pub(crate) fn finish(mut self, end: &TraceEnd, sink: &mut Sink<'_>) {
        for end in self.permits.give_up_all() {
            self.arrive(end, sink);
        }
        let (permits, dispatcher) = (&mut self.permits, &mut self.dispatcher);
        let Sink {
            entities,
            detail,
            range,
            counters,
            wait,
            on_wait,
        } = sink;
        self.rearranger.finish(counters, |domain, step, counters| {
            let mut sink = Sink {
                entities,
                detail: *detail,
                range: *range,
                counters,
                wait,
                on_wait,
            };
            dispatcher.dispatch(domain, step, permits, &mut sink);
        });
        self.dispatcher.finish(end, sink);
    }

    fn arrive(&mut self, (domain, sequence, event): Numbered, sink: &mut Sink<'_>) {
        let (permits, dispatcher) = (&mut self.permits, &mut self.dispatcher);
        let Sink {
            entities,
            detail,
            range,
            counters,
            wait,
            on_wait,
        } = sink;
        self.rearranger.arrive(
            domain,
            sequence,
            event,
            counters,
            |domain, step, counters| {
                let mut sink = Sink {
                    entities,
                    detail: *detail,
                    range: *range,
                    counters,
                    wait,
                    on_wait,
                };
                dispatcher.dispatch(domain, step, permits, &mut sink);
            },
        );
    }
}
