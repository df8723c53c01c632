//! Whether releases of monitors are looked at.
//!
//! A look costs little, but a program that calls `StringBuffer` or `Vector` all the time in one
//! thread would pay for nothing. So the method that instrumented code calls is empty at first, and
//! its class is redefined once a thread waits for long, or several have waited.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// Releases are not looked at.
const OFF: u8 = 0;
/// A thread finds out whether they have to be.
const IN_DOUBT: u8 = 1;
/// They are looked at.
const ON: u8 = 2;
/// The JVM has refused the class.
const REFUSED: u8 = 3;

/// Whether releases are looked at, and how many waits began before.
///
/// Relaxed throughout: guards no other memory. A thread that looks sees what it has to because it
/// acquires a monitor.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: AtomicU8,
    waits: AtomicU32,
}

impl Watch {
    /// Whether releases are looked at.
    pub(crate) fn is_on(&self) -> bool {
        self.state.load(Relaxed) == ON
    }

    /// Counts a wait that has begun.
    pub(crate) fn add_wait(&self) {
        self.waits.fetch_add(1, Relaxed);
    }

    /// Returns how many waits were counted.
    pub(crate) fn waits(&self) -> u32 {
        self.waits.load(Relaxed)
    }

    /// Begins to doubt whether releases can be left alone. Returns `false` unless they were.
    pub(crate) fn begin_doubt(&self) -> bool {
        let begun = self.state.compare_exchange(OFF, IN_DOUBT, Relaxed, Relaxed);
        begun.is_ok()
    }

    /// Whether a thread finds out what to do.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.state.load(Relaxed) == IN_DOUBT
    }

    /// Ends the doubt: releases are left alone for now.
    pub(crate) fn stay_off(&self) {
        self.state.store(OFF, Relaxed);
    }

    /// Ends the doubt: releases are looked at, unless the JVM has refused that.
    pub(crate) fn turn_on(&self, is_accepted: bool) {
        self.state
            .store(if is_accepted { ON } else { REFUSED }, Relaxed);
    }
}
