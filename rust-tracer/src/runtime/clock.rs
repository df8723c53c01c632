//! The time since the trace's start.

use std::time::Instant;

use crate::{cycles, os};

/// Converts and reads times of the JVM's clock, and relates them to the cycle counter.
#[derive(Debug)]
pub(crate) struct TraceClock {
    /// The JVM's clock at the trace's start.
    start_ns: u64,
    /// The system's monotonic clock then.
    start_monotonic_ns: u64,
    started: Instant,
    start_cycles: u64,
}

/// The time that passes at most between a reading of the JVM's clock at the trace's start and the next one here.
const MAX_START_NS: u64 = 10_000_000_000;

impl TraceClock {
    pub(crate) fn new(start_ns: u64) -> Self {
        Self::at(start_ns, os::monotonic_ns())
    }

    /// The JVM's clock is the monotonic one. Only where HotSpot 8 finds no librt.so.1 it is the time of day.
    fn at(start_ns: u64, monotonic_ns: u64) -> Self {
        let is_monotonic = monotonic_ns.abs_diff(start_ns) < MAX_START_NS;
        Self {
            start_ns,
            start_monotonic_ns: if is_monotonic { start_ns } else { monotonic_ns },
            started: Instant::now(),
            start_cycles: cycles::now(),
        }
    }

    /// Converts a time of the JVM's clock to nanoseconds since the trace's start.
    pub(crate) fn since_start_ns(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns)
    }

    /// Reads the JVM's clock, as nanoseconds since the trace's start.
    pub(crate) fn now_ns(&self) -> u64 {
        os::monotonic_ns().saturating_sub(self.start_monotonic_ns)
    }

    /// Returns the nanoseconds since the runtime's start.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the cycles since the runtime's start.
    pub(crate) fn elapsed_cycles(&self) -> u64 {
        cycles::now().saturating_sub(self.start_cycles)
    }

    /// Returns the mean duration of a cycle so far.
    pub(crate) fn ns_per_cycle(&self) -> f64 {
        let elapsed_cycles = self.elapsed_cycles().max(1);
        self.elapsed_ns() as f64 / elapsed_cycles as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_agree_on_the_start() {
        const SECOND_NS: u64 = 1_000_000_000;
        let monotonic_ns = os::monotonic_ns();
        // The JVM read its clock a little before.
        let usual = TraceClock::at(monotonic_ns - 5, monotonic_ns);
        assert_eq!(usual.start_monotonic_ns, monotonic_ns - 5);
        assert!(usual.now_ns() < SECOND_NS);

        let time_of_day = TraceClock::at(1_800_000_000 * SECOND_NS, monotonic_ns);
        assert!(time_of_day.now_ns() < SECOND_NS);
        assert_eq!(
            time_of_day.since_start_ns(1_800_000_001 * SECOND_NS),
            SECOND_NS
        );
    }
}
