//! The places where owners spend their time while others wait: shares of samples compared with the program's own clock,
//! positions with the class files, and the cost of samples with the budget.

use std::collections::{BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::thread;
use std::time::Duration;

use jvm_tests::{
    ClassPath, CompileMode, Jdk, Jvm, Programs, ReportNode, Run, check_each, check_program,
    for_each_event, is_nightly, jcmd, report,
};
use trace_analysis::{
    Analysis, ChainIndex, Detail, Entities, Limits, TraceFile, TraceSummary, Wait,
};
use trace_format::{Capabilities, Counter, Event};

/// The methods that each hold consists of, in their order.
const METHODS: [&str; 4] = ["prepare", "parse", "compute", "store"];
/// Those whose shares are compared: in the first, others begin to wait, and a thread that has parked again is
/// not known to have waited before.
const COMPARED: Range<usize> = 1..4;

/// The default time that others wait before the owner is sampled.
const THRESHOLD_NS: u64 = 5_000_000;

/// More samples than by default, so that seconds are enough for a test: threads may be stopped for a
/// fifth of the time.
const MANY_SAMPLES: &[&str] = &["-XX:LockContentionOwnerSampleBudget=200"];

/// A traced JVM has these in versions of its own: they are not those of the class path.
const PATCHED_CLASSES: [&str; 3] = [
    "java.util.concurrent.Semaphore",
    "java.util.concurrent.locks.AbstractOwnableSynchronizer",
    "java.util.concurrent.locks.StampedLock",
];

/// The byte code that first needs a class calls these.
const CALLED_BY_JVM: [&str; 2] = ["<clinit>", "loadClass"];

const HOLDS: &str = "120";

#[test]
fn shares_of_monitors_owners_are_those_of_the_program() {
    let program = ["scenarios.OwnersAtWork", "monitor", HOLDS, "2", "0"];
    match is_nightly() {
        true => check_program(&program, MANY_SAMPLES, check_shares),
        false => check_in_some_modes(&program, CompileMode::Tiered),
    }
}

#[test]
fn shares_of_reentrant_locks_owners_are_those_of_the_program() {
    let program = ["scenarios.OwnersAtWork", "reentrant", HOLDS, "2", "0"];
    check_in_some_modes(&program, CompileMode::C2);
}

/// Threads that want a processor reach a safepoint late, so that samples cost more.
#[test]
fn shares_are_right_with_more_threads_than_processors() {
    let program = ["scenarios.OwnersAtWork", "monitor", "300", "4", "6"];
    check_in_some_modes(&program, CompileMode::Interpreter);
}

/// Each of these runs takes some ten seconds: in all modes in nightly tests, otherwise in one.
fn check_in_some_modes(program: &[&str], mode: CompileMode) {
    let modes = match is_nightly() {
        true => &CompileMode::ALL[..],
        false => &[mode],
    };
    check_each(modes, |mode| {
        let run = Jvm::traced(program)
            .flags(mode.flags())
            .flags(MANY_SAMPLES)
            .run();
        check_shares(**mode, &run);
    });
}

/// The default cost of samples: no more than the budget's share of the time, the part that may be saved up, and the
/// stop that used it up.
#[test]
fn samples_stay_within_the_budget() {
    let run = Jvm::traced(&["scenarios.OwnersAtWork", "monitor", HOLDS, "4", "2"]).run();
    let (summary, sampled) = sampled(&run.trace());
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let stopped_ns = value(Counter::OwnerSampleStopNs);
    let longest_ns = value(Counter::OwnerSampleLongestStopNs);
    let most_ns = summary.duration_ns / 100 + 100_000_000 + longest_ns;
    assert!(sampled.samples > 0, "{}", run.describe());
    assert_eq!(value(Counter::OwnerSamples), sampled.samples);
    assert!(
        stopped_ns <= most_ns,
        "{stopped_ns} of {most_ns} ns: {}",
        run.describe()
    );
}

/// A JVM that has inflated many monitors once looks at all of them in each stop, which takes most of the time
/// for which the application stands still. What that is, the JVM prints for each of its stops; how much of it is said to
/// be for samples must be what as many of them took, and keep to the budget. The first stop shows what one costs.
#[test]
fn stops_are_counted_as_the_application_sees_them() {
    let monitors: &[u32] = if is_nightly() {
        &[0, 100_000, 1_000_000]
    } else {
        &[100_000]
    };
    check_each(monitors, |monitors| {
        let seconds = if is_nightly() { 30 } else { 8 };
        let program = [
            "scenarios.OnceInflated",
            &monitors.to_string(),
            &seconds.to_string(),
        ];
        let run = Jvm::traced(&program)
            .flags([
                "-XX:+PrintGCApplicationStoppedTime",
                "-XX:-UseBiasedLocking",
                "-Xms1g",
                "-Xmx1g",
            ])
            .run();
        let (summary, sampled) = sampled(&run.trace());
        assert!(sampled.samples > 0, "{}", run.describe());
        let value = |counter| summary.tracer_value(counter).unwrap_or(0);
        let stops = value(Counter::OwnerSampleStops) as usize;
        let stopped_ns = value(Counter::OwnerSampleStopNs);

        let mut printed_ns = printed_stops_ns(&run);
        printed_ns.sort_unstable();
        assert!(
            stops <= printed_ns.len(),
            "{stops} stops: {}",
            run.describe()
        );
        let least_ns: u64 = printed_ns[..stops].iter().sum();
        let most_ns: u64 = printed_ns[printed_ns.len() - stops..].iter().sum();
        // The JVM prints tenths of microseconds, and takes its clock within the tracer's.
        assert!(
            (least_ns * 9 / 10..=most_ns * 11 / 10 + 100_000).contains(&stopped_ns),
            "{stops} stops, {stopped_ns} of {least_ns} to {most_ns} ns: {}",
            run.describe()
        );
        let budget_ns = summary.duration_ns / 100;
        let first_ns = value(Counter::OwnerSampleLongestStopNs);
        assert!(
            stopped_ns <= budget_ns * 11 / 10 + first_ns,
            "{stopped_ns} of {budget_ns} ns: {}",
            run.describe()
        );
    });
}

/// Returns how long the application was stopped, according to the JVM, each time since it began to wait.
fn printed_stops_ns(run: &Run) -> Vec<u64> {
    const STOPPED: &str = "Total time for which application threads were stopped: ";
    let (_, waiting) = run.stdout.split_once("begin\n").expect("a line");
    let stops = waiting.lines().filter_map(|line| {
        let (_, stop) = line.split_once(STOPPED)?;
        let seconds: f64 = stop.split(' ').next()?.parse().ok()?;
        Some((seconds * 1e9) as u64)
    });
    stops.collect()
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

/// Traces that begin while the program runs: of owners that do not run, one of which waits itself. Samples come
/// from the threshold on that was asked for.
#[test]
fn samples_of_traces_on_request() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    let trace_for_a_while = |options: &[&str]| {
        let file = format!("file=trace-{}.lct", options.len());
        jcmd(&jvm, &[&["LockContention.start", &file], options].concat());
        thread::sleep(Duration::from_millis(1500));
        let stopped = jcmd(&jvm, &["LockContention.stop"]);
        assert!(stopped.contains("Stopped tracing"), "{stopped}");
        let name = format!("trace-{}.lct", options.len());
        sampled(&jvm.trace().with_file_name(name))
    };
    for (options, threshold_ns) in [
        (&["owner_samples=200ms"][..], 200_000_000),
        (&[], THRESHOLD_NS),
    ] {
        let (_, sampled) = trace_for_a_while(options);
        assert!(sampled.earliest_ns >= threshold_ns, "{sampled:?}");
        let innermost = sampled.chains.iter().map(|chain| &*chain[0].method);
        let innermost: BTreeSet<_> = innermost.collect();
        assert_eq!(innermost, ["readBytes", "wantOuter"].into(), "{sampled:?}");
        sampled.check_positions(&Programs::compiled().classes());
    }
    let (summary, sampled) = trace_for_a_while(&["owner_samples=0", "duration=1h"]);
    assert_eq!(sampled.samples, 0);
    let capabilities = summary.file.header().capabilities;
    assert!(!capabilities.contains(Capabilities::OWNER_SAMPLES));
    jvm.send_line();
    jvm.finish();
}

/// Returns how long others waited while the owner was in each of the methods and could be sampled, in nanoseconds,
/// according to the program.
fn waited_for(run: &Run) -> [u64; METHODS.len()] {
    let times = |words: Vec<&str>| -> Vec<u64> {
        let times = words.iter().map(|word| word.parse().expect("a time"));
        times.collect()
    };
    let waits: Vec<_> = run.lines_of("wait").map(times).collect();
    let mut waited_ns = [0; METHODS.len()];
    for hold in run.lines_of("hold").map(times) {
        let [began_ns, .., ended_ns] = hold[..] else {
            panic!("not a hold: {hold:?}");
        };
        let waits = || {
            let waits = waits.iter().map(|wait| (wait[0], wait[1]));
            waits.filter(|&(from_ns, to_ns)| from_ns < ended_ns && began_ns < to_ns)
        };
        let Some(first_ns) = waits().map(|(from_ns, _)| from_ns).min() else {
            continue;
        };
        for (waited_ns, of_method) in waited_ns.iter_mut().zip(hold.windows(2)) {
            let (start_ns, end_ns) = (of_method[0].max(first_ns + THRESHOLD_NS), of_method[1]);
            let parts = waits().map(|(from_ns, to_ns)| (from_ns.max(start_ns), to_ns.min(end_ns)));
            *waited_ns += parts
                .map(|(from_ns, to_ns)| to_ns.saturating_sub(from_ns))
                .sum::<u64>();
        }
    }
    waited_ns
}

/// The shares of the methods in what the owner was sampled at, as a report has them, are those of the
/// program's clock.
fn check_shares(mode: CompileMode, run: &Run) {
    let trace = run.trace();
    let (summary, sampled) = sampled(&trace);
    sampled.check_positions(&Programs::compiled().classes());
    let waited_ns = waited_for(run);

    let report = report(&trace, "owner-thread,owner-sample-chain");
    let owner = report.node("owner");
    let parts_ns: u64 = owner.children.iter().map(|node| node.duration_ns).sum();
    assert_eq!(parts_ns, owner.duration_ns, "{mode:?}: conserved");
    // Also where a native method is the innermost one, which reads the clock or sleeps.
    let found_ns = |method: &str| -> u64 {
        let is_in = |node: &&ReportNode| node.frames.iter().any(|frame| frame.method == method);
        let of_method = owner.children.iter().filter(is_in);
        of_method.map(|node| node.duration_ns).sum()
    };

    let found_ns = METHODS.map(found_ns);
    let all_waited_ns: u64 = waited_ns[COMPARED].iter().sum();
    let all_found_ns: u64 = found_ns[COMPARED].iter().sum();
    let share_compared = all_waited_ns as f64 / waited_ns.iter().sum::<u64>() as f64;
    let samples = sampled.samples as f64 * share_compared;
    assert!(
        samples >= 30.0,
        "{mode:?}: {samples} samples: {}",
        run.describe()
    );
    let stopped_ns = summary.tracer_value(Counter::OwnerSampleStopNs);
    let stopped = stopped_ns.unwrap_or(0) as f64 / summary.duration_ns as f64;
    for index in COMPARED {
        let method = METHODS[index];
        let expected = waited_ns[index] as f64 / all_waited_ns as f64;
        let found = found_ns[index] as f64 / all_found_ns as f64;
        // Each sample is in the method with that probability. A hold with few samples weighs as much
        // as one with many, which at most doubles the variance; then five standard deviations. No
        // sample comes while threads are being stopped, at worst in other methods only.
        let spread = (2.0 * expected * (1.0 - expected) / samples).sqrt();
        let tolerance = 5.0 * spread + stopped * expected;
        assert!(
            (found - expected).abs() <= tolerance,
            "{mode:?}: {method} has {found:.3}, expected {expected:.3} ± {tolerance:.3} of {samples:.0} \
             samples: {owner:#?}"
        );
    }
}

/// The samples of a sound trace.
#[derive(Debug)]
struct Sampled {
    samples: u64,
    /// The time of the first one.
    earliest_ns: u64,
    /// The chains of those in waits, from the innermost frame on.
    chains: Vec<Vec<Site>>,
}

/// The position of a frame.
#[derive(Debug)]
struct Site {
    class: String,
    method: String,
    signature: String,
    bci: i32,
}

fn sampled(trace: &Path) -> (TraceSummary, Sampled) {
    let (mut samples, mut earliest_ns) = (0, u64::MAX);
    for_each_event(trace, |_, event| {
        if let Event::OwnerSample(sample) = event {
            samples += 1;
            earliest_ns = earliest_ns.min(sample.time_ns);
        }
    });
    let mut chains: HashMap<ChainIndex, Vec<Site>> = HashMap::new();
    let mut add = |wait: &Wait, entities: &Entities| {
        for chain in wait.roots.iter().filter_map(|part| part.sample) {
            chains
                .entry(chain)
                .or_insert_with(|| sites(chain, entities));
        }
    };
    let mut analysis =
        Analysis::new(Limits::default()).with_detail(Detail::CONTENTIONS.with_samples());
    let file = TraceFile::open(trace).unwrap_or_else(|error| panic!("{error}"));
    let summary = file.analyze(&mut analysis, &mut add, |_| ControlFlow::Continue(()));
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    jvm_tests::check_sound(&summary);
    let chains = chains.into_values().collect();
    let sampled = Sampled {
        samples,
        earliest_ns,
        chains,
    };
    (summary, sampled)
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
        let class_path = ClassPath::new(Jdk::traced(), classes.as_os_str());
        assert!(!self.chains.is_empty());
        for chain in &self.chains {
            for (index, site) in chain.iter().enumerate() {
                let outer = site.class.split('$').next().unwrap_or_default();
                if PATCHED_CLASSES.contains(&outer) {
                    continue;
                }
                // The JVM has made up what has no file, as the class of a lambda.
                let Some(class) = class_path.class(&site.class) else {
                    continue;
                };
                let method = class.method(&site.method, &site.signature);
                let method = method.unwrap_or_else(|| panic!("no such method: {site:?}"));
                assert_eq!(method.is_native, site.bci < 0, "{site:?} in {chain:#?}");
                // Stack traces hide the method of a lambda that it calls.
                if site.class == "java.lang.Thread" && site.method == "run" {
                    continue;
                }
                let inner = index.checked_sub(1).map(|inner| &*chain[inner].method);
                if inner.is_some_and(|inner| CALLED_BY_JVM.contains(&inner)) {
                    continue;
                }
                if let Some(inner) = inner {
                    let called = method.called(site.bci);
                    assert_eq!(called, Some(inner), "{site:?} in {chain:#?}");
                } else {
                    let is_there = method.is_native || method.has_byte_code_at(site.bci);
                    assert!(is_there, "{site:?} in {chain:#?}");
                }
            }
        }
    }
}
