//! Root owners: those of small traces, and those of random programs, by brute force.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use trace_analysis::{Aggregation, Analysis, Aspect, Detail, Entities, Limits, Owner, RootEnd};
use trace_analysis::{RowLimits, TraceInput, Wait};
use trace_format::file::VERSION;
use trace_format::{Capabilities, Event, ThreadId};

use crate::delivery::{Arrived, delivery, prompt_delivery};
use crate::found::{self, FoundWait};
use crate::history::Written;
use crate::random_programs::{actions, config, rules, set_clocks_ahead};
use crate::script;
use crate::simulator::{Rules, simulate};
use crate::truth::{self, Known};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/analysis/roots.seeds");

/// From when to when who was at the end of how many waits; `cycle` if nobody was.
type Parts = Vec<(u64, u64, String, u32)>;

const CYCLE: &str = "cycle";

/// Of waits whose parts may be added up.
const ASPECTS: [&[Aspect]; 3] = [
    &[Aspect::RootOwnerThread, Aspect::OwnerThread],
    &[Aspect::Depth, Aspect::RootLockClass, Aspect::Thread],
    &[
        Aspect::OwnerActivity,
        Aspect::RootOwnerMethod,
        Aspect::OwnerMethod,
    ],
];

/// Waits by their threads and begins.
type Found = Vec<(String, u64, Parts)>;

/// The waits with their root owners, and these added up.
fn analyze(
    events: &[(ThreadId, Event<'_>)],
    capabilities: Capabilities,
) -> (Found, Vec<(String, u64)>) {
    let mut by_root = Aggregation::new([Aspect::RootOwnerThread]);
    assert_eq!(by_root.detail(), Detail::OWNERS.with_roots());
    let mut found = Found::new();
    let mut on_wait = |wait: &Wait, entities: &Entities| {
        by_root.add(wait, entities);
        found.push(described(wait, entities));
    };
    let mut analysis =
        Analysis::new(Limits::default()).with_detail(Detail::CONTENTIONS.with_roots());
    let mut trace = analysis.begin_trace(VERSION, capabilities);
    for (thread, event) in script::metadata_events().iter().chain(events) {
        trace.event(*thread, event, &mut on_wait);
    }
    trace.finish(&mut on_wait);
    let rows = by_root.rows(RowLimits::default(), analysis.entities()).rows;
    let sums = rows.into_iter();
    let sums: Vec<_> = sums.map(|row| (row.label, row.sums.duration_ns)).collect();
    let total_ns: u64 = sums.iter().map(|(_, duration_ns)| duration_ns).sum();
    assert_eq!(total_ns, by_root.totals().all.duration_ns, "conserved");
    found.sort();
    for aspects in ASPECTS {
        let wanted = Aggregation::new(aspects).detail();
        let one_by_one = all_rows(
            events,
            capabilities,
            aspects,
            Detail::CONTENTIONS.with_roots(),
        );
        assert_eq!(all_rows(events, capabilities, aspects, wanted), one_by_one);
        let of_owners = all_rows(events, capabilities, aspects, Detail::OWNERS.with_roots());
        assert_eq!(of_owners, one_by_one);
    }
    (found, sums)
}

/// The rows by these aspects of all waits, with so much found out about them.
fn all_rows(
    events: &[(ThreadId, Event<'_>)],
    capabilities: Capabilities,
    aspects: &[Aspect],
    detail: Detail,
) -> String {
    let mut sums = Aggregation::new(aspects);
    let mut on_wait = |wait: &Wait, entities: &Entities| sums.add(wait, entities);
    let mut analysis = Analysis::new(Limits::default()).with_detail(detail);
    let mut trace = analysis.begin_trace(VERSION, capabilities);
    for (thread, event) in script::metadata_events().iter().chain(events) {
        trace.event(*thread, event, &mut on_wait);
    }
    trace.finish(&mut on_wait);
    format!("{:?}", sums.rows(RowLimits::default(), analysis.entities()))
}

/// The same of a file.
fn all_rows_of(path: &Path, aspects: &[Aspect], detail: Detail) -> String {
    let mut sums = Aggregation::new(aspects);
    let mut on_wait = |wait: &Wait, entities: &Entities| sums.add(wait, entities);
    let mut analysis = Analysis::new(Limits::default()).with_detail(detail);
    let input = TraceInput::open(path).expect("a trace");
    let go_on = |_| ControlFlow::Continue(());
    let read = input.analyze(&mut analysis, &mut on_wait, go_on);
    read.expect("readable");
    format!("{:?}", sums.rows(RowLimits::default(), analysis.entities()))
}

/// Asserts that the roots of waits in a file are the same whether they are added up or found one by one.
pub(crate) fn assert_roots_add_up(arrived: &Arrived) -> Result<(), TestCaseError> {
    for file in [arrived.write_file(), arrived.write_file_with_names_first()] {
        for aspects in ASPECTS {
            let one_by_one = all_rows_of(file.path(), aspects, Detail::CONTENTIONS.with_roots());
            let wanted = Aggregation::new(aspects).detail();
            for detail in [wanted, Detail::OWNERS.with_roots()] {
                prop_assert_eq!(&all_rows_of(file.path(), aspects, detail), &one_by_one);
            }
        }
    }
    Ok(())
}

fn described(wait: &Wait, entities: &Entities) -> (String, u64, Parts) {
    let mut at_ns = wait.start_ns;
    let parts = wait.roots.iter().map(|part| {
        assert_eq!(part.start_ns, at_ns, "no gaps");
        at_ns += part.duration_ns;
        let root = match part.root.end {
            RootEnd::Cycle => CYCLE.to_owned(),
            RootEnd::Owner(Owner::Thread { thread, .. }) => {
                entities.thread(thread).name.to_string()
            }
            RootEnd::Owner(Owner::Free) => "free".to_owned(),
            RootEnd::Owner(Owner::Frozen) => "frozen".to_owned(),
            RootEnd::Owner(Owner::Unknown(reason)) => reason.name().to_owned(),
        };
        (part.start_ns, at_ns, root, part.root.depth)
    });
    let parts = joined(parts.collect());
    assert_eq!(at_ns, wait.start_ns + wait.duration_ns, "conserved");
    (
        entities.thread(wait.thread).name.to_string(),
        wait.start_ns,
        parts,
    )
}

/// Merges adjacent parts that say the same, and drops parts without time.
fn joined(parts: Parts) -> Parts {
    let mut joined = Parts::new();
    for part in parts.into_iter().filter(|part| part.0 < part.1) {
        match joined.last_mut() {
            Some(last) if (&last.2, last.3) == (&part.2, part.3) => last.1 = part.1,
            _ => joined.push(part),
        }
    }
    joined
}

/// Asks at each moment at which anything changes who waits for whom, one after the other.
fn by_brute_force(waits: &[FoundWait]) -> Found {
    let parts = waits.iter().flat_map(|wait| &wait.parts);
    let times: BTreeSet<u64> = parts
        .flat_map(|part| [part.start_ns, part.end_ns])
        .collect();
    let times: Vec<u64> = times.into_iter().collect();
    let direct = |thread: &str, time_ns: u64| {
        let waits = waits.iter().filter(|wait| wait.thread == thread);
        let mut parts = waits.flat_map(|wait| &wait.parts);
        parts.find(|part| (part.start_ns..part.end_ns).contains(&time_ns))
    };
    let root = |thread: &str, time_ns: u64| {
        let (mut last, mut depth, mut met) = (thread.to_owned(), 0, BTreeSet::new());
        while let Some(part) = direct(&last, time_ns) {
            if !met.insert(last) {
                return (CYCLE.to_owned(), u32::MAX);
            }
            depth += 1;
            last = match &part.owner {
                Ok((owner, _)) => owner.clone(),
                Err(reason) => return ((*reason).to_owned(), depth),
            };
        }
        (last, depth)
    };
    let found = waits.iter().map(|wait| {
        let inside = times
            .windows(2)
            .filter(|time| wait.start_ns <= time[0] && time[1] <= wait.end_ns);
        let parts = inside.map(|time| {
            let (root, depth) = root(&wait.thread, time[0]);
            (time[0], time[1], root, depth)
        });
        (wait.thread.clone(), wait.start_ns, joined(parts.collect()))
    });
    let mut found: Found = found.collect();
    found.sort();
    found
}

fn check(script: &str, expected: &[(&str, u64)]) {
    let (_, sums) = analyze(&script::parse(script), Capabilities::HOLDS);
    let expected: Vec<_> = expected
        .iter()
        .map(|&(root, ns)| (root.to_owned(), ns))
        .collect();
    assert_eq!(sums, expected);
}

/// T3 waits for T2, which waits for T1 for some of that time.
#[test]
fn an_owner_that_waits_passes_the_blame_on() {
    check(
        "
        10 T3 enter c on L2
        20 T2 enter b on L1
        50 T1 exit a held:long on L1
        50 T2 entered on L1
        60 T2 exit b held:long on L2
        60 T3 entered on L2
        ",
        // T3: 10 to 20 and 50 to 60 for T2, 20 to 50 for T1; T2: 20 to 50 for T1.
        &[("T1", 60), ("T2", 20)],
    );
}

/// Neither comes back: until T1 waits, too, it ran.
#[test]
fn threads_that_wait_for_each_other_have_no_root() {
    check(
        "
        10 T2 enter b by:T1 on L1
        30 T1 enter a by:T2 on L2
        40 T3 enter c by:T1 on L1
        70 T4 enter d on L3
        90 T5 exit e held:long on L3
        90 T4 entered on L3
        ",
        // T2 from 10 on and T1 from 30 on to 90, T3 from 40 on.
        &[
            ("<waiting for each other>", 60 + 60 + 50),
            ("T1", 20),
            ("T5", 20),
        ],
    );
}

/// Threads take a lock in turns, and one barges in, so that each waits through the same holds as the others.
/// T3 and T6 own a lock of their own meanwhile, which T8 and T9 wait for: from before that wait on, or from
/// within it.
#[test]
fn waits_through_the_same_holds_add_up() {
    const THREADS: u64 = 6;
    const TURNS: u64 = 12 * THREADS;
    let mut script = String::new();
    let mut at = |time_ns: u64, event: String| script.push_str(&format!("{time_ns} {event}\n"));
    for thread in 2..=THREADS {
        at(thread, format!("T{thread} enter c on L1"));
    }
    for turn in 0..TURNS {
        let start_ns = 100 * (turn + 1);
        let [owner, next] = [turn, turn + 1].map(|turn| turn % THREADS + 1);
        let other = match owner {
            3 => Some((8, 39)),
            6 => Some((9, 50)),
            _ => None,
        };
        if let Some((other, _)) = other.filter(|_| turn >= THREADS) {
            let exit_ns = start_ns - 3;
            at(exit_ns, format!("T{owner} exit d held:597 on L{owner}"));
            at(exit_ns + 1, format!("T{other} entered on L{owner}"));
        }
        let held = if turn == 0 { "long" } else { "60" };
        at(start_ns, format!("T{owner} exit c held:{held} on L1"));
        for barged_ns in [10, 20, 30] {
            at(start_ns + barged_ns, "T7 exit b held:5 on L1".to_owned());
        }
        at(start_ns + 40, format!("T{next} entered on L1"));
        at(start_ns + 41, format!("T{owner} enter c on L1"));
        if let Some((other, enter_ns)) = other.filter(|_| turn + THREADS < TURNS) {
            let enter_ns = start_ns + enter_ns;
            at(
                enter_ns,
                format!("T{other} enter e by:T{owner} on L{owner}"),
            );
        }
    }
    let mut events: Vec<Vec<Written>> = vec![Vec::new(); 10];
    for (step, (thread, event)) in script::parse(&script).into_iter().enumerate() {
        events[thread.0 as usize].push(Written { step, event });
    }
    let mut arrived = prompt_delivery().deliver(&events);
    arrived.capabilities = Capabilities::HOLDS;
    assert_roots_add_up(&arrived).expect("equal");
}

/// By how much the clocks of threads are ahead; mostly they are not.
fn skews() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![3 => Just(Vec::new()), 1 => vec(0..12u64, 6)]
}

proptest! {
    #![proptest_config(config(SEEDS))]

    /// Where every release is seen, root owners are what happened, in whatever order the events
    /// come: the waits that ended are the simulator's own, not what the analysis found.
    #[test]
    fn root_owners_are_the_truth(
        (rules, actions, delivery, deadlocks) in
            (rules(Just(false)), actions(), delivery(0), any::<bool>()),
    ) {
        // Threads enter monitors in any order, that is, nested.
        let history = simulate(Rules { deadlocks, ..rules }, &actions);
        let arrived = delivery.deliver(&history.events);
        let events = arrived.events();
        let capabilities = history.capabilities();
        let mut waits = truth::waits(&history, &Known::new(&events));
        waits.extend(found::analyze_guaranteed(&events, Limits::default(), capabilities).open);
        prop_assert_eq!(analyze(&events, capabilities).0, by_brute_force(&waits));
    }

    /// In a file, threads' own events come in order, unless buffers are late or lost: so it is known at
    /// once which owners waited themselves.
    #[test]
    fn owners_that_do_not_wait_are_found_at_once(
        (rules, actions, delivery, deadlocks, skews) in
            (rules(any::<bool>()), actions(), delivery(10), any::<bool>(), skews()),
    ) {
        let mut history = simulate(Rules { deadlocks, ..rules }, &actions);
        set_clocks_ahead(&mut history, &skews);
        let mut arrived = delivery.deliver(&history.events);
        arrived.capabilities = history.capabilities();
        assert_roots_add_up(&arrived)?;
    }
}
