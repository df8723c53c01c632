//! The runtime's counts of itself.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trace_format::Counter;

/// Gives out consecutive numbers, each once, by default from 1.
#[derive(Debug, Default)]
pub(crate) struct Serial {
    last: AtomicU64,
    /// Where it started.
    before: u64,
}

impl Serial {
    // Relaxed throughout: only the numbers' uniqueness matters, which the
    // atomic operation alone ensures.

    /// Begins with the number after `before`.
    pub(crate) fn after(before: u64) -> Self {
        Self {
            last: AtomicU64::new(before),
            before,
        }
    }

    /// Returns the next number.
    pub(crate) fn next(&self) -> u64 {
        self.last.fetch_add(1, Relaxed).wrapping_add(1)
    }

    /// Returns the next number. After four thousand million the last one is
    /// repeated: no number is left, and 0 has another meaning.
    pub(crate) fn next_u32(&self) -> u32 {
        u32::try_from(self.next()).unwrap_or(u32::MAX)
    }

    /// Returns how many numbers were given out.
    pub(crate) fn count(&self) -> u64 {
        self.last.load(Relaxed).wrapping_sub(self.before)
    }
}

/// The memory in use, and its peak.
#[derive(Debug, Default)]
pub(crate) struct MemoryCount {
    // Relaxed throughout: guards no other memory.
    bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

impl MemoryCount {
    /// Adds `change` bytes, which may be negative.
    pub(crate) fn add(&self, change: i64) {
        let before = self.bytes.fetch_add(change.cast_unsigned(), Relaxed);
        let bytes = before.wrapping_add_signed(change);
        self.peak_bytes.fetch_max(bytes, Relaxed);
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Relaxed)
    }
}

/// The counts of an agent that produces the trace; all 0 in a trace of the JVM.
#[derive(Debug, Default)]
pub struct AgentCounts {
    /// Contended enters without an event.
    pub untracked_enters: Count,
    /// Contended enters whose owners cannot notice them.
    pub unseen_contenders: Count,
    /// Contended enters before releases were watched.
    pub unwatched_enters: Count,
    /// Threads that waited for locks before the trace began.
    pub earlier_waits: Count,
    /// Loaded classes to be changed while the application runs.
    pub classes_to_change: Count,
    /// Those of them that are done with.
    pub classes_done: Count,
    /// Classes that were changed since threads waited in them.
    pub late_classes: Count,
    /// Time that changes took while the application ran, in nanoseconds.
    pub class_change_ns: Count,
    /// The longest of these changes, in nanoseconds.
    pub longest_class_change_ns: Count,
    /// Methods that do not report all their releases.
    pub untold_methods: Count,
    /// Classes that could not be changed, or were too many.
    pub refused_classes: Count,
    /// Contended exits that may be inner ones.
    pub ambiguous_exits: Count,
    /// Permits of parked threads that the table had no entry for.
    pub untracked_permits: Count,
    /// Parks, unparks and changes of owners in the middle of calls of virtual threads.
    pub scheduler_calls: Count,
    /// Call chains without their outer frames.
    pub short_chains: Count,
    /// The share of a processor's time, in millionths, that hooks may take before chains are cut
    /// short.
    pub hook_budget_ppm: Count,
}

impl AgentCounts {
    pub(crate) fn values(&self) -> [(Counter, u64); 16] {
        [
            (Counter::UntrackedEnters, self.untracked_enters.get()),
            (Counter::UnseenContenders, self.unseen_contenders.get()),
            (Counter::UnwatchedEnters, self.unwatched_enters.get()),
            (Counter::EarlierWaits, self.earlier_waits.get()),
            (Counter::ClassesToChange, self.classes_to_change.get()),
            (Counter::ClassesDone, self.classes_done.get()),
            (Counter::LateClasses, self.late_classes.get()),
            (Counter::ClassChangeNs, self.class_change_ns.get()),
            (
                Counter::LongestClassChangeNs,
                self.longest_class_change_ns.get(),
            ),
            (Counter::UntoldMethods, self.untold_methods.get()),
            (Counter::RefusedClasses, self.refused_classes.get()),
            (Counter::AmbiguousExits, self.ambiguous_exits.get()),
            (Counter::UntrackedPermits, self.untracked_permits.get()),
            (Counter::SchedulerCalls, self.scheduler_calls.get()),
            (Counter::ShortChains, self.short_chains.get()),
            (Counter::HookBudgetPpm, self.hook_budget_ppm.get()),
        ]
    }
}

/// Counts something.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    // Relaxed throughout: guards no other memory.

    /// Adds `more`.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Raises it to `value`, unless it is larger.
    pub fn raise(&self, value: u64) {
        self.0.fetch_max(value, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Counts the samples of owners.
#[derive(Debug, Default)]
pub(crate) struct SampleCounts {
    // Relaxed throughout: guards no other memory.
    samples: AtomicU64,
    due: AtomicU64,
    stops: AtomicU64,
    stopped_ns: AtomicU64,
    longest_stop_ns: AtomicU64,
    pauses: AtomicU64,
}

impl SampleCounts {
    /// Adds samples, of which `due` would have been due if they cost nothing. All threads were
    /// stopped for them for `stopped_ns`, or not at all for 0. `pause_begins` if no samples follow
    /// for some time.
    pub(crate) fn add(&self, samples: u64, due: u64, stopped_ns: u64, pause_begins: bool) {
        self.samples.fetch_add(samples, Relaxed);
        self.due.fetch_add(due.max(samples), Relaxed);
        self.stops.fetch_add((stopped_ns > 0).into(), Relaxed);
        self.stopped_ns.fetch_add(stopped_ns, Relaxed);
        self.longest_stop_ns.fetch_max(stopped_ns, Relaxed);
        self.pauses.fetch_add(pause_begins.into(), Relaxed);
    }

    pub(crate) fn values(&self) -> [(Counter, u64); 6] {
        let samples = self.samples.load(Relaxed);
        let skipped = self.due.load(Relaxed).saturating_sub(samples);
        [
            (Counter::OwnerSamples, samples),
            (Counter::OwnerSamplesSkipped, skipped),
            (Counter::OwnerSampleStops, self.stops.load(Relaxed)),
            (Counter::OwnerSampleStopNs, self.stopped_ns.load(Relaxed)),
            (
                Counter::OwnerSampleLongestStopNs,
                self.longest_stop_ns.load(Relaxed),
            ),
            (Counter::OwnerSamplePauses, self.pauses.load(Relaxed)),
        ]
    }
}

/// Counts the recording of where objects were allocated, and its cost.
#[derive(Debug, Default)]
pub(crate) struct SiteCounts {
    // Relaxed throughout: guards no other memory.
    sites: AtomicU64,
    skipped: AtomicU64,
    recording_ns: AtomicU64,
    classes: AtomicU64,
    given_up: AtomicU64,
    methods_discarded: AtomicU64,
    stops: AtomicU64,
    stopped_ns: AtomicU64,
    longest_stop_ns: AtomicU64,
}

impl SiteCounts {
    /// Adds objects whose allocation was recorded, and others for which it was not, and the time
    /// taken.
    pub(crate) fn add_objects(&self, sites: u64, skipped: u64, recording_ns: u64) {
        self.sites.fetch_add(sites, Relaxed);
        self.skipped.fetch_add(skipped, Relaxed);
        self.recording_ns.fetch_add(recording_ns, Relaxed);
    }

    /// Adds a stop of all threads to begin with some classes and to give up others. Compiled
    /// methods were discarded for that.
    pub(crate) fn add_stop(
        &self,
        classes: u64,
        given_up: u64,
        methods_discarded: u64,
        stopped_ns: u64,
    ) {
        self.classes.fetch_add(classes, Relaxed);
        self.given_up.fetch_add(given_up, Relaxed);
        self.methods_discarded.fetch_add(methods_discarded, Relaxed);
        self.stops.fetch_add(1, Relaxed);
        self.stopped_ns.fetch_add(stopped_ns, Relaxed);
        self.longest_stop_ns.fetch_max(stopped_ns, Relaxed);
    }

    pub(crate) fn values(&self) -> [(Counter, u64); 9] {
        [
            (Counter::LockSites, &self.sites),
            (Counter::LockSitesSkipped, &self.skipped),
            (Counter::LockSiteNs, &self.recording_ns),
            (Counter::LockSiteClasses, &self.classes),
            (Counter::LockSiteClassesGivenUp, &self.given_up),
            (Counter::LockSiteMethodsDiscarded, &self.methods_discarded),
            (Counter::LockSiteStops, &self.stops),
            (Counter::LockSiteStopNs, &self.stopped_ns),
            (Counter::LockSiteLongestStopNs, &self.longest_stop_ns),
        ]
        .map(|(counter, value)| (counter, value.load(Relaxed)))
    }
}

/// Counts the losses of threads.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    // Relaxed throughout: guards no other memory.
    events: AtomicU64,
    buffers: AtomicU64,
    metadata_buffers: AtomicU64,
    /// Sequence numbers of lost events that no buffer has yet.
    unrecorded_numbers: AtomicU64,
    /// Waits that began before the trace, without an event.
    untold_waits: AtomicU64,
}

impl Losses {
    pub(crate) fn add_events(&self, events: u64) {
        self.events.fetch_add(events, Relaxed);
    }

    pub(crate) fn add_buffer(&self, contains_metadata: bool) {
        self.buffers.fetch_add(1, Relaxed);
        self.metadata_buffers
            .fetch_add(contains_metadata.into(), Relaxed);
    }

    /// Adds to the waits without an event, or subtracts some that were added before.
    pub(crate) fn change_untold_waits(&self, change: i64) {
        self.untold_waits.fetch_add(change.cast_unsigned(), Relaxed);
    }

    pub(crate) fn untold_waits(&self) -> u64 {
        self.untold_waits.load(Relaxed)
    }

    /// Adds a lost sequence number without a buffer to record it in.
    pub(crate) fn add_unrecorded_number(&self) {
        self.unrecorded_numbers.fetch_add(1, Relaxed);
    }

    /// Returns how many numbers the caller has to record.
    pub(crate) fn take_unrecorded_numbers(&self) -> u64 {
        if self.unrecorded_numbers.load(Relaxed) == 0 {
            return 0;
        }
        self.unrecorded_numbers.swap(0, Relaxed)
    }

    pub(crate) fn events(&self) -> u64 {
        self.events.load(Relaxed)
    }

    pub(crate) fn buffers(&self) -> u64 {
        self.buffers.load(Relaxed)
    }

    pub(crate) fn metadata_buffers(&self) -> u64 {
        self.metadata_buffers.load(Relaxed)
    }
}

/// All counts of a runtime, except those of an agent.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) losses: Losses,
    /// Memory of threads, besides buffers.
    pub(crate) thread_memory: MemoryCount,
    pub(crate) owner_samples: SampleCounts,
    pub(crate) sites: SiteCounts,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_most_memory_at_once_is_known() {
        let memory = MemoryCount::default();
        for change in [100, -40, 50, -110, 20] {
            memory.add(change);
        }
        assert_eq!(memory.peak_bytes(), 110);
    }
}
