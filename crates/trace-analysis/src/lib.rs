//! Analysis of lock contention traces: from events to contentions and their
//! aggregation (paper, section 4).
//!
//! ```text
//! events → metadata resolver → event rearranger → intrinsic lock analyzers → waits → aggregation
//!                                               → analyzers of parked threads →
//! ```
//!
//! [`TraceFile`] runs a file through all stages; [`Analysis`] takes events from
//! anywhere. Memory grows with the number of distinct locks, threads, methods
//! and call chains, and a few bytes for each forward reference (one per contended
//! `Object.wait`), but not with the number of other events.

#![forbid(unsafe_code)]

mod aggregation;
mod analysis;
mod aspect;
mod code_metadata;
mod contention;
mod counter;
mod entity;
mod id_set;
mod label;
mod lock_analyzer;
mod lock_dispatcher;
mod metadata;
mod method_table;
mod park;
mod rearranger;
mod statistics;
mod tally;
mod timeline;
mod trace_file;

pub use aggregation::{Aggregation, Row, Rows, Selection, Sums, Totals};
pub use analysis::{Analysis, Limits, TraceAnalysis};
pub use aspect::{Aspect, UnknownAspect, Value};
pub use contention::{Contention, Group, Owner, UnknownOwner, Wait, WaitKind, Waiting};
pub use counter::{Counter, Counters, Severity};
pub use entity::{
    Chain, ChainIndex, ClassIndex, Entities, Frame, Lock, LockIndex, Method, MethodIndex, Thread,
    ThreadIndex,
};
pub use metadata::Metadata;
pub use statistics::{EVENT_TYPES, EventCount, EventType, Statistics};
pub use tally::{WaitSums, WaitTally};
pub use trace_file::{FileReader, Progress, TraceError, TraceFile, TraceSummary};
