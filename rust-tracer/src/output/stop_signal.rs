//! The request of the JVM to the drainer to end the trace.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Stops the drainer, and waits until it has stopped.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    phase: Mutex<Phase>,
    changed: Condvar,
    /// How often something was written.
    progress: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Running,
    Stopping,
    Finished,
}

impl StopSignal {
    /// Asks the drainer to stop, waits until it has, and returns whether it has.
    /// Gives up after `timeout`, or when nothing was written for `max_stall`.
    pub(crate) fn stop(&self, timeout: Duration, max_stall: Duration) -> bool {
        let begin = Instant::now();
        let mut phase = self.lock();
        if *phase == Phase::Running {
            *phase = Phase::Stopping;
            self.changed.notify_all();
        }
        loop {
            let left = timeout.saturating_sub(begin.elapsed());
            // Relaxed: only says that the drainer is not stuck.
            let progress = self.progress.load(Ordering::Relaxed);
            let unfinished = |phase: &mut Phase| *phase != Phase::Finished;
            let waited = self
                .changed
                .wait_timeout_while(phase, left.min(max_stall), unfinished);
            let result;
            (phase, result) = waited.unwrap_or_else(PoisonError::into_inner);
            if !result.timed_out() {
                return true;
            }
            if left <= max_stall || self.progress.load(Ordering::Relaxed) == progress {
                return false;
            }
        }
    }

    /// Returns whether the drainer is done.
    pub(crate) fn is_finished(&self) -> bool {
        *self.lock() == Phase::Finished
    }

    /// Notes that something was written.
    pub(crate) fn note_progress(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for `timeout` or until the drainer has to stop, and returns whether
    /// it has to.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let running = |phase: &mut Phase| *phase == Phase::Running;
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), timeout, running);
        let (phase, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *phase != Phase::Running
    }

    pub(crate) fn set(&self, phase: Phase) {
        *self.lock() = phase;
        self.changed.notify_all();
    }

    /// A poisoned lock is as good as any: the phase is always valid.
    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
