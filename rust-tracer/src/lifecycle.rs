//! Begins and ends a trace.

use std::collections::TryReserveError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::time::Duration;

use trace_format::{Capabilities, FileHeader};

use crate::buffers::file::{BufferFile, NoBufferFile};
use crate::cycles;
use crate::drain::drainer;
use crate::live::analysis::{self, DEFAULT_MEMORY_BYTES, MIN_MEMORY_BYTES, Mode, Settings};
use crate::output::Output;
use crate::output::destination::OpenError;
use crate::output::feed::Feed;
use crate::output::sink::{NO_FILE, Sink};
use crate::output::trace_file::TraceFile;
use crate::runtime::{Runtime, Setup, Used};
use crate::site_table::SiteTable;

/// Default of [`Config::max_buffer_bytes`].
const DEFAULT_MAX_BUFFER_BYTES: u64 = 64 << 20;
/// Memory that the set of call chains may take.
const MAX_CHAIN_BYTES: u64 = 64 << 20;

/// How long the end of the trace waits for a reader that does not read.
const MAX_STALL: Duration = Duration::from_secs(2);

/// How to trace.
#[derive(Debug)]
pub struct Config {
    /// The trace file to be created.
    pub path: PathBuf,
    /// The header of the trace.
    pub header: FileHeader,
    /// Monotonic clock at the trace's start; the clock of all times.
    pub start_ns: u64,
    /// Set to 0 when tracing goes off by itself.
    pub enabled: Option<&'static AtomicU8>,
    /// Bound of all buffers together; 0 for the default.
    pub max_buffer_bytes: u64,
    /// Keep the buffers in a file next to the trace.
    pub crash_safe: bool,
    /// Where events go.
    pub mode: Mode,
    /// Memory for an analysis, in bytes; 0 for the default.
    pub analysis_bytes: u64,
    /// Where the report of an analysis goes at the end; without one, its first lines go to
    /// standard error.
    pub report: Option<PathBuf>,
    /// The numbers that earlier traces of the process have used up.
    pub used: Used,
}

/// Why no trace was started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The trace file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No thread can be created.
    #[error("cannot create a thread: {0}")]
    Thread(#[source] io::Error),
    /// The analysis has too little memory.
    #[error("an analysis needs at least {MIN_MEMORY_BYTES} bytes, {0} are given")]
    AnalysisMemory(u64),
    /// Memory is short.
    #[error("memory is short")]
    Memory(#[from] TryReserveError),
}

impl Runtime {
    /// Opens the trace file and starts the drainer.
    pub fn start(config: Config) -> Result<*mut Self, StartError> {
        let max_buffer_bytes = match config.max_buffer_bytes {
            0 => DEFAULT_MAX_BUFFER_BYTES,
            bytes => bytes,
        };
        let mut header = config.header;
        // The analysis would have to undo it.
        header.compressed &= config.mode.writes_file();
        let file = match config.mode.writes_file() {
            true => Some(TraceFile::create(config.path, config.enabled)?),
            false => None,
        };
        let name = file.as_ref().map_or(Path::new(NO_FILE), TraceFile::path);
        let name = name.to_owned();
        let feed = match config.mode.analyzes() {
            true => Some(start_analysis(
                name.clone(),
                config.analysis_bytes,
                config.report,
            )?),
            false => None,
        };
        let buffer_file = file
            .as_ref()
            .filter(|_| config.crash_safe)
            .and_then(|file| new_buffer_file(file, &header, max_buffer_bytes));
        let sites = match header.capabilities.contains(Capabilities::LOCK_SITES) {
            true => Some(SiteTable::new()?),
            false => None,
        };
        let output = Output::new(file, feed.clone(), config.enabled);
        cycles::calibrate();
        let runtime = Self::new(Setup {
            start_ns: config.start_ns,
            max_buffer_bytes,
            max_chain_bytes: MAX_CHAIN_BYTES,
            used: config.used,
            buffer_file,
            sites,
            sink: Sink {
                path: name,
                is_file: config.mode.writes_file() && !output.has_reader(),
                max_stall: match output.has_reader() {
                    true => MAX_STALL,
                    false => Duration::MAX,
                },
                feed: feed.clone(),
            },
        });
        let runtime = Box::into_raw(Box::new(runtime));
        // SAFETY: from a box, and freed only by `free`, when it is no longer used.
        let shared: &'static Self = unsafe { &*runtime };
        match drainer::spawn(shared, output, &header) {
            Ok(drainer) => {
                shared.drainer.set_thread(drainer);
                Ok(runtime)
            }
            Err(cause) => {
                shared.buffers.file.iter().for_each(|file| file.remove());
                feed.iter().for_each(|feed| feed.close());
                // SAFETY: no other thread has seen it, and no drainer was started.
                unsafe { Self::free(runtime) };
                Err(StartError::Thread(cause))
            }
        }
    }

    /// Ends the trace: everything written so far goes to the file. Gives up
    /// waiting for that after `timeout`, or earlier if a pipe has no reader. Further
    /// calls do nothing.
    pub fn stop(&self, timeout: Duration) {
        let sink = &self.sink;
        if !self.drainer.stop_signal.stop(timeout, sink.max_stall) {
            let path = sink.path.display();
            let is_written = sink.feed.as_ref().is_some_and(|feed| feed.is_closed());
            let (what, cause) = match is_written {
                true => ("report", "the analysis"),
                false => ("end", "writing"),
            };
            // A failure to write to standard error cannot be reported.
            let _ = writeln!(
                io::stderr(),
                "locktrace: the {what} of '{path}' is missing: {cause} takes too long"
            );
        }
    }

    /// Frees the runtime of a trace that has ended. Returns false, and frees nothing, while
    /// the drainer is still at work, stuck in a system call.
    ///
    /// # Safety
    ///
    /// `runtime` comes from `start`. No tracer of it is left, and no thread uses it during the
    /// call, or afterwards if this returns true.
    pub unsafe fn end(runtime: *mut Self) -> bool {
        {
            // SAFETY: as the caller promises. Not used after the block.
            let drainer = unsafe { &(*runtime).drainer };
            if !drainer.stop_signal.is_finished() {
                return false;
            }
            drainer.join();
        }
        // SAFETY: as the caller promises, and the drainer is gone.
        unsafe { Self::free(runtime) };
        true
    }

    /// # Safety
    ///
    /// `runtime` comes from a box, and no thread uses it during the call or afterwards.
    unsafe fn free(runtime: *mut Self) {
        // SAFETY: as the caller promises. Buffers in the slots are charged to the runtime's
        // budget, so the slots go first.
        unsafe {
            (*runtime).threads.free_slots();
            drop(Box::from_raw(runtime));
        }
    }
}

/// Starts an analysis of what goes through the returned feed.
fn start_analysis(
    name: PathBuf,
    memory_bytes: u64,
    report: Option<PathBuf>,
) -> Result<Arc<Feed>, StartError> {
    let memory_bytes = match memory_bytes {
        0 => DEFAULT_MEMORY_BYTES,
        1..MIN_MEMORY_BYTES => return Err(StartError::AnalysisMemory(memory_bytes)),
        bytes => bytes,
    };
    let settings = Settings {
        name,
        memory_bytes: usize::try_from(memory_bytes).unwrap_or(usize::MAX),
        report,
    };
    let feed = Feed::new(settings.feed_bytes())?;
    analysis::spawn(&feed, settings).map_err(StartError::Thread)?;
    Ok(feed)
}

/// Creates the file of buffers next to a trace that is a file, or reports in one line why that
/// failed.
fn new_buffer_file(
    trace: &TraceFile,
    header: &FileHeader,
    max_buffer_bytes: u64,
) -> Option<Arc<BufferFile>> {
    if trace.has_reader() {
        return None;
    }
    // Buffers with metadata may go twice as far.
    let max_bytes = max_buffer_bytes.saturating_mul(2);
    match BufferFile::create(trace.path(), header, max_bytes) {
        Ok(file) => Some(Arc::new(file)),
        Err(reason) => {
            complain_of_no_buffer_file(&reason);
            None
        }
    }
}

fn complain_of_no_buffer_file(reason: &NoBufferFile) {
    // A failure to write to standard error cannot be reported.
    let _ = writeln!(
        io::stderr(),
        "locktrace: {reason}; the last second of events would be lost if the JVM were killed"
    );
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeMap;
    use std::io::BufReader;
    use std::time::Instant;
    use std::{env, fs, process};

    use trace_format::{
        Capabilities, Chunk, ClassDescription, ClassId, EndReason, Event, JavaThreadId, LoaderId,
        StackRange, TraceReader,
    };

    use super::*;
    use crate::live::dump::{DumpError, dump};
    use crate::tracer::ThreadTracer;

    fn start(path: PathBuf, used: Used) -> *mut Runtime {
        let config = Config {
            path,
            header: FileHeader {
                compressed: false,
                capabilities: Capabilities::default(),
                start_unix_ns: 0,
                pid: 1,
                jvm: String::new(),
            },
            start_ns: 0,
            enabled: None,
            max_buffer_bytes: 0,
            crash_safe: true,
            mode: Mode::File,
            analysis_bytes: 0,
            report: None,
            used,
        };
        Runtime::start(config).unwrap()
    }

    /// Writes a trace with a class in it, and returns what it has used up.
    fn write_trace(path: PathBuf, used: Used) -> Used {
        let pointer = start(path, used);
        // SAFETY: not used after `end`.
        let runtime: &'static Runtime = unsafe { &*pointer };
        let stack = StackRange::default();
        let mut tracer =
            ThreadTracer::start(runtime, JavaThreadId(1), "worker", 2, stack, 0).unwrap();
        let class = ClassId(runtime.ids.entities.next_u32());
        tracer.describe_class(ClassDescription {
            class,
            super_class: ClassId::default(),
            loader: LoaderId::default(),
            name: "Traced",
            source_file: "",
            loader_class: "",
        });
        let used = Used {
            metadata_epoch: runtime.metadata_epoch(),
            entity_id: class.0,
        };
        // SAFETY: it is refused, because the drainer is at work.
        let ended = unsafe { Runtime::end(pointer) };
        assert!(!ended);
        tracer.leave();
        runtime.stop(Duration::MAX);
        // SAFETY: the only tracer has left.
        let ended = unsafe { Runtime::end(pointer) };
        assert!(ended);
        used
    }

    /// The names of threads, in the order of the file.
    fn names(path: &Path) -> Vec<(u64, String)> {
        let trace = fs::read(path).unwrap();
        let mut reader = TraceReader::new(&*trace).unwrap();
        let mut names = Vec::new();
        while let Ok(Some(chunk)) = reader.next_chunk() {
            let Chunk::Events(events) = chunk else {
                continue;
            };
            for segment in events.segments() {
                names.extend(segment.unwrap().events().filter_map(|event| match event {
                    Ok(Event::ThreadRename(rename)) => {
                        Some((rename.java_id.0, rename.name.to_owned()))
                    }
                    _ => None,
                }));
            }
        }
        names
    }

    /// While they do nothing the drainer writes their names, once each, and at the end the last ones.
    #[test]
    fn idle_threads_get_their_names() {
        let path = env::temp_dir().join(format!("names-{}.lct", process::id()));
        let pointer = start(path.clone(), Used::default());
        // SAFETY: not used after `end`.
        let runtime: &'static Runtime = unsafe { &*pointer };
        let tracers = [1, 2].map(|id| {
            let stack = StackRange::default();
            ThreadTracer::start(runtime, JavaThreadId(id), "idle", id << 8, stack, 0).unwrap()
        });
        let longest = "x".repeat(usize::from(u16::MAX));
        let rename = |id, name: &str| runtime.rename_thread(id << 8, JavaThreadId(id), name);
        rename(1, "first");
        rename(2, &longest);
        let begin = Instant::now();
        let mut found = Vec::new();
        while found.len() < 2 && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
            found = names(&path);
        }
        found.sort_unstable();
        assert_eq!(found, [(1, "first".to_owned()), (2, longest.clone())]);

        rename(1, "second");
        rename(1, "third");
        tracers.into_iter().for_each(|tracer| tracer.leave());
        runtime.stop(Duration::MAX);
        let mut at_last = names(&path).into_iter().collect::<BTreeMap<_, _>>();
        assert_eq!(at_last.remove(&1).as_deref(), Some("third"));
        assert_eq!(at_last.remove(&2), Some(longest));
        // SAFETY: all tracers have left.
        assert!(unsafe { Runtime::end(pointer) });
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn one_trace_after_the_other() {
        let mut used = Used::default();
        for round in 1..=20 {
            let name = format!("round-{}-{round}.lct", process::id());
            let path = env::temp_dir().join(name);
            used = write_trace(path.clone(), used);
            assert_eq!((used.metadata_epoch, used.entity_id), (round, round));
            let trace = fs::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            for text in ["worker", "Traced"] {
                let found = trace
                    .windows(text.len())
                    .any(|part| part == text.as_bytes());
                assert!(found, "no {text} in trace {round}");
            }
        }
    }

    /// A copy has what was written before, under a name that is free, and the trace goes on.
    #[test]
    fn a_trace_is_copied_while_it_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("copy.lct");
        let pointer = start(directory.path().join("trace.lct"), Used::default());
        // SAFETY: not used after `end`.
        let runtime: &'static Runtime = unsafe { &*pointer };
        let new_thread = |number| {
            let name = format!("worker-{number}");
            let stack = StackRange::default();
            ThreadTracer::start(runtime, JavaThreadId(number), &name, 2, stack, 0).unwrap()
        };
        let first = new_thread(1);
        assert_eq!(dump(runtime, copy.clone()).unwrap(), copy);
        let second = new_thread(2);
        let numbered = directory.path().join("copy.1.lct");
        assert_eq!(dump(runtime, copy.clone()).unwrap(), numbered);
        let nowhere = directory.path().join("missing/copy.lct");
        let refused = dump(runtime, nowhere).unwrap_err().to_string();
        assert!(refused.contains("missing/copy.lct"), "{refused}");
        first.end(1);
        second.end(1);
        runtime.stop(Duration::MAX);
        let late = dump(runtime, directory.path().join("late.lct"));
        assert!(matches!(late, Err(DumpError::Ended)), "{late:?}");
        // SAFETY: both tracers have ended.
        assert!(unsafe { Runtime::end(pointer) });

        assert_eq!(threads_of(&copy), (1, Some(EndReason::Copied)));
        assert_eq!(threads_of(&numbered), (2, Some(EndReason::Copied)));
        let trace = directory.path().join("trace.lct");
        assert_eq!(threads_of(&trace), (2, None));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
    }

    /// Returns how many threads a trace has, and why it ended early.
    fn threads_of(path: &Path) -> (usize, Option<EndReason>) {
        let file = BufReader::new(fs::File::open(path).unwrap());
        let mut reader = TraceReader::new(file).unwrap();
        let mut threads = 0;
        while let Some(chunk) = reader.next_chunk().unwrap() {
            let Chunk::Events(chunk) = chunk else {
                continue;
            };
            for segment in chunk.segments() {
                let events = segment.unwrap().events();
                threads += events
                    .filter(|event| matches!(event, Ok(Event::ThreadStart(_))))
                    .count();
            }
        }
        let damage = reader.damage();
        assert_eq!(damage.chunks_missing, 0);
        (threads, damage.ended_early)
    }
}
