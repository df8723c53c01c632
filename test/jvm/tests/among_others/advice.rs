//! The first finding of programs with one planted cause names it, with its own remedy.

use std::sync::atomic::{AtomicUsize, Ordering};

use jvm_tests::{Run, check_program, conclusions};
use serde_json::Value;

/// The program's clocks include the time until a thread notices that it has the lock.
const TOLERANCE: f64 = 0.1;
/// The share of a run that threads may wait, all together, without a lock being worth a change.
const LITTLE: f64 = 0.004;

#[test]
fn the_owner_of_the_inner_lock_is_to_blame() {
    let program = ["scenarios.Advice", "chain"];
    check_program(&program, &[], |mode, run| {
        let first = first(run, "long-hold", "scenarios.Advice$Inner.refresh");
        let through = &first["through"][0];
        let outer = ["lock_class", "owner"].map(|side| through[side]["label"].as_str());
        let expected = ["scenarios.Advice$Outer", "scenarios.Advice$Outer.update"];
        assert_eq!(outer, expected.map(Some), "{mode:?}: {first:#}");
        check_time(&first, run);
        // It sleeps while the owner of the outer lock waits for it.
        check_on_processor(&first, 0.0);
    });
}

#[test]
fn one_key_of_a_map_is_to_blame() {
    let program = ["scenarios.Advice", "key"];
    check_program(&program, &[], |_, run| {
        let first = first(
            run,
            "one-map-key",
            "java.util.concurrent.ConcurrentHashMap.compute",
        );
        check_time(&first, run);
    });
}

#[test]
fn one_stripe_takes_nearly_all() {
    let program = ["scenarios.Advice", "stripes"];
    check_program(&program, &[], |_, run| {
        let first = first(run, "uneven-stripes", "scenarios.Advice$Stripes.put");
        check_time(&first, run);
    });
}

#[test]
fn who_keeps_what_a_pool_lends_is_named() {
    let program = ["scenarios.Advice", "pool"];
    check_program(&program, &[], |mode, run| {
        let first = first(run, "pool-too-small", "scenarios.Advice$Pool.giveBack");
        let mut users = first["kept_by"].as_array().expect("users").iter();
        let user = users.find(|it| it["by"] == "scenarios.Advice$Mailer.deliver");
        let user = user.unwrap_or_else(|| panic!("{mode:?}: {first:#}"));
        let kept_ns: f64 =
            (run.lines_of("kept").next().expect("its clock")[0].parse()).expect("nanoseconds");
        let mean_ns = ns(&user["mean_ns"]);
        // A thread that waits may be woken for nothing, if another one was quicker.
        assert!(
            (mean_ns / kept_ns - 1.0).abs() < 0.25,
            "{mode:?}: {kept_ns} ns by the program: {first:#}"
        );
        let found = conclusions(&run.trace());
        let findings = found["findings"].as_array().expect("findings");
        let pools = findings
            .iter()
            .filter(|it| it["pattern"] == "pool-too-small");
        assert_eq!(pools.count(), 1, "{mode:?}: {found:#}");
    });
}

#[test]
fn a_fair_lock_is_called_so() {
    let program = ["scenarios.Advice", "fair"];
    check_program(&program, &[], |mode, run| {
        let found = conclusions(&run.trace());
        let patterns = found["findings"].as_array().expect("findings").iter();
        let patterns: Vec<_> = patterns.map(|it| it["pattern"].as_str()).collect();
        assert_eq!(
            patterns.first(),
            Some(&Some("fair-lock")),
            "{mode:?}: {found:#}"
        );
    });
}

/// Of two locks of a class, one is free most of the time that threads wait for it, and one never is.
#[test]
fn a_lock_is_not_free_because_another_one_is() {
    let program = ["scenarios.Advice", "two-fair"];
    check_program(&program, &[], |mode, run| {
        let found = conclusions(&run.trace());
        let finding = |pattern: &str, owner: &str| {
            let mut findings = found["findings"].as_array().expect("findings").iter();
            let finding =
                findings.find(|it| it["pattern"] == pattern && it["owner"]["label"] == owner);
            finding.unwrap_or_else(|| panic!("{mode:?}: no {pattern}: {found:#}"))
        };
        finding("fair-lock", "scenarios.Advice$Fair.count");
        let slow = finding("long-hold", "scenarios.Advice$Slow.work");
        let free_ns = ns(&slow["confidence"]["free_ns"]);
        let is_held = free_ns < 0.2 * ns(&slow["duration_ns"]);
        assert!(is_held, "{mode:?}: {found:#}");
    });
}

#[test]
fn an_owner_that_computes_is_on_a_processor_and_one_that_sleeps_is_not() {
    for way in ["compute", "rest"] {
        let program = ["scenarios.Advice", way];
        check_program(&program, &[], |_, run| {
            let first = first(run, "long-hold", &format!("scenarios.Advice$Holder.{way}"));
            let words = run.lines_of("ran").next().expect("its clocks");
            let [ran_ns, held_ns] = [0, 2].map(|at| words[at].parse::<f64>().expect("nanoseconds"));
            check_on_processor(&first, ran_ns / held_ns);
        });
    }
}

#[test]
fn little_contention_is_no_advice() {
    let quiet_runs = AtomicUsize::new(0);
    let program = ["scenarios.Advice", "quiet"];
    check_program(&program, &[], |mode, run| {
        let found = conclusions(&run.trace());
        // An owner that loses its processor makes others wait for milliseconds.
        if waited_ns(run) >= LITTLE * ns(&found["traces"][0]["duration_ns"]) {
            return;
        }
        quiet_runs.fetch_add(1, Ordering::Relaxed);
        assert!(found["quiet"].is_object(), "{mode:?}: {found:#}");
        assert_eq!(found["findings"], Value::Array(Vec::new()), "{mode:?}");
    });
    assert!(quiet_runs.into_inner() > 0, "threads waited in all runs");
}

/// Returns the first finding, which has this pattern and owner.
#[track_caller]
fn first(run: &Run, pattern: &str, owner: &str) -> Value {
    let found = conclusions(&run.trace());
    let first = found["findings"][0].clone();
    assert_eq!(first["pattern"], pattern, "{found:#}");
    assert_eq!(first["owner"]["label"], owner, "{found:#}");
    first
}

/// The share of its holds in which the owner was on a processor, by its own clock, is between the bounds.
#[track_caller]
fn check_on_processor(finding: &Value, truth: f64) {
    let bound = |name: &str| finding["owner_on_processor"][name].as_f64();
    let bounds = bound("least").zip(bound("most"));
    // A hold that nobody waited for is in the truth only.
    let is_right = bounds.is_some_and(|(least, most)| {
        least - TOLERANCE <= truth && truth <= most + TOLERANCE && most - least <= 0.5
    });
    assert!(is_right, "{truth}: {finding:#}");
}

/// The time of a finding is what the threads waited by their own clocks, but for the time in which they had been woken
/// and were not running yet.
#[track_caller]
fn check_time(finding: &Value, run: &Run) {
    let waited_ns = waited_ns(run);
    let held_ns = ns(&finding["duration_ns"]);
    let all_ns = held_ns + ns(&finding["confidence"]["free_ns"]);
    let is_right =
        held_ns <= (1.0 + TOLERANCE) * waited_ns && all_ns >= (1.0 - TOLERANCE) * waited_ns;
    assert!(
        is_right,
        "{held_ns} of {all_ns} ns, not {waited_ns} ns: {finding:#}"
    );
}

/// Returns how long the threads waited by their own clocks, in nanoseconds.
fn waited_ns(run: &Run) -> f64 {
    let waited = run.lines_of("waited").next().expect("its clocks");
    waited[0].parse().expect("nanoseconds")
}

fn ns(value: &Value) -> f64 {
    value.as_f64().expect("nanoseconds")
}
