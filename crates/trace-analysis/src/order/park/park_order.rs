//! The order of park events.

use trace_format::LockId;

use crate::model::counter::Counters;
use crate::model::entity::Entities;
use crate::order::park::event::{End, ParkEvent};
use crate::order::park::permits::{Permits, Waker};
use crate::order::rearranger::{Rearranger, Step};

/// The end of a park that is held back until its unpark is known.
#[derive(Debug)]
struct HeldEnd {
    domain: LockId,
    sequence: u64,
    end: End,
}

/// Finds the unpark that ended each park, and puts the events of each domain in order.
#[derive(Debug)]
pub(crate) struct ParkOrder {
    permits: Permits<HeldEnd>,
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

    /// Takes an event of a domain, and releases what is due. They may come in any order.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        domain: LockId,
        sequence: u64,
        event: ParkEvent,
        entities: &Entities,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<&ParkEvent>, &mut Counters),
    ) {
        // Most events held back are those after a park end, not the park end itself.
        if self.rearranger.is_full() || self.permits.is_full() {
            self.give_up_oldest(counters, &mut release);
        }
        match event {
            ParkEvent::Unpark(unpark) => {
                let waker = Waker {
                    thread: unpark.thread,
                    time_ns: unpark.time_ns,
                    chain: unpark.chain,
                    signalled: unpark.never_acquired.then_some(unpark.lock).into(),
                };
                let held = self.permits.give(unpark.target, unpark.permit, waker);
                self.rearranger
                    .arrive(domain, sequence, event, counters, &mut release);
                if let Some(held) = held {
                    self.woken(&held, Some(waker), counters, &mut release);
                }
            }
            // A notification has a lower number of the same domain: it needs no matching.
            ParkEvent::End(end) if !end.permit.is_none() && !end.monitor => {
                let java_id = entities.thread(end.thread).java_id;
                let numbered = HeldEnd {
                    domain,
                    sequence,
                    end,
                };
                match self.permits.take(java_id, end.permit) {
                    None => {
                        if let Some(same) = self.permits.hold(java_id, end.permit, numbered) {
                            self.woken(&same, None, counters, &mut release);
                        }
                    }
                    waker => self.woken(&numbered, waker, counters, &mut release),
                }
            }
            _ => self
                .rearranger
                .arrive(domain, sequence, event, counters, &mut release),
        }
    }

    #[cold]
    fn give_up_oldest(
        &mut self,
        counters: &mut Counters,
        release: &mut impl FnMut(LockId, Step<&ParkEvent>, &mut Counters),
    ) {
        for end in self.permits.give_up_oldest() {
            self.woken(&end, None, counters, release);
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
        mut release: impl FnMut(LockId, Step<&ParkEvent>, &mut Counters),
    ) {
        for end in self.permits.give_up_all() {
            self.woken(&end, None, counters, &mut release);
        }
        self.rearranger.finish(counters, release);
    }

    /// `waker` has ended the park, or nobody is known to have.
    #[inline(never)]
    fn woken(
        &mut self,
        held: &HeldEnd,
        waker: Option<Waker>,
        counters: &mut Counters,
        release: &mut impl FnMut(LockId, Step<&ParkEvent>, &mut Counters),
    ) {
        let end = ParkEvent::End(End { waker, ..held.end });
        self.rearranger
            .arrive(held.domain, held.sequence, end, counters, release);
    }
}
