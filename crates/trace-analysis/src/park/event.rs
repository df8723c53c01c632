//! Park events, their references resolved.

use trace_format::{JavaThreadId, LockId, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Permit};

use super::Synchronizer;
use crate::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::metadata::Resolver;
use crate::rearranger::Ordered;

/// A park event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParkEvent {
    Begin {
        thread: ThreadIndex,
        time_ns: u64,
        lock: LockIndex,
        synchronizer: Synchronizer,
        owner: Option<ThreadIndex>,
        continued: bool,
        timed: bool,
        chain: ChainIndex,
    },
    End {
        thread: ThreadIndex,
        java_id: JavaThreadId,
        time_ns: u64,
        reason: ParkEndReason,
        permit: Permit,
        unpark_elsewhere: bool,
        owner: Option<ThreadIndex>,
        safepoint_ns: u64,
    },
    Unpark {
        thread: ThreadIndex,
        time_ns: u64,
        target: JavaThreadId,
        permit: Permit,
        lock: LockIndex,
        owner: Option<ThreadIndex>,
        chain: ChainIndex,
    },
    /// What the thread wrote will never be known.
    Lost { thread: ThreadIndex },
}

/// An event and its place: domain and number.
pub(crate) type Numbered = (LockId, u64, ParkEvent);

impl Ordered for ParkEvent {
    fn is_last(&self) -> bool {
        false
    }
}

impl ParkEvent {
    /// That `thread` parks.
    pub(crate) fn begin(
        thread: ThreadIndex,
        park: &ParkBegin,
        resolver: &mut Resolver,
        entities: &mut Entities,
    ) -> Numbered {
        let event = Self::Begin {
            thread,
            time_ns: park.time_ns,
            lock: resolver.blocker(park.blocker, entities),
            synchronizer: resolver.synchronizer(park.blocker.class, entities),
            owner: resolver.java_thread(park.owner, entities),
            continued: park.continued,
            timed: park.timeout != ParkTimeout::None,
            chain: resolver.chain(park.chain, entities),
        };
        (park.domain, park.sequence, event)
    }

    /// That `thread` parks no longer.
    pub(crate) fn end(
        thread: ThreadIndex,
        park: &ParkEnd,
        resolver: &mut Resolver,
        entities: &mut Entities,
    ) -> Numbered {
        let event = Self::End {
            thread,
            java_id: entities.thread(thread).java_id,
            time_ns: park.time_ns,
            reason: park.reason,
            permit: park.permit,
            unpark_elsewhere: park.unpark_elsewhere,
            owner: resolver.java_thread(park.owner, entities),
            safepoint_ns: park.safepoint_ns,
        };
        (park.domain, park.sequence, event)
    }

    /// That `thread` unparks another one.
    pub(crate) fn unpark(
        thread: ThreadIndex,
        unpark: &trace_format::Unpark,
        resolver: &mut Resolver,
        entities: &mut Entities,
    ) -> Numbered {
        let event = Self::Unpark {
            thread,
            time_ns: unpark.time_ns,
            target: unpark.target,
            permit: unpark.permit,
            lock: resolver.blocker(unpark.blocker, entities),
            owner: resolver.java_thread(unpark.owner, entities),
            chain: resolver.chain(unpark.chain, entities),
        };
        (unpark.domain, unpark.sequence, event)
    }
}
