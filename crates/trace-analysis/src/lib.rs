//! Analysis of lock contention traces: from events to contentions and their aggregation (paper,
//! section 4).
//!
//! ```text
//! events → metadata resolver → event rearranger → intrinsic lock analyzers → waits → selection → sink
//!                                               → analyzers of parked threads →
//! ```
//!
//! A trace is read once, from a file, a file that grows, a pipe or a socket ([`TraceInput`]);
//! [`TraceAnalysis`] takes its chunks, or events from anywhere, and can report its results so far
//! at any time ([`TraceAnalysis::snapshot`]). Memory grows with the number of distinct lock
//! objects, threads, methods and call chains, but not with the number of events.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::path::Path;
//!
//! use trace_analysis::{Aggregation, Analysis, Aspect, RowLimits, TraceFile};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace-format/tests/golden/v3.lct");
//! let mut blame = Aggregation::new([Aspect::LockClass, Aspect::Method]);
//! let mut analysis = Analysis::default();
//! let summary = TraceFile::open(Path::new(path))?.analyze(
//!     &mut analysis,
//!     &mut blame,
//!     |_progress| ControlFlow::Continue(()),
//! )?;
//! let totals = blame.totals();
//! println!("{} waits in {} ns", totals.all.waits, summary.duration_ns);
//! for row in blame.rows(RowLimits::default(), analysis.entities()).rows {
//!     println!("{} ns for {}", row.sums.duration_ns, row.label);
//! }
//! # assert!(totals.all.waits > 0);
//! # Ok::<(), trace_analysis::TraceError>(())
//! ```

#![forbid(unsafe_code)]

mod aggregate;
mod blame;
mod collections;
mod input;
mod model;
mod order;
mod pipeline;
mod resolve;
mod what_if;

pub use aggregate::aggregation::{Aggregation, Row, RowLimits, Rows, Sums, Totals};
pub use aggregate::aspect::{Aspect, UnknownAspect};
pub use aggregate::convoys::{Convoy, Convoys, QueuePeriod, Reentries, WAITS_AGAIN_NS, WakeUps};
pub use aggregate::histogram;
pub use aggregate::kind_totals::{WaitSums, WaitTally};
pub use aggregate::lock_order::{LockOrder, Nesting, NestingCode, Order, OrderCycle, Risk};
pub use aggregate::method_table::MethodTable;
pub use aggregate::overloads::Overloads;
pub use aggregate::pattern::{InvalidPattern, Pattern};
pub use aggregate::selection::{Condition, Selection, Selector};
pub use aggregate::statistics::{EventCount, Statistics};
pub use aggregate::still_blocked::StillBlocked;
pub use aggregate::still_blocked::deadlock::Deadlock;
pub use aggregate::still_blocked::hang::{Hang, Verdict};
pub use aggregate::value::Value;
pub use aggregate::wait_stats::{
    Durations, Figures, HoldFigures, LockFigures, ThreadFigures, WaitFigures,
};
pub use blame::activity::overhead::HookTime;
pub use blame::activity::owner_times::OwnerTimes;
pub use input::trace_file::{FileReader, TraceError, TraceFile};
pub use input::trace_input::TraceInput;
pub use model::counter::{Counter, Counters, Severity};
pub use model::detail::{BlameBy, Detail};
pub use model::entity::renamed::{RenamedEntities, Renaming};
pub use model::entity::{
    Chain, ChainIndex, ClassIndex, Entities, Frame, Lock, LockIndex, Method, MethodIndex, Thread,
    ThreadIndex,
};
pub use model::placeholder::PLACEHOLDERS;
pub use model::signature::{is_method_descriptor, is_type_descriptor};
pub use model::thread_life::ThreadLife;
pub use model::time_range::TimeRange;
pub use model::time_sampling::TimeSampling;
pub use model::wait::{
    Blame, Contention, EndedHolds, HeldInWait, HolderFacts, Holds, Mechanism, OpenWait, OwnWait,
    Owner, OwnerActivity, Resource, Root, RootEnd, RootPart, SafepointPhase, Scheduling, Turnover,
    UnknownOwner, Wait, WaitEnd, WaitId, WaitKind,
};
pub use model::wait_sink::{DivisibleSink, WaitSink};
pub use pipeline::analysis::{Analysis, Findings, Limits, TraceAnalysis};
pub use pipeline::file_analysis::{Progress, TraceSummary};
pub use pipeline::snapshot::Snapshot;
pub use trace_format::{EVENT_TYPES, EventType, ParkTimeout};
pub use what_if::{
    Assumptions, Effect, LockChange, LockOutcome, OwnerCode, Prediction, Question, Replay, Speedup,
    SpeedupOf, UnknownChange, Unreliable, UnseenHolds, WhatIf,
};
