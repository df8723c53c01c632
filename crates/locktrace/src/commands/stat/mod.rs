//! `locktrace stat`: what a trace consists of and what it lacks.

mod agent_losses;
pub(crate) mod arguments;
mod overhead;

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use trace_analysis::{Counter, Detail, EVENT_TYPES, EventCount, Selection, TraceSummary};
use trace_format::Counter as TracerCounter;
use trace_report::facts;
use trace_report::record::{KindRecord, NamedNumbers, kind_records, write_json};
use trace_report::style::BOLD;

use crate::commands::stat::arguments::{StatArguments, StatFormat};
use crate::commands::stat::overhead::{ChainCost, HookCost};
use crate::outcome::{self, Outcome};
use crate::text::human::{self, plural};
use crate::{input, output, problem};

pub(crate) fn run(arguments: &StatArguments) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let analyzed = input::analyze_with(
        traces,
        arguments.threads,
        Detail::CODE,
        |_| Ok(Selection::default()),
        &mut (),
    )?;
    match arguments.format {
        StatFormat::Table => {
            let sections: Vec<String> = analyzed.summaries.iter().map(render).collect();
            output::print(&sections.join("\n"))?;
        }
        StatFormat::Json => {
            let traces = analyzed.summaries.iter().map(TraceRecord::new).collect();
            write_json(output::machine(), &StatRecord { traces })?;
        }
    }
    Ok(problem::complain(&analyzed.summaries))
}

#[derive(Serialize)]
struct StatRecord {
    traces: Vec<TraceRecord>,
}

#[derive(Serialize)]
struct TraceRecord {
    file: String,
    file_bytes: u64,
    start_unix_ns: u64,
    duration_ns: u64,
    jvm: String,
    pid: u32,
    /// What the producer guarantees.
    capabilities: Vec<&'static str>,
    complete: bool,
    lost_events: u64,
    problems: Vec<String>,
    events: Vec<EventRecord>,
    chunks: u64,
    /// Chunks of kinds that only later versions know.
    unknown_chunks: u64,
    buffers: u64,
    raw_bytes: u64,
    stored_bytes: u64,
    chain_references: u64,
    distinct_chains: u64,
    waits: Vec<KindRecord>,
    /// `null` where the tracer did not count them.
    chain_cost: Option<ChainCost>,
    /// Empty where the tracer did not count them.
    hook_costs: Vec<HookCost>,
    /// What the tracer counted.
    tracer: NamedNumbers,
    /// What the analysis counted.
    analysis: NamedNumbers,
}

#[derive(Serialize)]
struct EventRecord {
    r#type: &'static str,
    metadata: bool,
    events: u64,
    bytes: u64,
}

impl TraceRecord {
    fn new(summary: &TraceSummary) -> Self {
        let (header, statistics) = (summary.file.header(), &summary.statistics);
        let events = EVENT_TYPES
            .iter()
            .zip(&statistics.events)
            .map(|(event_type, count)| {
                let &EventCount { events, bytes } = count;
                EventRecord {
                    r#type: event_type.name,
                    metadata: event_type.metadata,
                    events,
                    bytes,
                }
            });
        let interrupted = Some(HookCost::interrupted(summary)).filter(|cost| cost.hooks > 0);
        let hook_costs = HookCost::by_hook(summary).into_iter().chain(interrupted);
        let tracer = summary.tracer.iter();
        let analysis = summary.counters.iter();
        Self {
            file: summary.file.path().display().to_string(),
            file_bytes: summary.file.byte_len(),
            start_unix_ns: header.start_unix_ns,
            duration_ns: summary.duration_ns,
            jvm: header.jvm.clone(),
            pid: header.pid,
            capabilities: header.capabilities.names().collect(),
            complete: summary.is_complete(),
            lost_events: summary.lost_events(),
            problems: trace_report::problem::lines(summary),
            events: events.collect(),
            chunks: statistics.chunks,
            unknown_chunks: summary.damage.chunks_unknown,
            buffers: statistics.buffers,
            raw_bytes: statistics.raw_bytes,
            stored_bytes: statistics.stored_bytes,
            chain_references: statistics.chain_references,
            distinct_chains: statistics.distinct_chains(),
            waits: kind_records(&summary.waits),
            chain_cost: ChainCost::of(summary),
            hook_costs: hook_costs.collect(),
            tracer: NamedNumbers(tracer.map(|&(counter, n)| (counter.name(), n)).collect()),
            analysis: NamedNumbers(analysis.map(|(counter, n)| (counter.name(), n)).collect()),
        }
    }
}

fn render(summary: &TraceSummary) -> String {
    let mut text = String::new();
    facts::add_trace(&mut text, summary);
    add_sizes(&mut text, summary);
    add_tracer(&mut text, summary);
    add_freezes(&mut text, summary);
    add_sampled(&mut text, summary);
    add_owner_samples(&mut text, summary);
    add_lock_sites(&mut text, summary);
    add_events(&mut text, summary);
    add_waits(&mut text, summary);
    add_chain_cost(&mut text, summary);
    add_hook_costs(&mut text, summary);
    add_agent_losses(&mut text, summary);
    add_counters(&mut text, summary);
    text
}

fn add_sizes(text: &mut String, summary: &TraceSummary) {
    let statistics = &summary.statistics;
    let mut size = human::bytes(summary.file.byte_len());
    if summary.duration_ns > 0 {
        let seconds = summary.duration_ns as f64 / 1e9;
        let bytes_per_second = (summary.file.byte_len() as f64 / seconds) as u64;
        let _ = write!(size, ", {}/s", human::bytes(bytes_per_second));
    }
    let _ = write!(size, "; {} of events", human::bytes(statistics.raw_bytes));
    if summary.file.header().compressed {
        let share = human::share(statistics.stored_bytes, statistics.raw_bytes);
        let _ = write!(size, " compressed to {}", human::percent(share));
    }
    facts::add(text, "Size", &size);

    let chunks = plural(statistics.chunks, "chunk");
    let buffers = plural(statistics.buffers, "buffer");
    let mut parts = format!("{chunks} of events with {buffers} of threads");
    if summary.damage.chunks_unknown > 0 {
        let unknown = plural(summary.damage.chunks_unknown, "chunk");
        let _ = write!(parts, "; {unknown} of a later version passed over");
    }
    facts::add(text, "Parts", &parts);
    let capabilities: Vec<_> = summary.file.header().capabilities.names().collect();
    if !capabilities.is_empty() {
        facts::add(text, "Guarantees", &capabilities.join(", "));
    }

    let references = plural(statistics.chain_references, "reference");
    let chains = plural(statistics.distinct_chains(), "call chain");
    let reuse = human::share(statistics.chain_references, statistics.distinct_chains());
    let reuse = human::count(reuse.round() as u64);
    facts::add(
        text,
        "Chains",
        &format!("{references} to {chains}, {reuse} to each"),
    );
}

/// What the tracer says about itself, beyond what the file shows.
fn add_tracer(text: &mut String, summary: &TraceSummary) {
    let mut parts = Vec::new();
    if let Some(cpu_ns) = summary.tracer_value(TracerCounter::DrainerCpuNs) {
        let share = human::percent(human::share(cpu_ns, summary.duration_ns));
        parts.push(format!(
            "{} of processor time to write ({share})",
            human::duration(cpu_ns)
        ));
    }
    if let Some(bytes) = summary.tracer_value(TracerCounter::PeakBufferBytes) {
        let buffers = summary
            .tracer_value(TracerCounter::PeakBuffers)
            .unwrap_or(0);
        let bytes = human::bytes(bytes);
        parts.push(format!("at most {bytes} in {}", plural(buffers, "buffer")));
    }
    if let Some(bytes) = summary.tracer_value(TracerCounter::PeakThreadBytes) {
        parts.push(format!("at most {} for threads", human::bytes(bytes)));
    }
    match summary.tracer_value(TracerCounter::BuffersOutsideFile) {
        None | Some(0) => {}
        Some(buffers) => parts.push(format!(
            "{} in memory only, which a kill would have lost",
            plural(buffers, "buffer")
        )),
    }
    if !parts.is_empty() {
        facts::add(text, "Tracer", &parts.join("; "));
    }
}

/// When the process did not run, and what no time in the trace contains.
fn add_freezes(text: &mut String, summary: &TraceSummary) {
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let freezes = value(TracerCounter::Freezes);
    if freezes > 0 {
        let frozen_ns = value(TracerCounter::FrozenNs);
        let frozen = format!(
            "the process did not run {}, {} in all",
            plural(freezes, "time"),
            human::duration(frozen_ns),
        );
        facts::add(text, "Frozen", &frozen);
    }
    let suspended_ns = value(TracerCounter::SuspendedNs);
    if suspended_ns > 0 {
        let suspended = format!(
            "the machine, for {} that no time in the trace contains",
            human::duration(suspended_ns),
        );
        facts::add(text, "Suspended", &suspended);
    }
}

/// The call chains that an agent has cut short.
fn add_sampled(text: &mut String, summary: &TraceSummary) {
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let short = value(TracerCounter::ShortChains);
    if short > 0 {
        let recorded = human::count(value(TracerCounter::ChainsRecorded));
        let percent = value(TracerCounter::HookBudgetPpm) as f64 / 1e4;
        let sampled = format!(
            "{} of {recorded} call chains have their innermost frames only, since hooks took more \
             than {percent} % of a processor",
            human::count(short),
        );
        facts::add(text, "Sampled", &sampled);
    }
}

/// How often all threads were stopped, for how long as the application saw it, and the share of the time.
fn stopped(stops: u64, stopped_ns: u64, longest: TracerCounter, summary: &TraceSummary) -> String {
    format!(
        "all threads were stopped {} for that, {} in all, {} of the time, and {} at most",
        plural(stops, "time"),
        human::duration(stopped_ns),
        human::percent(human::share(stopped_ns, summary.duration_ns)),
        human::duration(summary.tracer_value(longest).unwrap_or(0)),
    )
}

/// What it took to sample the stacks of owners.
fn add_owner_samples(text: &mut String, summary: &TraceSummary) {
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let stops = value(TracerCounter::OwnerSampleStops);
    if stops > 0 {
        let stopped_ns = value(TracerCounter::OwnerSampleStopNs);
        let mut samples = format!(
            "{} of owners; {}; about {} more were due",
            plural(value(TracerCounter::OwnerSamples), "sample"),
            stopped(
                stops,
                stopped_ns,
                TracerCounter::OwnerSampleLongestStopNs,
                summary
            ),
            human::count(value(TracerCounter::OwnerSamplesSkipped)),
        );
        let pauses = value(TracerCounter::OwnerSamplePauses);
        if pauses > 0 {
            samples += &format!(
                "; the budget for that was used up {}, and there were none for seconds then",
                plural(pauses, "time")
            );
        }
        facts::add(text, "Samples", &samples);
    }
}

/// What it took to know where locks were allocated.
fn add_lock_sites(text: &mut String, summary: &TraceSummary) {
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let stops = value(TracerCounter::LockSiteStops);
    if stops > 0 {
        let mut sites = format!(
            "{} in {} of threads, classes: {}; {}, and {} discarded",
            plural(value(TracerCounter::LockSites), "allocation"),
            human::duration(value(TracerCounter::LockSiteNs)),
            human::count(value(TracerCounter::LockSiteClasses)),
            stopped(
                stops,
                value(TracerCounter::LockSiteStopNs),
                TracerCounter::LockSiteLongestStopNs,
                summary,
            ),
            plural(
                value(TracerCounter::LockSiteMethodsDiscarded),
                "compiled method"
            ),
        );
        let given_up = value(TracerCounter::LockSiteClassesGivenUp);
        if given_up > 0 {
            sites += &format!(
                "; classes given up, since that would have cost too much: {}, and {} not recorded",
                human::count(given_up),
                plural(value(TracerCounter::LockSitesSkipped), "allocation"),
            );
        }
        facts::add(text, "Lock sites", &sites);
    }
}

fn add_events(text: &mut String, summary: &TraceSummary) {
    let mut table = new_table(["Event", "Count", "Bytes", "Bytes/event"]);
    let events = summary.statistics.events;
    for metadata in [false, true] {
        let mut sum = EventCount::default();
        for (event_type, &count) in EVENT_TYPES.iter().zip(&events) {
            if event_type.metadata == metadata && count.events > 0 {
                add_event_row(&mut table, event_type.name, count);
                sum.events += count.events;
                sum.bytes += count.bytes;
            }
        }
        let name = if metadata {
            "All metadata"
        } else {
            "All but metadata"
        };
        add_event_row(&mut table, name, sum);
    }
    add_table(text, &table);
}

fn add_event_row(table: &mut Table, name: &str, count: EventCount) {
    let average = count.bytes as f64 / count.events.max(1) as f64;
    let (events, bytes) = (human::count(count.events), human::count(count.bytes));
    table.add_row([name, &events, &bytes, &format!("{average:.1}")]);
}

/// What the threads waited for.
fn add_waits(text: &mut String, summary: &TraceSummary) {
    let mut table = new_table(["Waits", "Count", "Time", "Average"]);
    for (mechanism, waiting, sums) in summary.waits.iter().filter(|(.., sums)| sums.waits > 0) {
        table.add_row([
            format!("{} {}", mechanism.name(), waiting.name()),
            human::count(sums.waits),
            human::duration(sums.duration_ns),
            human::duration(sums.duration_ns / sums.waits),
        ]);
    }
    if !table.is_empty() {
        add_table(text, &table);
    }
}

/// How much work call chains were.
fn add_chain_cost(text: &mut String, summary: &TraceSummary) {
    let Some(cost) = ChainCost::of(summary) else {
        return;
    };
    let row = |name: &str, part, whole| {
        let share = human::percent(human::share(part, whole));
        [name.to_owned(), human::count(part), share]
    };
    let mut chains = new_table(["Call chains", "Count", "Share"]);
    chains.add_row(["recorded", &human::count(cost.recorded)]);
    chains.add_row(row("found in the set", cost.found, cost.recorded));
    chains.add_row(row("new", cost.new, cost.recorded));
    chains.add_row(["purged", &human::count(cost.purged)]);
    add_table(text, &chains);

    let mut frames = new_table(["Stack frames", "Count", "Share"]);
    frames.add_row(row("visited", cost.frames_visited, cost.frames()));
    frames.add_row(row(
        "saved by return barriers",
        cost.frames_saved,
        cost.frames(),
    ));
    add_table(text, &frames);
}

/// The time that the program spent in the tracer.
fn add_hook_costs(text: &mut String, summary: &TraceSummary) {
    let by_hook = HookCost::by_hook(summary);
    let interrupted = HookCost::interrupted(summary);
    let mut table = new_table([
        "Hooks",
        "Count",
        "Cycles",
        "Cycles/hook",
        "Time",
        "Of the trace",
    ]);
    let all = HookCost::sum("All but interrupted", &by_hook);
    for cost in by_hook.iter().chain([&all, &interrupted]) {
        let share = human::share(cost.duration_ns, summary.duration_ns);
        table.add_row([
            cost.hook,
            &human::count(cost.hooks),
            &human::count(cost.cycles),
            &human::count(cost.cycles_per_hook()),
            &human::duration(cost.duration_ns),
            &human::percent(share),
        ]);
    }
    if all.hooks > 0 || interrupted.hooks > 0 {
        add_table(text, &table);
    }
}

/// What an agent does not know; nothing in a trace of which it knows all.
fn add_agent_losses(text: &mut String, summary: &TraceSummary) {
    let mut table = new_table(["Agent", "Count", "Not known"]);
    align_left(&mut table, 2);
    for (counter, meaning) in agent_losses::MEANINGS {
        match summary.tracer_value(counter) {
            None | Some(0) => {}
            Some(value) => {
                table.add_row([counter.name(), &human::count(value), meaning]);
            }
        }
    }
    if !table.is_empty() {
        add_table(text, &table);
    }
}

/// What was counted that is not to be seen elsewhere; zeros are left out but for
/// what must be zero.
fn add_counters(text: &mut String, summary: &TraceSummary) {
    let mut table = new_table(["Tracer", "Value"]);
    let shown = ChainCost::of(summary).is_some();
    for &(counter, value) in &summary.tracer {
        if shown && overhead::is_listed(counter) || agent_losses::is_listed(counter) {
            continue;
        }
        table.add_row([counter.name(), &human::count(value)]);
    }
    if !table.is_empty() {
        add_table(text, &table);
    }
    let mut table = new_table(["Analysis", "Value", "Meaning"]);
    align_left(&mut table, 2);
    for (counter, value) in summary.counters.iter() {
        if value > 0 || counter == Counter::UnbalancedWaits {
            table.add_row([counter.name(), &human::count(value), counter.meaning()]);
        }
    }
    add_table(text, &table);
}

/// A table whose first column holds names, the others numbers.
fn new_table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if at > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A column with words.
fn align_left(table: &mut Table, column: usize) {
    if let Some(words) = table.column_mut(column) {
        words.set_cell_alignment(CellAlignment::Left);
    }
}

/// Adds a table with an empty line before it.
fn add_table(text: &mut String, table: &Table) {
    for (at, line) in table.lines().enumerate() {
        let line = line.trim_end();
        let _ = match at {
            0 => writeln!(text, "\n{BOLD}{line}{BOLD:#}"),
            _ => writeln!(text, "{line}"),
        };
    }
}
