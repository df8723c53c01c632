//! What is written when the JVM tells of an event. All of it runs in the application's threads.

use rust_tracer::{Lock, monotonic_ns};
use trace_format::{ClassId, ContendedEnter, ContendedEntered, ContendedExit, Hook, LockOwner};

use crate::ffi::{Env, Environment, Object};
use crate::hooks::chains::{self, Skip};
use crate::hooks::watcher;
use crate::monitors::Monitor;
use crate::monitors::inner_exits::Release;
use crate::session::{self, Session};
use crate::threads::Thread;

/// The current thread has spun for a monitor in vain, and is about to block.
pub(crate) fn contended_enter(env: Env<'_>, object: Object<'_>) {
    session::with(|session| {
        session.told(env)?;
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
    if !watcher::wait_begins(session) {
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
    // Number and time come first: what the owner does while this thread walks its stack is a
    // part of the wait.
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
    // One that was never seen to end is not waited for any more.
    if let Some(earlier) = thread.waits_for.replace(monitor) {
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
    // The monitor's own address is not known.
    thread
        .tracer
        .describe_lock(lock, class_id, mirrored, hash, 0);
}

/// The current thread owns the monitor that it was blocked on.
pub(crate) fn contended_entered(env: Env<'_>, object: Object<'_>) {
    let time_ns = monotonic_ns();
    session::with_any(|session| {
        session.told(env)?;
        session.with_thread(env, Some(Hook::Entered), |thread| {
            // Without a contended enter, when a virtual thread returns from `Object.wait`.
            let Some(monitor) = thread.waits_for.take() else {
                return;
            };
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

/// Instrumented code of the current thread is about to release the monitor whose object it has
/// found in a slot. `env` makes the interface of the thread.
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

/// The current thread owns the monitor and is about to release it.
fn exit(session: &Session, env: Env<'_>, thread: &mut Thread, monitor: &Monitor, skip: Skip) {
    // While it still owns the monitor: the number is its place in the order, and the walk of the
    // stack is a part of the hold.
    let sequence = monitor.lock.next_sequence();
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

/// The current thread is about to release a monitor by `Object.wait`, if it owns it.
pub(crate) fn wait(env: Env<'_>, object: Object<'_>) {
    session::with(|session| {
        let monitor = session.told(env)?.monitors.find(env, object)?;
        if !monitor.is_contended() || !env.holds_lock(object) {
            return None;
        }
        session.with_thread(env, Some(Hook::Exit), |thread| {
            exit(session, env, thread, &monitor, Skip::ObjectWait);
        })
    });
}
