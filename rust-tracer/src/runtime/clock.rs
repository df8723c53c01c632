//! The time since the trace's start.

use std::time::Instant;

use crate::{cycles, os};

/// Converts and reads times of the JVM's clock, and relates them to the cycle counter.
#[derive(Debug)]
pub(crate) struct TraceClock {
    /// The JVM's clock at the trace's start.
    start_ns: u64,
    started: Instant,
    start_cycles: u64,
}

impl TraceClock {
    pub(crate) fn new(start_ns: u64) -> Self {
        Self {
            start_ns,
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
        self.since_start_ns(os::monotonic_ns())
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
