//! Random programs whose threads park, in a simulated JVM: whatever happens, and
//! whatever gets lost, the blame for each wait adds up and is never wrong.
//!
//! `PROPTEST_CASES` sets the number of programs for each property. Those that
//! failed once are kept in `random.seeds` and run first.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use trace_analysis::{Aggregation, Analysis, Aspect, Counter, Detail, Entities, Limits, RowLimits};
use trace_analysis::{Rows, TimeRange, Wait};
use trace_format::Capabilities;
use trace_format::file::VERSION;

use crate::delivery::{listed_park_delivery, park_delivery};
use crate::figures::{TrueHoldsByName, assert_holds};
use crate::found::{FoundWait, analyze};
use crate::park::history::{Kind, ParkHistory};
use crate::park::script as park_script;
use crate::park::simulator::{Rules, simulate};
use crate::park::truth::Truth;
use crate::random_programs::{actions, analyze_arrived, assert_conserved, config, sorted};
use crate::roots::assert_roots_add_up;

const SEEDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/analysis/park/random.seeds"
);

/// Programs do not write more events.
const ENOUGH: usize = 10_000;

pub(crate) fn rules(races: impl Strategy<Value = bool>) -> impl Strategy<Value = Rules> {
    let kind = prop_oneof![
        6 => any::<(bool, bool)>().prop_map(|(fair, reports)| Kind::ReentrantLock { fair, reports }),
        1 => Just(Kind::Mutex),
        1 => (1..=2u32).prop_map(|permits| Kind::Semaphore { permits }),
        1 => (1..=2u32).prop_map(|count| Kind::Latch { count }),
        1 => Just(Kind::Thing),
        1 => Just(Kind::Nothing),
    ];
    let objects = proptest::collection::vec(kind, 1..=4);
    let rules = (2..=6u8, objects, races);
    rules.prop_map(|(threads, objects, races)| Rules {
        threads,
        objects,
        races,
    })
}

/// Those for locks, and those for something else.
fn split(waits: &[FoundWait]) -> (Vec<&FoundWait>, Vec<&FoundWait>) {
    waits.iter().partition(|wait| wait.entry == "enter")
}

/// Without the names of locks, which the truth does not know.
fn without_locks(waits: Vec<&FoundWait>) -> Vec<FoundWait> {
    let nameless = waits.into_iter().map(|wait| FoundWait {
        lock: String::new(),
        ..wait.clone()
    });
    sorted(nameless.collect())
}

/// Returns the holds whose end was reported, from the moment at which the thread noted that it
/// had the lock.
fn reported_holds(history: &ParkHistory) -> TrueHoldsByName {
    let mut by_name = TrueHoldsByName::default();
    for hold in &history.holds {
        let Some((end_ns, _)) = hold.reported else {
            continue;
        };
        let duration_ns = hold.noted_ns.map(|noted_ns| end_ns - noted_ns);
        let class = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
        let names = [
            format!("{class}@{:x}", hold.object.hash),
            format!("T{}", hold.thread),
        ];
        for (by_name, name) in by_name.iter_mut().zip(names) {
            by_name.entry(name).or_default().add(duration_ns);
        }
    }
    by_name
}

/// What `check` finds wrong, with the program's events in their order.
fn explained(history: &ParkHistory, check: Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    check.map_err(|error| TestCaseError::fail(format!("{error}\n{history}")))
}

/// Nanoseconds and waits by values of aspects, the outermost first.
type SumsByValues = BTreeMap<String, (u64, u64)>;

fn add_rows(values: &str, rows: &Rows, sums: &mut SumsByValues) {
    for row in &rows.rows {
        let values = format!("{values} {:?}", row.value);
        let sum = sums.entry(values.clone()).or_default();
        *sum = (sum.0 + row.sums.duration_ns, sum.1 + row.sums.waits);
        add_rows(&values, &row.children, sums);
    }
}

proptest! {
    #![proptest_config(config(SEEDS))]

    /// Under all aspects, waits that are added up are what each is by itself: where one before went
    /// does not matter.
    #[test]
    fn rows_are_sums_over_single_waits(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), park_delivery(0)),
    ) {
        let history = simulate(&rules, &actions);
        let mut events = park_script::metadata_events();
        let arrived = delivery.deliver(&history.events);
        events.extend(arrived.events());
        let aspects = Aspect::ALL.map(|aspect| [aspect, Aspect::Method]);
        let mut together = aspects.map(Aggregation::new);
        let mut apart = SumsByValues::new();
        let mut on_wait = |wait: &Wait, entities: &Entities| {
            for (aspects, together) in aspects.iter().zip(&mut together) {
                together.add(wait, entities);
                let mut single = Aggregation::new(*aspects);
                single.add(wait, entities);
                let rows = single.rows(RowLimits::default(), entities);
                add_rows(&format!("{aspects:?}"), &rows, &mut apart);
            }
        };
        let mut analysis = Analysis::new(Limits::default()).with_detail(Detail::CONTENTIONS.with_samples());
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in &events {
            trace.event(*thread, event, &mut on_wait);
        }
        trace.finish(&mut on_wait);
        let mut sums = SumsByValues::new();
        for (aspects, together) in aspects.iter().zip(&together) {
            let rows = together.rows(RowLimits::default(), analysis.entities());
            add_rows(&format!("{aspects:?}"), &rows, &mut sums);
        }
        prop_assert_eq!(sums, apart);
    }

    /// In a file, threads' own events come in order, unless buffers are late or lost: so it is known at
    /// once which owners waited themselves.
    #[test]
    fn owners_that_do_not_wait_are_found_at_once(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), park_delivery(10)),
    ) {
        let history = simulate(&rules, &actions);
        assert_roots_add_up(&delivery.deliver(&history.events))?;
    }

    /// With all events, who is seen to have a lock is blamed, and nobody else is.
    #[test]
    fn blame_is_what_the_events_show(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), park_delivery(0)),
    ) {
        let history = simulate(&rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let analyzed = analyze_arrived(&arrived, Limits::default())?;
        assert_conserved(&analyzed)?;
        let file = arrived.write_file();
        let (all, reported) = (TimeRange::default(), reported_holds(&history));
        explained(&history, assert_holds(file.path(), Limits::default(), all, reported))?;
        let truth = Truth::new(&history, &arrived.events(), true);
        let (for_locks, others) = split(&analyzed.waits);
        explained(&history, truth.assert_waits(&for_locks))?;
        for wait in for_locks {
            explained(&history, truth.assert_blame_is_true(wait))?;
            explained(&history, truth.assert_seen_is_blamed(wait))?;
            explained(&history, truth.assert_reported_is_blamed(wait))?;
        }
        prop_assert_eq!(without_locks(others), sorted(truth.waits_for_wakers()));
        let (_, others) = split(&analyzed.open);
        let open = others.iter().map(|wait| {
            let parts: Vec<_> = wait.parts.iter().map(|part| &part.owner).collect();
            assert_eq!(parts, [&Err("trace-ended")], "{wait}");
            (wait.thread.clone(), wait.entry, wait.start_ns)
        });
        prop_assert_eq!(open.collect::<BTreeSet<_>>(), truth.open_waits_for_wakers());
        for counter in [
            Counter::GapsSkipped,
            Counter::LateEvents,
            Counter::EnteredWithoutEnter,
            Counter::WaitsWithoutEntered,
        ] {
            prop_assert_eq!(analyzed.counters.value(counter), 0, "{}", counter.name());
        }
        let parked = history.parks.iter().filter(|park| park.end.is_none());
        prop_assert_eq!(analyzed.counters.value(Counter::OpenWaits), parked.count() as u64);
    }

    /// The order in which events arrive does not matter.
    #[test]
    fn order_of_arrival_does_not_matter(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), park_delivery(0)),
    ) {
        let history = simulate(&rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let mut events = arrived.events();
        events.extend(park_script::metadata_events());
        let forwards = sorted(analyze(&events, Limits::default()).waits);
        events.reverse();
        prop_assert_eq!(forwards, sorted(analyze(&events, Limits::default()).waits));
    }

    /// Whatever gets lost, and however few events may be held back: who is blamed
    /// had the lock.
    #[test]
    fn losses_make_nobody_else_guilty(
        (rules, actions, delivery, max_pending_events) in (
            rules(any::<bool>()),
            actions(),
            prop_oneof![park_delivery(0), park_delivery(10), park_delivery(40)],
            prop_oneof![Just(ENOUGH), 0..60usize],
        ),
    ) {
        let history = simulate(&rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let analyzed = analyze_arrived(&arrived, Limits { max_pending_events })?;
        assert_conserved(&analyzed)?;
        let truth = Truth::new(&history, &arrived.events(), max_pending_events == ENOUGH);
        let (for_locks, others) = split(&analyzed.waits);
        explained(&history, truth.assert_waits(&for_locks))?;
        for wait in for_locks {
            explained(&history, truth.assert_blame_is_true(wait))?;
        }
        for wait in others {
            explained(&history, truth.assert_waker_is_true(wait))?;
        }
    }

    /// An event that is lost and listed hides who woke up one thread at most.
    #[test]
    fn listed_losses_hide_nothing_else(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), listed_park_delivery(20)),
    ) {
        let history = simulate(&rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let analyzed = analyze_arrived(&arrived, Limits::default())?;
        let truth = Truth::new(&history, &arrived.events(), true);
        for wait in split(&analyzed.waits).1 {
            explained(&history, truth.assert_waker_is_known(wait))?;
        }
    }
}
