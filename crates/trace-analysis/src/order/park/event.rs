//! Park events, their references resolved.

use trace_format::{
    ExclusiveRelease, Hold, JavaThreadId, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Permit,
};

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::entity_store::EntityStore;
use crate::model::optional_index::OptionalIndex;
use crate::model::synchronizer::Synchronizer;
use crate::model::wait::Owner;
use crate::order::park::permits::Waker;
use crate::order::rearranger::Ordered;
use crate::resolve::resolver::Resolver;
use crate::resolve::unresolved_events::Missing;

/// A park event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParkEvent {
    Begin(Begin),
    End(End),
    Unpark(Unpark),
    Release(Release),
    /// A lost event of the thread that stands for `numbers` numbers.
    Lost {
        thread: ThreadIndex,
        numbers: u64,
    },
}

// Many are held back: one line of a processor's cache each.
const _: () = assert!(size_of::<ParkEvent>() <= 64);

/// The thread parks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) lock: LockIndex,
    pub(crate) synchronizer: Synchronizer,
    pub(crate) owner: OptionalIndex<ThreadIndex>,
    pub(crate) continued: bool,
    /// How long it parks at most.
    pub(crate) timeout: ParkTimeout,
    pub(crate) chain: ChainIndex,
    /// It waits in `Object.wait`.
    pub(crate) monitor: bool,
}

/// The thread parks no longer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) reason: ParkEndReason,
    pub(crate) permit: Permit,
    pub(crate) unpark_elsewhere: bool,
    pub(crate) owner: OptionalIndex<ThreadIndex>,
    pub(crate) safepoint_ns: u64,
    /// Who gave the permit, as far as is known. In `Object.wait`, the notification says so.
    pub(crate) waker: Option<Waker>,
    /// It was in `Object.wait`.
    pub(crate) monitor: bool,
}

/// The thread unparks the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpark {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) target: JavaThreadId,
    pub(crate) permit: Permit,
    /// What the target waited for, as the thread saw it.
    pub(crate) lock: LockIndex,
    pub(crate) owner: OptionalIndex<ThreadIndex>,
    /// What it gives is no permit that it had.
    pub(crate) never_acquired: bool,
    pub(crate) chain: ChainIndex,
    /// Of a notification: how many threads waited; otherwise 0.
    pub(crate) waiters: u32,
}

/// The thread, which has the lock alone, is about to release it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) lock: LockIndex,
    pub(crate) synchronizer: Synchronizer,
    pub(crate) hold: Hold,
    pub(crate) chain: ChainIndex,
}

impl Ordered for ParkEvent {
    const ANY: Self = Self::Lost {
        thread: ThreadIndex(0),
        numbers: 1,
    };

    #[inline]
    fn numbers(&self) -> u64 {
        match *self {
            Self::Lost { numbers, .. } => numbers,
            _ => 1,
        }
    }

    #[inline]
    fn is_last(&self) -> bool {
        false
    }
}

impl Release {
    /// Returns the thread that released the lock, as its owner until then.
    pub(crate) fn owner(&self) -> Owner {
        Owner::Thread {
            thread: self.thread,
            chain: self.chain,
        }
    }
}

impl End {
    /// Another thread's unpark ended the park, or made it unnecessary.
    pub(crate) fn is_unparked(&self) -> bool {
        matches!(
            self.reason,
            ParkEndReason::Unparked | ParkEndReason::PermitAvailable
        )
    }
}

impl Begin {
    /// That `thread` parks.
    #[inline(always)]
    pub(crate) fn bind(
        thread: ThreadIndex,
        park: &ParkBegin,
        resolver: &mut Resolver,
        entities: &mut EntityStore,
    ) -> Result<Self, Missing> {
        Ok(Self {
            thread,
            time_ns: park.time_ns,
            lock: resolver.blocker(park.blocker, entities)?,
            // A thread that waits for a notification does not use the object as its class says.
            synchronizer: match park.monitor {
                true => Synchronizer::Condition,
                false => resolver.synchronizer(park.blocker.class, entities)?,
            },
            owner: resolver.java_thread(park.owner)?.into(),
            continued: park.continued,
            timeout: park.timeout,
            chain: resolver.chain(park.chain, entities)?,
            monitor: park.monitor,
        })
    }
}

impl End {
    /// That `thread` parks no longer.
    #[inline(always)]
    pub(crate) fn bind(
        thread: ThreadIndex,
        park: &ParkEnd,
        resolver: &mut Resolver,
    ) -> Result<Self, Missing> {
        Ok(Self {
            thread,
            time_ns: park.time_ns,
            reason: park.reason,
            permit: park.permit,
            unpark_elsewhere: park.unpark_elsewhere,
            owner: resolver.java_thread(park.owner)?.into(),
            safepoint_ns: park.safepoint_ns,
            waker: None,
            monitor: park.monitor,
        })
    }
}

impl Unpark {
    /// That `thread` unparks another one.
    #[inline(always)]
    pub(crate) fn bind(
        thread: ThreadIndex,
        unpark: &trace_format::Unpark,
        resolver: &mut Resolver,
        entities: &mut EntityStore,
    ) -> Result<Self, Missing> {
        Ok(Self {
            thread,
            time_ns: unpark.time_ns,
            target: unpark.target,
            permit: unpark.permit,
            lock: resolver.blocker(unpark.blocker, entities)?,
            owner: resolver.java_thread(unpark.owner)?.into(),
            never_acquired: unpark.never_acquired,
            chain: resolver.chain(unpark.chain, entities)?,
            waiters: unpark.waiters,
        })
    }
}

impl Release {
    /// That `thread` releases a lock that it has alone.
    #[inline(always)]
    pub(crate) fn bind(
        thread: ThreadIndex,
        release: &ExclusiveRelease,
        resolver: &mut Resolver,
        entities: &mut EntityStore,
    ) -> Result<Self, Missing> {
        Ok(Self {
            thread,
            time_ns: release.time_ns,
            lock: resolver.blocker(release.blocker, entities)?,
            synchronizer: resolver.synchronizer(release.blocker.class, entities)?,
            hold: release.hold,
            chain: resolver.chain(release.chain, entities)?,
        })
    }
}
