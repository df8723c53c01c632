//! The longest waits, one by one, with those who made them last.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anstyle::Style;
use trace_analysis::{Blame, ChainIndex, Entities, Owner, TraceSummary, Value, Wait, WaitId};
use trace_report::style::BOLD;
use trace_report::{deadlocks, facts, hangs, still_waiting};

use crate::text::human::{self, plural};
use crate::text::labelled_table;

/// The owners of a wait that are shown one by one.
const OWNERS: usize = 3;

/// The longest waits of all that were passed on. How many is the only limit of their memory, so
/// there is one.
#[derive(Debug)]
pub(crate) struct LongestWaits {
    /// By their duration, the longest first.
    waits: BTreeMap<(Reverse<u64>, WaitId), Wait>,
    max: usize,
    /// How many there were in all, and how long.
    all: u64,
    all_ns: u64,
}

impl LongestWaits {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            waits: BTreeMap::new(),
            max,
            all: 0,
            all_ns: 0,
        }
    }

    pub(crate) fn add(&mut self, wait: &Wait) {
        self.all += 1;
        self.all_ns = self.all_ns.saturating_add(wait.duration_ns);
        let rank = (Reverse(wait.duration_ns), wait.id);
        let last = self.waits.last_key_value();
        let is_too_short = last.is_some_and(|(&last, _)| rank > last);
        if self.waits.len() >= self.max && is_too_short {
            return;
        }
        self.waits.insert(rank, wait.clone());
        if self.waits.len() > self.max {
            self.waits.pop_last();
        }
    }

    /// A table of them.
    pub(crate) fn text(
        &self,
        summaries: &[TraceSummary],
        entities: &Entities,
        width: Option<usize>,
    ) -> String {
        let mut text = String::new();
        deadlocks::write(&mut text, summaries, entities);
        hangs::write(&mut text, summaries, entities);
        for summary in summaries {
            facts::add_trace(&mut text, summary);
        }
        let shown_ns = self.waits.values().map(|wait| wait.duration_ns);
        let all = format!(
            "{} in {}; the longest of them, {} in all",
            human::duration(self.all_ns),
            plural(self.all, "wait"),
            human::duration(shown_ns.fold(0, u64::saturating_add)),
        );
        facts::add(&mut text, "Blocked", &all);
        still_waiting::write(&mut text, summaries, entities);
        if !self.waits.is_empty() {
            text.push('\n');
            let rows: Vec<_> = self
                .waits
                .values()
                .flat_map(|it| rows(it, entities))
                .collect();
            let titles = ["Begin", "Blocked"];
            labelled_table::add(
                &mut text,
                &titles,
                "who waited where, and who held the lock",
                &rows,
                width,
            );
        }
        text
    }
}

/// The wait, and below it its owners.
fn rows(wait: &Wait, entities: &Entities) -> Vec<labelled_table::Row> {
    let mut blame = wait.blame.clone();
    // Waits of one duration come in an order that does not depend on the order of processing.
    blame.sort_by_cached_key(|part| (Reverse(part.duration_ns), owner(part.owner, entities)));
    let (shown, others) = blame.split_at(OWNERS.min(blame.len()));
    let mut parts: Vec<_> = shown
        .iter()
        .map(|part| (part.duration_ns, owner(part.owner, entities)))
        .collect();
    match others {
        [] => {}
        [only] => parts.push((only.duration_ns, owner(only.owner, entities))),
        others => {
            let duration_ns = others.iter().map(|part: &Blame| part.duration_ns).sum();
            parts.push((duration_ns, format!("and {} more", others.len())));
        }
    }
    let still = if wait.ended() {
        ""
    } else {
        ", still when the trace ends"
    };
    let row = |start: String, duration: String, label: String, style: Style| labelled_table::Row {
        numbers: vec![start, duration],
        label,
        style,
    };
    let mut rows = vec![
        row(
            human::duration(wait.start_ns),
            human::duration(wait.duration_ns),
            format!(
                "{} waits for {}",
                entities.thread_long_label(wait.thread),
                entities.lock_label(wait.lock),
            ),
            BOLD,
        ),
        row(
            String::new(),
            String::new(),
            format!("in {}{still}", code(wait.chain, entities)),
            Style::new(),
        ),
    ];
    let last = parts.len().saturating_sub(1);
    for (at, (duration_ns, owner)) in parts.into_iter().enumerate() {
        let branch = if at == last { "└─" } else { "├─" };
        rows.push(row(
            String::new(),
            human::duration(duration_ns),
            format!("{branch} {owner}"),
            Style::new(),
        ));
    }
    rows
}

fn owner(owner: Owner, entities: &Entities) -> String {
    match owner {
        Owner::Thread { thread, chain } => format!(
            "{} in {}",
            entities.thread_long_label(thread),
            code(chain, entities)
        ),
        Owner::Free => Value::Free.name(entities),
        Owner::Frozen => Value::Frozen.name(entities),
        Owner::Unknown(reason) => Value::UnknownOwner(reason).name(entities),
    }
}

/// Returns the innermost frame, or why it is missing.
fn code(chain: ChainIndex, entities: &Entities) -> String {
    match entities.chain(chain).frames() {
        [innermost, ..] => entities.frame_label(innermost),
        [] => entities.chain_label(chain, 0),
    }
}
