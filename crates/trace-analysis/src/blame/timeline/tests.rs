//! Timelines compared with sums taken part by part.

use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;

use crate::blame::timeline::hold_chunks::HoldRun;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::blame::timeline::interval::{Access, Interval, LOST, Start, View};
use crate::blame::timeline::owner_timeline::{MAX_INTERVALS, Timeline};
use crate::blame::timeline::splitter::Shares;
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, ThreadIndex};
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Blame, Contention, Owner, UnknownOwner};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Until(u64),
    Collapsed(u64),
}

impl Interval for Test {
    const HAS_OWN: bool = false;

    fn end_ns(&self) -> u64 {
        match *self {
            Self::Until(end_ns) | Self::Collapsed(end_ns) => end_ns,
        }
    }

    fn is_gap(&self) -> bool {
        false
    }

    fn owner(&self, _access: Access) -> PackedOwner {
        Owner::Free.into()
    }

    fn collapsed(end_ns: u64) -> Self {
        Self::Collapsed(end_ns)
    }
}

fn seen(timeline: &Timeline<Test>, position: u64) -> Vec<(u64, Test)> {
    let pieces = timeline.seen_from(position).into_iter();
    let seen = pieces.flat_map(|(first, intervals)| (first..).zip(intervals.iter().copied()));
    seen.collect()
}

#[test]
fn positions_stay_when_intervals_are_forgotten() {
    let mut timeline = Timeline::default();
    timeline.push(Test::Until(10));
    timeline.push(Test::Until(20));
    assert_eq!(
        seen(&timeline, 0),
        [(0, Test::Until(10)), (1, Test::Until(20))]
    );
    timeline.forget_before(1, &mut HoldSpans::default());
    assert_eq!(seen(&timeline, 1), [(1, Test::Until(20))]);
    assert_eq!(timeline.end(), 2);
}

#[test]
fn older_half_collapses_when_there_are_too_many() {
    let mut timeline = Timeline::default();
    let mut collapsed = 0;
    for end_ns in 0..=MAX_INTERVALS as u64 {
        collapsed += timeline.push(Test::Until(end_ns));
    }
    let half = MAX_INTERVALS as u64 / 2;
    assert_eq!(collapsed, half);
    assert_eq!(timeline.end(), MAX_INTERVALS as u64 + 1);
    for position in [0, 7, half - 1] {
        let seen = seen(&timeline, position);
        let expected = [
            (half - 1, Test::Collapsed(half - 1)),
            (half, Test::Until(half)),
        ];
        assert_eq!(seen[..2], expected);
    }
    assert_eq!(seen(&timeline, half)[0], (half, Test::Until(half)));
}

/// An interval with any owners.
#[derive(Clone, Copy, Debug)]
struct Any {
    end_ns: u64,
    first: PackedOwner,
    earlier: PackedOwner,
    shared: PackedOwner,
    gap: u64,
    goes_on: bool,
}

impl Interval for Any {
    const HAS_OWN: bool = true;

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn is_gap(&self) -> bool {
        self.gap > 0
    }

    fn owner(&self, access: Access) -> PackedOwner {
        match access {
            Access::Exclusive => self.earlier,
            Access::Shared => self.shared,
        }
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn collapsed(_end_ns: u64) -> Self {
        unreachable!("there are few")
    }
}

fn owner() -> impl Strategy<Value = PackedOwner> {
    let owner = prop_oneof![
        6 => (0..3_u32, 0..3_u32).prop_map(|(thread, chain)| Owner::Thread {
            thread: ThreadIndex(thread),
            chain: ChainIndex(chain),
        }),
        2 => Just(Owner::Free),
        1 => Just(Owner::Unknown(UnknownOwner::HandOff)),
        1 => Just(LOST.get()),
    ];
    owner.prop_map(PackedOwner::from)
}

/// An event of a lock: times go on, by and large.
#[derive(Clone, Debug)]
enum Happens {
    Boundary(Any, i64),
    /// A thread begins to wait.
    Enter(i64),
    /// One of the waiting threads, which is one of the owners, goes on.
    Leave {
        waiter: usize,
        time_ns: i64,
        thread: u32,
        shared: bool,
        unsettled: u64,
    },
}

fn happens() -> impl Strategy<Value = Happens> {
    let step = || prop_oneof![2 => Just(0_i64), 12 => 1..20_i64, 1 => -60..0_i64, 1 => 60..200_i64];
    let gap = prop_oneof![30 => Just(0_u64), 1 => 1..3_u64];
    let interval = (owner(), owner(), owner(), gap, any::<bool>()).prop_map(
        |(first, earlier, shared, gap, goes_on)| Any {
            end_ns: 0,
            first,
            earlier,
            shared,
            gap,
            goes_on,
        },
    );
    let leave = (0..20_usize, step(), 0..4_u32, any::<bool>(), 0..4_u64);
    let leave = leave.prop_map(
        |(waiter, time_ns, thread, shared, unsettled)| Happens::Leave {
            waiter,
            time_ns,
            thread,
            shared,
            unsettled,
        },
    );
    prop_oneof![
        6 => (interval, step()).prop_map(|(interval, step)| Happens::Boundary(interval, step)),
        2 => step().prop_map(Happens::Enter),
        1 => leave,
    ]
}

fn sorted(mut shares: Vec<Blame>, detail: Detail) -> Vec<(String, u64, u64)> {
    shares.sort_by_key(|share| format!("{:?}", detail.key(share.owner.into())));
    let shares = shares.iter();
    let shares = shares.map(|share| {
        let key = format!("{:?}", detail.key(share.owner.into()));
        (key, share.duration_ns, share.contentions)
    });
    shares.collect()
}

fn wanted() -> HoldSpans {
    HoldSpans {
        are_wanted: true,
        ..HoldSpans::default()
    }
}

impl Any {
    /// The same with all code but one replaced by nobody.
    fn of_one_code(self) -> Self {
        let one = |owner: PackedOwner| match owner.get() {
            Owner::Thread { thread, .. } => PackedOwner::from(Owner::Thread {
                thread,
                chain: ChainIndex(0),
            }),
            _ => PackedOwner::NOBODY,
        };
        Self {
            first: one(self.first),
            earlier: one(self.earlier),
            gap: 0,
            ..self
        }
    }
}

#[test]
fn a_wait_through_one_code_is_a_difference() {
    const INTERVALS: u64 = 100;
    let mut timeline: Timeline<Any> = Timeline::default();
    for number in 0..INTERVALS {
        let owner = match number % 2 {
            0 => Owner::Free,
            _ => Owner::Thread {
                thread: ThreadIndex(number as u32 % 5),
                chain: ChainIndex(7),
            },
        };
        timeline.push(Any {
            end_ns: 10 * (number + 1),
            first: owner.into(),
            earlier: owner.into(),
            shared: PackedOwner::NOBODY,
            gap: 0,
            goes_on: false,
        });
    }
    let start = Start {
        time_ns: 35,
        position: 3,
        numbers_lost: 0,
    };
    let view = |end_ns| View {
        start,
        end_ns,
        access: Access::Exclusive,
        own: None,
        owner_of: |_, interval: &Any| interval.earlier,
        rest: PackedOwner::NOBODY,
        is_direct: false,
    };
    for end_ns in [35, 41, 50, 444, 10 * INTERVALS, 10 * INTERVALS + 5] {
        let view = view(end_ns);
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        timeline.split(&view, &mut Shares::new(Detail::CODE, &mut expected, None));
        let mut shares = Shares::new(Detail::CODE, &mut found, None);
        let is_one = timeline.blame_one(&view, u64::MAX, &mut shares);
        assert_eq!(is_one, end_ns >= 50, "{end_ns}");
        if is_one {
            let both = [found, expected].map(|shares| sorted(shares, Detail::CODE));
            assert_eq!(both[0], both[1]);
        }
    }
}

type Change = (ThreadIndex, u64);

/// Returns the changes of the number of waits at each time of a thread, and the time without an
/// owner.
fn waits_at(spans: &HoldSpans) -> (BTreeMap<Change, i64>, u64, u64) {
    let mut changes: BTreeMap<Change, i64> = BTreeMap::new();
    for span in &spans.spans {
        let waits = span.waits as i64;
        let time = span.time;
        *changes.entry((time.thread, time.start_ns)).or_default() += waits;
        *changes.entry((time.thread, time.end_ns)).or_default() -= waits;
    }
    changes.retain(|_, waits| *waits != 0);
    (changes, spans.free_ns, spans.unknown_ns)
}

/// Returns the parts of a wait, including the holds that it shares.
fn put_together(
    run: Option<&HoldRun>,
    (start_ns, end_ns): (u64, u64),
    rest: &[Contention],
) -> Vec<(u64, PackedOwner)> {
    let of_part = |part: &Contention| (part.start_ns + part.duration_ns, part.owner.into());
    let (before, after) = rest.split_at(run.map_or(0, |run| run.before));
    let holds = run.iter().flat_map(|run| run.holds_after(0));
    let holds = holds.map(|hold| (hold.end_ns.min(end_ns), hold.owner));
    let all = before.iter().map(of_part).chain(holds);
    let mut at_ns = start_ns;
    let all = all
        .chain(after.iter().map(of_part))
        .filter(|&(until_ns, _)| {
            let is_part = until_ns > at_ns;
            at_ns = until_ns.max(at_ns);
            is_part
        });
    joined(all)
}

/// Returns the same of all parts.
fn without_joints(parts: &[Contention]) -> Vec<(u64, PackedOwner)> {
    let parts = parts.iter().filter(|part| part.duration_ns > 0);
    joined(parts.map(|part| (part.start_ns + part.duration_ns, part.owner.into())))
}

/// Merges consecutive parts of one owner.
fn joined(parts: impl Iterator<Item = (u64, PackedOwner)>) -> Vec<(u64, PackedOwner)> {
    let mut joined: Vec<(u64, PackedOwner)> = Vec::new();
    for (until_ns, owner) in parts {
        match joined.last_mut() {
            Some(last) if last.1 == owner => last.0 = until_ns,
            _ => joined.push((until_ns, owner)),
        }
    }
    joined
}

proptest! {
    /// Sums by differences equal sums part by part, and waits cover the same time of owners.
    #[test]
    fn sums_are_those_of_the_parts(
        history in vec(happens(), 1..200),
        code in any::<bool>(),
        one_code in any::<bool>(),
    ) {
        let detail = if code { Detail::CODE } else { Detail::OWNERS };
        let mut timeline: Timeline<Any> = Timeline::default();
        let mut waiting: VecDeque<Start> = VecDeque::new();
        let (mut spans, mut expected_spans) = (wanted(), wanted());
        let mut now_ns = 1000_i64;
        let mut shared_waits = Vec::new();
        for next in history {
            match next {
                Happens::Boundary(interval, step) => {
                    let interval = if one_code { interval.of_one_code() } else { interval };
                    now_ns = (now_ns + step).max(0);
                    if interval.gap > 0 {
                        timeline.lose(interval.gap);
                    }
                    timeline.push(Any { end_ns: now_ns as u64, ..interval });
                }
                Happens::Enter(step) => {
                    waiting.push_back(timeline.start_wait((now_ns + step).max(0) as u64));
                }
                Happens::Leave { waiter, time_ns, thread, shared, unsettled } => {
                    if waiting.is_empty() {
                        continue;
                    }
                    let start = waiting.remove(waiter % waiting.len()).expect("in range");
                    let end_ns = ((now_ns + time_ns).max(0) as u64).max(start.time_ns);
                    let access = if shared { Access::Shared } else { Access::Exclusive };
                    let own = Some(ThreadIndex(thread)).filter(|_| thread < 3);
                    let view = View {
                        start,
                        end_ns,
                        access,
                        own,
                        owner_of: |position, interval: &Any| match interval.owner(access) {
                            owner if own.is_some() && owner.thread() == own => Owner::Free.into(),
                            _ if position == start.position => interval.first,
                            owner => owner,
                        },
                        rest: PackedOwner::unknown(UnknownOwner::TraceEnded),
                        is_direct: false,
                    };
                    let mut parts: Vec<Contention> = Vec::new();
                    timeline.split(&view, &mut parts);
                    let mut expected = Vec::new();
                    let mut shares = Shares::new(detail, &mut expected, None);
                    for part in &parts {
                        shares.add_parts(part.owner.into(), part.duration_ns, 1);
                        let time = (part.start_ns, part.start_ns + part.duration_ns);
                        expected_spans.add_part(part.owner, time, false);
                    }
                    let mut found = Vec::new();
                    let settled = timeline.end().saturating_sub(unsettled);
                    let mut shares = Shares::new(detail, &mut found, spans.wanted());
                    timeline.blame_by_sums(&view, settled, detail, &mut shares);
                    prop_assert_eq!(sorted(found, detail), sorted(expected.clone(), detail));
                    let mut found = Vec::new();
                    let mut shares = Shares::new(detail, &mut found, None);
                    timeline.blame(&view, settled, detail, &mut shares);
                    prop_assert_eq!(sorted(found, detail), sorted(expected, detail));
                    if own.is_none() && !shared {
                        let mut rest = Vec::new();
                        let run = timeline.split_shared(&view, &mut rest);
                        shared_waits.push((run, start.time_ns, end_ns, rest, parts));
                        if waiter % 3 == 0 {
                            // Some go, in any order.
                            shared_waits.swap_remove(waiter % shared_waits.len());
                        }
                    }
                    let oldest = waiting.iter().map(|start| start.position).min();
                    timeline.forget_before(oldest.unwrap_or(timeline.end()), &mut spans);
                    for (run, start_ns, end_ns, rest, parts) in &shared_waits {
                        let whole = put_together(run.as_ref(), (*start_ns, *end_ns), rest);
                        prop_assert_eq!(whole, without_joints(parts));
                    }
                }
            }
        }
        timeline.forget_before(timeline.end(), &mut spans);
        prop_assert_eq!(waits_at(&spans), waits_at(&expected_spans));
    }
}
