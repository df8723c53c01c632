//! Layout of a lock contention trace (`.lct`), shared by the tracer that writes
//! it inside the JVM and by the analysis that reads it.
//!
//! A trace is a [`FileHeader`] followed by chunks ([`chunk`]). The chunks of
//! events hold segments, each the content of one thread's buffer
//! ([`segment`]). All integers of fixed size are little-endian; all others are
//! LEB128 ([`varint`]). `docs/trace-format.md` describes every byte.
//!
//! Writing goes through [`SegmentEncoder`], which neither allocates nor fails
//! other than by [`DoesNotFit`], and [`ChunkWriter`]. Reading goes through
//! [`TraceReader`]:
//!
//! ```
//! use trace_format::{Chunk, TraceReader};
//! # use trace_format::FileHeader;
//! # let header = FileHeader { start_unix_ns: 0, pid: 1, ..FileHeader::default() };
//! # let file = header.encode();
//! let mut reader = TraceReader::new(file.as_slice())?;
//! while let Some(chunk) = reader.next_chunk()? {
//!     let Chunk::Events(events) = chunk else { continue };
//!     for segment in events.segments() {
//!         let segment = segment?;
//!         for event in segment.events() {
//!             println!("{}: {:?}", segment.thread, event?);
//!         }
//!     }
//! }
//! assert!(!reader.damage().end_seen);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod agent_result;
pub mod buffer_file;
pub mod capability;
pub mod chunk;
pub mod counter;
mod error;
pub mod event;
pub mod file;
pub mod id;
pub mod reader;
pub mod segment;
pub mod system;
pub mod varint;

mod wire;

pub use buffer_file::LeftBuffers;
pub use capability::Capabilities;
pub use chunk::{Chunk, ChunkWriter, EndReason, EventsChunk, Segment};
pub use counter::{Counter, Hook};
pub use error::{DecodeError, DoesNotFit, Malformed};
pub use event::{
    Blocker, ChainDescription, ChainRef, ChainRetired, ClassDescription, ContendedEnter,
    ContendedEntered, ContendedExit, EVENT_TYPES, Event, EventType, ExclusiveRelease, FieldValue,
    ForwardResolved, Frame, Hold, LoaderUnload, LockDescription, LockOwner, LockRetired, LockSite,
    LostEvents, LostNumbers, MethodDescription, MethodRetired, OwnerSample, PARK_DOMAINS,
    ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, StackRange, ThreadEnd, ThreadRename,
    ThreadStart, Unpark,
};
pub use file::{FileHeader, HeaderError};
pub use id::{
    ChainId, ClassId, ForwardRef, JavaThreadId, LoaderId, LockId, MethodId, Permit, ThreadId,
};
pub use reader::{Damage, SkipReason, Skipped, TraceReader};
pub use segment::{GrownTail, SegmentDecoder, SegmentEncoder, TakeEvent};
pub use system::{Freeze, HookPart, Safepoint, SystemRecord, SystemRecords, ThreadTimes};
