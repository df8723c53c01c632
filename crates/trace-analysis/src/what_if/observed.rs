//! What a trace shows of its threads: when they waited, and when they held locks for which others
//! waited.

use std::collections::BTreeMap;

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::time_range::TimeRange;
use crate::model::wait::{EndedHolds, Holds, Mechanism, Owner, UnknownOwner, Wait, WaitKind};

/// The most waits that are kept; if there are more, those of the first part of the time.
const MAX_WAITS: usize = 1 << 18;

/// The most holds that are kept, before those that several waits have seen are merged.
const MAX_SPANS: usize = 1 << 21;

/// A wait for a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub(super) lock: LockIndex,
    pub(super) thread: ThreadIndex,
    pub(super) chain: ChainIndex,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// From the last release until the thread had the lock.
    pub(super) free_ns: u64,
    /// While nobody knows who had the lock.
    pub(super) unexplained_ns: u64,
    pub(super) has_ended: bool,
    pub(super) mechanism: Mechanism,
}

/// A thread had a lock while others waited for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) lock: LockIndex,
    pub(super) thread: ThreadIndex,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) chain: ChainIndex,
}

/// A thread waited for something that is no lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) thread: ThreadIndex,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) kind: WaitKind,
}

/// Collects them.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    pub(super) waits: Vec<Waited>,
    pub(super) pauses: Vec<Pause>,
    pub(super) spans: Vec<Span>,
    /// How many of the spans are known to be different ones.
    merged: usize,
    /// When holds began, as reported by their releases; by lock, thread, and end.
    pub(super) begins: BTreeMap<(LockIndex, ThreadIndex, u64), u64>,
    /// When the process did not run while threads waited: from when on until when.
    frozen: BTreeMap<u64, u64>,
    /// What is from then on is not kept, if there was too much.
    until_ns: Option<u64>,
}

impl Observed {
    /// The end of the time that is kept, if not all is, in nanoseconds since the trace's start.
    pub(super) fn until_ns(&self) -> Option<u64> {
        self.until_ns
    }

    pub(super) fn add_wait(&mut self, wait: &Wait) {
        let kept = TimeRange {
            from_ns: 0,
            until_ns: self.until_ns.unwrap_or(u64::MAX),
        };
        if !kept.contains(wait.start_ns) {
            return;
        }
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        let frozen = wait.contentions.iter();
        for part in frozen.filter(|part| part.owner == Owner::Frozen) {
            self.add_frozen(part.start_ns, part.start_ns + part.duration_ns);
        }
        if wait.kind == WaitKind::Contention {
            self.waits.push(waited(wait, end_ns));
            let owned = wait.contentions.iter().filter_map(|part| {
                let (thread, chain) = part.owner.thread()?;
                Some(Span {
                    lock: wait.lock,
                    thread,
                    start_ns: part.start_ns,
                    end_ns: part.start_ns.saturating_add(part.duration_ns),
                    chain,
                })
            });
            self.spans.extend(owned);
        } else {
            self.pauses.push(Pause {
                thread: wait.thread,
                start_ns: wait.start_ns,
                end_ns,
                kind: wait.kind,
            });
        }
        self.keep_within_limits();
    }

    pub(super) fn add_holds(&mut self, ended: EndedHolds) {
        let is_kept = self.until_ns.is_none_or(|until_ns| ended.end_ns < until_ns);
        if let (Holds::For { holds: 1, held_ns }, true) = (ended.holds, is_kept) {
            let hold = (ended.lock, ended.thread, ended.end_ns);
            self.begins
                .insert(hold, ended.end_ns.saturating_sub(held_ns));
        }
        self.keep_within_limits();
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.waits.append(&mut other.waits);
        self.pauses.append(&mut other.pauses);
        self.spans.append(&mut other.spans);
        self.begins.append(&mut other.begins);
        for (begin_ns, end_ns) in other.frozen {
            self.add_frozen(begin_ns, end_ns);
        }
        if let Some(until_ns) = other.until_ns {
            self.forget_from(until_ns.min(self.until_ns.unwrap_or(u64::MAX)));
        }
        self.keep_within_limits();
    }

    fn add_frozen(&mut self, begin_ns: u64, end_ns: u64) {
        let known_ns = self.frozen.entry(begin_ns).or_default();
        *known_ns = end_ns.max(*known_ns);
    }

    /// The same as if the clock had stood still while the process did not run; `None` if it always ran.
    pub(super) fn without_frozen(&self) -> Option<Self> {
        if self.frozen.is_empty() {
            return None;
        }
        let clock = ThawedClock::new(&self.frozen);
        let mut thawed = Self {
            frozen: BTreeMap::new(),
            ..self.clone()
        };
        let waits = thawed.waits.iter_mut();
        let waits = waits.map(|wait| (&mut wait.start_ns, &mut wait.end_ns));
        let pauses = thawed.pauses.iter_mut();
        let pauses = pauses.map(|pause| (&mut pause.start_ns, &mut pause.end_ns));
        let spans = thawed.spans.iter_mut();
        let spans = spans.map(|span| (&mut span.start_ns, &mut span.end_ns));
        for (start_ns, end_ns) in waits.chain(pauses).chain(spans) {
            (*start_ns, *end_ns) = (clock.at(*start_ns), clock.at(*end_ns));
        }
        let begins = self.begins.iter();
        let begins = begins.map(|(&(lock, thread, end_ns), &begin_ns)| {
            ((lock, thread, clock.at(end_ns)), clock.at(begin_ns))
        });
        thawed.begins = begins.collect();
        thawed.merge_spans();
        Some(thawed)
    }

    /// Several waits have seen the same hold.
    pub(super) fn merge_spans(&mut self) {
        self.spans
            .sort_unstable_by_key(|span| (span.lock, span.thread, span.start_ns, span.end_ns));
        let mut merged: Vec<Span> = Vec::with_capacity(self.spans.len());
        for span in self.spans.drain(..) {
            match merged.last_mut() {
                Some(last)
                    if (last.lock, last.thread) == (span.lock, span.thread)
                        && span.start_ns <= last.end_ns =>
                {
                    last.end_ns = last.end_ns.max(span.end_ns);
                }
                _ => merged.push(span),
            }
        }
        self.merged = merged.len();
        self.spans = merged;
    }

    fn keep_within_limits(&mut self) {
        if self.spans.len() > MAX_SPANS && self.spans.len() > 2 * self.merged {
            self.merge_spans();
        }
        let is_too_much = self.waits.len() > MAX_WAITS
            || self.pauses.len() > MAX_WAITS
            || self.merged > MAX_SPANS / 2
            || self.begins.len() > MAX_SPANS / 2;
        if is_too_much {
            let of_waits = self.waits.iter().map(|wait| wait.start_ns);
            let of_pauses = self.pauses.iter().map(|pause| pause.start_ns);
            let mut starts: Vec<u64> = of_waits.chain(of_pauses).collect();
            let middle = starts.len() / 2;
            let median_ns = match starts.len() {
                0 => 0,
                _ => *starts.select_nth_unstable(middle).1,
            };
            self.forget_from(median_ns);
        }
    }

    fn forget_from(&mut self, until_ns: u64) {
        self.until_ns = Some(until_ns);
        self.waits.retain(|wait| wait.start_ns < until_ns);
        self.pauses.retain(|pause| pause.start_ns < until_ns);
        self.begins.retain(|&(.., end_ns), _| end_ns < until_ns);
        self.spans.retain(|span| span.start_ns < until_ns);
        self.merge_spans();
    }
}

/// A clock that stands still while the process does not run.
struct ThawedClock {
    /// From when on the process did not run, until when, and how long it had not run before.
    freezes: Vec<(u64, u64, u64)>,
}

impl ThawedClock {
    fn new(frozen: &BTreeMap<u64, u64>) -> Self {
        let mut freezes: Vec<(u64, u64, u64)> = Vec::new();
        for (&begin_ns, &end_ns) in frozen {
            match freezes.last_mut() {
                Some(last) if begin_ns <= last.1 => last.1 = last.1.max(end_ns),
                last => {
                    let before_ns = last.map_or(0, |last| last.2 + last.1 - last.0);
                    freezes.push((begin_ns, end_ns, before_ns));
                }
            }
        }
        Self { freezes }
    }

    /// What it says then.
    fn at(&self, time_ns: u64) -> u64 {
        let begun = (self.freezes).partition_point(|&(begin_ns, ..)| begin_ns < time_ns);
        let last = begun.checked_sub(1).and_then(|last| self.freezes.get(last));
        last.map_or(time_ns, |&(begin_ns, end_ns, before_ns)| {
            time_ns - before_ns - (time_ns.min(end_ns) - begin_ns)
        })
    }
}

fn waited(wait: &Wait, end_ns: u64) -> Waited {
    let (mut free_ns, mut unexplained_ns) = (0, 0);
    let parts = wait.contentions.iter().rev();
    let ran = parts.filter(|part| part.owner != Owner::Frozen);
    for (from_last, part) in ran.enumerate() {
        match part.owner {
            Owner::Free | Owner::Unknown(UnknownOwner::HandOff) if from_last == 0 => {
                free_ns = part.duration_ns;
            }
            Owner::Thread { .. } | Owner::Free | Owner::Frozen => {}
            Owner::Unknown(_) => unexplained_ns += part.duration_ns,
        }
    }
    Waited {
        lock: wait.lock,
        thread: wait.thread,
        chain: wait.chain,
        start_ns: wait.start_ns,
        end_ns,
        free_ns,
        unexplained_ns,
        has_ended: wait.ended(),
        mechanism: wait.mechanism,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stands_still() {
        let clock = ThawedClock::new(&BTreeMap::from([(10, 20), (15, 30), (30, 40), (50, 60)]));
        for (time_ns, says_ns) in [
            (0, 0),
            (10, 10),
            (25, 10),
            (40, 10),
            (45, 15),
            (55, 20),
            (70, 30),
        ] {
            assert_eq!(clock.at(time_ns), says_ns, "{time_ns}");
        }
    }
}
