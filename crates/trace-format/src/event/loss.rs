//! Events that stand for lost ones.

use super::payload::payload;
use crate::id::LockId;

payload! {
    /// The writer took sequence numbers, but their events were lost: the drainer could
    /// not keep up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LostNumbers {
        /// The lock, or the domain of parks.
        pub lock: LockId,
        /// The first lost number.
        pub first: u64,
        /// The number of consecutive lost numbers: 1 at least, and always 1 before version 4.
        pub count: u64,
    }
}

payload! {
    /// Events were lost whose sequence numbers are not listed. Events without a number are not
    /// counted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LostEvents {
        /// Number of lost events.
        pub events: u64,
    }
}
