//! A snapshot of the analysis of a trace that has not been read to its end.

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::still_blocked::StillBlocked;
use crate::model::counter::Counters;
use crate::model::wait::OpenWait;

/// The state of an analysis, apart from the waits that have ended: those do not change any more,
/// and the caller has their sums.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The trace is complete until this time, as reported by the tracer, in nanoseconds since the
    /// trace's start; 0 if nothing was reported yet.
    pub complete_until_ns: u64,
    /// The time of the last event read, in nanoseconds since the trace's start.
    pub last_event_ns: u64,
    /// The waits of all kinds that have begun and not ended, the earliest first.
    pub open: Vec<OpenWait>,
    /// The selected waits so far, by purpose.
    pub waits: WaitTally,
    /// The counters so far.
    pub counters: Counters,
    /// Number of events that wait for earlier ones of their lock.
    pub pending_events: usize,
    /// Number of events that wait for a description.
    pub events_without_names: usize,
    /// Number of ended waits that need the call chain of an owner.
    pub waits_without_names: usize,
}

impl Snapshot {
    /// Returns the threads that waited at the time until which the trace is complete, as if it had
    /// ended then.
    pub fn still_blocked(&self) -> StillBlocked {
        let mut still_blocked = StillBlocked::default();
        // Waits that began later may lack related events.
        let until_ns = self.complete_until_ns;
        let begun = self.open.iter().filter(|wait| wait.start_ns < until_ns);
        begun.for_each(|&wait| still_blocked.add(wait));
        still_blocked
    }
}
