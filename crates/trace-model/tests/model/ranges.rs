//! Waits are cut at the edges of ranges, and nothing is lost.

use std::collections::BTreeMap;

use trace_analysis::Detail;
use trace_model::{Limits, WaitSelection};

use crate::support::{ORDERS, all_kinds, analyze, by_path, load, traces, without_parts};

fn range(from_ns: u64, to_ns: u64) -> WaitSelection {
    WaitSelection {
        from_ns: Some(from_ns),
        to_ns: Some(to_ns),
        ..all_kinds()
    }
}

#[test]
fn consecutive_ranges_add_up() {
    for path in traces() {
        for limits in [Limits::default(), without_parts()] {
            let mut loaded = load(&path, limits);
            let end_ns = loaded.model.end_ns();
            let mut edges: Vec<u64> = (0..=7).map(|at| end_ns / 7 * at).collect();
            edges.push(end_ns);
            for by in ORDERS {
                let mut sums: BTreeMap<Vec<String>, u64> = BTreeMap::new();
                for edge in edges.windows(2) {
                    let groups = loaded.query(&range(edge[0], edge[1]), by);
                    for (path, found) in by_path(&groups) {
                        *sums.entry(path).or_default() += found.duration_ns;
                    }
                }
                let whole = by_path(&loaded.query(&all_kinds(), by));
                for (path, whole) in &whole {
                    let sum = sums.get(path).copied().unwrap_or(0);
                    // Without parts, the share of an owner in a cut wait is rounded.
                    let is_common =
                        path.is_empty() || !by.iter().any(|aspect| aspect.starts_with("owner"));
                    let most_off = if loaded.model.is_exact() || is_common {
                        0
                    } else {
                        whole.waits
                    };
                    assert!(
                        sum.abs_diff(whole.duration_ns) <= most_off,
                        "{by:?} {path:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn series_are_what_ranges_have() {
    for path in traces() {
        for limits in [Limits::default(), without_parts()] {
            let mut loaded = load(&path, limits);
            let (from_ns, to_ns) = (loaded.model.end_ns() / 5, loaded.model.end_ns() / 5 * 4);
            let groups = loaded.query(&range(from_ns, to_ns), &["lock-class", "owner-method"]);
            for group in &groups.groups {
                let sum: u64 = group.series.iter().map(|value| value.ns()).sum();
                assert_eq!(sum, group.duration_ns.ns(), "{:?}", group.path);
            }
            let wall: u64 = groups.groups[0]
                .wall_series
                .iter()
                .map(|value| value.ns())
                .sum();
            assert_eq!(wall, groups.groups[0].wall_ns);
        }
    }
}

/// With the parts of waits, the shares of owners in a range are exact.
#[test]
fn owners_of_cut_waits_are_exact() {
    for path in traces() {
        let mut loaded = load(&path, Limits::default());
        let end_ns = loaded.model.end_ns();
        let (from_ns, to_ns) = (end_ns / 3, end_ns / 3 * 2);
        let mut expected: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        let mut add = |key: String, ns: u64| *expected.entry(vec![key]).or_default() += ns;
        analyze(&path, Detail::CONTENTIONS, |wait, entities| {
            for part in &wait.contentions {
                let inside_ns = (part.start_ns + part.duration_ns)
                    .min(to_ns)
                    .saturating_sub(part.start_ns.max(from_ns));
                if inside_ns > 0 {
                    let owner = match part.owner {
                        trace_analysis::Owner::Thread { thread, .. } => {
                            trace_analysis::Value::Thread(thread)
                        }
                        trace_analysis::Owner::Free => trace_analysis::Value::Free,
                        trace_analysis::Owner::Frozen => trace_analysis::Value::Frozen,
                        trace_analysis::Owner::Unknown(reason) => {
                            trace_analysis::Value::UnknownOwner(reason)
                        }
                    };
                    add(owner.key(entities), inside_ns);
                }
            }
        });
        let groups = loaded.query(&range(from_ns, to_ns), &["owner-thread"]);
        assert!(groups.exact);
        let found = by_path(&groups).into_iter();
        let found: BTreeMap<_, _> = found
            .filter(|(path, sums)| !path.is_empty() && sums.duration_ns > 0)
            .map(|(path, sums)| (path, sums.duration_ns))
            .collect();
        assert_eq!(found, expected, "{}", path.display());
    }
}

/// The time in which any thread waits is the union of all waits.
#[test]
fn wall_time_is_the_union_of_waits() {
    for path in traces() {
        let mut loaded = load(&path, Limits::default());
        let mut waits = Vec::new();
        analyze(&path, Detail::OWNERS, |wait, _| {
            if wait.kind == trace_analysis::WaitKind::Contention {
                waits.push((wait.start_ns, wait.start_ns + wait.duration_ns));
            }
        });
        waits.sort_unstable();
        let (mut union_ns, mut until_ns) = (0, 0);
        for (start_ns, end_ns) in waits {
            union_ns += end_ns.saturating_sub(start_ns.max(until_ns));
            until_ns = until_ns.max(end_ns);
        }
        let groups = loaded.query(&WaitSelection::default(), &[]);
        assert_eq!(groups.groups[0].wall_ns, union_ns);
    }
}

#[test]
fn conditions_divide_what_there_is() {
    for path in traces() {
        let mut loaded = load(&path, Limits::default());
        for aspect in [
            "lock-class",
            "owner-method",
            "thread",
            "owner-chain",
            "chain",
            "trace",
        ] {
            let groups = loaded.query(&all_kinds(), &[aspect]);
            let total_ns = groups.groups[0].duration_ns.ns();
            for (path, sums) in by_path(&groups) {
                let Some(key) = path.first() else { continue };
                let mut select = |not: bool| {
                    let mut selection = all_kinds();
                    let condition = serde_json::json!({"aspect": aspect, "not": not, "in": [key]});
                    selection.filter = vec![serde_json::from_value(condition).unwrap()];
                    loaded.query(&selection, &[]).groups[0].clone()
                };
                let (with, without) = (select(false), select(true));
                assert_eq!(with.duration_ns.ns(), sums.duration_ns, "{aspect} {key}");
                assert_eq!(with.waits, sums.waits, "{aspect} {key}");
                assert_eq!(with.duration_ns.ns() + without.duration_ns.ns(), total_ns);
            }
        }
    }
}
