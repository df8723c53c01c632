//! Deadlocks.

use std::fmt::Write;

use serde::Serialize;
use trace_analysis::{Chain, ChainIndex, Deadlock, Entities, Mechanism, OpenWait, TraceSummary};

use crate::hangs::words;
use crate::human::{self, plural};
use crate::name::printable;
use crate::record::{FrameRecord, LockRecord, ThreadRecord, frames};
use crate::style::{ALARM, BOLD};

/// Adds the deadlocks of all traces, for people.
pub fn write(text: &mut String, summaries: &[TraceSummary], entities: &Entities) {
    for summary in summaries {
        for deadlock in summary.still_blocked.deadlocks() {
            let of_trace = match summaries.len() {
                1 => String::new(),
                _ => format!(" in {}", summary.file.path().display()),
            };
            write_deadlock(text, &of_trace, &deadlock, entities);
        }
    }
}

fn write_deadlock(text: &mut String, of_trace: &str, deadlock: &Deadlock, entities: &Entities) {
    let _ = writeln!(
        text,
        "{ALARM}DEADLOCK    {} block each other{of_trace}, for {} until the trace ended{ALARM:#}",
        plural(deadlock.threads.len() as u64, "thread"),
        human::duration(deadlock.duration_ns()),
    );
    for place in 0..deadlock.threads.len() {
        write_thread(text, deadlock, place, entities);
    }
    text.push('\n');
}

fn write_thread(text: &mut String, deadlock: &Deadlock, place: usize, entities: &Entities) {
    let blocked = &deadlock.threads[place];
    let next = &deadlock.threads[(place + 1) % deadlock.threads.len()];
    let is_initialization = |lock| entities.initialized_class(lock).is_some();
    let _ = writeln!(
        text,
        "{BOLD}{}{BOLD:#}\n  waits for {}, {} by {}",
        thread(blocked, entities),
        printable(&entities.lock_label(blocked.lock)),
        if is_initialization(blocked.lock) {
            "run"
        } else {
            "held"
        },
        thread(next, entities),
    );
    write_chain(text, blocked.chain, entities);
    let Some((lock, acquired)) = deadlock.held_by(place) else {
        return;
    };
    let label = printable(&entities.lock_label(lock));
    if is_initialization(lock) {
        let _ = writeln!(text, "  runs {label}");
        return;
    }
    let mechanism = deadlock.threads.iter().find(|other| other.lock == lock);
    let place = place_of(acquired, mechanism.map(|other| other.mechanism), entities);
    let _ = writeln!(text, "  holds {label}, {place}");
    write_chain(text, acquired, entities);
}

/// Returns the place where a lock was acquired, as far as known.
fn place_of(
    acquired: ChainIndex,
    mechanism: Option<Mechanism>,
    entities: &Entities,
) -> &'static str {
    match (entities.chain(acquired), mechanism) {
        (Chain::Known { .. }, _) => "for which it had to wait",
        (_, Some(Mechanism::Monitor)) => {
            "which it acquired without waiting, in one of these methods"
        }
        _ => "which it acquired without waiting",
    }
}

fn write_chain(text: &mut String, chain: ChainIndex, entities: &Entities) {
    for frame in entities.frame_labels(chain) {
        let _ = writeln!(text, "    at {}", printable(&frame));
    }
}

fn thread(blocked: &OpenWait, entities: &Entities) -> String {
    words::name(blocked.thread, entities)
}

/// A deadlock, for machines.
#[derive(Serialize)]
pub(crate) struct DeadlockRecord<'a> {
    file: String,
    /// Its duration until the trace ended.
    duration_ns: u64,
    /// Each waits for a lock that the next one holds.
    threads: Vec<DeadlockedRecord<'a>>,
}

#[derive(Serialize)]
struct DeadlockedRecord<'a> {
    thread: ThreadRecord<'a>,
    mechanism: &'static str,
    waits_for: LockRecord<'a>,
    start_ns: u64,
    duration_ns: u64,
    chain: Vec<FrameRecord<'a>>,
    holds: Option<LockRecord<'a>>,
    /// The place where it acquired that lock, if it had to wait for it.
    acquired_chain: Option<Vec<FrameRecord<'a>>>,
}

/// Returns the deadlocks of all traces, for machines.
pub(crate) fn records<'a>(
    summaries: &[TraceSummary],
    entities: &'a Entities,
) -> Vec<DeadlockRecord<'a>> {
    let of_trace = |summary: &TraceSummary| {
        let file = summary.file.path().display().to_string();
        let deadlocks = summary.still_blocked.deadlocks().into_iter();
        let records = deadlocks.map(move |deadlock| DeadlockRecord {
            file: file.clone(),
            duration_ns: deadlock.duration_ns(),
            threads: (0..deadlock.threads.len())
                .map(|place| DeadlockedRecord::new(&deadlock, place, entities))
                .collect(),
        });
        records.collect::<Vec<_>>()
    };
    summaries.iter().flat_map(of_trace).collect()
}

impl<'a> DeadlockedRecord<'a> {
    fn new(deadlock: &Deadlock, place: usize, entities: &'a Entities) -> Self {
        let blocked = &deadlock.threads[place];
        let held = deadlock.held_by(place);
        let acquired = held.map(|(_, acquired)| frames(acquired, entities));
        Self {
            thread: ThreadRecord::new(blocked.thread, entities),
            mechanism: blocked.mechanism.name(),
            waits_for: LockRecord::new(blocked.lock, entities),
            start_ns: blocked.start_ns,
            duration_ns: blocked.duration_ns,
            chain: frames(blocked.chain, entities),
            holds: held.map(|(lock, _)| LockRecord::new(lock, entities)),
            acquired_chain: acquired.filter(|frames| !frames.is_empty()),
        }
    }
}
