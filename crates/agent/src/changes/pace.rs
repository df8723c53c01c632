//! Spreads operations that stop all threads.

use std::time::{Duration, Instant};

use crate::instrumentation::MAX_BATCH;

/// When the next operation may begin: at most a share of the time is taken by operations.
#[derive(Debug)]
pub(crate) struct Pace {
    /// One part in this number.
    share: u32,
    /// How long no operation must have taken place for several at once.
    credit: Duration,
    /// When all operations so far have had their share; `None` before the first one.
    paid_at: Option<Instant>,
}

impl Pace {
    pub(crate) const fn new(share: u32, credit: Duration) -> Self {
        Self {
            share,
            credit,
            paid_at: None,
        }
    }

    /// Returns how long to wait for the next operation.
    pub(crate) fn wait(&self) -> Duration {
        let now = Instant::now();
        self.paid_at
            .map_or(Duration::ZERO, |paid| paid.saturating_duration_since(now))
    }

    /// Counts an operation that took this long and has just ended.
    pub(crate) fn spend(&mut self, duration: Duration) {
        let now = Instant::now();
        let earliest = now.checked_sub(self.credit).unwrap_or(now);
        let from = self.paid_at.map_or(earliest, |paid| paid.max(earliest));
        let rest = duration.saturating_mul(self.share.saturating_sub(1));
        self.paid_at = from.checked_add(rest);
    }
}

/// An operation on classes should take this long, so that it is worth its stop and no stop is long.
const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(20);

/// How many classes are changed at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    len: usize,
    min: usize,
}

impl Batch {
    /// Returns the first one. Up to JDK 11 each class costs the JVM a walk over all classes, later each
    /// operation does (`has_one_walk`), so that a few large ones stop it for less time.
    pub(crate) fn new(has_one_walk: bool) -> Self {
        let min = if has_one_walk { MAX_BATCH } else { 1 };
        Self { len: min, min }
    }

    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Adapts to the time that an operation on `len` classes took.
    pub(crate) fn took(&mut self, len: usize, duration: Duration) {
        if duration > LONG {
            self.len = (self.len / 2).max(self.min);
        } else if duration < SHORT && len >= self.len {
            self.len = self.len.saturating_mul(2).min(MAX_BATCH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_take_their_share() {
        let mut pace = Pace::new(20, Duration::ZERO);
        assert_eq!(pace.wait(), Duration::ZERO);
        pace.spend(Duration::from_secs(1));
        let wait = pace.wait();
        assert!((18..=19).contains(&wait.as_secs()), "{wait:?}");
    }

    #[test]
    fn the_first_operations_may_be_close() {
        let mut pace = Pace::new(201, Duration::from_secs(20));
        for _ in 0..9 {
            pace.spend(Duration::from_millis(10));
            assert_eq!(pace.wait(), Duration::ZERO);
        }
        pace.spend(Duration::from_millis(60));
        let wait = pace.wait();
        assert!((9..=10).contains(&wait.as_secs()), "{wait:?}");
    }

    #[test]
    fn stops_stay_short() {
        let mut batch = Batch::new(false);
        for expected in [2, 4, 8, 16, 32, 32] {
            batch.took(batch.len(), Duration::from_millis(1));
            assert_eq!(batch.len(), expected);
        }
        // The last few classes say nothing of more.
        batch.took(3, Duration::from_millis(15));
        assert_eq!(batch.len(), 32);
        for expected in [16, 8, 4, 2, 1, 1] {
            batch.took(batch.len(), Duration::from_millis(50));
            assert_eq!(batch.len(), expected);
        }
    }

    #[test]
    fn operations_that_cost_the_same_are_few() {
        let mut batch = Batch::new(true);
        batch.took(32, Duration::from_millis(50));
        assert_eq!(batch.len(), 32);
    }
}
