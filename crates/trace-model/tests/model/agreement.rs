//! Groups equal the rows of the analysis's aggregation.

use std::collections::BTreeMap;

use trace_analysis::{Aggregation, Aspect, Detail, Entities, RowLimits, Rows};
use trace_model::{Limits, WaitSelection};

use crate::support::{GroupNumbers, ORDERS, analyze, by_path, load, traces, without_parts};

fn add(
    rows: &Rows,
    path: &[String],
    entities: &Entities,
    found: &mut BTreeMap<Vec<String>, GroupNumbers>,
) {
    for row in &rows.rows {
        let mut path = path.to_vec();
        path.push(row.value.key(entities));
        add(&row.children, &path, entities, found);
        found.insert(
            path,
            GroupNumbers {
                duration_ns: row.sums.duration_ns,
                waits: row.sums.waits,
                contentions: row.sums.contentions,
                max_ns: row.sums.max_wait_ns,
            },
        );
    }
}

#[test]
fn groups_are_those_of_the_aggregation() {
    for path in traces() {
        for by in ORDERS {
            let aspects: Vec<Aspect> = by.iter().map(|name| name.parse().unwrap()).collect();
            let mut aggregation = Aggregation::new(aspects);
            let (_, entities) = analyze(&path, Detail::OWNERS, |wait, entities| {
                if wait.kind == trace_analysis::WaitKind::Contention {
                    aggregation.add(wait, entities);
                }
            });
            let mut expected = BTreeMap::new();
            let rows = aggregation.rows(RowLimits::default(), &entities);
            add(&rows, &[], &entities, &mut expected);
            let all = aggregation.totals().all;
            expected.insert(
                Vec::new(),
                GroupNumbers {
                    duration_ns: all.duration_ns,
                    waits: all.waits,
                    contentions: all.contentions,
                    max_ns: all.max_wait_ns,
                },
            );
            for limits in [Limits::default(), without_parts()] {
                let mut loaded = load(&path, limits);
                let groups = loaded.query(&WaitSelection::default(), by);
                assert_eq!(by_path(&groups), expected, "{} {by:?}", path.display());
                assert!(groups.omitted.iter().all(|omitted| omitted.groups == 0));
            }
        }
    }
}

#[test]
fn a_limit_says_what_it_leaves_out() {
    for path in traces() {
        let mut loaded = load(&path, Limits::default());
        let all = loaded.query(&WaitSelection::default(), &["thread", "owner-thread"]);
        let query = r#"{"by": ["thread", "owner-thread"], "limit": 2}"#;
        let query = serde_json::from_str(query).unwrap();
        let some = loaded.model.query(&query, &loaded.entities).unwrap();
        for depth in 1..=2 {
            let of_depth = |groups: &trace_model::Groups| {
                let groups = groups
                    .groups
                    .iter()
                    .filter(|group| group.path.len() == depth);
                groups
                    .map(|group| group.duration_ns.ns())
                    .collect::<Vec<_>>()
            };
            let omitted = some.omitted[depth - 1];
            assert!(of_depth(&some).len() <= 2);
            assert_eq!(
                of_depth(&some).len() as u64 + omitted.groups,
                of_depth(&all).len() as u64
            );
            assert_eq!(
                of_depth(&some).iter().sum::<u64>() + omitted.duration_ns.ns(),
                all.groups[0].duration_ns.ns()
            );
        }
    }
}

#[test]
fn what_is_asked_for_is_bounded() {
    let mut loaded = load(&traces()[0], Limits::default());
    for (query, wrong) in [
        (r#"{"limit": 50001}"#, "limit"),
        (r#"{"buckets": 2049}"#, "buckets"),
        (
            r#"{"limit": 50000, "buckets": 2048}"#,
            "limit times buckets",
        ),
        (
            r#"{"by": ["lock", "lock", "lock", "lock", "lock", "lock", "lock", "lock", "lock"]}"#,
            "aspects",
        ),
        (r#"{"selection": {"from_ns": 2, "to_ns": 1}}"#, "to_ns"),
    ] {
        let query = serde_json::from_str(query).unwrap();
        let error = loaded.model.query(&query, &loaded.entities).unwrap_err();
        assert!(error.to_string().contains(wrong), "{error}");
    }
    assert!(serde_json::from_str::<trace_model::Query>(r#"{"limits": 1}"#).is_err());
    assert!(serde_json::from_str::<WaitSelection>(r#"{"kind": []}"#).is_err());
}
