//! Orders of locks that contradict each other, in a program that says when it nested which.

use std::collections::BTreeMap;
use std::path::Path;

use jvm_tests::{check_program, locktrace};
use serde_json::Value;

const ROUNDS: u64 = 4;
/// The program's clock and the tracer's are read apart, and may differ a little in their speed.
const TOLERANCE_NS: u64 = 100_000;

#[test]
fn both_orders_are_found_with_their_code_and_how_close_they_were() {
    let program = ["scenarios.Inversions", &ROUNDS.to_string()];
    check_program(&program, &[], |mode, run| {
        let mut begins = BTreeMap::<[String; 2], Vec<[u64; 2]>>::new();
        for words in run.lines_of("began") {
            let order = [words[0].to_owned(), words[1].to_owned()];
            let begin_ns = [2, 3].map(|at| words[at].parse().expect("nanoseconds"));
            begins.entry(order).or_default().push(begin_ns);
        }
        let found = lock_order(&run.trace());

        let nestings = found["nestings"].as_array().expect("nestings");
        let own = |nesting: &&Value| class(&nesting["outer"]).starts_with("scenarios.Inversions$");
        let nestings: Vec<_> = nestings.iter().filter(own).collect();
        assert_eq!(nestings.len(), begins.len(), "{mode:?}: {found:#}");
        for nesting in nestings {
            let order = ["outer", "inner"].map(|side| class(&nesting[side]).to_owned());
            let times = begins[&order].len() as u64;
            assert_eq!(nesting["times"], times, "{mode:?}: {order:?}: {nesting:#}");
            assert_eq!(nesting["threads"], times, "a thread for each");
            let blocked_ns = nesting["blocked_ns"].as_u64().expect("nanoseconds");
            assert!(blocked_ns >= times * 1_000_000, "{mode:?}: {nesting:#}");
            let code = &nesting["codes"][0];
            assert_eq!(methods(&code["waiting"])[..2], ["use", "own"], "{mode:?}");
            assert_eq!(methods(&code["owning"])[0], "own", "{mode:?}");
        }

        let inversions = found["inversions"].as_array().expect("inversions");
        assert_eq!(inversions.len(), 1, "{mode:?}: {found:#}");
        assert_eq!(inversions[0]["certain"], true, "{mode:?}");
        let mut classes: Vec<_> = inversions[0]["locks"]
            .as_array()
            .expect("locks")
            .iter()
            .collect();
        classes.sort_by_key(|lock| class(lock));
        let classes: Vec<_> = classes.into_iter().map(class).collect();
        let [first, second] =
            ["First", "Second"].map(|name| format!("scenarios.Inversions${name}"));
        assert_eq!(classes, [&*first, &*second], "{mode:?}");
        let [one, other] =
            [[&first, &second], [&second, &first]].map(|order| &begins[&order.map(String::clone)]);
        let pairs = || {
            one.iter()
                .flat_map(|one| other.iter().map(move |other| (one, other)))
        };
        let least_ns = pairs().map(|(one, other)| least_gap(*one, *other)).min();
        let most_ns = pairs().map(|(one, other)| most_gap(*one, *other)).min();
        let (least_ns, most_ns) = (least_ns.expect("several"), most_ns.expect("several"));
        let found_ns = inversions[0]["closest_ns"].as_u64().expect("nanoseconds");
        let tolerated_ns = least_ns.saturating_sub(TOLERANCE_NS)..=most_ns + TOLERANCE_NS;
        assert!(
            tolerated_ns.contains(&found_ns),
            "{mode:?}: {found_ns} ns, not {least_ns} to {most_ns} ns"
        );
    });
}

#[test]
fn one_thread_and_guarded_threads_are_no_inversion() {
    for (how, cycles) in [
        ("one", "cycles_of_too_few_threads"),
        ("guarded", "guarded_cycles"),
    ] {
        let program = ["scenarios.HarmlessInversions", "40", how];
        check_program(&program, &[], |mode, run| {
            let found = lock_order(&run.trace());
            let orders = found["nestings"].as_array().expect("nestings").iter();
            let orders = orders.map(|nesting| ["outer", "inner"].map(|side| class(&nesting[side])));
            let name = |class: &str| class.rsplit('$').next().unwrap_or(class).to_owned();
            let orders: Vec<_> = orders.map(|order| order.map(name)).collect();
            for order in [["First", "Second"], ["Second", "First"]] {
                let order = order.map(str::to_owned);
                assert!(orders.contains(&order), "{mode:?}: {how}: {found:#}");
            }
            assert_eq!(found[cycles], 1, "{mode:?}: {how}: {found:#}");
            assert_eq!(found["inversions"], Value::Array(Vec::new()), "{mode:?}");
        });
    }
}

fn lock_order(trace: &Path) -> Value {
    let arguments = ["lock-order", "--format", "json"].map(AsRef::as_ref);
    let found = locktrace(arguments.into_iter().chain([trace.as_os_str()]));
    assert_eq!(found.code, 0, "{}", found.stderr);
    serde_json::from_str(&found.stdout).expect("JSON")
}

/// The shortest time between a moment of each of two spans.
fn least_gap(one: [u64; 2], other: [u64; 2]) -> u64 {
    one[0].max(other[0]).saturating_sub(one[1].min(other[1]))
}

/// The longest time between a moment of each of two spans.
fn most_gap(one: [u64; 2], other: [u64; 2]) -> u64 {
    one[1].max(other[1]) - one[0].min(other[0])
}

fn class(lock: &Value) -> &str {
    lock["lock_class"].as_str().expect("a class")
}

fn methods(frames: &Value) -> Vec<&str> {
    let frames = frames.as_array().expect("frames").iter();
    frames
        .map(|frame| frame["method"].as_str().expect("a method"))
        .collect()
}
