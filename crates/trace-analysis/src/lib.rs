//! Analysis of lock contention traces: from events to contentions and their
//! aggregation (paper, section 4).
//!
//! ```text
//! events → metadata resolver → event rearranger → intrinsic lock analyzers → waits → selection → sink
//!                                               → analyzers of parked threads →
//! ```
//!
//! A trace is read once, from a file, a file that grows, a pipe or a socket ([`TraceInput`]);
//! [`TraceAnalysis`] takes its chunks, or events from anywhere, and says at any time what is
//! known so far ([`TraceAnalysis::snapshot`]). Memory grows with the number of distinct lock
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

mod aggregation;
mod analysis;
mod aspect;
mod batch;
mod blaming;
mod by_thread;
mod code_metadata;
mod contention;
mod contents;
mod convoys;
mod counter;
mod delivery;
mod entity;
mod entity_store;
mod feeder;
mod few_map;
mod file_analysis;
mod forward_refs;
mod freezes;
mod hash;
mod held_events;
mod held_runs;
mod held_waits;
pub mod histogram;
mod hook_parts;
mod id_set;
mod intake;
mod kept_set;
mod known_waits;
mod label;
mod last_events;
mod last_facts;
mod last_waits;
mod ledger;
mod left_buffers;
mod library;
mod lock_analyzer;
mod lock_dispatcher;
mod lock_event;
mod lock_group;
mod lock_order;
mod maybe;
mod metadata;
mod method_table;
mod overloads;
mod own_waits;
mod owned_event;
mod owner_fact;
mod owner_facts;
mod owner_samples;
mod owner_spans;
mod owner_times;
mod packed_owner;
mod parallel;
mod park;
mod parts;
mod pattern;
mod pending_chains;
mod placeholder;
mod rearranger;
mod recent_map;
mod recent_paths;
mod recent_roots;
mod room;
mod roots;
mod run_delays;
mod safepoints;
mod search;
mod seen_owner;
mod selection;
mod shared_holds;
mod shared_run;
mod sharing;
mod signature;
mod snapshot;
mod stacks;
mod statistics;
mod still_blocked;
mod stretches;
mod synchronizer;
mod system_fact;
mod tally;
mod through;
mod time_range;
mod timeline;
mod trace_file;
mod trace_input;
mod value;
mod wait_figures;
mod wait_sink;
mod waiters;
mod what_if;
mod worker_loop;

pub use aggregation::{Aggregation, Row, RowLimits, Rows, Sums, Totals};
pub use analysis::{Analysis, Findings, Limits, TraceAnalysis};
pub use aspect::{Aspect, UnknownAspect};
pub use contention::{
    Blame, Contention, Detail, EndedHolds, Holds, Mechanism, OpenWait, OwnWait, Owner,
    OwnerActivity, Root, RootEnd, RootPart, SafepointPhase, UnknownOwner, Wait, WaitEnd, WaitId,
    WaitKind,
};
pub use convoys::{Convoy, Convoys, QueuePeriod, Reentries, WakeUps};
pub use counter::{Counter, Counters, Severity};
pub use entity::renamed::{RenamedEntities, Renaming};
pub use entity::{
    Chain, ChainIndex, ClassIndex, Entities, Frame, Lock, LockIndex, Method, MethodIndex, Thread,
    ThreadIndex,
};
pub use file_analysis::{Progress, TraceSummary};
pub use hook_parts::HookTime;
pub use lock_order::{LockOrder, Nesting, NestingCode, Order, OrderCycle};
pub use method_table::MethodTable;
pub use overloads::Overloads;
pub use owner_times::OwnerTimes;
pub use pattern::{InvalidPattern, Pattern};
pub use placeholder::PLACEHOLDERS;
pub use selection::{Condition, Selection, Selector};
pub use signature::{is_method_descriptor, is_type_descriptor};
pub use snapshot::Snapshot;
pub use statistics::{EventCount, Statistics};
pub use still_blocked::{BlockedThread, Deadlock, StillBlocked};
pub use tally::{WaitSums, WaitTally};
pub use time_range::TimeRange;
pub use trace_file::{FileReader, TraceError, TraceFile};
pub use trace_format::{EVENT_TYPES, EventType, ParkTimeout};
pub use trace_input::TraceInput;
pub use value::Value;
pub use wait_figures::{Durations, Figures, HoldFigures, LockFigures, ThreadFigures, WaitFigures};
pub use wait_sink::{DivisibleSink, WaitSink};
pub use what_if::{
    Assumptions, LockChange, LockOutcome, OwnerCode, Prediction, Question, Replay, UnknownChange,
    WhatIf,
};
