//! Nothing is lost when the JVM is killed: what a thread has done before it said so is in
//! the trace or in the buffers that the JVM leaves behind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use jvm_tests::{Jvm, Run, for_each_segment, is_nightly, locktrace};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use trace_format::{Event, LockId, ThreadId};

const KILLS: u64 = 10;
const NIGHTLY_KILLS: u64 = 500;
/// A JVM takes a third of it to start.
const LONGEST_LIFE: Duration = Duration::from_millis(2_500);
/// The workers of `KilledRounds`, and threads of the JVM that may contend, too.
const MOST_THREADS: u64 = 12;

const CRASH_SAFE: [&str; 1] = ["-XX:+LockContentionCrashSafe"];

/// The events of a thread, as it noted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Deeds {
    blocked: u64,
    parks: u64,
    unparks: u64,
}

#[test]
fn what_was_written_survives_a_kill() {
    let kills = if is_nightly() { NIGHTLY_KILLS } else { KILLS };
    let mut rounds = 0;
    let mut recovered = 0;
    for seed in 0..kills {
        let life = LONGEST_LIFE.mul_f64(StdRng::seed_from_u64(seed).random_range(0.1..1.0));
        let run = killed_after(life);
        rounds += check(&run, seed);
        recovered += u64::from(buffers_beside(&run.trace()).exists());
    }
    assert!(rounds > 100 * kills, "only {rounds} rounds in all");
    assert!(recovered > kills / 2, "only {recovered} files of buffers");
}

/// An orderly end leaves no file behind, and neither does one by a signal that the JVM
/// handles.
#[test]
fn buffers_go_with_the_end() {
    for ending in ["return", "halt"] {
        let run = Jvm::traced(&["scenarios.Endings", ending])
            .flags(CRASH_SAFE)
            .finish();
        assert!(run.trace().exists());
        assert!(!buffers_beside(&run.trace()).exists(), "{ending}");
        assert_eq!(run.stderr, "");
    }
}

/// The file costs threads waits for a disk, so nobody gets it who did not ask for it.
#[test]
fn buffers_are_in_memory_by_default() {
    let mut jvm = Jvm::traced(&["scenarios.Endings", "hang"]).start();
    jvm.await_line("contended");
    assert!(!buffers_beside(&jvm.trace()).exists());
    jvm.kill();
}

/// A file of buffers of another run does not belong to the trace, and one that is there from
/// before is in nobody's way.
#[test]
fn buffers_of_another_run_are_not_taken() {
    let killed = killed_after(LONGEST_LIFE);
    let other = Jvm::traced(&["scenarios.Endings", "return"]).run();
    let before = deeds_in(&other.trace());
    std::fs::copy(
        buffers_beside(&killed.trace()),
        buffers_beside(&other.trace()),
    )
    .unwrap();
    assert_eq!(deeds_in(&other.trace()), before);
    assert_eq!(
        locktrace(["stat".as_ref(), other.trace().as_os_str()]).code,
        0
    );

    std::fs::rename(
        buffers_beside(&other.trace()),
        buffers_beside(&killed.trace()),
    )
    .unwrap();
    let torn = other.directory().join("torn.lct");
    let whole = std::fs::read(other.trace()).unwrap();
    std::fs::write(&torn, &whole[..whole.len() - 1]).unwrap();
    let alone = deeds_in(&torn);
    std::fs::copy(buffers_beside(&killed.trace()), buffers_beside(&torn)).unwrap();
    assert_eq!(deeds_in(&torn), alone);
}

fn killed_after(life: Duration) -> Run {
    let jvm = Jvm::traced(&["scenarios.KilledRounds"])
        .flags(CRASH_SAFE)
        .start();
    thread::sleep(life);
    jvm.kill()
}

/// Compares the trace of a killed JVM with what its threads said. Returns how many rounds
/// they have made.
fn check(run: &Run, seed: u64) -> u64 {
    let (rounds, said) = what_threads_said(&run.stdout);
    if said.is_empty() {
        // Not even its header may be there.
        return 0;
    }
    let traced = deeds_in(&run.trace());
    for (name, said) in &said {
        let traced = traced.deeds.get(name).copied().unwrap_or_default();
        let is_enough = traced.blocked >= said.blocked
            && traced.parks >= said.parks
            && traced.unparks >= said.unparks;
        assert!(
            is_enough,
            "seed {seed}, {name}: said {said:?}, but the trace has {traced:?}"
        );
    }
    // A thread can have taken a number that it had no time to write.
    let missing = traced.missing_numbers();
    assert!(
        missing <= MOST_THREADS,
        "seed {seed}: {missing} numbers are missing"
    );
    let stat = locktrace(["stat".as_ref(), run.trace().as_os_str()]);
    assert_eq!(stat.code, 1, "seed {seed}: {}", stat.stderr);
    assert!(
        !stat.stderr.contains("could be decoded only in part"),
        "{}",
        stat.stderr
    );
    rounds
}

/// The lines that are whole, by thread: the last one says all.
fn what_threads_said(stdout: &str) -> (u64, BTreeMap<String, Deeds>) {
    let mut said = BTreeMap::new();
    let mut rounds = 0;
    let whole_len = stdout.rfind('\n').map_or(0, |end| end + 1);
    // The main thread has also waited for what the JVM does when it starts.
    let lines = stdout[..whole_len].lines();
    for line in lines.filter(|line| line.starts_with("worker-")) {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, _round, numbers @ ..] = words.as_slice() else {
            panic!("{line:?}");
        };
        let numbers: Vec<u64> = numbers.iter().map(|word| word.parse().unwrap()).collect();
        let &[blocked, parks, unparks] = numbers.as_slice() else {
            panic!("{line:?}");
        };
        let deeds = Deeds {
            blocked,
            parks,
            unparks,
        };
        said.insert((*name).to_owned(), deeds);
        rounds += 1;
    }
    (rounds, said)
}

/// The contents of a trace.
#[derive(Debug, Default, PartialEq, Eq)]
struct Traced {
    /// By the names of threads.
    deeds: BTreeMap<String, Deeds>,
    numbers: BTreeMap<LockId, BTreeSet<u64>>,
}

impl Traced {
    /// Returns how many numbers of locks and domains are missing before others.
    fn missing_numbers(&self) -> u64 {
        let missing = self.numbers.iter().map(|(lock, numbers)| {
            let first = u64::from(lock.0 <= trace_format::PARK_DOMAINS);
            let last = *numbers.last().expect("it has one");
            last + 1 - first - numbers.len() as u64
        });
        missing.sum()
    }
}

fn deeds_in(trace: &Path) -> Traced {
    let mut names = HashMap::new();
    let mut deeds: HashMap<ThreadId, Deeds> = HashMap::new();
    let mut traced = Traced::default();
    for_each_segment(trace, |segment| {
        for event in segment.events() {
            let event = event.expect("no event is torn");
            let of_thread = deeds.entry(segment.thread).or_default();
            match &event {
                Event::ThreadStart(start) => {
                    names.insert(segment.thread, start.name.to_owned());
                }
                // Counted when it begins, and over when the thread says so.
                Event::ContendedEntered(_) => of_thread.blocked += 1,
                Event::ParkEnd(_) => of_thread.parks += 1,
                Event::Unpark(_) => of_thread.unparks += 1,
                _ => {}
            }
            if let Some((lock, first)) = event.lock_and_sequence() {
                let numbers = traced.numbers.entry(lock).or_default();
                for number in first..first + event.numbers() {
                    assert!(numbers.insert(number), "{lock:?} has {number} twice");
                }
            }
        }
    });
    for (thread, name) in names {
        let of_thread = deeds.get(&thread).copied().unwrap_or_default();
        // Threads may have the same name.
        let deeds = traced.deeds.entry(name).or_default();
        deeds.blocked += of_thread.blocked;
        deeds.parks += of_thread.parks;
        deeds.unparks += of_thread.unparks;
    }
    traced
}

fn buffers_beside(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(trace_format::buffer_file::EXTENSION);
    name.into()
}
