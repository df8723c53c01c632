//! What the JVM and the system did with threads, bound to entities.

use trace_format::{Freeze, Safepoint};

use crate::model::entity::{ChainIndex, ThreadIndex};

/// A fact in the trace other than an event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemFact {
    Safepoint(Safepoint),
    Times(Times),
    Sample(Sample),
    Hook(HookPart),
    Freeze(Freeze),
}

/// When the tracer itself ran in a thread: one hook of as many as `weight`, chosen by chance, or the part
/// before a break in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HookPart {
    pub(crate) thread: ThreadIndex,
    pub(crate) end_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) weight: u64,
}

/// Where a thread stood that owned a lock which others waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) owner: ThreadIndex,
    pub(crate) time_ns: u64,
    /// Since when it could be sampled.
    pub(crate) since_ns: u64,
    /// The time that it stands for, among others of the same time.
    pub(crate) interval_ns: u64,
    pub(crate) chain: ChainIndex,
}

/// What the system had counted of a thread then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) processor_ns: u64,
    /// Without the wait for a processor that was going on.
    pub(crate) run_delay_ns: u64,
    /// How often it had come to a processor: the waits before are counted.
    pub(crate) timeslices: u64,
}
