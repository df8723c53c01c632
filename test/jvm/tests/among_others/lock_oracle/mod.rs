//! The blame between threads for a `ReentrantLock` and a `ReentrantReadWriteLock`, with the method,
//! by the program's own clock.

mod notes;
mod shares;

use std::collections::BTreeMap;

use jvm_tests::{CompileMode, Contention, Jvm, NEVER_INLINED, Run, Wait, check_each, waits};
use notes::Notes;
use shares::Shares;

/// The least share of the time for which a thread was blocked, while another one had the lock for
/// itself, that must be blamed on that thread and its method.
///
/// Not counted is what is missed while a thread has been woken and does not run yet:
/// another one can have the lock meanwhile, and writes nothing, as
/// `AbstractQueuedSynchronizer.release` unparks nobody then. Nor is the method of such
/// an owner counted, or of a writer during whose hold a reader wakes the next thread,
/// as `doReleaseShared` does if the writer was quick. On an idle machine that is
/// little; on a busy one it is long.
const LEAST_RIGHT: f64 = 0.96;

/// The greatest share of the time that may be blamed on a thread or method that did not have the
/// lock.
///
/// A thread that releases the lock takes its number and its time a moment after
/// others can have it.
const MOST_WRONG: f64 = 0.005;

#[test]
fn owners_of_a_reentrant_lock() {
    let cases = [
        ("nonfair", CompileMode::Tiered),
        ("nonfair", CompileMode::Interpreter),
        ("nonfair", CompileMode::Eager),
        ("fair", CompileMode::Tiered),
        ("fair", CompileMode::C1),
    ];
    check_each(cases, |&(fairness, mode)| {
        check_run(&["scenarios.LockHolds", fairness], mode);
    });
}

/// Readers who share the lock may be unknown.
#[test]
fn writers_and_readers() {
    let cases = [
        ("nonfair", CompileMode::Tiered),
        ("nonfair", CompileMode::Eager),
        ("fair", CompileMode::Tiered),
    ];
    check_each(cases, |&(fairness, mode)| {
        check_run(&["scenarios.ReadWriteHolds", fairness], mode);
    });
}

fn check_run(program: &[&str], mode: CompileMode) {
    let run = Jvm::traced(program)
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .run();
    let (notes, waits) = (Notes::of(&run), lock_waits(&run));
    let shares = Shares::of(&notes, &waits);
    let right = 100.0 * shares.right_share();
    println!("{program:?} {mode:?}: {right:.2} % right; {shares}");
    if let Err(difference) = check(&notes, &waits) {
        panic!("{program:?} {mode:?}: {difference}");
    }
    for (name, distort) in DISTORTIONS {
        let mut distorted = waits.clone();
        distort(&mut distorted);
        match check(&notes, &distorted) {
            Ok(()) => panic!("{program:?} {mode:?}: {name}: not noticed"),
            Err(difference) => println!("{program:?} {mode:?}: {name}: {difference}"),
        }
    }
}

/// The waits for the lock: those to acquire it, and those to have it back.
fn lock_waits(run: &Run) -> Vec<Wait> {
    let locks = "java.util.concurrent.locks.Reentrant";
    let mut waits = waits(&run.trace());
    waits.retain(|wait| wait.common().lock_class.starts_with(locks));
    waits
}

fn check(notes: &Notes, waits: &[Wait]) -> Result<(), String> {
    check_calls(notes, waits)?;
    let shares = Shares::of(notes, waits);
    if shares.wrong_share() > MOST_WRONG || shares.right_share() < LEAST_RIGHT {
        return Err(shares.to_string());
    }
    Ok(())
}

/// Each wait lies within a call that acquired the lock or tried to, and no two
/// within the same call, however often the thread parked in it.
fn check_calls(notes: &Notes, waits: &[Wait]) -> Result<(), String> {
    let grain_ns = notes.clock.uncertainty_ns();
    let mut last_calls = BTreeMap::new();
    for wait in waits {
        let calls = &notes.calls[wait.thread()];
        let begin_ns = notes.clock.program_time_ns(wait.start_ns);
        let end_ns = notes
            .clock
            .program_time_ns(wait.start_ns + wait.duration_ns);
        let call = calls.partition_point(|(_, returned_ns)| returned_ns + grain_ns < begin_ns);
        let within = calls.get(call).is_some_and(|(wanted_ns, returned_ns)| {
            wanted_ns - grain_ns <= begin_ns && end_ns <= returned_ns + grain_ns
        });
        if !within {
            return Err(format!("in no call: {wait}"));
        }
        if last_calls.insert(wait.thread(), call) == Some(call) {
            return Err(format!("a second wait in one call: {wait}"));
        }
    }
    Ok(())
}

type Distort = fn(&mut Vec<Wait>);

/// Errors of an analysis that the check must notice. What is missed while a thread has been woken and does not
/// run yet is not counted, which is most of the time on a busy machine.
const DISTORTIONS: [(&str, Distort); 6] = [
    ("a wait is there twice", |waits| {
        let middle = waits.len() / 2;
        waits.insert(middle, waits[middle].clone());
    }),
    ("a wait ends with the first park", |waits| {
        let long = waits.iter().position(|wait| wait.parts.len() > 3);
        let mut second = waits[long.expect("some wait has several owners")].clone();
        second.start_ns = second.parts[2].start_ns;
        waits.push(second);
        waits.sort_by_key(|wait| wait.start_ns);
    }),
    ("a tenth of the time is blamed on the last owner", |waits| {
        for wait in one_in(10, waits) {
            let last = known(wait).last().map(|part| part.owner.clone());
            known(wait).for_each(|part| part.owner = last.clone().flatten());
        }
    }),
    ("a tenth of the time is blamed on another method", |waits| {
        for wait in one_in(10, waits) {
            for part in known(wait) {
                let frames = part.owner_chain.iter_mut().flatten();
                frames.for_each(|frame| "other".clone_into(&mut frame.method));
            }
        }
    }),
    ("half of the time has no method", |waits| {
        for wait in one_in(2, waits) {
            known(wait).for_each(|part| part.owner_chain = None);
        }
    }),
    ("half of the time has no owner", |waits| {
        for wait in one_in(2, waits) {
            known(wait).for_each(|part| part.owner = None);
        }
    }),
];

/// The parts of a wait that somebody is to blame for.
fn known(wait: &mut Wait) -> impl DoubleEndedIterator<Item = &mut Contention> {
    let parts = wait.parts.iter_mut();
    parts.filter(|part| part.owner.is_some())
}

/// Returns the waits that contain one in `number` of the nanoseconds for which somebody is to
/// blame. One in `number` waits may contain far fewer of them: most are short.
fn one_in(number: u64, waits: &mut [Wait]) -> impl Iterator<Item = &mut Wait> {
    let (mut all_ns, mut chosen_ns) = (0, 0);
    waits.iter_mut().filter_map(move |wait| {
        let known_ns: u64 = known(wait).map(|part| part.duration_ns).sum();
        all_ns += known_ns;
        let is_due = chosen_ns * number < all_ns;
        chosen_ns += if is_due { known_ns } else { 0 };
        is_due.then_some(wait)
    })
}
