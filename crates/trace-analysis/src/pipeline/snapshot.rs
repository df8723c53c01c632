//! What is known of a trace before all of it is read.

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::still_blocked::StillBlocked;
use crate::model::counter::Counters;
use crate::model::wait::OpenWait;

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

impl Snapshot {
    /// The threads that waited for locks at the moment until which the trace is complete, as if
    /// it had ended then.
    pub fn still_blocked(&self) -> StillBlocked {
        let until_ns = self.complete_until_ns;
        // What came later may lack the events that it belongs to.
        let begun = self.open.iter().filter(|wait| wait.start_ns < until_ns);
        StillBlocked::at(until_ns, begun)
    }
}
