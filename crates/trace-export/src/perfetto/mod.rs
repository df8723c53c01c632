//! Traces for Perfetto's *trace processor* and page.
//!
//! ```text
//! java 4711                        a process for each run
//! ├─ threads
//! │  └─ worker-1 #11               its waits; in each its parts: who had the lock, and where
//! └─ locks
//!    └─ java.util.Hashtable@49ab   its owners while anybody waited
//! ```
//!
//! An arrow leads from a mark on the owner's track to each part of a wait that the owner caused.
//! Slices of the category `wait` add up to the blocked time, and so do those of `part`. Packets are
//! written as waits are found, in any order of time; readers sort them.

mod covered;
mod message;
mod texts;
mod tracks;

use std::collections::HashMap;
use std::io::{self, Write};

use foldhash::fast::RandomState;
use prost::Message;
use trace_analysis::{
    Aspect, Contention, Entities, LockIndex, MethodTable, Owner, ThreadIndex, Value, Wait,
};

use self::covered::Covered;
use self::message::{
    CLOCK_BOOTTIME, CLOCK_REALTIME, Clock, ClockSnapshot, DebugAnnotation, ProcessDescriptor,
    SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE, TYPE_INSTANT, TYPE_SLICE_BEGIN,
    TYPE_SLICE_END, TracePacket, TrackDescriptor, TrackEvent,
};
use self::texts::{Text, Texts, Use};
use self::tracks::Tracks;
use crate::stretches::{Stretch, end_ns, stretches};

/// A trace under construction.
pub struct TraceWriter<W: Write> {
    out: Packets<W>,
    /// The number of tracks.
    tracks: u64,
    /// The number of arrows.
    flows: u64,
    run: Run,
}

/// The current run.
#[derive(Default)]
struct Run {
    start_unix_ns: u64,
    /// The parent tracks of threads and of locks.
    above_threads: u64,
    above_locks: u64,
    threads: Tracks<ThreadIndex>,
    locks: Tracks<LockIndex>,
    /// The times at which the owners of a lock are already shown.
    covered: HashMap<LockIndex, Covered, RandomState>,
    methods: MethodTable,
}

impl Run {
    /// Returns a time of the run in nanoseconds since 1970.
    fn at(&self, time_ns: u64) -> u64 {
        self.start_unix_ns.saturating_add(time_ns)
    }
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let mut out = Packets::new(out);
        // Timestamps are of the wall clock: define it under both clocks.
        let clocks = [CLOCK_REALTIME, CLOCK_BOOTTIME].map(|clock_id| Clock {
            clock_id,
            timestamp: 1,
        });
        out.write(TracePacket {
            clock_snapshot: Some(ClockSnapshot {
                clocks: clocks.into(),
            }),
            sequence_flags: SEQ_INCREMENTAL_STATE_CLEARED,
            ..TracePacket::default()
        })?;
        Ok(Self {
            out,
            tracks: 0,
            flows: 0,
            run: Run::default(),
        })
    }

    /// Begins a run of the process `pid`, which began `start_unix_ns` nanoseconds after 1970. Waits
    /// belong to it from now on.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn begin_run(&mut self, start_unix_ns: u64, pid: u32) -> io::Result<()> {
        let process = self.tracks + 1;
        self.tracks += 3;
        let (above_threads, above_locks) = (process + 1, process + 2);
        self.out.track(TrackDescriptor {
            uuid: process,
            process: Some(ProcessDescriptor {
                pid: i32::try_from(pid).unwrap_or(i32::MAX),
                process_name: "java".to_owned(),
            }),
            ..TrackDescriptor::default()
        })?;
        for (uuid, name) in [(above_threads, "threads"), (above_locks, "locks")] {
            self.out.named_track(uuid, name.to_owned(), process)?;
        }
        self.run = Run {
            start_unix_ns,
            above_threads,
            above_locks,
            ..Run::default()
        };
        Ok(())
    }

    /// Adds a wait of the run, for which the analysis has found
    /// [`Detail::CONTENTIONS`](trace_analysis::Detail).
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn add(&mut self, wait: &Wait, entities: &Entities) -> io::Result<()> {
        self.out.forget_texts_if_too_many();
        let mut value =
            |aspect: Aspect| aspect.value(wait, Owner::Free, entities, &mut self.run.methods);
        let (class, method) = (value(Aspect::LockClass), value(Aspect::Method));
        let slice = Slice {
            category: "wait",
            name: Text::Name(class),
            annotations: &[
                ("lock_class", Text::Key(class)),
                ("lock", Text::Lock(wait.lock)),
                ("kind", Text::Fixed(wait.kind.name())),
                ("mechanism", Text::Fixed(wait.mechanism.name())),
                ("end", Text::Fixed(wait.end.name())),
                ("method", Text::Key(method)),
                ("stack", Text::Stack(wait.chain)),
            ],
            flow: None,
        };
        for Stretch {
            start_ns: start,
            end_ns: end,
            parts,
        } in stretches(wait)
        {
            let track = self.thread_track(wait.thread, Some((start, end)), entities)?;
            self.out
                .begin(track, self.run.at(start), &slice, entities)?;
            for part in parts {
                self.add_part(wait, part, track, entities)?;
            }
            self.out.end(track, self.run.at(end))?;
        }
        Ok(())
    }

    fn add_part(
        &mut self,
        wait: &Wait,
        part: &Contention,
        track: u64,
        entities: &Entities,
    ) -> io::Result<()> {
        let mut value =
            |aspect: Aspect| aspect.value(wait, part.owner, entities, &mut self.run.methods);
        let (thread, method) = (value(Aspect::OwnerThread), value(Aspect::OwnerMethod));
        let (begin, end) = (self.run.at(part.start_ns), self.run.at(end_ns(part)));
        let known = part.owner.thread();
        let mut flow = None;
        if let Some((owner, _)) = known {
            self.flows += 1;
            flow = Some(self.flows);
            let mark = Slice {
                category: "owner",
                name: Text::Name(Value::Thread(wait.thread)),
                annotations: &[],
                flow,
            };
            let track = self.thread_track(owner, None, entities)?;
            self.out.mark(track, begin, &mark, entities)?;
        }
        let name = match known {
            Some(_) => Text::Owner(thread, method),
            None => Text::Name(method),
        };
        let stack = known.map(|(_, chain)| ("owner_stack", Text::Stack(chain)));
        let annotations = [
            ("owner_method", Text::Key(method)),
            ("owner_thread", Text::Key(thread)),
        ];
        let annotations: Vec<_> = annotations.into_iter().chain(stack).collect();
        let slice = |category, flow| Slice {
            category,
            name,
            annotations: &annotations,
            flow,
        };
        self.out
            .begin(track, begin, &slice("part", flow), entities)?;
        self.out.end(track, end)?;
        let covered = self.run.covered.entry(wait.lock).or_default();
        for (from, until) in covered.add(part.start_ns, end_ns(part)) {
            let track = self.lock_track(wait.lock, from, until, entities)?;
            self.out
                .begin(track, self.run.at(from), &slice("lock", None), entities)?;
            self.out.end(track, self.run.at(until))?;
        }
        Ok(())
    }

    /// Returns a track of a thread, for a time or for a mark.
    fn thread_track(
        &mut self,
        thread: ThreadIndex,
        time: Option<(u64, u64)>,
        entities: &Entities,
    ) -> io::Result<u64> {
        let next = self.tracks + 1;
        let uuid = match time {
            Some((start, end)) => self.run.threads.reserve(thread, start, end, || next),
            None => self.run.threads.first(thread, || next),
        };
        if uuid == next {
            self.tracks = next;
            let name = entities.thread_long_label(thread);
            self.out.named_track(uuid, name, self.run.above_threads)?;
        }
        Ok(uuid)
    }

    fn lock_track(
        &mut self,
        lock: LockIndex,
        start: u64,
        end: u64,
        entities: &Entities,
    ) -> io::Result<u64> {
        let next = self.tracks + 1;
        let uuid = self.run.locks.reserve(lock, start, end, || next);
        if uuid == next {
            self.tracks = next;
            let name = entities.lock_name(lock);
            self.out.named_track(uuid, name, self.run.above_locks)?;
        }
        Ok(uuid)
    }

    /// Ends the trace.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.out.flush()
    }
}

/// The contents of a packet of a slice or a mark.
struct Slice<'a> {
    category: &'static str,
    name: Text,
    annotations: &'a [(&'static str, Text)],
    /// The number of an arrow from or to it.
    flow: Option<u64>,
}

/// The packets of a trace, with the texts that they refer to.
struct Packets<W: Write> {
    out: W,
    texts: Texts,
    /// Flags of the next packet.
    flags: u32,
    bytes: Vec<u8>,
}

impl<W: Write> Packets<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            texts: Texts::default(),
            flags: 0,
            bytes: Vec::new(),
        }
    }

    /// Tells readers to forget all texts when there are too many.
    fn forget_texts_if_too_many(&mut self) {
        if self.texts.are_too_many() {
            self.texts = Texts::default();
            self.flags = SEQ_INCREMENTAL_STATE_CLEARED;
        }
    }

    fn named_track(&mut self, uuid: u64, name: String, parent: u64) -> io::Result<()> {
        self.track(TrackDescriptor {
            uuid,
            name: Some(name),
            parent_uuid: Some(parent),
            ..TrackDescriptor::default()
        })
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.write(TracePacket {
            track_descriptor: Some(track),
            ..TracePacket::default()
        })
    }

    fn begin(
        &mut self,
        track: u64,
        time_ns: u64,
        slice: &Slice<'_>,
        entities: &Entities,
    ) -> io::Result<()> {
        let mut event = self.event(TYPE_SLICE_BEGIN, track, slice, entities);
        event.terminating_flow_ids.extend(slice.flow);
        self.write_event(time_ns, event)
    }

    fn mark(
        &mut self,
        track: u64,
        time_ns: u64,
        slice: &Slice<'_>,
        entities: &Entities,
    ) -> io::Result<()> {
        let mut event = self.event(TYPE_INSTANT, track, slice, entities);
        event.flow_ids.extend(slice.flow);
        self.write_event(time_ns, event)
    }

    fn end(&mut self, track: u64, time_ns: u64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: TYPE_SLICE_END,
            track_uuid: track,
            ..TrackEvent::default()
        };
        self.write_event(time_ns, event)
    }

    fn event(
        &mut self,
        r#type: i32,
        track: u64,
        slice: &Slice<'_>,
        entities: &Entities,
    ) -> TrackEvent {
        let texts = &mut self.texts;
        let mut number = |of, text| texts.number(of, text, entities);
        let annotations = slice.annotations.iter();
        TrackEvent {
            category_iids: vec![number(Use::Category, Text::Fixed(slice.category))],
            name_iid: Some(number(Use::EventName, slice.name)),
            debug_annotations: annotations
                .map(|&(name, value)| DebugAnnotation {
                    name_iid: number(Use::AnnotationName, Text::Fixed(name)),
                    string_value_iid: number(Use::AnnotationValue, value),
                })
                .collect(),
            r#type,
            track_uuid: track,
            ..TrackEvent::default()
        }
    }

    fn write_event(&mut self, time_ns: u64, event: TrackEvent) -> io::Result<()> {
        let interned_data = self.texts.take_news();
        self.write(TracePacket {
            timestamp: Some(time_ns),
            track_event: Some(event),
            interned_data,
            sequence_flags: SEQ_NEEDS_INCREMENTAL_STATE,
            ..TracePacket::default()
        })
    }

    /// Writes a packet as the next element of the message `Trace`.
    fn write(&mut self, mut packet: TracePacket) -> io::Result<()> {
        /// Field 1, a message.
        const PACKET: u8 = 1 << 3 | 2;
        packet.trusted_packet_sequence_id = 1;
        packet.sequence_flags |= std::mem::take(&mut self.flags);
        self.bytes.clear();
        self.bytes.push(PACKET);
        packet
            .encode_length_delimited(&mut self.bytes)
            .map_err(io::Error::other)?;
        self.out.write_all(&self.bytes)
    }
}
