//! Folded waits count in every answer.

use trace_analysis::Detail;
use trace_model::{Arrangement, Budget, Limits, Model, WaitSelection};

use crate::support::{ORDERS, all_kinds, analyze, by_path, demo, load};

/// Far smaller than the demo.
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
    let half = WaitSelection {
        to_ns: Some(whole.model.end_ns() / 2),
        ..WaitSelection::default()
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

/// While a program runs, its newest waits are known one by one, however short, and all earlier ones in
/// sums.
#[test]
fn what_is_old_is_folded_first() {
    let mut waits = Vec::new();
    let (summary, entities) = analyze(&demo(), Detail::OWNERS, |wait, _| {
        waits.push(wait.clone());
    });
    let limits = Limits {
        waits: 4 * waits.len(),
        parts: 0,
        ..Limits::default()
    };
    let period_ns = summary.duration_ns;
    let rounds = 20;
    let mut models = [None, Some(2 * period_ns)].map(|recent_ns| {
        let mut model = Model::new(limits, Arrangement::OneAfterTheOther, 0, Vec::new());
        if let Some(recent_ns) = recent_ns {
            model.keep_recent(recent_ns);
        }
        model.begin_trace(0);
        for round in 0..rounds {
            for wait in &waits {
                let mut wait = wait.clone();
                wait.start_ns += round * period_ns;
                model.add(&wait, &entities);
            }
        }
        model.goes_on_until(rounds * period_ns);
        model
    });
    let kinds = serde_json::to_value(all_kinds()).unwrap();
    let ask = |model: &mut Model, from_round: u64| {
        let mut selection = kinds.clone();
        selection["from_ns"] = (from_round * period_ns).into();
        let query = serde_json::json!({"selection": selection, "limit": 1});
        let listed = model
            .waits(&serde_json::from_value(query).unwrap(), &entities)
            .unwrap();
        let query = serde_json::json!({"selection": selection});
        let groups = model
            .query(&serde_json::from_value(query).unwrap(), &entities)
            .unwrap();
        (
            listed.folded,
            groups.groups[0].waits,
            groups.groups[0].duration_ns,
        )
    };
    let [longest, recent] = &mut models;
    // All waits count, kept or not.
    let total = waits.len() as u64 * rounds;
    let (folded, _, duration_ns) = ask(longest, 0);
    assert!(folded > 0);
    let (folded, all, same_ns) = ask(recent, 0);
    assert_eq!((all, same_ns), (total, duration_ns));
    assert!(folded >= total / 2);
    assert_eq!(
        ask(recent, rounds - 1).0,
        0,
        "the newest are there one by one"
    );
    assert!(
        ask(longest, rounds - 1).0 > 0,
        "without that, short ones are not"
    );
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
            parts: usize::MAX,
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

/// An exported file has the answers of a model of its size.
#[test]
fn a_model_is_folded_as_its_columns_are() {
    for rows in [usize::MAX, 500, 20, 0] {
        let budget = Budget {
            rows,
            folded_shares: rows,
            parts: usize::MAX,
        };
        let mut loaded = load(&demo(), Limits::default());
        let total = loaded.query(&all_kinds(), &[]).groups[0].clone();
        let columns = loaded.model.columns(budget, &loaded.entities);
        let written = serde_json::to_value(&columns).unwrap();
        loaded.model.fold_to(budget, &loaded.entities);
        let folded = loaded.model.columns(budget, &loaded.entities);
        assert_eq!(serde_json::to_value(&folded).unwrap(), written, "{rows}");
        assert_eq!(loaded.model.folding().is_some(), rows < usize::MAX);
        assert_eq!(loaded.model.is_exact(), rows == usize::MAX);
        assert_eq!(columns.parts.is_some(), rows == usize::MAX);
        for by in ORDERS {
            let groups = loaded.query(&all_kinds(), by);
            let sums = by_path(&groups);
            assert_eq!(sums[&Vec::new()].duration_ns, total.duration_ns.ns());
            assert_eq!(sums[&Vec::new()].waits, total.waits);
            let leaves = sums.iter().filter(|(path, _)| path.len() == by.len());
            let leaves_ns: u64 = leaves.map(|(_, sums)| sums.duration_ns).sum();
            assert_eq!(leaves_ns, total.duration_ns.ns(), "{by:?}");
            for group in &groups.groups {
                let series_ns: u64 = group.series.iter().map(|sum| sum.ns()).sum();
                assert_eq!(series_ns, group.duration_ns.ns(), "{by:?}");
                assert!(group.max_ns <= group.duration_ns.ns());
            }
        }
    }
}

/// The buckets of a distribution have all waits and all time, even if a range cuts sums.
#[test]
fn distributions_of_folded_waits_add_up() {
    let mut loaded = load(&demo(), Limits::default());
    let budget = Budget {
        rows: 100,
        folded_shares: 1_000,
        parts: 0,
    };
    loaded.model.fold_to(budget, &loaded.entities);
    let end_ns = loaded.model.end_ns();
    for (from_ns, to_ns) in [(0, end_ns), (0, end_ns / 3), (end_ns / 7 * 3, end_ns / 2)] {
        for filter in [
            "",
            r#"{"aspect": "owner-method", "not": true, "in": ["?"]}"#,
        ] {
            let selection = format!(
                r#"{{"selection": {{"from_ns": {from_ns}, "to_ns": {to_ns}, "filter": [{filter}]}}}}"#
            );
            let query = serde_json::from_str(&selection).unwrap();
            let answer = loaded.model.distribution(&query, &loaded.entities).unwrap();
            let waits: u64 = answer.buckets.iter().map(|bucket| bucket.waits).sum();
            let duration_ns: u64 = answer.buckets.iter().map(|one| one.duration_ns.ns()).sum();
            assert_eq!(waits, answer.waits, "{selection}");
            assert_eq!(duration_ns, answer.duration_ns.ns(), "{selection}");
        }
    }
}
