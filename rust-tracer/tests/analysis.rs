//! The analysis in the process that is traced, against the analysis of the file that the same trace
//! went to.

use std::ffi::c_void;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{ptr, slice, thread};

use rust_tracer::ffi::{
    LCT_ANALYSIS_BOTH, LCT_ANALYSIS_FILE, LCT_ANALYSIS_ONLINE, LCT_HOLD_NOT_KNOWN, LctChainKey,
    LctClass, LctConfig, LctContendedEnter, LctContendedEntered, LctContendedExit, LctFrame,
    LctLock, LctLockDescription, LctMethod, LctOwner, LctQuestion, LctStack, LctStr, LctText,
    LctThreadStart, lct_chain_add, lct_chain_hash, lct_class, lct_contended_enter,
    lct_contended_entered, lct_contended_exit, lct_end, lct_file_name, lct_lock_claim,
    lct_lock_describe, lct_lock_next_sequence, lct_method, lct_new_id, lct_report, lct_start,
    lct_stop, lct_text_free, lct_thread_end, lct_thread_start,
};
use rust_tracer::ffi::{lct_reclaim_all, lct_submit};
use tempfile::TempDir;
use trace_analysis::{Aggregation, Analysis, TraceFile, TraceSummary, WaitKind};
use trace_report::{Form, Kinds, Question, Report, ReportSums};

const STACK: LctStack = LctStack { lowest: 0, size: 0 };

/// A trace, and what it leaves behind.
struct Trace {
    directory: TempDir,
    /// An `LctRuntime`.
    runtime: *mut c_void,
}

/// How much happens.
#[derive(Clone, Copy)]
struct Load {
    locks: usize,
    methods: usize,
    waits: usize,
    /// The waits after which the program does something else for a while.
    pause_after: usize,
}

impl Trace {
    fn start(analysis: u8, analysis_bytes: u64, max_buffer_bytes: u64) -> Self {
        Self::try_start(analysis, analysis_bytes, max_buffer_bytes).unwrap()
    }

    fn try_start(analysis: u8, analysis_bytes: u64, max_buffer_bytes: u64) -> Result<Self, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.lct");
        let report = directory.path().join("report.json");
        let config = LctConfig {
            path: text(path.to_str().unwrap()),
            compress: true,
            crash_safe: false,
            start_unix_ns: 1_700_000_000_000_000_000,
            start_ns: 0,
            pid: 7,
            jvm: text("JVM"),
            enabled: ptr::null_mut(),
            max_buffer_bytes,
            last_metadata_epoch: 0,
            last_id: 0,
            missing: 0,
            analysis,
            owner_samples: false,
            lock_sites: false,
            analysis_bytes,
            report: text(report.to_str().unwrap()),
        };
        let mut error = [0; 200];
        // SAFETY: the configuration and the place for an error are valid.
        let runtime = unsafe { lct_start(&config, error.as_mut_ptr(), error.len()) };
        if runtime.is_null() {
            let error = String::from_utf8(error.to_vec()).unwrap();
            return Err(error.trim_end_matches('\0').to_owned());
        }
        let runtime = runtime.cast();
        Ok(Self { directory, runtime })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Asks for a report.
    fn report(&self, by: &str, format: &str) -> Result<String, String> {
        let question = LctQuestion {
            by: text(by),
            top: text(""),
            kind: text(""),
            from: text(""),
            format: text(format),
        };
        let mut answer = LctText {
            ptr: ptr::null_mut(),
            len: 0,
        };
        // SAFETY: the runtime has not ended, and the answer is freed once.
        unsafe {
            let is_answered = lct_report(&*self.runtime.cast(), &question, &raw mut answer);
            let bytes = slice::from_raw_parts(answer.ptr, answer.len).to_vec();
            lct_text_free(answer);
            let text = String::from_utf8(bytes).unwrap();
            if is_answered { Ok(text) } else { Err(text) }
        }
    }

    /// Two threads, one of which waits for the other again and again.
    fn contend(&self, load: Load) {
        self.contend_from(1000, load);
    }

    /// The same, from this time on. Returns when it ended.
    fn contend_from(&self, start_ns: u64, load: Load) -> u64 {
        // SAFETY: what the functions get is valid, and each tracer is used here only.
        unsafe {
            let runtime = &*self.runtime.cast();
            let start = |id| {
                let start = LctThreadStart {
                    java_id: id,
                    name: text("worker"),
                    vm_thread: id,
                    stack: STACK,
                    time_ns: 0,
                };
                lct_thread_start(runtime, &start).unwrap()
            };
            let (mut waiter, mut owner) = (start(1), start(2));
            let class = lct_new_id(runtime);
            let description = LctClass {
                class_id: class,
                super_class: 0,
                loader: 0,
                name: text("Lock"),
                source_file: text(""),
                loader_class: text(""),
            };
            lct_class(Some(&mut waiter), &description);
            let mut chains = Vec::new();
            for number in 0..load.methods {
                let method = lct_new_id(runtime);
                let name = format!("method{number}");
                let description = LctMethod {
                    method_id: method,
                    class_id: class,
                    name: text(&name),
                    signature: text("()V"),
                };
                lct_method(Some(&mut waiter), &description);
                let key = [u64::from(method) << 16];
                let key = LctChainKey {
                    frames: key.as_ptr(),
                    len: 1,
                    hash: lct_chain_hash(0, key.as_ptr(), 1),
                };
                let frame = LctFrame {
                    method,
                    bci: 0,
                    line: 1,
                };
                chains.push(lct_chain_add(
                    Some(&mut waiter),
                    key,
                    &raw const frame,
                    1,
                    false,
                ));
            }
            let mut locks: Vec<_> = (0..load.locks).map(|_| LctLock::default()).collect();
            for (hash, lock) in (1..).zip(&mut locks) {
                assert!(lct_lock_claim(runtime, lock));
                let description = LctLockDescription {
                    lock: lock.id,
                    monitor_address: 0,
                    class_id: class,
                    mirrored_class: 0,
                    identity_hash: hash,
                };
                lct_lock_describe(Some(&mut waiter), &description);
            }
            let nobody = LctOwner {
                thread: 0,
                stack_address: 0,
            };
            let mut time_ns = start_ns;
            for at in 0..load.waits {
                let lock = &mut locks[at % load.locks];
                let holder = chains[at / 3 % load.methods];
                let enter = LctContendedEnter {
                    lock: lock.id,
                    sequence: lct_lock_next_sequence(lock),
                    time_ns,
                    owner: nobody,
                    chain: chains[at % load.methods],
                    after_wait: false,
                };
                lct_contended_enter(Some(&mut waiter), &enter);
                time_ns += 700 + at as u64 % 13;
                let exit = LctContendedExit {
                    lock: lock.id,
                    sequence: lct_lock_next_sequence(lock),
                    time_ns,
                    hold_ns: LCT_HOLD_NOT_KNOWN,
                };
                lct_contended_exit(Some(&mut owner), &exit, holder);
                time_ns += 50;
                let entered = LctContendedEntered {
                    lock: lock.id,
                    sequence: lct_lock_next_sequence(lock),
                    time_ns,
                    safepoint_ns: 0,
                };
                lct_contended_entered(Some(&mut waiter), &entered);
                time_ns += 100;
                if at % load.pause_after == load.pause_after - 1 {
                    thread::sleep(Duration::from_millis(20));
                }
            }
            lct_submit(Some(&mut owner));
            lct_reclaim_all(runtime);
            lct_thread_end(Some(waiter), time_ns);
            lct_thread_end(Some(owner), time_ns);
            time_ns
        }
    }

    /// Ends the trace, and returns the report that it leaves.
    fn stop(&self) -> String {
        // SAFETY: all tracers were given back.
        unsafe { lct_stop(&*self.runtime.cast(), 60_000) };
        fs::read_to_string(self.path("report.json")).unwrap()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // SAFETY: all tracers were given back, and nobody uses it any more.
        unsafe {
            lct_stop(&*self.runtime.cast(), 60_000);
            assert!(lct_end(self.runtime.cast()));
        }
    }
}

fn text(text: &str) -> LctStr {
    LctStr {
        ptr: text.as_ptr(),
        len: text.len(),
    }
}

/// The report that the command line makes of a file, and the summary of the trace.
fn offline(trace: &Path) -> (String, TraceSummary) {
    let aspects = Question::default().aspects();
    let kinds = Kinds::only(WaitKind::Contention);
    let mut sums = ReportSums::new(kinds, Aggregation::new(aspects.as_slice()));
    let mut analysis = Analysis::default().with_detail(sums.detail());
    let file = TraceFile::open(trace).unwrap();
    let summary = file.analyze(&mut analysis, &mut sums, |_| ControlFlow::Continue(()));
    let summaries = [summary.unwrap()];
    let limits = Form::Whole.limits(None, None);
    let report = Report::new(
        &sums,
        &aspects,
        limits,
        limits,
        &summaries,
        analysis.entities(),
    );
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    let [summary] = summaries;
    (String::from_utf8(json).unwrap(), summary)
}

fn number(report: &str, name: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    report["totals"][name].as_u64().unwrap()
}

const SOME: Load = Load {
    locks: 5,
    methods: 7,
    waits: 30_000,
    pause_after: 5_000,
};

#[test]
fn the_report_is_that_of_the_file() {
    let trace = Trace::start(LCT_ANALYSIS_BOTH, 0, 0);
    trace.contend(SOME);
    let report = trace.stop();
    let (expected, summary) = offline(&trace.path("trace.lct"));
    assert!(summary.is_complete());
    assert_eq!(number(&report, "waits"), SOME.waits as u64);
    assert_eq!(report, expected);
}

#[test]
fn without_a_file_it_is_the_same() {
    let both = Trace::start(LCT_ANALYSIS_BOTH, 0, 0);
    let online = Trace::start(LCT_ANALYSIS_ONLINE, 0, 0);
    for trace in [&both, &online] {
        trace.contend(SOME);
    }
    let tree = |report: &str| -> serde_json::Value {
        let mut report: serde_json::Value = serde_json::from_str(report).unwrap();
        report["tree"].take()
    };
    assert_eq!(tree(&both.stop()), tree(&online.stop()));
    assert!(!online.path("trace.lct").exists());
    assert_eq!(fs::read_dir(online.directory.path()).unwrap().count(), 1);
}

#[test]
fn what_is_lost_is_counted_the_same() {
    // Threads fill the buffers faster than the drainer looks.
    let trace = Trace::start(LCT_ANALYSIS_BOTH, 0, 64 << 10);
    trace.contend(Load {
        pause_after: 10_000,
        ..SOME
    });
    let report = trace.stop();
    let (expected, summary) = offline(&trace.path("trace.lct"));
    assert!(summary.lost_events() > 0 && !summary.is_complete());
    assert_eq!(report, expected);
}

#[test]
fn little_memory_changes_no_totals() {
    let trace = Trace::start(LCT_ANALYSIS_BOTH, 2 << 20, 0);
    let load = Load {
        locks: 50,
        methods: 211,
        waits: 50_000,
        pause_after: 1_000,
    };
    trace.contend(load);
    let report = trace.stop();
    let (expected, _) = offline(&trace.path("trace.lct"));
    assert_ne!(report, expected);
    assert!(report.contains("\"<other>\""), "sums were folded");
    for name in [
        "contentions",
        "waits",
        "duration_ns",
        "max_wait_ns",
        "unknown_owner_ns",
    ] {
        assert_eq!(number(&report, name), number(&expected, name), "{name}");
    }
}

#[test]
fn reports_on_request_have_all_that_happened() {
    let trace = Trace::start(LCT_ANALYSIS_ONLINE, 0, 0);
    let mut time_ns = 1000;
    for round in 1..=3 {
        time_ns = trace.contend_from(time_ns, SOME);
        let report = trace.report("", "json").unwrap();
        assert_eq!(number(&report, "waits"), round * SOME.waits as u64);
        assert!(report.contains("\"complete\": true"), "nothing is missing");
    }
    let text = trace.report("", "").unwrap();
    assert!(text.contains("blocked Lock.method"), "{text}");
    assert!(!text.contains('\u{1b}'), "no styles");
    // The last waits, as many as fit.
    let by_thread = trace.report("thread", "json").unwrap();
    let kept = number(&by_thread, "waits");
    assert!(
        (SOME.waits as u64..3 * SOME.waits as u64).contains(&kept),
        "{kept}"
    );
    assert!(by_thread.contains("\"label\": \"worker"), "{by_thread}");
    let text = trace.report("thread", "").unwrap();
    assert!(text.contains("\nConsidered  "), "{text}");
    let error = trace.report("color", "").unwrap_err();
    assert!(error.starts_with("by: unknown aspect \"color\""), "{error}");
    trace.stop();
    assert_eq!(trace.report("", ""), Err("the trace has ended".to_owned()));
}

#[test]
fn who_is_not_asked_to_analyze_says_so() {
    let trace = Trace::start(LCT_ANALYSIS_FILE, 0, 0);
    let error = trace.report("", "").unwrap_err();
    assert!(
        error.contains("-XX:LockContentionAnalysis=online"),
        "{error}"
    );
    drop(trace);
    let error = Trace::try_start(LCT_ANALYSIS_ONLINE, 1000, 0)
        .err()
        .unwrap();
    assert_eq!(
        error,
        "an analysis needs at least 1048576 bytes, 1000 are given"
    );
}

#[test]
fn a_trace_without_a_file_has_a_name() {
    let trace = Trace::start(LCT_ANALYSIS_ONLINE, 0, 0);
    let mut name = [0; 30];
    // SAFETY: the runtime has not ended, and the name can be written.
    unsafe { lct_file_name(&*trace.runtime.cast(), name.as_mut_ptr(), name.len()) };
    assert!(name.starts_with(b"<online analysis>\0"));
}
