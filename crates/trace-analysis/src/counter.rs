//! What the analysis counts beside contentions: losses, oddities, and its own
//! mistakes.

/// Whether a counter that is not zero is a reason to worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Happens in sound traces.
    Normal,
    /// The trace lacks something that existed.
    Loss,
    /// The analysis is wrong; please report it.
    Defect,
}

/// Defines [`Counter`] together with what is known about each.
macro_rules! counters {
    ($($variant:ident $severity:ident $name:literal $meaning:literal)*) => {
        /// A counter of the analysis.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter {
            $(#[doc = $meaning] $variant,)*
        }

        impl Counter {
            /// All counters, in the order in which people read them.
            pub const ALL: &[Counter] = &[$(Counter::$variant,)*];

            /// Name in machine-readable output.
            pub fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)* }
            }

            /// What it counts.
            pub fn meaning(self) -> &'static str {
                match self { $(Counter::$variant => $meaning,)* }
            }

            /// Whether it is a reason to worry.
            pub fn severity(self) -> Severity {
                match self { $(Counter::$variant => Severity::$severity,)* }
            }
        }
    };
}

counters! {
    LostNumbers Loss "lost_numbers"
        "events that the tracer lost and listed"
    GapsSkipped Loss "gaps_skipped"
        "runs of events that never came"
    NumbersSkipped Loss "numbers_skipped"
        "events that never came"
    GapsSkippedEarly Loss "gaps_skipped_early"
        "runs of events given up before the end of the trace, for want of memory"
    MissingBuffers Loss "missing_buffers"
        "buffers of a thread that are not in the trace although later ones are"
    MalformedSegments Loss "malformed_segments"
        "buffers that could be decoded only in part"
    LateEvents Loss "late_events"
        "events dropped because their number was given up or taken"
    LocksNotDescribed Loss "locks_not_described"
        "locks without a description"
    ClassesNotDescribed Loss "classes_not_described"
        "classes without a description"
    MethodsNotDescribed Loss "methods_not_described"
        "methods without a description"
    ChainsNotDescribed Loss "chains_not_described"
        "call chains without a description"
    ThreadsNotDescribed Loss "threads_not_described"
        "threads without a description"
    ForwardRefsUnresolved Normal "forward_refs_unresolved"
        "exits whose call chain was still to come when the trace ended"
    OpenWaits Normal "open_waits"
        "waits that had not ended when the trace ended"
    OpenWaitsNs Normal "open_waits_ns"
        "known part of the waits that had not ended, in nanoseconds"
    WaitsWithoutEntered Normal "waits_without_entered"
        "waits whose end was not seen, although the thread went on"
    EnteredWithoutEnter Normal "entered_without_enter"
        "ends of waits whose beginning was not seen"
    UnexpectedExits Normal "unexpected_exits"
        "exits by a thread other than the one last seen to acquire the lock"
    IntervalsCollapsed Loss "intervals_collapsed"
        "owners forgotten because a wait had too many"
    UnbalancedWaits Defect "unbalanced_waits"
        "waits whose contentions do not add up to their duration"
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
        for &counter in Counter::ALL {
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
