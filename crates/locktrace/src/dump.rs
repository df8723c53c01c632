//! `locktrace dump`: the events of a trace as they stand in the file.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use trace_analysis::TraceFile;
use trace_format::{ChainRef, Chunk, Event, Frame, Segment};

use crate::Outcome;
use crate::cli::{DumpArguments, DumpFormat};
use crate::output;
use crate::problem::UnreadParts;

pub(crate) fn run(arguments: &DumpArguments) -> anyhow::Result<Outcome> {
    let trace = TraceFile::open(&arguments.trace)?;
    let mut out = output::machine();
    let mut malformed_segments = 0;
    let mut reader = trace.read()?;
    while let Some(chunk) = trace.next_chunk(&mut reader)? {
        let Chunk::Events(events) = chunk else {
            continue;
        };
        for segment in events.segments() {
            let Ok(segment) = segment else {
                malformed_segments += 1;
                continue;
            };
            for event in segment.events() {
                match event {
                    Ok(event) => write_event(&segment, &event, arguments.format, &mut out)?,
                    Err(_) => malformed_segments += 1,
                }
            }
        }
    }
    out.flush()?;
    let unread = UnreadParts {
        damage: reader.damage(),
        malformed_segments,
    };
    unread.complain(trace.path());
    Ok(if unread.is_empty() {
        Outcome::Complete
    } else {
        Outcome::Partial
    })
}

fn write_event(
    segment: &Segment<'_>,
    event: &Event<'_>,
    format: DumpFormat,
    out: &mut impl Write,
) -> io::Result<()> {
    let described = Described::new(event);
    match format {
        DumpFormat::Text => {
            let (thread, buffer) = (segment.thread, segment.buffer_index);
            writeln!(out, "{thread:>4} {buffer:>4} {}", described.text())
        }
        DumpFormat::Jsonl => {
            let record = Record {
                thread: segment.thread,
                buffer: segment.buffer_index,
                event: described.name,
                fields: Fields(described.fields),
            };
            serde_json::to_writer(&mut *out, &record)?;
            out.write_all(b"\n")
        }
    }
}

#[derive(Serialize)]
struct Record {
    thread: u32,
    buffer: u64,
    event: &'static str,
    #[serde(flatten)]
    fields: Fields,
}

/// The fields of an event, in the order of its declaration.
struct Fields(Vec<(&'static str, Value)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// An event as name and fields.
struct Described {
    name: &'static str,
    fields: Vec<(&'static str, Value)>,
}

impl Described {
    fn new(event: &Event<'_>) -> Self {
        let (name, fields) = match *event {
            Event::LockDescription {
                lock,
                class,
                mirrored_class,
                identity_hash,
                monitor_address,
            } => (
                "LockDescription",
                vec![
                    ("lock", json!(lock)),
                    ("class", json!(class)),
                    ("mirrored_class", json!(mirrored_class)),
                    ("identity_hash", json!(identity_hash)),
                    ("monitor_address", json!(monitor_address)),
                ],
            ),
            Event::ContendedEnter {
                lock,
                sequence,
                time_ns,
                chain,
                after_wait,
            } => (
                "ContendedEnter",
                vec![
                    ("time_ns", json!(time_ns)),
                    ("lock", json!(lock)),
                    ("sequence", json!(sequence)),
                    ("chain", json!(chain)),
                    ("after_wait", json!(after_wait)),
                ],
            ),
            Event::ContendedEntered {
                lock,
                sequence,
                time_ns,
                safepoint_ns,
            } => (
                "ContendedEntered",
                vec![
                    ("time_ns", json!(time_ns)),
                    ("lock", json!(lock)),
                    ("sequence", json!(sequence)),
                    ("safepoint_ns", json!(safepoint_ns)),
                ],
            ),
            Event::ContendedExit {
                lock,
                sequence,
                time_ns,
                chain,
            } => (
                "ContendedExit",
                vec![
                    ("time_ns", json!(time_ns)),
                    ("lock", json!(lock)),
                    ("sequence", json!(sequence)),
                    match chain {
                        ChainRef::Chain(chain) => ("chain", json!(chain)),
                        ChainRef::Forward(forward_ref) => ("forward_ref", json!(forward_ref)),
                    },
                ],
            ),
            Event::LockRetired { lock, sequence } => (
                "LockRetired",
                vec![("lock", json!(lock)), ("sequence", json!(sequence))],
            ),
            Event::ForwardResolved { forward_ref, chain } => (
                "ForwardResolved",
                vec![("forward_ref", json!(forward_ref)), ("chain", json!(chain))],
            ),
            Event::ThreadStart {
                time_ns,
                java_id,
                name,
            } => (
                "ThreadStart",
                vec![
                    ("time_ns", json!(time_ns)),
                    ("java_id", json!(java_id)),
                    ("name", json!(name)),
                ],
            ),
            Event::ThreadRename { java_id, name } => (
                "ThreadRename",
                vec![("java_id", json!(java_id)), ("name", json!(name))],
            ),
            Event::ThreadEnd { time_ns } => ("ThreadEnd", vec![("time_ns", json!(time_ns))]),
            Event::Class {
                class,
                loader,
                name,
                source_file,
                loader_class,
            } => (
                "Class",
                vec![
                    ("class", json!(class)),
                    ("loader", json!(loader)),
                    ("name", json!(name)),
                    ("source_file", json!(source_file)),
                    ("loader_class", json!(loader_class)),
                ],
            ),
            Event::Method {
                method,
                class,
                name,
                signature,
            } => (
                "Method",
                vec![
                    ("method", json!(method)),
                    ("class", json!(class)),
                    ("name", json!(name)),
                    ("signature", json!(signature)),
                ],
            ),
            Event::Chain {
                chain,
                ref frames,
                truncated,
            } => (
                "Chain",
                vec![
                    ("chain", json!(chain)),
                    ("frames", frames.iter().map(frame).collect()),
                    ("truncated", json!(truncated)),
                ],
            ),
            Event::LoaderUnload { loader, time_ns } => (
                "LoaderUnload",
                vec![("time_ns", json!(time_ns)), ("loader", json!(loader))],
            ),
            Event::LostNumber { lock, sequence } => (
                "LostNumber",
                vec![("lock", json!(lock)), ("sequence", json!(sequence))],
            ),
            Event::LostEvents { events } => ("LostEvents", vec![("events", json!(events))]),
        };
        Self { name, fields }
    }

    /// Time in seconds if there is one, name, fields.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut fields = self.fields.as_slice();
        if let [("time_ns", time_ns), rest @ ..] = fields {
            let time_ns = time_ns.as_u64().unwrap_or(0);
            let (seconds, rest_ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
            let _ = write!(text, "{seconds:>5}.{rest_ns:09}");
            fields = rest;
        } else {
            let _ = write!(text, "{:15}", "");
        }
        let _ = write!(text, " {:<16}", self.name);
        for (name, value) in fields {
            let _ = write!(text, " {name}={value}");
        }
        text
    }
}

fn frame(frame: &Frame) -> Value {
    json!({ "method": frame.method, "bci": frame.bci, "line": frame.line })
}
