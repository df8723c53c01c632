//! Threads that waited until the trace ended, for something that did not come.

pub(crate) mod words;

use std::fmt::Write;

use serde::Serialize;
use trace_analysis::{ChainIndex, Entities, Hang, OpenWait, TraceSummary};

use crate::hangs::words::{HangWords, holder, name, place};
use crate::human;
use crate::name::printable;
use crate::record::{FrameRecord, LockRecord, ThreadRecord, frames};
use crate::style::{ALARM, BOLD};

/// The most threads that are listed for people.
const LISTED: usize = 5;

/// Adds the hangs of traces, for people.
pub fn write(text: &mut String, summaries: &[TraceSummary], entities: &Entities) {
    for summary in summaries {
        for hang in summary.still_blocked.hangs(entities) {
            let of_trace = match summaries.len() {
                1 => String::new(),
                _ => format!(" in {}", summary.file.path().display()),
            };
            write_hang(text, &hang, &of_trace, entities);
        }
    }
}

fn write_hang(text: &mut String, hang: &Hang, of_trace: &str, entities: &Entities) {
    let words = HangWords::new(hang, entities);
    let _ = writeln!(
        text,
        "{ALARM}HANG        {}{of_trace}{ALARM:#}",
        words.title
    );
    let first = hang.first();
    if let Some(holder) = holder(first, entities) {
        let _ = writeln!(text, "{BOLD}{holder}{BOLD:#}");
        write_holder(text, hang, entities);
    }
    let threads = hang.waiting.len() + hang.behind.len();
    for wait in hang.threads().take(LISTED) {
        let _ = writeln!(
            text,
            "{BOLD}{}{BOLD:#}\n  has waited {} for {}\n    at {}",
            name(wait.thread, entities),
            human::duration(wait.duration_ns),
            printable(&entities.lock_label(wait.lock)),
            place(wait, entities),
        );
    }
    if threads > LISTED {
        let more = human::plural((threads - LISTED) as u64, "more thread");
        let _ = writeln!(text, "and {more}");
    }
    if !words.basis.is_empty() {
        let _ = writeln!(text, "{}", words.basis);
    }
    let _ = writeln!(text, "{}\n", words.advice);
}

/// Adds what is known of the thread that has the lock.
fn write_holder(text: &mut String, hang: &Hang, entities: &Entities) {
    let first = hang.first();
    let lock = printable(&entities.lock_label(first.lock));
    match first.holder {
        Some((_, acquired)) if !entities.chain(acquired).frames().is_empty() => {
            let _ = writeln!(text, "  has {lock}, for which it had to wait");
            write_chain(text, acquired, entities);
        }
        _ => {
            let _ = writeln!(text, "  has {lock}, which it acquired without waiting");
        }
    }
    if let Some(wait) = &hang.holder_wait {
        let _ = writeln!(
            text,
            "  has waited {} for {}",
            human::duration(wait.duration_ns),
            words::awaited(wait, entities),
        );
        write_chain(text, wait.chain, entities);
    } else if let Some((time_ns, chain)) = first.holder_facts.seen {
        let before_ns = end_ns(first).saturating_sub(time_ns);
        let _ = writeln!(
            text,
            "  was here {} before the end",
            human::duration(before_ns)
        );
        write_chain(text, chain, entities);
    }
}

fn end_ns(wait: &OpenWait) -> u64 {
    wait.start_ns.saturating_add(wait.duration_ns)
}

fn write_chain(text: &mut String, chain: ChainIndex, entities: &Entities) {
    for frame in entities.frame_labels(chain) {
        let _ = writeln!(text, "    at {}", printable(&frame));
    }
}

/// A hang, for machines.
#[derive(Serialize)]
pub(crate) struct HangRecord<'a> {
    file: String,
    verdict: &'static str,
    title: String,
    basis: String,
    advice: &'static str,
    lock: LockRecord<'a>,
    /// How long the lock was not released until the trace ended.
    stalled_ns: u64,
    /// How long all threads waited.
    duration_ns: u64,
    holder: Option<HolderRecord<'a>>,
    threads: Vec<WaitingRecord<'a>>,
}

#[derive(Serialize)]
struct HolderRecord<'a> {
    thread: ThreadRecord<'a>,
    /// When the thread ended.
    ended_ns: Option<u64>,
    /// Where it acquired the lock, if it had to wait for it.
    acquired_chain: Option<Vec<FrameRecord<'a>>>,
    /// Where it was sampled last.
    seen_ns: Option<u64>,
    seen_chain: Option<Vec<FrameRecord<'a>>>,
    /// What it waits for itself.
    waits: Option<WaitingRecord<'a>>,
}

#[derive(Serialize)]
struct WaitingRecord<'a> {
    thread: ThreadRecord<'a>,
    waits_for: LockRecord<'a>,
    kind: &'static str,
    start_ns: u64,
    duration_ns: u64,
    chain: Vec<FrameRecord<'a>>,
}

/// Returns the hangs of all traces, for machines.
pub(crate) fn records<'a>(
    summaries: &[TraceSummary],
    entities: &'a Entities,
) -> Vec<HangRecord<'a>> {
    let of_trace = |summary: &TraceSummary| {
        let file = summary.file.path().display().to_string();
        let hangs = summary.still_blocked.hangs(entities).into_iter();
        let records = hangs.map(move |hang| HangRecord::new(file.clone(), &hang, entities));
        records.collect::<Vec<_>>()
    };
    summaries.iter().flat_map(of_trace).collect()
}

impl<'a> HangRecord<'a> {
    fn new(file: String, hang: &Hang, entities: &'a Entities) -> Self {
        let words = HangWords::new(hang, entities);
        let durations_ns = hang.threads().map(|wait| wait.duration_ns);
        Self {
            file,
            verdict: hang.verdict.name(),
            title: words.title,
            basis: words.basis,
            advice: words.advice,
            lock: LockRecord::new(hang.first().lock, entities),
            stalled_ns: hang.stalled_ns(),
            duration_ns: durations_ns.fold(0, u64::saturating_add),
            holder: HolderRecord::new(hang, entities),
            threads: hang
                .threads()
                .map(|wait| WaitingRecord::new(wait, entities))
                .collect(),
        }
    }
}

impl<'a> HolderRecord<'a> {
    fn new(hang: &Hang, entities: &'a Entities) -> Option<Self> {
        let first = hang.first();
        let (thread, acquired) = first.holder?;
        let facts = first.holder_facts;
        Some(Self {
            thread: ThreadRecord::new(thread, entities),
            ended_ns: facts.ended_ns,
            acquired_chain: Some(frames(acquired, entities)).filter(|frames| !frames.is_empty()),
            seen_ns: facts.seen.map(|(time_ns, _)| time_ns),
            seen_chain: facts.seen.map(|(_, chain)| frames(chain, entities)),
            waits: hang
                .holder_wait
                .as_ref()
                .map(|wait| WaitingRecord::new(wait, entities)),
        })
    }
}

impl<'a> WaitingRecord<'a> {
    fn new(wait: &OpenWait, entities: &'a Entities) -> Self {
        Self {
            thread: ThreadRecord::new(wait.thread, entities),
            waits_for: LockRecord::new(wait.lock, entities),
            kind: wait.kind.name(),
            start_ns: wait.start_ns,
            duration_ns: wait.duration_ns,
            chain: frames(wait.chain, entities),
        }
    }
}
