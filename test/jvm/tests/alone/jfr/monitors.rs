//! The number and duration of each thread's waits for the monitors of each class, their positions,
//! and the owners before.

use std::collections::BTreeMap;

use jvm_tests::{CompileMode, Frame, Wait, alone, check_each, waits};

use super::recording::{Enter, Recording, position, record};

/// The tolerance of the time that a thread was blocked, compared with the recorded one.
///
/// The recorder's event begins some microseconds after the tracer's and ends as
/// much later; it takes milliseconds.
const TOLERANCE: f64 = 0.01;

/// One of this many waits may be left out of the sums: the thread can lose its processor between
/// the tracer's reading of the clock and the recorder's, for as long as others want.
const WAITS_FOR_EACH_LEFT_OUT: usize = 50;

/// Less blocked time than this cannot be compared: a few waits, of which the
/// steps between the two events' ends may be a percent.
const SHORTEST_NS: u64 = 50_000_000;

#[test]
fn agrees_on_what_blocks_whom() {
    let _processor = alone();
    let scenarios = ["scenarios.ManyLocks", "scenarios.NotifiedTimes"];
    let modes = [
        CompileMode::Tiered,
        CompileMode::Interpreter,
        CompileMode::Eager,
    ];
    let cases = scenarios.map(|scenario| modes.map(|mode| (scenario, mode)));
    check_each(cases.concat(), |&(scenario, mode)| {
        let (run, recording) = record(scenario, "monitors.jfc", mode);
        let mut waits = waits(&run.trace());
        waits.retain(|wait| wait.common().lock_class.starts_with("scenarios."));

        if let Err(difference) = check(&recording, &waits) {
            panic!("{scenario} {mode:?}: {difference}");
        }
        for (name, distort) in DISTORTIONS {
            let mut distorted = waits.clone();
            distort(&mut distorted, an_enter(&waits));
            match check(&recording, &distorted) {
                Ok(()) => panic!("{scenario} {mode:?}: {name}: not noticed"),
                Err(difference) => println!("{scenario} {mode:?}: {name}: {difference}"),
            }
        }
    });
}

/// Compares waits, ordered by their start, with a recording; says how they differ.
fn check(recording: &Recording, waits: &[Wait]) -> Result<(), String> {
    let mut recorded: BTreeMap<[&str; 2], Vec<&Enter>> = BTreeMap::new();
    for enter in &recording.enters {
        let monitors = [&*enter.thread, &*enter.class];
        recorded.entry(monitors).or_default().push(enter);
    }
    let mut traced: BTreeMap<[&str; 2], Vec<&Wait>> = BTreeMap::new();
    for wait in waits.iter().filter(|wait| is_recorded(wait, recording)) {
        let monitors = [wait.thread(), &*wait.common().lock_class];
        traced.entry(monitors).or_default().push(wait);
    }
    if !recorded.keys().eq(traced.keys()) {
        return Err(format!("{:?}, not {:?}", traced.keys(), recorded.keys()));
    }
    for (monitors, recorded) in recorded {
        check_monitors(&recorded, &traced[&monitors])
            .map_err(|difference| format!("{monitors:?}: {difference}"))?;
    }
    Ok(())
}

/// The recorder calls it an enter, too. It does not if the thread comes back from
/// a wait that was notified: `ObjectMonitor::ReenterI` records nothing. After
/// other waits the thread takes the way of any thread that enters. A thread here
/// is notified in each of its waits or in none.
fn is_recorded(wait: &Wait, recording: &Recording) -> bool {
    let mut of_thread = recording
        .waits
        .iter()
        .filter(|recorded| recorded.thread == wait.thread());
    !wait.common().after_wait || of_thread.all(|recorded| !recorded.was_notified)
}

/// Compares how one thread was blocked by the monitors of one class.
fn check_monitors(recorded: &[&Enter], traced: &[&Wait]) -> Result<(), String> {
    if recorded.len() != traced.len() {
        return Err(format!("{} times, not {}", traced.len(), recorded.len()));
    }
    let pairs = recorded.iter().zip(traced);
    let mut durations_ns: Vec<_> = pairs
        .map(|(enter, wait)| (enter.duration_ns, wait.duration_ns))
        .collect();
    durations_ns.sort_unstable_by_key(|(recorded, traced)| recorded.abs_diff(*traced));
    durations_ns.truncate(recorded.len() - recorded.len() / WAITS_FOR_EACH_LEFT_OUT);
    let recorded_ns: u64 = durations_ns.iter().map(|(recorded, _)| recorded).sum();
    let traced_ns: u64 = durations_ns.iter().map(|(_, traced)| traced).sum();
    let difference = (traced_ns as f64 / recorded_ns as f64 - 1.0).abs();
    if recorded_ns >= SHORTEST_NS && difference > TOLERANCE {
        return Err(format!("{traced_ns} ns, not {recorded_ns} ns"));
    }
    for (enter, wait) in recorded.iter().zip(traced) {
        if !equal_chains(enter, &wait.common().chain) {
            return Err(format!("not in {:?}: {wait}", enter.chain));
        }
        let last_owner = wait.parts.iter().rev().find_map(|part| part.owner_name());
        if last_owner.is_some() && last_owner != enter.previous_owner.as_deref() {
            return Err(format!("not {:?}: {wait}", enter.previous_owner));
        }
    }
    Ok(())
}

/// The interpreter steps past a `monitorenter`, one byte long, before it locks; the
/// recorder takes it to be there.
fn equal_chains(recorded: &Enter, traced: &[Frame]) -> bool {
    let (Some(innermost), Some(traced_innermost)) = (recorded.chain.first(), traced.first()) else {
        return false;
    };
    let is_past = recorded.is_interpreted
        && innermost.name() == traced_innermost.name()
        && innermost.bci == traced_innermost.bci.map(|bci| bci + 1);
    let first = usize::from(is_past);
    let recorded = recorded.chain[first..].iter().map(position);
    recorded.eq(traced[first..].iter().map(position))
}

type Distort = fn(&mut Vec<Wait>, usize);

/// Errors of a tracer that the check must notice; most are about one wait.
const DISTORTIONS: [(&str, Distort); 6] = [
    ("a wait is missing", |waits, one| {
        waits.remove(one);
    }),
    ("a wait is there twice", |waits, one| {
        waits.push(waits[one].clone());
    }),
    ("all waits are two percent longer", |waits, _| {
        for wait in waits {
            wait.duration_ns += wait.duration_ns / 50;
        }
    }),
    (
        "the last owner of a wait is another thread",
        |waits, one| {
            let wait = &mut waits[one];
            let last = wait.parts.iter_mut().rfind(|part| part.owner.is_some());
            let last = last.expect("a wait of a known owner");
            last.owner = Some(last.thread.clone());
        },
    ),
    ("a call chain has another line", |waits, one| {
        let chain = &mut waits[one].parts[0].chain;
        chain.last_mut().expect("a chain has frames").line = Some(1);
    }),
    ("a call chain lacks its innermost frame", |waits, one| {
        waits[one].parts[0].chain.remove(0);
    }),
];

/// The position of a wait that the recorder knows, with a known owner.
fn an_enter(waits: &[Wait]) -> usize {
    let is_known = |wait: &Wait| wait.parts.iter().any(|part| part.owner.is_some());
    let enter = waits
        .iter()
        .position(|wait| !wait.common().after_wait && is_known(wait));
    enter.expect("most waits are such")
}
