//! When memory that was taken out of use may be freed.
//!
//! Readers of a shared structure mark their presence. Who replaces the structure
//! notes which readers are present; once each of them has left, even if it came
//! back since, nobody can hold on to the old one.
//!
//! This is what crossbeam-epoch is for, but there a thread that registers aborts
//! the process when memory is short, and readers now and then free what others
//! have retired. Here a Java thread never allocates, frees or waits.

use crate::primitive::{AtomicU64, Ordering, fence};

/// The presence of one reader.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// Odd while present; changes with every coming and going.
    visits: AtomicU64,
}

/// Proof that a reader is present.
#[derive(Debug)]
pub(crate) struct Present<'a>(&'a Presence);

impl Presence {
    /// Marks the reader as present until the result is dropped. There is one
    /// reader, and it does not come twice without going.
    pub(crate) fn enter(&self) -> Present<'_> {
        let visits = self.visits.load(Ordering::Relaxed);
        // Release: who sees this visit sees the end of the one before.
        self.visits.store(visits.wrapping_add(1), Ordering::Release);
        // Pairs with the fence in `GracePeriod::begin`: either that one sees the
        // presence, or the loads that follow here see the replacement.
        fence(Ordering::SeqCst);
        Present(self)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let visits = self.0.visits.load(Ordering::Relaxed);
        // Release: what the reader did happens before the end of the grace
        // period that loads this value.
        self.0
            .visits
            .store(visits.wrapping_add(1), Ordering::Release);
    }
}

/// The time until all readers of something replaced are gone.
#[derive(Debug)]
pub(crate) struct GracePeriod<'a> {
    /// The readers that were present, and their number of visits then.
    awaited: Vec<(&'a Presence, u64)>,
}

impl<'a> GracePeriod<'a> {
    /// Begins when the replacement is in place. `readers` yields all readers;
    /// one that appears after this call sees the replacement.
    pub(crate) fn begin(readers: impl Iterator<Item = &'a Presence>) -> Self {
        fence(Ordering::SeqCst);
        // Acquire: see `Present::drop`.
        let visits = readers.map(|reader| (reader, reader.visits.load(Ordering::Acquire)));
        Self {
            awaited: visits.filter(|(_, visits)| visits % 2 == 1).collect(),
        }
    }

    /// All readers that were present have left.
    pub(crate) fn is_over(&mut self) -> bool {
        // Acquire: see `Present::drop`.
        self.awaited
            .retain(|(reader, visits)| reader.visits.load(Ordering::Acquire) == *visits);
        self.awaited.is_empty()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    impl Presence {
        /// How often the reader has come.
        pub(crate) fn visits(&self) -> u64 {
            self.visits.load(Ordering::Relaxed).div_ceil(2)
        }
    }

    #[test]
    fn ends_when_those_present_have_left() {
        let readers = [Presence::default(), Presence::default()];
        let present = readers[0].enter();
        let mut grace_period = GracePeriod::begin(readers.iter());
        assert!(!grace_period.is_over());
        // Later readers do not matter, not even the same one.
        let _later = readers[1].enter();
        assert!(!grace_period.is_over());
        drop(present);
        let _again = readers[0].enter();
        assert!(grace_period.is_over());
    }
}
