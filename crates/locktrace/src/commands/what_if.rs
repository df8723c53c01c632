//! `locktrace what-if`: what a change of one lock would bring.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use trace_analysis::{
    ChainIndex, Detail, Entities, LockChange, LockIndex, LockOutcome, OwnerCode, Pattern,
    Prediction, Question, Replay, Selection, TraceInput, TraceSummary, Value, WhatIf,
};
use trace_format::Counter;
use trace_report::facts;
use trace_report::record::{LockRecord, write_json};
use trace_report::style::{BOLD, DIM};

use crate::arguments::filter::PATTERNS;
use crate::arguments::range::RangeArguments;
use crate::arguments::structure::{StructureArguments, StructureFormat};
use crate::outcome::{self, Outcome, UsageError, cause};
use crate::text::human::{self, plural};
use crate::text::labelled_table;
use crate::{input, output, problem};

const WHAT_IF_NOTES: &str = "\
Changes:
  removed     the lock is gone; the code that it guarded runs in parallel
  holds=F     holds take F times as long: 0.5 for half
  split=N     N locks replace it, one for each part of its keys; all keys are used equally often
  fair        threads get it in the order in which they came
  unfair      a thread that comes while it is free takes it, even if others wait
  read-write  code that only reads (--readers) shares it

A replay keeps each thread's own work and its order, and changes the lock. Several replays differ in
what they assume where the trace has no events; the prediction lies between them. Of other locks the
trace has only the holds for which a thread waited; one assumption is that they are held each time a
thread goes on by itself. A lock for which no thread waited is not in the trace. Where threads
contend for one once they no longer wait here, more waiting is left than predicted, at most as much
as the note says.";

#[derive(Args, Debug)]
#[command(
    after_long_help = format!("{PATTERNS}\n\n{WHAT_IF_NOTES}"),
    group = clap::ArgGroup::new("changed").required(true).multiple(true).args(["lock_class", "lock"])
)]
pub(crate) struct WhatIfArguments {
    #[command(flatten)]
    pub(crate) common: StructureArguments,

    /// What to change
    #[arg(long, value_name = "CHANGE")]
    pub(crate) change: LockChange,

    /// Change all locks of this class
    #[arg(long, value_name = "PATTERN")]
    pub(crate) lock_class: Vec<Pattern>,

    /// Change this lock, as reports name it: demo.Ledger@1f32
    #[arg(long, value_name = "PATTERN")]
    pub(crate) lock: Vec<Pattern>,

    /// Change only the holds of this method: class and name as in a report
    #[arg(long, value_name = "PATTERN")]
    pub(crate) owner_method: Vec<Pattern>,

    /// Code that acquires the lock only to read: class and name of a method on its call chain
    #[arg(long, value_name = "PATTERN", required_if_eq("change", "read-write"))]
    pub(crate) readers: Vec<Pattern>,

    /// The processors of the program, if the trace does not have the number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) processors: Option<u64>,

    #[command(flatten)]
    pub(crate) range: RangeArguments,
}

/// Nobody waited for the lock that is to be changed.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}: no thread waited for a lock that is called so; locktrace locks lists those there are"
)]
pub(crate) struct NoSuchLock(String);

cause!(Usage: NoSuchLock);

pub(crate) fn run(arguments: &WhatIfArguments) -> outcome::Result<Outcome> {
    let is_of_holds = matches!(arguments.change, LockChange::Holds(_));
    if !arguments.owner_method.is_empty() && !is_of_holds {
        return Err(UsageError("--owner-method is for --change holds=FACTOR").into());
    }
    let common = &arguments.common;
    let traces = input::open(std::slice::from_ref(&common.trace), common.follow)?;
    let select = |trace: &TraceInput| {
        let range = arguments.range.of(trace)?;
        Ok(Selection::default().in_range(range))
    };
    let mut what_if = WhatIf::default();
    let analyzed = input::analyze_with(
        traces,
        common.threads,
        Detail::CONTENTIONS,
        select,
        &mut what_if,
    )?;
    let entities = &analyzed.entities;
    let traced = analyzed.summaries.first();
    let traced = traced.and_then(|summary| summary.tracer_value(Counter::Processors));
    let owner_code = OwnerCode::new(|value| value.is_called(&arguments.owner_method, entities));
    let is_affected = |chain: Option<ChainIndex>, lock| match chain {
        Some(chain) if arguments.change == LockChange::ReadWrite => {
            is_reader(&arguments.readers, chain, entities)
        }
        Some(chain) if !arguments.owner_method.is_empty() => owner_code.has(chain, lock, entities),
        Some(_) => true,
        None => arguments.change != LockChange::ReadWrite && arguments.owner_method.is_empty(),
    };
    let prediction = what_if.predict(&Question {
        change: arguments.change,
        is_changed: |lock| is_changed(arguments, lock, entities),
        is_affected,
        processors: arguments.processors.or(traced),
        entities,
    });
    if !prediction.locks.iter().any(|lock| lock.is_changed) {
        return Err(NoSuchLock(common.trace.display().to_string()).into());
    }
    let report = PredictionReport {
        arguments,
        prediction: &prediction,
        entities,
    };
    match common.format {
        StructureFormat::Table => {
            output::print(&report.text(&analyzed.summaries, output::terminal_width()))?;
        }
        StructureFormat::Json => write_json(output::machine(), &report.record())?,
    }
    Ok(problem::complain(&analyzed.summaries))
}

fn is_changed(arguments: &WhatIfArguments, lock: LockIndex, entities: &Entities) -> bool {
    let is_wanted = |patterns: &[Pattern], value: Value| {
        patterns.is_empty() || value.is_called(patterns, entities)
    };
    is_wanted(&arguments.lock_class, Value::of_lock_class(lock, entities))
        && is_wanted(&arguments.lock, Value::Lock(lock))
}

fn is_reader(readers: &[Pattern], chain: ChainIndex, entities: &Entities) -> bool {
    let mut frames = entities.chain(chain).frames().iter();
    !readers.is_empty()
        && frames.any(|frame| {
            let method = entities.method_label(frame.method);
            readers.iter().any(|pattern| pattern.matches(&method))
        })
}

struct PredictionReport<'a> {
    arguments: &'a WhatIfArguments,
    prediction: &'a Prediction,
    entities: &'a Entities,
}

impl PredictionReport<'_> {
    fn text(&self, summaries: &[TraceSummary], width: Option<usize>) -> String {
        let mut text = String::new();
        for summary in summaries {
            facts::add_trace(&mut text, summary);
        }
        let it = self.prediction;
        let changed = it.locks.iter().filter(|lock| lock.is_changed).count();
        let change = format!(
            "{} of {}, for which threads waited {} ({})",
            self.arguments.change,
            plural(changed as u64, "lock"),
            human::duration(it.for_changed_ns),
            human::percent(human::share(it.for_changed_ns, it.before_ns)),
        );
        facts::add(&mut text, "Change", &change);
        let (least_ns, most_ns) = it.after_range_ns;
        let blocked = format!(
            "{} in {}; to do the same with the change {} ({} to {})",
            human::duration(it.before_ns),
            plural(it.waits, "wait"),
            human::duration(it.after_ns),
            human::duration(least_ns),
            human::duration(most_ns),
        );
        facts::add(&mut text, "Blocked", &blocked);
        let difference = format!(
            "{} ({} to {})",
            self.difference(it.after_ns),
            self.difference(least_ns),
            self.difference(most_ns),
        );
        facts::add(&mut text, "Difference", &difference);
        facts::add(&mut text, "Replays", &self.replays());
        for note in self.notes() {
            facts::add(&mut text, "Note", &note);
        }
        self.add_locks(&mut text, width);
        text
    }

    fn difference(&self, after_ns: u64) -> String {
        let before_ns = self.prediction.before_ns;
        human::signed_percent(after_ns as f64 / before_ns.max(1) as f64 - 1.0)
    }

    /// Describes how the replays differ, and how well they reproduce the trace.
    fn replays(&self) -> String {
        let replays = &self.prediction.replays;
        let any = |of: fn(&Replay) -> bool| replays.iter().any(of);
        let unchanged = || replays.iter().map(|replay| replay.unchanged_ns);
        let mut text = format!(
            "{}, which find {} to {} without the change; waiters first in, first out, and last in, first out",
            human::count(replays.len() as u64),
            human::duration(unchanged().min().unwrap_or(0)),
            human::duration(unchanged().max().unwrap_or(0)),
        );
        if !any(|replay| replay.assumptions.last_first) {
            text.truncate(text.rfind("; ").unwrap_or(text.len()));
        }
        let processors = replays.iter().find_map(|it| it.assumptions.processors);
        if let Some(processors) = processors {
            let _ = write!(
                text,
                "; with {}, and with unlimited ones",
                plural(processors, "processor")
            );
        }
        if any(|replay| replay.assumptions.assumed_holds) {
            let holds = human::count(self.prediction.assumed_holds);
            let _ = write!(text, "; with {holds} assumed holds, and without");
        }
        text
    }

    fn notes(&self) -> Vec<String> {
        let it = self.prediction;
        let mut notes = Vec::new();
        match it.after_with_unseen_lock_ns {
            Some(ns) => notes.push(format!(
                "up to {} if threads then meet at a lock that nobody waited for in the trace",
                human::duration(ns),
            )),
            None => notes.push(
                "locks that nobody waited for in the trace are not known, and may then matter"
                    .to_owned(),
            ),
        }
        if it.unexplained_ns > 0 {
            notes.push(format!(
                "{} of the waiting has no owner that is known, and stays as it is",
                human::percent(human::share(it.unexplained_ns, it.before_ns)),
            ));
        }
        if it.conditional_ns > 0 {
            notes.push(format!(
                "{} of waiting for other threads to act stays as it is, though they may act earlier",
                human::duration(it.conditional_ns),
            ));
        }
        let forced = it.replays.iter().map(|replay| replay.forced).max();
        if let Some(forced @ 1..) = forced {
            notes.push(format!(
                "in a replay threads waited for each other {}, and one went on without its lock",
                plural(forced, "time"),
            ));
        }
        if let Some(until_ns) = it.until_ns {
            notes.push(format!(
                "there are too many waits: only those of the first {} are replayed",
                human::duration(until_ns),
            ));
        }
        notes
    }

    fn add_locks(&self, text: &mut String, width: Option<usize>) {
        let locks = &self.prediction.locks;
        let shown = match self.arguments.common.top {
            0 => locks.len(),
            top => top.min(locks.len()),
        };
        let rows = locks[..shown].iter().map(|lock| {
            let (least_ns, most_ns) = lock.after_ns;
            labelled_table::Row {
                numbers: [lock.before_ns, least_ns, most_ns]
                    .map(human::duration)
                    .to_vec(),
                label: self.entities.lock_label(lock.lock),
                style: match lock.is_changed {
                    true => BOLD,
                    false => Style::new(),
                },
            }
        });
        text.push('\n');
        let titles = ["Before", "After: least", "Most"];
        labelled_table::add(text, &titles, "lock", &rows.collect::<Vec<_>>(), width);
        if shown < locks.len() {
            let more = plural((locks.len() - shown) as u64, "more row");
            let _ = writeln!(text, "{DIM}and {more} (--top){DIM:#}");
        }
    }

    fn record(&self) -> PredictionRecord<'_> {
        let it = self.prediction;
        PredictionRecord {
            change: self.arguments.change.to_string(),
            waits: it.waits,
            before_ns: it.before_ns,
            after_ns: it.after_ns,
            after_least_ns: it.after_range_ns.0,
            after_most_ns: it.after_range_ns.1,
            after_with_unseen_lock_ns: it.after_with_unseen_lock_ns,
            for_changed_ns: it.for_changed_ns,
            unexplained_ns: it.unexplained_ns,
            conditional_ns: it.conditional_ns,
            assumed_holds: it.assumed_holds,
            until_ns: it.until_ns,
            replays: it.replays.iter().map(ReplayRecord::new).collect(),
            locks: it.locks.iter().map(|lock| self.lock(lock)).collect(),
        }
    }

    fn lock(&self, lock: &LockOutcome) -> LockOutcomeRecord<'_> {
        LockOutcomeRecord {
            lock: LockRecord::new(lock.lock, self.entities),
            changed: lock.is_changed,
            before_ns: lock.before_ns,
            after_least_ns: lock.after_ns.0,
            after_most_ns: lock.after_ns.1,
        }
    }
}

#[derive(Serialize)]
struct PredictionRecord<'a> {
    change: String,
    waits: u64,
    before_ns: u64,
    after_ns: u64,
    after_least_ns: u64,
    after_most_ns: u64,
    after_with_unseen_lock_ns: Option<u64>,
    for_changed_ns: u64,
    unexplained_ns: u64,
    conditional_ns: u64,
    assumed_holds: u64,
    until_ns: Option<u64>,
    replays: Vec<ReplayRecord>,
    locks: Vec<LockOutcomeRecord<'a>>,
}

#[derive(Serialize)]
struct ReplayRecord {
    last_first: bool,
    processors: Option<u64>,
    assumed_holds: bool,
    unchanged_ns: u64,
    changed_ns: u64,
    least_ns: u64,
    most_ns: u64,
    forced: u64,
}

impl ReplayRecord {
    fn new(replay: &Replay) -> Self {
        Self {
            last_first: replay.assumptions.last_first,
            processors: replay.assumptions.processors,
            assumed_holds: replay.assumptions.assumed_holds,
            unchanged_ns: replay.unchanged_ns,
            changed_ns: replay.changed_ns,
            least_ns: replay.range_ns.0,
            most_ns: replay.range_ns.1,
            forced: replay.forced,
        }
    }
}

#[derive(Serialize)]
struct LockOutcomeRecord<'a> {
    lock: LockRecord<'a>,
    changed: bool,
    before_ns: u64,
    after_least_ns: u64,
    after_most_ns: u64,
}
