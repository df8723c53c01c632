//! `locktrace lock-order`: which locks are nested in which order, and which orders contradict
//! each other.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use trace_analysis::{
    Detail, Entities, LockIndex, LockOrder, Nesting, NestingCode, Order, OrderCycle, TraceInput,
    TraceSummary,
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
A thread that owns one lock and waits for another one has nested them. The trace tells of
those nestings that held others up: while somebody waited for the outer lock and its owner for
the inner one. Where locks were nested in both orders, or in a longer circle, threads can
deadlock, unless they all own yet another lock meanwhile: that is an inversion, and how close
in time the orders were says how near the program came to it.";

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
    let analyzed = input::analyze_with(traces, common.threads, Detail::Roots, select, &mut order)?;
    let found = Found {
        cycles: order.cycles(),
        order: &order,
        entities: &analyzed.entities,
    };
    match common.format {
        StructureFormat::Table => {
            let text = found.text(&analyzed.summaries, common.top, output::terminal_width());
            output::print(&text)?;
        }
        StructureFormat::Json => {
            write_json(output::machine(), &found.record())?;
        }
    }
    Ok(problem::complain(&analyzed.summaries))
}

struct Found<'a> {
    order: &'a LockOrder,
    cycles: Vec<OrderCycle>,
    entities: &'a Entities,
}

/// So much of a call chain is shown where nobody knows how wide a line is.
const CHAIN_WIDTH: usize = 100;

impl Found<'_> {
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
        let cycles = match self.cycles.len() {
            0 => "none: no order contradicts another one".to_owned(),
            cycles => format!(
                "{} of orders that contradict each other, and so may deadlock",
                plural(cycles as u64, "cycle")
            ),
        };
        facts::add(&mut text, "Inversions", &cycles);
        for (at, cycle) in self.cycles.iter().enumerate() {
            self.write_cycle(&mut text, at + 1, cycle, width);
        }
        if !nestings.is_empty() {
            text.push('\n');
            self.write_nestings(&mut text, &nestings, top, width);
        }
        if self.order.are_times_missing() {
            let _ = writeln!(
                text,
                "{DIM}There were more waits than could be told apart: \"Times\" is a lower bound.{DIM:#}"
            );
        }
        text
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
            "\n{ALARM}Inversion {number}{ALARM:#}, at the closest within {}",
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
        let cycles = self.cycles.iter().map(|cycle| CycleRecord {
            closest_ns: cycle.closest_ns,
            locks: cycle.locks.iter().map(|&lock| self.lock(lock)).collect(),
        });
        LockOrderRecord {
            inversions: cycles.collect(),
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
    nestings: Vec<NestingRecord<'a>>,
    times_are_lower_bounds: bool,
}

#[derive(Serialize)]
struct CycleRecord<'a> {
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
