//! The owner of a lock while others waited for it, to the microsecond, by the program's own clock:
//! with short holds and long ones, with more threads than processors, and with other threads that
//! keep the processors busy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Display, Formatter};

use jvm_tests::CompileMode::{self, C1, C2, Interpreter, Tiered};
use jvm_tests::{
    Bounds, Compared, HoldLog, Jvm, NEVER_INLINED, TraceClock, check_each, is_nightly,
};

const MILLISECOND_NS: u64 = 1_000_000;

/// A range of holds, and how far the blame may be from the truth.
struct Holds {
    shortest_ns: u64,
    longest_ns: u64,
    longest_pause_ns: u64,
    /// For a pair of threads, and for a method.
    tolerance: f64,
    /// For all time that somebody is blamed for.
    total_tolerance: f64,
}

const MICROSECONDS: Holds = Holds {
    shortest_ns: 2_000,
    longest_ns: 20_000,
    longest_pause_ns: 50_000,
    tolerance: 0.03,
    total_tolerance: 0.02,
};

const TENTHS: Holds = Holds {
    shortest_ns: 100_000,
    longest_ns: 1_000_000,
    longest_pause_ns: 2_500_000,
    tolerance: 0.02,
    total_tolerance: 0.01,
};

const MILLISECONDS: Holds = Holds {
    shortest_ns: 1_000_000,
    longest_ns: 5_000_000,
    longest_pause_ns: 12_500_000,
    tolerance: 0.02,
    total_tolerance: 0.01,
};

/// A pair of threads, or a method, with less cannot be compared.
const SHORTEST_BLAME_NS: u64 = 50 * MILLISECOND_NS;

/// How much of an owner's time may be at another place than the program says.
const MISPLACED: f64 = 0.005;

const MILLIS: u64 = 2_500;

/// A lock, as the scenario calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    Monitor,
    NonFair,
    Fair,
    Write,
    Stamped,
    Mutex,
}

use Lock::{Fair, Monitor, Mutex, NonFair, Stamped, Write};

/// A lock, how many threads want it, how many others keep the processors busy, and how the
/// program is compiled.
type Setting = (Lock, usize, usize, CompileMode);

#[test]
fn microseconds() {
    check(
        &MICROSECONDS,
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
        &TENTHS,
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
        &MILLISECONDS,
        &[
            (Monitor, 8, 0, C2),
            (Monitor, 64, 6, Tiered),
            (NonFair, 64, 0, Tiered),
            (Stamped, 8, 6, Interpreter),
        ],
    );
}

fn check(holds: &Holds, settings: &[Setting]) {
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
    for lock in [Monitor, NonFair, Fair, Write, Stamped, Mutex] {
        for threads in [2, 8, 64] {
            for hogs in [0, 6] {
                let modes = [Tiered, Interpreter, C1, C2].into_iter();
                settings.extend(modes.map(|mode| (lock, threads, hogs, mode)));
            }
        }
    }
    settings
}

fn check_run(holds: &Holds, &(lock, threads, hogs, mode): &Setting) {
    let numbers = [
        threads as u64,
        holds.shortest_ns,
        holds.longest_ns,
        holds.longest_pause_ns,
        MILLIS,
        hogs as u64,
    ];
    let numbers = numbers.map(|number| number.to_string());
    let mut program = vec!["scenarios.HoldsOfLocks", lock.name()];
    program.extend(numbers.iter().map(String::as_str));
    let run = Jvm::traced(&program)
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .run();

    let compared = HoldLog::of(&run, TraceClock::of(&run)).compare(&run, lock.class());
    let Compared {
        waits,
        found,
        truth,
        overlay,
    } = &compared;
    println!(
        "{program:?} {mode:?}: {waits} waits, held {} ms of {}, free {} of {}, unknown {}, {overlay}",
        found.held / MILLISECOND_NS,
        Millis(truth.held),
        found.free / MILLISECOND_NS,
        Millis(truth.free),
        found.unknown / MILLISECOND_NS,
    );
    let faults = faults(&compared, holds);
    assert!(faults.is_empty(), "{program:?} {mode:?}: {faults:#?}");
}

impl Lock {
    /// Returns the scenario's name for it.
    fn name(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::NonFair => "nonfair",
            Self::Fair => "fair",
            Self::Write => "write",
            Self::Stamped => "stamped",
            Self::Mutex => "mutex",
        }
    }

    /// The class of the object that threads wait for.
    fn class(self) -> &'static str {
        match self {
            Self::Monitor => "scenarios.HoldsOfLocks$Shared",
            Self::NonFair => "java.util.concurrent.locks.ReentrantLock$NonfairSync",
            Self::Fair => "java.util.concurrent.locks.ReentrantLock$FairSync",
            Self::Write => "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync",
            Self::Stamped => "java.util.concurrent.locks.StampedLock",
            Self::Mutex => "scenarios.HoldsOfLocks$Mutex$Sync",
        }
    }
}

fn faults(compared: &Compared, holds: &Holds) -> Vec<String> {
    let Compared {
        found,
        truth,
        overlay,
        ..
    } = compared;
    let mut faults = differences(&found.pairs, &truth.pairs, holds.tolerance);
    faults.extend(differences(&found.methods, &truth.methods, holds.tolerance));
    faults.extend(differences(
        &BTreeMap::from([("held", found.held), ("free", found.free)]),
        &BTreeMap::from([("held", truth.held), ("free", truth.free)]),
        holds.total_tolerance,
    ));
    if overlay.missed().max(overlay.wrong()) > MISPLACED {
        faults.push(overlay.to_string());
    }
    faults
}

fn differences<K: Ord + Debug>(
    found: &BTreeMap<K, u64>,
    truth: &BTreeMap<K, Bounds>,
    tolerance: f64,
) -> Vec<String> {
    let keys: BTreeSet<_> = found.keys().chain(truth.keys()).collect();
    let mut differences = Vec::new();
    for key in keys {
        let found_ns = found.get(key).copied().unwrap_or(0);
        let bounds = truth.get(key).copied().unwrap_or_default();
        let least_ns = bounds.least_ns as f64 * (1.0 - tolerance);
        let most_ns = bounds.most_ns as f64 * (1.0 + tolerance);
        let is_right = (least_ns..=most_ns).contains(&(found_ns as f64));
        if found_ns.max(bounds.least_ns) >= SHORTEST_BLAME_NS && !is_right {
            let found_ms = found_ns / MILLISECOND_NS;
            differences.push(format!(
                "{key:?}: {found_ms} ms instead of {}",
                Millis(bounds)
            ));
        }
    }
    differences
}

struct Millis(Bounds);

impl Display for Millis {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [least, most] = [self.0.least_ns, self.0.most_ns].map(|ns| ns / MILLISECOND_NS);
        write!(f, "{least} to {most}")
    }
}
