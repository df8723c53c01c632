//! The order of park events.

use trace_format::LockId;

use super::event::{Numbered, ParkEvent};
use super::permits::{Permits, Waker};
use crate::counter::Counters;
use crate::entity::Entities;
use crate::rearranger::{Rearranger, Step};

/// Finds the unpark that ended each park, and puts the events of each domain in order.
#[derive(Debug)]
pub(crate) struct ParkOrder {
    permits: Permits<Numbered>,
    rearranger: Rearranger<ParkEvent>,
}

impl ParkOrder {
    /// Holds back up to `max_pending` events.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            permits: Permits::new(max_pending),
            // The tracer numbers them from 1 on.
            rearranger: Rearranger::new(1, max_pending),
        }
    }

    /// Takes an event, and releases what is due. They may come in any order.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        numbered: Numbered,
        entities: &Entities,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<ParkEvent>, &mut Counters),
    ) {
        // The events behind a park end that is held back are more than it.
        if self.rearranger.is_full() || self.permits.is_full() {
            for end in self.permits.give_up_oldest() {
                self.pass_on(end, counters, &mut release);
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
                self.pass_on(numbered, counters, &mut release);
                if let Some(held) = held {
                    self.pass_on(woken(held, Some(waker)), counters, &mut release);
                }
            }
            ParkEvent::End(end) if !end.permit.is_none() => {
                let java_id = entities.thread(end.thread).java_id;
                let passed = match self.permits.take(java_id, end.permit) {
                    None => self.permits.hold(java_id, end.permit, numbered),
                    waker => Some(woken(numbered, waker)),
                };
                if let Some(end) = passed {
                    self.pass_on(end, counters, &mut release);
                }
            }
            _ => self.pass_on(numbered, counters, &mut release),
        }
    }

    /// How many events are held back.
    pub(crate) fn pending(&self) -> usize {
        self.rearranger.pending() + self.permits.pending()
    }

    /// No more events: releases what is held back without what never came.
    pub(crate) fn finish(
        &mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<ParkEvent>, &mut Counters),
    ) {
        for end in self.permits.give_up_all() {
            self.pass_on(end, counters, &mut release);
        }
        self.rearranger.finish(counters, release);
    }

    #[inline]
    fn pass_on(
        &mut self,
        (domain, sequence, event): Numbered,
        counters: &mut Counters,
        release: &mut impl FnMut(LockId, Step<ParkEvent>, &mut Counters),
    ) {
        self.rearranger
            .arrive(domain, sequence, event, counters, release);
    }
}

/// The end of a park, which `waker` has ended.
fn woken((domain, sequence, event): Numbered, waker: Option<Waker>) -> Numbered {
    let event = match event {
        ParkEvent::End(end) => ParkEvent::End(super::event::End { waker, ..end }),
        event => event,
    };
    (domain, sequence, event)
}
