//! A stored model answers as before, and damaged data is refused.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value, json};
use trace_analysis::Entities;
use trace_model::{Budget, Limits, Model, StoredModel};

use crate::support::{Loaded, ORDERS, all_kinds, demo, load, traces, without_parts};

/// Smaller than the demo.
fn small() -> Limits {
    Limits {
        waits: 300,
        shares: 900,
        parts: 0,
        ..Limits::default()
    }
}

/// Returns the answers to questions of every kind.
fn answers(model: &mut Model, entities: &Entities) -> Vec<Value> {
    let end_ns = model.end_ns();
    let part = json!({"from_ns": end_ns / 3, "to_ns": end_ns / 2});
    let mut kinds = serde_json::to_value(all_kinds()).unwrap();
    let all = kinds.clone();
    kinds["min_ns"] = json!(100_000);
    let mut answers = Vec::new();
    for selection in [json!({}), part, all, kinds] {
        for by in ORDERS {
            let query = json!({"selection": selection, "by": by, "buckets": 16});
            let query = serde_json::from_value(query).unwrap();
            answers.push(sorted(&model.query(&query, entities).unwrap()));
        }
        let query = serde_json::from_value(json!({"selection": selection})).unwrap();
        answers.push(serde_json::to_value(model.distribution(&query, entities).unwrap()).unwrap());
        let query = serde_json::from_value(json!({"selection": selection})).unwrap();
        let waits = model.waits(&query, entities).unwrap();
        for wait in waits.waits.iter().take(5) {
            let details = model.wait(wait.id, entities);
            answers.push(serde_json::to_value(details).unwrap());
        }
        answers.push(serde_json::to_value(waits).unwrap());
        for by in ["lock", "lock-class", "thread"] {
            let query = json!({"selection": selection, "by": by, "px": 300});
            let query = serde_json::from_value(query).unwrap();
            answers.push(serde_json::to_value(model.lanes(&query, entities).unwrap()).unwrap());
        }
    }
    answers
}

/// Returns groups, which come in no order, by the keys on their paths.
fn sorted(groups: &trace_model::Groups) -> Value {
    let mut groups = serde_json::to_value(groups).unwrap();
    let values = groups["values"].take();
    let keys_of = |path: &Value| -> Vec<String> {
        let positions = path.as_array().unwrap().iter();
        positions
            .map(|at| values[at.as_u64().unwrap() as usize]["key"].to_string())
            .collect()
    };
    let list = groups["groups"].as_array_mut().unwrap();
    for group in list.iter_mut() {
        group["path"] = json!(keys_of(&group["path"]));
    }
    list.sort_by_key(|group| group["path"].to_string());
    groups["frames"] = json!(groups["frames"].as_array().unwrap().len());
    groups
}

fn stored(loaded: &mut Loaded) -> Vec<u8> {
    let stored = loaded.model.to_stored(&loaded.entities);
    postcard::to_stdvec(&stored).expect("numbers and text")
}

fn restored(bytes: &[u8], limits: Limits) -> Model {
    let stored: StoredModel = postcard::from_bytes(bytes).expect("what was stored");
    Model::from_stored(stored, limits).expect("a model")
}

#[test]
fn a_model_that_was_stored_answers_as_before() {
    let nobody = Entities::default();
    for path in traces() {
        for limits in [Limits::default(), without_parts(), small()] {
            let mut loaded = load(&path, limits);
            let mut model = restored(&stored(&mut loaded), limits);
            assert_eq!(model.is_exact(), loaded.model.is_exact());
            assert_eq!(model.end_ns(), loaded.model.end_ns());
            let expected = answers(&mut loaded.model, &loaded.entities);
            let found = answers(&mut model, &nobody);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "{}", path.display());
            }
        }
    }
}

/// It can be stored again, and exported.
#[test]
fn a_model_from_an_index_is_a_model() {
    let nobody = Entities::default();
    for limits in [Limits::default(), small()] {
        let mut loaded = load(&demo(), limits);
        let bytes = stored(&mut loaded);
        let mut model = restored(&bytes, limits);
        let again = postcard::to_stdvec(&model.to_stored(&nobody)).unwrap();
        assert_eq!(again, bytes);
        for rows in [usize::MAX, 200, 0] {
            let budget = Budget {
                rows,
                folded_shares: rows,
                parts: usize::MAX,
            };
            let sums = |columns: trace_model::Columns| {
                let columns = serde_json::to_value(columns).unwrap();
                let sum = |table: &str, column: &str| -> u64 {
                    let column = columns[table][column].as_array().unwrap();
                    column.iter().filter_map(Value::as_u64).sum()
                };
                let tables = ["waits", "shares", "folded", "folded_shares"];
                tables.map(|table| sum(table, "duration_ns"))
            };
            let expected = sums(loaded.model.columns(budget, &loaded.entities));
            assert_eq!(sums(model.columns(budget, &nobody)), expected, "{rows}");
        }
    }
}

/// Damaged or forged data never makes a model panic: it is refused, or the model answers.
#[test]
fn what_is_forged_is_refused_or_answers() {
    let mut loaded = load(&demo(), small());
    let bytes = stored(&mut loaded);
    let refused = Cell::new(0);
    proptest!(|(
        changes in prop::collection::vec((0..bytes.len(), any::<u8>()), 1..4)
    )| {
        let mut bytes = bytes.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let stored = postcard::from_bytes::<StoredModel>(&bytes).ok();
        let model = stored.and_then(|stored| Model::from_stored(stored, small()).ok());
        match model {
            Some(mut model) => {
                answers(&mut model, &Entities::default());
            }
            None => refused.set(refused.get() + 1),
        }
    });
    assert!(refused.get() > 0, "no change was noticed");
}

#[test]
fn half_a_model_is_none() {
    let mut loaded = load(&demo(), small());
    let bytes = stored(&mut loaded);
    for len in (0..bytes.len()).step_by(997) {
        assert!(postcard::from_bytes::<StoredModel>(&bytes[..len]).is_err());
    }
}

/// Data beyond the limits is refused, even if it is sound.
#[test]
fn limits_hold_for_what_was_stored() {
    let mut loaded = load(&demo(), Limits::default());
    let stored: StoredModel = postcard::from_bytes(&stored(&mut loaded)).unwrap();
    let refused = Model::from_stored(stored, small());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "its waits do not fit together"
    );
}
