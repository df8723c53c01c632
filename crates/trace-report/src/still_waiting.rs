//! The threads that still waited when a trace ended.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;
use trace_analysis::{Entities, OpenWait, TraceSummary, Value, WaitKind};

use crate::facts;
use crate::human::{self, plural};
use crate::name::printable;

/// The most places that a line has.
const LISTED: usize = 2;

/// The threads that still waited when the traces ended.
#[derive(Serialize)]
pub(crate) struct StillWaitingRecord {
    threads: u64,
    duration_ns: u64,
    max_wait_ns: u64,
}

impl StillWaitingRecord {
    /// Returns those that waited for a lock.
    pub(crate) fn for_locks(summaries: &[TraceSummary]) -> Self {
        let still_blocked = summaries.iter().map(|summary| &summary.still_blocked);
        Self::new(still_blocked.flat_map(|still_blocked| still_blocked.threads()))
    }

    /// Returns those that waited for another thread to do something, without idle workers.
    pub(crate) fn for_others(summaries: &[TraceSummary], entities: &Entities) -> Self {
        Self::new(waiting_for_others(summaries, entities))
    }

    fn new<'w>(waits: impl Iterator<Item = &'w OpenWait>) -> Self {
        let mut record = Self {
            threads: 0,
            duration_ns: 0,
            max_wait_ns: 0,
        };
        for wait in waits {
            record.threads += 1;
            record.duration_ns = record.duration_ns.saturating_add(wait.duration_ns);
            record.max_wait_ns = record.max_wait_ns.max(wait.duration_ns);
        }
        record
    }
}

/// Returns the threads that waited for another thread when their traces ended, without idle workers.
fn waiting_for_others<'w>(
    summaries: &'w [TraceSummary],
    entities: &Entities,
) -> impl Iterator<Item = &'w OpenWait> {
    let others = (summaries.iter()).flat_map(|summary| summary.still_blocked.others());
    others.filter(|wait| wait.kind == WaitKind::Conditional && !entities.is_worker_loop(wait.chain))
}

/// Adds how many threads still waited when the traces ended, or wait now, for people.
pub fn write(text: &mut String, summaries: &[TraceSummary], entities: &Entities) {
    let goes_on = matches!(summaries, [summary] if summary.goes_on);
    let name = if goes_on { "Now" } else { "At the end" };
    let for_locks = StillWaitingRecord::for_locks(summaries);
    if for_locks.threads > 0 {
        let blocked = match (goes_on, for_locks.threads) {
            (true, 1) => "is blocked, by now",
            (true, _) => "are blocked, by now",
            (false, 1) => "was still blocked when the trace ended,",
            (false, _) => "were still blocked when the trace ended,",
        };
        facts::add(text, name, &for_locks.sentence(blocked));
    }
    let for_others = StillWaitingRecord::for_others(summaries, entities);
    if for_others.threads > 0 {
        let waiting = match (goes_on, for_others.threads) {
            (true, 1) => "waits for another thread, by now",
            (true, _) => "wait for another thread, by now",
            (false, 1) => "was still waiting for another thread when the trace ended,",
            (false, _) => "were still waiting for another thread when the trace ended,",
        };
        let mut sentence = for_others.sentence(waiting);
        sentence += ": ";
        sentence += &places(waiting_for_others(summaries, entities), entities);
        facts::add(text, name, &sentence);
    }
}

impl StillWaitingRecord {
    fn sentence(&self, what: &str) -> String {
        format!(
            "{} {what} for up to {}, {} in all",
            plural(self.threads, "thread"),
            human::duration(self.max_wait_ns),
            human::duration(self.duration_ns),
        )
    }
}

/// Returns where threads wait for what, the longest first.
fn places<'w>(waits: impl Iterator<Item = &'w OpenWait>, entities: &Entities) -> String {
    let mut places: HashMap<(String, String), u64> = HashMap::new();
    for wait in waits {
        let class = entities.lock_class(wait.lock);
        let frame = entities.frames_from_code(wait.chain, class).first();
        let method = frame.map_or(Value::Chain(wait.chain), |frame| {
            Value::Method(frame.method)
        });
        let class = class.map_or_else(
            || entities.lock_label(wait.lock),
            |class| entities.class_name(class).to_owned(),
        );
        let sum_ns = places.entry((method.name(entities), class)).or_default();
        *sum_ns = wait.duration_ns.saturating_add(*sum_ns);
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by(|(one, one_ns), (other, other_ns)| {
        (Reverse(one_ns), one).cmp(&(Reverse(other_ns), other))
    });
    let more = places.len().saturating_sub(LISTED);
    let listed = places.iter().take(LISTED).map(|((method, class), sum_ns)| {
        let (method, class) = (printable(method), printable(class));
        format!("{} in {method} for {class}", human::duration(*sum_ns))
    });
    let mut text = listed.collect::<Vec<_>>().join("; ");
    if more > 0 {
        text += &format!("; {}", plural(more as u64, "more place"));
    }
    text
}
