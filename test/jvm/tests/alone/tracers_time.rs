//! The time of the tracer's own hooks in an owner, compared with the program's clock.

use std::path::Path;

use jvm_tests::{CompileMode, Jdk, Jvm, Run, alone, check_each, locktrace};
use serde_json::Value;

/// Enough hooks that a sample of one in 64 will do.
const UNPARKS: &str = "100000";

/// The owner does nothing but to unpark, from far below in the stack, and each time the tracer walks all of
/// that: next to all of the time is its.
const WITHOUT_BARRIERS: [&str; 1] = ["-XX:-LockContentionReturnBarriers"];

/// Others than those of which the owner's hooks are chosen by chance: the rest of `unpark`, and what
/// readings of the clock leave out of each hook.
const REST_SHARE: f64 = 0.05;

/// In tests of many hooks, five standard errors are never exceeded by chance.
const ERRORS: f64 = 5.0;

#[test]
fn hooks_take_what_the_program_says() {
    let _processor = alone();
    check_each([CompileMode::Tiered, CompileMode::Interpreter], |mode| {
        let program = ["scenarios.TracersTime", UNPARKS];
        let untraced = Jvm::untraced(Jdk::traced(), &program)
            .flags(mode.flags())
            .run();
        let run = Jvm::traced(&program)
            .flags(mode.flags())
            .flags(WITHOUT_BARRIERS)
            .run();
        let (rest_ns, all_ns) = (unparked_ns(&untraced), unparked_ns(&run));
        let truth_ns = all_ns - rest_ns;
        let (hooks_ns, error_ns) = hooks_of_owners(&run.trace());
        println!("{mode:?}: {all_ns} - {rest_ns} ns, found {hooks_ns} ± {error_ns}");
        let tolerance_ns = REST_SHARE * truth_ns + ERRORS * error_ns;
        assert!((hooks_ns - truth_ns).abs() <= tolerance_ns);
        // A bound that says something.
        assert!(error_ns < 0.1 * truth_ns);
    });
}

/// Returns the owner's own figure.
fn unparked_ns(run: &Run) -> f64 {
    let mut lines = run.lines_of("unparked");
    let line = lines.next().unwrap_or_else(|| panic!("{}", run.describe()));
    line[0].parse().expect("a number")
}

/// Returns the report's figure, and its error.
fn hooks_of_owners(trace: &Path) -> (f64, f64) {
    let arguments = ["report", "--activity", "--format", "json"];
    let arguments = arguments.map(AsRef::as_ref).into_iter();
    let report = locktrace(arguments.chain([trace.as_os_str()]));
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let owners = &report["totals"]["owners"];
    let ns = |name: &str| owners[name].as_f64().unwrap_or_else(|| panic!("{owners}"));
    (ns("hooks_of_owners_ns"), ns("hooks_of_owners_error_ns"))
}
