//! What kept the owner of a lock from running, against the collectors, the system and the
//! program's own clock.

use std::path::Path;

use jvm_tests::{check_program, locktrace};
use serde_json::Value;

/// The thread is seen to wait after it has begun to, and the owner's notes are read before and
/// after it is: what it did in between is part of the wait, too.
const AROUND_NS: u64 = 60_000_000;
/// Collectors round their times down.
const COLLECTOR_UNIT_NS: u64 = 1_000_000;
/// Between two looks at an owner, on a machine where the tracer has to wait for a processor itself.
const BETWEEN_SAMPLES_NS: u64 = 150_000_000;

#[test]
fn each_cause_has_its_time() {
    check_program(&["scenarios.OwnerStops"], &[], |mode, run| {
        let said = |word: &str| -> Vec<u64> {
            let mut lines = run.lines_of(word);
            let words = lines.next().unwrap_or_else(|| panic!("{word}"));
            let numbers = words.iter().map(|word| word.parse().expect("a number"));
            numbers.collect()
        };
        let trace = run.trace();

        let owners = owners_of("Collected", &trace);
        let [collections, collected_ns, waited_ns] = said("collected")[..] else {
            panic!("three numbers");
        };
        let stopped_ns = owners.ns("at_safepoint_ns");
        let least_ns = collected_ns - (2 * collections * COLLECTOR_UNIT_NS).min(collected_ns);
        assert!(
            (least_ns..=waited_ns + AROUND_NS).contains(&stopped_ns),
            "{mode:?}: {collected_ns} to {waited_ns} ns: {owners:?}"
        );

        let owners = owners_of("Asleep", &trace);
        let [asleep_ns] = said("asleep")[..] else {
            panic!("a number");
        };
        let told = owners.is("run_delay_told");
        if told {
            // The owner slept from a look at it on, and until another one.
            let off_ns = owners.ns("off_processor_ns") + owners.ns("not_sampled_ns");
            let least_ns = asleep_ns - BETWEEN_SAMPLES_NS;
            let most_ns = asleep_ns + AROUND_NS + BETWEEN_SAMPLES_NS;
            assert!(
                (least_ns..=most_ns).contains(&off_ns),
                "{mode:?}: {asleep_ns} ns: {owners:?}"
            );
            assert!(
                owners.ns("on_processor_ns") <= BETWEEN_SAMPLES_NS,
                "{owners:?}"
            );
        }

        let owners = owners_of("Starved", &trace);
        let [_, _, delayed_ns] = said("starved")[..] else {
            panic!("three numbers");
        };
        if told {
            let slack_ns = AROUND_NS + owners.ns("not_sampled_ns");
            let bounds = owners.ns("least_run_delay_ns")..=owners.ns("most_run_delay_ns");
            assert!(
                *bounds.start() <= delayed_ns + AROUND_NS && delayed_ns <= *bounds.end() + slack_ns,
                "{mode:?}: {delayed_ns} ns: {owners:?}"
            );
            // With three others on the processor it waits for most of the time, and is known to.
            let found_ns = owners.ns("run_delay_ns");
            let tolerated_ns = slack_ns + BETWEEN_SAMPLES_NS;
            assert!(
                found_ns.abs_diff(delayed_ns) <= tolerated_ns,
                "{mode:?}: {delayed_ns} ns: {owners:?}"
            );
        }
    });
}

/// What a report says of the owners of the locks of a class.
#[derive(Debug)]
struct Owners(Value);

fn owners_of(class: &str, trace: &Path) -> Owners {
    let class = format!("scenarios.OwnerStops${class}");
    let arguments = ["report", "--format", "json", "--lock-class", &class];
    let arguments = arguments.map(AsRef::as_ref).into_iter();
    let report = locktrace(arguments.chain([trace.as_os_str()]));
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let owners = Owners(report["totals"]["owners"].clone());
    let parts = [
        "running_ns",
        "blocked_by_lock_ns",
        "waiting_ns",
        "parked_for_time_ns",
        "reaching_safepoint_ns",
        "at_safepoint_ns",
        "free_ns",
        "unknown_ns",
        "not_examined_ns",
    ];
    let sum: u64 = parts.map(|part| owners.ns(part)).iter().sum();
    assert_eq!(sum, owners.ns("blocked_ns"), "conserved: {owners:?}");
    let running = [
        "on_processor_ns",
        "run_delay_ns",
        "off_processor_ns",
        "not_sampled_ns",
    ];
    let sum: u64 = running.map(|part| owners.ns(part)).iter().sum();
    assert_eq!(sum, owners.ns("running_ns"), "conserved: {owners:?}");
    assert!(owners.is("safepoints_told"));
    owners
}

impl Owners {
    fn ns(&self, name: &str) -> u64 {
        self.0[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {self:?}"))
    }

    fn is(&self, name: &str) -> bool {
        self.0[name]
            .as_bool()
            .unwrap_or_else(|| panic!("{name}: {self:?}"))
    }
}
