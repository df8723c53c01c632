//! When nobody reads any more what was removed from a shared structure.
//!
//! A thread that reads announces it in its slot: two stores and a fence, however
//! many threads there are. Who has removed something looks at all slots, and waits
//! for each reading that may have found it. The readers wait for nobody and free
//! nothing.

use crate::primitive::{Ordering, fence};
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slots::ThreadSlots;

/// The time from a removal to the end of all readings that may have found what was
/// removed.
#[derive(Debug)]
pub(crate) struct GracePeriod {
    /// The threads that were not asked yet are this one and all older ones.
    slot: Option<&'static ThreadSlot>,
    /// The reading of this one that has to end.
    reading: Option<u64>,
}

impl GracePeriod {
    /// Starts after the removal. The owners of `slots` are all that read.
    pub(crate) fn start(slots: &ThreadSlots) -> Self {
        // See `Reader::begin`. Whoever takes a new slot from now on reads later.
        fence(Ordering::SeqCst);
        Self {
            slot: slots.newest(),
            reading: None,
        }
    }

    /// Nobody reads any more what was removed. To be asked again and again.
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

    /// Those who read all the time do not hold it up.
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
