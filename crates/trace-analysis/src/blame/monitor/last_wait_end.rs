//! The end of each thread's last wait, by the thread's own events.
//!
//! A thread writes its events in order. So when it releases a lock, it is known whether it waited
//! itself, before its waits for other locks have been ordered with the events of other threads.

use trace_format::{Event, ThreadId};

use crate::collections::hash::SeededMap;
use crate::collections::shrink::shrink_map;

/// The end of each thread's last wait; unknown where buffers are missing or late.
#[derive(Debug, Default)]
pub(crate) struct LastWaitEnds {
    /// The thread of the last buffer: events arrive buffer by buffer.
    current: Option<ThreadId>,
    of_current: LastWait,
    others: SeededMap<ThreadId, LastWait>,
}

/// The end of a thread's last wait.
#[derive(Clone, Copy, Debug, Default)]
struct LastWait {
    time_ns: u64,
    /// Number of the next buffer.
    next_buffer: u64,
    /// A buffer is missing or late: the thread may have waited until its next event.
    is_unknown: bool,
}

impl LastWaitEnds {
    /// Begins a buffer of the thread: the next events belong to it.
    pub(crate) fn begin_buffer(&mut self, thread: ThreadId, index: u64) {
        if self.current != Some(thread) {
            if let Some(before) = self.current.replace(thread) {
                self.others.insert(before, self.of_current);
            }
            self.of_current = self.others.get(&thread).copied().unwrap_or_default();
        }
        self.of_current.is_unknown |= self.of_current.next_buffer != index;
        self.of_current.next_buffer = index.saturating_add(1);
    }

    /// Takes an event of the buffer.
    #[inline(always)]
    pub(crate) fn add(&mut self, event: &Event<'_>) {
        let time_ns = match event {
            Event::ContendedEnter(enter) => enter.time_ns,
            Event::ContendedEntered(entered) => entered.time_ns,
            Event::ParkBegin(begin) => begin.time_ns,
            Event::ParkEnd(end) => end.time_ns,
            _ => return,
        };
        self.of_current.waits(time_ns);
    }

    /// Returns for how long the thread had not waited when it released a lock, in nanoseconds; 0 if
    /// that is not known.
    pub(crate) fn since(&mut self, thread: ThreadId, time_ns: u64) -> u32 {
        if self.current != Some(thread) {
            return 0;
        }
        if self.of_current.is_unknown {
            self.of_current.waits(time_ns);
        }
        let since_ns = time_ns.saturating_sub(self.of_current.time_ns);
        u32::try_from(since_ns).unwrap_or(u32::MAX)
    }

    /// Forgets threads that have ended.
    pub(crate) fn forget(&mut self, has_ended: impl Fn(ThreadId) -> bool) {
        self.others.retain(|&thread, _| !has_ended(thread));
        shrink_map(&mut self.others);
    }
}

impl LastWait {
    fn waits(&mut self, time_ns: u64) {
        self.time_ns = self.time_ns.max(time_ns);
        self.is_unknown = false;
    }
}

#[cfg(test)]
mod tests {
    use trace_format::{ContendedEntered, LockId};

    use super::*;

    const ONE: ThreadId = ThreadId(1);
    const TWO: ThreadId = ThreadId(2);

    fn entered(time_ns: u64) -> Event<'static> {
        Event::ContendedEntered(ContendedEntered {
            time_ns,
            lock: LockId(1),
            sequence: 0,
            safepoint_ns: 0,
        })
    }

    #[test]
    fn each_thread_has_its_own() {
        let mut waits = LastWaitEnds::default();
        waits.begin_buffer(ONE, 0);
        waits.add(&entered(10));
        assert_eq!(waits.since(ONE, 15), 5);
        assert_eq!(waits.since(TWO, 15), 0);
        waits.begin_buffer(TWO, 0);
        waits.add(&entered(12));
        assert_eq!(waits.since(TWO, 15), 3);
        waits.begin_buffer(ONE, 1);
        assert_eq!(waits.since(ONE, 20), 10);
        assert_eq!(waits.since(ONE, 20 + (1 << 40)), u32::MAX);
    }

    #[test]
    fn nothing_is_known_from_before_a_missing_buffer() {
        let mut waits = LastWaitEnds::default();
        waits.begin_buffer(ONE, 0);
        waits.add(&entered(10));
        waits.begin_buffer(ONE, 2);
        assert_eq!(waits.since(ONE, 30), 0);
        assert_eq!(waits.since(ONE, 34), 4);
        // It comes later.
        waits.begin_buffer(ONE, 1);
        assert_eq!(waits.since(ONE, 25), 0);
        waits.begin_buffer(ONE, 3);
        assert_eq!(waits.since(ONE, 40), 0);
        assert_eq!(waits.since(ONE, 45), 5);
    }

    #[test]
    fn of_events_without_buffers_nothing_is_known() {
        let mut waits = LastWaitEnds::default();
        waits.add(&entered(10));
        assert_eq!(waits.since(ThreadId(0), 15), 0);
    }
}
