//! The thread of the agent that changes loaded classes.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rust_tracer::AgentCounts;

use crate::changes::{Changes, THREAD};
use crate::ffi::{Env, Frames, Method, Object, WeakObject};
use crate::instrumentation;
use crate::instrumentation::late::{LateClass, MAX_LATE};
use crate::monitors::Monitor;
use crate::session::{self, Session};

/// A wait that lasts this long is worth a change.
const SHORT: Duration = Duration::from_millis(1);

/// How often it is looked whether there is something to do.
const INTERVAL: Duration = Duration::from_millis(50);

/// The most frames in which the owner of a monitor may have acquired it.
const MAX_FRAMES: usize = 64;

/// Begins to make the changes, unless there are none or that is being done.
pub(crate) fn run(session: &Session) {
    let changes = &session.changes;
    if changes.queue().wait().is_none() || !changes.claim() {
        return;
    }
    let vm = session.environment.vm();
    if !vm.spawn(THREAD, work) {
        // The next thread that has a change to be made tries again.
        changes.release();
    }
}

/// Makes the changes, until none is left or the trace ends. Runs in a thread of the agent that is
/// attached to the JVM.
fn work() {
    while let Some(wait) = session::with_any(step) {
        thread::sleep(wait.min(INTERVAL));
    }
}

/// Makes those changes whose time has come. Returns how long to wait for the next one; `None` after the
/// last one.
fn step(session: &Session) -> Option<Duration> {
    let env = session.environment.env()?;
    let changes = &session.changes;
    decide(changes);
    look_up_owners(session, env);
    change_late(session, env);
    change_loaded(session, env);
    let wait = changes.queue().wait();
    if wait.is_none() {
        changes.release();
        // Who has added something meanwhile may have seen that this thread runs.
        let is_empty = changes.queue().wait().is_none();
        return match is_empty || !changes.claim() {
            true => None,
            false => Some(Duration::ZERO),
        };
    }
    wait
}

/// Finds out in which classes waits are many or long.
fn decide(changes: &Changes) {
    let doubtful = mem::take(&mut changes.queue().doubtful);
    if doubtful.is_empty() {
        return;
    }
    let waits: Vec<_> = doubtful.iter().map(|class| class.waits()).collect();
    thread::sleep(SHORT);
    let wanted = doubtful.into_iter().zip(waits);
    let wanted = wanted.filter(|(class, waits)| class.decide(*waits));
    changes.queue().late.extend(wanted.map(|(class, _)| class));
}

/// Looks up the owners of monitors whose releases were not seen.
fn look_up_owners(session: &Session, env: Env<'_>) {
    let unseen = {
        let mut queue = session.changes.queue();
        match queue.late_pace.wait().is_zero() {
            true => mem::take(&mut queue.unseen),
            false => return,
        }
    };
    for monitor in unseen {
        let begin = Instant::now();
        let classes = classes_of_owner(session, env, &monitor);
        let mut queue = session.changes.queue();
        queue.late_pace.spend(begin.elapsed());
        queue.late.extend(classes);
    }
}

/// Returns the classes of the JDK in whose code the owner of a monitor may have acquired it, and that
/// were not to be changed before.
fn classes_of_owner(session: &Session, env: Env<'_>, monitor: &Monitor) -> Vec<Arc<LateClass>> {
    let mut classes = Vec::new();
    let Some(object) = monitor.object(env) else {
        return classes;
    };
    if let Some(owner) = env.monitor_owner(object)
        && let Some(mut frames) = Frames::with_capacity(MAX_FRAMES)
    {
        env.stack(Some(owner), 0, &mut frames);
        env.delete(owner);
        for frame in env.frames(&frames) {
            let method = frame.method;
            if !env.may_own_monitors(method) || !may_lock(env, method, object) {
                continue;
            }
            let class = session.instrumentation.late_class(env, method);
            classes.extend(class.filter(|class| class.claim()));
        }
    }
    env.delete(object);
    classes
}

/// Returns whether a method that acquires monitors may acquire the one of this object.
fn may_lock(env: Env<'_>, method: Method<'_>, object: Object<'_>) -> bool {
    // In a block it may be any object.
    if !env.is_synchronized(method) {
        return true;
    }
    env.declaring_class(method).is_some_and(|class| {
        let is_own = env.is_instance(object, class) || env.are_same(object, class);
        env.delete(class);
        is_own
    })
}

/// Changes classes in which threads wait: all at once if that takes the JVM no longer than one.
fn change_late(session: &Session, env: Env<'_>) {
    let counts = &session.runtime().agent_counts;
    let classes = {
        let mut queue = session.changes.queue();
        if queue.late.is_empty() || !queue.late_pace.wait().is_zero() {
            return;
        }
        let rest = (MAX_LATE as usize).saturating_sub(queue.late_changes);
        let beyond = queue.late.len().saturating_sub(rest);
        counts.refused_classes.add(beyond as u64);
        queue.late.truncate(rest);
        let len = match session.changes.has_one_walk {
            true => queue.late.len(),
            false => queue.late.len().min(1),
        };
        queue.late_changes = queue.late_changes.saturating_add(len);
        queue.late.drain(..len).collect::<Vec<_>>()
    };
    if classes.is_empty() {
        return;
    }
    let begin = Instant::now();
    session.instrumentation.change_late(env, &classes, counts);
    let duration = count(counts, begin);
    session.changes.queue().late_pace.spend(duration);
}

/// Changes some of the classes that were loaded before.
fn change_loaded(session: &Session, env: Env<'_>) {
    let classes: Vec<WeakObject> = {
        let mut queue = session.changes.queue();
        if queue.loaded.is_empty() || !queue.pace.wait().is_zero() {
            return;
        }
        let len = queue.batch.len().min(queue.loaded.len());
        queue.loaded.drain(..len).collect()
    };
    let len = classes.len();
    let counts = &session.runtime().agent_counts;
    let classes = session.instrumentation.unchanged(env, classes);
    let begin = Instant::now();
    let refused = instrumentation::change(env, classes, |_| {});
    let duration = count(counts, begin);
    counts.refused_classes.add(refused);
    counts.classes_done.add(len as u64);
    let mut queue = session.changes.queue();
    queue.pace.spend(duration);
    queue.batch.took(len, duration);
    session
        .instrumentation
        .set_changes_loaded(!queue.loaded.is_empty());
}

/// Counts the duration of a change that has ended, and returns it.
fn count(counts: &AgentCounts, begin: Instant) -> Duration {
    let duration = begin.elapsed();
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    counts.class_change_ns.add(duration_ns);
    counts.longest_class_change_ns.raise(duration_ns);
    duration
}
