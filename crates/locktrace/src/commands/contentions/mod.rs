//! `locktrace contentions`: one record per blamed interval, or a table of the longest waits.

pub(crate) mod arguments;
mod longest_waits;

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use serde_json::value::RawValue;
use trace_analysis::{
    ChainIndex, Contention, Detail, Entities, Owner, ParkTimeout, TraceInput, Wait,
};
use trace_report::record::{LockRecord, ThreadRecord, chain_text, frames};

use crate::commands::contentions::arguments::{ContentionsArguments, ContentionsFormat};
use crate::commands::contentions::longest_waits::LongestWaits;
use crate::outcome::{self, Outcome};
use crate::{input, output, problem};

pub(crate) fn run(arguments: &ContentionsArguments) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let select = |trace: &TraceInput| arguments.waits.selection(trace);
    let analyzed = match arguments.format {
        ContentionsFormat::Table => {
            let mut longest = LongestWaits::new(arguments.top as usize);
            let analyzed = input::analyze(traces, Detail::OWNERS, select, |wait, _| {
                longest.add(wait);
                Ok(())
            })?;
            let width = output::terminal_width();
            output::print(&longest.text(&analyzed.summaries, &analyzed.entities, width))?;
            analyzed
        }
        ContentionsFormat::Jsonl => {
            let mut out = output::machine();
            let mut chains = ChainCache::new(chain_json);
            let analyzed =
                input::analyze(traces, Detail::CONTENTIONS, select, |wait, entities| {
                    if out.get_ref().is_closed() {
                        return Ok(());
                    }
                    wait.contentions.iter().try_for_each(|contention| {
                        let owner_chain = known_owner_chain(contention, entities);
                        let is_truncated = |chain| entities.chain(chain).is_truncated();
                        let record = JsonRecord {
                            record: Record::new(wait, contention, entities),
                            chain: chains.text(wait.chain, entities),
                            chain_truncated: is_truncated(wait.chain),
                            owner_chain: owner_chain.map(|chain| chains.text(chain, entities)),
                            owner_chain_truncated: owner_chain.is_some_and(is_truncated),
                        };
                        serde_json::to_writer(&mut out, &record)?;
                        out.write_all(b"\n")
                    })
                })?;
            out.flush()?;
            analyzed
        }
        ContentionsFormat::Csv => {
            let mut out = csv::Writer::from_writer(output::machine());
            let mut chains = ChainCache::new(chain_text);
            out.write_record(CSV_COLUMNS).map_err(output::csv_error)?;
            let analyzed =
                input::analyze(traces, Detail::CONTENTIONS, select, |wait, entities| {
                    if out.get_ref().get_ref().is_closed() {
                        return Ok(());
                    }
                    wait.contentions.iter().try_for_each(|contention| {
                        let record = Record::new(wait, contention, entities);
                        let owner_chain = known_owner_chain(contention, entities);
                        let fields = record.csv_fields(
                            chains.text(wait.chain, entities),
                            owner_chain.map(|chain| chains.text(chain, entities)),
                        );
                        out.write_record(fields).map_err(output::csv_error)
                    })
                })?;
            out.flush()?;
            analyzed
        }
    };
    Ok(problem::complain(&analyzed.summaries))
}

/// A contention without the call chains.
#[derive(Serialize)]
struct Record<'a> {
    mechanism: &'static str,
    #[serde(flatten)]
    lock: LockRecord<'a>,
    kind: &'static str,
    /// The lock was re-acquired after `Object.wait` or `Condition.await`.
    after_wait: bool,
    /// The wait was over when the trace ended.
    ended: bool,
    /// How the wait ended.
    end: &'static str,
    /// How long the thread would have waited at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ns: Option<u64>,
    /// Until when it would have waited, by the wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_unix_ms: Option<u64>,
    /// The thread waited already when the trace began.
    #[serde(skip_serializing_if = "is_false")]
    begun_before_trace: bool,
    thread: ThreadRecord<'a>,
    owner: Option<ThreadRecord<'a>>,
    /// Nobody held the lock.
    free: bool,
    /// Why no owner is known; `frozen` if the process did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_reason: Option<&'static str>,
    start_ns: u64,
    duration_ns: u64,
    wait_id: String,
    /// How often a thread that did not wait acquired the lock during the wait.
    barging_holds: u64,
}

#[derive(Serialize)]
struct JsonRecord<'a> {
    #[serde(flatten)]
    record: Record<'a>,
    chain: Box<RawValue>,
    /// Outer frames are missing.
    #[serde(skip_serializing_if = "is_false")]
    chain_truncated: bool,
    owner_chain: Option<Box<RawValue>>,
    /// Outer frames are missing.
    #[serde(skip_serializing_if = "is_false")]
    owner_chain_truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

const CSV_COLUMNS: [&str; 22] = [
    "mechanism",
    "lock_class",
    "lock_id",
    "mirrored_class",
    "kind",
    "after_wait",
    "ended",
    "thread_id",
    "thread_name",
    "owner_id",
    "owner_name",
    "free",
    "unknown_reason",
    "start_ns",
    "duration_ns",
    "wait_id",
    "barging_holds",
    "end",
    "timeout_ns",
    "deadline_unix_ms",
    "chain",
    "owner_chain",
];

impl<'a> Record<'a> {
    fn new(wait: &Wait, contention: &Contention, entities: &'a Entities) -> Self {
        let (owner, unknown_reason) = match contention.owner {
            Owner::Thread { thread, .. } => (Some(ThreadRecord::new(thread, entities)), None),
            Owner::Free => (None, None),
            Owner::Frozen => (None, Some("frozen")),
            Owner::Unknown(reason) => (None, Some(reason.name())),
        };
        let (timeout_ns, deadline_unix_ms) = match wait.timeout {
            ParkTimeout::None => (None, None),
            ParkTimeout::After(timeout_ns) => (Some(timeout_ns), None),
            ParkTimeout::At(deadline_ms) => (None, Some(deadline_ms)),
        };
        Self {
            mechanism: wait.mechanism.name(),
            lock: LockRecord::new(wait.lock, entities),
            kind: wait.kind.name(),
            after_wait: wait.after_wait,
            ended: wait.ended(),
            end: wait.end.name(),
            timeout_ns,
            deadline_unix_ms,
            begun_before_trace: wait.begun_before(),
            thread: ThreadRecord::new(wait.thread, entities),
            owner,
            free: contention.owner == Owner::Free,
            unknown_reason,
            start_ns: contention.start_ns,
            duration_ns: contention.duration_ns,
            wait_id: wait.id.to_string(),
            barging_holds: wait.barging_holds,
        }
    }

    /// The values of [`CSV_COLUMNS`]; empty where a value is missing.
    fn csv_fields(&self, chain: String, owner_chain: Option<String>) -> [String; 22] {
        [
            self.mechanism.to_owned(),
            self.lock.lock_class.clone(),
            self.lock.lock_id.clone(),
            self.lock.mirrored_class.unwrap_or_default().to_owned(),
            self.kind.to_owned(),
            self.after_wait.to_string(),
            self.ended.to_string(),
            self.thread.id.to_string(),
            self.thread.name.to_owned(),
            self.owner
                .as_ref()
                .map(|owner| owner.id.to_string())
                .unwrap_or_default(),
            self.owner
                .as_ref()
                .map(|owner| owner.name.to_owned())
                .unwrap_or_default(),
            self.free.to_string(),
            self.unknown_reason.unwrap_or_default().to_owned(),
            self.start_ns.to_string(),
            self.duration_ns.to_string(),
            self.wait_id.clone(),
            self.barging_holds.to_string(),
            self.end.to_owned(),
            number_or_empty(self.timeout_ns),
            number_or_empty(self.deadline_unix_ms),
            chain,
            owner_chain.unwrap_or_default(),
        ]
    }
}

fn number_or_empty(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// The owner's call chain; `None` without an owner or if its chain is not known.
fn known_owner_chain(contention: &Contention, entities: &Entities) -> Option<ChainIndex> {
    match contention.owner {
        Owner::Thread { chain, .. } => {
            Some(chain).filter(|&chain| !entities.chain(chain).frames().is_empty())
        }
        Owner::Free | Owner::Frozen | Owner::Unknown(_) => None,
    }
}

/// Texts of call chains: the same few come again and again.
struct ChainCache<T> {
    texts: HashMap<ChainIndex, T>,
    make: fn(ChainIndex, &Entities) -> T,
}

impl<T: Clone> ChainCache<T> {
    const MAX_CHAINS: usize = 4096;

    fn new(make: fn(ChainIndex, &Entities) -> T) -> Self {
        Self {
            texts: HashMap::new(),
            make,
        }
    }

    fn text(&mut self, chain: ChainIndex, entities: &Entities) -> T {
        if self.texts.len() == Self::MAX_CHAINS && !self.texts.contains_key(&chain) {
            self.texts.clear();
        }
        let text = self
            .texts
            .entry(chain)
            .or_insert_with(|| (self.make)(chain, entities));
        text.clone()
    }
}

fn chain_json(chain: ChainIndex, entities: &Entities) -> Box<RawValue> {
    serde_json::value::to_raw_value(&frames(chain, entities)).expect("text and numbers")
}
