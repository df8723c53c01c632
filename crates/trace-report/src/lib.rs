//! Reports of lock contention: who blocked whom, as text for people and as JSON for machines.
//!
//! ```text
//! waits of the analysis → ReportSums → Report → text, JSON
//! ```
//!
//! The command line makes them from traces, and the JVM from the trace that it analyzes itself.

#![forbid(unsafe_code)]

pub mod deadlocks;
pub mod facts;
pub mod hangs;
pub mod human;
mod json;
mod kinds;
mod live;
pub mod name;
mod owners;
pub mod problem;
mod question;
mod recent;
pub mod record;
mod report;
pub mod still_waiting;
pub mod style;
mod sums;
mod table;
mod tree;

pub use hangs::words::HangWords;
pub use kinds::Kinds;
pub use live::LiveSums;
pub use question::{DEFAULT_BY, Format, Question, Since};
pub use report::{Form, Part, Report};
pub use sums::ReportSums;
