//! Makes the trace of threads that all want one lock, to see what an analysis costs by how
//! many of them wait.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use trace_format::{
    Capabilities, ChainDescription, ChainId, ChainRef, ChunkWriter, ClassDescription, ClassId,
    ContendedEnter, ContendedEntered, ContendedExit, Event, FileHeader, Frame, Hold, JavaThreadId,
    LoaderId, LockDescription, LockId, LockOwner, MethodDescription, MethodId, PARK_DOMAINS,
    SegmentEncoder, StackRange, ThreadId, ThreadStart,
};

/// Writes the trace of threads that acquire one monitor in turns
///
/// Each of them releases it once for each time that it has it, and wants it again at once.
#[derive(Debug, Parser)]
#[command(name = "convoy", max_term_width = 100)]
struct Arguments {
    /// The trace to write; replaced if it exists
    output: PathBuf,

    /// Number of threads that wait at any time
    #[arg(long, value_name = "N", default_value = "8")]
    waiters: u32,

    /// Number of events to write, in thousands
    #[arg(long, value_name = "N", default_value = "2000")]
    thousand_events: u64,
}

fn main() -> ExitCode {
    match write(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("convoy: {error:#}");
            ExitCode::from(2)
        }
    }
}

const LOCK: LockId = LockId(PARK_DOMAINS + 1);
const HOLD_NS: u64 = 900;
const PAUSE_NS: u64 = 100;

/// The events of a thread since its buffer was taken.
struct Buffer {
    thread: ThreadId,
    index: u64,
    bytes: Vec<u8>,
    encoder: SegmentEncoder,
}

impl Buffer {
    const LEN: usize = 8 << 10;

    fn new(thread: u32) -> Self {
        Self {
            thread: ThreadId(thread),
            index: 0,
            bytes: vec![0; Self::LEN],
            encoder: SegmentEncoder::new(),
        }
    }
}

struct Trace {
    file: BufWriter<File>,
    chunk: ChunkWriter,
    chunks: u64,
    buffers: Vec<Buffer>,
}

impl Trace {
    fn create(path: &Path, threads: u32) -> anyhow::Result<Self> {
        let header = FileHeader {
            compressed: true,
            start_unix_ns: 0,
            pid: 1,
            jvm: "convoy".to_owned(),
            capabilities: Capabilities::HOLDS,
        };
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&header.encode())?;
        Ok(Self {
            file,
            chunk: ChunkWriter::new(true),
            chunks: 0,
            buffers: (1..=threads).map(Buffer::new).collect(),
        })
    }

    /// The thread, from 0 on, writes an event.
    fn event(&mut self, thread: usize, event: &Event<'_>) -> anyhow::Result<()> {
        let buffer = &mut self.buffers[thread];
        if buffer.encoder.encode(&mut buffer.bytes, event).is_ok() {
            return Ok(());
        }
        self.submit(thread)?;
        let buffer = &mut self.buffers[thread];
        let encoded = buffer.encoder.encode(&mut buffer.bytes, event);
        encoded.map_err(|_| anyhow::anyhow!("an event does not fit a buffer"))
    }

    fn submit(&mut self, thread: usize) -> anyhow::Result<()> {
        let buffer = &mut self.buffers[thread];
        let events = &buffer.bytes[..buffer.encoder.len()];
        if events.is_empty() {
            return Ok(());
        }
        let is_metadata = buffer.encoder.contains_metadata();
        let pushed = self
            .chunk
            .push_segment(buffer.thread, buffer.index, events, is_metadata);
        pushed.map_err(|_| anyhow::anyhow!("a buffer does not fit a chunk"))?;
        self.file.write_all(self.chunk.events())?;
        self.chunks += 1;
        buffer.index += 1;
        buffer.encoder = SegmentEncoder::new();
        Ok(())
    }

    /// Takes all buffers, as the tracer does about once a second.
    fn collect(&mut self) -> anyhow::Result<()> {
        (0..self.buffers.len()).try_for_each(|thread| self.submit(thread))
    }

    fn describe(&mut self) -> anyhow::Result<()> {
        let names: Vec<_> = (1..=self.buffers.len()).map(|n| format!("T{n}")).collect();
        for (thread, name) in names.iter().enumerate() {
            let start = ThreadStart {
                time_ns: 0,
                java_id: JavaThreadId(thread as u64 + 1),
                name,
                stack: StackRange::default(),
            };
            self.event(thread, &Event::ThreadStart(start))?;
        }
        let class = ClassDescription {
            class: ClassId(1),
            super_class: ClassId::NONE,
            loader: LoaderId::NONE,
            name: "Convoy",
            source_file: "Convoy.java",
            loader_class: "",
        };
        let method = MethodDescription {
            method: MethodId(1),
            class: ClassId(1),
            name: "work",
            signature: "()V",
        };
        let frame = Frame {
            method: MethodId(1),
            bci: 1,
            line: 1,
        };
        let chain = ChainDescription {
            chain: ChainId(1),
            frames: [frame].into_iter().collect(),
            truncated: false,
        };
        let lock = LockDescription {
            lock: LOCK,
            class: ClassId(1),
            mirrored_class: ClassId::NONE,
            identity_hash: 1,
            monitor_address: 0,
        };
        for event in [
            Event::Class(class),
            Event::Method(method),
            Event::Chain(chain),
            Event::LockDescription(lock),
        ] {
            self.event(0, &event)?;
        }
        Ok(())
    }
}

fn enter(sequence: u64, time_ns: u64) -> Event<'static> {
    Event::ContendedEnter(ContendedEnter {
        lock: LOCK,
        sequence,
        time_ns,
        chain: ChainId(1),
        after_wait: false,
        owner: LockOwner::NotKnown,
    })
}

fn write(arguments: &Arguments) -> anyhow::Result<()> {
    const EVENTS_OF_A_TURN: u64 = 3;
    /// Events between two collections of all buffers.
    const COLLECTED: u64 = 1 << 16;
    let path = &arguments.output;
    let threads = arguments.waiters + 1;
    let mut trace = Trace::create(path, threads).with_context(|| path.display().to_string())?;
    trace.describe()?;
    let (mut sequence, mut time_ns) = (0, 1000);
    for waiter in 1..threads {
        sequence += 1;
        trace.event(waiter as usize, &enter(sequence, time_ns))?;
    }
    let mut collected = 0;
    let turns = arguments.thousand_events * 1000 / EVENTS_OF_A_TURN;
    for turn in 0..turns {
        let owner = (turn % u64::from(threads)) as usize;
        let next = ((turn + 1) % u64::from(threads)) as usize;
        let exit = ContendedExit {
            lock: LOCK,
            sequence: sequence + 1,
            time_ns: time_ns + HOLD_NS,
            hold: Hold::For {
                duration_ns: HOLD_NS,
            },
            chain: ChainRef::Chain(ChainId(1)),
        };
        trace.event(owner, &Event::ContendedExit(exit))?;
        time_ns += HOLD_NS + PAUSE_NS;
        let entered = ContendedEntered {
            lock: LOCK,
            sequence: sequence + 2,
            time_ns,
            safepoint_ns: 0,
        };
        trace.event(next, &Event::ContendedEntered(entered))?;
        trace.event(owner, &enter(sequence + EVENTS_OF_A_TURN, time_ns))?;
        sequence += EVENTS_OF_A_TURN;
        if sequence - collected > COLLECTED {
            collected = sequence;
            trace.collect()?;
        }
    }
    trace.collect()?;
    let end = trace.chunk.end(time_ns, trace.chunks).to_vec();
    trace.file.write_all(&end)?;
    trace.file.flush()?;
    Ok(())
}
