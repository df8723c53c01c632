//! Locks that were not released any more, as far as a trace shows it: `docs/design/waits-without-end.md`
//! has the criteria, and why they are sound.

use trace_format::ParkTimeout;

use crate::aggregate::still_blocked::deadlock;
use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{Entities, LockIndex, ThreadIndex};
use crate::model::wait::{Mechanism, OpenWait, Resource, WaitKind};

/// Threads that wait for something that does not come, or does not seem to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// What it is.
    pub verdict: Verdict,
    /// The threads that wait for the lock itself; at least one. That which began to wait first before the
    /// others.
    pub waiting: Vec<OpenWait>,
    /// Threads that wait for a lock that one of these has, or one of those, and so on.
    pub behind: Vec<OpenWait>,
    /// What the thread that has the lock waits for itself, if it does.
    pub holder_wait: Option<OpenWait>,
}

/// What keeps threads waiting, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The thread that has the lock has ended, or is a worker that waits for its next task.
    NeverReleased,
    /// The thread that has the lock waits itself for another thread to do something, without a time limit:
    /// a deadlock if that is one of those that wait. So does one that was in `Object.wait`.
    PossibleDeadlock,
    /// Nobody has released a permit for long.
    NoPermit,
    /// The lock has not been released for long.
    StillHeld,
    /// Others get the lock, this thread does not.
    Starved,
}

impl Verdict {
    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeverReleased => "never-released",
            Self::PossibleDeadlock => "possible-deadlock",
            Self::NoPermit => "no-permit-released",
            Self::StillHeld => "still-held",
            Self::Starved => "starved",
        }
    }
}

/// Shorter waits at the end of a trace are no hang, unless the owner has ended.
const MIN_NS: u64 = 1_000_000_000;
/// How much longer than before it has to be.
const TIMES: u64 = 10;
/// How often a lock has to be released while a thread starves.
const MIN_RELEASES: u64 = 10;

impl Hang {
    /// Returns the first thread that waits.
    pub fn first(&self) -> &OpenWait {
        &self.waiting[0]
    }

    /// Returns the time since the lock was released last, or threads wait for it, in nanoseconds.
    pub fn stalled_ns(&self) -> u64 {
        let stalled = self.waiting.iter().map(stalled_ns);
        stalled.max().unwrap_or(0)
    }

    /// Returns all threads that wait: those for the lock itself first.
    pub fn threads(&self) -> impl Iterator<Item = &OpenWait> {
        self.waiting.iter().chain(&self.behind)
    }
}

/// What a chain of owners ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Root {
    /// A thread that has a lock and does not wait for one.
    Thread(ThreadIndex),
    /// A lock, of which it is not known who has it.
    Lock(LockIndex),
}

/// The threads whose chain ends with one root.
#[derive(Debug, Default)]
struct Group {
    waiting: Vec<OpenWait>,
    behind: Vec<OpenWait>,
}

/// Returns the hangs among threads that wait for locks and others, the surest first. Deadlocks are not among
/// them.
pub(super) fn find(for_locks: &[OpenWait], others: &[OpenWait], entities: &Entities) -> Vec<Hang> {
    let waits_otherwise: SeededMap<ThreadIndex, &OpenWait> =
        others.iter().map(|wait| (wait.thread, wait)).collect();
    let mut hangs = Vec::new();
    for (root, group) in groups(for_locks, others) {
        let Group {
            mut waiting,
            mut behind,
        } = group;
        for waits in [&mut waiting, &mut behind] {
            waits.sort_unstable_by_key(|wait| (wait.start_ns, wait.id));
        }
        let holder_wait = match root {
            Root::Thread(thread) => waits_otherwise.get(&thread).map(|&&wait| wait),
            Root::Lock(_) => None,
        };
        let chain = Chain {
            root,
            waiting: &waiting,
            behind: &behind,
            holder_wait: holder_wait.as_ref(),
        };
        match chain.verdict(entities) {
            Some(verdict) => hangs.push(Hang {
                verdict,
                waiting,
                behind,
                holder_wait,
            }),
            None => hangs.extend(waiting.into_iter().filter(is_starved).map(|wait| Hang {
                verdict: Verdict::Starved,
                waiting: vec![wait],
                behind: Vec::new(),
                holder_wait: None,
            })),
        }
    }
    hangs.sort_by_key(|hang| {
        let first = hang.first();
        (hang.verdict, first.start_ns, first.id)
    });
    hangs
}

/// Returns the waits for locks and permits by the end of their chain of owners, but for deadlocks.
fn groups(for_locks: &[OpenWait], others: &[OpenWait]) -> SeededMap<Root, Group> {
    let deadlocks = deadlock::find(for_locks).into_iter();
    let in_deadlocks: SeededSet<ThreadIndex> = deadlocks
        .flat_map(|deadlock| deadlock.threads.into_iter().chain(deadlock.behind))
        .map(|wait| wait.thread)
        .collect();
    let for_permits = others.iter();
    let for_permits = for_permits.filter(|wait| wait.resource == Resource::Permit);
    let waits = for_locks
        .iter()
        .chain(for_permits)
        .filter(|wait| !in_deadlocks.contains(&wait.thread));
    let by_thread: SeededMap<ThreadIndex, &OpenWait> =
        waits.clone().map(|wait| (wait.thread, wait)).collect();
    let mut roots: SeededMap<ThreadIndex, Root> = SeededMap::default();
    let mut groups: SeededMap<Root, Group> = SeededMap::default();
    for &wait in waits {
        let root = root_of(&wait, &by_thread, &mut roots);
        let is_direct = match (root, wait.holder) {
            (Root::Thread(thread), Some((holder, _))) => holder == thread,
            (Root::Lock(lock), None) => wait.lock == lock,
            _ => false,
        };
        let group = groups.entry(root).or_default();
        let of_group = match is_direct {
            true => &mut group.waiting,
            false => &mut group.behind,
        };
        of_group.push(wait);
    }
    // A damaged trace may have a thread wait twice.
    groups.retain(|_, group| !group.waiting.is_empty());
    groups
}

/// Returns what the chain of owners of a wait ends with, and notes it for all waits of the chain.
fn root_of(
    wait: &OpenWait,
    by_thread: &SeededMap<ThreadIndex, &OpenWait>,
    roots: &mut SeededMap<ThreadIndex, Root>,
) -> Root {
    let (mut path, mut last) = (Vec::new(), wait);
    let root = loop {
        if let Some(&root) = roots.get(&last.thread) {
            break root;
        }
        path.push(last.thread);
        let Some((holder, _)) = last.holder else {
            break Root::Lock(last.lock);
        };
        match by_thread.get(&holder) {
            // All cycles are deadlocks, unless a thread waits twice, as a damaged trace may have it.
            Some(next) if path.len() <= by_thread.len() => last = next,
            _ => break Root::Thread(holder),
        }
    };
    roots.extend(path.into_iter().map(|thread| (thread, root)));
    root
}

/// Threads that wait, and what their chain of owners ends with.
struct Chain<'w> {
    root: Root,
    waiting: &'w [OpenWait],
    behind: &'w [OpenWait],
    holder_wait: Option<&'w OpenWait>,
}

impl Chain<'_> {
    /// Returns what keeps the threads waiting, if that is more than that the trace has ended.
    fn verdict(&self, entities: &Entities) -> Option<Verdict> {
        let first = self.waiting.first()?;
        let is_parked = first.mechanism == Mechanism::Park;
        match self.root {
            // A thread that ends releases its monitors.
            Root::Thread(_) if first.holder_facts.ended_ns.is_some() && is_parked => {
                Some(Verdict::NeverReleased)
            }
            _ if !self.waiting.iter().any(is_stalled) => None,
            Root::Thread(_) => Some(match self.holder_wait {
                Some(wait) if wait.kind == WaitKind::Idle && is_parked => Verdict::NeverReleased,
                Some(wait) if is_without_limit(wait) => Verdict::PossibleDeadlock,
                None if was_in_object_wait(first, entities) => Verdict::PossibleDeadlock,
                _ => Verdict::StillHeld,
            }),
            Root::Lock(_) => match first.resource {
                Resource::Permit => Some(Verdict::NoPermit),
                // One that waits for unknown readers has another lock.
                Resource::ReadWriteLock { .. } | Resource::StampedLock { .. }
                    if !self.behind.is_empty() =>
                {
                    Some(Verdict::PossibleDeadlock)
                }
                Resource::ReadWriteLock { .. } | Resource::StampedLock { .. } | Resource::Lock => {
                    Some(Verdict::StillHeld)
                }
                Resource::Event => None,
            },
        }
    }
}

/// Returns whether the thread that has the lock was in `Object.wait` when it was sampled last, shortly
/// before the end. That writes no event.
fn was_in_object_wait(wait: &OpenWait, entities: &Entities) -> bool {
    let Some((time_ns, chain)) = wait.holder_facts.seen else {
        return false;
    };
    let until_ns = wait.start_ns.saturating_add(wait.duration_ns);
    let is_recent = until_ns.saturating_sub(time_ns) <= stalled_ns(wait) / TIMES;
    let innermost = entities.chain(chain).frames().first();
    is_recent && innermost.is_some_and(|frame| entities.is_object_wait(frame))
}

fn is_without_limit(wait: &OpenWait) -> bool {
    matches!(wait.kind, WaitKind::Conditional | WaitKind::Join) && wait.timeout == ParkTimeout::None
}

/// Returns the time since the lock was released last, or the thread waits for it.
fn stalled_ns(wait: &OpenWait) -> u64 {
    let until_ns = wait.start_ns.saturating_add(wait.duration_ns);
    let since_ns = wait.turnover.released_ns.unwrap_or(0).max(wait.start_ns);
    until_ns.saturating_sub(since_ns)
}

/// Returns whether the lock has not been released for far longer than before.
fn is_stalled(wait: &OpenWait) -> bool {
    let stalled_ns = stalled_ns(wait);
    stalled_ns >= MIN_NS && stalled_ns >= wait.turnover.longest_hold_ns.saturating_mul(TIMES)
}

/// Returns whether the lock is passed on all the time, but not to this thread.
fn is_starved(wait: &OpenWait) -> bool {
    wait.duration_ns >= MIN_NS
        && wait.releases >= MIN_RELEASES
        && wait.duration_ns >= wait.turnover.longest_wait_ns.saturating_mul(TIMES)
        && stalled_ns(wait) <= wait.duration_ns / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entity::ChainIndex;
    use crate::model::wait::{HolderFacts, Turnover, WaitId};

    const SECOND: u64 = 1_000_000_000;

    /// A thread that waits for a lock, for this many tenths of a second until the end.
    fn wait(thread: u32, lock: u32, tenths: u64, holder: Option<u32>) -> OpenWait {
        let duration_ns = tenths * SECOND / 10;
        OpenWait {
            id: WaitId {
                number: thread.into(),
                ..WaitId::default()
            },
            thread: ThreadIndex(thread),
            lock: LockIndex(lock),
            start_ns: 100 * SECOND - duration_ns,
            duration_ns,
            holder: holder.map(|holder| (ThreadIndex(holder), ChainIndex::NOT_RELEASED)),
            ..OpenWait::blank()
        }
    }

    /// The same for something else, of this kind.
    fn other(thread: u32, tenths: u64, kind: WaitKind) -> OpenWait {
        OpenWait {
            kind,
            resource: Resource::Event,
            ..wait(thread, 90, tenths, None)
        }
    }

    fn held_before(wait: OpenWait, longest_hold_ns: u64) -> OpenWait {
        let turnover = Turnover {
            longest_hold_ns,
            ..wait.turnover
        };
        OpenWait { turnover, ..wait }
    }

    fn with_ended_holder(wait: OpenWait) -> OpenWait {
        let holder_facts = HolderFacts {
            ended_ns: Some(1),
            seen: None,
        };
        OpenWait {
            holder_facts,
            ..wait
        }
    }

    fn of_readers(wait: OpenWait, shared: bool) -> OpenWait {
        let resource = Resource::ReadWriteLock { shared };
        OpenWait { resource, ..wait }
    }

    /// The verdicts with the threads that wait for the lock itself, and those behind them.
    fn hangs(waits: &[OpenWait]) -> Vec<(Verdict, Vec<u32>, Vec<u32>)> {
        let is_for_lock = |wait: &OpenWait| wait.kind == WaitKind::Contention;
        let (for_locks, others): (Vec<_>, Vec<_>) =
            waits.iter().partition(|wait| is_for_lock(wait));
        let hangs = find(&for_locks, &others, &Entities::new()).into_iter();
        let threads = |waits: &[OpenWait]| waits.iter().map(|wait| wait.thread.0).collect();
        let hangs = hangs.map(|hang| (hang.verdict, threads(&hang.waiting), threads(&hang.behind)));
        hangs.collect()
    }

    fn verdict(waits: &[OpenWait]) -> Option<Verdict> {
        let hangs = hangs(waits);
        assert!(hangs.len() <= 1, "{hangs:?}");
        hangs.first().map(|&(verdict, ..)| verdict)
    }

    #[test]
    fn a_trace_that_ends_while_threads_wait_is_no_hang() {
        assert_eq!(verdict(&[wait(1, 1, 9, Some(5))]), None);
        assert_eq!(verdict(&[wait(1, 1, 9, None)]), None);
        let released = |wait: OpenWait| {
            let turnover = Turnover {
                released_ns: Some(99 * SECOND + 1),
                ..wait.turnover
            };
            OpenWait { turnover, ..wait }
        };
        assert_eq!(verdict(&[released(wait(1, 1, 50, Some(5)))]), None);
    }

    #[test]
    fn a_lock_is_still_held_if_that_takes_ten_times_as_long_as_before() {
        let long = wait(1, 1, 20, Some(5));
        assert_eq!(verdict(&[long]), Some(Verdict::StillHeld));
        let before = held_before(long, SECOND / 5);
        assert_eq!(verdict(&[before]), Some(Verdict::StillHeld));
        assert_eq!(verdict(&[held_before(long, SECOND / 5 + 1)]), None);
        let unknown = wait(1, 1, 20, None);
        assert_eq!(verdict(&[unknown]), Some(Verdict::StillHeld));
        let readers = of_readers(unknown, false);
        assert_eq!(verdict(&[readers]), Some(Verdict::StillHeld));
        let resource = Resource::StampedLock { shared: true };
        let stamped = OpenWait {
            resource,
            ..unknown
        };
        assert_eq!(verdict(&[stamped]), Some(Verdict::StillHeld));
    }

    #[test]
    fn an_owner_that_has_ended_never_releases_but_a_monitor() {
        let short = with_ended_holder(wait(1, 1, 1, Some(5)));
        assert_eq!(verdict(&[short]), Some(Verdict::NeverReleased));
        let mechanism = Mechanism::Monitor;
        assert_eq!(verdict(&[OpenWait { mechanism, ..short }]), None);
    }

    #[test]
    fn what_the_owner_waits_for_decides() {
        let waits = |own| [wait(1, 1, 20, Some(5)), own];
        let of = |own| verdict(&waits(own));
        let conditional = other(5, 30, WaitKind::Conditional);
        assert_eq!(of(conditional), Some(Verdict::PossibleDeadlock));
        let timeout = ParkTimeout::After(9 * SECOND);
        let limited = OpenWait {
            timeout,
            ..conditional
        };
        assert_eq!(of(limited), Some(Verdict::StillHeld));
        let idle = other(5, 30, WaitKind::Idle);
        assert_eq!(of(idle), Some(Verdict::NeverReleased));
        let sleep = other(5, 30, WaitKind::Sleep);
        assert_eq!(of(sleep), Some(Verdict::StillHeld));
        // Waits of others say nothing.
        let others = other(6, 30, WaitKind::Conditional);
        assert_eq!(of(others), Some(Verdict::StillHeld));
        assert_eq!(verdict(&[others, idle]), None);
    }

    #[test]
    fn threads_wait_for_the_end_of_their_chain() {
        let waits = [
            wait(1, 1, 5, Some(2)),
            with_ended_holder(wait(2, 2, 20, Some(3))),
            wait(4, 3, 7, Some(1)),
            with_ended_holder(wait(6, 2, 30, Some(3))),
        ];
        let expected = (Verdict::NeverReleased, vec![6, 2], vec![4, 1]);
        assert_eq!(hangs(&waits), [expected]);
    }

    #[test]
    fn a_deadlock_is_no_other_hang_nor_are_those_behind_it() {
        let waits = [
            wait(1, 1, 20, Some(2)),
            wait(2, 2, 20, Some(1)),
            wait(3, 3, 20, Some(1)),
        ];
        assert_eq!(hangs(&waits), []);
    }

    #[test]
    fn who_waits_for_readers_may_wait_for_those_behind() {
        let waits = [
            of_readers(wait(1, 1, 20, None), false),
            wait(2, 2, 20, Some(1)),
        ];
        let expected = (Verdict::PossibleDeadlock, vec![1], vec![2]);
        assert_eq!(hangs(&waits), [expected]);
    }

    #[test]
    fn permits_do_not_come_back() {
        let for_permit = |kind| OpenWait {
            resource: Resource::Permit,
            kind,
            ..held_before(wait(1, 1, 20, None), SECOND / 10)
        };
        for kind in [WaitKind::Contention, WaitKind::Conditional] {
            assert_eq!(verdict(&[for_permit(kind)]), Some(Verdict::NoPermit));
        }
    }

    #[test]
    fn a_thread_starves_while_the_lock_is_passed_on() {
        let starved = OpenWait {
            releases: 10,
            turnover: Turnover {
                released_ns: Some(99 * SECOND + SECOND / 2),
                longest_wait_ns: SECOND / 10,
                ..Turnover::default()
            },
            ..wait(1, 1, 11, Some(5))
        };
        assert_eq!(verdict(&[starved]), Some(Verdict::Starved));
        let few = OpenWait {
            releases: 9,
            ..starved
        };
        assert_eq!(verdict(&[few]), None);
        let turnover = Turnover {
            longest_wait_ns: SECOND / 5,
            ..starved.turnover
        };
        assert_eq!(
            verdict(&[OpenWait {
                turnover,
                ..starved
            }]),
            None
        );
    }
}
