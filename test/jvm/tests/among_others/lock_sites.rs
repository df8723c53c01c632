//! The allocation sites of locks, compared with the stack traces that the program takes on the same lines, and their
//! cost where a class is allocated as fast as possible.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use jvm_tests::{CompileMode, Jdk, Jvm, Run, check_each, jcmd, report};
use trace_analysis::{Analysis, Entities, Limits, TraceFile, TraceSummary, Wait};
use trace_format::{Capabilities, Counter};

const NOT_SEEN: &str = "<allocation not seen>";

const SITES: &str = "-XX:+LockContentionLockSites";

/// A processor: tests of sites shall not depend on what a machine can do in one percent of it.
const WHOLE_BUDGET: &str = "-XX:LockContentionLockSiteBudget=1000";

/// The class of most locks of the program.
const CLASS: &str = "scenarios.LockSites$Gate";

/// Locks that the program allocates before their class is contended, and later.
const BEFORE: usize = 3 + 2;
const LATER: usize = 2 * 10 + 2 * 2;

#[test]
fn sites_are_those_of_the_program() {
    let modes = [
        CompileMode::Interpreter,
        CompileMode::C1,
        CompileMode::C2,
        CompileMode::Tiered,
    ];
    check_each(modes, |&mode| {
        let run = Jvm::traced(&["scenarios.LockSites", "at-once"])
            .flags(mode.flags())
            .flags([SITES, WHOLE_BUDGET])
            .run();
        check_sites(&run);
    });
}

/// The code that allocates is compiled when the trace begins.
#[test]
fn sites_in_a_trace_on_request() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.LockSites", "on-request"])
        .flags([WHOLE_BUDGET])
        .start();
    jvm.await_line("ready");
    let command = ["LockContention.start", "file=trace.lct", "lock_sites=true"];
    let started = jcmd(&jvm, &command);
    assert!(started.contains("Started tracing"), "{started}");
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    check_sites(&run);
}

/// Each lock that was allocated when its class had been contended has the site that the program says. Those from before
/// have none.
fn check_sites(run: &Run) {
    let by_lock = report(&run.trace(), "lock,lock-site");
    let sites_of = |lock: &str| -> Vec<&str> {
        let sites = by_lock.node(lock).children.iter();
        sites.map(|node| &*node.label).collect()
    };
    let before: Vec<_> = run.lines_of("before").collect();
    assert_eq!(before.len(), BEFORE, "{}", run.describe());
    for line in before {
        assert_eq!(
            sites_of(line[0]),
            [NOT_SEEN],
            "{line:?}: {}",
            run.describe()
        );
    }
    let later: Vec<_> = run.lines_of("later").collect();
    assert_eq!(later.len(), LATER, "{}", run.describe());
    for line in &later {
        assert_eq!(sites_of(line[0]), [line[1]], "{line:?}: {}", run.describe());
    }

    // The locks of one class have names.
    let places = later.iter().filter(|line| line[0].starts_with(CLASS));
    let named: BTreeSet<&str> = places.map(|line| line[1]).chain([NOT_SEEN]).collect();
    let by_class = report(&run.trace(), "lock-class,lock-site");
    let rows = by_class.node(CLASS).children.iter();
    let rows: BTreeSet<&str> = rows.map(|node| &*node.label).collect();
    assert_eq!(rows, named, "{}", run.describe());
}

#[test]
fn nothing_is_recorded_unless_it_is_wanted() {
    for flags in [&[][..], &[SITES, "-XX:LockContentionLockSiteBudget=0"]] {
        let run = Jvm::traced(&["scenarios.MonitorReuse"]).flags(flags).run();
        let summary = summary(&run);
        let capabilities = summary.file.header().capabilities;
        assert!(!capabilities.contains(Capabilities::LOCK_SITES));
        assert_eq!(summary.tracer_value(Counter::LockSiteStops), None);
        let report = report(&run.trace(), "lock-site");
        assert_eq!(report.tree.len(), 1, "{report:#?}");
        assert_eq!(report.tree[0].label, NOT_SEEN);
    }
}

/// The class is given up when the budget is used up, and then allocated as fast as before.
#[test]
fn classes_that_are_allocated_too_often_are_given_up() {
    let modes = [CompileMode::Interpreter, CompileMode::C1, CompileMode::C2];
    check_each(modes, |&mode| {
        let run = Jvm::traced(&["scenarios.ManyAllocations"])
            .flags(mode.flags())
            .flags([SITES])
            .run();
        let summary = summary(&run);
        let value = |counter| summary.tracer_value(counter).unwrap_or(0);
        let given_up = value(Counter::LockSiteClassesGivenUp);
        assert_eq!(given_up, 1, "{}", run.describe());
        assert!(value(Counter::LockSites) > 0, "{}", run.describe());
        // One percent of a processor, the credit of ten seconds, and what the thread was about to record when it was
        // used up.
        let most_ns = summary.duration_ns / 100 + 100_000_000 + 20_000_000;
        let spent_ns = value(Counter::LockSiteNs);
        assert!(
            spent_ns <= most_ns,
            "{spent_ns} of {most_ns} ns: {}",
            run.describe()
        );

        // The fastest slices: others may need the processors meanwhile.
        let fastest = |when: &str| -> u64 {
            let counts = run
                .lines_of(when)
                .map(|line| line[0].parse().expect("a number"));
            counts.max().unwrap_or(0)
        };
        let (before, after) = (fastest("before"), fastest("after"));
        assert!(
            after * 10 >= before * 7,
            "{before} before, {after} after: {}",
            run.describe()
        );
    });
}

fn summary(run: &Run) -> TraceSummary {
    let mut analysis = Analysis::new(Limits::default());
    let file = TraceFile::open(&run.trace()).unwrap_or_else(|error| panic!("{error}"));
    let mut ignore = |_: &Wait, _: &Entities| {};
    let summary = file.analyze(&mut analysis, &mut ignore, |_| ControlFlow::Continue(()));
    summary.unwrap_or_else(|error| panic!("{error}"))
}
