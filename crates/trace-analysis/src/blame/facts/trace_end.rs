//! The time of each thread's last event, and the end of the trace.

use trace_format::ThreadId;

use crate::collections::hash::SeededMap;
use crate::collections::shrink::shrink_map;
use crate::model::entity::ThreadIndex;

/// The times of the last events, in nanoseconds since the trace's start.
#[derive(Debug, Default)]
pub(crate) struct LastEvents {
    /// The thread of the last event: events arrive buffer by buffer.
    current: ThreadId,
    current_ns: u64,
    others: SeededMap<ThreadId, u64>,
    /// The latest time at which the trace is known to have gone on, over all threads and other
    /// evidence.
    end_ns: u64,
}

impl LastEvents {
    /// Notes that the thread wrote an event at `time_ns`.
    #[inline]
    pub(crate) fn add(&mut self, thread: ThreadId, time_ns: u64) {
        if thread != self.current {
            self.set_aside();
            self.current = thread;
            self.current_ns = 0;
        }
        self.current_ns = self.current_ns.max(time_ns);
    }

    /// Notes that the trace went on until `time_ns` at least.
    pub(crate) fn end(&mut self, time_ns: u64) {
        self.end_ns = self.end_ns.max(time_ns);
    }

    /// Forgets the last events of threads that have ended.
    pub(crate) fn forget(&mut self, has_ended: impl Fn(ThreadId) -> bool) {
        self.others.retain(|&thread, _| !has_ended(thread));
        shrink_map(&mut self.others);
    }

    fn set_aside(&mut self) {
        self.end(self.current_ns);
        let last_ns = self.others.entry(self.current).or_default();
        *last_ns = self.current_ns.max(*last_ns);
    }

    /// Returns the end of the trace. `threads` maps thread IDs to indices.
    pub(crate) fn finish(
        mut self,
        threads: impl Iterator<Item = (ThreadId, ThreadIndex)>,
    ) -> TraceEnd {
        self.set_aside();
        let last_ns = |(thread, index)| Some((index, *self.others.get(&thread)?));
        TraceEnd {
            time_ns: self.end_ns,
            last_ns: threads.filter_map(last_ns).collect(),
        }
    }
}

/// The end of a trace.
#[derive(Debug)]
pub(crate) struct TraceEnd {
    /// Time of the end, as far as it is known.
    pub(crate) time_ns: u64,
    last_ns: SeededMap<ThreadIndex, u64>,
}

impl TraceEnd {
    /// Returns whether the thread wrote an event after `waiting_ns`, when it was last seen waiting:
    /// then the end of its wait is lost.
    pub(crate) fn went_on(&self, thread: ThreadIndex, waiting_ns: u64) -> bool {
        self.last_ns
            .get(&thread)
            .is_some_and(|&last_ns| last_ns > waiting_ns)
    }
}
