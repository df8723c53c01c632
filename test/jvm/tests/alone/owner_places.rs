//! A finding says where the owner was. Samples of owners have a budget of stops, which take longer where others have
//! the processors.

use jvm_tests::{alone, check_program, conclusions};
use serde_json::Value;

#[test]
fn the_owner_was_where_it_formatted() {
    let _alone = alone();
    let program = ["scenarios.Advice", "format"];
    check_program(&program, &[], |mode, run| {
        let found = conclusions(&run.trace());
        let first = &found["findings"][0];
        assert_eq!(
            first["owner"]["label"], "scenarios.Advice$Ledger.print",
            "{found:#}"
        );
        let places = first["owner_places"].as_array().expect("places");
        let place = |place: &Value| place["place"].as_str().expect("a place").to_owned();
        let first_place = places.first().map(place);
        let expected = "java.lang.String.format ← scenarios.Advice$Ledger.format";
        assert_eq!(
            first_place.as_deref(),
            Some(expected),
            "{mode:?}: {first:#}"
        );
        let in_method = places
            .iter()
            .filter(|it| place(it).ends_with("Ledger.format"));
        let share: f64 = in_method.filter_map(|place| place["share"].as_f64()).sum();
        assert!(share > 0.9, "{mode:?}: {first:#}");
    });
}
