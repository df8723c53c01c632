//! When memory is short the drainer ends tracing, and nothing else.
//!
//! An allocator refuses what the drainer's thread asks for, from some request on. Each
//! case is a process of its own: one that aborts fails.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, process, ptr};

use rust_tracer::ffi::{
    LctChainKey, LctConfig, LctContendedEnter, LctFrame, LctLock, LctLockDescription, LctOwner,
    LctStack, LctStr, LctThreadStart, lct_chain_add, lct_chain_hash, lct_code_flushed,
    lct_contended_enter, lct_lock_claim, lct_lock_describe, lct_lock_next_sequence, lct_start,
    lct_stop, lct_thread_end, lct_thread_number, lct_thread_start,
};
use tempfile::TempDir;
use trace_format::buffer_file::{ALIVE_OFFSET, EXTENSION};
use trace_format::{Chunk, Damage, EndReason, TraceReader};

/// Names the trace in the environment of a process under test.
const TRACE: &str = "LOCKTRACE_TEST_TRACE";
/// Says there how many requests of the drainer are granted.
const GRANTED: &str = "LOCKTRACE_TEST_GRANTED";

/// How long a process traces if nothing is refused.
const TIME: Duration = Duration::from_millis(2_500);
/// How long it waits at most for a refusal to end tracing.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Where the JVM has the thread, and the thread its stack.
const VM_THREAD: u64 = 0x7f00_0000_1000;
const STACK: LctStack = LctStack {
    lowest: 0x7f00_1000_0000,
    size: 1 << 20,
};

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// How many more requests of the drainer are granted; less than 0 afterwards.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Set by the tracer when tracing goes off.
static ENABLED: AtomicU8 = AtomicU8::new(1);

impl Allocator {
    fn refuses() -> bool {
        is_drainer() && LEFT.fetch_sub(1, Ordering::Relaxed) <= 0
    }
}

fn is_drainer() -> bool {
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes at most as many bytes, the NUL included.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name == *b"locktrace-drain\0"
}

// SAFETY: the system's allocator, which may refuse.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::refuses() {
            return ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        if Self::refuses() {
            return ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, len) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[test]
fn the_drainer_survives_whatever_is_refused() {
    let whole = Case::run(i64::MAX);
    assert_eq!(whole.stderr(), "");
    assert!(whole.damage().is_none());
    let requests: i64 = whole.stdout_number();

    // Each of the first ones, and then some of many that are alike.
    let spread = (1..=16).map(|part| requests * part / 17);
    let mut cases: Vec<i64> = (0..24.min(requests)).chain(spread).collect();
    cases.sort_unstable();
    cases.dedup();
    thread::scope(|scope| {
        for worker in 0..4 {
            let cases = cases.iter().skip(worker).step_by(4);
            scope.spawn(move || cases.for_each(|&granted| check(granted)));
        }
    });
}

fn check(granted: i64) {
    let case = Case::run(granted);
    let expected = format!(
        "locktrace: cannot write '{}': memory is short; tracing is off, the application goes on\n",
        case.trace.display()
    );
    assert_eq!(case.stderr(), expected, "after {granted} requests");
    let damage = case.damage();
    assert_eq!(damage.skipped_bytes, 0, "after {granted} requests");
    let ended_early = damage.ended_early;
    assert_eq!(
        ended_early,
        Some(EndReason::MemoryShort),
        "after {granted} requests"
    );
}

/// A process that has traced.
struct Case {
    /// Of its own: what a process leaves beside its trace goes with it.
    _directory: TempDir,
    trace: PathBuf,
    output: Output,
}

impl Case {
    fn run(granted: i64) -> Self {
        let directory = TempDir::new().unwrap();
        let trace = directory.path().join("trace.lct");
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "traces", "--ignored", "--nocapture", "--quiet"])
            .env(TRACE, &trace)
            .env(GRANTED, granted.to_string())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "after {granted} requests: {output:?}"
        );
        Self {
            _directory: directory,
            trace,
            output,
        }
    }

    fn stderr(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }

    /// How many requests the drainer has made.
    fn stdout_number(&self) -> i64 {
        let stdout = String::from_utf8(self.output.stdout.clone()).unwrap();
        let number = stdout
            .lines()
            .find_map(|line| line.strip_prefix("requests "));
        number.unwrap().parse().unwrap()
    }

    /// Reads the trace.
    fn damage(&self) -> Damage {
        let file = BufReader::new(File::open(&self.trace).unwrap());
        let mut reader = TraceReader::new(file).unwrap();
        while let Some(chunk) = reader.next_chunk().unwrap() {
            if let Chunk::Events(events) = chunk {
                assert!(events.segments().all(|segment| segment.is_ok()));
            }
        }
        reader.damage().clone()
    }
}

/// The process under test.
#[test]
#[ignore = "run by the other one"]
fn traces() {
    let trace = env::var(TRACE).unwrap();
    let granted = env::var(GRANTED).unwrap().parse().unwrap();
    trace_for_a_while(Path::new(&trace), granted);
    if granted == i64::MAX {
        println!("\nrequests {}", granted - LEFT.load(Ordering::Relaxed));
    } else {
        assert_eq!(ENABLED.load(Ordering::Acquire), 0);
    }
}

/// Call chains that are known come and go, so that everything that the drainer does
/// happens.
fn trace_for_a_while(trace: &Path, granted: i64) {
    let config = LctConfig {
        path: text(trace.to_str().unwrap()),
        compress: true,
        crash_safe: true,
        start_unix_ns: 0,
        start_ns: 0,
        pid: process::id(),
        jvm: text("JVM"),
        enabled: ENABLED.as_ptr(),
        max_buffer_bytes: 0,
        last_metadata_epoch: 0,
        last_id: 0,
        missing: 0,
        analysis: 0,
        owner_samples: false,
        lock_sites: false,
        analysis_bytes: 0,
        report: LctStr {
            ptr: ptr::null(),
            len: 0,
        },
    };
    // SAFETY: what the functions get is valid, and each tracer is used here only.
    unsafe {
        let runtime = &*lct_start(&config, ptr::null_mut(), 0);
        await_drainer(trace);
        LEFT.store(granted, Ordering::Relaxed);
        let time = if granted == i64::MAX { TIME } else { MAX_TIME };
        let begin = Instant::now();
        let mut lock = LctLock::default();
        let mut compile_id = 1;
        let mut time_ns = 0;
        while begin.elapsed() < time && ENABLED.load(Ordering::Acquire) != 0 {
            let start = LctThreadStart {
                java_id: 1,
                name: text("thread"),
                vm_thread: VM_THREAD,
                stack: STACK,
                time_ns,
            };
            let mut tracer = lct_thread_start(runtime, &start).unwrap();
            if lct_lock_claim(runtime, &raw mut lock) {
                let description = LctLockDescription {
                    lock: lock.id,
                    monitor_address: 0,
                    class_id: 0,
                    mirrored_class: 0,
                    identity_hash: 0,
                };
                lct_lock_describe(Some(&mut tracer), &description);
            }
            for _ in 0..2_000 {
                let key = [1 << 63 | u64::from(compile_id) << 32 | 5, 1 << 63 | 5];
                let key = LctChainKey {
                    frames: key.as_ptr(),
                    len: key.len(),
                    hash: lct_chain_hash(0, key.as_ptr(), key.len()),
                };
                let frames: [LctFrame; 0] = [];
                let chain = lct_chain_add(Some(&mut tracer), key, frames.as_ptr(), 0, false);
                time_ns += 1000;
                let enter = LctContendedEnter {
                    lock: lock.id,
                    sequence: lct_lock_next_sequence(&raw mut lock),
                    time_ns,
                    owner: LctOwner {
                        thread: lct_thread_number(runtime, VM_THREAD),
                        stack_address: 0,
                    },
                    chain,
                    after_wait: false,
                };
                lct_contended_enter(Some(&mut tracer), &enter);
                if compile_id % 2 == 0 {
                    lct_code_flushed(runtime, compile_id);
                }
                compile_id += 1;
            }
            lct_thread_end(Some(tracer), time_ns);
            thread::sleep(Duration::from_millis(50));
        }
        lct_stop(runtime, 10_000);
    }
}

fn text(text: &str) -> LctStr {
    LctStr {
        ptr: text.as_ptr(),
        len: text.len(),
    }
}

/// Waits until the drainer runs, which it says in the file of buffers. Before, the standard
/// library starts the thread, which takes memory that must not be refused.
fn await_drainer(trace: &Path) {
    let buffers = File::open(format!("{}{EXTENSION}", trace.display())).unwrap();
    let mut alive_ns = [0; 8];
    while alive_ns == [0; 8] {
        thread::sleep(Duration::from_millis(1));
        buffers
            .read_exact_at(&mut alive_ns, ALIVE_OFFSET as u64)
            .unwrap();
    }
}
