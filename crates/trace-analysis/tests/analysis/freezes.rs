//! What was waited while the process did not run is nobody's, by brute force.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trace_analysis::{
    Analysis, BlameBy, Contention, Detail, Entities, Limits, Owner, Wait, WaitId,
};
use trace_format::file::VERSION;
use trace_format::{Capabilities, Event, Freeze, SystemRecord, ThreadId};

use crate::delivery::{delivery, park_delivery};
use crate::park;
use crate::park::random::rules as park_rules;
use crate::random_programs::{actions, config, rules};
use crate::script;
use crate::simulator::simulate;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/analysis/freezes.seeds");

/// The waits that are found of events, and of freezes.
fn analyze(
    events: &[(ThreadId, Event<'_>)],
    freezes: &[Freeze],
    capabilities: Capabilities,
    detail: Detail,
) -> Vec<Wait> {
    let mut waits = Vec::new();
    let mut sink = |wait: &Wait, _: &Entities| waits.push(wait.clone());
    let mut analysis = Analysis::new(Limits::default()).with_detail(detail);
    let mut trace = analysis.begin_trace(VERSION, capabilities);
    let records = freezes.iter().copied().map(SystemRecord::Freeze);
    script::take_system(&mut trace, &records.collect::<Vec<_>>(), &mut sink);
    for (thread, event) in events {
        trace.event(*thread, event, &mut sink);
    }
    trace.finish(&mut sink);
    waits.sort_by_key(|wait| wait.id);
    waits
}

/// Returns the owner as far as the detail distinguishes owners: thread and call chain, or why it
/// is unknown.
fn owner(owner: Owner, detail: Detail) -> String {
    let is_by_code = detail.by == BlameBy::Code;
    match owner {
        Owner::Thread { chain, .. } if is_by_code => format!("{chain:?}"),
        owner => format!("{owner:?}"),
    }
}

/// What each owner has of a wait.
type Blame = BTreeMap<String, u64>;

/// What each is to blame for, asked for at each nanosecond.
fn by_brute_force(wait: &Wait, freezes: &[Freeze], detail: Detail) -> Blame {
    let is_frozen = |at_ns: u64| {
        let mut freezes = freezes.iter();
        freezes.any(|freeze| (freeze.begin_ns..freeze.end_ns).contains(&at_ns))
    };
    let mut blame = Blame::new();
    for part in &wait.contentions {
        for at_ns in part.start_ns..part.start_ns + part.duration_ns {
            let by = match is_frozen(at_ns) {
                true => Owner::Frozen,
                false => part.owner,
            };
            *blame.entry(owner(by, detail)).or_default() += 1;
        }
    }
    blame
}

fn found(wait: &Wait, detail: Detail) -> Blame {
    let mut found = Blame::new();
    for blame in wait.blame.iter().filter(|blame| blame.duration_ns > 0) {
        *found.entry(owner(blame.owner, detail)).or_default() += blame.duration_ns;
    }
    found
}

/// The parts follow each other, and those of nobody are as long as the blame says.
fn assert_parts(wait: &Wait, parts: &[Contention]) -> Result<(), TestCaseError> {
    let mut at_ns = wait.start_ns;
    for part in parts {
        prop_assert_eq!(part.start_ns, at_ns);
        at_ns += part.duration_ns;
    }
    prop_assert_eq!(at_ns, wait.start_ns + wait.duration_ns);
    let frozen = parts.iter().filter(|part| part.owner == Owner::Frozen);
    prop_assert_eq!(
        frozen.map(|part| part.duration_ns).sum::<u64>(),
        wait.frozen_ns()
    );
    Ok(())
}

pub(crate) fn freezes() -> impl Strategy<Value = Vec<Freeze>> {
    prop::collection::vec((0..400_u64, 1..300_u64), 0..8).prop_map(|steps| {
        let mut at_ns = 0;
        let steps = steps.into_iter();
        let freezes = steps.map(|(after_ns, duration_ns)| {
            let begin_ns = at_ns + after_ns;
            at_ns = begin_ns + duration_ns;
            Freeze {
                begin_ns,
                end_ns: at_ns,
            }
        });
        freezes.collect()
    })
}

/// Whatever is asked for, the blame is the same as for the single contentions without their frozen time.
fn assert_nobody_is_blamed(
    events: &[(ThreadId, Event<'_>)],
    freezes: &[Freeze],
    capabilities: Capabilities,
) -> Result<(), TestCaseError> {
    let running = analyze(events, &[], capabilities, Detail::CONTENTIONS);
    let running: BTreeMap<WaitId, &Wait> = running.iter().map(|wait| (wait.id, wait)).collect();
    for detail in [
        Detail::CODE,
        Detail::OWNERS,
        Detail::CODE.with_roots(),
        Detail::OWNERS.with_roots(),
        Detail::CONTENTIONS,
        Detail::CONTENTIONS.with_roots(),
    ] {
        let waits = analyze(events, freezes, capabilities, detail);
        prop_assert_eq!(waits.len(), running.len());
        for wait in &waits {
            let expected = by_brute_force(running[&wait.id], freezes, detail);
            prop_assert_eq!(found(wait, detail), expected, "{:?}: {:?}", detail, wait);
            if detail.has_contentions() {
                assert_parts(wait, &wait.contentions)?;
            }
            if !detail.roots && !detail.has_contentions() {
                prop_assert!(wait.contentions.is_empty());
            }
            if !wait.roots.is_empty() {
                let roots = || wait.roots.iter();
                let all_ns: u64 = roots().map(|root| root.duration_ns).sum();
                prop_assert_eq!(all_ns, wait.duration_ns);
                let frozen = roots().filter(|root| root.owner == Owner::Frozen);
                let frozen_ns: u64 = frozen.map(|root| root.duration_ns).sum();
                prop_assert_eq!(frozen_ns, wait.frozen_ns(), "{:?}", detail);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(SEEDS))]

    #[test]
    fn nobody_is_blamed_for_a_freeze(
        (rules, actions, delivery, freezes) in (rules(any::<bool>()), actions(), delivery(0), freezes()),
    ) {
        let history = simulate(rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let mut events = script::metadata_events();
        events.extend(arrived.events());
        assert_nobody_is_blamed(&events, &freezes, history.capabilities())?;
    }

    #[test]
    fn nobody_is_blamed_for_a_freeze_of_parked_threads(
        (rules, actions, delivery, freezes) in
            (park_rules(any::<bool>()), actions(), park_delivery(0), freezes()),
    ) {
        let history = park::simulator::simulate(&rules, &actions);
        let mut events = park::script::metadata_events();
        let arrived = delivery.deliver(&history.events);
        events.extend(arrived.events());
        assert_nobody_is_blamed(&events, &freezes, Capabilities::default())?;
    }
}
