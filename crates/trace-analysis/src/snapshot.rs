//! What is known of a trace before all of it is read.

use crate::contention::OpenWait;
use crate::counter::Counters;
use crate::tally::WaitTally;

/// What is known of a trace so far, beside the waits that have ended: none of those changes any
/// more. The sums over them are the caller's.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// All events until then have been read, as the tracer says, in nanoseconds since the
    /// trace's start; 0 if it has not said anything yet.
    pub complete_until_ns: u64,
    /// The time of the last event read, in nanoseconds since the trace's start.
    pub last_event_ns: u64,
    /// The waits that have begun and not ended, the earliest first, all kinds of them.
    pub open: Vec<OpenWait>,
    /// The waits selected so far, by what they were for.
    pub waits: WaitTally,
    /// What there was to count so far.
    pub counters: Counters,
    /// Events that wait for others of their lock which come before them.
    pub pending_events: usize,
    /// Events that wait for a description.
    pub events_without_names: usize,
    /// Waits that have ended, and wait for the call chain of an owner.
    pub waits_without_names: usize,
}
