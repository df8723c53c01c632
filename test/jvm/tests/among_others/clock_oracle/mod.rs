//! The blame between threads for three locks, by the program's own clock: eight threads note when
//! they wanted, had and left them.

mod check;
mod notes;

use check::check;
use jvm_tests::{CompileMode, Contention, Jvm, NEVER_INLINED, Wait, check_each, waits};
use notes::Notes;

#[test]
fn each_thread_is_blamed_for_what_it_noted() {
    let modes = [
        CompileMode::Tiered,
        CompileMode::Interpreter,
        CompileMode::Eager,
    ];
    check_each(modes, |mode| {
        let run = Jvm::traced(&["scenarios.ManyLocks"])
            .flags(NEVER_INLINED)
            .flags(mode.flags())
            .run();
        let notes = Notes::of(&run);
        let mut waits = waits(&run.trace());
        waits.retain(|wait| wait.common().lock_class == "scenarios.ManyLocks$Lock");
        if let Err(difference) = check(&notes, &waits) {
            panic!("{mode:?}: {difference}");
        }
        for (name, distort) in DISTORTIONS {
            let mut distorted = waits.clone();
            distort(&mut distorted);
            match check(&notes, &distorted) {
                Ok(()) => panic!("{mode:?}: {name}: not noticed"),
                Err(difference) => println!("{mode:?}: {name}: {difference}"),
            }
        }
    });
}

type Distort = fn(&mut Vec<Wait>);

/// Errors of a tracer that the check must notice. One wait out of ten is wrong
/// where one would do, were the threads and the watcher always punctual.
const DISTORTIONS: [(&str, Distort); 8] = [
    ("some waits are missing", |waits| {
        let mut number = 0;
        waits.retain(|_| {
            number += 1;
            number % 10 != 0
        });
    }),
    ("a wait is there twice", |waits| {
        waits.push(waits[waits.len() / 2].clone());
    }),
    ("a wait begins a millisecond early", |waits| {
        let middle = waits.len() / 2;
        let wait = &mut waits[middle];
        wait.start_ns -= 1_000_000;
        wait.duration_ns += 1_000_000;
        wait.parts[0].start_ns -= 1_000_000;
        wait.parts[0].duration_ns += 1_000_000;
    }),
    ("the owners of some waits are reversed", |waits| {
        for wait in waits.iter_mut().step_by(10) {
            let owners: Vec<_> = known(wait).map(|part| part.owner.clone()).collect();
            for (part, owner) in known(wait).zip(owners.into_iter().rev()) {
                part.owner = owner;
            }
        }
    }),
    ("some waits are blamed on their last owners", |waits| {
        for wait in waits.iter_mut().step_by(10) {
            let last = known(wait).last().and_then(|part| part.owner.clone());
            known(wait).for_each(|part| part.owner.clone_from(&last));
        }
    }),
    ("all waits are blamed on their first owners", |waits| {
        for wait in waits {
            let first = known(wait).next().and_then(|part| part.owner.clone());
            known(wait).for_each(|part| part.owner.clone_from(&first));
        }
    }),
    ("nobody is blamed for the end of some waits", |waits| {
        for wait in waits.iter_mut().step_by(10) {
            if let Some(last) = known(wait).last() {
                last.owner = None;
            }
        }
    }),
    // Exits whose numbers are taken after the release look like this.
    (
        "owners are blamed until the next one has the lock",
        |waits| {
            for wait in waits {
                let mut owner = None;
                for part in &mut wait.parts {
                    if part.owner.is_none() {
                        part.owner.clone_from(&owner);
                    }
                    owner.clone_from(&part.owner);
                }
            }
        },
    ),
];

/// The parts of a wait that somebody is to blame for.
fn known(wait: &mut Wait) -> impl DoubleEndedIterator<Item = &mut Contention> {
    let parts = wait.parts.iter_mut();
    parts.filter(|part| part.owner.is_some())
}
