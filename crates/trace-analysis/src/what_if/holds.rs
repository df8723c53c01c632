//! When threads held locks: put together from what those saw who waited meanwhile.

use std::collections::BTreeMap;

use crate::collections::hash::SeededMap;
use crate::model::entity::{ChainIndex, LockIndex};
use crate::what_if::hold::Hold;
use crate::what_if::hold_code::{HoldCode, HoldCodes};
use crate::what_if::known_lock::{KnownLock, Sharing};
use crate::what_if::known_thread::Known;

/// A hold that begins so soon after a wait ended is the one that the thread waited for, if nobody else
/// had the lock in between and the thread did nothing with other locks: who is woken in a queue of
/// `java.util.concurrent` still has to take it.
const SAME_ACQUISITION_NS: u64 = 100_000;

/// From how many holds on it is no chance that none of them was seen.
const MANY: u64 = 8;

/// The share of the time with which as many had a lock at once for some time.
const SOME_TIME: f64 = 0.01;

/// A thread had a lock while others waited for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenHold {
    /// The number of the thread.
    pub(super) thread: usize,
    /// The number of the lock.
    pub(super) lock: usize,
    /// The lock itself.
    pub(super) index: LockIndex,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// Where it released the lock.
    pub(super) chain: ChainIndex,
    /// The thread only read.
    pub(super) is_shared: bool,
    /// When it acquired the lock, if the release reports that.
    pub(super) acquired_ns: Option<u64>,
}

impl SeenHold {
    fn reader(&self) -> (usize, usize, ChainIndex) {
        (self.thread, self.lock, self.chain)
    }

    fn unwaited(&self, codes: &mut HoldCodes) -> Hold {
        Hold {
            thread: self.thread,
            lock: self.lock,
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            code: codes.add(HoldCode {
                lock: self.index,
                acquired_in: None,
                released_in: Some(self.chain),
            }),
            is_shared: self.is_shared,
            follows_wait: false,
        }
    }
}

/// A thread got a lock that it had waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquired {
    pub(super) index: LockIndex,
    pub(super) time_ns: u64,
    /// Where it waited.
    pub(super) chain: ChainIndex,
    /// It only reads.
    pub(super) is_shared: bool,
}

/// How long a thread has a lock that only reads: its release is seen only if it is the last one for which a writer
/// waits, and its acquisition only if it has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// Only as long as it was seen with it.
    Short,
    /// As long as the longest that was seen of the thread and the code; of waits whose hold was not seen to end, as
    /// others of the code.
    AsSeen,
    /// As long as the trace allows.
    Long,
}

/// The locks that threads got, by thread and lock, in order.
pub(super) type AllAcquired = BTreeMap<(usize, usize), Vec<Acquired>>;

/// The holds of all threads. Sets how long holds of readers usually are.
pub(super) fn holds_of(
    seen: Vec<SeenHold>,
    mut acquired: AllAcquired,
    threads: &[Known],
    locks: &mut [KnownLock],
    codes: &mut HoldCodes,
    reads: Reads,
) -> Vec<Hold> {
    let seen = Seen::new(seen, threads, locks, reads);
    for &key in seen.holds.keys() {
        acquired.entry(key).or_default();
    }
    let mut holds = Vec::new();
    // With the latest end, of those whose end nobody saw.
    let mut unseen = Vec::new();
    for ((thread, lock), acquired) in acquired {
        let known = &locks[lock];
        let spans = seen.holds.get(&(thread, lock));
        let spans = spans.map(Vec::as_slice).unwrap_or_default();
        let mut spans = spans.iter().peekable();
        for Acquired {
            index,
            time_ns,
            chain,
            is_shared,
        } in acquired
        {
            while let Some(before) = spans.next_if(|span| span.end_ns <= time_ns) {
                holds.push(before.unwaited(codes));
            }
            let others_ns = match known.sharing {
                Sharing::Permits => u64::MAX,
                _ => seen.next_owner_ns(lock, is_shared, thread, time_ns),
            };
            let excluded_ns = others_ns.min(threads[thread].next_wait_ns(time_ns));
            let is_same = |span: &SeenHold| {
                // Of several that have a permit, only the next one to give it back is seen, whatever else it did.
                known.sharing == Sharing::Permits
                    || seen.is_idle(thread, time_ns, span)
                        && match span.is_shared {
                            // Seen since a writer waits, however long it was before.
                            true => span.end_ns - time_ns <= seen.longest_read_ns(span, reads),
                            false => span.start_ns <= time_ns.saturating_add(SAME_ACQUISITION_NS),
                        }
            };
            let own = spans.next_if(|span| span.start_ns <= excluded_ns && is_same(span));
            let hold = Hold {
                thread,
                lock,
                start_ns: time_ns,
                end_ns: own.map_or(time_ns, |span| span.end_ns),
                code: codes.add(HoldCode {
                    lock: index,
                    acquired_in: Some(chain),
                    released_in: own.map(|span| span.chain),
                }),
                is_shared,
                follows_wait: true,
            };
            match own {
                Some(_) => holds.push(hold),
                None => {
                    let next_ns = seen.next_hold_ns(thread, time_ns);
                    let latest_ns = match known.sharing {
                        // It may do anything else meanwhile.
                        Sharing::Permits => threads[thread].next_wait_for_ns(lock, time_ns),
                        // A thread may sleep while it has a lock, if its holds are known to be that long.
                        _ if known.has_timed_holds && !is_shared => others_ns
                            .min(next_ns)
                            .min(threads[thread].next_wait_ns(time_ns)),
                        _ => others_ns
                            .min(next_ns)
                            .min(threads[thread].next_block_ns(time_ns)),
                    };
                    unseen.push((hold, latest_ns));
                }
            }
        }
        holds.extend(spans.map(|span| span.unwaited(codes)));
    }
    set_usual_holds(locks, &holds);
    for of_user in holds.chunk_by_mut(|a, b| (a.thread, a.lock) == (b.thread, b.lock)) {
        let lock = &locks[of_user[0].lock];
        if lock.sharing == Sharing::Permits {
            begin_earlier(of_user, lock.hold_ns);
        }
    }
    let usual = Usual::new(&holds, &unseen, codes, locks);
    // Those are of usual length, before the next event.
    holds.extend(unseen.into_iter().map(|(mut hold, latest_ns)| {
        let usual_ns = match reads {
            Reads::Short if hold.is_shared => 0,
            Reads::Long if hold.is_shared => {
                let last = threads[hold.thread].blocks.last();
                last.map_or(0, |&(_, end_ns, _)| end_ns - hold.start_ns)
            }
            _ => usual.of(&hold, codes, &locks[hold.lock]),
        };
        hold.end_ns = hold.start_ns.saturating_add(usual_ns).min(latest_ns);
        hold
    }));
    holds
}

/// Of a permit that a thread got at once it is only seen that it was given back: that was held as long as others, but not
/// before the thread gave one back.
fn begin_earlier(holds: &mut [Hold], usual_ns: u64) {
    let mut before_ns = 0;
    for hold in holds {
        if !hold.follows_wait {
            let usual_ns = hold.end_ns.saturating_sub(usual_ns);
            hold.start_ns = usual_ns.max(before_ns).min(hold.start_ns);
        }
        before_ns = hold.end_ns;
    }
}

/// Sets how long holds usually are that report nothing when they end, those of readers and of permits: as
/// long as those are whose begin and end were seen.
fn set_usual_holds(locks: &mut [KnownLock], holds: &[Hold]) {
    let mut sums = vec![(0, 0); locks.len()];
    for hold in holds.iter().filter(|hold| hold.follows_wait) {
        if hold.is_shared || locks[hold.lock].sharing == Sharing::Permits {
            let (sum_ns, count) = &mut sums[hold.lock];
            *sum_ns += hold.end_ns - hold.start_ns;
            *count += 1;
        }
    }
    for (lock, (sum_ns, count)) in locks.iter_mut().zip(sums) {
        let mean_ns = sum_ns / u64::max(count, 1);
        match lock.sharing {
            Sharing::Readers => lock.shared_hold_ns = mean_ns,
            Sharing::Permits => lock.hold_ns = mean_ns,
            Sharing::Exclusive => {}
        }
    }
}

/// How long readers usually have a lock, or threads a permit, by the code that waited for it.
struct Usual {
    /// The sum of those that were seen to end, how many these are, and how many were not.
    seen: SeededMap<(usize, Option<ChainIndex>), (u64, u64, u64)>,
}

impl Usual {
    fn new(seen: &[Hold], unseen: &[(Hold, u64)], codes: &HoldCodes, locks: &[KnownLock]) -> Self {
        let is_shared =
            |hold: &Hold| hold.is_shared || locks[hold.lock].sharing == Sharing::Permits;
        let mut sums = SeededMap::<_, (u64, u64, u64)>::default();
        for hold in seen.iter().filter(|it| is_shared(it) && it.follows_wait) {
            let sums = sums.entry(acquiring(hold, codes)).or_default();
            sums.0 += hold.end_ns - hold.start_ns;
            sums.1 += 1;
        }
        for (hold, _) in unseen.iter().filter(|(it, _)| is_shared(it)) {
            sums.entry(acquiring(hold, codes)).or_default().2 += 1;
        }
        Self { seen: sums }
    }

    /// If of many holds of a reader none was seen to end while a writer waited, they are short.
    fn of(&self, hold: &Hold, codes: &HoldCodes, lock: &KnownLock) -> u64 {
        match (self.seen.get(&acquiring(hold, codes)), hold.is_shared) {
            (Some(&(sum_ns, seen @ 1.., _)), _) => sum_ns / seen,
            (Some(&(_, _, MANY..)), true) => 0,
            (_, true) => lock.shared_hold_ns,
            (_, false) => lock.hold_ns,
        }
    }
}

/// The lock of a hold, and the code that waited for it.
fn acquiring(hold: &Hold, codes: &HoldCodes) -> (usize, Option<ChainIndex>) {
    (hold.lock, codes.get(hold.code).acquired_in)
}

/// How many threads had each lock at once that has permits, as far as they waited for it and were seen when
/// they gave it back.
pub(super) fn count_permits(locks: &mut [KnownLock], holds: &[Hold], codes: &HoldCodes) {
    let mut changes: Vec<(usize, u64, i64)> = Vec::new();
    for hold in holds {
        let is_known = hold.follows_wait && codes.get(hold.code).released_in.is_some();
        if is_known && locks[hold.lock].sharing == Sharing::Permits {
            changes.extend([(hold.lock, hold.start_ns, 1), (hold.lock, hold.end_ns, -1)]);
        }
    }
    changes.sort_unstable();
    for of_lock in changes.chunk_by(|a, b| a.0 == b.0) {
        let permits = &mut locks[of_lock[0].0].permits;
        *permits = most_at_once(of_lock).max(*permits);
    }
}

/// How many had a lock at once for some time: who is woken for a permit that another thread has taken meanwhile looks as
/// if it had one, too, until it waits again.
fn most_at_once(changes: &[(usize, u64, i64)]) -> u64 {
    // For how long as many had it.
    let mut times_ns: Vec<u64> = Vec::new();
    let mut had = 0;
    for pair in changes.windows(2) {
        had += pair[0].2;
        let count = usize::try_from(had).unwrap_or(0);
        if times_ns.len() <= count {
            times_ns.resize(count + 1, 0);
        }
        times_ns[count] += pair[1].1 - pair[0].1;
    }
    let some_ns = times_ns.iter().skip(1).sum::<u64>() as f64 * SOME_TIME;
    let mut at_least_ns = 0;
    let mut counts = times_ns.iter().enumerate().rev();
    let most = counts.find(|&(_, &time_ns)| {
        at_least_ns += time_ns;
        at_least_ns as f64 > some_ns
    });
    most.map_or(0, |(count, _)| count as u64)
}

/// Who had a lock from when on.
#[derive(Clone, Copy, Debug)]
struct OwnedFrom {
    since_ns: u64,
    thread: usize,
    /// When another thread had it next; another that does not only read.
    others_ns: u64,
    others_written_ns: u64,
    is_shared: bool,
}

/// What those saw who waited.
struct Seen {
    /// Of each thread and lock, by begin.
    holds: BTreeMap<(usize, usize), Vec<SeenHold>>,
    /// Of each lock, by begin.
    owners: Vec<Vec<OwnedFrom>>,
    /// When each thread was first seen with any lock, each time.
    begins: Times,
    /// When each thread acquired a lock, where the release reports it.
    acquired: Times,
    /// When each thread released a lock.
    released: Times,
    /// For how long each thread was seen with each lock to read in the same code, at most.
    longest_reads: SeededMap<(usize, usize, ChainIndex), u64>,
}

impl Seen {
    fn new(
        mut by_begin: Vec<SeenHold>,
        threads: &[Known],
        locks: &[KnownLock],
        reads: Reads,
    ) -> Self {
        let acquired = by_begin.iter();
        let acquired = acquired.filter_map(|hold| Some((hold.thread, hold.acquired_ns?)));
        let acquired = Times::new(threads.len(), acquired);
        let released = by_begin.iter().map(|hold| (hold.thread, hold.end_ns));
        let mut seen = Self {
            holds: BTreeMap::new(),
            owners: vec![Vec::new(); locks.len()],
            begins: Times::default(),
            acquired,
            released: Times::new(threads.len(), released),
            longest_reads: longest_reads(&by_begin),
        };
        let waited = threads.iter().map(Known::ends_of_waits);
        let waited = Times(waited.collect());
        by_begin.sort_unstable_by_key(|hold| (hold.lock, hold.start_ns, hold.end_ns));
        // When the lock was released before, by anybody, and by one that did not only read.
        let (mut before, mut released_ns, mut written_ns) = (None, 0, 0);
        let mut begins = Vec::with_capacity(by_begin.len());
        for mut hold in by_begin {
            if before != Some(hold.lock) {
                (before, released_ns, written_ns) = (Some(hold.lock), 0, 0);
            }
            let lock = &locks[hold.lock];
            let free_ns = match (lock.sharing, hold.is_shared) {
                (Sharing::Permits, _) => 0,
                (_, true) => written_ns,
                (_, false) => released_ns,
            };
            released_ns = hold.end_ns;
            if !hold.is_shared {
                written_ns = hold.end_ns;
            }
            // It may have begun before anybody waited, who knows when: it is as long as others, but
            // began after the thread had waited for something else, or released another lock:
            // else it would begin in that hold and end after it, which holds that nest do not.
            let begin_ns = hold.acquired_ns.unwrap_or_else(|| {
                let usual_ns = match hold.is_shared {
                    true => seen.longest_read_ns(&hold, reads),
                    false => lock.hold_ns,
                };
                let usual_ns = hold.end_ns.saturating_sub(usual_ns);
                let awake_ns = waited.last_until(hold.thread, hold.start_ns);
                let released_ns = seen.released.last_until(hold.thread, hold.start_ns);
                usual_ns.max(awake_ns).max(released_ns)
            });
            let seen_ns = threads[hold.thread].had_acquired_ns(hold.start_ns, hold.end_ns);
            hold.start_ns = seen_ns.min(begin_ns.max(free_ns));
            seen.owners[hold.lock].push(OwnedFrom {
                since_ns: hold.start_ns,
                thread: hold.thread,
                others_ns: u64::MAX,
                others_written_ns: u64::MAX,
                is_shared: hold.is_shared,
            });
            begins.push((hold.thread, hold.start_ns));
            let holds = seen.holds.entry((hold.thread, hold.lock)).or_default();
            holds.push(hold);
        }
        seen.begins = Times::new(threads.len(), begins.into_iter());
        seen.owners
            .iter_mut()
            .for_each(|owners| find_next_owners(owners));
        seen
    }

    /// For how long a thread has a lock at most, for all that is known, when it only reads in the same code.
    fn longest_read_ns(&self, hold: &SeenHold, reads: Reads) -> u64 {
        let seen_ns = self.longest_reads.get(&hold.reader());
        match reads {
            Reads::Short => 0,
            Reads::AsSeen => seen_ns.copied().unwrap_or(0),
            Reads::Long => u64::MAX,
        }
    }

    /// When a thread is seen with a lock next, whichever it is.
    fn next_hold_ns(&self, thread: usize, from_ns: u64) -> u64 {
        self.begins.next_from(thread, from_ns)
    }

    /// Whether a thread may have done nothing with locks from the end of a wait until a hold begins:
    /// who still has to take the lock that it was woken for neither takes nor releases any other.
    fn is_idle(&self, thread: usize, woken_ns: u64, hold: &SeenHold) -> bool {
        let after_ns = woken_ns.saturating_add(1);
        let released_ns = self.released.next_from(thread, after_ns);
        // An estimated begin may be too late, after the begin of a nested hold.
        let acquired_ns = match hold.acquired_ns {
            Some(_) => self.acquired.next_from(thread, after_ns),
            None => u64::MAX,
        };
        hold.start_ns <= released_ns.min(acquired_ns)
    }

    /// When another thread had the lock next that excludes this one, which only reads or does not.
    fn next_owner_ns(&self, lock: usize, is_shared: bool, thread: usize, from_ns: u64) -> u64 {
        let owners = &self.owners[lock];
        let next = owners.partition_point(|owner| owner.since_ns < from_ns);
        let Some(next) = owners.get(next) else {
            return u64::MAX;
        };
        let excludes = next.thread != thread && !(is_shared && next.is_shared);
        match is_shared {
            _ if excludes => next.since_ns,
            true => next.others_written_ns,
            false => next.others_ns,
        }
    }
}

/// For how long each thread was seen with each lock to read, at most, by where it released it. That is from when a writer
/// began to wait: the hold began before, so others of the thread and the code are about as long.
fn longest_reads(seen: &[SeenHold]) -> SeededMap<(usize, usize, ChainIndex), u64> {
    let mut longest = SeededMap::default();
    for hold in seen.iter().filter(|hold| hold.is_shared) {
        let longest_ns = longest.entry(hold.reader()).or_insert(0);
        *longest_ns = (hold.end_ns - hold.start_ns).max(*longest_ns);
    }
    longest
}

/// Finds when another thread than each owner had the lock next.
fn find_next_owners(owners: &mut [OwnedFrom]) {
    owners.sort_unstable_by_key(|owner| (owner.since_ns, owner.thread));
    let mut later: Option<OwnedFrom> = None;
    for owner in owners.iter_mut().rev() {
        if let Some(later) = later {
            let is_other = later.thread != owner.thread;
            owner.others_ns = match is_other {
                true => later.since_ns,
                false => later.others_ns,
            };
            owner.others_written_ns = match is_other && !later.is_shared {
                true => later.since_ns,
                false => later.others_written_ns,
            };
        }
        later = Some(*owner);
    }
}

/// Times of each thread, in order.
#[derive(Default)]
struct Times(Vec<Vec<u64>>);

impl Times {
    fn new(threads: usize, times: impl Iterator<Item = (usize, u64)>) -> Self {
        let mut by_thread = vec![Vec::new(); threads];
        for (thread, time_ns) in times {
            by_thread[thread].push(time_ns);
        }
        for times in &mut by_thread {
            times.sort_unstable();
        }
        Self(by_thread)
    }

    /// The first time from then on, or never.
    fn next_from(&self, thread: usize, from_ns: u64) -> u64 {
        let times = &self.0[thread];
        let next = times.partition_point(|&time_ns| time_ns < from_ns);
        times.get(next).copied().unwrap_or(u64::MAX)
    }

    /// The last time until then, or the trace's start.
    fn last_until(&self, thread: usize, until_ns: u64) -> u64 {
        let times = &self.0[thread];
        let after = times.partition_point(|&time_ns| time_ns <= until_ns);
        after.checked_sub(1).map_or(0, |last| times[last])
    }
}
