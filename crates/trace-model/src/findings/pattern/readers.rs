//! Read-write locks.

use super::recognition::{Pattern, owner_or};
use crate::findings::facts::{Facts, ReaderQueue};
use trace_report::human;

pub(super) struct WriterBehindReaders;

impl Pattern for WriterBehindReaders {
    fn name(&self) -> &'static str {
        "writer-behind-readers"
    }

    fn check(&self, facts: &Facts) -> bool {
        !facts.is_conditional
            && (facts.readers.is_some() || facts.of_locks(facts.readers_ns) >= 0.3)
    }

    fn sentence(&self, facts: &Facts) -> String {
        let lock = &facts.lock;
        match &facts.readers {
            Some(ReaderQueue {
                writer,
                reader: Some((reader, threads)),
            }) => format!(
                "{} reads under {lock} for long: {} in {reader} ← {writer} ← {}. A writer waits for \
                 it, and readers queue behind the writer: {}",
                owner_or(facts, "Unknown code"),
                human::plural(*threads, "reader"),
                owner_or(facts, "unknown code"),
                facts.time(),
            ),
            Some(ReaderQueue { writer, .. }) => format!(
                "{} reads under {lock} for long while {writer} waits to write: threads waited {}",
                owner_or(facts, "Unknown code"),
                facts.time(),
            ),
            None => format!(
                "Writers wait behind readers of {lock}: {} while readers held it",
                human::duration(facts.readers_ns.ns())
            ),
        }
    }

    fn remedy(&self) -> &'static str {
        "Read for a shorter time under the lock, publish immutable snapshots instead of locking \
         for reads, or try optimistic reads (StampedLock)."
    }
}
