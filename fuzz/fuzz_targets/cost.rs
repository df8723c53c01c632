//! Limits of the cost of an input: time and memory against its length.

#[path = "../../crates/trace-analysis/tests/bounds/meter.rs"]
mod meter;

use std::time::Duration;

use meter::Meter;

/// The limits of the work on an input.
pub(crate) struct Budget {
    /// The part that does not depend on the input.
    pub(crate) bytes: usize,
    /// For each byte, event or whatever the input consists of.
    pub(crate) bytes_of_each: usize,
    pub(crate) time_of_each: Duration,
}

/// The part that does not depend on the input: another process may have the processor's caches
/// meanwhile.
const TIME: Duration = Duration::from_millis(50);

/// The number of measurements, of which the fastest counts: others on the machine make all others
/// slower.
const ROUNDS: usize = 5;

impl Budget {
    /// Does `work` on an input of that length.
    ///
    /// # Panics
    ///
    /// Panics if the work exceeds the limits.
    pub(crate) fn check<R>(&self, len: usize, work: impl Fn() -> R) -> R {
        let meter = Meter::alone();
        let max_time = TIME + self.time_of_each * len as u32;
        let max_bytes = self.bytes + self.bytes_of_each * len;
        let mut fastest = Duration::MAX;
        for _ in 0..ROUNDS {
            let (cost, result) = meter.measure(&work);
            assert!(
                cost.bytes <= max_bytes,
                "{} bytes for an input of {len}, at most {max_bytes}",
                cost.bytes
            );
            fastest = cost.time.min(fastest);
            if fastest <= max_time {
                return result;
            }
        }
        panic!("{fastest:?} for an input of {len}, at most {max_time:?}");
    }
}
