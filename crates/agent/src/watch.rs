//! From when on code that releases monitors looks whether threads wait for them.
//!
//! To look costs little, but a program that calls `StringBuffer` or `Vector` all the time, in one
//! thread, would pay for nothing. So the method that instrumented code calls is empty until the
//! first thread waits for a monitor. That has the class defined again: by another thread, since a
//! thread of the application waits for nobody here.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::thread;

use crate::commands::{NO_OWNERS, say};
use crate::ffi::{Environment, ExitHelper};
use crate::session;

/// Nobody has waited yet.
const NOT_NEEDED: u8 = 0;
/// A thread has the class defined again.
const BEGINS: u8 = 1;
/// Releases are looked at.
const ON: u8 = 2;
/// The JVM refused the class.
const REFUSED: u8 = 3;

/// Whether releases are looked at.
///
/// Relaxed throughout: guards no other memory. What a thread that looks has to see it sees because
/// it acquires a monitor.
#[derive(Debug, Default)]
pub(crate) struct Watch(AtomicU8);

impl Watch {
    /// A thread waits for a monitor. Returns whether its owner looks for that.
    pub(crate) fn is_needed(&self, environment: &Environment) -> bool {
        match self.0.load(Relaxed) {
            ON => return true,
            NOT_NEEDED => {}
            _ => return false,
        }
        let first = self
            .0
            .compare_exchange(NOT_NEEDED, BEGINS, Relaxed, Relaxed);
        if first.is_ok() {
            let vm = environment.vm();
            let thread = thread::Builder::new().name("locktrace-watch".to_owned());
            let begin = move || vm.attached(begin);
            if thread.spawn(begin).is_err() {
                // The next thread that waits tries again.
                self.0.store(NOT_NEEDED, Relaxed);
            }
        }
        false
    }
}

/// Has the class defined again, in a thread that is attached to the JVM.
fn begin() {
    session::with_any(|session| {
        let env = session.environment.env()?;
        let exits = ExitHelper::get(env)?.exits()?;
        let is_on = session.instrumentation.watch(env, exits);
        if !is_on {
            say(&NO_OWNERS);
        }
        let state = if is_on { ON } else { REFUSED };
        session.watch.0.store(state, Relaxed);
        Some(())
    });
}
