//! Threads that queue up for one lock: an event costs the same however many of them wait.
//!
//! With `LOCKTRACE_NIGHTLY=1` valgrind counts instructions, which no other process and no cache
//! affect. Otherwise time is measured, with a margin for both: 4,096 threads do not fit the
//! caches that 8 do. Work for each thread that waits would be 512 times as much.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use trace_format::{
    Blocker, Capabilities, ChainRef, ClassId, ContendedExit, Event, ExclusiveRelease, Hold,
    JavaThreadId, LockId, LockOwner, MethodId, ParkBegin, ParkEnd, ParkEndReason, Permit, ThreadId,
    Unpark,
};

use crate::events::{
    CHAIN, CLASS, LOCK, chain, class, enter, entered, exit, lock_description, method, thread_start,
};
use crate::meter::Meter;
use crate::trace::{Trace, TraceWriter, report};

const FEW: u32 = 8;
const MANY: u32 = 4096;
/// How much more an event may cost where many wait: instructions, and time.
const MAX_INSTRUCTIONS: f64 = 2.0;
const MAX_TIME: f64 = 4.0;
/// Events of a trace, besides those that begin it.
const EVENTS: u64 = 100_000;
/// The number of measurements, of which the fastest counts: other processes slow the rest.
const ROUNDS: usize = 3;

/// What threads do with the lock, one after the other.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A thread releases a monitor, says or does not say for how long it had it, and wants it
    /// again; the next one acquires it.
    Exit { reports_hold: bool },
    /// The same where no release is seen, only the owner by those who want the monitor.
    SeenMonitor,
    /// A thread unparks the next one, has or has not said before that it releases the lock, and
    /// parks.
    Unpark { reports_hold: bool },
    /// The next thread gives up to wait, sees the owner, and parks again, in the same call of
    /// `lock()` or in another one.
    Retry { continued: bool },
}

/// What of the lock a thread waits for, by the method of `AbstractQueuedSynchronizer`.
const EXCLUSIVE: &str = "acquireQueued";
const SHARED: &str = "doAcquireShared";

struct Convoy {
    waiters: u32,
    turn: Turn,
    /// The class of the lock, and what of it is wanted.
    lock: &'static str,
    wanted: &'static str,
}

impl Convoy {
    fn trace(&self) -> Trace {
        let mut script = Script {
            writer: TraceWriter::new(match self.turn {
                Turn::Exit {
                    reports_hold: false,
                } => Capabilities::default(),
                _ => Capabilities::HOLDS,
            }),
            sequence: 0,
            events: 0,
        };
        let threads = self.waiters + 1;
        for (thread, start) in (1..=threads).map(thread_start) {
            script.writer.event(thread, &start);
        }
        for event in [
            class(CLASS, self.lock),
            class(
                ClassId(2),
                "java.util.concurrent.locks.AbstractQueuedSynchronizer",
            ),
            method(MethodId(1), ClassId(2), self.wanted),
            chain(CHAIN, [1].into_iter()),
            lock_description(LOCK, CLASS),
        ] {
            script.writer.event(ThreadId(1), &event);
        }
        for waiter in 2..=threads {
            match self.turn {
                Turn::Exit { .. } | Turn::SeenMonitor => script.enter(waiter, 1),
                Turn::Unpark { .. } | Turn::Retry { .. } => script.park(waiter, 1, false),
            }
        }
        script.events = 0;
        for turn in 0.. {
            if script.events >= EVENTS {
                break;
            }
            let owner = turn % threads + 1;
            let next = (turn + 1) % threads + 1;
            match self.turn {
                Turn::Exit { reports_hold } => {
                    script.exit(owner, reports_hold);
                    script.entered(next);
                    script.enter(owner, next);
                }
                Turn::SeenMonitor => {
                    script.entered(next);
                    script.enter(owner, next);
                }
                Turn::Unpark { reports_hold } => {
                    if reports_hold {
                        script.release(owner);
                    }
                    script.unpark(owner, next);
                    script.parked(next, ParkEndReason::Unparked, next);
                    script.park(owner, next, false);
                }
                Turn::Retry { continued } => {
                    // The first thread parks never.
                    let waiter = turn % self.waiters + 2;
                    let seen = (turn + 1) % self.waiters + 2;
                    script.parked(waiter, ParkEndReason::TimedOut, seen);
                    script.park(waiter, seen, continued);
                }
            }
        }
        script.writer.finish()
    }
}

/// Events of one lock in the order in which they happen.
struct Script {
    writer: TraceWriter,
    sequence: u64,
    events: u64,
}

const DOMAIN: LockId = LockId(1);
const BLOCKER: Blocker = Blocker {
    class: CLASS,
    identity_hash: 0,
};

impl Script {
    fn write(&mut self, thread: u32, event: impl FnOnce(u64) -> Event<'static>) {
        self.sequence += 1;
        self.events += 1;
        self.writer.event(ThreadId(thread), &event(self.sequence));
    }

    fn enter(&mut self, thread: u32, owner: u32) {
        let owner = LockOwner::Thread(ThreadId(owner));
        self.write(thread, |sequence| enter(LOCK, sequence, owner));
    }

    fn entered(&mut self, thread: u32) {
        self.write(thread, |sequence| entered(LOCK, sequence));
    }

    fn exit(&mut self, thread: u32, reports_hold: bool) {
        self.write(thread, |sequence| match reports_hold {
            false => exit(LOCK, sequence, ChainRef::Chain(CHAIN)),
            true => Event::ContendedExit(ContendedExit {
                lock: LOCK,
                sequence,
                time_ns: sequence,
                hold: Hold::For { duration_ns: 1 },
                chain: ChainRef::Chain(CHAIN),
            }),
        });
    }

    fn park(&mut self, thread: u32, owner: u32, continued: bool) {
        self.write(thread, |sequence| {
            Event::ParkBegin(ParkBegin {
                domain: DOMAIN,
                sequence,
                time_ns: sequence,
                blocker: BLOCKER,
                owner: JavaThreadId(owner.into()),
                continued,
                chain: CHAIN,
                ..ParkBegin::default()
            })
        });
    }

    fn parked(&mut self, thread: u32, reason: ParkEndReason, owner: u32) {
        let permit = match reason {
            ParkEndReason::Unparked => Permit(self.sequence as u32),
            _ => Permit::default(),
        };
        self.write(thread, |sequence| {
            Event::ParkEnd(ParkEnd {
                domain: DOMAIN,
                sequence,
                time_ns: sequence,
                reason,
                permit,
                owner: JavaThreadId(owner.into()),
                ..ParkEnd::default()
            })
        });
    }

    fn unpark(&mut self, thread: u32, target: u32) {
        self.write(thread, |sequence| {
            Event::Unpark(Unpark {
                domain: DOMAIN,
                sequence,
                time_ns: sequence,
                target: JavaThreadId(target.into()),
                permit: Permit(sequence as u32),
                blocker: BLOCKER,
                chain: CHAIN,
                ..Unpark::default()
            })
        });
    }

    fn release(&mut self, thread: u32) {
        self.write(thread, |sequence| {
            Event::ExclusiveRelease(ExclusiveRelease {
                domain: DOMAIN,
                sequence,
                time_ns: sequence,
                blocker: BLOCKER,
                hold: Hold::For { duration_ns: 1 },
                chain: CHAIN,
            })
        });
    }
}

/// Names the trace that a process under valgrind analyzes.
const TRACE: &str = "LOCKTRACE_TEST_TRACE";

/// Asserts that an event costs about the same if few threads wait and if many do.
fn assert_even(turn: Turn, lock: &'static str, wanted: &'static str) {
    let meter = Meter::alone();
    let traces = [FEW, MANY].map(|waiters| {
        let convoy = Convoy {
            waiters,
            turn,
            lock,
            wanted,
        };
        convoy.trace()
    });
    let (of_both, max_ratio) = if env::var_os("LOCKTRACE_NIGHTLY").is_some() {
        let counted = [&traces[0], &traces[1]].map(|trace| instructions(trace.path()));
        (counted, MAX_INSTRUCTIONS)
    } else {
        (nanoseconds(&meter, &traces), MAX_TIME)
    };
    let [few, many] = of_both.map(|cost| cost / EVENTS as f64);
    println!("{turn:?} {lock} {wanted}: {few:.0}, {many:.0}");
    assert!(
        many < few * max_ratio,
        "{turn:?} {lock} {wanted}: {few:.0}, {many:.0}"
    );
}

fn nanoseconds(meter: &Meter, traces: &[Trace; 2]) -> [f64; 2] {
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (fastest, trace) in fastest.iter_mut().zip(traces) {
            let (sums, _, cost) = report(meter, trace.path(), 1);
            assert!(sums.totals().all.waits > 0);
            *fastest = cost.time.min(*fastest);
        }
    }
    fastest.map(|time| time.as_nanos() as f64)
}

/// How many instructions a report takes, but for those of a report of nothing.
fn instructions(trace: &Path) -> f64 {
    let count = |trace: &Path| {
        let output = Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no"])
            .arg("--cachegrind-out-file=/dev/null")
            .arg(env::current_exe().expect("known"))
            .args(["--exact", "convoys::reports", "--ignored"])
            .env(TRACE, trace)
            .output()
            .expect("valgrind is needed to count instructions");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let mut lines = said.lines().filter(|line| line.contains(" I "));
        let counted = lines.find_map(|line| line.split_once("refs:"));
        let (_, count) = counted.expect("a count");
        let count = count.trim().replace(',', "");
        count.parse::<f64>().expect("a number")
    };
    let nothing = TraceWriter::new(Capabilities::default()).finish();
    count(trace) - count(nothing.path())
}

/// The process under valgrind.
#[test]
#[ignore = "run by the others"]
fn reports() {
    let trace = env::var_os(TRACE).expect("a trace");
    report(&Meter::alone(), Path::new(&trace), 1);
}

#[test]
fn releases_of_a_monitor_cost_the_same() {
    for reports_hold in [false, true] {
        assert_even(Turn::Exit { reports_hold }, "java.lang.Object", EXCLUSIVE);
    }
}

#[test]
fn owners_of_a_monitor_that_are_only_seen_cost_the_same() {
    assert_even(Turn::SeenMonitor, "java.lang.Object", EXCLUSIVE);
}

/// One of each way in which the owner of a lock is found out, and what is no lock.
const LOCKS: [&str; 6] = [
    "java.util.concurrent.locks.ReentrantLock$Sync",
    "java.util.concurrent.locks.ReentrantReadWriteLock$Sync",
    "java.util.concurrent.locks.StampedLock",
    "java.util.concurrent.Semaphore$Sync",
    "java.util.concurrent.locks.AbstractQueuedSynchronizer",
    "java.util.concurrent.CountDownLatch$Sync",
];

#[test]
fn unparks_cost_the_same() {
    for lock in LOCKS {
        for wanted in [EXCLUSIVE, SHARED] {
            for reports_hold in [false, true] {
                assert_even(Turn::Unpark { reports_hold }, lock, wanted);
            }
        }
    }
}

#[test]
fn owners_that_only_those_see_who_park_cost_the_same() {
    for lock in LOCKS {
        for wanted in [EXCLUSIVE, SHARED] {
            for continued in [false, true] {
                assert_even(Turn::Retry { continued }, lock, wanted);
            }
        }
    }
}
