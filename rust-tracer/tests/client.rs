//! A C program with many threads drives the static library; its trace must hold
//! every sequence number once.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::{env, process};

use trace_format::{
    ChainDescription, ChainId, ChainRef, ChainRetired, Chunk, ContendedEnter, ContendedEntered,
    ContendedExit, Counter, Event, ForwardRef, ForwardResolved, LockId, LostEvents,
    MethodDescription, MethodId, MethodRetired, ThreadId, TraceReader,
};

/// Builds `client.c` against the static library of this build.
///
/// `make sanitize` sets three variables: `LOCKTRACE_CLIENT_LIBRARY`, a library to
/// take instead, `LOCKTRACE_CLIENT_CFLAGS`, and `LOCKTRACE_CLIENT_RUNNER`, a
/// command that runs the client.
fn client() -> &'static Path {
    static CLIENT: OnceLock<PathBuf> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let library = env::var_os("LOCKTRACE_CLIENT_LIBRARY")
            .map_or_else(|| build_library(root), PathBuf::from);
        let client = Path::new(env!("CARGO_TARGET_TMPDIR")).join("client");
        run(Command::new("cc")
            .args([
                "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread",
            ])
            .args(words("LOCKTRACE_CLIENT_CFLAGS"))
            .arg("-I")
            .arg(root.join("include"))
            .arg(root.join("tests/client/client.c"))
            .arg(library)
            .args(["-ldl", "-lm", "-o"])
            .arg(&client));
        client
    })
}

fn build_library(root: &Path) -> PathBuf {
    // .../debug/deps/client-0123456789abcdef
    let target = env::current_exe()
        .unwrap()
        .ancestors()
        .nth(3)
        .unwrap()
        .to_owned();
    run(Command::new(env!("CARGO"))
        .args(["build", "--package", "rust-tracer", "--lib", "--target-dir"])
        .arg(&target)
        .current_dir(root));
    target.join("debug/librust_tracer.a")
}

/// The words of an environment variable; none if it is not set.
fn words(variable: &str) -> Vec<String> {
    let value = env::var(variable).unwrap_or_default();
    value.split_whitespace().map(str::to_owned).collect()
}

/// The command that runs the client, without its arguments.
fn client_command() -> Command {
    let mut words = words("LOCKTRACE_CLIENT_RUNNER").into_iter();
    let Some(runner) = words.next() else {
        return Command::new(client());
    };
    let mut command = Command::new(runner);
    command.args(words).arg(client());
    command
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("client-{}-{name}", process::id()))
}

fn start_client(trace: &Path, arguments: [u64; 4]) -> Child {
    let arguments = arguments.map(|argument| argument.to_string());
    let mut command = client_command();
    command.arg(trace).args(arguments).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// What a trace holds.
#[derive(Default)]
struct Content {
    /// How often each number of a lock came, as an event or as lost.
    numbers: HashMap<LockId, HashMap<u64, u32>>,
    chains_named: HashSet<ChainId>,
    chains_described: HashMap<ChainId, u32>,
    chains_retired: HashSet<ChainId>,
    methods_described: HashSet<MethodId>,
    methods_retired: HashSet<MethodId>,
    forwards_named: HashSet<ForwardRef>,
    forwards_resolved: HashSet<ForwardRef>,
    threads_started: HashSet<ThreadId>,
    threads_ended: HashSet<ThreadId>,
    next_buffer: HashMap<ThreadId, u64>,
    last_time_ns: HashMap<ThreadId, u64>,
    unlisted_losses: u64,
    events: u64,
    counters: HashMap<Counter, u64>,
}

impl Content {
    fn read(trace: impl Read) -> Self {
        let mut content = Self::default();
        let mut reader = TraceReader::new(trace).unwrap();
        while let Some(chunk) = reader.next_chunk().unwrap() {
            match chunk {
                Chunk::Events(chunk) => {
                    for segment in chunk.segments() {
                        let segment = segment.unwrap();
                        content.add_segment(segment.thread, segment.buffer_index);
                        for event in segment.events() {
                            content.add(segment.thread, &event.unwrap());
                        }
                    }
                }
                Chunk::Counters(counters) => content.counters = counters.flatten().collect(),
                Chunk::End { .. } | Chunk::System(_) => {}
            }
        }
        assert!(reader.damage().is_none(), "{:?}", reader.damage());
        content
    }

    fn add_segment(&mut self, thread: ThreadId, buffer_index: u64) {
        if thread == ThreadId::NONE {
            return;
        }
        let next = self.next_buffer.entry(thread).or_default();
        assert_eq!(buffer_index, *next, "buffers of thread {thread}");
        *next += 1;
    }

    fn add(&mut self, thread: ThreadId, event: &Event<'_>) {
        self.events += 1;
        if let Some((lock, first)) = event.lock_and_sequence() {
            let count = event.numbers();
            let numbers = self.numbers.entry(lock).or_default();
            for sequence in first..first + count {
                *numbers.entry(sequence).or_default() += 1;
            }
        }
        match *event {
            Event::ContendedEnter(ContendedEnter { time_ns, chain, .. }) => {
                self.name_chain(chain);
                self.advance(thread, time_ns);
            }
            Event::ContendedEntered(ContendedEntered { time_ns, .. }) => {
                self.advance(thread, time_ns)
            }
            Event::ContendedExit(ContendedExit { time_ns, chain, .. }) => {
                match chain {
                    ChainRef::Chain(chain) => self.name_chain(chain),
                    ChainRef::Forward(forward_ref) => {
                        self.forwards_named.insert(forward_ref);
                    }
                }
                self.advance(thread, time_ns);
            }
            Event::ForwardResolved(ForwardResolved { forward_ref, chain }) => {
                self.name_chain(chain);
                self.forwards_resolved.insert(forward_ref);
            }
            Event::ThreadStart(_) => {
                self.threads_started.insert(thread);
            }
            Event::ThreadEnd(_) => {
                self.threads_ended.insert(thread);
            }
            Event::Chain(ChainDescription {
                chain, ref frames, ..
            }) => {
                assert_eq!(frames.len(), 24);
                let mut methods = frames.iter().map(|frame| frame.method);
                assert!(!methods.any(|method| self.methods_retired.contains(&method)));
                assert!(!self.chains_retired.contains(&chain));
                *self.chains_described.entry(chain).or_default() += 1;
            }
            Event::Method(MethodDescription { method, .. }) => {
                assert!(!self.methods_retired.contains(&method));
                self.methods_described.insert(method);
            }
            Event::ChainRetired(ChainRetired { chain }) => {
                assert!(self.chains_retired.insert(chain))
            }
            Event::MethodRetired(MethodRetired { method }) => {
                assert!(self.methods_retired.insert(method))
            }
            Event::LostEvents(LostEvents { events }) => self.unlisted_losses += events,
            _ => {}
        }
    }

    /// An event refers to a chain. Behind its end, none may.
    fn name_chain(&mut self, chain: ChainId) {
        assert!(!self.chains_retired.contains(&chain), "chain {chain}");
        self.chains_named.insert(chain);
    }

    fn advance(&mut self, thread: ThreadId, time_ns: u64) {
        let last = self.last_time_ns.entry(thread).or_default();
        assert!(time_ns >= *last, "time of thread {thread}");
        *last = time_ns;
    }

    /// Of the numbers that `expected` counts, each came once or is among the
    /// unlisted losses.
    fn assert_every_number_once(&self, expected: u64) {
        for (lock, numbers) in &self.numbers {
            assert!(numbers.values().all(|&times| times == 1), "lock {lock}");
        }
        let seen: usize = self.numbers.values().map(HashMap::len).sum();
        assert_eq!(seen as u64 + self.unlisted_losses, expected);
    }

    fn assert_no_loss(&self) {
        assert_eq!(self.unlisted_losses, 0);
        assert_eq!(self.counters[&Counter::LostEvents], 0);
        assert_eq!(self.counters[&Counter::Events], self.events);
        assert_eq!(self.forwards_named, self.forwards_resolved);
        assert_eq!(self.threads_started, self.threads_ended);
        assert!(self.chains_described.values().all(|&times| times == 1));
        assert!(
            self.chains_named
                .iter()
                .all(|chain| self.chains_described.contains_key(chain))
        );
        self.assert_unloaded_code_forgotten();
    }

    /// All chains and methods ended but those that the client uses to its end.
    fn assert_unloaded_code_forgotten(&self) {
        let described: HashSet<_> = self.chains_described.keys().copied().collect();
        assert!(self.chains_retired.is_subset(&described));
        assert_eq!(described.difference(&self.chains_retired).count(), 500);
        let methods = &self.methods_described;
        assert!(self.methods_retired.is_subset(methods));
        assert_eq!(methods.difference(&self.methods_retired).count(), 1);
        let retired = self.chains_retired.len() as u64;
        assert_eq!(self.counters[&Counter::ChainsPurged], retired);
        assert_eq!(self.counters[&Counter::ChainSetResets], 0);
    }

    /// Each of `rounds` records a chain twice, another one if it runs code that dies,
    /// and contends twice. In the end all lasting chains are recorded once more.
    fn assert_hooks_counted(&self, rounds: u64) {
        let counter = |counter| self.counters[&counter];
        let new = self.chains_described.len() as u64;
        let recorded = counter(Counter::ChainsRecorded);
        assert_eq!(recorded, 2 * rounds + new);
        // Two threads may find the same chain missing, and number it.
        let missing = recorded - counter(Counter::ChainsFound);
        assert!((new..=missing).contains(&counter(Counter::Chains)));
        assert_eq!(counter(Counter::FramesVisited), 12 * recorded);
        let hooks = counter(Counter::EnterHooks) + counter(Counter::InterruptedHooks);
        assert_eq!(hooks, 2 * rounds);
        let cycles = counter(Counter::EnterCycles);
        assert!((1..counter(Counter::ElapsedCycles)).contains(&(cycles / hooks)));
    }
}

/// How many sequence numbers a client takes, see `client.c`: six in each round,
/// and one each for the description and the end of a lock.
fn numbers_taken(threads: u64, rounds: u64, generations: u64) -> u64 {
    let own_locks = rounds.div_ceil(50);
    threads * generations * (6 * rounds + 2 * own_locks) + 2 * 8
}

/// The trace of a client that is not held up.
fn undisturbed(name: &str, threads: u64, rounds: u64, generations: u64) -> Content {
    let trace = scratch(name);
    assert!(
        start_client(&trace, [threads, rounds, generations, 0])
            .wait()
            .unwrap()
            .success()
    );
    let content = Content::read(File::open(&trace).unwrap());
    fs::remove_file(trace).unwrap();
    content.assert_every_number_once(numbers_taken(threads, rounds, generations));
    content.assert_no_loss();
    content.assert_hooks_counted(threads * rounds * generations);
    assert_eq!(
        content.threads_started.len() as u64,
        threads * generations + 1
    );
    content
}

#[test]
fn threads_that_contend_much() {
    let content = undisturbed("much", 8, 20_000, 1);
    let bytes_per_event = content.counters[&Counter::RawBytes] as f64 / content.events as f64;
    assert!(bytes_per_event < 7.0, "{bytes_per_event}");
}

#[test]
fn many_threads_at_once() {
    undisturbed("many", 2000, 10, 1);
}

#[test]
fn short_lived_threads() {
    let content = undisturbed("short", 20, 3, 250);
    // Ended threads leave nothing behind: 20 were alive at once.
    assert!(content.counters[&Counter::PeakBuffers] < 2000);
}

/// Nobody reads the pipe until all threads have ended, and buffers may take 200 KB: the
/// threads go on, and what they lose is recorded.
#[test]
fn a_drainer_that_is_held_up_costs_events_but_no_number() {
    let pipe = scratch("pipe");
    run(Command::new("mkfifo").arg(&pipe));
    let mut client = start_client(&pipe, [4, 20_000, 1, 200_000]);
    let mut trace = File::open(&pipe).unwrap();
    let mut line = String::new();
    BufReader::new(client.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "contended\n");
    let mut bytes = Vec::new();
    trace.read_to_end(&mut bytes).unwrap();
    assert!(client.wait().unwrap().success());
    fs::remove_file(pipe).unwrap();

    let content = Content::read(bytes.as_slice());
    content.assert_every_number_once(numbers_taken(4, 20_000, 1));
    assert!(content.counters[&Counter::LostEvents] > 0);
    assert!(content.counters[&Counter::PeakBufferBytes] <= 400_000);
    // Whatever the surviving events name was described, again if need be and if
    // the code is still there.
    assert!(content.chains_named.iter().all(|chain| {
        content.chains_described.contains_key(chain) || content.chains_retired.contains(chain)
    }));
}

/// The reader of a pipe goes away: tracing ends, the client does not.
#[test]
fn a_closed_pipe_ends_tracing_only() {
    let pipe = scratch("closed");
    run(Command::new("mkfifo").arg(&pipe));
    let mut client = start_client(&pipe, [2, 20_000, 1, 0]);
    drop(File::open(&pipe).unwrap());
    // 1 is the client's own status for "tracing went off".
    assert_eq!(client.wait().unwrap().code(), Some(1));
    fs::remove_file(pipe).unwrap();
}

/// A file that cannot grow any more, as on a full disk: tracing ends, and what
/// was written before can be read.
#[test]
fn a_full_disk_leaves_a_readable_trace() {
    let trace = scratch("full");
    let limited = Command::new("sh")
        .args(["-c", "ulimit -f 100 && exec \"$@\"", "sh"])
        .arg(client())
        .arg(&trace)
        .args(["2", "20000", "1", "0"])
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(1));

    let mut reader = TraceReader::new(File::open(&trace).unwrap()).unwrap();
    while reader.next_chunk().unwrap().is_some() {}
    let damage = reader.damage();
    assert!(damage.chunks_read > 0);
    assert!(!damage.end_seen && damage.skipped_bytes == 0, "{damage:?}");
    fs::remove_file(trace).unwrap();
}
