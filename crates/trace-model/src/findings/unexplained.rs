//! Threads of whose time the trace says little.
//!
//! A trace has waits for locks, for other threads by way of `java.util.concurrent`, and parks. A thread that
//! runs, sleeps, reads, or waits in `Object.wait` does nothing that is recorded.

use std::collections::BTreeMap;

use serde::Serialize;
use trace_analysis::{Entities, ThreadLife};
use trace_format::JavaThreadId;

use super::evidence::Evidence;
use crate::sum::Sum;

/// The share of a thread's time that is recorded, from which on it is explained.
const EXPLAINED: f64 = 0.5;
/// The least time of a group of threads that is worth a line, as a share of the run.
const MIN_SHARE: f64 = 0.1;
/// The most groups listed.
const LISTED: usize = 3;

/// Threads with one name but for numbers, most of whose time is in no recorded wait.
#[derive(Clone, Debug, Serialize)]
pub struct UnexplainedThreads {
    /// Their name, with `*` in place of numbers.
    pub name: String,
    /// How many there were.
    pub threads: u64,
    /// How long they lived, all together, in nanoseconds.
    pub lived_ns: Sum,
    /// How much of that they waited, as recorded.
    pub waited_ns: Sum,
}

impl UnexplainedThreads {
    /// Returns the share of their time that is not explained, 0 to 1.
    pub fn share(&self) -> f64 {
        1.0 - self.waited_ns.of(self.lived_ns)
    }
}

/// Returns the groups of threads of whose time most is not explained, the most of it first. `end_ns` is when
/// the trace of these lives ended.
pub(crate) fn unexplained(
    evidence: &Evidence,
    lives: &[ThreadLife],
    end_ns: u64,
    entities: &Entities,
) -> Vec<UnexplainedThreads> {
    let mut groups = BTreeMap::<String, UnexplainedThreads>::new();
    if !evidence.knows_all_threads() {
        return Vec::new();
    }
    for life in lives {
        let thread = entities.thread(life.thread);
        if is_of_jvm(thread.java_id, &thread.name) {
            continue;
        }
        let name = without_numbers(&thread.name);
        let group = groups
            .entry(name.clone())
            .or_insert_with(|| UnexplainedThreads {
                name,
                threads: 0,
                lived_ns: Sum::default(),
                waited_ns: Sum::default(),
            });
        let lived_ns = life.end_ns.unwrap_or(end_ns).saturating_sub(life.start_ns);
        group.threads += 1;
        group.lived_ns.add(lived_ns);
        group
            .waited_ns
            .add(evidence.waited_ns(life.thread).min(lived_ns));
    }
    let is_listed = |group: &UnexplainedThreads| {
        group.waited_ns.of(group.lived_ns) < EXPLAINED
            && group.lived_ns.ns() as f64 >= MIN_SHARE * end_ns as f64
    };
    let mut groups: Vec<_> = groups.into_values().filter(is_listed).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.lived_ns.without(group.waited_ns)));
    groups.truncate(LISTED);
    groups
}

/// Returns whether a thread is not the program's: one of the JVM, or `main`, which mostly waits for the others
/// to end.
fn is_of_jvm(java_id: JavaThreadId, name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "main",
        "DestroyJavaVM",
        "Reference Handler",
        "Finalizer",
        "Signal Dispatcher",
        "Attach Listener",
        "Service Thread",
        "Common-Cleaner",
        "Notification Thread",
        "Monitor Deflation Thread",
    ];
    let is_compiler = name.contains("CompilerThread") || name.starts_with("Sweeper");
    java_id == JavaThreadId::NONE || is_compiler || NAMES.contains(&name)
}

fn without_numbers(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        match character.is_ascii_digit() {
            false => text.push(character),
            true if text.ends_with('*') => {}
            true => text.push('*'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_matter() {
        assert_eq!(without_numbers("web-12-exec-3"), "web-*-exec-*");
        assert_eq!(without_numbers("main"), "main");
    }
}
