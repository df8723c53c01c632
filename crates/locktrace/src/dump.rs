//! `locktrace dump`: the events of a trace as they stand in the file.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use serde::{Serialize, Serializer};
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
struct Record<'a> {
    thread: u32,
    buffer: u64,
    event: &'static str,
    #[serde(flatten)]
    fields: Fields<'a>,
}

/// The fields of an event, in the order of its declaration.
struct Fields<'a>(Vec<(&'static str, Field<'a>)>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// An event as name and fields.
struct Described<'a> {
    name: &'static str,
    fields: Vec<(&'static str, Field<'a>)>,
}

impl<'a> Described<'a> {
    fn new(event: &'a Event<'_>) -> Self {
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
                    ("lock", Field::Number(lock)),
                    ("class", Field::Number(class.into())),
                    ("mirrored_class", Field::Number(mirrored_class.into())),
                    ("identity_hash", Field::Number(identity_hash.into())),
                    ("monitor_address", Field::Hexadecimal(monitor_address)),
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
                    ("time_ns", Field::Number(time_ns)),
                    ("lock", Field::Number(lock)),
                    ("sequence", Field::Number(sequence)),
                    ("chain", Field::Number(chain.into())),
                    ("after_wait", Field::Flag(after_wait)),
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
                    ("time_ns", Field::Number(time_ns)),
                    ("lock", Field::Number(lock)),
                    ("sequence", Field::Number(sequence)),
                    ("safepoint_ns", Field::Number(safepoint_ns)),
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
                    ("time_ns", Field::Number(time_ns)),
                    ("lock", Field::Number(lock)),
                    ("sequence", Field::Number(sequence)),
                    match chain {
                        ChainRef::Chain(chain) => ("chain", Field::Number(chain.into())),
                        ChainRef::Forward(forward_ref) => {
                            ("forward_ref", Field::Number(forward_ref))
                        }
                    },
                ],
            ),
            Event::LockRetired { lock, sequence } => (
                "LockRetired",
                vec![
                    ("lock", Field::Number(lock)),
                    ("sequence", Field::Number(sequence)),
                ],
            ),
            Event::ForwardResolved { forward_ref, chain } => (
                "ForwardResolved",
                vec![
                    ("forward_ref", Field::Number(forward_ref)),
                    ("chain", Field::Number(chain.into())),
                ],
            ),
            Event::ThreadStart {
                time_ns,
                java_id,
                name,
            } => (
                "ThreadStart",
                vec![
                    ("time_ns", Field::Number(time_ns)),
                    ("java_id", Field::Number(java_id)),
                    ("name", Field::Text(name)),
                ],
            ),
            Event::ThreadRename { java_id, name } => (
                "ThreadRename",
                vec![
                    ("java_id", Field::Number(java_id)),
                    ("name", Field::Text(name)),
                ],
            ),
            Event::ThreadEnd { time_ns } => {
                ("ThreadEnd", vec![("time_ns", Field::Number(time_ns))])
            }
            Event::Class {
                class,
                loader,
                name,
                source_file,
                loader_class,
            } => (
                "Class",
                vec![
                    ("class", Field::Number(class.into())),
                    ("loader", Field::Number(loader)),
                    ("name", Field::Text(name)),
                    ("source_file", Field::Text(source_file)),
                    ("loader_class", Field::Text(loader_class)),
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
                    ("method", Field::Number(method.into())),
                    ("class", Field::Number(class.into())),
                    ("name", Field::Text(name)),
                    ("signature", Field::Text(signature)),
                ],
            ),
            Event::Chain {
                chain,
                ref frames,
                truncated,
            } => (
                "Chain",
                vec![
                    ("chain", Field::Number(chain.into())),
                    ("frames", Field::Frames(frames)),
                    ("truncated", Field::Flag(truncated)),
                ],
            ),
            Event::LoaderUnload { loader, time_ns } => (
                "LoaderUnload",
                vec![
                    ("time_ns", Field::Number(time_ns)),
                    ("loader", Field::Number(loader)),
                ],
            ),
            Event::LostNumber { lock, sequence } => (
                "LostNumber",
                vec![
                    ("lock", Field::Number(lock)),
                    ("sequence", Field::Number(sequence)),
                ],
            ),
            Event::LostEvents { events } => ("LostEvents", vec![("events", Field::Number(events))]),
        };
        Self { name, fields }
    }

    /// Time in seconds if there is one, name, fields.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut fields = self.fields.as_slice();
        if let [("time_ns", Field::Number(time_ns)), rest @ ..] = fields {
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

/// The value of a field.
#[derive(Clone, Copy)]
enum Field<'a> {
    Number(u64),
    /// A number that people know in hexadecimal.
    Hexadecimal(u64),
    Flag(bool),
    Text(&'a str),
    Frames(&'a [Frame]),
}

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Field::Number(number) | Field::Hexadecimal(number) => serializer.serialize_u64(number),
            Field::Flag(flag) => serializer.serialize_bool(flag),
            Field::Text(text) => serializer.serialize_str(text),
            Field::Frames(frames) => serializer.collect_seq(frames.iter().map(FrameRecord::new)),
        }
    }
}

#[derive(Serialize)]
struct FrameRecord {
    method: u32,
    bci: i32,
    line: i32,
}

impl FrameRecord {
    fn new(&Frame { method, bci, line }: &Frame) -> Self {
        Self { method, bci, line }
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Field::Number(number) => write!(f, "{number}"),
            Field::Hexadecimal(number) => write!(f, "{number:#x}"),
            Field::Flag(flag) => write!(f, "{flag}"),
            Field::Text(text) => write!(f, "{text:?}"),
            Field::Frames(frames) => {
                for (at, Frame { method, bci, line }) in frames.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{method}@{bci}:{line}")?;
                }
                Ok(())
            }
        }
    }
}
