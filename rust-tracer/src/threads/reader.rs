//! Announces that a thread reads a shared structure, from which others remove something.

use crate::primitive::{AtomicU64, Ordering, fence};

/// Whether a thread reads; a part of its slot.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Odd while the thread reads, and never the same again. Only the slot's owner
    /// changes it.
    readings: AtomicU64,
}

impl Reader {
    /// Begins to read. What is removed from now on lives until the end of the result.
    ///
    /// # Safety
    ///
    /// Only for the slot's owner, which has no other reading.
    pub(crate) unsafe fn begin(&self) -> Reading<'_> {
        // One more than before, or two if the end of the last reading was forgotten.
        let number = self.readings.load(Ordering::Relaxed).wrapping_add(1) | 1;
        // Release: who sees this number sees that earlier readings are over.
        self.readings.store(number, Ordering::Release);
        // With the fence in `GracePeriod::start`: whoever does not see that this thread
        // reads has removed before what the thread then cannot find.
        fence(Ordering::SeqCst);
        Reading {
            reader: self,
            number,
        }
    }

    /// The number of the present reading, if there is one.
    pub(crate) fn reading(&self) -> Option<u64> {
        // Acquire: the readings that are over are over for the caller, too.
        let number = self.readings.load(Ordering::Acquire);
        (number & 1 == 1).then_some(number)
    }
}

/// A thread reads as long as this lives.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    reader: &'a Reader,
    number: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // Release: what was read is freed only after that.
        self.reader
            .readings
            .store(self.number.wrapping_add(1), Ordering::Release);
    }
}
