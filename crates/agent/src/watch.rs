//! From when on code that releases monitors looks whether threads wait for them.
//!
//! To look costs little, but a program that calls `StringBuffer` or `Vector` all the time, in one
//! thread, would pay for nothing. So the method that instrumented code calls is empty at first. Once
//! a thread waits for long, or some have waited, the class is defined again: by a thread of the
//! agent, since one of the application waits for nobody here.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::commands::{NO_OWNERS, say};
use crate::ffi::{Environment, ExitHelper};
use crate::session::{self, Session};

/// A wait of the JVM's own threads now and then, for microseconds, is not worth it. Releases are looked
/// at from so many waits on, or once a thread waits for so long, or two wait within that time.
const FEW: u32 = 8;
const SHORT: Duration = Duration::from_millis(1);

/// Releases are not looked at.
const OFF: u8 = 0;
/// A thread sees whether they are to be.
const IN_DOUBT: u8 = 1;
/// They are looked at.
const ON: u8 = 2;
/// The JVM has refused the class.
const REFUSED: u8 = 3;

/// Whether releases are looked at.
///
/// Relaxed throughout: guards no other memory. What a thread that looks has to see it sees because
/// it acquires a monitor.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: AtomicU8,
    /// How many waits have begun until then.
    waits: AtomicU32,
}

impl Watch {
    /// A thread begins to wait for a monitor. Returns whether the owner looks for that already.
    pub(crate) fn wait_begins(&self, environment: &Environment) -> bool {
        if self.state.load(Relaxed) == ON {
            return true;
        }
        self.waits.fetch_add(1, Relaxed);
        if self.begin_doubt() {
            let vm = environment.vm();
            let thread = thread::Builder::new().name("locktrace-watch".to_owned());
            if thread.spawn(move || vm.attached(decide)).is_err() {
                // The next thread that waits tries again.
                self.state.store(OFF, Relaxed);
            }
        }
        false
    }

    fn begin_doubt(&self) -> bool {
        let begun = self.state.compare_exchange(OFF, IN_DOUBT, Relaxed, Relaxed);
        begun.is_ok()
    }

    /// Lets releases be looked at, if that is worth it: a while ago, so many waits `had_begun`. Returns
    /// whether it is still in doubt.
    fn decide(&self, session: &Session, had_begun: u32) -> bool {
        if self.state.load(Relaxed) != IN_DOUBT {
            return false;
        }
        let waits = self.waits.load(Relaxed);
        if waits == had_begun && waits < FEW && !session.slots.are_used() {
            self.state.store(OFF, Relaxed);
            // A thread that has come meanwhile, and has seen the doubt, is in its slot, whose mutex
            // puts that in order.
            return session.slots.are_used() && self.begin_doubt();
        }
        let is_on = begin(session).unwrap_or(false);
        if !is_on {
            say(&NO_OWNERS);
        }
        let state = if is_on { ON } else { REFUSED };
        self.state.store(state, Relaxed);
        false
    }
}

/// In a thread of the agent that is attached to the JVM: sees whether waits are few and short.
fn decide() {
    let mut is_in_doubt = true;
    while is_in_doubt {
        is_in_doubt = false;
        session::with_any(|session| {
            let waits = session.watch.waits.load(Relaxed);
            if waits < FEW {
                thread::sleep(SHORT);
            }
            is_in_doubt = session.watch.decide(session, waits);
            Some(())
        });
    }
}

/// Has the class defined again that is called at releases. Returns whether the JVM did that.
fn begin(session: &Session) -> Option<bool> {
    let env = session.environment.env()?;
    let exits = ExitHelper::get(env)?.exits()?;
    Some(session.instrumentation.watch(env, exits))
}
