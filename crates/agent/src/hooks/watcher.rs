//! Decides when releases of monitors are looked at.
//!
//! A thread of the agent does: one of the application waits for nobody here.

use std::thread;
use std::time::Duration;

use crate::messages::{NO_OWNERS, say};
use crate::session::{self, Session};

/// Releases are looked at after this number of waits, once one of them lasts this long, or once two
/// begin within this time. Less is not worth it: the JVM's own threads wait now and then.
const FEW: u32 = 8;
const SHORT: Duration = Duration::from_millis(1);

/// Counts a wait for a monitor. Returns whether its owner will see it at the release.
pub(crate) fn wait_begins(session: &Session) -> bool {
    let watch = &session.watch;
    if watch.is_on() {
        return true;
    }
    watch.add_wait();
    if watch.begin_doubt() {
        let vm = session.environment.vm();
        if !vm.spawn("locktrace-watch", watch_waits) {
            // The next thread that waits tries again.
            watch.stay_off();
        }
    }
    false
}

/// Watches waits until it is clear whether they are few and short. Runs in a thread of the agent
/// that is attached to the JVM.
fn watch_waits() {
    let mut is_in_doubt = true;
    while is_in_doubt {
        is_in_doubt = false;
        session::with_any(|session| {
            let waits = session.watch.waits();
            if waits < FEW {
                thread::sleep(SHORT);
            }
            is_in_doubt = decide(session, waits);
            Some(())
        });
    }
}

/// Turns the watch on if waits are many or long: a while ago `waits_before` had begun. Returns
/// whether that is still in doubt.
fn decide(session: &Session, waits_before: u32) -> bool {
    let watch = &session.watch;
    if !watch.is_in_doubt() {
        return false;
    }
    let waits = watch.waits();
    if waits == waits_before && waits < FEW && !session.slots.are_used() {
        watch.stay_off();
        // A thread that has come meanwhile and has seen the doubt is in its slot: the mutex of the
        // slots puts that in order.
        return session.slots.are_used() && watch.begin_doubt();
    }
    let is_on = redefine_exits(session).unwrap_or(false);
    if !is_on {
        say(&NO_OWNERS);
    }
    watch.turn_on(is_on);
    false
}

/// Has the JVM redefine the class that is called at releases. Returns whether it did.
fn redefine_exits(session: &Session) -> Option<bool> {
    let env = session.environment.env()?;
    let exits = session.exit_helper?.exits()?;
    Some(session.instrumentation.watch(env, exits))
}
