//! `locktrace convoys`: locks whose queue does not drain, and threads woken for nothing.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use trace_analysis::{
    Convoy, Convoys, Detail, Entities, LockIndex, QueuePeriod, Reentries, TraceInput, TraceSummary,
    WaitKind, WakeUps,
};
use trace_report::facts;
use trace_report::record::{LockRecord, write_json};
use trace_report::style::DIM;

use crate::arguments::filter::{FilterArguments, PATTERNS};
use crate::arguments::range::RangeArguments;
use crate::arguments::structure::{StructureArguments, StructureFormat};
use crate::outcome::{self, Outcome};
use crate::text::human::{self, plural};
use crate::text::labelled_table;
use crate::{input, output, problem};

const CONVOYS_NOTES: &str = "\
In a convoy, threads acquire a lock one after the other, and at least one thread waits for it at
every moment while --min-waits waits end. Largest is the number of waits in the longest convoy, and
Threads the number of threads in it. Waking threads takes most of the time, so fewer holds help more
than shorter ones.

A thread is woken for nothing if it waits again at once: in Condition.await it releases the lock and
so wakes the next thread. Several in a row, each woken by the one before, are a stampede, which
signalAll causes where signal would do. The last thread of a stampede wakes nobody and is not
counted; a thread that releases the lock and soon comes back to wait may be counted. In Object.wait
a thread is woken for nothing if it waits again in the same code within a millisecond. Several that
one notification woke are a stampede, which notifyAll causes where notify would do. In traces without
Object.wait only After wait shows how long threads that returned from it were blocked.";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{CONVOYS_NOTES}"))]
pub(crate) struct ConvoysArguments {
    #[command(flatten)]
    pub(crate) common: StructureArguments,

    /// A queue that drains after fewer waits is no convoy
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_waits: u64,

    #[command(flatten)]
    pub(crate) range: RangeArguments,

    #[command(flatten)]
    pub(crate) filter: FilterArguments,
}

/// Convoys are of locks, wake-ups of conditions.
const KINDS: [WaitKind; 2] = [WaitKind::Contention, WaitKind::Conditional];

pub(crate) fn run(arguments: &ConvoysArguments) -> outcome::Result<Outcome> {
    let common = &arguments.common;
    let traces = input::open(std::slice::from_ref(&common.trace), common.follow)?;
    let select = |trace: &TraceInput| {
        let range = arguments.range.of(trace)?;
        Ok(arguments.filter.selection(range, &[]).of_kinds(KINDS))
    };
    let mut convoys = Convoys::default();
    let analyzed =
        input::analyze_with(traces, common.threads, Detail::OWNERS, select, &mut convoys)?;
    let report = ConvoyReport {
        convoys: convoys.convoys(arguments.min_waits),
        wake_ups: convoys.wake_ups(),
        reentries: convoys.reentries(),
        min_waits: arguments.min_waits,
        are_some_forgotten: convoys.are_some_forgotten(),
        entities: &analyzed.entities,
    };
    match common.format {
        StructureFormat::Table => {
            let text = report.text(&analyzed.summaries, common.top, output::terminal_width());
            output::print(&text)?;
        }
        StructureFormat::Json => write_json(output::machine(), &report.record())?,
    }
    Ok(problem::complain(&analyzed.summaries))
}

struct ConvoyReport<'a> {
    convoys: Vec<Convoy<'a>>,
    wake_ups: Vec<(LockIndex, &'a WakeUps)>,
    reentries: Vec<(LockIndex, Reentries)>,
    min_waits: u64,
    are_some_forgotten: bool,
    entities: &'a Entities,
}

impl ConvoyReport<'_> {
    fn text(&self, summaries: &[TraceSummary], top: usize, width: Option<usize>) -> String {
        let mut text = String::new();
        for summary in summaries {
            facts::add_trace(&mut text, summary);
        }
        let waits = human::count(self.min_waits);
        let convoys = match self.convoys.len() as u64 {
            0 => format!("none: each queue drained before {waits} waits had ended"),
            locks => {
                let locks = plural(locks, "lock");
                format!("{locks} with a queue that did not drain while {waits} waits or more ended")
            }
        };
        facts::add(&mut text, "Convoys", &convoys);
        facts::add(&mut text, "Wake-ups", &self.wake_up_facts());
        if !self.reentries.is_empty() {
            let count = self.reentries.iter().map(|(_, it)| it.count).sum();
            let blocked_ns = self.reentries.iter().map(|(_, it)| it.blocked_ns).sum();
            let reentries = format!(
                "{} in {} of threads back from Object.wait or Condition.await",
                human::duration(blocked_ns),
                plural(count, "wait")
            );
            facts::add(&mut text, "After wait", &reentries);
        }
        self.add_convoys(&mut text, top, width);
        self.add_wake_ups(&mut text, top, width);
        if self.are_some_forgotten {
            let _ = writeln!(
                text,
                "{DIM}There were more queues than could be distinguished: convoys are lower bounds.{DIM:#}"
            );
        }
        text
    }

    fn wake_up_facts(&self) -> String {
        let sum = |number: fn(&WakeUps) -> u64| -> u64 {
            self.wake_ups.iter().map(|(_, it)| number(it)).sum()
        };
        let (woken, for_nothing) = (sum(|it| it.woken), sum(|it| it.for_nothing));
        if woken == 0 {
            return "none from conditions of java.util.concurrent".to_owned();
        }
        format!(
            "{} from what threads waited for, {} for nothing ({}), which took {}; {}",
            human::count(woken),
            human::count(for_nothing),
            human::percent(for_nothing as f64 / woken as f64),
            human::duration(sum(|it| it.lost_ns)),
            plural(sum(|it| it.stampedes), "stampede"),
        )
    }

    fn add_convoys(&self, text: &mut String, top: usize, width: Option<usize>) {
        let rows = self.convoys.iter().map(|convoy| labelled_table::Row {
            numbers: vec![
                human::duration(convoy.blocked_ns),
                human::count(convoy.count),
                human::count(convoy.waits),
                human::duration(convoy.duration_ns),
                human::count(convoy.largest.waits),
                human::count(convoy.largest.threads() as u64),
            ],
            label: self.entities.lock_label(convoy.lock),
            style: Style::new(),
        });
        let titles = [
            "Blocked", "Convoys", "Waits", "Duration", "Largest", "Threads",
        ];
        add_table(text, &titles, "lock", rows.collect(), top, width);
    }

    fn add_wake_ups(&self, text: &mut String, top: usize, width: Option<usize>) {
        let wasteful = self.wake_ups.iter().filter(|(_, it)| it.for_nothing > 0);
        let rows = wasteful.map(|(lock, it)| labelled_table::Row {
            numbers: vec![
                human::count(it.for_nothing),
                human::count(it.woken),
                human::duration(it.lost_ns),
                human::count(it.stampedes),
                human::count(it.largest),
            ],
            label: self.entities.lock_label(*lock),
            style: Style::new(),
        });
        let titles = ["For nothing", "Woken", "Lost", "Stampedes", "Largest"];
        add_table(text, &titles, "condition", rows.collect(), top, width);
    }

    fn record(&self) -> ConvoysRecord<'_> {
        let convoys = self.convoys.iter().map(|convoy| ConvoyRecord {
            lock: self.lock(convoy.lock),
            convoys: convoy.count,
            waits: convoy.waits,
            duration_ns: convoy.duration_ns,
            blocked_ns: convoy.blocked_ns,
            largest: PeriodRecord::new(convoy.largest),
        });
        let wake_ups = self.wake_ups.iter().map(|&(lock, it)| WakeUpsRecord {
            condition: self.lock(lock),
            woken: it.woken,
            for_nothing: it.for_nothing,
            lost_ns: it.lost_ns,
            stampedes: it.stampedes,
            largest: it.largest,
        });
        let reentries = self.reentries.iter().map(|&(lock, it)| ReentriesRecord {
            lock: self.lock(lock),
            waits: it.count,
            blocked_ns: it.blocked_ns,
        });
        ConvoysRecord {
            min_waits: self.min_waits,
            convoys: convoys.collect(),
            convoys_are_lower_bounds: self.are_some_forgotten,
            wake_ups: wake_ups.collect(),
            after_wait: reentries.collect(),
        }
    }

    fn lock(&self, lock: LockIndex) -> LockRecord<'_> {
        LockRecord::new(lock, self.entities)
    }
}

/// Adds at most `top` rows, or all of 0, and how many more there are.
fn add_table(
    text: &mut String,
    titles: &[&str],
    label_title: &str,
    mut rows: Vec<labelled_table::Row>,
    top: usize,
    width: Option<usize>,
) {
    if rows.is_empty() {
        return;
    }
    let omitted = match top {
        0 => 0,
        top => rows.drain(top.min(rows.len())..).count(),
    };
    text.push('\n');
    labelled_table::add(text, titles, label_title, &rows, width);
    if omitted > 0 {
        let more = plural(omitted as u64, "more row");
        let _ = writeln!(text, "{DIM}and {more} (--top){DIM:#}");
    }
}

#[derive(Serialize)]
struct ConvoysRecord<'a> {
    min_waits: u64,
    convoys: Vec<ConvoyRecord<'a>>,
    convoys_are_lower_bounds: bool,
    wake_ups: Vec<WakeUpsRecord<'a>>,
    after_wait: Vec<ReentriesRecord<'a>>,
}

#[derive(Serialize)]
struct ConvoyRecord<'a> {
    lock: LockRecord<'a>,
    convoys: u64,
    waits: u64,
    duration_ns: u64,
    blocked_ns: u64,
    largest: PeriodRecord,
}

#[derive(Serialize)]
struct PeriodRecord {
    start_ns: u64,
    duration_ns: u64,
    waits: u64,
    threads: usize,
    blocked_ns: u64,
}

impl PeriodRecord {
    fn new(period: &QueuePeriod) -> Self {
        Self {
            start_ns: period.start_ns,
            duration_ns: period.duration_ns(),
            waits: period.waits,
            threads: period.threads(),
            blocked_ns: period.blocked_ns,
        }
    }
}

#[derive(Serialize)]
struct WakeUpsRecord<'a> {
    condition: LockRecord<'a>,
    woken: u64,
    for_nothing: u64,
    lost_ns: u64,
    stampedes: u64,
    largest: u64,
}

#[derive(Serialize)]
struct ReentriesRecord<'a> {
    lock: LockRecord<'a>,
    waits: u64,
    blocked_ns: u64,
}
