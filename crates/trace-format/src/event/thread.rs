//! The events that tell which threads there are.

use super::field::payload;
use crate::id::JavaThreadId;

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
