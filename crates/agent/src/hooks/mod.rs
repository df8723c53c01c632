//! The hooks: what is written at each event. They run in the application's threads.

pub(crate) mod chains;
pub(crate) mod class_changer;
pub(crate) mod monitors;
pub(crate) mod parks;
mod watcher;

use crate::ffi::{Env, Object};
use crate::instrumentation::LoadedClass;
use crate::session;

/// Handles a class that the JVM is about to define. Returns the class file to define instead.
pub(crate) fn class_file_load(env: Env<'_>, class: &LoadedClass<'_>) -> Option<Vec<u8>> {
    session::with(|session| {
        let counts = &session.of_environment(env)?.runtime().agent_counts;
        session.instrumentation.change(env, class, counts)
    })
}

/// Handles the end of the current thread.
pub(crate) fn thread_end(env: Env<'_>, thread: Object<'_>) {
    session::with_any(|session| {
        session.of_environment(env)?;
        let permits = session.parks.as_ref().map(|parks| &parks.permits);
        permits.inspect(|permits| permits.forget(session.threads.java_id(env, thread)));
        session.threads.end(env, session.runtime(), thread)
    });
}
