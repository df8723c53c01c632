//! What was waited for lately, and since tracing began, in bounded memory.
//!
//! Time is divided into slots. Each has the sums over what was waited for in it, to the
//! nanosecond, so that those over the last seconds are exact, too.

use std::collections::{HashMap, VecDeque};

use trace_analysis::{Aspect, ChainIndex, Entities, MethodTable, OpenWait, Value, Wait, WaitEnd};

use crate::top::snapshot::{WaitSums, Window};

/// What the rows of a table are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group {
    pub(super) lock_class: Value,
    pub(super) owner: Owner,
}

/// Who had the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    /// What stands for the owner in reports.
    Known(Value),
    /// The wait is not over: when it is, the trace tells who had the lock.
    StillToCome,
}

/// The code of a group that waited, and the code that held the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) group: Group,
    pub(super) method: Value,
    pub(super) chain: ChainIndex,
    pub(super) owner_chain: Option<ChainIndex>,
}

/// Length of a slot in nanoseconds.
const SLOT_NS: u64 = 250_000_000;
/// The slots that are kept: those of the longest window, and of waits that come late.
const SLOTS: u64 = 5 * 60;
/// The groups, and the pairs, that are kept of a slot.
const MAX_OF_SLOT: usize = 1 << 11;
/// The same of all time.
const MAX_OF_ALL: usize = 1 << 14;

/// Sums over waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// A wait counts once.
    pub(super) total: WaitSums,
    /// A wait counts once for each owner.
    pub(super) groups: HashMap<Group, WaitSums>,
    /// Of groups for which there was no room.
    pub(super) rest: WaitSums,
    /// How long each pair waited, as far as there was room.
    pub(super) pairs: HashMap<Pair, u64>,
}

impl Tally {
    fn add_time(&mut self, pair: Pair, duration_ns: u64, max: usize) {
        let sums = WaitSums {
            blocked_ns: duration_ns,
            ..WaitSums::default()
        };
        self.total.add(sums);
        self.add_group(pair.group, sums, max);
        self.add_pair(pair, duration_ns, max);
    }

    fn add_group(&mut self, group: Group, sums: WaitSums, max: usize) {
        if let Some(known) = self.groups.get_mut(&group) {
            known.add(sums);
        } else if self.groups.len() < max {
            self.groups.insert(group, sums);
        } else {
            self.rest.add(sums);
        }
    }

    fn add_pair(&mut self, pair: Pair, duration_ns: u64, max: usize) {
        if let Some(known_ns) = self.pairs.get_mut(&pair) {
            *known_ns = known_ns.saturating_add(duration_ns);
        } else if self.pairs.len() < max {
            self.pairs.insert(pair, duration_ns);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.total.add(other.total);
        self.rest.add(other.rest);
        for (&group, &sums) in &other.groups {
            self.add_group(group, sums, MAX_OF_ALL);
        }
        for (&pair, &duration_ns) in &other.pairs {
            self.add_pair(pair, duration_ns, MAX_OF_ALL);
        }
    }
}

/// Takes waits, and has sums over those of the last seconds.
#[derive(Default)]
pub(super) struct Recent {
    methods: MethodTable,
    all: Tally,
    slots: VecDeque<Tally>,
    /// The number of the first slot kept.
    first: u64,
    /// What each group had of the wait at hand, and until when; kept to reuse its memory.
    shares: HashMap<Group, (u64, u64)>,
}

impl Recent {
    /// Takes a wait with its contentions.
    pub(super) fn add(&mut self, wait: &Wait, entities: &Entities) {
        let mut shares = std::mem::take(&mut self.shares);
        let wait_end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        let mut add = |owner, start_ns, duration_ns: u64, end_ns: u64| {
            let pair = self.pair(wait, owner, entities);
            self.add_time(pair, start_ns, duration_ns);
            let (sum_ns, last_ns) = shares.entry(pair.group).or_default();
            *sum_ns = duration_ns.saturating_add(*sum_ns);
            *last_ns = end_ns.max(*last_ns);
        };
        if wait.start_ns / SLOT_NS == wait_end_ns / SLOT_NS {
            // The owners are in this slot, whichever had the lock when: there can be thousands of
            // contentions, but few owners.
            for blame in &wait.blame {
                add(blame.owner, wait.start_ns, blame.duration_ns, wait_end_ns);
            }
        } else {
            for contention in &wait.contentions {
                let (start_ns, duration_ns) = (contention.start_ns, contention.duration_ns);
                let end_ns = start_ns.saturating_add(duration_ns);
                add(contention.owner, start_ns, duration_ns, end_ns);
            }
        }
        let ended = |duration_ns| WaitSums {
            blocked_ns: 0,
            waits: u64::from(wait.ended()),
            longest_ns: duration_ns,
        };
        for (group, (duration_ns, end_ns)) in shares.drain() {
            let sums = ended(duration_ns);
            self.all.add_group(group, sums, MAX_OF_ALL);
            if let Some(slot) = self.slot(end_ns / SLOT_NS) {
                slot.add_group(group, sums, MAX_OF_SLOT);
            }
        }
        self.shares = shares;
        self.all.total.add(ended(wait.duration_ns));
        if let Some(slot) = self.slot(wait_end_ns / SLOT_NS) {
            slot.total.add(ended(wait.duration_ns));
        }
    }

    /// What stands for an owner of a wait.
    fn pair(&mut self, wait: &Wait, owner: trace_analysis::Owner, entities: &Entities) -> Pair {
        let mut value = |aspect: Aspect| aspect.value(wait, owner, entities, &mut self.methods);
        Pair {
            group: Group {
                lock_class: value(Aspect::LockClass),
                owner: Owner::Known(value(Aspect::OwnerMethod)),
            },
            method: value(Aspect::Method),
            chain: wait.chain,
            owner_chain: owner.thread().map(|(_, chain)| chain),
        }
    }

    /// Somebody waited since then for so long.
    fn add_time(&mut self, pair: Pair, start_ns: u64, duration_ns: u64) {
        self.all.add_time(pair, duration_ns, MAX_OF_ALL);
        let end_ns = start_ns.saturating_add(duration_ns);
        let last = end_ns / SLOT_NS;
        // Makes room, so that what is too old is known.
        self.slot(last);
        for number in (start_ns / SLOT_NS).max(self.first)..=last {
            let from_ns = start_ns.max(number * SLOT_NS);
            let until_ns = end_ns.min((number + 1).saturating_mul(SLOT_NS));
            if let Some(slot) = self.slot(number)
                && from_ns < until_ns
            {
                slot.add_time(pair, until_ns - from_ns, MAX_OF_SLOT);
            }
        }
    }

    /// The slot of this number; `None` if it is not kept any more.
    fn slot(&mut self, number: u64) -> Option<&mut Tally> {
        let end = self.first + self.slots.len() as u64;
        if number >= end + SLOTS {
            self.slots.clear();
            self.first = number;
        }
        while number >= self.first + self.slots.len() as u64 {
            self.slots.push_back(Tally::default());
            if self.slots.len() as u64 > SLOTS {
                self.slots.pop_front();
                self.first += 1;
            }
        }
        self.slots.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Begin and end of a window of whole slots, in nanoseconds. It ends then, or just before if
    /// time goes on: of the slot at hand, not everything is known.
    pub(super) fn bounds(window: Window, until_ns: u64, goes_on: bool) -> (u64, u64) {
        let Some(duration) = window.duration() else {
            return (0, until_ns);
        };
        let (begun_ns, duration_ns) = (until_ns % SLOT_NS, duration.as_nanos() as u64);
        if goes_on {
            let until_ns = until_ns - begun_ns;
            return (until_ns.saturating_sub(duration_ns), until_ns);
        }
        let from_ns = (until_ns - begun_ns).saturating_sub(duration_ns);
        (from_ns, until_ns)
    }

    /// The sums over a time with such bounds, or over all. Of the waits that are `open`, what is
    /// in it counts.
    pub(super) fn tally(
        &mut self,
        window: Window,
        (from_ns, until_ns): (u64, u64),
        open: &[OpenWait],
        entities: &Entities,
    ) -> Tally {
        let mut tally = match window {
            Window::Whole => self.all.clone(),
            _ => self.slots_between(from_ns / SLOT_NS, until_ns.div_ceil(SLOT_NS)),
        };
        for wait in open {
            let described = unended(wait);
            let mut value = |aspect: Aspect| {
                let nobody = trace_analysis::Owner::Free;
                aspect.value(&described, nobody, entities, &mut self.methods)
            };
            let pair = Pair {
                group: Group {
                    lock_class: value(Aspect::LockClass),
                    owner: Owner::StillToCome,
                },
                method: value(Aspect::Method),
                chain: wait.chain,
                owner_chain: None,
            };
            let start_ns = wait.start_ns.max(from_ns);
            if start_ns < until_ns {
                let so_far = WaitSums {
                    longest_ns: until_ns - wait.start_ns,
                    ..WaitSums::default()
                };
                tally.add_time(pair, until_ns - start_ns, MAX_OF_ALL);
                tally.add_group(pair.group, so_far, MAX_OF_ALL);
                tally.total.add(so_far);
            }
        }
        tally
    }

    fn slots_between(&self, from: u64, until: u64) -> Tally {
        let mut tally = Tally::default();
        for number in from.max(self.first)..until {
            let Some(slot) = self.slots.get((number - self.first) as usize) else {
                break;
            };
            tally.merge(slot);
        }
        tally
    }
}

/// A wait that has not ended, as far as it is known.
fn unended(open: &OpenWait) -> Wait {
    Wait {
        id: open.id,
        mechanism: open.mechanism,
        kind: open.kind,
        after_wait: false,
        lock: open.lock,
        thread: open.thread,
        chain: open.chain,
        start_ns: open.start_ns,
        duration_ns: 0,
        whole_start_ns: open.start_ns,
        whole_duration_ns: 0,
        safepoint_ns: 0,
        end: WaitEnd::Open,
        timeout: open.timeout,
        holder: open.holder,
        barging_holds: 0,
        blame: Vec::new(),
        contentions: Vec::new(),
        roots: Vec::new(),
        scheduling: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use trace_analysis::{Analysis, Blame, Contention, TraceInput, UnknownOwner};

    use super::*;

    /// Any wait, and what it refers to.
    fn some_wait() -> (Wait, Entities) {
        let path = "../trace-format/tests/golden/v3.lct";
        let input = TraceInput::open(Path::new(path)).expect("a trace");
        let (mut analysis, mut found) = (Analysis::default(), None);
        let mut sink = |wait: &Wait, _: &Entities| found = Some(wait.clone());
        input
            .analyze(&mut analysis, &mut sink, |_| {
                std::ops::ControlFlow::Continue(())
            })
            .expect("readable");
        (found.expect("it has waits"), analysis.into_entities())
    }

    /// Waits of up to 3 s, one after the other begun, in parts by two owners.
    fn waits(like: &Wait) -> Vec<Wait> {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        let mut start_ns = 0;
        let wait = |_| {
            start_ns += next(200_000_000);
            let mut wait = like.clone();
            (wait.start_ns, wait.contentions, wait.blame) = (start_ns, Vec::new(), Vec::new());
            let mut end_ns = start_ns;
            for part in 0..=next(5) {
                let owner = match part % 2 {
                    0 => trace_analysis::Owner::Free,
                    _ => trace_analysis::Owner::Unknown(UnknownOwner::NoExit),
                };
                let duration_ns = next(if start_ns % 2 == 0 {
                    600_000_000
                } else {
                    1_000_000
                });
                wait.contentions.push(Contention {
                    start_ns: end_ns,
                    duration_ns,
                    owner,
                });
                wait.blame.push(Blame {
                    owner,
                    duration_ns,
                    contentions: 1,
                });
                end_ns += duration_ns;
            }
            wait.duration_ns = end_ns - start_ns;
            wait
        };
        (0..1_000).map(wait).collect()
    }

    #[test]
    fn sums_over_a_window_are_what_was_waited_in_it() {
        let (like, entities) = some_wait();
        let mut waits = waits(&like);
        // They become known when they end.
        waits.sort_by_key(|wait| wait.start_ns + wait.duration_ns);
        let mut recent = Recent::default();
        for (at, wait) in waits.iter().enumerate() {
            recent.add(wait, &entities);
            if at % 50 != 49 {
                continue;
            }
            let until_ns = wait.start_ns + wait.duration_ns;
            for window in Window::ALL {
                let (from_ns, until_ns) = Recent::bounds(window, until_ns, true);
                let tally = recent.tally(window, (from_ns, until_ns), &[], &entities);
                let known = waits[..=at].iter();
                let inside = known
                    .clone()
                    .flat_map(|wait| &wait.contentions)
                    .map(|part| {
                        let end_ns = part.start_ns + part.duration_ns;
                        end_ns
                            .min(until_ns)
                            .saturating_sub(part.start_ns.max(from_ns))
                    });
                assert_eq!(tally.total.blocked_ns, inside.sum::<u64>(), "{window:?}");
                let of_groups = tally.groups.values().map(|sums| sums.blocked_ns);
                assert_eq!(of_groups.sum::<u64>(), tally.total.blocked_ns);
                assert_eq!(tally.pairs.values().sum::<u64>(), tally.total.blocked_ns);
                let ended = known.filter(|wait| {
                    let end_ns = wait.start_ns + wait.duration_ns;
                    window == Window::Whole || (from_ns..until_ns).contains(&end_ns)
                });
                assert_eq!(tally.total.waits, ended.count() as u64, "{window:?}");
            }
        }
    }

    #[test]
    fn what_there_is_no_room_for_counts() {
        let (like, entities) = some_wait();
        let mut recent = Recent::default();
        recent.add(&like, &entities);
        let pair = recent.pair(&like, trace_analysis::Owner::Free, &entities);
        let mut tally = Tally::default();
        for owner in [Value::Free, Value::NoCaller, Value::Free] {
            let group = Group {
                owner: Owner::Known(owner),
                ..pair.group
            };
            tally.add_time(Pair { group, ..pair }, 7, 1);
        }
        assert_eq!((tally.groups.len(), tally.pairs.len()), (1, 1));
        assert_eq!(tally.groups[&pair.group].blocked_ns, 14);
        assert_eq!(tally.rest.blocked_ns, 7);
        assert_eq!(tally.total.blocked_ns, 21);
    }
}
