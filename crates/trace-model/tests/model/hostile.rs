//! Waits with numbers that no sound trace has.

use proptest::prelude::*;
use serde_json::{Value, json};
use trace_analysis::{Detail, Entities, StillBlocked, Wait, WaitSink};
use trace_model::{Arrangement, Budget, Evidence, Limits, MAX_NS, Model, Run};

use crate::support::{analyze, demo};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        0..10_000_000_000_u64,
        Just(MAX_NS),
        MAX_NS - 10..MAX_NS + 10,
        Just(1 << 62),
        Just(u64::MAX),
        any::<u64>(),
    ]
}

fn waits() -> (Vec<Wait>, Entities) {
    let mut waits = Vec::new();
    let (_, entities) = analyze(&demo(), Detail::CONTENTIONS, |wait, _| {
        waits.push(wait.clone())
    });
    (waits, entities)
}

/// Asks everything, and checks that a double holds all numbers.
fn ask(model: &mut Model, entities: &Entities, from_ns: u64, to_ns: u64) {
    let kinds = json!(["contention", "conditional", "idle", "sleep"]);
    let selections = [
        json!({ "kinds": kinds }),
        json!({"from_ns": from_ns.min(to_ns), "to_ns": from_ns.max(to_ns), "kinds": kinds}),
        json!({"min_ns": from_ns.min(to_ns), "max_ns": from_ns.max(to_ns)}),
    ];
    for selection in selections {
        let query = json!({
            "selection": selection, "by": ["lock-class", "owner-method", "thread"], "buckets": 7,
        });
        let query = serde_json::from_value(query).unwrap();
        check(&serde_json::to_value(model.query(&query, entities).unwrap()).unwrap());
        let query = serde_json::from_value(json!({ "selection": selection })).unwrap();
        check(&serde_json::to_value(model.distribution(&query, entities).unwrap()).unwrap());
        let query = serde_json::from_value(json!({ "selection": selection })).unwrap();
        check(&serde_json::to_value(model.waits(&query, entities).unwrap()).unwrap());
        for by in ["lock", "thread"] {
            let query = json!({"selection": selection, "by": by, "px": 50});
            let query = serde_json::from_value(query).unwrap();
            check(&serde_json::to_value(model.lanes(&query, entities).unwrap()).unwrap());
        }
    }
    let budget = Budget {
        rows: 20,
        folded_shares: 20,
        parts: 0,
    };
    model.columns(budget, entities);
}

/// Times are within the axis.
fn check(answer: &Value) {
    match answer {
        Value::Array(values) => values.iter().for_each(check),
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "start_ns" || name == "from_ns" {
                    assert!(value.as_u64().unwrap() <= MAX_NS, "{name} {value}");
                }
                check(value);
            }
        }
        _ => {}
    }
}

#[test]
fn no_number_is_too_large() {
    let (waits, entities) = waits();
    let numbers = proptest::collection::vec(number(), 5..60);
    let small = Limits {
        waits: 30,
        shares: 60,
        parts: 100,
        folded_shares: 20,
        ..Limits::default()
    };
    let limits = prop_oneof![Just(small), Just(Limits::default())];
    let config = ProptestConfig {
        cases: 48,
        ..ProptestConfig::default()
    };
    proptest!(config, |(numbers in numbers, limits in limits, from in number(), to in number())| {
        let mut numbers = numbers.into_iter().cycle();
        let mut next = || numbers.next().unwrap();
        let mut model = Model::new(limits, Arrangement::OneAfterTheOther, 0, Vec::new());
        let mut evidence = Evidence::new(Vec::new());
        for (position, wait) in waits.iter().take(150).enumerate() {
            if position % 40 == 0 {
                model.begin_trace(next());
            }
            let mut wait = wait.clone();
            wait.start_ns = next();
            wait.duration_ns = next();
            wait.safepoint_ns = next();
            for blame in &mut wait.blame {
                blame.duration_ns = next();
                blame.contentions = next();
            }
            for part in &mut wait.contentions {
                part.duration_ns = next();
            }
            model.add(&wait, &entities);
            wait.roots.clear();
            evidence.wait(&wait, &entities);
        }
        model.goes_on_until(next());
        ask(&mut model, &entities, from, to);
        let nobody: [StillBlocked; 0] = [];
        let run = Run { traces: 1, duration_ns: model.end_ns(), lives: &[] };
        let found = evidence.conclude(nobody.iter(), run, &entities);
        prop_assert!(found.findings.len() <= 5);
    });
}
