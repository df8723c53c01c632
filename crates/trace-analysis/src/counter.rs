//! What the analysis counts beside contentions: losses, oddities, and its own
//! mistakes.

/// Whether a counter that is not zero is a reason to worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Happens in sound traces.
    Normal,
    /// The trace lacks something that existed.
    Loss,
    /// The tracer or the analysis is wrong; please report it.
    Defect,
}

/// A counter of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Events that the tracer lost and listed.
    LostNumbers,
    /// Runs of events that never came.
    GapsSkipped,
    /// Events that never came.
    NumbersSkipped,
    /// Runs of events given up before the end of the trace, for want of memory.
    GapsSkippedEarly,
    /// Buffers of a thread that are not in the trace although later ones are.
    MissingBuffers,
    /// Buffers that could be decoded only in part.
    MalformedSegments,
    /// Events dropped because their number was given up or taken.
    LateEvents,
    /// Locks without a description.
    LocksNotDescribed,
    /// Classes without a description.
    ClassesNotDescribed,
    /// Methods without a description.
    MethodsNotDescribed,
    /// Call chains without a description.
    ChainsNotDescribed,
    /// References to call chains, methods or classes that had ended.
    RetiredReferences,
    /// Threads without a description.
    ThreadsNotDescribed,
    /// Exits whose call chain was still to come when the trace ended.
    ForwardRefsUnresolved,
    /// Waits that had not ended when the trace ended.
    OpenWaits,
    /// Known part of the waits that had not ended, in nanoseconds.
    OpenWaitsNs,
    /// Waits whose end was not seen, although the thread went on.
    WaitsWithoutEntered,
    /// Ends of waits whose beginning was not seen.
    EnteredWithoutEnter,
    /// Exits by a thread other than the one last seen to acquire the lock.
    UnexpectedExits,
    /// Owners forgotten because a wait had too many.
    IntervalsCollapsed,
    /// Waits whose contentions do not add up to their duration.
    UnbalancedWaits,
}

impl Counter {
    /// All counters, in the order in which people read them.
    pub const ALL: [Self; 21] = [
        Self::LostNumbers,
        Self::GapsSkipped,
        Self::NumbersSkipped,
        Self::GapsSkippedEarly,
        Self::MissingBuffers,
        Self::MalformedSegments,
        Self::LateEvents,
        Self::LocksNotDescribed,
        Self::ClassesNotDescribed,
        Self::MethodsNotDescribed,
        Self::ChainsNotDescribed,
        Self::RetiredReferences,
        Self::ThreadsNotDescribed,
        Self::ForwardRefsUnresolved,
        Self::OpenWaits,
        Self::OpenWaitsNs,
        Self::WaitsWithoutEntered,
        Self::EnteredWithoutEnter,
        Self::UnexpectedExits,
        Self::IntervalsCollapsed,
        Self::UnbalancedWaits,
    ];

    /// Name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::LostNumbers => "lost_numbers",
            Self::GapsSkipped => "gaps_skipped",
            Self::NumbersSkipped => "numbers_skipped",
            Self::GapsSkippedEarly => "gaps_skipped_early",
            Self::MissingBuffers => "missing_buffers",
            Self::MalformedSegments => "malformed_segments",
            Self::LateEvents => "late_events",
            Self::LocksNotDescribed => "locks_not_described",
            Self::ClassesNotDescribed => "classes_not_described",
            Self::MethodsNotDescribed => "methods_not_described",
            Self::ChainsNotDescribed => "chains_not_described",
            Self::RetiredReferences => "retired_references",
            Self::ThreadsNotDescribed => "threads_not_described",
            Self::ForwardRefsUnresolved => "forward_refs_unresolved",
            Self::OpenWaits => "open_waits",
            Self::OpenWaitsNs => "open_waits_ns",
            Self::WaitsWithoutEntered => "waits_without_entered",
            Self::EnteredWithoutEnter => "entered_without_enter",
            Self::UnexpectedExits => "unexpected_exits",
            Self::IntervalsCollapsed => "intervals_collapsed",
            Self::UnbalancedWaits => "unbalanced_waits",
        }
    }

    /// What it counts.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::LostNumbers => "events that the tracer lost and listed",
            Self::GapsSkipped => "runs of events that never came",
            Self::NumbersSkipped => "events that never came",
            Self::GapsSkippedEarly => {
                "runs of events given up before the end of the trace, for want of memory"
            }
            Self::MissingBuffers => {
                "buffers of a thread that are not in the trace although later ones are"
            }
            Self::MalformedSegments => "buffers that could be decoded only in part",
            Self::LateEvents => "events dropped because their number was given up or taken",
            Self::LocksNotDescribed => "locks without a description",
            Self::ClassesNotDescribed => "classes without a description",
            Self::MethodsNotDescribed => "methods without a description",
            Self::ChainsNotDescribed => "call chains without a description",
            Self::RetiredReferences => {
                "references to call chains, methods or classes that had ended"
            }
            Self::ThreadsNotDescribed => "threads without a description",
            Self::ForwardRefsUnresolved => {
                "exits whose call chain was still to come when the trace ended"
            }
            Self::OpenWaits => "waits that had not ended when the trace ended",
            Self::OpenWaitsNs => "known part of the waits that had not ended, in nanoseconds",
            Self::WaitsWithoutEntered => {
                "waits whose end was not seen, although the thread went on"
            }
            Self::EnteredWithoutEnter => "ends of waits whose beginning was not seen",
            Self::UnexpectedExits => {
                "exits by a thread other than the one last seen to acquire the lock"
            }
            Self::IntervalsCollapsed => "owners forgotten because a wait had too many",
            Self::UnbalancedWaits => "waits whose contentions do not add up to their duration",
        }
    }

    /// Whether it is a reason to worry.
    pub fn severity(self) -> Severity {
        match self {
            Self::ForwardRefsUnresolved
            | Self::OpenWaits
            | Self::OpenWaitsNs
            | Self::WaitsWithoutEntered
            | Self::EnteredWithoutEnter
            | Self::UnexpectedExits => Severity::Normal,
            Self::RetiredReferences | Self::UnbalancedWaits => Severity::Defect,
            _ => Severity::Loss,
        }
    }
}

/// A value for each [`Counter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters([u64; Counter::ALL.len()]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; Counter::ALL.len()])
    }
}

impl Counters {
    /// The value of `counter`.
    pub fn value(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Adds `amount` to `counter`.
    pub fn add(&mut self, counter: Counter, amount: u64) {
        let value = &mut self.0[counter as usize];
        *value = value.saturating_add(amount);
    }

    /// Adds each counter of `other`.
    pub fn merge(&mut self, other: &Counters) {
        for counter in Counter::ALL {
            self.add(counter, other.value(counter));
        }
    }

    /// All counters and their values.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        Counter::ALL
            .iter()
            .map(|&counter| (counter, self.value(counter)))
    }
}
