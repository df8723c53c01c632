//! The C interface, by subject. These functions only convert; `docs/c-abi.md` says
//! when each may be called.
//!
//! None of them unwinds, and none blocks, except those that start, stop, copy or report
//! on a trace. Text need not be valid UTF-8. A tracer is used by one thread at a time; a
//! null tracer stands for one that could not be allocated, and calls with it do nothing.
//! Times are absolute values of the clock of [`LctConfig::start_ns`].
//!
//! Events are passed as pointers to structs, which the caller fills in place: no copy, no
//! arguments on the stack, and no two numbers to confuse.

mod chains;
mod control;
mod hold;
mod hooks;
mod lent;
mod metadata;
mod monitors;
mod owner_samples;
mod parks;
mod reports;
mod sites;
mod threads;

pub use chains::*;
pub use control::*;
pub use hold::*;
pub use hooks::*;
pub use lent::*;
pub use metadata::*;
pub use monitors::*;
pub use owner_samples::*;
pub use parks::*;
pub use reports::*;
pub use sites::*;
pub use threads::*;
