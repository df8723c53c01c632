//! `locktrace what-if`: what a change of one lock would bring.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use trace_analysis::{
    ChainIndex, Detail, Effect, Entities, LockChange, LockIndex, LockOutcome, OwnerCode, Pattern,
    Prediction, Question, Replay, Selection, Speedup, SpeedupOf, TraceInput, TraceSummary,
    Unreliable, UnseenHolds, Value, WhatIf,
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
  moved-out   what is done while it is held is done after its release, and takes as long
  holds=F     holds take F times as long: 0.5 for half
  split=N     N locks replace it, one for each part of its keys; all keys are used equally often
  permits=N   N threads can have it at once: the permits of a semaphore, the objects of a pool
  fair        threads get it in the order in which they came
  unfair      a thread that comes while it is free takes it, even if others wait
  read-write  code that only reads (--readers) shares it

A replay keeps each thread's own work and its order, and changes the lock. The speed-up is how many
times as fast the threads that contend do the same work: the time in which they work or wait for
locks, without the change and with it. Each thread counts as much as it waits. For threads that
always have work, the program is done sooner by this factor, or does more. For threads that wait for
requests, it is the time that a request takes.

The trace does not show everything that matters. So there are several replays, each with other
assumptions, and the prediction lies between them. If no replay without the change finds about what
the trace has, there is no prediction, but the reason.

Of other locks the trace has only the holds for which a thread waited. A lock for which no thread
waited is not in the trace. Where threads contend for one once they no longer wait here, more waiting
is left than predicted, at most as much as the note says.";

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
    let is_of_holds = matches!(
        arguments.change,
        LockChange::Holds(_) | LockChange::MovedOut
    );
    if !arguments.owner_method.is_empty() && !is_of_holds {
        return Err(UsageError("--owner-method is for --change holds=FACTOR and moved-out").into());
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
        Detail::CONTENTIONS.sampled(),
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
        let blocked = format!(
            "{} in {}",
            human::duration(it.before_ns),
            plural(it.waits, "wait"),
        );
        facts::add(&mut text, "Blocked", &blocked);
        match &it.effect {
            Ok(effect) => {
                facts::add(&mut text, "Speed-up", &speedup(&effect.speedup));
                facts::add(&mut text, "Waiting", &self.waiting(effect));
            }
            Err(reason) => {
                facts::add(&mut text, "Speed-up", &self.unknown(*reason));
            }
        }
        facts::add(&mut text, "Replays", &self.replays());
        for note in self.notes() {
            facts::add(&mut text, "Note", &note);
        }
        self.add_locks(&mut text, width);
        text
    }

    /// Describes how much less threads wait.
    fn waiting(&self, effect: &Effect) -> String {
        let (least_ns, most_ns) = effect.after_range_ns;
        format!(
            "{} ({} to {}) for the same work: {} ({} to {})",
            human::duration(effect.after_ns),
            human::duration(least_ns),
            human::duration(most_ns),
            self.difference(effect.after_ns),
            self.difference(least_ns),
            self.difference(most_ns),
        )
    }

    fn difference(&self, after_ns: u64) -> String {
        match self.prediction.before_ns {
            0 => human::signed_percent(0.0),
            before_ns => human::signed_percent(after_ns as f64 / before_ns as f64 - 1.0),
        }
    }

    /// Says why nothing is predicted.
    fn unknown(&self, reason: Unreliable) -> String {
        match reason {
            Unreliable::Waiting(replayed_ns) => format!(
                "unknown: replays of the trace as it is do not reproduce it; threads wait {}, not {}",
                human::duration(replayed_ns),
                human::duration(self.prediction.before_ns),
            ),
            Unreliable::Duration(times_as_long) => format!(
                "unknown: replays of the trace as it is do not reproduce it; the same work takes {} as long",
                human::factor(times_as_long),
            ),
        }
    }

    /// Describes how the replays differ, and how well they reproduce the trace.
    fn replays(&self) -> String {
        let replays = &self.prediction.replays;
        let used = replays.iter().filter(|replay| replay.is_reliable).count();
        let unchanged = || {
            let used = replays
                .iter()
                .filter(|replay| replay.is_reliable || used == 0);
            used.map(|replay| replay.unchanged_ns)
        };
        let any = |of: fn(&Replay) -> bool| replays.iter().any(of);
        let mut differences = Vec::new();
        if any(|replay| replay.assumptions.unseen_holds != UnseenHolds::default()) {
            differences.push("how often locks are held unnoticed".to_owned());
        }
        let by_arrival = any(|replay| replay.assumptions.by_arrival);
        if by_arrival && any(|replay| !replay.assumptions.by_arrival) {
            differences.push("which thread gets a monitor next".to_owned());
        }
        if let Some(processors) = replays.iter().find_map(|it| it.assumptions.processors) {
            differences.push(format!(
                "whether all work needs one of the {}",
                plural(processors, "processor")
            ));
        }
        let mut text = format!(
            "{} of {} used; without the change they find {} to {}",
            human::count(used as u64),
            human::count(replays.len() as u64),
            human::duration(unchanged().min().unwrap_or(0)),
            human::duration(unchanged().max().unwrap_or(0)),
        );
        if !differences.is_empty() {
            let _ = write!(text, "; they differ in {}", differences.join(", "));
        }
        text
    }

    fn notes(&self) -> Vec<String> {
        let it = self.prediction;
        let mut notes = Vec::new();
        if it.replayed_share < 1.0 {
            notes.push(format!(
                "there are too many waits: {} of the time is replayed, in slices spread evenly over the trace",
                human::percent(it.replayed_share),
            ));
        }
        let unseen_lock = it.effect.map(|effect| effect.after_with_unseen_lock_ns);
        match unseen_lock {
            Err(_) => {}
            Ok(Some(ns)) => notes.push(format!(
                "up to {} if threads then meet at a lock that nobody waited for in the trace",
                human::duration(ns),
            )),
            Ok(None) => notes.push(
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
        notes
    }

    fn add_locks(&self, text: &mut String, width: Option<usize>) {
        let locks = &self.prediction.locks;
        let shown = match self.arguments.common.top {
            0 => locks.len(),
            top => top.min(locks.len()),
        };
        let rows = locks[..shown].iter().map(|lock| {
            let after = match lock.after_ns {
                Some((least_ns, most_ns)) => [least_ns, most_ns].map(human::duration),
                None => ["?", "?"].map(str::to_owned),
            };
            labelled_table::Row {
                numbers: [vec![human::duration(lock.before_ns)], after.to_vec()].concat(),
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
        let effect = it.effect.ok();
        let speedup = effect.map(|effect| effect.speedup);
        PredictionRecord {
            change: self.arguments.change.to_string(),
            waits: it.waits,
            speedup: speedup.map(|speedup| speedup.factor),
            speedup_least: speedup.map(|speedup| speedup.range.0),
            speedup_most: speedup.map(|speedup| speedup.range.1),
            speedup_of: speedup.map(|speedup| speedup.of.name()),
            busy_ns: speedup.map(|speedup| speedup.busy_ns),
            unreliable: it.effect.err().map(|reason| reason.name()),
            replayed_share: it.replayed_share,
            before_ns: it.before_ns,
            after_ns: effect.map(|effect| effect.after_ns),
            after_least_ns: effect.map(|effect| effect.after_range_ns.0),
            after_most_ns: effect.map(|effect| effect.after_range_ns.1),
            after_with_unseen_lock_ns: effect.and_then(|it| it.after_with_unseen_lock_ns),
            for_changed_ns: it.for_changed_ns,
            unexplained_ns: it.unexplained_ns,
            conditional_ns: it.conditional_ns,
            unseen_holds: it.unseen_holds,
            replays: it.replays.iter().map(ReplayRecord::new).collect(),
            locks: it.locks.iter().map(|lock| self.lock(lock)).collect(),
        }
    }

    fn lock(&self, lock: &LockOutcome) -> LockOutcomeRecord<'_> {
        LockOutcomeRecord {
            lock: LockRecord::new(lock.lock, self.entities),
            changed: lock.is_changed,
            before_ns: lock.before_ns,
            after_least_ns: lock.after_ns.map(|(least_ns, _)| least_ns),
            after_most_ns: lock.after_ns.map(|(_, most_ns)| most_ns),
        }
    }
}

/// Says how much sooner the work is done.
fn speedup(speedup: &Speedup) -> String {
    let (least, most) = speedup.range;
    let who = match speedup.of {
        SpeedupOf::Work => "the threads that contend do the same work",
        SpeedupOf::Latency => "the threads that contend are done with the same requests",
    };
    format!(
        "{} ({} to {}): {who} in {} instead of {}",
        human::factor(speedup.factor),
        human::factor(least),
        human::factor(most),
        human::duration(speedup.busy_after_ns()),
        human::duration(speedup.busy_ns),
    )
}

#[derive(Serialize)]
struct PredictionRecord<'a> {
    change: String,
    waits: u64,
    speedup: Option<f64>,
    speedup_least: Option<f64>,
    speedup_most: Option<f64>,
    speedup_of: Option<&'static str>,
    busy_ns: Option<u64>,
    unreliable: Option<&'static str>,
    replayed_share: f64,
    before_ns: u64,
    after_ns: Option<u64>,
    after_least_ns: Option<u64>,
    after_most_ns: Option<u64>,
    after_with_unseen_lock_ns: Option<u64>,
    for_changed_ns: u64,
    unexplained_ns: u64,
    conditional_ns: u64,
    unseen_holds: u64,
    replays: Vec<ReplayRecord>,
    locks: Vec<LockOutcomeRecord<'a>>,
}

#[derive(Serialize)]
struct ReplayRecord {
    by_arrival: bool,
    processors: Option<u64>,
    unseen_holds: &'static str,
    reliable: bool,
    unchanged_ns: u64,
    changed_ns: u64,
    least_ns: u64,
    most_ns: u64,
    unchanged_duration: f64,
    speedup: f64,
    speedup_least: f64,
    speedup_most: f64,
    forced: u64,
}

impl ReplayRecord {
    fn new(replay: &Replay) -> Self {
        Self {
            by_arrival: replay.assumptions.by_arrival,
            processors: replay.assumptions.processors,
            unseen_holds: replay.assumptions.unseen_holds.name(),
            reliable: replay.is_reliable,
            unchanged_ns: replay.unchanged_ns,
            changed_ns: replay.changed_ns,
            least_ns: replay.range_ns.0,
            most_ns: replay.range_ns.1,
            unchanged_duration: replay.unchanged_duration,
            speedup: replay.speedup,
            speedup_least: replay.speedup_range.0,
            speedup_most: replay.speedup_range.1,
            forced: replay.forced,
        }
    }
}

#[derive(Serialize)]
struct LockOutcomeRecord<'a> {
    lock: LockRecord<'a>,
    changed: bool,
    before_ns: u64,
    after_least_ns: Option<u64>,
    after_most_ns: Option<u64>,
}
