//! What is written at each event. All of it runs in the application's threads.

pub(crate) mod chains;
pub(crate) mod monitors;
pub(crate) mod parks;
mod watcher;

use crate::ffi::{Env, Object};
use crate::instrumentation::LoadedClass;
use crate::session;

/// The JVM is about to define a class. Returns what it is to define in its place.
pub(crate) fn class_file_load(env: Env<'_>, class: &LoadedClass<'_>) -> Option<Vec<u8>> {
    session::with(|session| {
        let counts = &session.told(env)?.runtime().agent_counts;
        session.instrumentation.change(env, class, counts)
    })
}

/// The current thread ends.
pub(crate) fn thread_end(env: Env<'_>, thread: Object<'_>) {
    session::with_any(|session| {
        session.told(env)?;
        let permits = session.parks.as_ref().map(|parks| &parks.permits);
        permits.inspect(|permits| permits.forget(session.threads.java_id(env, thread)));
        session.threads.end(env, session.runtime(), thread)
    });
}
