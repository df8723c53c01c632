//! A finding says where the owner was. Samples of owners have a budget of stops, which take longer where others have
//! the processors.

use std::cell::Cell;

use jvm_tests::{CompileMode, alone, check_program, conclusions};
use serde_json::Value;

/// How often it is tried in all settings, until a run has samples enough.
const TRIES: u32 = 3;

#[test]
fn the_owner_was_where_it_formatted() {
    let _alone = alone();
    let program = ["scenarios.Advice", "format"];
    let is_sampled = Cell::new(false);
    for _ in 0..TRIES {
        check_program(&program, &[], |mode, run| {
            let found = conclusions(&run.trace());
            is_sampled.set(check_places(&found, mode) || is_sampled.get());
        });
        if is_sampled.get() {
            return;
        }
    }
    panic!("no run had samples enough");
}

/// Checks where the owner was. Returns whether there are samples enough to say it.
fn check_places(found: &Value, mode: CompileMode) -> bool {
    let first = &found["findings"][0];
    assert_eq!(
        first["owner"]["label"], "scenarios.Advice$Ledger.print",
        "{found:#}"
    );
    let places = first["owner_places"].as_array().expect("places");
    let number = |name: &str| first[name].as_f64().expect("a number");
    if number("owner_samples") < 10.0 || number("owner_sampled") < 0.05 {
        assert!(places.is_empty(), "{mode:?}: {first:#}");
        return false;
    }
    let place = |place: &Value| place["place"].as_str().expect("a place").to_owned();
    let expected = "java.lang.String.format ← scenarios.Advice$Ledger.format";
    assert_eq!(
        places.first().map(place).as_deref(),
        Some(expected),
        "{mode:?}: {first:#}"
    );
    let in_method = places
        .iter()
        .filter(|it| place(it).ends_with("Ledger.format"));
    let share: f64 = in_method.filter_map(|place| place["share"].as_f64()).sum();
    assert!(share > 0.9, "{mode:?}: {first:#}");
    true
}
