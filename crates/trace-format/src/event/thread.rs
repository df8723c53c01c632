//! The events that tell which threads there are, and what owners of locks did.

use super::payload::payload;
use super::value::StackRange;
use crate::id::{ChainId, JavaThreadId, ThreadId};

payload! {
    /// The writer thread started, attached, or was first seen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ThreadStart<'a> {
        /// When.
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
        /// When.
        pub time_ns: u64,
    }
}

payload! {
    /// The stack of a thread that owned a lock for which others waited longer than a threshold.
    ///
    /// Samples come at random moments: of a time in which the thread could be sampled, the share
    /// of those in a piece of code is an estimate of the time that was spent there, if each counts
    /// as much as its [`interval_ns`](Self::interval_ns).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct OwnerSample {
        /// When.
        pub time_ns: u64,
        /// The owner.
        pub owner: ThreadId,
        /// Where it stood.
        pub chain: ChainId,
        /// Since when the owner of that lock could be sampled, whoever that was: from then on
        /// the threshold was passed.
        pub since_ns: u64,
        /// For how much time the sample stands, in nanoseconds: the mean time from one moment for
        /// samples to the next then, and that in which there could be no other, since threads
        /// were being stopped.
        pub interval_ns: u64,
    }
}
