//! The causes that kept the owner of a lock from running, compared with the collectors, the system
//! and the program's own clock.

use std::path::Path;

use jvm_tests::{check_program, locktrace};
use serde_json::Value;

/// The collectors' beans round down to this, at each reading of each bean.
const COLLECTOR_UNIT_NS: u64 = 1_000_000;
/// There are two beans: one of young collections and one of all.
const COLLECTORS: u64 = 2;
/// The system's count of the time on a processor is as old as the last tick of its clock.
const TICK_NS: u64 = 10_000_000;

/// A safepoint a second would divide the time of an owner that has to wait long to run for a
/// little, and a tick of each part would be unknown.
const NO_OTHER_SAFEPOINTS: &[&str] = &[
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:GuaranteedSafepointInterval=0",
    "-XX:LockContentionOwnerSampleThreshold=0",
];

/// The program's readings about an owner: before the other thread waited and after, or inside of
/// that.
#[derive(Clone, Copy, Debug)]
struct Reading {
    time_ns: u64,
    processor_ns: u64,
    run_delay_ns: u64,
}

/// Claims of certainty lie between the program's own readings, whatever the load. For claims of at
/// least half of the truth, the looks at the owner must be a small part of a second apart.
#[test]
fn each_cause_has_its_time() {
    check_program(
        &["scenarios.OwnerStops"],
        NO_OTHER_SAFEPOINTS,
        |mode, run| {
            let said = |word: &str| -> [u64; 3] {
                let words = run
                    .lines_of(word)
                    .next()
                    .unwrap_or_else(|| panic!("{word}"));
                let numbers = words.iter().map(|word| word.parse().expect("a number"));
                let numbers: Vec<_> = numbers.collect();
                numbers.try_into().expect("three numbers")
            };
            let reading = |word: &str| {
                let [time_ns, processor_ns, run_delay_ns] = said(word);
                Reading {
                    time_ns,
                    processor_ns,
                    run_delay_ns,
                }
            };
            let trace = run.trace();

            let owners = owners_of("Collected", &trace);
            let [_, collected_ns, _] = said("collected");
            let around = reading("collected-around");
            owners.check_bounds(around);
            let stopped_ns = owners.ns("at_safepoint_ns");
            let least_ns = collected_ns.saturating_sub(COLLECTORS * COLLECTOR_UNIT_NS);
            assert!(
                least_ns > 0 && (least_ns..=around.time_ns).contains(&stopped_ns),
                "{mode:?}: {collected_ns} to {around:?}: {owners:?}"
            );

            for (class, name, part, truth) in [
                (
                    "Busy",
                    "busy",
                    "on_processor_ns",
                    (|inside| inside.processor_ns) as fn(Reading) -> u64,
                ),
                ("Asleep", "asleep", "off_processor_ns", |inside| {
                    inside.time_ns - inside.processor_ns - inside.run_delay_ns
                }),
                ("Starved", "starved", "run_delay_ns", |inside| {
                    inside.run_delay_ns
                }),
            ] {
                let owners = owners_of(class, &trace);
                let (inside, around) = (reading(name), reading(&format!("{name}-around")));
                owners.check_bounds(around);
                if !owners.is("run_delay_told") {
                    continue;
                }
                // Only the time in which the owner ran is divided.
                let elsewhere_ns = owners.ns("blocked_ns") - owners.ns("running_ns");
                let most_ns = owners.ns("most_run_delay_ns") + owners.ns("not_sampled_ns");
                assert!(
                    inside.run_delay_ns <= most_ns + elsewhere_ns,
                    "{mode:?}: {inside:?}: {owners:?}"
                );
                assert!(
                    2 * owners.ns(part) >= truth(inside),
                    "{mode:?}: {inside:?}: {owners:?}"
                );
                // No collection ran: other reasons for a safepoint take microseconds.
                assert!(
                    2 * owners.ns("running_ns") >= inside.time_ns,
                    "{mode:?}: {inside:?}: {owners:?}"
                );
            }
        },
    );
}

/// The figures of a report on the owners of the locks of a class.
#[derive(Debug)]
struct Owners(Value);

fn owners_of(class: &str, trace: &Path) -> Owners {
    let class = format!("scenarios.OwnerStops${class}");
    let arguments = [
        "report",
        "--activity",
        "--format",
        "json",
        "--lock-class",
        &class,
    ];
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
    ];
    let sum: u64 = parts.map(|part| owners.ns(part)).iter().sum();
    assert_eq!(sum, owners.ns("blocked_ns"), "conserved: {owners:?}");
    let running = [
        "on_processor_ns",
        "run_delay_ns",
        "off_processor_ns",
        "not_told_apart_ns",
        "not_sampled_ns",
    ];
    let sum: u64 = running.map(|part| owners.ns(part)).iter().sum();
    assert_eq!(sum, owners.ns("running_ns"), "conserved: {owners:?}");
    assert!(owners.is("safepoints_told"));
    owners
}

impl Owners {
    /// Checks that certain time is no more than the program read from before the wait until after
    /// it.
    fn check_bounds(&self, around: Reading) {
        let off_ns =
            (around.time_ns + TICK_NS).saturating_sub(around.processor_ns + around.run_delay_ns);
        for (part, most_ns) in [
            ("blocked_ns", around.time_ns),
            ("on_processor_ns", around.processor_ns + TICK_NS),
            ("run_delay_ns", around.run_delay_ns),
            ("off_processor_ns", off_ns),
        ] {
            assert!(self.ns(part) <= most_ns, "{part}: {around:?}: {self:?}");
        }
    }

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
