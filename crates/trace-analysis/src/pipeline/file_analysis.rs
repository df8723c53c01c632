//! The analysis of a trace file.

use std::ops::ControlFlow;

use trace_format::{Counter as TracerCounter, Damage};

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::statistics::Statistics;
use crate::aggregate::still_blocked::StillBlocked;
use crate::blame::activity::owner_times::OwnerTimes;
use crate::input::trace_file::{TraceError, TraceFile};
use crate::input::trace_input::TraceInput;
use crate::model::counter::{Counter, Counters, Severity};
use crate::model::thread_life::ThreadLife;
use crate::model::time_range::TimeRange;
use crate::model::wait_sink::WaitSink;
use crate::pipeline::analysis::{Analysis, Findings};

/// Summary of a trace, apart from its waits.
#[derive(Clone, Debug)]
pub struct TraceSummary {
    /// The file.
    pub file: TraceFile,
    /// From the trace's start to its end, or to its last event if the end is
    /// missing, in nanoseconds.
    pub duration_ns: u64,
    /// The time range considered.
    pub range: TimeRange,
    /// The tracer's counters, in their order.
    pub tracer: Vec<(TracerCounter, u64)>,
    /// Statistics of the trace's contents.
    pub statistics: Statistics,
    /// The waits found, of all kinds.
    pub waits: WaitTally,
    /// The threads that still waited when the trace ended.
    pub still_blocked: StillBlocked,
    /// When the threads lived, those that were not forgotten.
    pub lives: Vec<ThreadLife>,
    /// The trace has not ended: threads that are still blocked are waiting right now.
    pub goes_on: bool,
    /// The activity of lock owners during the selected waits; `None` if not requested.
    pub owner_times: Option<OwnerTimes>,
    /// The counters of the analysis.
    pub counters: Counters,
    /// The parts that could not be read.
    pub damage: Damage,
}

impl TraceSummary {
    /// Creates the summary of a trace that has been read, of which `range` was considered.
    pub fn new(input: &TraceInput, range: TimeRange, findings: Findings) -> Self {
        let Findings {
            duration_ns,
            tracer,
            statistics,
            counters,
            waits,
            still_blocked,
            lives,
            owner_times,
        } = findings;
        Self {
            file: input.file(),
            duration_ns,
            range,
            tracer,
            statistics,
            waits,
            still_blocked,
            lives,
            goes_on: false,
            owner_times,
            counters,
            damage: input.damage().clone(),
        }
    }

    /// Returns whether nothing is missing: the [whole](Self::is_whole) file
    /// could be read, the tracer dropped no event, and the analysis found no
    /// gap and no defect.
    pub fn is_complete(&self) -> bool {
        let mut counters = self.counters.iter();
        self.is_whole()
            && self.lost_events() == 0
            && counters.all(|(counter, value)| value == 0 || counter.severity() == Severity::Normal)
    }

    /// Returns whether the whole file could be read, up to the tracer's end
    /// marker.
    pub fn is_whole(&self) -> bool {
        self.damage.is_none() && self.counters.value(Counter::MalformedSegments) == 0
    }

    /// Returns how many events the tracer had to drop.
    pub fn lost_events(&self) -> u64 {
        let counted = self.tracer_value(TracerCounter::LostEvents);
        let listed = self.counters.value(Counter::LostNumbers);
        let seen = listed.saturating_add(self.statistics.unlisted_lost_events);
        counted.unwrap_or(0).max(seen)
    }

    /// Returns a counter of the tracer; `None` if the tracer did not count that.
    pub fn tracer_value(&self, wanted: TracerCounter) -> Option<u64> {
        let mut counted = self.tracer.iter();
        let found = counted.find(|&&(counter, _)| counter == wanted);
        found.map(|&(_, value)| value)
    }
}

/// Progress of the analysis of a file.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes to read; the bytes read so far if that is not known.
    pub total_bytes: u64,
}

impl TraceInput {
    /// Runs the trace through `analysis`.
    ///
    /// Passes each wait to `sink`, and calls `on_progress` now and then; ends early if that returns
    /// a break. A damaged file is analyzed as far as it can be read, and the summary says what is
    /// missing.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub fn analyze(
        mut self,
        analysis: &mut Analysis,
        sink: &mut dyn WaitSink,
        mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<TraceSummary, TraceError> {
        let mut trace = analysis.begin_trace(self.version(), self.header().capabilities);
        while let Some(chunk) = self.next_chunk()? {
            trace.chunk(chunk, sink);
            let bytes = self.offset();
            let total_bytes = self.byte_len().unwrap_or(bytes);
            if on_progress(Progress { bytes, total_bytes }).is_break() {
                break;
            }
        }
        let range = trace.range();
        Ok(TraceSummary::new(&self, range, trace.finish(sink)))
    }
}

impl TraceFile {
    /// Runs the trace through `analysis`, as [`TraceInput::analyze`] does.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn analyze(
        &self,
        analysis: &mut Analysis,
        sink: &mut dyn WaitSink,
        on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<TraceSummary, TraceError> {
        self.input()?.analyze(analysis, sink, on_progress)
    }
}
