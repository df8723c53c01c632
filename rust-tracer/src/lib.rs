//! The runtime of lock contention tracing, linked into the JVM.
//!
//! ```text
//! Java thread ── ThreadTracer ── Buffer in the thread's BufferSlot
//!                     ▲            │ full, or taken by another thread
//!                     │            ▼
//!                BufferPool    BufferQueue ── drainer ──┬── TraceFile
//!                     ▲                          │    └── Feed ── analysis ── reports
//!                     └───── written buffers ────┘
//! ```
//!
//! The JVM calls the functions of [`ffi`]; all other modules know nothing of C. An agent in Rust
//! links the crate without the feature `c-abi` and uses what is re-exported below.
//! Code that runs in a Java thread takes no lock, never blocks, and survives a
//! failed allocation: the event is lost then, and counted. Nothing here may
//! panic; the lints below see to that.
//!
//! Memory that any thread may read at any time lives as long as the trace: the
//! `Runtime` and its `ThreadSlots` are freed when the JVM no longer uses them, and
//! later threads use the slots of earlier ones again. Only what a `ChainSet` removes is
//! freed earlier, after a `GracePeriod`.

#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::todo,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]
// Without the C interface, some functions have no callers.
#![cfg_attr(not(feature = "c-abi"), allow(dead_code))]

#[doc(hidden)]
pub mod bench;
#[cfg(feature = "c-abi")]
pub mod ffi;

mod buffers;
mod chains;
mod counters;
pub mod cycles;
mod drain;
mod facts;
mod fallible;
mod lifecycle;
mod live;
mod lock;
#[cfg(all(test, loom))]
mod loom_tests;
mod os;
mod output;
mod park_domains;
mod primitive;
mod runtime;
mod site_table;
pub mod text;
mod threads;
mod tracer;

pub use chains::key::{ChainKey, interpreted_frame};
pub use counters::{AgentCounts, Count};
pub use lifecycle::{Config, StartError};
pub use live::analysis::Mode;
pub use lock::Lock;
pub use os::monotonic_ns;
pub use runtime::{Runtime, Used};
pub use tracer::ThreadTracer;
