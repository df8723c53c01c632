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
//! What runs in a Java thread takes no lock, blocks on nothing, and survives a
//! failed allocation: the event is lost then, and counted. Nothing here may
//! panic; the lints below see to that.
//!
//! Memory that any thread may look at at any time lives as long as the trace: the
//! `Runtime` and its `ThreadSlots` are freed when the JVM says that nobody uses them any
//! more, and a slot is used again by a later thread. Only what a `ChainSet` removes goes
//! earlier, after a `GracePeriod`.

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
// Without the C interface, what only that needs is not used.
#![cfg_attr(not(feature = "c-abi"), allow(dead_code))]

#[doc(hidden)]
pub mod bench;
#[cfg(feature = "c-abi")]
pub mod ffi;

mod analysis;
mod buffer;
mod buffer_file;
mod buffer_memory;
mod buffer_pool;
mod buffer_queue;
mod buffer_slot;
mod chain_entry;
mod chain_key;
mod chain_set;
mod chain_table;
mod counters;
pub mod cycles;
mod destination;
mod drainer;
mod dump;
mod fact_ring;
mod fallible;
mod feed;
mod freezes;
mod grace_period;
mod hook_costs;
mod hook_parts;
mod lock;
#[cfg(all(test, loom))]
mod model;
mod new_name;
mod os;
mod output;
mod owners_seen;
mod park_domains;
mod primitive;
mod retirement;
mod runtime;
mod safepoints;
mod site_table;
mod slot_table;
pub mod text;
mod thread_identity;
mod thread_numbers;
mod thread_slots;
mod thread_times;
mod trace_file;
mod tracer;
mod unload_queue;
mod unloaded_code;

pub use analysis::Mode;
pub use chain_key::{ChainKey, interpreted_frame};
pub use counters::{AgentCounts, Count};
pub use lock::Lock;
pub use os::monotonic_ns;
pub use runtime::{Config, Runtime, StartError, Used};
pub use tracer::ThreadTracer;
