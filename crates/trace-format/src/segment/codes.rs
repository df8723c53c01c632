//! The numbers that stand for types of events and of owners.

/// Kinds: the lower four bits of the type byte.
pub(super) mod kind {
    pub(in crate::segment) const ENTER: u8 = 1;
    pub(in crate::segment) const ENTER_SAME_CHAIN: u8 = 2;
    pub(in crate::segment) const ENTER_AFTER_WAIT: u8 = 3;
    pub(in crate::segment) const ENTERED: u8 = 4;
    pub(in crate::segment) const ENTERED_SAFEPOINT: u8 = 5;
    pub(in crate::segment) const EXIT: u8 = 6;
    pub(in crate::segment) const EXIT_SAME_CHAIN: u8 = 7;
    pub(in crate::segment) const EXIT_FORWARD: u8 = 8;
    pub(in crate::segment) const LOST_NUMBERS: u8 = 9;
    pub(in crate::segment) const PARK_BEGIN: u8 = 10;
    pub(in crate::segment) const PARK_END: u8 = 11;
    pub(in crate::segment) const UNPARK: u8 = 12;
    pub(in crate::segment) const PARK_USUAL: u8 = 13;
    pub(in crate::segment) const UNPARK_USUAL: u8 = 14;
    pub(in crate::segment) const OTHER: u8 = 15;
}

/// Encodings of the owner in an enter.
pub(super) mod owner {
    pub(in crate::segment) const NOT_KNOWN: u64 = 0;
    /// The address on its stack follows.
    pub(in crate::segment) const ON_STACK: u64 = 1;
    /// Offset of the number of a thread, which is 1 at least.
    pub(in crate::segment) const BEFORE_THREADS: u64 = 1;
}

/// Arguments of [`kind::OTHER`]: the upper four bits of the type byte.
pub(super) mod other {
    pub(in crate::segment) const LOCK_DESCRIPTION: u8 = 0;
    pub(in crate::segment) const LOCK_RETIRED: u8 = 1;
    pub(in crate::segment) const FORWARD_RESOLVED: u8 = 2;
    pub(in crate::segment) const THREAD_START: u8 = 3;
    pub(in crate::segment) const THREAD_RENAME: u8 = 4;
    pub(in crate::segment) const THREAD_END: u8 = 5;
    pub(in crate::segment) const CLASS: u8 = 6;
    pub(in crate::segment) const METHOD: u8 = 7;
    pub(in crate::segment) const CHAIN: u8 = 8;
    pub(in crate::segment) const LOADER_UNLOAD: u8 = 9;
    pub(in crate::segment) const LOST_EVENTS: u8 = 10;
    pub(in crate::segment) const SUBCLASS: u8 = 11;
    pub(in crate::segment) const CHAIN_RETIRED: u8 = 12;
    pub(in crate::segment) const METHOD_RETIRED: u8 = 13;
    pub(in crate::segment) const OWNER_SAMPLE: u8 = 14;
    pub(in crate::segment) const LOCK_SITE: u8 = 15;
}
