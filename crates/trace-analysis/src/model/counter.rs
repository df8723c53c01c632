//! What the analysis counts other than contentions: losses, oddities, and its own
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

/// Declares the counters, in the order in which people read them: each with its
/// name for machines, its severity, and what it counts.
macro_rules! counters {
    ($($counter:ident, $name:literal, $severity:ident: $meaning:literal;)+) => {
        /// A counter of the analysis.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter {
            $(
                #[doc = concat!("Counts ", $meaning, ".")]
                $counter,
            )+
        }

        impl Counter {
            /// All counters, in the order in which people read them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$counter),+];

            /// Returns its name in machine-readable output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$counter => $name,)+
                }
            }

            /// Returns what it counts.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$counter => $meaning,)+
                }
            }

            /// Returns whether it is a reason to worry.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$counter => Severity::$severity,)+
                }
            }
        }
    };
}

counters! {
    LostNumbers, "lost_numbers", Loss:
        "events that the tracer lost and listed";
    GapsSkipped, "gaps_skipped", Loss:
        "runs of events that never came";
    NumbersSkipped, "numbers_skipped", Loss:
        "events that never came";
    GapsSkippedEarly, "gaps_skipped_early", Loss:
        "runs of events given up before the end of the trace, for want of memory";
    MissingBuffers, "missing_buffers", Loss:
        "buffers of a thread that are not in the trace although later ones are";
    MalformedSegments, "malformed_segments", Loss:
        "buffers that could be decoded only in part";
    LateEvents, "late_events", Loss:
        "events dropped because their number was given up or taken";
    LocksNotDescribed, "locks_not_described", Loss:
        "locks without a description";
    ClassesNotDescribed, "classes_not_described", Loss:
        "classes without a description";
    MethodsNotDescribed, "methods_not_described", Loss:
        "methods without a description";
    ChainsNotDescribed, "chains_not_described", Loss:
        "call chains without a description";
    ChainsNotKept, "chains_not_kept", Loss:
        "call chains for which there was no memory left";
    LocksForgotten, "locks_forgotten", Normal:
        "locks forgotten for want of memory, for nobody had used them for long";
    ThreadsForgotten, "threads_forgotten", Normal:
        "threads that had ended and were forgotten for want of memory";
    RetiredReferences, "retired_references", Defect:
        "references to call chains, methods or classes that had ended";
    ThreadsNotDescribed, "threads_not_described", Loss:
        "threads without a description";
    ForwardRefsUnresolved, "forward_refs_unresolved", Normal:
        "exits whose call chain was still to come when the trace ended";
    ForwardRefsForgotten, "forward_refs_forgotten", Loss:
        "call chains that came later than their exits and were forgotten for want of memory";
    OpenWaits, "open_waits", Normal:
        "waits that had not ended when the trace ended";
    OpenWaitsNs, "open_waits_ns", Normal:
        "known part of the waits that had not ended, in nanoseconds";
    WaitsWithoutEntered, "waits_without_entered", Normal:
        "waits whose end was not seen, although the thread went on";
    EnteredWithoutEnter, "entered_without_enter", Normal:
        "ends of waits whose beginning was not seen";
    UnexpectedExits, "unexpected_exits", Normal:
        "exits by a thread other than the one last seen to acquire the lock";
    BargingHolds, "barging_holds", Normal:
        "holds of a lock by threads that acquired it without waiting while others waited";
    IntervalsCollapsed, "intervals_collapsed", Loss:
        "owners forgotten because a wait had too many";
    UnbalancedWaits, "unbalanced_waits", Defect:
        "waits whose contentions do not add up to their duration";
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
    /// Returns the value of `counter`.
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

    /// Returns all counters and their values.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        Counter::ALL
            .iter()
            .map(|&counter| (counter, self.value(counter)))
    }
}
