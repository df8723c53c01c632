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
//!   and passes it on by what the blocker's class means ([`Synchronizer`]) and
//!   by where the thread stands ([`Code`]).
//! * [`LockAnalyzer`] replays the events of one lock, keeps track of the owner,
//!   and splits the waits of all threads over the owners.
//! * Whoever waits for something else than a lock is woken by a thread that takes
//!   the owner's place ([`waker`]).

mod code;
mod dispatcher;
mod event;
mod lock_analyzer;
mod permits;
mod synchronizer;
mod waker;

pub(crate) use event::{Numbered, ParkEvent};
pub(crate) use synchronizer::Synchronizer;

use crate::contention::Wait;
use crate::counter::Counters;
use crate::entity::Entities;
use crate::rearranger::Rearranger;
use code::{Code, CodeTable};
use dispatcher::ParkDispatcher;
use permits::{Permits, Waker};

/// The stages of the analysis of parked threads, connected.
#[derive(Debug)]
pub(crate) struct Parks {
    permits: Permits<Numbered>,
    rearranger: Rearranger<ParkEvent>,
    dispatcher: ParkDispatcher,
}

/// What the stages share.
pub(crate) struct Surroundings<'a> {
    pub(crate) entities: &'a Entities,
    pub(crate) counters: &'a mut Counters,
    /// Takes waits that have ended, all but their numbers.
    pub(crate) on_wait: &'a mut dyn FnMut(&mut Wait, &mut Counters),
}

impl Parks {
    /// Holds back up to `max_pending` events.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            permits: Permits::new(max_pending),
            // The tracer numbers them from 1 on.
            rearranger: Rearranger::new(1, max_pending),
            dispatcher: ParkDispatcher::new(),
        }
    }

    /// Takes an event. They may come in any order.
    pub(crate) fn event(&mut self, numbered: Numbered, around: &mut Surroundings<'_>) {
        match numbered.2 {
            ParkEvent::Unpark {
                thread,
                time_ns,
                target,
                permit,
                chain,
                ..
            } => {
                let waker = Waker {
                    thread,
                    time_ns,
                    chain,
                };
                let held = self.permits.give(target, permit, waker);
                self.arrive(numbered, around);
                if let Some(held) = held {
                    self.arrive(held, around);
                }
            }
            ParkEvent::End {
                java_id,
                permit,
                unpark_elsewhere: true,
                ..
            } => {
                if let Some(end) = self.permits.hold(java_id, permit, numbered) {
                    self.arrive(end, around);
                }
            }
            ParkEvent::Lost { .. } => {
                self.arrive(numbered, around);
                self.release_held(around);
            }
            _ => self.arrive(numbered, around),
        }
    }

    /// No more events.
    pub(crate) fn finish(mut self, around: &mut Surroundings<'_>) {
        self.release_held(around);
        let (permits, dispatcher) = (&mut self.permits, &mut self.dispatcher);
        let Surroundings {
            entities,
            counters,
            on_wait,
        } = around;
        self.rearranger.finish(counters, |domain, step, counters| {
            dispatcher.dispatch(domain, step, permits, entities, counters, on_wait);
        });
        self.dispatcher.finish(counters, on_wait);
    }

    fn release_held(&mut self, around: &mut Surroundings<'_>) {
        for held in self.permits.lose() {
            self.arrive(held, around);
        }
    }

    fn arrive(&mut self, (domain, sequence, event): Numbered, around: &mut Surroundings<'_>) {
        let (permits, dispatcher) = (&mut self.permits, &mut self.dispatcher);
        let Surroundings {
            entities,
            counters,
            on_wait,
        } = around;
        self.rearranger.arrive(
            domain,
            sequence,
            event,
            counters,
            |domain, step, counters| {
                dispatcher.dispatch(domain, step, permits, entities, counters, on_wait);
            },
        );
    }
}
