//! Thousands of class loaders in little memory: no identifier in a trace ever
//! means two things, and what the tracer keeps of dead code does not pile up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use jvm_tests::{
    CompileMode, Jvm, Setting, Wait, analyze, boot_class_path, check_each, check_sound,
    for_each_event, is_nightly, redefinition_agent, scratch_directory, waits,
};
use trace_format::{ChainDescription, ChainRetired, Counter, Event};

/// Enough space for the classes of about a thousand loaders, four times as many as the program
/// leaves between two collections; and for little compiled code.
const LITTLE_MEMORY: [&str; 4] = [
    "-Xmx32m",
    "-XX:MaxMetaspaceSize=12m",
    "-XX:ReservedCodeCacheSize=6m",
    "-XX:+UseCodeCacheFlushing",
];

#[test]
fn names_stay_right_and_memory_stays_flat() {
    check_churn(if is_nightly() { 10_000 } else { 1_000 }, &[]);
}

/// Each class is redefined while it is on both stacks.
#[test]
fn redefined_classes() {
    let directory = scratch_directory("loader-churn");
    let agent = redefinition_agent(directory.path());
    check_churn(if is_nightly() { 10_000 } else { 300 }, &[&agent]);
}

fn check_churn(loaders: usize, flags: &[&str]) {
    let mut settings = Setting::rotated("LoaderChurn");
    // Would compile all the time, which fills the memory for compiled code at once.
    settings.retain(|setting| setting.mode != CompileMode::Eager);
    check_each(settings, |setting| {
        let run = Jvm::traced(&["scenarios.LoaderChurn", &loaders.to_string()])
            .flags(setting.flags())
            .flags(["-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI"])
            .flags([boot_class_path()])
            .flags(LITTLE_MEMORY)
            .flags(flags)
            .time_limit(Duration::from_secs(120 + loaders as u64 / 20))
            .run();
        let unloaded = run.lines_of("unloaded").flatten().next();
        let unloaded = unloaded.expect("the program counts").parse::<usize>();
        let unloaded = unloaded.expect("a count");
        assert!(unloaded >= loaders - 1, "only {unloaded} loaders are gone");
        check_names(loaders, &waits(&run.trace()));
        check_identifiers(loaders, &run.trace());
    });
}

/// Each class was waited for by both threads, in its own methods.
fn check_names(loaders: usize, waits: &[Wait]) {
    let mut threads_by_class: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for wait in waits {
        let class = wait.common().lock_class.as_str();
        let Some(number) = class.strip_prefix("scenarios.Churned") else {
            continue;
        };
        threads_by_class
            .entry(class)
            .or_default()
            .insert(wait.thread());
        let expected = [format!("{class}.lock{number}"), format!("{class}.accept")];
        let owners = wait.parts.iter().filter(|part| part.owner.is_some());
        let chains = owners.map(|part| part.owner_frames());
        for chain in chains.chain([&wait.common().chain[..]]) {
            let innermost = chain.iter().take(2).map(|frame| frame.name());
            assert_eq!(innermost.collect::<Vec<_>>(), expected, "{wait}");
        }
    }
    let expected = (1..=loaders).map(|number| format!("scenarios.Churned{number:05}"));
    assert!(threads_by_class.keys().copied().eq(expected));
    let both = BTreeSet::from(["main", "contender"]);
    assert!(threads_by_class.values().all(|threads| *threads == both));
}

/// Each call chain is described once and ends at most once; never are many alive
/// at once, however many loaders there are.
fn check_identifiers(loaders: usize, trace: &Path) {
    let mut described = BTreeSet::new();
    let mut alive = BTreeSet::new();
    let mut most_alive = 0;
    for_each_event(trace, |_, event| match event {
        Event::Chain(ChainDescription { chain, .. }) => {
            assert!(described.insert(*chain), "{chain:?} is described twice");
            alive.insert(*chain);
            most_alive = most_alive.max(alive.len());
        }
        Event::ChainRetired(ChainRetired { chain }) => {
            assert!(alive.remove(chain), "{chain:?} ends, but was not alive");
        }
        _ => {}
    });
    // Two of each thread for each loader.
    assert!(described.len() >= 3 * loaders, "{} chains", described.len());
    // Four of each loader of the last 250, and of twice as many that the drainer
    // has not come to yet. The last ones may be left when the JVM ends.
    assert!(most_alive < 3_000, "{most_alive} chains alive at once");

    // Nothing refers to what has ended: the analysis counts that, too.
    let summary = analyze(trace, |_, _| {}).unwrap_or_else(|error| panic!("{error}"));
    check_sound(&summary);
    let counter = |counter| summary.tracer_value(counter);
    assert_eq!(counter(Counter::ChainSetResets), Some(0));
    let retired = described.len() - alive.len();
    assert_eq!(counter(Counter::ChainsPurged), Some(retired as u64));
}
