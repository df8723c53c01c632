//! What a trace shows of its threads: when they waited, and when they held locks for which others
//! waited.

use std::collections::BTreeMap;

use crate::collections::hash::SeededSet;
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::time_sampling::TimeSampling;
use crate::model::wait::{EndedHolds, Holds, Mechanism, Owner, UnknownOwner, Wait, WaitKind};
use crate::what_if::pool::{Borrowing, Lending, pools};

/// The most waits for locks that are kept; if there are more, those of some slices of the time.
const MAX_WAITS: usize = 1 << 14;

/// The most other waits.
const MAX_PAUSES: usize = 1 << 16;

/// The most holds of which the begin is kept.
const MAX_BEGINS: usize = 1 << 16;

/// The most holds that are kept, before those that several waits have seen are merged.
const MAX_SPANS: usize = 1 << 16;

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
    /// Of the time that is kept.
    pub(super) slice: u64,
}

/// A thread had a lock while others waited for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) lock: LockIndex,
    pub(super) thread: ThreadIndex,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) chain: ChainIndex,
    /// When the wait began that saw it.
    seen_from_ns: u64,
    pub(super) slice: u64,
}

/// A thread waited for something that is no lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) thread: ThreadIndex,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) kind: WaitKind,
    /// Of a wait for a condition that another thread ended.
    lending: Option<Lending>,
    pub(super) slice: u64,
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
    /// What is kept, if there is too much.
    sampling: TimeSampling,
    /// When the first wait began, and when the last one ended, kept or not.
    first_ns: Option<u64>,
    last_ns: u64,
    /// How many waits for locks there were, kept or not, and how long they were while the process ran.
    pub(super) count: u64,
    pub(super) waited_ns: u64,
    /// Has only the waits of some locks: another part may have those of the same threads.
    is_part: bool,
}

impl Observed {
    /// Collects what another thread finds, to be [appended](Self::append).
    pub(super) fn part() -> Self {
        Self {
            is_part: true,
            ..Self::default()
        }
    }

    /// Which share of the time is kept.
    pub(super) fn kept_share(&self) -> f64 {
        self.sampling
            .share(self.first_ns.unwrap_or(0), self.last_ns)
    }

    /// From the begin of the first wait to the end of the last, of all kinds.
    pub(super) fn duration_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns.unwrap_or(0))
    }

    pub(super) fn add_wait(&mut self, wait: &Wait) {
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        self.first_ns = Some(
            self.first_ns
                .map_or(wait.start_ns, |it| it.min(wait.start_ns)),
        );
        self.last_ns = self.last_ns.max(end_ns);
        if wait.kind == WaitKind::Contention {
            self.count += 1;
            let ran_ns = wait.duration_ns.saturating_sub(wait.frozen_ns());
            self.waited_ns = self.waited_ns.saturating_add(ran_ns);
        }
        if !self.sampling.keeps(wait.start_ns) {
            return;
        }
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
                    seen_from_ns: wait.start_ns,
                    slice: 0,
                })
            });
            self.spans.extend(owned);
        } else {
            let is_conditional = wait.kind == WaitKind::Conditional;
            self.pauses.push(Pause {
                thread: wait.thread,
                start_ns: wait.start_ns,
                end_ns,
                kind: wait.kind,
                lending: is_conditional.then(|| Lending::new(wait)).flatten(),
                slice: 0,
            });
        }
        self.keep_within_limits();
    }

    pub(super) fn add_holds(&mut self, ended: EndedHolds) {
        if let (Holds::For { holds: 1, held_ns }, true) =
            (ended.holds, self.sampling.keeps(ended.end_ns))
        {
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
        self.first_ns = match (self.first_ns, other.first_ns) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.last_ns = self.last_ns.max(other.last_ns);
        self.count += other.count;
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
        if self.sampling != other.sampling {
            self.keep_only(other.sampling);
        }
        self.keep_within_limits();
    }

    /// Forgets what began at other times.
    pub(super) fn keep_only(&mut self, kept: TimeSampling) {
        self.sampling.meet(kept);
        self.forget_what_is_not_kept();
    }

    fn add_frozen(&mut self, begin_ns: u64, end_ns: u64) {
        let known_ns = self.frozen.entry(begin_ns).or_default();
        *known_ns = end_ns.max(*known_ns);
    }

    /// What is known of the threads that had locks or waited for them, in the slices that are kept, as if the
    /// clock had stood still while the process did not run.
    pub(super) fn of_contending(&self, entities: &Entities) -> Self {
        let mut of_contending = self.clone();
        of_contending.forget_others();
        of_contending.wait_for_pools(entities);
        of_contending.merge_spans();
        let sampling = of_contending.sampling;
        let Self {
            waits,
            pauses,
            spans,
            begins,
            ..
        } = &mut of_contending;
        let waits = waits.iter_mut();
        let waits = waits.map(|it| (&mut it.start_ns, &mut it.end_ns, &mut it.slice, None));
        let pauses = pauses.iter_mut();
        let pauses = pauses.map(|it| (&mut it.start_ns, &mut it.end_ns, &mut it.slice, None));
        let spans = spans.iter_mut().map(|it| {
            let seen_from_ns = Some(it.seen_from_ns);
            (
                &mut it.start_ns,
                &mut it.end_ns,
                &mut it.slice,
                seen_from_ns,
            )
        });
        let clock = ThawedClock::new(&self.frozen);
        for (start_ns, end_ns, slice, seen_from_ns) in waits.chain(pauses).chain(spans) {
            *slice = sampling.slice(seen_from_ns.unwrap_or(*start_ns));
            (*start_ns, *end_ns) = (clock.at(*start_ns), clock.at(*end_ns));
        }
        if !self.frozen.is_empty() {
            let old = std::mem::take(begins).into_iter();
            let thawed = old.map(|((lock, thread, end_ns), begin_ns)| {
                ((lock, thread, clock.at(end_ns)), clock.at(begin_ns))
            });
            *begins = thawed.collect();
            of_contending.merge_spans();
            of_contending.first_ns = self.first_ns.map(|first_ns| clock.at(first_ns));
            of_contending.last_ns = clock.at(self.last_ns);
        }
        of_contending
    }

    /// Makes waits for a pool waits for a lock that has permits.
    fn wait_for_pools(&mut self, entities: &Entities) {
        let pools = self.pools();
        let is_of_pool = |lending: &Lending| {
            pools.contains(&lending.condition) && lending.is_of_program(entities)
        };
        let lendings = self.pauses.iter().filter_map(|pause| pause.lending);
        let borrowing = Borrowing::new(lendings.filter(is_of_pool), entities);
        let (mut count, mut waited_ns) = (0, 0);
        let (waits, spans) = (&mut self.waits, &mut self.spans);
        self.pauses.retain(|pause| {
            let Some(lending) = pause.lending.filter(is_of_pool) else {
                return true;
            };
            count += 1;
            waited_ns += pause.end_ns - pause.start_ns;
            waits.push(Waited {
                lock: lending.condition,
                thread: pause.thread,
                chain: lending.chain,
                start_ns: pause.start_ns,
                end_ns: pause.end_ns,
                free_ns: pause.end_ns - lending.given_ns.clamp(pause.start_ns, pause.end_ns),
                unexplained_ns: 0,
                has_ended: true,
                mechanism: Mechanism::Park,
                slice: 0,
            });
            // Nothing is known of the time before, and two that are given back one after the other are two.
            let given = borrowing.is_return(&lending, entities).then_some(Span {
                lock: lending.condition,
                thread: lending.giver,
                start_ns: lending.given_ns.saturating_sub(1),
                end_ns: lending.given_ns,
                chain: lending.given_in,
                seen_from_ns: pause.start_ns,
                slice: 0,
            });
            spans.extend(given);
            false
        });
        let kept_share = self.kept_share();
        let scaled = |kept: u64| (kept as f64 / kept_share) as u64;
        self.count += scaled(count);
        self.waited_ns = self.waited_ns.saturating_add(scaled(waited_ns));
        while self.waits.len() > MAX_WAITS && self.halve() {}
    }

    /// Several waits have seen the same hold.
    fn merge_spans(&mut self) {
        self.spans
            .sort_unstable_by_key(|span| (span.lock, span.thread, span.start_ns, span.end_ns));
        let mut merged: Vec<Span> = Vec::with_capacity(self.spans.len() / 2);
        for span in self.spans.drain(..) {
            match merged.last_mut() {
                Some(last)
                    if (last.lock, last.thread) == (span.lock, span.thread)
                        && span.start_ns <= last.end_ns =>
                {
                    last.end_ns = last.end_ns.max(span.end_ns);
                    last.seen_from_ns = last.seen_from_ns.min(span.seen_from_ns);
                    last.slice = last.slice.min(span.slice);
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
        if self.pauses.len() > MAX_PAUSES {
            if !self.is_part {
                self.forget_others();
            }
            // Few are left, or it would have to be done again soon.
            if self.pauses.len() > MAX_PAUSES / 2 && !self.halve() {
                self.pauses.clear();
            }
        }
        if self.begins.len() > MAX_BEGINS {
            self.forget_begins();
        }
        while self.waits.len() > MAX_WAITS || self.merged > MAX_SPANS / 2 {
            if !self.halve() {
                // Nearly all of it was at the same time.
                self.waits.truncate(MAX_WAITS);
                self.spans.clear();
                self.begins.clear();
                self.merged = 0;
            }
        }
    }

    /// Forgets when holds began that no wait has seen, but for the last ones: waits come later.
    fn forget_begins(&mut self) {
        let spans = self.spans.iter();
        let seen: SeededSet<(LockIndex, ThreadIndex, u64)> = spans
            .map(|span| (span.lock, span.thread, span.end_ns))
            .collect();
        let late_ns = self.last_ns - self.last_ns / 4;
        self.begins
            .retain(|hold, _| hold.2 >= late_ns || seen.contains(hold));
        if self.begins.len() > MAX_BEGINS / 2 && !self.halve() {
            self.begins.clear();
        }
    }

    fn halve(&mut self) -> bool {
        let is_possible = self
            .sampling
            .halve(self.first_ns.unwrap_or(0), self.last_ns);
        self.forget_what_is_not_kept();
        is_possible
    }

    fn forget_what_is_not_kept(&mut self) {
        let sampling = self.sampling;
        self.waits.retain(|wait| sampling.keeps(wait.start_ns));
        self.pauses.retain(|pause| sampling.keeps(pause.start_ns));
        self.begins
            .retain(|&(.., end_ns), _| sampling.keeps(end_ns));
        self.spans.retain(|span| sampling.keeps(span.seen_from_ns));
        self.merge_spans();
    }

    fn pools(&self) -> SeededSet<LockIndex> {
        pools(
            self.pauses
                .iter()
                .filter_map(|pause| Some((pause.thread, pause.end_ns, pause.lending?))),
        )
    }

    /// Forgets the pauses of threads that neither had a lock for which others waited, nor waited for one, nor use a pool.
    fn forget_others(&mut self) {
        let pools = self.pools();
        let waiting = self.waits.iter().map(|wait| wait.thread);
        let borrowing = self.pauses.iter().filter(|pause| {
            let lending = pause.lending.as_ref();
            lending.is_some_and(|lending| pools.contains(&lending.condition))
        });
        let contending: SeededSet<ThreadIndex> = waiting
            .chain(self.spans.iter().map(|span| span.thread))
            .chain(borrowing.map(|pause| pause.thread))
            .collect();
        self.pauses
            .retain(|pause| contending.contains(&pause.thread));
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
        slice: 0,
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
