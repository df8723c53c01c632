//! Random programs in a simulated JVM: whatever happens, and whatever gets
//! lost, the blame for each wait adds up and is never wrong.
//!
//! `PROPTEST_CASES` sets the number of programs for each property. Those that
//! failed once are kept in `random_programs.seeds` and run first.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use trace_analysis::{Counter, Detail, Limits, TimeRange};
use trace_format::{ContendedEnter, ContendedEntered, ContendedExit, Event};

use crate::delivery::{Arrived, Delivery, delivery};
use crate::figures::{assert_figures, assert_holds, true_holds};
use crate::forgetting::assert_same_without_names;
use crate::found::{
    Analyzed, FoundWait, Owner, analyze_file, analyze_guaranteed, analyze_range, blame_of_file,
};
use crate::inputs::assert_known_early;
use crate::parallel::assert_same_with_threads;
use crate::selections::assert_selected;
use crate::simulator::{Action, Rules, simulate};
use crate::truth::{self, Known};
use crate::{history::History, reference};

/// How many programs each property is tried on.
const PROGRAMS: u32 = 200;

const SEEDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/analysis/random_programs.seeds"
);

/// Keeps programs that fail in the file `seeds`.
pub(crate) fn config(seeds: &'static str) -> ProptestConfig {
    // Unless PROPTEST_CASES is set.
    let cases = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default().cases,
        None => PROGRAMS,
    };
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
        ..ProptestConfig::default()
    }
}

pub(crate) fn rules(races: impl Strategy<Value = bool>) -> impl Strategy<Value = Rules> {
    let wakeup_ns = prop_oneof![Just(0), 0..100u64];
    let rules = (2..=6u8, 1..=3u8, races, any::<bool>(), wakeup_ns);
    rules.prop_map(
        |(threads, objects, races, reports_holds, wakeup_ns)| Rules {
            threads,
            objects,
            races,
            deadlocks: false,
            reports_holds,
            wakeup_ns,
        },
    )
}

pub(crate) fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action =
        any::<(u8, u8, u8, u8)>().prop_map(|(thread, choice, object, duration_ns)| Action {
            thread,
            choice,
            object,
            duration_ns,
        });
    vec(action, 0..600)
}

/// What holds for every analysis.
pub(crate) fn assert_conserved(analyzed: &Analyzed) -> Result<(), TestCaseError> {
    prop_assert_eq!(analyzed.counters.value(Counter::UnbalancedWaits), 0);
    for wait in analyzed.waits.iter().chain(&analyzed.open) {
        let mut at_ns = wait.start_ns;
        for part in &wait.parts {
            prop_assert_eq!(part.start_ns, at_ns, "gap in {}", wait);
            let is_empty = part.end_ns <= part.start_ns;
            prop_assert!(!is_empty || wait.parts.len() == 1, "empty part in {}", wait);
            at_ns = part.end_ns;
        }
        prop_assert_eq!(at_ns, wait.end_ns, "{}", wait);
    }
    Ok(())
}

pub(crate) fn sorted(mut waits: Vec<FoundWait>) -> Vec<FoundWait> {
    waits.sort();
    waits
}

/// Each wait without its parts, and the time that each owner is blamed for.
fn sums(waits: Vec<FoundWait>) -> Vec<(FoundWait, BTreeMap<Owner, u64>)> {
    let sums = sorted(waits).into_iter().map(|mut wait| {
        let mut sums = BTreeMap::new();
        for part in wait.parts.drain(..) {
            *sums.entry(part.owner).or_default() += part.end_ns - part.start_ns;
        }
        sums.retain(|_, &mut duration_ns| duration_ns > 0);
        (wait, sums)
    });
    sums.collect()
}

/// Each blocked thread, its lock, and who holds that, if known.
fn sorted_blocked(analyzed: &Analyzed) -> Vec<truth::Blocked> {
    let blocked = analyzed.open.iter().map(truth::Blocked::found);
    let mut blocked: Vec<_> = blocked.collect();
    blocked.sort();
    blocked
}

fn sorted_cycles(cycles: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut cycles = cycles.to_vec();
    cycles.iter_mut().for_each(|threads| threads.sort());
    cycles.sort();
    cycles
}

/// What arrives of the trace of a program.
fn deliver(delivery: &Delivery, history: &History) -> Arrived {
    let mut arrived = delivery.deliver(&history.events);
    arrived.capabilities = history.capabilities();
    arrived
}

/// The middle third of the time in which threads waited.
fn middle(analyzed: &Analyzed) -> TimeRange {
    let waits = || analyzed.waits.iter().chain(&analyzed.open);
    let start_ns = waits().map(|wait| wait.start_ns).min().unwrap_or(0);
    let end_ns = waits().map(|wait| wait.end_ns).max().unwrap_or(0);
    let third_ns = (end_ns - start_ns) / 3;
    TimeRange {
        from_ns: start_ns + third_ns,
        until_ns: end_ns - third_ns,
    }
}

/// The holds found in what arrived are those that were, in all time and in a part of it.
fn assert_holds_found(
    arrived: &Arrived,
    analyzed: &Analyzed,
    history: &History,
) -> Result<(), TestCaseError> {
    let file = arrived.write_file();
    for range in [TimeRange::default(), middle(analyzed)] {
        let truth = true_holds(history, range);
        assert_holds(file.path(), Limits::default(), range, truth)?;
    }
    Ok(())
}

/// Analyzes what arrived as a file.
pub(crate) fn analyze_arrived(
    arrived: &Arrived,
    limits: Limits,
) -> Result<Analyzed, TestCaseError> {
    let file = arrived.write_file();
    let (analyzed, summary) = analyze_file(file.path(), limits);
    prop_assert!(summary.is_whole());
    // One of them for each program: both take as long.
    let detail = if analyzed.waits.len() % 2 == 0 {
        Detail::OWNERS
    } else {
        Detail::CODE
    };
    let range = middle(&analyzed);
    for range in [TimeRange::default(), range] {
        let blame = |found| blame_of_file(file.path(), limits, range, (found, detail));
        prop_assert_eq!(blame(detail), blame(Detail::CONTENTIONS));
    }
    assert_known_early(file.path(), limits)?;
    assert_same_with_threads(file.path(), limits)?;
    assert_figures(file.path(), limits)?;
    assert_same_without_names(arrived.write_file_with_names_first().path(), limits)?;
    let choice =
        analyzed.waits.len() * 31 + file.path().metadata().map_or(0, |file| file.len() as usize);
    assert_selected(file.path(), limits, range, choice)?;
    let inside = analyze_range(file.path(), limits, range).0;
    for (inside, all) in [
        (inside.waits, &analyzed.waits),
        (inside.open, &analyzed.open),
    ] {
        let expected = all.iter().cloned();
        let expected = expected.filter_map(|wait| wait.clip(range)).collect();
        let without_barging = |wait| FoundWait {
            barging_holds: 0,
            ..wait
        };
        let inside = inside.into_iter().map(without_barging).collect();
        prop_assert_eq!(sorted(inside), sorted(expected));
    }
    Ok(analyzed)
}

proptest! {
    #![proptest_config(config(SEEDS))]

    /// Where every release is seen, the analysis finds exactly what happened.
    #[test]
    fn blame_is_the_truth(
        (rules, actions, delivery) in (rules(Just(false)), actions(), delivery(0)),
    ) {
        let history = simulate(rules, &actions);
        let arrived = deliver(&delivery, &history);
        let analyzed = analyze_arrived(&arrived, Limits::default())?;
        assert_conserved(&analyzed)?;
        assert_holds_found(&arrived, &analyzed, &history)?;
        let known = Known::new(&arrived.events());
        prop_assert_eq!(sorted(analyzed.waits), sorted(truth::waits(&history, &known)));
        for counter in [Counter::GapsSkipped, Counter::LateEvents, Counter::MissingBuffers] {
            prop_assert_eq!(analyzed.counters.value(counter), 0, "{}", counter.name());
        }
    }

    /// What races of the JVM hide and what gets lost is unknown, and nothing else.
    #[test]
    fn only_what_the_events_do_not_show_is_unknown(
        (rules, actions, delivery) in (
            rules(any::<bool>()),
            actions(),
            prop_oneof![delivery(0), delivery(10), delivery(40)],
        ),
    ) {
        let history = simulate(rules, &actions);
        let arrived = deliver(&delivery, &history);
        let events = arrived.events();
        let analyzed = analyze_arrived(&arrived, Limits::default())?;
        assert_conserved(&analyzed)?;
        truth::assert_true(&analyzed, &history, &Known::new(&events))?;
        prop_assert_eq!(sorted(analyzed.waits), sorted(reference::waits(&events, history.reports_holds)));
    }

    /// Exits that stand for several say the same as those would, in sum.
    #[test]
    fn several_holds_in_one_event_say_the_same(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), delivery(0)),
    ) {
        let mut history = simulate(Rules { reports_holds: true, ..rules }, &actions);
        let single = analyze_arrived(&deliver(&delivery, &history), Limits::default())?;
        history.add_exits();
        let arrived = deliver(&delivery, &history);
        let added = analyze_arrived(&arrived, Limits::default())?;
        assert_conserved(&added)?;
        let truth = true_holds(&history, TimeRange::default());
        let file = arrived.write_file();
        assert_holds(file.path(), Limits::default(), TimeRange::default(), truth)?;
        prop_assert_eq!(sums(single.waits), sums(added.waits));
    }

    /// However few events may be held back, what is said is true.
    #[test]
    fn little_memory_makes_more_unknown(
        (rules, actions, delivery, max_pending_events) in (
            rules(any::<bool>()),
            actions(),
            prop_oneof![delivery(0), delivery(10)],
            0..20usize,
        ),
    ) {
        let history = simulate(rules, &actions);
        let arrived = deliver(&delivery, &history);
        let analyzed = analyze_arrived(&arrived, Limits { max_pending_events })?;
        assert_conserved(&analyzed)?;
        let mut known = Known::new(&arrived.events());
        known.all_considered = analyzed.counters.value(Counter::GapsSkippedEarly) == 0;
        truth::assert_true(&analyzed, &history, &known)?;
    }

    /// Where nothing is lost, every thread that is still blocked is found, and who
    /// blocks it if anybody saw that; so is every deadlock.
    #[test]
    fn open_waits_are_the_truth(
        (rules, actions, delivery) in (rules(Just(false)), actions(), delivery(0)),
    ) {
        let history = simulate(Rules { deadlocks: true, ..rules }, &actions);
        let arrived = deliver(&delivery, &history);
        let analyzed = analyze_arrived(&arrived, Limits::default())?;
        assert_conserved(&analyzed)?;
        prop_assert_eq!(sorted_blocked(&analyzed), truth::blocked(&history));
        prop_assert_eq!(sorted_cycles(&analyzed.deadlocks), truth::deadlocks(&history));
    }

    /// Whatever races of the JVM hide, and wherever the trace of each thread is cut
    /// off: who is said to hold a lock does, and a deadlock is one.
    #[test]
    fn no_deadlock_is_invented(
        (rules, actions, delivery, cuts) in
            (rules(any::<bool>()), actions(), delivery(0), vec(0..=100usize, 7)),
    ) {
        let mut history = simulate(Rules { deadlocks: true, ..rules }, &actions);
        let whole = analyze_arrived(&deliver(&delivery, &history), Limits::default())?;
        assert_conserved(&whole)?;
        truth::assert_holders(&whole, &history)?;
        truth::assert_deadlocked(&whole, &history)?;

        for (events, cut) in history.events.iter_mut().zip(cuts) {
            events.truncate(events.len() * cut / 100);
        }
        let torn = analyze_arrived(&deliver(&delivery, &history), Limits::default())?;
        assert_conserved(&torn)?;
        truth::assert_deadlocked(&torn, &history)?;
    }

    /// With clocks that disagree, the analysis follows the rules of blame.
    #[test]
    fn blame_follows_the_rules(
        (rules, actions, delivery, skews) in
            (rules(any::<bool>()), actions(), delivery(20), vec(0..12u64, 6)),
    ) {
        let mut history = simulate(rules, &actions);
        set_clocks_ahead(&mut history, &skews);
        let arrived = deliver(&delivery, &history);
        let events = arrived.events();
        let capabilities = history.capabilities();
        let analyzed = analyze_guaranteed(&events, Limits::default(), capabilities);
        assert_conserved(&analyzed)?;
        prop_assert_eq!(sorted(analyzed.waits), sorted(reference::waits(&events, history.reports_holds)));
    }
}

pub(crate) fn set_clocks_ahead(history: &mut History, skews_ns: &[u64]) {
    for (events, skew_ns) in history.events.iter_mut().zip(skews_ns) {
        for written in events {
            if let Event::ContendedEnter(ContendedEnter { time_ns, .. })
            | Event::ContendedEntered(ContendedEntered { time_ns, .. })
            | Event::ContendedExit(ContendedExit { time_ns, .. }) = &mut written.event
            {
                *time_ns += skew_ns;
            }
        }
    }
}
