//! Decides when parts removed from a shared structure may be freed (quiescence, as in RCU).
//!
//! A reading thread announces it in its slot: two stores and a fence, regardless of the
//! number of threads. The thread that has removed a part looks at all slots, and waits
//! for each reading that may have found it. Readers never wait, and free
//! nothing.

use crate::primitive::{Ordering, fence};
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slots::ThreadSlots;

/// The time from a removal to the end of all readings that may have found the removed part.
#[derive(Debug)]
pub(crate) struct GracePeriod {
    /// This thread and all older ones are still to be looked at.
    slot: Option<&'static ThreadSlot>,
    /// The reading of this thread that has to end.
    reading: Option<u64>,
}

impl GracePeriod {
    /// Starts after the removal. Only owners of `slots` read.
    pub(crate) fn start(slots: &ThreadSlots) -> Self {
        // See `Reader::begin`. A thread that takes a new slot from now on reads later.
        fence(Ordering::SeqCst);
        Self {
            slot: slots.newest(),
            reading: None,
        }
    }

    /// Returns whether the removed part is no longer read. To be called repeatedly.
    pub(crate) fn is_over(&mut self) -> bool {
        while let Some(slot) = self.slot {
            let reading = slot.reader().reading();
            if reading.is_some() && (self.reading.is_none() || self.reading == reading) {
                self.reading = reading;
                return false;
            }
            self.reading = None;
            self.slot = slot.older();
        }
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_until_readings_of_before_are_over() {
        let slots: &ThreadSlots = Box::leak(Box::default());
        let [mut first, mut second] = [slots.take().unwrap(), slots.take().unwrap()];
        let (of_first, of_second) = (first.read(), second.read());
        let mut period = GracePeriod::start(slots);
        assert!(!period.is_over());
        drop(of_first);
        assert!(!period.is_over());
        drop(of_second);
        assert!(period.is_over());
        let mut late = slots.take().unwrap();
        let _reading = (first.read(), late.read());
        assert!(period.is_over());
    }

    /// Threads that read all the time do not delay it.
    #[test]
    fn readings_that_follow_each_other_are_told_apart() {
        let slots: &ThreadSlots = Box::leak(Box::default());
        let mut slot = slots.take().unwrap();
        let reading = slot.read();
        let mut period = GracePeriod::start(slots);
        assert!(!period.is_over());
        drop(reading);
        let _next = slot.read();
        assert!(period.is_over());
    }

    #[test]
    fn a_forgotten_end_is_made_up_for() {
        let slots: &ThreadSlots = Box::leak(Box::default());
        let mut slot = slots.take().unwrap();
        std::mem::forget(slot.read());
        let reading = slot.read();
        let mut period = GracePeriod::start(slots);
        assert!(!period.is_over());
        drop(reading);
        assert!(period.is_over());
    }
}
