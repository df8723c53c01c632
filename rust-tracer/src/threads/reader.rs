//! Announces that a thread reads a shared structure from which others remove parts.

use crate::primitive::{AtomicU64, Ordering, fence};

/// Says whether a thread reads; part of its slot.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Odd while the thread reads, and never the same again. Only the slot's owner
    /// changes it.
    readings: AtomicU64,
}

impl Reader {
    /// Begins to read. Parts removed from now on live until the result is dropped.
    ///
    /// # Safety
    ///
    /// Only for the slot's owner, which has no other reading.
    pub(crate) unsafe fn begin(&self) -> Reading<'_> {
        // One more than before, or two if the end of the last reading was forgotten.
        let number = self.readings.load(Ordering::Relaxed).wrapping_add(1) | 1;
        // Release: a thread that sees this number sees that earlier readings are over.
        self.readings.store(number, Ordering::Release);
        // With the fence in `GracePeriod::start`: a thread that does not see this reading
        // has removed its parts before, so that this reading cannot find them.
        fence(Ordering::SeqCst);
        Reading {
            reader: self,
            number,
        }
    }

    /// Returns the number of the current reading, if any.
    pub(crate) fn reading(&self) -> Option<u64> {
        // Acquire: readings that are over are over for the caller, too.
        let number = self.readings.load(Ordering::Acquire);
        (number & 1 == 1).then_some(number)
    }
}

/// A reading, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    reader: &'a Reader,
    number: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // Release: what was read is freed only after this.
        self.reader
            .readings
            .store(self.number.wrapping_add(1), Ordering::Release);
    }
}
