//! `locktrace dump`: the events of a trace as they stand in the file.

pub(crate) mod arguments;
mod event_fields;

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use trace_analysis::{Analysis, Detail, EventType, TimeRange, TraceSummary};
use trace_format::{Chunk, Event, EventsChunk, Segment};

use crate::commands::dump::arguments::{DumpArguments, DumpFormat};
use crate::commands::dump::event_fields::{Field, fields};
use crate::outcome::{self, Outcome};
use crate::{input, output, problem};

pub(crate) fn run(arguments: &DumpArguments) -> outcome::Result<Outcome> {
    let mut input = input::open_one(&arguments.trace, arguments.follow)?;
    let range = arguments.range.of(&input)?;
    let mut out = output::machine();
    // What is missing shows only when the events are put in order.
    let mut analysis = Analysis::default().with_detail(Detail::CODE);
    let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
    while let Some(chunk) = input.next_chunk()? {
        if let Chunk::Events(events) = &chunk
            && !out.get_ref().is_closed()
        {
            write_events(events, range, arguments, &mut out)?;
        }
        trace.chunk(chunk, &mut ());
    }
    out.flush()?;
    let summary = TraceSummary::new(&input, range, trace.finish(&mut ()));
    Ok(problem::complain(&[summary]))
}

/// Writes the events that can be read.
fn write_events(
    events: &EventsChunk<'_>,
    range: TimeRange,
    arguments: &DumpArguments,
    out: &mut impl Write,
) -> io::Result<()> {
    let is_wanted = |event: &Event<'_>| {
        let is_in = |time_ns| range.contains(time_ns);
        arguments.range.is_all() || event.time_ns().is_some_and(is_in)
    };
    for segment in events.segments().flatten() {
        for event in segment.events().flatten().filter(is_wanted) {
            write_event(&segment, &event, arguments.format, out)?;
        }
    }
    Ok(())
}

fn write_event(
    segment: &Segment<'_>,
    event: &Event<'_>,
    format: DumpFormat,
    out: &mut impl Write,
) -> io::Result<()> {
    let (thread, buffer) = (segment.thread, segment.buffer_index);
    let (event, fields) = (EventType::of(event).name, fields(event));
    match format {
        DumpFormat::Text => {
            write!(out, "{thread:>4} {buffer:>4} ")?;
            write_text(event, &fields, out)
        }
        DumpFormat::Jsonl => {
            let fields = Fields(fields);
            serde_json::to_writer(
                &mut *out,
                &Record {
                    thread: thread.0,
                    buffer,
                    event,
                    fields,
                },
            )?;
            out.write_all(b"\n")
        }
    }
}

/// Writes the time in seconds if there is one, the type, and the other fields.
fn write_text(
    event: &str,
    mut fields: &[(&str, Field<'_>)],
    out: &mut impl Write,
) -> io::Result<()> {
    if let [("time_ns", Field::Number(time_ns)), rest @ ..] = fields {
        let (seconds, rest_ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        write!(out, "{seconds:>5}.{rest_ns:09}")?;
        fields = rest;
    } else {
        write!(out, "{:15}", "")?;
    }
    write!(out, " {event:<16}")?;
    for (name, value) in fields {
        write!(out, " {name}={value}")?;
    }
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct Record<'a> {
    thread: u32,
    buffer: u64,
    event: &'static str,
    #[serde(flatten)]
    fields: Fields<'a>,
}

struct Fields<'a>(Vec<(&'static str, Field<'a>)>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
