//! `locktrace lock-order`: which locks are nested in which order, and which orders contradict
//! each other.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use trace_analysis::{
    Detail, Entities, LockIndex, LockOrder, Nesting, NestingCode, Order, OrderCycle, Risk,
    TraceInput, TraceSummary,
};
use trace_report::facts;
use trace_report::name::{chain_line, fit};
use trace_report::record::{FrameRecord, LockRecord, frames, write_json};
use trace_report::style::{ALARM, BOLD, DIM};

use crate::arguments::filter::PATTERNS;
use crate::arguments::structure::{StructureArguments, StructureFormat};
use crate::arguments::waits::WaitArguments;
use crate::outcome::{self, Outcome};
use crate::text::human::{self, plural};
use crate::text::labelled_table;
use crate::{input, output, problem};

const LOCK_ORDER_NOTES: &str = "\
A thread that owns one lock and waits for another one has nested them. The trace shows the
nestings that held up other threads: one waited for the outer lock while its owner waited for
the inner one. Where different threads nest locks in both orders, or in a longer cycle, they can
deadlock: an inversion. The closer in time the orders were, the nearer they came to it. It is not
an inversion if all of this code was seen to own one more lock, the same in all orders; it is a
possible one if that lock was not seen in some of the code. A lock is seen while a thread waits for
it.";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{LOCK_ORDER_NOTES}"))]
pub(crate) struct LockOrderArguments {
    #[command(flatten)]
    pub(crate) common: StructureArguments,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,
}

pub(crate) fn run(arguments: &LockOrderArguments) -> outcome::Result<Outcome> {
    let common = &arguments.common;
    let traces = input::open(std::slice::from_ref(&common.trace), common.follow)?;
    let select = |trace: &TraceInput| arguments.waits.selection(trace);
    let mut order = LockOrder::default();
    let analyzed = input::analyze_with(
        traces,
        common.threads,
        Detail::CONTENTIONS.with_roots(),
        select,
        &mut order,
    )?;
    let report = OrderReport {
        cycles: order.cycles(),
        order: &order,
        entities: &analyzed.entities,
    };
    match common.format {
        StructureFormat::Table => {
            let text = report.text(&analyzed.summaries, common.top, output::terminal_width());
            output::print(&text)?;
        }
        StructureFormat::Json => {
            write_json(output::machine(), &report.record())?;
        }
    }
    Ok(problem::complain(&analyzed.summaries))
}

struct OrderReport<'a> {
    order: &'a LockOrder,
    cycles: Vec<OrderCycle>,
    entities: &'a Entities,
}

/// So much of a call chain is shown where nobody knows how wide a line is.
const CHAIN_WIDTH: usize = 100;

impl OrderReport<'_> {
    fn text(&self, summaries: &[TraceSummary], top: usize, width: Option<usize>) -> String {
        let mut text = String::new();
        for summary in summaries {
            facts::add_trace(&mut text, summary);
        }
        let nestings = self.order.nestings();
        let seen = format!(
            "{} of two locks, seen where others waited for the outer one",
            plural(nestings.len() as u64, "nesting")
        );
        facts::add(&mut text, "Nested", &seen);
        facts::add(&mut text, "Inversions", &self.inversions());
        let may_deadlock = self.cycles.iter().filter(|cycle| cycle.risk.may_deadlock());
        for (at, cycle) in may_deadlock.enumerate() {
            self.write_cycle(&mut text, at + 1, cycle, width);
        }
        if !nestings.is_empty() {
            text.push('\n');
            self.write_nestings(&mut text, &nestings, top, width);
        }
        if self.order.are_times_missing() {
            let _ = writeln!(
                text,
                "{DIM}There were more waits than could be distinguished: \"Times\" is a lower bound.{DIM:#}"
            );
        }
        text
    }

    /// How many cycles there are of each risk.
    fn inversions(&self) -> String {
        if self.cycles.is_empty() {
            return "none: no order contradicts another one".to_owned();
        }
        let risks = [
            (Risk::Inversion, "may deadlock"),
            (
                Risk::Possible,
                "possible: a lock around all orders was seen at some of the times only",
            ),
            (
                Risk::Guarded,
                "cannot deadlock: all owners also own another lock",
            ),
            (
                Risk::TooFewThreads,
                "cannot deadlock: the orders are not of different threads",
            ),
        ];
        let counts = risks.iter().filter_map(|&(risk, meaning)| {
            let count = self
                .cycles
                .iter()
                .filter(|cycle| cycle.risk == risk)
                .count();
            (count > 0).then(|| format!("{} {meaning}", plural(count as u64, "cycle")))
        });
        counts.collect::<Vec<_>>().join("; ")
    }

    fn write_cycle(
        &self,
        text: &mut String,
        number: usize,
        cycle: &OrderCycle,
        width: Option<usize>,
    ) {
        let _ = writeln!(
            text,
            "\n{ALARM}{} {number}{ALARM:#}, at the closest within {}",
            match cycle.risk {
                Risk::Possible => "Possible inversion",
                _ => "Inversion",
            },
            human::duration(cycle.closest_ns)
        );
        for order in cycle.orders() {
            let Some(nesting) = self.order.nesting(order) else {
                continue;
            };
            let indented = width.map(|width| width.saturating_sub(2));
            let label = fit(&self.label(order), indented);
            let _ = writeln!(text, "  {BOLD}{label}{BOLD:#}");
            let _ = writeln!(
                text,
                "    {} by {}, which blocked others for {}",
                plural(nesting.times() as u64, "time"),
                plural(nesting.threads() as u64, "thread"),
                human::duration(nesting.blocked_ns()),
            );
            // The other ones are in JSON.
            if let Some((code, _)) = nesting.codes().first() {
                for (what, chain) in [("waited in", code.waiting), ("owned it in", code.owning)] {
                    let room = width.unwrap_or(CHAIN_WIDTH).saturating_sub(16);
                    let known = self.entities.chain(chain).frames();
                    let line = match known {
                        [] => self.entities.chain_label(chain, 0),
                        known => chain_line(known, self.entities, room),
                    };
                    let _ = writeln!(text, "    {what:<11} {line}");
                }
            }
        }
    }

    fn write_nestings(
        &self,
        text: &mut String,
        nestings: &[(Order, &Nesting)],
        top: usize,
        width: Option<usize>,
    ) {
        let shown = if top == 0 {
            nestings.len()
        } else {
            top.min(nestings.len())
        };
        let rows = nestings[..shown]
            .iter()
            .map(|&(order, nesting)| labelled_table::Row {
                numbers: vec![
                    human::duration(nesting.blocked_ns()),
                    human::count(nesting.times() as u64),
                    human::count(nesting.threads() as u64),
                ],
                label: self.label(order),
                style: Style::new(),
            });
        let rows: Vec<_> = rows.collect();
        let titles = ["Blocked", "Times", "Threads"];
        labelled_table::add(text, &titles, "owned › waited for", &rows, width);
        if shown < nestings.len() {
            let rows = plural((nestings.len() - shown) as u64, "more row");
            let _ = writeln!(text, "{DIM}and {rows} (--top){DIM:#}");
        }
    }

    fn label(&self, (outer, inner): Order) -> String {
        let label = |lock: LockIndex| self.entities.lock_label(lock);
        format!("{} › {}", label(outer), label(inner))
    }

    fn record(&self) -> LockOrderRecord<'_> {
        let nestings = self.order.nestings().into_iter();
        let may_deadlock = self.cycles.iter().filter(|cycle| cycle.risk.may_deadlock());
        let harmless = |risk| {
            self.cycles
                .iter()
                .filter(|cycle| cycle.risk == risk)
                .count()
        };
        let cycles = may_deadlock.map(|cycle| CycleRecord {
            certain: cycle.risk == Risk::Inversion,
            closest_ns: cycle.closest_ns,
            locks: cycle.locks.iter().map(|&lock| self.lock(lock)).collect(),
        });
        LockOrderRecord {
            inversions: cycles.collect(),
            guarded_cycles: harmless(Risk::Guarded),
            cycles_of_too_few_threads: harmless(Risk::TooFewThreads),
            nestings: nestings
                .map(|(order, nesting)| self.nesting_record(order, nesting))
                .collect(),
            times_are_lower_bounds: self.order.are_times_missing(),
        }
    }

    fn nesting_record(&self, (outer, inner): Order, nesting: &Nesting) -> NestingRecord<'_> {
        let codes = nesting.codes().into_iter();
        NestingRecord {
            outer: self.lock(outer),
            inner: self.lock(inner),
            times: nesting.times(),
            threads: nesting.threads(),
            blocked_ns: nesting.blocked_ns(),
            codes: codes
                .map(|(code, blocked_ns)| self.code_record(code, blocked_ns))
                .collect(),
        }
    }

    fn code_record(&self, code: NestingCode, blocked_ns: u64) -> CodeRecord<'_> {
        CodeRecord {
            blocked_ns,
            waiting: frames(code.waiting, self.entities),
            owning: frames(code.owning, self.entities),
        }
    }

    fn lock(&self, lock: LockIndex) -> LockRecord<'_> {
        LockRecord::new(lock, self.entities)
    }
}

#[derive(Serialize)]
struct LockOrderRecord<'a> {
    inversions: Vec<CycleRecord<'a>>,
    guarded_cycles: usize,
    cycles_of_too_few_threads: usize,
    nestings: Vec<NestingRecord<'a>>,
    times_are_lower_bounds: bool,
}

#[derive(Serialize)]
struct CycleRecord<'a> {
    /// No lock that could exclude the deadlock was seen.
    certain: bool,
    closest_ns: u64,
    /// Each was owned while the next one was waited for, and the last one while the first was.
    locks: Vec<LockRecord<'a>>,
}

#[derive(Serialize)]
struct NestingRecord<'a> {
    outer: LockRecord<'a>,
    inner: LockRecord<'a>,
    times: usize,
    threads: usize,
    blocked_ns: u64,
    codes: Vec<CodeRecord<'a>>,
}

#[derive(Serialize)]
struct CodeRecord<'a> {
    blocked_ns: u64,
    waiting: Vec<FrameRecord<'a>>,
    owning: Vec<FrameRecord<'a>>,
}
