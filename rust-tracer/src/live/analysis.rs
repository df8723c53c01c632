//! The analysis of the trace in the process that it is about (paper, section 4.3): a thread
//! that reads what the drainer writes, as the command line reads a file.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Once};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use trace_analysis::{Analysis, Entities, Limits, TraceAnalysis, TraceInput, TraceSummary};
use trace_format::EndReason;
use trace_report::{Format, LiveSums, Question};

use crate::live::dump;
use crate::os::{self, InWords};
use crate::output::destination::{Destination, OpenError};
use crate::output::feed::{Feed, FeedReader, Outcome, Request};
use crate::runtime::Runtime;

/// Where events go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They go to a file.
    #[default]
    File,
    /// They are analyzed in the JVM.
    Online,
    /// Both.
    Both,
}

impl Mode {
    pub(crate) fn writes_file(self) -> bool {
        self != Self::Online
    }

    pub(crate) fn analyzes(self) -> bool {
        self != Self::File
    }
}

/// How to analyze.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The name of the trace.
    pub(crate) name: PathBuf,
    /// Memory that the analysis may take, in bytes.
    pub(crate) memory_bytes: usize,
    /// The file for the report at the end; without one, its first lines go to standard error.
    pub(crate) report: Option<PathBuf>,
}

/// Default and least memory of an analysis, in bytes.
pub(crate) const DEFAULT_MEMORY_BYTES: u64 = 64 << 20;
pub(crate) const MIN_MEMORY_BYTES: u64 = 1 << 20;

/// The parts of the memory. The rest is for the state of locks in use.
impl Settings {
    /// Bytes on their way to the analysis.
    pub(crate) fn feed_bytes(&self) -> usize {
        const MAX: usize = 4 << 20;
        MAX.min(self.memory_bytes / 16)
    }

    /// Events that wait for others before them, and for descriptions.
    fn pending_bytes(&self) -> usize {
        self.memory_bytes / 3
    }

    fn chain_bytes(&self) -> usize {
        self.memory_bytes / 6
    }

    /// Names of threads, methods and classes, and locks.
    fn name_bytes(&self) -> usize {
        self.memory_bytes / 8
    }

    /// Sums and the last waits.
    fn sum_bytes(&self) -> usize {
        self.memory_bytes / 4
    }
}

/// Starts the analysis of what goes through `feed`.
///
/// # Errors
///
/// There can be no more threads.
pub(crate) fn spawn(feed: &Arc<Feed>, settings: Settings) -> io::Result<()> {
    spawn_as(feed, move |feed| analyze(feed, &settings))
}

fn spawn_as(feed: &Arc<Feed>, work: impl FnOnce(&Arc<Feed>) + Send + 'static) -> io::Result<()> {
    survive_panics();
    let feed = Arc::clone(feed);
    let builder = thread::Builder::new().name("locktrace-sums".to_owned());
    let thread = os::with_signals_blocked(|| {
        builder.spawn(move || {
            ANALYZED.set(Some(Arc::clone(&feed)));
            work(&feed);
            ANALYZED.set(None);
            feed.end(Outcome::Done);
        })
    });
    thread.map(drop)
}

thread_local! {
    /// The feed that this thread analyzes, if any.
    static ANALYZED: RefCell<Option<Arc<Feed>>> = const { RefCell::new(None) };
}

/// A panic of the analysis would abort the JVM after the hook. So its hook never returns: the
/// thread stays, with its memory, and no thread waits for it any more. It stays inside the
/// hook for ever, so that no other hook can be set; none is.
fn survive_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let analyzed = ANALYZED.try_with(|feed| feed.take()).ok().flatten();
            let Some(feed) = analyzed else {
                return others(panic);
            };
            complain_of(panic);
            feed.end(Outcome::Failed);
            loop {
                thread::park();
            }
        }));
    });
}

fn complain_of(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let cause = text.unwrap_or("a panic");
    match panic.location() {
        Some(place) => complain(&format_args!(
            "the analysis of lock contention has failed, the application goes on; please report \
             this: {cause}, at {place}"
        )),
        None => complain(&format_args!(
            "the analysis of lock contention has failed, the application goes on: {cause}"
        )),
    }
}

/// A failure to write to standard error cannot be reported.
fn complain(message: &dyn Display) {
    let _ = writeln!(io::stderr(), "locktrace: {message}");
}

/// Analyzes the trace to its end, answers questions meanwhile, and makes the last report.
fn analyze(feed: &Arc<Feed>, settings: &Settings) {
    feed.await_begin();
    let Ok(mut input) = TraceInput::of_source(&settings.name, FeedReader(Arc::clone(feed))) else {
        // There was no trace.
        return;
    };
    let mut sums = LiveSums::within(settings.sum_bytes());
    let mut analysis = Analysis::new(Limits::within(settings.pending_bytes()))
        .with_detail(LiveSums::DETAIL)
        .with_max_chain_bytes(settings.chain_bytes())
        .with_max_name_bytes(settings.name_bytes());
    let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
    let mut is_full = false;
    loop {
        if let Some(request) = feed.take_request(input.offset()) {
            answer(
                request,
                &sums,
                summary_so_far(&input, &trace),
                trace.entities(),
            );
        }
        match input.poll_chunk() {
            Ok(Poll::Ready(Some(chunk))) => trace.chunk(chunk, &mut sums),
            Ok(Poll::Pending) => feed.await_work(input.offset()),
            Ok(Poll::Ready(None)) | Err(_) => break,
        }
        is_full = !trace.has_room_for_names();
        if is_full {
            break;
        }
    }
    let range = trace.range();
    let findings = trace.finish(&mut sums);
    let mut summary = TraceSummary::new(&input, range, findings);
    if is_full {
        feed.stop_listening();
        summary.damage.ended_early = Some(EndReason::MemoryShort);
        complain(&"the analysis of lock contention has no memory left for more names, and ends");
        while let Some(request) = feed.await_request() {
            answer(request, &sums, summary.clone(), analysis.entities());
        }
    }
    report(&sums, summary, analysis.entities(), settings);
}

/// The state of a trace that goes on, which lacks nothing that could be there.
fn summary_so_far(input: &TraceInput, trace: &TraceAnalysis<'_>) -> TraceSummary {
    let mut summary = TraceSummary::new(input, trace.range(), trace.findings());
    summary.damage.end_seen = true;
    summary.goes_on = true;
    summary
}

fn answer(request: Request, sums: &LiveSums, summary: TraceSummary, entities: &Entities) {
    let text = sums.answer(&request.question, summary, entities);
    // The thread that asked may have given up.
    let _ = request.answer.try_send(text);
}

/// Makes the last report.
fn report(sums: &LiveSums, summary: TraceSummary, entities: &Entities, settings: &Settings) {
    const LINES: usize = 10;
    let Some(path) = &settings.report else {
        let lines = sums.first_lines(LINES, summary, entities);
        let _ = io::stderr().write_all(lines.as_bytes());
        return;
    };
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let question = Question {
        format: if is_json { Format::Json } else { Format::Text },
        ..Question::default()
    };
    let text = sums.answer(&question, summary, entities);
    if let Err(error) = write(path, &text) {
        complain(&error);
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("cannot write '{}': {}", path.display(), InWords(error))]
    Write { path: PathBuf, error: io::Error },
    #[error(
        "events go to a file and are not analyzed; start tracing with \
         -XX:LockContentionAnalysis=online or both, or LockContention.start analysis=online"
    )]
    NotAnalyzed,
    #[error("the trace has ended")]
    Ended,
    #[error("the analysis has failed")]
    Failed,
    #[error("the analysis takes too long")]
    Late,
    #[error("{0}")]
    Question(String),
}

/// Writes a report where nothing was before, or where the user wants it.
fn write(path: &Path, text: &str) -> Result<(), ReportError> {
    let (path, destination) = Destination::open(path.to_owned())?;
    let mut file = match destination {
        Destination::Created(file) | Destination::Given(file) => file,
        Destination::Pipe => {
            let error = io::ErrorKind::AlreadyExists.into();
            return Err(ReportError::Write { path, error });
        }
    };
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| ReportError::Write { path, error })
}

/// How long a request waits for the analysis, and how often it checks that the analysis goes on.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Answers a question about all that happened until now. Blocks for up to forty seconds.
///
/// # Errors
///
/// There is no analysis, or it does not answer.
pub(crate) fn ask(runtime: &Runtime, question: Question) -> Result<String, ReportError> {
    let Some(feed) = &runtime.sink.feed else {
        return Err(ReportError::NotAnalyzed);
    };
    let extent = match dump::await_extent(runtime) {
        Ok(extent) => extent,
        Err(dump::DumpError::Ended) => return Err(ReportError::Ended),
        Err(_) => return Err(ReportError::Late),
    };
    let (answer, answered) = sync_channel(1);
    let request = Request {
        question,
        bytes: extent.len,
        answer,
    };
    if !feed.ask(request) {
        return Err(over(feed));
    }
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match answered.recv_timeout(LOOK_INTERVAL) {
            Ok(text) => return Ok(text),
            Err(RecvTimeoutError::Disconnected) => return Err(over(feed)),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Err(ReportError::Late)
}

fn over(feed: &Feed) -> ReportError {
    match feed.outcome() {
        Some(Outcome::Failed) => ReportError::Failed,
        _ => ReportError::Ended,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::process::{self, Command};

    use super::*;

    /// The thread of an analysis that panics stays, and no thread waits for it. In a process of its
    /// own: that thread is in the hook for ever, which the test harness wants back.
    #[test]
    fn a_panic_ends_the_analysis_only() {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--nocapture", "--exact"])
            .arg("live::analysis::tests::panics")
            .output()
            .unwrap();
        let stderr = String::from_utf8(child.stderr).unwrap();
        assert_eq!(child.status.code(), Some(SURVIVED), "{stderr}");
        let lines: Vec<_> = stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{stderr}");
        let expected = "locktrace: the analysis of lock contention has failed";
        assert!(lines[0].starts_with(expected), "{stderr}");
        assert!(lines[0].contains("as a test"), "{stderr}");
    }

    /// The last output of the process below.
    const SURVIVED: i32 = 17;

    #[test]
    #[ignore = "run by the other one"]
    fn panics() {
        let feed = Feed::new(1000).unwrap();
        spawn_as(&feed, |feed| {
            feed.await_begin();
            panic!("as a test");
        })
        .unwrap();
        assert_eq!(feed.outcome(), None);
        feed.append(&[0; 100]);
        assert_eq!(feed.await_end(), Outcome::Failed);
        // More than fits.
        feed.append(&[0; 10_000]);
        feed.close();
        assert!(matches!(over(&feed), ReportError::Failed));
        process::exit(SURVIVED);
    }
}
