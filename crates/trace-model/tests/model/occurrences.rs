//! Single waits and timelines.

use serde_json::{Value, json};
use trace_model::Limits;

use crate::support::{Loaded, demo, load, traces, without_parts};

fn waits(loaded: &mut Loaded, question: Value) -> Value {
    let query = serde_json::from_value(question).unwrap();
    let waits = loaded.model.waits(&query, &loaded.entities).unwrap();
    serde_json::to_value(waits).unwrap()
}

#[test]
fn pages_have_each_wait_once() {
    for path in traces() {
        let mut loaded = load(&path, Limits::default());
        for sort in ["duration", "start"] {
            let mut cursor = Value::Null;
            let mut seen = Vec::new();
            loop {
                let question = json!({"sort": sort, "limit": 7, "cursor": cursor});
                let page = waits(&mut loaded, question);
                let listed = page["waits"].as_array().unwrap();
                assert!(listed.len() <= 7);
                seen.extend(listed.iter().map(|wait| {
                    let by = match sort {
                        "duration" => u64::MAX - wait["selected_ns"].as_u64().unwrap(),
                        _ => wait["start_ns"].as_u64().unwrap(),
                    };
                    (by, wait["id"].as_u64().unwrap())
                }));
                cursor = page["cursor"].clone();
                if cursor.is_null() {
                    assert_eq!(seen.len() as u64, page["total"].as_u64().unwrap());
                    break;
                }
            }
            assert!(seen.is_sorted_by_key(|&(by, _)| by));
            let mut ids: Vec<u64> = seen.iter().map(|&(_, id)| id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), seen.len());
        }
    }
}

#[test]
fn a_cursor_of_nobody_is_refused() {
    let mut loaded = load(&demo(), Limits::default());
    for cursor in ["", "1", "1-2", "1-2-3-4", "a-b-c", "1-2--3"] {
        let query = serde_json::from_value(json!({ "cursor": cursor })).unwrap();
        assert!(
            loaded.model.waits(&query, &loaded.entities).is_err(),
            "{cursor}"
        );
    }
}

#[test]
fn a_wait_is_its_parts() {
    let mut loaded = load(&demo(), Limits::default());
    let listed = waits(&mut loaded, json!({"limit": 50}));
    for wait in listed["waits"].as_array().unwrap() {
        let id = wait["id"].as_u64().unwrap();
        let found = loaded.model.wait(id, &loaded.entities).unwrap();
        let parts = found.parts.unwrap();
        let mut at_ns = found.wait.start_ns;
        let mut by_share = vec![0; found.wait.shares.len()];
        for part in parts {
            assert_eq!(part.start_ns, at_ns);
            at_ns += part.duration_ns;
            by_share[part.share as usize] += part.duration_ns;
        }
        assert_eq!(at_ns, found.wait.start_ns + found.wait.duration_ns);
        let shares: Vec<u64> = found
            .wait
            .shares
            .iter()
            .map(|share| share.duration_ns)
            .collect();
        assert_eq!(by_share, shares);
        assert!(shares.is_sorted_by(|a, b| a >= b));
        assert!(
            found
                .meanwhile
                .iter()
                .all(|other| other.id != id && other.overlap_ns > 0)
        );
    }
    assert!(loaded.model.wait(u64::MAX, &loaded.entities).is_none());
}

#[test]
fn the_distribution_has_all_waits() {
    for path in traces() {
        let mut loaded = load(&path, Limits::default());
        let total = loaded
            .query(&trace_model::WaitSelection::default(), &[])
            .groups[0]
            .clone();
        let query = serde_json::from_value(json!({})).unwrap();
        let found = loaded.model.distribution(&query, &loaded.entities).unwrap();
        assert_eq!(found.waits, total.waits);
        assert_eq!(found.duration_ns, total.duration_ns);
        assert_eq!(found.max_ns, total.max_ns);
        assert_eq!(
            found.buckets.iter().map(|bucket| bucket.waits).sum::<u64>(),
            total.waits
        );
        for bucket in found.buckets {
            let selection =
                json!({"selection": {"min_ns": bucket.from_ns, "max_ns": bucket.to_ns}});
            let query = serde_json::from_value(selection).unwrap();
            let filtered = loaded.model.distribution(&query, &loaded.entities).unwrap();
            assert_eq!(filtered.waits, bucket.waits);
            assert_eq!(filtered.duration_ns, bucket.duration_ns);
        }
    }
}

fn lanes(loaded: &mut Loaded, question: Value) -> Value {
    let query = serde_json::from_value(question).unwrap();
    let lanes = loaded.model.lanes(&query, &loaded.entities).unwrap();
    serde_json::to_value(lanes).unwrap()
}

#[test]
fn lanes_have_all_time() {
    for path in traces() {
        for limits in [Limits::default(), without_parts()] {
            for by in ["lock", "lock-class", "thread"] {
                for px in [1, 10, 4_000] {
                    let mut loaded = load(&path, limits);
                    let total = loaded.query(&trace_model::WaitSelection::default(), &[]);
                    let question = json!({"by": by, "px": px, "limit": 50});
                    let found = lanes(&mut loaded, question);
                    check(&found, by, px, total.groups[0].duration_ns.ns());
                }
            }
        }
    }
}

fn check(found: &Value, by: &str, px: usize, total_ns: u64) {
    let ns = |value: &Value| value.as_u64().unwrap();
    let mut sum_ns = 0;
    for lane in found["lanes"].as_array().unwrap() {
        let lane_ns = ns(&lane["duration_ns"]);
        sum_ns += lane_ns;
        if lane["mode"] == "bins" {
            let waiting = lane["waiting_ns"].as_array().unwrap();
            assert_eq!(waiting.len(), px);
            assert_eq!(waiting.iter().map(ns).sum::<u64>(), lane_ns);
            let pixels = lane["bins"].as_array().unwrap();
            let pairs = pixels.iter().flat_map(|pixel| pixel.as_array().unwrap());
            let owned_ns: u64 = pairs.skip(1).step_by(2).map(ns).sum();
            match by {
                // Threads that wait at the same time wait for the same owner.
                "lock" if found["exact"] == true => assert!(owned_ns <= lane_ns),
                _ => assert_eq!(owned_ns, lane_ns),
            }
        } else {
            let segments = lane["segments"].as_array().unwrap();
            let length_ns = |segment: &Value| ns(&segment["to_ns"]) - ns(&segment["from_ns"]);
            let waits = lane["waits_at"].as_array().unwrap();
            assert_eq!(waits.iter().map(length_ns).sum::<u64>(), lane_ns);
            if by == "thread" {
                assert_eq!(segments.iter().map(length_ns).sum::<u64>(), lane_ns);
            }
            if by == "lock" {
                let ends = segments.windows(2);
                assert!(
                    ends.into_iter()
                        .all(|two| ns(&two[0]["to_ns"]) <= ns(&two[1]["from_ns"]))
                );
            }
        }
    }
    assert_eq!(sum_ns + ns(&found["omitted"]["duration_ns"]), total_ns);
}
