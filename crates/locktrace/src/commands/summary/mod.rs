//! `locktrace summary`: what to fix first, or that nothing is.

mod record;
mod text;

use clap::{Args, ValueEnum};
use trace_analysis::{
    DivisibleSink, EndedHolds, Entities, Selection, StillBlocked, TraceInput, TraceSummary, Wait,
    WaitKind, WaitSink, WaitSums, WhatIf,
};
use trace_format::Counter;
use trace_model::{Conclusions, Evidence, Run};
use trace_report::record::write_json;

use self::record::SummaryRecord;
use crate::arguments::threads::ThreadArguments;
use crate::outcome::{self, Outcome};
use crate::view::traces::{ModelArguments, open, targets};
use crate::{input, output, problem};

const SUMMARY_NOTES: &str = "\
Prints at most five findings. A finding blames the code at the end of the chain of owners: a thread
that only waits in lock() itself is not to blame for those that wait behind it. Patterns:
  deadlock                 threads block each other for good
  never-released           the thread that has a lock has ended, or waits for its next task
  possible-deadlock        a thread has a lock and waits for another thread, which may need the lock
  no-permit-released       nobody gives permits of a semaphore back any more
  still-held               a lock was held for long when the trace ended
  starved                  others get a lock, one thread does not
  class-initialization     threads wait for a static initializer
  waits-while-holding      the owner waits for another thread while it holds the lock
  writer-behind-readers    a reader keeps a writer out, and other readers queue behind the writer
  notify-storm             threads woken from Object.wait queue up for the lock again
  one-map-key              threads wait while one key or bin of a concurrent map is computed
  uneven-stripes           one of several locks takes nearly all waits of the same code
  fair-lock                a fair lock is held for short times, so each hand-over wakes a thread
  convoy                   short holds, and most of the time goes into waking the next thread
  many-locks-of-one-class  the lock is divided already
  one-global-lock          one lock object serializes many methods
  many-short-holds         the lock is held for short times, but often
  long-hold                the lock is held for long
  taking-turns             threads park until others like them, which park too, unpark them
  pool-too-small           threads wait until others like them give something back
  long-wait                threads wait until other threads wake them

Waiting for another thread or for a pool is reported if it took longer than waiting for locks. Idle
workers never are.

If threads are blocked for less than 0.5 % of the run and for less than 1 % of their own time, no
lock is worth changing, and the summary shows what threads wait for instead.";

#[derive(Args, Debug)]
#[command(after_long_help = SUMMARY_NOTES)]
pub(crate) struct SummaryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// Sentences for people
    Text,
    /// One JSON object
    Json,
}

/// In larger traces one release is a part of too many waits to place each of them.
const MAX_BYTES_WITH_CONTENTIONS: u64 = 64 << 20;

/// What one or several traces come to.
struct Summary {
    traces: Vec<TraceSummary>,
    conclusions: Conclusions,
    entities: Entities,
}

impl Summary {
    /// Returns the sums over all waits of a kind.
    fn totals(&self, kind: WaitKind) -> WaitSums {
        let mut totals = WaitSums::default();
        for trace in &self.traces {
            totals.add(trace.waits.sum(|_, of| of == kind));
        }
        totals
    }

    fn still_blocked(&self) -> impl Iterator<Item = &StillBlocked> + Clone {
        self.traces.iter().map(|trace| &trace.still_blocked)
    }
}

/// What a pass over the waits collects.
struct Collected {
    evidence: Evidence,
    /// Predictions are about one trace.
    what_if: Option<WhatIf>,
}

impl WaitSink for Collected {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.evidence.wait(wait, entities);
        if let Some(what_if) = &mut self.what_if {
            what_if.wait(wait, entities);
        }
    }

    fn wants_holds(&self) -> bool {
        self.what_if.is_some()
    }

    fn holds(&mut self, holds: EndedHolds) {
        if let Some(what_if) = &mut self.what_if {
            what_if.holds(holds);
        }
    }
}

impl DivisibleSink for Collected {
    fn part(&self) -> Self {
        Self {
            evidence: self.evidence.part(),
            what_if: self.what_if.as_ref().map(WhatIf::part),
        }
    }

    fn merge(&mut self, part: Self) {
        self.evidence.merge(part.evidence);
        if let (Some(what_if), Some(part)) = (&mut self.what_if, part.what_if) {
            what_if.merge(part);
        }
    }
}

pub(crate) fn run(arguments: &SummaryArguments) -> outcome::Result<Outcome> {
    let summary = summarize(arguments)?;
    match arguments.format {
        SummaryFormat::Text => output::print(&text::render(&summary, output::terminal_width()))?,
        SummaryFormat::Json => write_json(output::machine(), &SummaryRecord::new(&summary))?,
    }
    Ok(problem::complain(&summary.traces))
}

fn summarize(arguments: &SummaryArguments) -> outcome::Result<Summary> {
    let mut traces = open(&targets(&arguments.model))?;
    traces.sort_by_key(|trace| trace.header().start_unix_ns);
    let lengths = traces.iter().filter_map(TraceInput::byte_len);
    let bytes: u64 = lengths.sum();
    let mut collected = Collected {
        evidence: Evidence::new(arguments.model.library.clone()),
        what_if: (traces.len() == 1).then(WhatIf::default),
    };
    let analyzed = input::analyze_with(
        traces,
        arguments.threads,
        Evidence::detail(bytes <= MAX_BYTES_WITH_CONTENTIONS),
        |_| Ok(Selection::default()),
        &mut collected,
    )?;
    let mut summary = Summary {
        traces: analyzed.summaries,
        conclusions: Conclusions::default(),
        entities: analyzed.entities,
    };
    let durations_ns = summary.traces.iter().map(|trace| trace.duration_ns);
    let run_ns = durations_ns.fold(0, u64::saturating_add);
    let lives = match summary.traces.as_slice() {
        [only] => &only.lives[..],
        _ => &[],
    };
    let run = Run {
        traces: summary.traces.len(),
        duration_ns: run_ns,
        lives,
    };
    let evidence = collected.evidence;
    summary.conclusions = evidence.conclude(summary.still_blocked(), run, &summary.entities);
    if let Some(mut what_if) = collected.what_if {
        let processors = summary.traces.first();
        let processors = processors.and_then(|trace| trace.tracer_value(Counter::Processors));
        summary
            .conclusions
            .predict_savings(&mut what_if, processors, &summary.entities);
    }
    Ok(summary)
}
