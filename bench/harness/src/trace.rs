//! Figures of a trace between the marks of the measured iterations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use trace_analysis::{EventType, TraceFile};
use trace_format::{Chunk, ClassDescription, ClassId, Counter, Event, EventsChunk};

/// Classes of the objects that `bench.Mark` parks on.
const MARK_CLASSES: [&str; 2] = ["bench.IterationBegin", "bench.IterationEnd"];

/// Figures of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traced {
    /// Length of the trace, all iterations and the time around them included.
    pub(crate) duration_ns: u64,
    /// Values of the tracer's counters for that time, by name.
    pub(crate) counters: BTreeMap<String, u64>,
    /// The bytes and events of the measured iterations.
    pub(crate) measured: Measured,
}

/// The bytes and events of the measured iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Their length together.
    pub(crate) duration_ns: u64,
    /// Events by type.
    pub(crate) events: BTreeMap<String, u64>,
    /// Size of all these events, before compression.
    pub(crate) raw_bytes: u64,
    /// Their part in the bytes of the chunks that they are in.
    pub(crate) stored_bytes: u64,
}

/// Reads a trace in which `iterations` are marked, of which the last `keep` were
/// measured.
pub(crate) fn read(path: &Path, iterations: u32, keep: u32) -> anyhow::Result<Traced> {
    let trace = TraceFile::open(path)?;
    let classes = mark_classes(&trace)?;
    let marks = Marks::find(&trace, &classes)?;
    let windows = marks.windows(iterations, keep)?;

    let mut counting = Counting::new(windows);
    let mut counters = BTreeMap::new();
    let mut end_ns = None;
    let mut reader = trace.read()?;
    while let Some(chunk) = trace.next_chunk(&mut reader)? {
        match chunk {
            Chunk::Events(events) => counting.chunk(&events)?,
            Chunk::Counters(values) => {
                let named = |(counter, value): (Counter, u64)| (counter.name().to_owned(), value);
                counters = values.flatten().map(named).collect();
            }
            Chunk::End { time_ns, .. } => end_ns = Some(time_ns),
            Chunk::System(_) => {}
        }
    }
    ensure!(reader.damage().is_none(), "the trace is damaged");
    Ok(Traced {
        duration_ns: end_ns.context("the trace has no end")?,
        counters,
        measured: counting.measured(),
    })
}

/// The identifiers of [`MARK_CLASSES`]; a class may have several.
fn mark_classes(trace: &TraceFile) -> anyhow::Result<[BTreeSet<ClassId>; 2]> {
    let mut classes = [BTreeSet::new(), BTreeSet::new()];
    let mut reader = trace.read()?.only_metadata();
    while let Some(chunk) = trace.next_chunk(&mut reader)? {
        let Chunk::Events(events) = chunk else {
            continue;
        };
        for segment in events.segments() {
            for event in segment?.events() {
                if let Event::Class(ClassDescription { class, name, .. }) = event?
                    && let Some(at) = MARK_CLASSES.iter().position(|&mark| mark == name)
                {
                    classes[at].insert(class);
                }
            }
        }
    }
    Ok(classes)
}

/// The begins and ends of iterations.
#[derive(Debug, Default)]
struct Marks {
    begins_ns: Vec<u64>,
    ends_ns: Vec<u64>,
}

impl Marks {
    fn find(trace: &TraceFile, [begins, ends]: &[BTreeSet<ClassId>; 2]) -> anyhow::Result<Self> {
        let mut marks = Self::default();
        let mut reader = trace.read()?;
        while let Some(chunk) = trace.next_chunk(&mut reader)? {
            let Chunk::Events(events) = chunk else {
                continue;
            };
            for segment in events.segments() {
                for event in segment?.events() {
                    let Event::ParkBegin(park) = event? else {
                        continue;
                    };
                    if begins.contains(&park.blocker.class) {
                        marks.begins_ns.push(park.time_ns);
                    } else if ends.contains(&park.blocker.class) {
                        marks.ends_ns.push(park.time_ns);
                    }
                }
            }
        }
        // Each iteration may be marked by another thread.
        marks.begins_ns.sort_unstable();
        marks.ends_ns.sort_unstable();
        Ok(marks)
    }

    /// The times of the last `keep` iterations.
    fn windows(&self, iterations: u32, keep: u32) -> anyhow::Result<Vec<Window>> {
        let (begins, ends) = (self.begins_ns.len(), self.ends_ns.len());
        if begins != iterations as usize || ends != iterations as usize {
            bail!("marks of {begins} begins and {ends} ends, expected {iterations} iterations");
        }
        let windows = self.begins_ns.iter().zip(&self.ends_ns);
        let windows = windows.map(|(&begin_ns, &end_ns)| Window { begin_ns, end_ns });
        let kept: Vec<Window> = windows.skip((iterations - keep) as usize).collect();
        ensure!(
            kept.is_sorted_by(|one, next| one.end_ns <= next.begin_ns)
                && kept.iter().all(|window| window.begin_ns <= window.end_ns),
            "the marks of iterations overlap"
        );
        Ok(kept)
    }
}

/// The time of a measured iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    begin_ns: u64,
    end_ns: u64,
}

impl Window {
    fn contains(self, time_ns: u64) -> bool {
        (self.begin_ns..self.end_ns).contains(&time_ns)
    }
}

/// Adds up what lies in the windows.
struct Counting {
    windows: Vec<Window>,
    events: BTreeMap<&'static str, u64>,
    raw_bytes: f64,
    stored_bytes: f64,
}

impl Counting {
    fn new(windows: Vec<Window>) -> Self {
        Self {
            windows,
            events: BTreeMap::new(),
            raw_bytes: 0.0,
            stored_bytes: 0.0,
        }
    }

    /// Bytes that belong to no event, and the effect of compression, are shared
    /// out to the events of the chunk by their size.
    fn chunk(&mut self, chunk: &EventsChunk<'_>) -> anyhow::Result<()> {
        let (mut all_bytes, mut inside_bytes) = (0, 0);
        for segment in chunk.segments() {
            let mut events = segment?.events();
            // Events without a time, like metadata, come with the next event
            // that has one: they were written for it.
            let mut pending: Vec<(&'static str, usize)> = Vec::new();
            let mut is_inside = false;
            let mut start = events.offset();
            while let Some(event) = events.next() {
                let event = event?;
                let bytes = events.offset() - start;
                start = events.offset();
                all_bytes += bytes;
                pending.push((EventType::of(&event).name, bytes));
                if let Some(time_ns) = event.time_ns() {
                    is_inside = self.windows.iter().any(|window| window.contains(time_ns));
                    inside_bytes += self.settle(&mut pending, is_inside);
                }
            }
            inside_bytes += self.settle(&mut pending, is_inside);
        }
        if all_bytes > 0 {
            let share = inside_bytes as f64 / all_bytes as f64;
            self.raw_bytes += share * chunk.raw_len() as f64;
            self.stored_bytes += share * f64::from(chunk.stored_len);
        }
        Ok(())
    }

    /// Counts the pending events if they are inside, and returns their size.
    fn settle(&mut self, pending: &mut Vec<(&'static str, usize)>, is_inside: bool) -> usize {
        let events = pending.drain(..).filter(|_| is_inside);
        let mut inside_bytes = 0;
        for (name, bytes) in events {
            *self.events.entry(name).or_default() += 1;
            inside_bytes += bytes;
        }
        inside_bytes
    }

    fn measured(self) -> Measured {
        let durations = self
            .windows
            .iter()
            .map(|window| window.end_ns - window.begin_ns);
        let events = self.events.into_iter();
        Measured {
            duration_ns: durations.sum(),
            events: events
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
            raw_bytes: self.raw_bytes.round() as u64,
            stored_bytes: self.stored_bytes.round() as u64,
        }
    }
}
