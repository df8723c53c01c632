//! Traces lock contention of a JVM that knows nothing of locktrace, as a native agent:
//! `java -agentpath:/path/liblocktrace.so=file=app.lct -jar app.jar`.
//!
//! ```text
//! JVM ──▶ entry ──▶ commands ──▶ session: start, stop
//!               └──▶ hooks ──▶ session: monitors, parks, threads, methods ──▶ rust-tracer
//! ```
//!
//! The tool interface (JVMTI) has events for a thread that blocks for a monitor and for one that has
//! acquired it. The agent writes what the patched JVM writes, by the same runtime. `docs/agent.md`
//! says what an agent cannot know.
//!
//! Code in a thread of the application does not panic, and never waits: mutexes are held for a few
//! instructions, never while the JVM is called, since a thread can be stopped there.

#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::todo,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]
#![deny(unsafe_code)]

mod changes;
mod classes;
mod commands;
#[allow(unsafe_code)]
mod entry;
#[allow(unsafe_code)]
mod ffi;
mod hooks;
mod instrumentation;
mod messages;
mod methods;
mod monitors;
mod parks;
mod session;
mod slots;
mod threads;
