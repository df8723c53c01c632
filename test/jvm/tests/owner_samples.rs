//! Where owners spend their time while others wait: shares of samples against the program's own
//! clock, positions against the class files, and what samples cost against the budget.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use jvm_tests::{
    ClassPath, CompileMode, Jvm, Programs, Run, alone, check_each, check_program, for_each_event,
    report,
};
use trace_analysis::{
    Analysis, ChainIndex, Detail, Entities, Limits, TraceFile, TraceSummary, Wait,
};
use trace_format::{Capabilities, Counter, Event};

/// The methods whose shares are compared; each hold begins with another one, in which others begin to
/// wait and are not sampled yet.
const METHODS: [&str; 3] = ["parse", "compute", "store"];

/// More samples than by default, so that seconds are enough for a test: threads may be stopped for a
/// fifth of the time.
const MANY_SAMPLES: &[&str] = &["-XX:LockContentionOwnerSampleBudget=200"];

const HOLDS: &str = "80";

#[test]
fn shares_of_monitors_owners_are_those_of_the_program() {
    let program = ["scenarios.OwnersAtWork", "monitor", HOLDS, "2", "0"];
    check_program(&program, MANY_SAMPLES, |mode, run| check_shares(mode, run));
}

#[test]
fn shares_of_reentrant_locks_owners_are_those_of_the_program() {
    let program = ["scenarios.OwnersAtWork", "reentrant", HOLDS, "2", "0"];
    check_program(&program, MANY_SAMPLES, |mode, run| check_shares(mode, run));
}

/// Threads that want a processor reach a safepoint late, so that samples cost more.
#[test]
fn shares_are_right_with_more_threads_than_processors() {
    let _processor = alone();
    let modes = [CompileMode::Interpreter, CompileMode::C1, CompileMode::C2];
    check_each(modes, |&mode| {
        let run = Jvm::traced(&["scenarios.OwnersAtWork", "monitor", "150", "4", "6"])
            .flags(mode.flags())
            .flags(["-XX:LockContentionOwnerSampleBudget=1000"])
            .run();
        check_shares(mode, &run);
    });
}

/// What samples cost by default: of the time, no more than the budget, the credit of a second, and the stop
/// that used it up.
#[test]
fn samples_stay_within_the_budget() {
    let _processor = alone();
    let run = Jvm::traced(&["scenarios.OwnersAtWork", "monitor", HOLDS, "4", "2"]).run();
    let (summary, sampled) = sampled(&run.trace());
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let stopped_ns = value(Counter::OwnerSampleStopNs);
    let longest_ns = value(Counter::OwnerSampleLongestStopNs);
    let most_ns = summary.duration_ns / 100 + 10_000_000 + longest_ns;
    assert!(sampled.samples > 0, "{}", run.describe());
    assert_eq!(value(Counter::OwnerSamples), sampled.samples);
    assert!(
        stopped_ns <= most_ns,
        "{stopped_ns} of {most_ns} ns: {}",
        run.describe()
    );
}

#[test]
fn there_are_no_samples_if_they_are_not_wanted() {
    let flags = [
        "LockContentionOwnerSampleThreshold",
        "LockContentionOwnerSampleBudget",
    ];
    for flag in flags {
        let run = Jvm::traced(&["scenarios.OwnersAtWork", "reentrant", "5", "2", "0"])
            .flags([format!("-XX:{flag}=0")])
            .run();
        let (summary, sampled) = sampled(&run.trace());
        assert_eq!(sampled.samples, 0);
        assert_eq!(summary.tracer_value(Counter::OwnerSampleStops), None);
        let capabilities = summary.file.header().capabilities;
        assert!(!capabilities.contains(Capabilities::OWNER_SAMPLES));
    }
}

/// The shares of the methods in what the owner was sampled at, as a report has them, are those of the
/// program's clock.
fn check_shares(mode: CompileMode, run: &Run) {
    let trace = run.trace();
    let (_, sampled) = sampled(&trace);
    sampled.check_positions(&Programs::compiled().classes());
    let spent: HashMap<_, _> = run
        .lines_of("spent")
        .map(|words| (words[0], words[1].parse::<u64>().expect("nanoseconds")))
        .collect();

    let report = report(&trace, "owner-thread,owner-sample");
    let owner = report.node("owner");
    let parts_ns: u64 = owner.children.iter().map(|node| node.duration_ns).sum();
    assert_eq!(parts_ns, owner.duration_ns, "{mode:?}: conserved");
    let found_ns = |method: &str| -> u64 {
        // Who sleeps is in a native method.
        let label = match method {
            "store" => "java.lang.Thread.sleep".to_owned(),
            method => format!("scenarios.OwnersAtWork.{method}"),
        };
        let nodes = owner.children.iter();
        let of_method = nodes.filter(|node| node.label == label);
        of_method.map(|node| node.duration_ns).sum()
    };

    let all_spent_ns: u64 = METHODS.map(|method| spent[method]).iter().sum();
    let all_found_ns: u64 = METHODS.map(found_ns).iter().sum();
    let all_ns = all_spent_ns + spent["prepare"];
    let samples = sampled.samples as f64 * all_spent_ns as f64 / all_ns as f64;
    assert!(
        samples >= 50.0,
        "{mode:?}: {samples} samples: {}",
        run.describe()
    );
    for method in METHODS {
        let expected = spent[method] as f64 / all_spent_ns as f64;
        let found = found_ns(method) as f64 / all_found_ns as f64;
        // Each sample is in the method with that probability. A hold with few samples weighs as much
        // as one with many, which at most doubles the variance; then five standard deviations.
        let tolerance = 5.0 * (2.0 * expected * (1.0 - expected) / samples).sqrt();
        assert!(
            (found - expected).abs() <= tolerance,
            "{mode:?}: {method} has {found:.3}, expected {expected:.3} ± {tolerance:.3} of {samples:.0} \
             samples: {owner:#?}"
        );
    }
}

/// The samples of a sound trace.
struct Sampled {
    samples: u64,
    /// The chains of those in waits, from the innermost frame on.
    chains: Vec<Vec<Site>>,
}

/// Where a frame stands.
#[derive(Debug)]
struct Site {
    class: String,
    method: String,
    signature: String,
    bci: i32,
}

fn sampled(trace: &Path) -> (TraceSummary, Sampled) {
    let mut samples = 0;
    for_each_event(trace, |_, event| {
        samples += u64::from(matches!(event, Event::OwnerSample(_)));
    });
    let mut chains: HashMap<ChainIndex, Vec<Site>> = HashMap::new();
    let mut add = |wait: &Wait, entities: &Entities| {
        for chain in wait.roots.iter().filter_map(|part| part.sample) {
            chains
                .entry(chain)
                .or_insert_with(|| sites(chain, entities));
        }
    };
    let mut analysis = Analysis::new(Limits::default()).with_detail(Detail::Samples);
    let file = TraceFile::open(trace).unwrap_or_else(|error| panic!("{error}"));
    let summary = file.analyze(&mut analysis, &mut add, |_| ControlFlow::Continue(()));
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    jvm_tests::check_sound(&summary);
    let chains = chains.into_values().collect();
    (summary, Sampled { samples, chains })
}

fn sites(chain: ChainIndex, entities: &Entities) -> Vec<Site> {
    let frames = entities.chain(chain).frames().iter();
    frames
        .map(|frame| {
            let method = entities.method(frame.method);
            let class = method.class.expect("a method has a class");
            Site {
                class: entities.class_name(class).to_owned(),
                method: method.name.to_string(),
                signature: method.signature.to_string(),
                bci: frame.bci,
            }
        })
        .collect()
}

impl Sampled {
    /// Each frame stands at a byte code, and each but the innermost at a call of the one inside of it.
    fn check_positions(&self, classes: &Path) {
        let class_path = ClassPath::new(classes.as_os_str());
        assert!(!self.chains.is_empty());
        for chain in &self.chains {
            for (index, site) in chain.iter().enumerate() {
                // The JVM has made up what has no file, as the class of a lambda.
                let Some(class) = class_path.class(&site.class) else {
                    continue;
                };
                let method = class.method(&site.method, &site.signature);
                let method = method.unwrap_or_else(|| panic!("no such method: {site:?}"));
                assert_eq!(method.is_native, site.bci < 0, "{site:?} in {chain:#?}");
                if let Some(inner) = index.checked_sub(1) {
                    let called = method.called(site.bci);
                    assert_eq!(
                        called,
                        Some(&*chain[inner].method),
                        "{site:?} in {chain:#?}"
                    );
                } else {
                    let is_there = method.is_native || method.has_byte_code_at(site.bci);
                    assert!(is_there, "{site:?} in {chain:#?}");
                }
            }
        }
    }
}
