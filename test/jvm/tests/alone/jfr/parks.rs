//! The number of each thread's parks on objects of each class, and their positions.

use std::collections::BTreeMap;

use jvm_tests::{CompileMode, Frame, ParkAction, ParkLog, alone, check_each};

use super::recording::{Recording, position, record};

/// A park, as both know it: the class parked on, and the call chain.
type Park = (Option<String>, Vec<Frame>);

/// The parks of each thread, in its order.
///
/// `Unsafe_Park` writes a `jdk.ThreadPark` for every park that ends while the
/// recorder runs, also if the thread does not block, as there is a permit; one
/// without a class if there is no blocker. The threads of the scenario end before
/// the recorder stops. So both must have the same.
type Parks<'a> = BTreeMap<&'a str, Vec<Park>>;

#[test]
fn agrees_on_who_parks_where() {
    let _processor = alone();
    let modes = [
        CompileMode::Tiered,
        CompileMode::Interpreter,
        CompileMode::Eager,
    ];
    check_each(modes, |&mode| {
        let (run, recording) = record("scenarios.MixedParks", "parks.jfc", mode);
        let log = ParkLog::read(&run.trace());
        let (recorded, traced) = (recorded(&recording), traced(&log));
        let parks: usize = recorded.values().map(Vec::len).sum();
        assert!(recorded.len() > 10 && parks > 500, "{parks} parks");
        if let Err(difference) = check(&recorded, &traced) {
            panic!("{mode:?}: {difference}");
        }
        for (name, distort) in DISTORTIONS {
            let mut distorted = traced.clone();
            distort(distorted.get_mut("napper").expect("a napper"));
            match check(&recorded, &distorted) {
                Ok(()) => panic!("{mode:?}: {name}: not noticed"),
                Err(difference) => println!("{mode:?}: {name}: {difference}"),
            }
        }
    });
}

fn recorded(recording: &Recording) -> Parks<'_> {
    let mut parks = Parks::new();
    for park in &recording.parks {
        let of_thread = parks.entry(&park.thread).or_default();
        of_thread.push((park.class.clone(), park.chain.clone()));
    }
    parks
}

fn traced(log: &ParkLog) -> Parks<'_> {
    let mut parks = Parks::new();
    for thread in &log.threads {
        for [begin, _] in thread.parks() {
            if let ParkAction::Begin { blocker, chain, .. } = &begin.action {
                let class = blocker.as_ref().map(|blocker| blocker.class().to_owned());
                let of_thread = parks.entry(&thread.name).or_default();
                of_thread.push((class, chain.clone()));
            }
        }
    }
    parks
}

/// Compares the parks of all threads; says how they differ.
fn check(recorded: &Parks, traced: &Parks) -> Result<(), String> {
    if !recorded.keys().eq(traced.keys()) {
        return Err(format!("{:?}, not {:?}", traced.keys(), recorded.keys()));
    }
    for (thread, recorded) in recorded {
        let traced = &traced[thread];
        let (recorded_counts, traced_counts) = (counts(recorded), counts(traced));
        if recorded_counts != traced_counts {
            return Err(format!(
                "{thread}: {traced_counts:?}, not {recorded_counts:?}"
            ));
        }
        for (recorded, traced) in recorded.iter().zip(traced) {
            if !equal(recorded, traced) {
                return Err(format!("{thread}: {traced:?}, not {recorded:?}"));
            }
        }
    }
    Ok(())
}

/// Returns the number of a thread's parks on objects of each class.
fn counts(parks: &[Park]) -> BTreeMap<Option<&str>, usize> {
    let mut counts = BTreeMap::new();
    for (class, _) in parks {
        *counts.entry(class.as_deref()).or_default() += 1;
    }
    counts
}

/// The recorder also shows the frames between a lambda and its caller, which stack
/// traces hide.
fn equal((class, chain): &Park, (traced_class, traced_chain): &Park) -> bool {
    let shown = chain
        .iter()
        .filter(|frame| !frame.class.contains("$$Lambda$"));
    let positions = shown.map(position);
    class == traced_class && positions.eq(traced_chain.iter().map(position))
}

type Distort = fn(&mut Vec<Park>);

/// Errors of a tracer that the check must notice, in the parks of one thread.
const DISTORTIONS: [(&str, Distort); 4] = [
    ("a park is missing", |parks| {
        parks.pop();
    }),
    ("a park is there twice", |parks| {
        parks.push(parks[0].clone());
    }),
    ("a park has another class", |parks| {
        parks[0].0 = Some("java.lang.Object".to_owned());
    }),
    ("a call chain lacks its innermost frame", |parks| {
        parks[0].1.remove(0);
    }),
];
