//! What does not fit counts all the same.

use trace_model::{Budget, Limits, Selection};

use crate::support::{ORDERS, all_kinds, by_path, demo, load};

/// Much less than the demo has.
fn small(folded_shares: usize) -> Limits {
    Limits {
        waits: 100,
        shares: 300,
        parts: 0,
        folded_shares,
        ..Limits::default()
    }
}

const CODE: [&str; 6] = [
    "kind",
    "lock-class",
    "method",
    "owner-method",
    "chain",
    "mechanism",
];

#[test]
fn folded_waits_are_in_all_sums() {
    let mut whole = load(&demo(), Limits::default());
    for folded_shares in [1, 40, 100_000] {
        let mut folded = load(&demo(), small(folded_shares));
        let folding = folded.model.folding().expect("it does not fit");
        assert!(folding.waits > 500);
        let total = &whole.query(&all_kinds(), &[]).groups[0];
        let waits = serde_json::from_str(
            r#"{"selection": {"kinds": ["contention", "conditional", "idle", "sleep"]}, "limit": 1}"#,
        );
        let waits = folded
            .model
            .waits(&waits.unwrap(), &folded.entities)
            .unwrap();
        assert_eq!(waits.total + waits.folded, total.waits);
        assert_eq!(waits.folded, folding.waits);
        for by in ORDERS {
            let is_code = by.iter().all(|aspect| CODE.contains(aspect));
            let expected = by_path(&whole.query(&all_kinds(), by));
            let found = by_path(&folded.query(&all_kinds(), by));
            assert_eq!(found[&Vec::new()], expected[&Vec::new()], "{by:?}");
            if !is_code && folded_shares < 100_000 {
                continue;
            }
            for (path, expected) in &expected {
                assert!(found.contains_key(path), "{by:?} {path:?} {found:?}");
                assert_eq!(
                    found[path].duration_ns, expected.duration_ns,
                    "{by:?} {path:?}"
                );
                assert_eq!(
                    found[path].contentions, expected.contentions,
                    "{by:?} {path:?}"
                );
            }
        }
    }
}

#[test]
fn folded_waits_lie_in_time() {
    let mut whole = load(&demo(), Limits::default());
    let mut folded = load(&demo(), small(100_000));
    let half = Selection {
        to_ns: Some(whole.model.end_ns() / 2),
        ..Selection::default()
    };
    let by = ["lock-class", "method"];
    let expected = by_path(&whole.query(&half, &by));
    let found = by_path(&folded.query(&half, &by));
    for (path, expected) in &expected {
        let off = found[path].duration_ns.abs_diff(expected.duration_ns);
        assert!(
            off as f64 <= 0.02 * expected.duration_ns as f64 + 1e6,
            "{path:?}: {off} ns"
        );
    }
}

#[test]
fn threads_and_code_beyond_the_limit_are_folded_too() {
    let limits = Limits {
        waiters: 1,
        owners: 1,
        ..small(1)
    };
    let mut folded = load(&demo(), limits);
    let mut whole = load(&demo(), Limits::default());
    let by = ["lock-class", "method"];
    let expected = by_path(&whole.query(&all_kinds(), &by));
    let found = by_path(&folded.query(&all_kinds(), &by));
    for (path, expected) in &expected {
        assert_eq!(found[path].duration_ns, expected.duration_ns, "{path:?}");
    }
    let threads = by_path(&folded.query(&all_kinds(), &["thread"]));
    assert!(threads.contains_key(&vec!["<folded>".to_owned()]));
}

#[test]
fn columns_conserve_sums() {
    let total = load(&demo(), Limits::default())
        .query(&all_kinds(), &[])
        .groups[0]
        .clone();
    for (rows, folded_shares) in [(usize::MAX, usize::MAX), (500, 1_000), (0, 10), (0, 0)] {
        let mut loaded = load(&demo(), Limits::default());
        let budget = Budget {
            rows,
            folded_shares,
        };
        let columns = loaded.model.columns(budget, &loaded.entities);
        let columns = serde_json::to_value(&columns).unwrap();
        let sum = |table: &str, column: &str| -> u64 {
            let column = columns[table][column].as_array().unwrap();
            column.iter().map(|value| value.as_u64().unwrap()).sum()
        };
        let duration_ns = total.duration_ns.ns();
        assert_eq!(
            sum("waits", "duration_ns") + sum("folded", "duration_ns"),
            duration_ns
        );
        assert_eq!(
            sum("shares", "duration_ns") + sum("folded_shares", "duration_ns"),
            duration_ns
        );
        let kept = columns["waits"]["id"].as_array().unwrap().len() as u64;
        assert_eq!(kept + sum("folded", "waits"), total.waits);
        assert_eq!(
            sum("waits", "shares"),
            columns["shares"]["owner"].as_array().unwrap().len() as u64
        );
        assert_eq!(
            sum("shares", "contentions") + sum("folded_shares", "contentions"),
            total.contentions
        );
        if rows == usize::MAX {
            assert_eq!(kept, total.waits);
            assert_eq!(sum("parts", "duration_ns"), duration_ns);
        }
    }
}
