//! The waits of lock contention traces in memory, so that questions about them are answered at once.
//!
//! ```text
//! waits of the analysis → Model: waiters, owners, waits, shares → groups, distributions,
//!                                what does not fit is folded      single waits, timelines,
//!                                                                 findings, columns
//! ```
//!
//! A [`Model`] is filled while traces are analyzed, and answers questions meanwhile. Its memory is
//! [bounded](Limits), except for the names of things: beyond the limits the shortest waits are kept
//! as sums, which count in every answer.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::path::Path;
//!
//! use trace_analysis::{Analysis, Entities, TraceFile, Wait};
//! use trace_model::{Arrangement, Limits, Model, Query};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace-format/tests/golden/v4.lct");
//! let trace = TraceFile::open(Path::new(path))?;
//! let arrangement = Arrangement::OneAfterTheOther;
//! let mut model = Model::new(Limits::default(), arrangement, trace.byte_len(), Vec::new());
//! let mut analysis = Analysis::default().with_detail(model.detail());
//! model.begin_trace(trace.header().start_unix_ns);
//! trace.analyze(
//!     &mut analysis,
//!     &mut |wait: &Wait, entities: &Entities| model.add(wait, entities),
//!     |_progress| ControlFlow::Continue(()),
//! )?;
//! let query: Query = serde_json::from_str(r#"{"by": ["lock-class", "owner-method"]}"#)?;
//! let groups = model.query(&query, analysis.entities())?;
//! for group in &groups.groups {
//!     println!("{} waits, {:?}", group.waits, group.duration_ns);
//! }
//! # assert!(groups.groups.len() > 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod classes;
mod columns;
mod dimension;
mod distribution;
mod findings;
mod folded;
mod groups;
mod hash;
mod known_names;
mod lanes;
mod limits;
mod model;
mod name_collector;
mod names;
mod occurrences;
mod scale;
mod scope;
mod selection;
mod series;
mod store;
mod stored;
mod sum;
mod tables;
mod time_axis;

pub use columns::{
    Budget, Columns, FoldedColumns, FoldedShareColumns, PartColumns, ShareColumns, WaitColumns,
};
pub use dimension::{Dimension, UnknownDimension};
pub use distribution::{Distribution, DistributionBucket, DistributionQuery};
pub use findings::{
    Code, Conclusions, DeadlockRecord, DeadlockedThread, Evidence, Finding, FindingConfidence,
    HangHolder, HangRecord, Kept, Named, OnProcessor, OtherWaits, OwnerPlace, Quiet, Run, Saving,
    StuckThread, Through, UnexplainedThreads, WaitingCode, deadlocks, hangs,
};
pub use groups::{Group, Groups, Omitted, Query, Range};
pub use lanes::{Lane, LaneBy, LaneContent, LaneWait, Lanes, LanesQuery, OmittedLanes, Segment};
pub use limits::Limits;
pub use model::{Confidence, Folding, KindTotals, Model, Trace};
pub use names::{NamedChain, NamedFrame, NamedValue, Names};
pub use occurrences::{
    MoreShares, Occurrence, OccurrencePart, OccurrenceShare, Overlap, WaitDetails, WaitOrder,
    Waits, WaitsQuery,
};
pub use selection::{Condition, Kind, QuestionError, UnknownKind, WaitSelection};
pub use stored::{BadStoredModel, StoredModel};
pub use sum::Sum;
pub use time_axis::{Arrangement, MAX_NS};
