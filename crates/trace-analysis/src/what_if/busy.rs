//! How long threads are busy.

/// The number of parts of a run's time, which show how much a run varies.
pub(super) const PARTS: usize = 32;

/// How long threads are busy, and how long of that they wait for locks, in nanoseconds; each thread counted
/// as much as it waits in the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Busy {
    pub(super) all_ns: f64,
    pub(super) waiting_ns: f64,
}

impl Busy {
    pub(super) fn add(&mut self, weight: f64, busy_ns: u64, waiting_ns: u64) {
        self.all_ns += weight * busy_ns as f64;
        self.waiting_ns += weight * waiting_ns as f64;
    }

    pub(super) fn sum(parts: &[Self]) -> Self {
        Self {
            all_ns: parts.iter().map(|part| part.all_ns).sum(),
            waiting_ns: parts.iter().map(|part| part.waiting_ns).sum(),
        }
    }

    pub(super) fn waiting_share(&self) -> f64 {
        match self.all_ns > 0.0 {
            true => self.waiting_ns / self.all_ns,
            false => 0.0,
        }
    }
}
