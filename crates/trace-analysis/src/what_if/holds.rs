//! When threads held locks: put together from what those saw who waited meanwhile.

use std::collections::BTreeMap;

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::what_if::hold::Hold;
use crate::what_if::known_lock::KnownLock;
use crate::what_if::known_thread::{Known, Mark};
use crate::what_if::observed::{Observed, Span};

/// A hold that begins so soon after a wait ended is the one that the thread waited for, if nobody else
/// had the lock in between and the thread did nothing with other locks: who is woken in a queue of
/// `java.util.concurrent` still has to take it.
const SAME_ACQUISITION_NS: u64 = 100_000;

/// The holds of all threads.
pub(super) fn holds_of(
    observed: &Observed,
    threads: &BTreeMap<ThreadIndex, Known>,
    locks: &[KnownLock],
    numbers: &BTreeMap<LockIndex, usize>,
    is_affected: impl Fn(ChainIndex, LockIndex) -> bool,
) -> Vec<(ThreadIndex, Hold)> {
    let seen = Seen::new(observed, threads, locks, numbers);
    let mut acquired = BTreeMap::<(ThreadIndex, usize), Vec<(u64, bool)>>::new();
    for (&thread, known) in threads {
        for &(_, end_ns, mark) in &known.blocks {
            if let Mark::Wait(acquisition) = mark {
                let of_lock = acquired.entry((thread, acquisition.lock)).or_default();
                of_lock.push((end_ns, acquisition.is_affected));
            }
        }
    }
    let mut holds = Vec::new();
    for &key in seen.spans.keys() {
        acquired.entry(key).or_default();
    }
    for ((thread, lock), acquisitions) in acquired {
        let spans = seen.spans.get(&(thread, lock));
        let mut spans = spans
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .peekable();
        let unwaited = |span: &Span| Hold {
            lock,
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            is_affected: is_affected(span.chain, span.lock),
            follows_wait: false,
        };
        for (start_ns, acquired_by_affected) in acquisitions {
            while let Some(before) = spans.next_if(|span| span.end_ns <= start_ns) {
                holds.push((thread, unwaited(before)));
            }
            let others_ns = seen.next_owner_ns(lock, thread, start_ns);
            let latest_ns = start_ns.saturating_add(SAME_ACQUISITION_NS);
            let latest_ns = latest_ns
                .min(others_ns)
                .min(threads[&thread].next_wait_ns(start_ns));
            let own = spans
                .next_if(|span| span.start_ns <= latest_ns && seen.is_idle(thread, start_ns, span));
            let end_ns = own.map_or_else(
                || {
                    // Nobody noticed: it is a hold of usual length, before the next event.
                    let next = seen.next_hold_ns(thread, start_ns);
                    let block_ns = threads[&thread].next_block_ns(start_ns);
                    let usual_ns = start_ns.saturating_add(locks[lock].hold_ns);
                    usual_ns.min(others_ns).min(next).min(block_ns)
                },
                |span| span.end_ns,
            );
            let hold = Hold {
                lock,
                start_ns,
                end_ns,
                is_affected: acquired_by_affected
                    || own.is_some_and(|span| is_affected(span.chain, span.lock)),
                follows_wait: true,
            };
            holds.push((thread, hold));
        }
        holds.extend(spans.map(|span| (thread, unwaited(span))));
    }
    holds
}

/// What those saw who waited.
struct Seen<'o> {
    observed: &'o Observed,
    /// Of each thread and lock, by begin.
    spans: BTreeMap<(ThreadIndex, usize), Vec<Span>>,
    /// Of each lock, who had it from when on, and when another thread had it next.
    owners: Vec<Vec<(u64, ThreadIndex, u64)>>,
    /// When each thread was first seen with any lock, each time.
    begins: Times,
    /// When each thread acquired a lock, where the release reports it.
    acquired: Times,
    /// When each thread released a lock.
    released: Times,
}

impl<'o> Seen<'o> {
    fn new(
        observed: &'o Observed,
        threads: &BTreeMap<ThreadIndex, Known>,
        locks: &[KnownLock],
        numbers: &BTreeMap<LockIndex, usize>,
    ) -> Self {
        let reported_begins = observed.begins.iter();
        let reported_begins =
            reported_begins.map(|(&(_, thread, _), &begin_ns)| (thread, begin_ns));
        let releases = observed.spans.iter();
        let releases = releases.map(|span| (span.thread, span.end_ns));
        let mut seen = Self {
            observed,
            spans: BTreeMap::new(),
            owners: vec![Vec::new(); locks.len()],
            begins: Times::default(),
            acquired: Times::new(reported_begins),
            released: Times::new(releases),
        };
        let waited = threads.iter();
        let waited = waited.map(|(&thread, known)| (thread, known.ends_of_waits()));
        let waited = Times(waited.collect());
        let mut by_begin: Vec<Span> = observed.spans.clone();
        by_begin.sort_unstable_by_key(|span| (span.lock, span.start_ns, span.end_ns));
        // When the lock was released before.
        let mut released = None;
        let mut begins = Vec::with_capacity(by_begin.len());
        for mut span in by_begin {
            let free_ns = match released {
                Some((lock, end_ns)) if lock == span.lock => end_ns,
                _ => 0,
            };
            released = Some((span.lock, span.end_ns));
            let lock = numbers[&span.lock];
            let begin_ns = match seen.reported_begin_ns(&span) {
                Some(begin_ns) => begin_ns,
                // It began before anybody waited, who knows when: it is as long as others, but
                // began after the thread had waited for something else, or released another lock:
                // else it would begin in that hold and end after it, which holds that nest do not.
                None => {
                    let usual_ns = span.end_ns.saturating_sub(locks[lock].hold_ns);
                    let awake_ns = waited.last_until(span.thread, span.start_ns);
                    let released_ns = seen.released.last_until(span.thread, span.start_ns);
                    usual_ns.max(awake_ns).max(released_ns)
                }
            };
            span.start_ns = span.start_ns.min(begin_ns.max(free_ns));
            seen.owners[lock].push((span.start_ns, span.thread, u64::MAX));
            begins.push((span.thread, span.start_ns));
            let spans = seen.spans.entry((span.thread, lock)).or_default();
            spans.push(span);
        }
        seen.begins = Times::new(begins.into_iter());
        for owners in &mut seen.owners {
            owners.sort_unstable();
            let mut later: Option<(u64, ThreadIndex, u64)> = None;
            for (since_ns, thread, others_ns) in owners.iter_mut().rev() {
                if let Some((later_ns, owner, next_ns)) = later {
                    *others_ns = if owner == *thread { next_ns } else { later_ns };
                }
                later = Some((*since_ns, *thread, *others_ns));
            }
        }
        seen
    }

    /// When a thread is seen with a lock next, whichever it is.
    fn next_hold_ns(&self, thread: ThreadIndex, from_ns: u64) -> u64 {
        self.begins.next_from(thread, from_ns)
    }

    /// Returns when a hold began, if its release reports it.
    fn reported_begin_ns(&self, span: &Span) -> Option<u64> {
        let hold = (span.lock, span.thread, span.end_ns);
        self.observed.begins.get(&hold).copied()
    }

    /// Whether a thread may have done nothing with locks from the end of a wait until a hold begins:
    /// who still has to take the lock that it was woken for neither takes nor releases any other.
    fn is_idle(&self, thread: ThreadIndex, woken_ns: u64, hold: &Span) -> bool {
        let after_ns = woken_ns.saturating_add(1);
        let released_ns = self.released.next_from(thread, after_ns);
        // An estimated begin may be too late, after the begin of a nested hold.
        let acquired_ns = match self.reported_begin_ns(hold) {
            Some(_) => self.acquired.next_from(thread, after_ns),
            None => u64::MAX,
        };
        hold.start_ns <= released_ns.min(acquired_ns)
    }

    /// When another thread had the lock next.
    fn next_owner_ns(&self, lock: usize, thread: ThreadIndex, from_ns: u64) -> u64 {
        let owners = &self.owners[lock];
        let next = owners.partition_point(|&(since_ns, ..)| since_ns < from_ns);
        match owners.get(next) {
            Some(&(_, owner, others_ns)) if owner == thread => others_ns,
            Some(&(since_ns, ..)) => since_ns,
            None => u64::MAX,
        }
    }
}

/// Times of each thread, in order.
#[derive(Default)]
struct Times(BTreeMap<ThreadIndex, Vec<u64>>);

impl Times {
    fn new(times: impl Iterator<Item = (ThreadIndex, u64)>) -> Self {
        let mut by_thread = BTreeMap::<ThreadIndex, Vec<u64>>::new();
        for (thread, time_ns) in times {
            by_thread.entry(thread).or_default().push(time_ns);
        }
        for times in by_thread.values_mut() {
            times.sort_unstable();
        }
        Self(by_thread)
    }

    fn of(&self, thread: ThreadIndex) -> &[u64] {
        self.0.get(&thread).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first time from then on, or never.
    fn next_from(&self, thread: ThreadIndex, from_ns: u64) -> u64 {
        let times = self.of(thread);
        let next = times.partition_point(|&time_ns| time_ns < from_ns);
        times.get(next).copied().unwrap_or(u64::MAX)
    }

    /// The last time until then, or the trace's start.
    fn last_until(&self, thread: ThreadIndex, until_ns: u64) -> u64 {
        let times = self.of(thread);
        let after = times.partition_point(|&time_ns| time_ns <= until_ns);
        after.checked_sub(1).map_or(0, |last| times[last])
    }
}
