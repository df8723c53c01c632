//! The events that stand for lost ones.

use super::field::payload;
use crate::id::LockId;

payload! {
    /// The writer took a sequence number, but its event was lost: the drainer could
    /// not keep up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LostNumber {
        /// The lock, or the domain of parks.
        pub lock: LockId,
        /// The number that will never come.
        pub sequence: u64,
    }
}

payload! {
    /// Events were lost whose sequence numbers are not listed. Events that have no
    /// such number are not counted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LostEvents {
        /// How many.
        pub events: u64,
    }
}
