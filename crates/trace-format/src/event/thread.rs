//! Events about the existence of threads, and about the work of owners of locks.

use super::payload::payload;
use super::value::StackRange;
use crate::id::{ChainId, JavaThreadId, ThreadId};

payload! {
    /// The writer thread started, attached, or was first seen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ThreadStart<'a> {
        /// Time of the event.
        pub time_ns: u64,
        /// `Thread.getId()`; 0 for threads of the JVM itself.
        pub java_id: JavaThreadId,
        /// The thread's name.
        pub name: &'a str,
        /// Its stack. Not known before version 4.
        pub stack: StackRange,
    }
}

payload! {
    /// A thread was renamed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ThreadRename<'a> {
        /// `Thread.getId()` of the renamed thread.
        pub java_id: JavaThreadId,
        /// The new name.
        pub name: &'a str,
    }
}

payload! {
    /// The writer thread ended or detached.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ThreadEnd {
        /// Time of the event.
        pub time_ns: u64,
    }
}

payload! {
    /// The stack of a thread that owned a lock for which others waited longer than a threshold.
    ///
    /// Samples come at random moments. Of the time in which the thread could be sampled, the share
    /// of samples in a piece of code estimates the time spent there, if each counts as much as its
    /// [`interval_ns`](Self::interval_ns).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct OwnerSample {
        /// Time of the sample.
        pub time_ns: u64,
        /// The owner.
        pub owner: ThreadId,
        /// Its position.
        pub chain: ChainId,
        /// Start of the time in which the owner of that lock, whatever thread it was, could be
        /// sampled: from then on the threshold was passed.
        pub since_ns: u64,
        /// The time that the sample stands for, in nanoseconds: the mean time from one moment for
        /// samples to the next, and the time without samples because threads were being stopped.
        pub interval_ns: u64,
    }
}
