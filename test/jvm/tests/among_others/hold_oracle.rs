//! The owner of a lock while others waited for it, to the microsecond, by the program's own clock:
//! with short holds and long ones, with more threads than processors, and with other threads that
//! keep the processors busy.

use jvm_tests::CompileMode::{self, C1, C2, Interpreter, Tiered};
use jvm_tests::HeldLock::{self, Fair, Monitor, Mutex, NonFair, Stamped, Write};
use jvm_tests::{HoldRun, Holds, check_each, is_nightly};

const DURATION_MS: u64 = 2_500;

/// A lock, how many threads want it, how many others keep the processors busy, and how the
/// program is compiled.
type Setting = (HeldLock, usize, usize, CompileMode);

#[test]
fn microseconds() {
    check(
        &Holds::MICROSECONDS,
        &[
            (Monitor, 8, 0, Tiered),
            (Monitor, 8, 6, C2),
            (NonFair, 8, 6, C2),
            (Fair, 8, 0, C1),
            (Mutex, 2, 0, C2),
        ],
    );
}

#[test]
fn tenths_of_milliseconds() {
    check(
        &Holds::TENTHS,
        &[
            (Monitor, 8, 0, Tiered),
            (Monitor, 8, 6, Interpreter),
            (Write, 8, 0, C1),
            (Stamped, 64, 0, C2),
        ],
    );
}

#[test]
fn milliseconds() {
    check(
        &Holds::MILLISECONDS,
        &[
            (Monitor, 8, 0, C2),
            (Monitor, 64, 6, Tiered),
            (NonFair, 64, 0, Tiered),
            (Stamped, 8, 6, Interpreter),
        ],
    );
}

fn check(holds: &'static Holds, settings: &[Setting]) {
    if is_nightly() {
        check_each(all_settings(), |setting| check_run(holds, setting));
    } else {
        check_each(settings.iter().copied(), |setting| {
            check_run(holds, setting)
        });
    }
}

fn all_settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for lock in HeldLock::ALL {
        for threads in [2, 8, 64] {
            for hogs in [0, 6] {
                let modes = [Tiered, Interpreter, C1, C2].into_iter();
                settings.extend(modes.map(|mode| (lock, threads, hogs, mode)));
            }
        }
    }
    settings
}

fn check_run(holds: &'static Holds, &(lock, threads, hogs, mode): &Setting) {
    let run = HoldRun {
        lock,
        holds,
        threads,
        hogs,
        duration_ms: DURATION_MS,
    };
    let compared = run.compare(&run.run(mode.flags()));
    let program = run.program();
    println!("{program:?} {mode:?}: {compared}");
    let faults = run.faults(&compared);
    assert!(faults.is_empty(), "{program:?} {mode:?}: {faults:#?}");
}
