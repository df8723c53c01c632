//! What the class of a blocker means.

use crate::model::wait::Resource;

/// What a blocker is to those who park on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synchronizer {
    /// An exclusive lock that knows its owner.
    ReentrantLock,
    /// Of `ReentrantReadWriteLock`: knows the writer that owns it.
    ReadWriteLock,
    /// Of `StampedLock`: knows no owner.
    StampedLock,
    /// Of `Semaphore`: the thread that releases a permit had it.
    Semaphore,
    /// Built on `AbstractQueuedSynchronizer` by somebody else. It is a lock if it
    /// is acquired exclusively, or says that it has an owner.
    Queued,
    /// Parking on it waits for another thread to do something.
    Condition,
    /// Of a pool of workers, which park on it when they have no work.
    Pool,
    /// Not known to be any of these, or nothing.
    Other,
}

impl Synchronizer {
    /// What the class of this name means, `None` if its superclass decides.
    pub(crate) fn of_class(name: &str) -> Option<Self> {
        let name = name.strip_prefix("java.util.concurrent.")?;
        Some(match name {
            "locks.ReentrantLock$Sync" | "ThreadPoolExecutor$Worker" => Self::ReentrantLock,
            "locks.ReentrantReadWriteLock$Sync" => Self::ReadWriteLock,
            "locks.StampedLock" => Self::StampedLock,
            "Semaphore$Sync" => Self::Semaphore,
            "locks.AbstractQueuedSynchronizer" | "locks.AbstractQueuedLongSynchronizer" => {
                Self::Queued
            }
            "CountDownLatch$Sync"
            | "locks.AbstractQueuedSynchronizer$ConditionObject"
            | "locks.AbstractQueuedLongSynchronizer$ConditionObject"
            | "CompletableFuture$Signaller"
            | "Exchanger"
            | "FutureTask"
            | "LinkedTransferQueue"
            | "Phaser"
            | "Phaser$QNode"
            | "SynchronousQueue$TransferQueue"
            | "SynchronousQueue$TransferStack" => Self::Condition,
            "ForkJoinPool" => Self::Pool,
            _ => return None,
        })
    }

    /// Returns whether it is a lock, no matter which threads park on it and how.
    pub(crate) fn is_lock(self) -> bool {
        matches!(
            self,
            Self::ReentrantLock | Self::ReadWriteLock | Self::StampedLock | Self::Semaphore
        )
    }

    /// It says who owns it exclusively, if somebody does.
    pub(crate) fn knows_owner(self) -> bool {
        matches!(self, Self::ReentrantLock | Self::ReadWriteLock)
    }

    /// Returns what it is to a thread that waits for it, and wants to share it if `shared`.
    pub(crate) fn resource(self, shared: bool) -> Resource {
        match self {
            Self::ReentrantLock | Self::Queued => Resource::Lock,
            Self::ReadWriteLock => Resource::ReadWriteLock { shared },
            Self::StampedLock => Resource::StampedLock { shared },
            Self::Semaphore => Resource::Permit,
            Self::Condition | Self::Pool | Self::Other => Resource::Event,
        }
    }
}
