//! Who had a lock while others waited for it, to the microsecond, by the program's own
//! clock: with short holds and long ones, with more threads than processors, and with
//! other threads that keep the processors busy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Display, Formatter};

use jvm_tests::{Bounds, Compared, CompileMode, HoldLog, Jvm, NEVER_INLINED, TraceClock, alone};

const LOCK: &str = "scenarios.HoldsOfMonitors$Shared";
const MILLISECOND_NS: u64 = 1_000_000;

/// A range of holds, and how far the blame may be from the truth.
struct Holds {
    shortest_ns: u64,
    longest_ns: u64,
    longest_pause_ns: u64,
    /// Of a pair of threads, and of a method.
    tolerance: f64,
    /// Of all time that somebody is blamed for.
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

const MILLIS: &str = "2500";

#[test]
fn microseconds() {
    check(&MICROSECONDS, 8, 0, CompileMode::Tiered);
    check(&MICROSECONDS, 8, 6, CompileMode::C2);
}

#[test]
fn tenths_of_milliseconds() {
    check(&TENTHS, 8, 0, CompileMode::C1);
    check(&TENTHS, 8, 6, CompileMode::Interpreter);
}

#[test]
fn milliseconds() {
    check(&MILLISECONDS, 8, 0, CompileMode::Tiered);
    check(&MILLISECONDS, 64, 6, CompileMode::Tiered);
}

fn check(holds: &Holds, threads: usize, hogs: usize, mode: CompileMode) {
    let _processor = alone();
    let arguments = [
        threads as u64,
        holds.shortest_ns,
        holds.longest_ns,
        holds.longest_pause_ns,
    ];
    let arguments = arguments.map(|argument| argument.to_string());
    let hogs = hogs.to_string();
    let mut program = vec!["scenarios.HoldsOfMonitors"];
    program.extend(arguments.iter().map(String::as_str));
    program.extend([MILLIS, &hogs]);
    let run = Jvm::traced(&program)
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .run();

    let compared = HoldLog::of(&run, TraceClock::of(&run)).compare(&run, LOCK);
    let Compared {
        waits,
        found,
        truth,
    } = &compared;
    println!(
        "{program:?} {mode:?}: {waits} waits, held {} ms of {}, free {} of {}, unknown {}",
        found.held / MILLISECOND_NS,
        Millis(truth.held),
        found.free / MILLISECOND_NS,
        Millis(truth.free),
        found.unknown / MILLISECOND_NS,
    );
    let faults = faults(&compared, holds);
    assert!(faults.is_empty(), "{program:?} {mode:?}: {faults:#?}");
}

fn faults(compared: &Compared, holds: &Holds) -> Vec<String> {
    let Compared { found, truth, .. } = compared;
    let mut faults = differences(&found.pairs, &truth.pairs, holds.tolerance);
    faults.extend(differences(&found.methods, &truth.methods, holds.tolerance));
    faults.extend(differences(
        &BTreeMap::from([("held", found.held), ("free", found.free)]),
        &BTreeMap::from([("held", truth.held), ("free", truth.free)]),
        holds.total_tolerance,
    ));
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
