//! The oracle of holds: the owner of a lock while others waited for it, to the microsecond, by the clock of the
//! scenario `HoldsOfLocks`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::{self, Debug, Display, Formatter};

use crate::hold_log::{Bounds, Compared, HoldLog};
use crate::jvm::{Jvm, NEVER_INLINED, Run};
use crate::trace_clock::TraceClock;

const MILLISECOND_NS: u64 = 1_000_000;

/// A pair of threads, or a method, with less cannot be compared.
const SHORTEST_BLAME_NS: u64 = 50 * MILLISECOND_NS;

/// How much of an owner's time may be at another place than the program says.
const MISPLACED: f64 = 0.005;

/// A range of holds, and how far the blame may be from the truth.
#[derive(Debug)]
pub struct Holds {
    /// The name, for people.
    pub name: &'static str,
    /// The shortest hold.
    pub shortest_ns: u64,
    /// The longest hold.
    pub longest_ns: u64,
    longest_pause_ns: u64,
    /// For a pair of threads, and for a method.
    tolerance: f64,
    /// For all time that somebody is blamed for.
    total_tolerance: f64,
}

impl Holds {
    /// Holds of microseconds.
    pub const MICROSECONDS: Self = Self {
        name: "2–20 µs",
        shortest_ns: 2_000,
        longest_ns: 20_000,
        longest_pause_ns: 50_000,
        tolerance: 0.03,
        total_tolerance: 0.02,
    };

    /// Holds of tenths of milliseconds.
    pub const TENTHS: Self = Self {
        name: "0.1–1 ms",
        shortest_ns: 100_000,
        longest_ns: 1_000_000,
        longest_pause_ns: 2_500_000,
        tolerance: 0.02,
        total_tolerance: 0.01,
    };

    /// Holds of milliseconds.
    pub const MILLISECONDS: Self = Self {
        name: "1–5 ms",
        shortest_ns: 1_000_000,
        longest_ns: 5_000_000,
        longest_pause_ns: 12_500_000,
        tolerance: 0.02,
        total_tolerance: 0.01,
    };
}

/// A lock, as the scenario calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldLock {
    /// A monitor.
    Monitor,
    /// A `ReentrantLock`.
    NonFair,
    /// A fair `ReentrantLock`.
    Fair,
    /// The write lock of a `ReentrantReadWriteLock`.
    Write,
    /// A `StampedLock`, for writing.
    Stamped,
    /// A lock of the program's own.
    Mutex,
}

impl HeldLock {
    /// All locks.
    pub const ALL: [Self; 6] = [
        Self::Monitor,
        Self::NonFair,
        Self::Fair,
        Self::Write,
        Self::Stamped,
        Self::Mutex,
    ];

    /// Returns the scenario's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::NonFair => "nonfair",
            Self::Fair => "fair",
            Self::Write => "write",
            Self::Stamped => "stamped",
            Self::Mutex => "mutex",
        }
    }

    /// Returns the class of the object that threads wait for.
    pub fn class(self) -> &'static str {
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

/// A run of the scenario `HoldsOfLocks`.
#[derive(Clone, Copy, Debug)]
pub struct HoldRun {
    /// The lock.
    pub lock: HeldLock,
    /// The time that it is held.
    pub holds: &'static Holds,
    /// The number of threads that want it.
    pub threads: usize,
    /// The number of other threads, which keep the processors busy.
    pub hogs: usize,
    /// The duration of the run.
    pub duration_ms: u64,
}

impl HoldRun {
    /// Returns the program and its arguments.
    pub fn program(&self) -> Vec<String> {
        let numbers = [
            self.threads as u64,
            self.holds.shortest_ns,
            self.holds.longest_ns,
            self.holds.longest_pause_ns,
            self.duration_ms,
            self.hogs as u64,
        ];
        let words = ["scenarios.HoldsOfLocks", self.lock.name()].map(str::to_owned);
        let numbers = numbers.map(|number| number.to_string());
        words.into_iter().chain(numbers).collect()
    }

    /// Runs it traced, with further flags.
    ///
    /// Panics if the JVM fails.
    pub fn run(&self, flags: impl IntoIterator<Item: AsRef<OsStr>>) -> Run {
        let program = self.program();
        let program: Vec<&str> = program.iter().map(String::as_str).collect();
        Jvm::traced(&program)
            .flags(NEVER_INLINED)
            .flags(flags)
            .run()
    }

    /// Compares the trace of such a run with the program's own log.
    ///
    /// Panics if the log contradicts itself.
    pub fn compare(&self, run: &Run) -> Compared {
        HoldLog::of(run, TraceClock::of(run)).compare(run, self.lock.class())
    }

    /// Returns in which way the trace differs from the log by more than is tolerated.
    pub fn faults(&self, compared: &Compared) -> Vec<String> {
        let Compared {
            found,
            truth,
            overlay,
            ..
        } = compared;
        let Holds {
            tolerance,
            total_tolerance,
            ..
        } = *self.holds;
        let mut faults = differences(&found.pairs, &truth.pairs, tolerance);
        faults.extend(differences(&found.methods, &truth.methods, tolerance));
        faults.extend(differences(
            &BTreeMap::from([("held", found.held), ("free", found.free)]),
            &BTreeMap::from([("held", truth.held), ("free", truth.free)]),
            total_tolerance,
        ));
        if overlay.missed().max(overlay.wrong()) > MISPLACED {
            faults.push(overlay.to_string());
        }
        faults
    }
}

impl Display for Compared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            waits,
            found,
            truth,
            overlay,
        } = self;
        write!(
            f,
            "{waits} waits, held {} ms of {}, free {} of {}, unknown {}, {overlay}",
            found.held / MILLISECOND_NS,
            Millis(truth.held),
            found.free / MILLISECOND_NS,
            Millis(truth.free),
            found.unknown / MILLISECOND_NS,
        )
    }
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
