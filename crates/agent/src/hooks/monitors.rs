//! Hooks of monitors.

use rust_tracer::{Lock, monotonic_ns};
use trace_format::{
    ClassId, ContendedEnter, ContendedEntered, ContendedExit, Hook, LockDescription, LockOwner,
};

use crate::ffi::{Env, Environment, Object};
use crate::hooks::chains::{self, Skip};
use crate::hooks::{class_changer, watcher};
use crate::monitors::Monitor;
use crate::monitors::inner_exits::Release;
use crate::session::{self, Session};
use crate::threads::{MonitorWait, Thread};

/// In a wait that lasts this long the owner has released the monitor, or is about to: a shorter one may
/// have begun behind the call that reports the release.
const LONG_NS: u64 = 1_000_000;

/// Handles a contended enter: the current thread has spun in vain and is about to block.
pub(crate) fn contended_enter(env: Env<'_>, object: Object<'_>) {
    session::with(|session| {
        session.of_environment(env)?;
        session.with_thread(env, Some(Hook::Enter), |thread| {
            enter(session, env, thread, object);
        })
    });
}

fn enter(session: &Session, env: Env<'_>, thread: &mut Thread, object: Object<'_>) {
    let runtime = session.runtime();
    let contender = session
        .monitors
        .contend(env, object, &session.slots, runtime);
    let Some(contender) = contender else { return };
    let is_watched = watcher::wait_begins(session);
    if !is_watched {
        runtime.agent_counts.unwatched_enters.add(1);
    }
    if let Some(evicted) = contender.evicted {
        thread.tracer.retire_lock(&evicted.lock);
        session.monitors.free(env, evicted);
    }
    let monitor = contender.monitor;
    if contender.has_claimed {
        describe(session, env, thread, object, &monitor.lock, monitor.hash());
    }
    // Number and time come first: the wait includes what the owner does while this thread walks its
    // stack.
    let sequence = monitor.lock.next_sequence();
    let time_ns = monotonic_ns();
    let recorded = chains::record(env, session, thread, Skip::None);
    let Thread {
        tracer,
        inner_exits,
        ..
    } = thread;
    if !recorded.is_in_wait {
        inner_exits.not_owned(tracer, monitor.lock.id());
    }
    tracer.contended_enter(ContendedEnter {
        lock: monitor.lock.id(),
        sequence,
        time_ns,
        chain: recorded.chain,
        after_wait: recorded.is_in_wait,
        owner: LockOwner::NotKnown,
    });
    let late_class = recorded.late_class;
    let late_class = late_class.filter(|_| session.exit_helper.is_some());
    if let Some(class) = &late_class
        && class.wait_begins()
    {
        session.changes.add_doubtful(class);
        class_changer::run(session);
    }
    if monitor.claim_look_up() {
        session.changes.add_unseen(&monitor);
        class_changer::run(session);
    }
    let wait = MonitorWait {
        exits: is_watched.then(|| monitor.exits()),
        monitor,
        began_ns: time_ns,
        late_class,
    };
    // The end of an earlier wait was not seen: it is over.
    if let Some(earlier) = thread.waits_for.replace(wait) {
        earlier.abandon();
    }
    thread.blocks();
}

fn describe(
    session: &Session,
    env: Env<'_>,
    thread: &mut Thread,
    object: Object<'_>,
    lock: &Lock,
    hash: u32,
) {
    let runtime = session.runtime();
    let class = env.class_of(object);
    let class_id = class.map_or(ClassId::NONE, |class| {
        let tracer = &mut thread.tracer;
        session.methods.class(env, runtime, tracer, class)
    });
    let is_class = class.is_some_and(|class| &*env.signature(class) == b"Ljava/lang/Class;");
    let mirrored = match is_class {
        true => session
            .methods
            .class(env, runtime, &mut thread.tracer, object),
        false => ClassId::NONE,
    };
    class.inspect(|&class| env.delete(class));
    thread.tracer.describe_lock(LockDescription {
        lock: lock.id(),
        class: class_id,
        mirrored_class: mirrored,
        identity_hash: hash,
        monitor_address: 0, // not known
    });
}

/// Handles a contended entered: the current thread owns the monitor that it was blocked on.
pub(crate) fn contended_entered(env: Env<'_>, object: Object<'_>) {
    let time_ns = monotonic_ns();
    session::with_any(|session| {
        session.of_environment(env)?;
        session.with_thread(env, Some(Hook::Entered), |thread| {
            // A virtual thread that returns from `Object.wait` has had no contended enter.
            let Some(wait) = thread.waits_for.take() else {
                return;
            };
            wait.leave_class();
            let monitor = &wait.monitor;
            let is_long = time_ns.saturating_sub(wait.began_ns) >= LONG_NS;
            if is_long && wait.exits == Some(monitor.exits()) {
                monitor.exit_unseen();
            }
            monitor.hold_begins(thread.tag, time_ns);
            thread.tracer.contended_entered(ContendedEntered {
                lock: monitor.lock.id(),
                sequence: monitor.lock.next_sequence(),
                time_ns,
                safepoint_ns: 0,
            });
            monitor.leave(env, object, &session.slots);
        })
    });
}

/// Handles a contended exit: instrumented code is about to release the monitor whose object it has
/// found in a slot. `env` returns the thread's interface.
pub(crate) fn contended_exit(slot: usize, env: impl Fn(&Environment) -> Env<'_>) {
    session::with(|session| {
        let env = env(&session.environment);
        session.with_thread(env, Some(Hook::Exit), |thread| {
            if let Some(monitor) = session.slots.get(slot) {
                exit(session, env, thread, &monitor, Skip::Helper);
            }
        })
    });
}

/// The same for an object that the code has found in the table.
pub(crate) fn contended_exit_of(object: Object<'_>, env: impl Fn(&Environment) -> Env<'_>) {
    session::with(|session| {
        let env = env(&session.environment);
        let monitor = session.monitors.find(env, object)?;
        session.with_thread(env, Some(Hook::Exit), |thread| {
            exit(session, env, thread, &monitor, Skip::Helper);
        })
    });
}

/// Writes a contended exit of the current thread, which owns the monitor.
fn exit(session: &Session, env: Env<'_>, thread: &mut Thread, monitor: &Monitor, skip: Skip) {
    // The thread still owns the monitor, so the number is its place in the order, and the stack walk
    // is part of the hold.
    let sequence = monitor.lock.next_sequence();
    monitor.exit_seen();
    let recorded = chains::record(env, session, thread, skip);
    let release = Release {
        lock: monitor.lock.id(),
        turn: monitor.turn_of(thread.tag),
        chain: recorded.chain,
        stack: recorded.stack,
        is_wait: skip == Skip::ObjectWait,
    };
    let tracer = &mut thread.tracer;
    let counts = &session.runtime().agent_counts;
    let chain = thread.inner_exits.release(tracer, counts, release);
    let time_ns = monotonic_ns();
    tracer.contended_exit(ContendedExit {
        lock: monitor.lock.id(),
        sequence,
        time_ns,
        hold: monitor.hold_ends(thread.tag, time_ns),
        chain,
    });
}

/// Handles `Object.wait`, which releases a monitor if the current thread owns it.
pub(crate) fn wait(env: Env<'_>, object: Object<'_>) {
    session::with(|session| {
        let monitor = session.of_environment(env)?.monitors.find(env, object)?;
        if !monitor.is_contended() || !env.holds_lock(object) {
            return None;
        }
        session.with_thread(env, Some(Hook::Exit), |thread| {
            exit(session, env, thread, &monitor, Skip::ObjectWait);
        })
    });
}
