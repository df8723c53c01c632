//! Where owners stood, by samples: of a small trace, and of random programs by brute force.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trace_analysis::{
    Aggregation, Analysis, Aspect, Condition, Detail, Entities, Limits, RowLimits, Selection, Wait,
};
use trace_format::file::VERSION;
use trace_format::{Capabilities, Event, OwnerSample, ThreadId};

use crate::delivery::delivery;
use crate::found::FoundWait;
use crate::random_programs::{actions, config, rules};
use crate::script;
use crate::simulator::simulate;
use crate::truth::{self, Known};

const SEEDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/analysis/owner_samples.seeds"
);

const NOT_SAMPLED: &str = "<owner not sampled>";

/// A sample of a thread that stood in a method.
#[derive(Clone, Debug)]
struct Sample {
    owner: u32,
    method: &'static str,
    time_ns: u64,
    since_ns: u64,
    interval_ns: u64,
}

impl Sample {
    /// The VM thread writes it.
    fn event(&self) -> (ThreadId, Event<'static>) {
        let sample = OwnerSample {
            time_ns: self.time_ns,
            owner: ThreadId(self.owner),
            chain: script::chain_id(self.method),
            since_ns: self.since_ns,
            interval_ns: self.interval_ns,
        };
        (ThreadId(9), Event::OwnerSample(sample))
    }
}

/// What waits have of each method.
type Sums = BTreeMap<String, u64>;

/// The rows of `owner-sample`, and the same of each wait by its thread and begin.
fn analyze(
    events: &[(ThreadId, Event<'_>)],
    capabilities: Capabilities,
    selection: Selection,
) -> (Sums, BTreeMap<(String, u64), Sums>) {
    let mut by_sample = Aggregation::new([Aspect::OwnerSample]);
    assert_eq!(by_sample.detail(), Detail::CONTENTIONS.with_samples());
    let mut of_waits = BTreeMap::new();
    let mut on_wait = |wait: &Wait, entities: &Entities| {
        by_sample.add(wait, entities);
        let mut of_wait = Aggregation::new([Aspect::OwnerSample]);
        of_wait.add(wait, entities);
        let thread = entities.thread(wait.thread).name.to_string();
        of_waits.insert((thread, wait.start_ns), sums(&of_wait, entities));
    };
    let mut analysis = Analysis::new(Limits::default())
        .with_selection(selection)
        .with_detail(Detail::CONTENTIONS.with_samples());
    let mut trace = analysis.begin_trace(VERSION, capabilities);
    for (thread, event) in script::metadata_events().iter().chain(events) {
        trace.event(*thread, event, &mut on_wait);
    }
    trace.finish(&mut on_wait);
    (sums(&by_sample, analysis.entities()), of_waits)
}

fn sums(aggregation: &Aggregation, entities: &Entities) -> Sums {
    let rows = aggregation.rows(RowLimits::default(), entities).rows;
    let sums: Sums = rows
        .into_iter()
        .map(|row| (row.label, row.sums.duration_ns))
        .filter(|&(_, duration_ns)| duration_ns > 0)
        .collect();
    let all_ns: u64 = sums.values().sum();
    assert_eq!(all_ns, aggregation.totals().all.duration_ns, "conserved");
    sums
}

fn small_trace() -> Vec<(ThreadId, Event<'static>)> {
    let sample = |method, time_ns, since_ns, interval_ns| {
        let owner = 1;
        let sample = Sample {
            owner,
            method,
            time_ns,
            since_ns,
            interval_ns,
        };
        sample.event()
    };
    // T1 has the lock until 90, and T3 until 100.
    let mut events = vec![
        sample("x", 5, 0, 10),
        sample("x", 40, 30, 10),
        sample("y", 80, 30, 20),
        sample("z", 95, 30, 20),
    ];
    events.extend(script::parse(
        "
        10 T2 enter b
        90 T1 exit a held:long
        100 T3 exit c held:10
        100 T2 entered
        ",
    ));
    events
}

/// From 30 on the owner could be sampled: a third of the 60 ns until 90 stands for `x`.
#[test]
fn the_time_of_an_owner_is_divided_by_its_samples() {
    let (sums, _) = analyze(&small_trace(), Capabilities::HOLDS, Selection::default());
    let expected = [("Lock.x", 20), ("Lock.y", 40), (NOT_SAMPLED, 20 + 10)];
    let expected = expected.map(|(label, ns)| (label.to_owned(), ns));
    assert_eq!(sums, expected.into());
}

#[test]
fn a_row_of_samples_can_be_selected() {
    let condition = Condition {
        aspect: Aspect::OwnerSample,
        patterns: vec!["Lock.y".parse().unwrap()],
        is_negated: false,
    };
    let selection = Selection::default().with(condition);
    let (sums, _) = analyze(&small_trace(), Capabilities::HOLDS, selection);
    assert_eq!(sums, [("Lock.y".to_owned(), 40)].into());
}

/// Returns how much of a wait each method has, by brute force, in nanoseconds.
fn by_brute_force(wait: &FoundWait, samples: &[Sample]) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    let mut add = |label: &str, ns: f64| *sums.entry(label.to_owned()).or_insert(0.0) += ns;
    for part in &wait.parts {
        let whole_ns = (part.end_ns - part.start_ns) as f64;
        let Ok((owner, _)) = &part.owner else {
            add("nobody known", whole_ns);
            continue;
        };
        let inside = samples.iter().filter(|sample| {
            format!("T{}", sample.owner) == *owner
                && (part.start_ns..part.end_ns).contains(&sample.time_ns)
        });
        let inside: Vec<_> = inside.collect();
        let Some(first) = inside.iter().min_by_key(|sample| sample.time_ns) else {
            add(NOT_SAMPLED, whole_ns);
            continue;
        };
        let since_ns = first.since_ns.clamp(part.start_ns, first.time_ns);
        add(NOT_SAMPLED, (since_ns - part.start_ns) as f64);
        let all: u64 = inside.iter().map(|sample| sample.interval_ns).sum();
        for sample in &inside {
            let share = sample.interval_ns as f64 / all as f64;
            let label = format!("Lock.{}", sample.method);
            add(&label, share * (part.end_ns - since_ns) as f64);
        }
    }
    sums
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let method = prop::sample::select(vec!["x", "y", "z"]);
    // No two at once: it would not be known which one is first.
    let sample = (0..6u32, method, 1..40u64, 0..200u64, 1..100u64);
    prop::collection::vec(sample, 0..60).prop_map(|steps| {
        let mut at_ns = 0;
        let steps = steps.into_iter();
        let samples = steps.map(|(owner, method, after_ns, waited_ns, interval_ns)| {
            at_ns += after_ns;
            Sample {
                owner,
                method,
                time_ns: at_ns,
                since_ns: at_ns.saturating_sub(waited_ns),
                interval_ns,
            }
        });
        samples.collect()
    })
}

proptest! {
    #![proptest_config(config(SEEDS))]

    /// Where every release is seen: the waits that ended are the simulator's own, not what the
    /// analysis found.
    #[test]
    fn shares_are_those_of_the_samples(
        (rules, actions, delivery, samples) in
            (rules(Just(false)), actions(), delivery(0), samples()),
    ) {
        let history = simulate(rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let events = arrived.events();
        let capabilities = history.capabilities();
        // Of those that do not end, samples make the trace longer.
        let waits = truth::waits(&history, &Known::new(&events));
        let mut all: Vec<(ThreadId, Event<'_>)> = Vec::new();
        for sample in &samples {
            all.push(sample.event());
        }
        all.extend(events);
        let (_, of_waits) = analyze(&all, capabilities, Selection::default());
        for wait in &waits {
            let found = &of_waits[&(wait.thread.clone(), wait.start_ns)];
            for (label, expected_ns) in by_brute_force(wait, &samples) {
                if label == "nobody known" {
                    continue;
                }
                let found_ns = found.get(&label).copied().unwrap_or(0) as f64;
                // Boundaries are at whole nanoseconds.
                let tolerance_ns = (samples.len() * wait.parts.len()) as f64 * 1e-9
                    + samples.len() as f64;
                prop_assert!(
                    (found_ns - expected_ns).abs() <= tolerance_ns,
                    "{label}: {found_ns} of {expected_ns} ns: {found:?}"
                );
            }
        }
    }
}
