//! Profiles in the format of *pprof*, compressed with gzip.
//!
//! As in Go's runtime, the call chains of owners are a profile of *mutexes*, and those of waiters
//! one of *blocking*. Each sample has the values `contentions`, a count, and `delay`, in
//! nanoseconds; labels name lock class, threads and kind of wait.

mod message;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use trace_analysis::Entities;

use self::message::{Function, Label, Line, Location, Profile, Sample, ValueType};
use crate::frames::{StackFrame, stack};
use crate::labels::{LabelValue, labels};
use crate::period::Period;
use crate::stacks::{StackKey, StackSum, StackSums};
use crate::table::Table;

/// Writes `sums`, the longest first, and `comments`, which *pprof* shows on top.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    out: impl Write,
    sums: &StackSums,
    entities: &Entities,
    period: Period,
    comments: &[String],
) -> io::Result<()> {
    let mut profile = Builder::new(entities);
    let sorted = sums.sorted(entities).into_iter();
    let samples = sorted.map(|(key, sum)| profile.sample(key, sum)).collect();
    let bytes = profile.finish(samples, period, comments).encode_to_vec();
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&bytes)?;
    gzip.finish()?.flush()
}

/// The tables that samples refer to by number.
struct Builder<'a> {
    entities: &'a Entities,
    /// Texts; the first is empty, as the format demands.
    texts: Table<String>,
    /// Functions by name and file, both texts.
    functions: Table<(i64, i64)>,
    /// Locations by function and line.
    locations: Table<(u64, i64)>,
}

impl<'a> Builder<'a> {
    fn new(entities: &'a Entities) -> Self {
        let mut texts = Table::default();
        texts.position(String::new());
        Self {
            entities,
            texts,
            functions: Table::default(),
            locations: Table::default(),
        }
    }

    fn text(&mut self, text: impl Into<String>) -> i64 {
        self.texts.position(text.into()) as i64
    }

    fn sample(&mut self, key: &StackKey, sum: &StackSum) -> Sample {
        let outermost_first = stack(key, self.entities).into_iter();
        let location_id = outermost_first.rev().map(|frame| self.location(frame));
        Sample {
            location_id: location_id.collect(),
            value: vec![signed(sum.waits), signed(sum.duration_ns)],
            label: self.labels(key),
        }
    }

    fn labels(&mut self, key: &StackKey) -> Vec<Label> {
        let labels = labels(key, self.entities).into_iter();
        labels
            .filter_map(|(name, value)| {
                let (str, num) = match value {
                    // An empty text would be a number.
                    LabelValue::Text(text) if text.is_empty() => return None,
                    LabelValue::Text(text) => (self.text(text), 0),
                    LabelValue::Number(num) => (0, num),
                };
                let key = self.text(name);
                Some(Label { key, str, num })
            })
            .collect()
    }

    /// Returns the number of a location, counted from 1.
    fn location(&mut self, frame: StackFrame) -> u64 {
        let (file, line) = match frame {
            StackFrame::Java(frame) => {
                let class = self.entities.method(frame.method).class;
                let file = class.map_or("", |class| self.entities.source_file(class));
                (file, i64::from(frame.line.max(0)))
            }
            StackFrame::Lock(_) | StackFrame::Instead(_) | StackFrame::CutOff => ("", 0),
        };
        let name = self.text(frame.name(self.entities));
        let file = self.text(file);
        let function = self.functions.position((name, file)) as u64 + 1;
        self.locations.position((function, line)) as u64 + 1
    }

    fn finish(mut self, sample: Vec<Sample>, period: Period, comments: &[String]) -> Profile {
        let comment = comments.iter().map(|comment| self.text(comment)).collect();
        let mut value_type = |name, unit| ValueType {
            r#type: self.text(name),
            unit: self.text(unit),
        };
        let sample_type = vec![
            value_type("contentions", "count"),
            value_type("delay", "nanoseconds"),
        ];
        let period_type = value_type("contentions", "count");
        let default_sample_type = self.text("delay");
        let functions = (1..).zip(self.functions.into_values());
        let locations = (1..).zip(self.locations.into_values());
        Profile {
            sample_type,
            sample,
            location: locations
                .map(|(id, (function_id, line))| Location {
                    id,
                    line: vec![Line { function_id, line }],
                })
                .collect(),
            function: functions
                .map(|(id, (name, filename))| Function { id, name, filename })
                .collect(),
            string_table: self.texts.into_values().collect(),
            time_nanos: signed(period.start_unix_ns),
            duration_nanos: signed(period.duration_ns),
            period_type: Some(period_type),
            period: 1,
            comment,
            default_sample_type,
        }
    }
}

/// Converts to a signed number, the only kind of the format.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
