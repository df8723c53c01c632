//! The tracer's counters of its own work: the payload of a counters chunk.
//!
//! The payload is a sequence of pairs of varints, a counter's id and its value.
//! The tracer writes all counters repeatedly; the last value of each holds.

use crate::error::DecodeError;
use crate::varint;
use crate::wire::ByteReader;

/// Declares the counters: each with its name in the code, its id in the file and
/// its name for machines.
macro_rules! counters {
    ($($(#[$meta:meta])* $counter:ident = $id:literal, $name:literal;)+) => {
        /// A counter of the tracer. The discriminant is its id in the file and is
        /// never given to another counter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Counter {
            $($(#[$meta])* $counter = $id,)+
        }

        impl Counter {
            /// All counters in the order of their ids.
            pub const ALL: [Self; [$($id),+].len()] = [$(Self::$counter),+];

            /// Returns the counter's name in `snake_case`, with its unit.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$counter => $name,)+
                }
            }
        }
    };
}

counters! {
    /// Events lost because the drainer could not keep up or memory ran out.
    LostEvents = 1, "lost_events";

    /// Buffers lost for the same reasons.
    LostBuffers = 2, "lost_buffers";

    /// Those among [`LostBuffers`](Self::LostBuffers) that held metadata, which
    /// was then written again.
    LostMetadataBuffers = 3, "lost_metadata_buffers";

    /// Events in the file.
    Events = 4, "events";

    /// Buffers in the file.
    Buffers = 5, "buffers";

    /// Chunks of events in the file.
    Chunks = 6, "chunks";

    /// Bytes of the chunks of events, before compression.
    RawBytes = 7, "raw_bytes";

    /// Bytes of the file.
    FileBytes = 8, "file_bytes";

    /// Most buffers in existence at once.
    PeakBuffers = 9, "peak_buffers";

    /// Most bytes in buffers at once.
    PeakBufferBytes = 10, "peak_buffer_bytes";

    /// Processor time of the drainer in nanoseconds.
    DrainerCpuNs = 11, "drainer_cpu_ns";

    /// Threads that had a tracer.
    Threads = 12, "threads";

    /// Locks that got an identifier.
    Locks = 13, "locks";

    /// Call chains that got an identifier.
    Chains = 14, "chains";

    /// Times that the set of call chains was full and was cleared.
    ChainSetResets = 15, "chain_set_resets";

    /// Times that all metadata was described again after a loss.
    MetadataRepeats = 16, "metadata_repeats";

    /// Call chains that hooks recorded for their events.
    ChainsRecorded = 17, "chains_recorded";

    /// Those among [`ChainsRecorded`](Self::ChainsRecorded) that the set of call
    /// chains knew.
    ChainsFound = 18, "chains_found";

    /// Call chains forgotten because the code of one of their frames is gone.
    ChainsPurged = 19, "chains_purged";

    /// Physical frames that stack walks visited.
    FramesVisited = 20, "frames_visited";

    /// Physical frames that a return barrier on the stack made it unnecessary to visit.
    FramesSaved = 21, "frames_saved";

    /// Cycles of the processor's time stamp counter since the trace's start, by which the other numbers of cycles are
    /// converted to time.
    ElapsedCycles = 22, "elapsed_cycles";

    /// Runs of the hook of contended enter, interrupted ones excluded. The cycles
    /// here and below are estimates: they are counted in each of a thread's first
    /// runs and then in a sample.
    EnterHooks = 23, "enter_hooks";

    /// Cycles spent in [`EnterHooks`](Self::EnterHooks).
    EnterCycles = 24, "enter_cycles";

    /// Runs of the hook of contended entered, interrupted ones excluded.
    EnteredHooks = 25, "entered_hooks";

    /// Cycles spent in [`EnteredHooks`](Self::EnteredHooks).
    EnteredCycles = 26, "entered_cycles";

    /// Runs of the hook of contended exit, interrupted ones excluded.
    ExitHooks = 27, "exit_hooks";

    /// Cycles spent in [`ExitHooks`](Self::ExitHooks).
    ExitCycles = 28, "exit_cycles";

    /// Runs of the hook of park begin, interrupted ones excluded.
    ParkBeginHooks = 29, "park_begin_hooks";

    /// Cycles spent in [`ParkBeginHooks`](Self::ParkBeginHooks).
    ParkBeginCycles = 30, "park_begin_cycles";

    /// Runs of the hook of park end, interrupted ones excluded.
    ParkEndHooks = 31, "park_end_hooks";

    /// Cycles spent in [`ParkEndHooks`](Self::ParkEndHooks).
    ParkEndCycles = 32, "park_end_cycles";

    /// Runs of the hook of unpark, interrupted ones excluded.
    UnparkHooks = 33, "unpark_hooks";

    /// Cycles spent in [`UnparkHooks`](Self::UnparkHooks).
    UnparkCycles = 34, "unpark_cycles";

    /// Runs of hooks of any kind that took more than 100,000 cycles: the thread
    /// was descheduled or had much to describe. Counted here only.
    InterruptedHooks = 35, "interrupted_hooks";

    /// Cycles spent in [`InterruptedHooks`](Self::InterruptedHooks).
    InterruptedCycles = 36, "interrupted_cycles";

    /// Most bytes at once that were kept for threads besides their buffers: slots, tracers, and the state of stack
    /// walks.
    PeakThreadBytes = 37, "peak_thread_bytes";

    /// Times that the buffers of all threads were taken at once.
    Reclaims = 38, "reclaims";

    /// Nanoseconds since the trace's start: the file has all earlier events, except one that a thread was just writing.
    CompleteUntilNs = 39, "complete_until_ns";

    /// Runs of the hook of acquisitions without a contended enter, while others
    /// contend; interrupted ones excluded.
    AcquireHooks = 40, "acquire_hooks";

    /// Cycles spent in [`AcquireHooks`](Self::AcquireHooks).
    AcquireCycles = 41, "acquire_cycles";

    /// Buffers outside of the file of buffers, which was full: their events would have been lost if the process had
    /// been killed. 0 without such a file.
    BuffersOutsideFile = 42, "buffers_outside_file";

    /// Threads that were already waiting when the trace began, and whose waits are not in it.
    UntoldWaits = 43, "untold_waits";

    /// Of an agent: contended enters without an event, since the table of objects was full.
    UntrackedEnters = 44, "untracked_enters";

    /// Of an agent: contended enters of objects that code with their releases could not be notified of, because too
    /// many others were waited for. Their owners are unknown.
    UnseenContenders = 45, "unseen_contenders";

    /// Of an agent: methods that it could not instrument to report all their releases of monitors, such as native ones.
    UntoldMethods = 46, "untold_methods";

    /// Of an agent: classes whose instrumented versions the JVM refused, or that were too many to be changed while the
    /// application runs.
    RefusedClasses = 47, "refused_classes";

    /// Of an agent: contended exits from within other code that may own the same monitor, so that the thread may have
    /// had it for longer, and no later exit has reported it.
    AmbiguousExits = 48, "ambiguous_exits";

    /// Of an agent: permits that it could not track for want of space: the unpark that ended such a park is unknown.
    UntrackedPermits = 49, "untracked_permits";

    /// Of an agent: parks, unparks and changes of owners that it does not report, since a carrier thread did its
    /// scheduler's work in the middle of a virtual thread's call.
    SchedulerCalls = 50, "scheduler_calls";

    /// Of an agent: those among [`ChainsRecorded`](Self::ChainsRecorded) that have only their innermost frames, since
    /// hooks took more time than [`HookBudgetPpm`](Self::HookBudgetPpm).
    ShortChains = 51, "short_chains";

    /// Of an agent: the time that hooks may take before it cuts call chains short, in millionths of one processor's
    /// time.
    HookBudgetPpm = 52, "hook_budget_ppm";

    /// Of an agent: contended enters before the code that releases monitors began to look for waiters, which it does
    /// once threads wait. Their owners may be unknown.
    UnwatchedEnters = 53, "unwatched_enters";

    /// Of an agent: threads that waited for locks when it was loaded into the running JVM. Those waits are not in the
    /// trace.
    EarlierWaits = 54, "earlier_waits";

    /// Of an agent: classes that were loaded when it began, and whose code it changes while the application runs.
    ClassesToChange = 55, "classes_to_change";

    /// Of an agent: those of them that are done with: changed, unloaded or refused.
    ClassesDone = 56, "classes_done";

    /// Of an agent: classes that it changed since threads waited in them: of the JDK, or before their turn.
    LateClasses = 57, "late_classes";

    /// Of an agent: time that the JVM took to change classes while the application ran, in nanoseconds. All threads
    /// are stopped for a part of it.
    ClassChangeNs = 58, "class_change_ns";

    /// The longest of these changes, in nanoseconds.
    LongestClassChangeNs = 59, "longest_class_change_ns";

    /// Safepoints that are not in the trace: the drainer could not keep up.
    LostSafepoints = 60, "lost_safepoints";

    /// Times that the system was asked for the [times](crate::ThreadTimes) of a thread.
    ThreadTimesRead = 61, "thread_times_read";

    /// Times that it was not asked because of the budget.
    ThreadTimesSkipped = 62, "thread_times_skipped";

    /// Processor time of the drainer spent on asking, in nanoseconds.
    ThreadTimesCpuNs = 63, "thread_times_cpu_ns";

    /// Processor time that the hypervisor gave to others since the trace's start, of all processors together, in
    /// nanoseconds.
    StealNs = 64, "steal_ns";

    /// Processors that the system has.
    Processors = 65, "processors";

    /// [Samples](crate::OwnerSample) of the stacks of owners.
    OwnerSamples = 66, "owner_samples";

    /// Samples not taken because of their cost: the ideal is one of each owner in each threshold. An estimate.
    OwnerSamplesSkipped = 67, "owner_samples_skipped";

    /// Times that all threads were stopped for samples.
    OwnerSampleStops = 68, "owner_sample_stops";

    /// Duration of these stops, in nanoseconds, as the application saw it: from the request to stop until the last
    /// thread could go on.
    OwnerSampleStopNs = 69, "owner_sample_stop_ns";

    /// The longest of these stops, in nanoseconds.
    OwnerSampleLongestStopNs = 70, "owner_sample_longest_stop_ns";

    /// Times that samples had used up their budget, and paused.
    OwnerSamplePauses = 71, "owner_sample_pauses";

    /// [Parts of hooks](crate::HookPart) that are not in the trace: the drainer could not keep up, or two threads
    /// recorded one at once.
    LostHookParts = 72, "lost_hook_parts";

    /// [Times that the process did not run](crate::Freeze).
    Freezes = 73, "freezes";

    /// Their total duration, in nanoseconds.
    FrozenNs = 74, "frozen_ns";

    /// Time that the machine was suspended since the trace's start, in nanoseconds. No time in the trace includes it:
    /// the monotonic clock stood still.
    SuspendedNs = 75, "suspended_ns";

    /// Objects whose allocation site was recorded, in case they become [contended locks](crate::LockSite).
    LockSites = 80, "lock_sites";

    /// Objects of the same classes whose allocation site was not recorded, since that would have cost more than the
    /// budget allows.
    LockSitesSkipped = 81, "lock_sites_skipped";

    /// Classes whose allocation sites are recorded, or were.
    LockSiteClasses = 82, "lock_site_classes";

    /// Those of them that were given up, since they cost more than the budget allows.
    LockSiteClassesGivenUp = 83, "lock_site_classes_given_up";

    /// Time that threads spent on recording allocation sites, in nanoseconds.
    LockSiteNs = 84, "lock_site_ns";

    /// Compiled methods that were discarded, so that the code compiled in their place reports allocations, or no longer
    /// does.
    LockSiteMethodsDiscarded = 85, "lock_site_methods_discarded";

    /// Times that all threads were stopped for that.
    LockSiteStops = 86, "lock_site_stops";

    /// Duration of these stops, in nanoseconds, as the application saw it.
    LockSiteStopNs = 87, "lock_site_stop_ns";

    /// The longest of these stops, in nanoseconds.
    LockSiteLongestStopNs = 88, "lock_site_longest_stop_ns";

    /// Runs of the hook of wait begin, interrupted ones excluded.
    WaitBeginHooks = 90, "wait_begin_hooks";

    /// Cycles spent in [`WaitBeginHooks`](Self::WaitBeginHooks).
    WaitBeginCycles = 91, "wait_begin_cycles";

    /// Runs of the hook of wait end, interrupted ones excluded.
    WaitEndHooks = 92, "wait_end_hooks";

    /// Cycles spent in [`WaitEndHooks`](Self::WaitEndHooks).
    WaitEndCycles = 93, "wait_end_cycles";

    /// Runs of the hook of notification, interrupted ones excluded.
    NotifyHooks = 94, "notify_hooks";

    /// Cycles spent in [`NotifyHooks`](Self::NotifyHooks).
    NotifyCycles = 95, "notify_cycles";
}

impl Counter {
    /// Returns the counter with the given id in the file.
    pub fn from_id(id: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|counter| counter.id() == id)
    }

    /// Returns the counter's id in the file.
    pub const fn id(self) -> u64 {
        self as u64
    }
}

/// Declares the kinds of hooks: each with its number in the C interface, its name
/// for people, and the counters of its runs and of its cycles.
macro_rules! hooks {
    ($($(#[$meta:meta])* $hook:ident = $number:literal, $name:literal, $runs:ident, $cycles:ident;)+) => {
        /// A kind of hook, by the event that it writes. The discriminant is its
        /// number in the tracer's C interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Hook {
            $($(#[$meta])* $hook = $number,)+
        }

        impl Hook {
            /// All kinds in the order of their numbers.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$hook),+];

            /// Returns the name of the hook's event.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$hook => $name,)+
                }
            }

            /// Returns the counters of its runs and of the cycles spent in them.
            pub const fn counters(self) -> (Counter, Counter) {
                match self {
                    $(Self::$hook => (Counter::$runs, Counter::$cycles),)+
                }
            }
        }
    };
}

hooks! {
    /// Writes a contended enter.
    Enter = 0, "enter", EnterHooks, EnterCycles;
    /// Writes a contended entered.
    Entered = 1, "entered", EnteredHooks, EnteredCycles;
    /// Writes a contended exit.
    Exit = 2, "exit", ExitHooks, ExitCycles;
    /// Writes a park begin.
    ParkBegin = 3, "park begin", ParkBeginHooks, ParkBeginCycles;
    /// Writes a park end.
    ParkEnd = 4, "park end", ParkEndHooks, ParkEndCycles;
    /// Writes an unpark.
    Unpark = 5, "unpark", UnparkHooks, UnparkCycles;
    /// Notes the begin of a hold; writes no event.
    Acquire = 6, "acquire", AcquireHooks, AcquireCycles;
    /// Writes the begin of a wait in `Object.wait`.
    WaitBegin = 7, "wait begin", WaitBeginHooks, WaitBeginCycles;
    /// Writes the end of a wait in `Object.wait`.
    WaitEnd = 8, "wait end", WaitEndHooks, WaitEndCycles;
    /// Writes a notification.
    Notify = 9, "notify", NotifyHooks, NotifyCycles;
}

/// Appends one pair to a payload.
pub(crate) fn push(payload: &mut Vec<u8>, counter: Counter, value: u64) {
    varint::push(payload, counter.id());
    varint::push(payload, value);
}

/// The pairs of a counters chunk. Counters that this version does not know are skipped.
#[derive(Clone, Debug)]
pub struct Counters<'a> {
    input: ByteReader<'a>,
    len: usize,
}

impl<'a> Counters<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self {
            input: ByteReader::new(payload),
            len: payload.len(),
        }
    }
}

impl Iterator for Counters<'_> {
    type Item = Result<(Counter, u64), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.input.is_empty() {
            let offset = self.len - self.input.remaining();
            let id = self.input.varint();
            let pair = id.and_then(|id| Ok((Counter::from_id(id), self.input.varint()?)));
            match pair {
                Ok((Some(counter), value)) => return Some(Ok((counter, value))),
                Ok((None, _)) => {}
                Err(cause) => {
                    self.input = ByteReader::new(&[]);
                    return Some(Err(DecodeError { offset, cause }));
                }
            }
        }
        None
    }
}
