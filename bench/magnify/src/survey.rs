//! Survey of a trace before it is repeated.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::bail;
use trace_analysis::TraceFile;
use trace_format::file::VERSION;
use trace_format::{
    Chunk, ContendedEnter, ContendedEntered, ContendedExit, Event, ForwardRef, ForwardResolved,
    JavaThreadId, LockId, LockRetired, PARK_DOMAINS, ParkEnd, ParkEndReason, ThreadEnd, ThreadId,
    ThreadRename, ThreadStart, Unpark,
};

/// The numbers that a trace uses, and what it leaves open.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) duration_ns: u64,
    pub(crate) last_thread: ThreadId,
    pub(crate) last_lock: LockId,
    pub(crate) last_java_id: JavaThreadId,
    pub(crate) last_forward_ref: ForwardRef,
    /// The last sequence numbers of domains of park events, what is in `closing`
    /// included.
    pub(crate) domains: HashMap<LockId, u64>,
    /// The number of buffers that each thread filled.
    pub(crate) buffers: HashMap<ThreadId, u64>,
    /// The events that have to happen at the end for nothing to be left open, by writer. All of
    /// them happen at once.
    pub(crate) closing: BTreeMap<ThreadId, Vec<Event<'static>>>,
}

/// The state at some place in a trace.
#[derive(Debug, Default)]
struct Open {
    /// Last sequence numbers of locks and domains.
    sequences: BTreeMap<LockId, u64>,
    retired: HashSet<LockId>,
    threads: BTreeMap<ThreadId, Waiting>,
}

/// The lock or park that a living thread waits for.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    No,
    ForLock(LockId),
    Parked { domain: LockId },
}

impl Survey {
    /// Reads the whole trace.
    pub(crate) fn of(trace: &TraceFile) -> anyhow::Result<Self> {
        let path = trace.path().display();
        let mut reader = trace.read()?;
        if reader.version() != VERSION {
            bail!(
                "{path}: expected a trace in version {VERSION}, found version {}",
                reader.version()
            );
        }
        let mut survey = Self::default();
        let mut open = Open::default();
        let mut losses = 0;
        while let Some(chunk) = trace.next_chunk(&mut reader)? {
            match chunk {
                Chunk::Events(events) => {
                    for segment in events.segments() {
                        let segment = segment.map_err(|error| malformed(trace, error))?;
                        *survey.buffers.entry(segment.thread).or_default() += 1;
                        for event in segment.events() {
                            let event = event.map_err(|error| malformed(trace, error))?;
                            losses += u64::from(is_loss(&event));
                            survey.note_numbers(segment.thread, &event);
                            open.follow(segment.thread, &event);
                        }
                    }
                }
                Chunk::End { time_ns, .. } => survey.duration_ns = time_ns + 1,
                Chunk::Counters(_) | Chunk::System(_) => {}
            }
        }
        if !reader.damage().is_none() || losses > 0 {
            bail!("{path}: expected a complete trace, found one that lacks events");
        }
        survey.close(open);
        Ok(survey)
    }

    fn note_numbers(&mut self, writer: ThreadId, event: &Event<'_>) {
        let mut note_java_id = |id: JavaThreadId| self.last_java_id = self.last_java_id.max(id);
        match *event {
            Event::ThreadStart(ThreadStart { java_id, .. })
            | Event::ThreadRename(ThreadRename { java_id, .. }) => {
                note_java_id(java_id);
            }
            Event::ParkBegin(park) => note_java_id(park.owner),
            Event::ParkEnd(park) => note_java_id(park.owner),
            Event::Unpark(Unpark { target, owner, .. }) => note_java_id(target.max(owner)),
            Event::ForwardResolved(ForwardResolved { forward_ref, .. }) => {
                self.last_forward_ref = self.last_forward_ref.max(forward_ref);
            }
            Event::ContendedExit(ContendedExit {
                chain: trace_format::ChainRef::Forward(forward_ref),
                ..
            }) => self.last_forward_ref = self.last_forward_ref.max(forward_ref),
            _ => {}
        }
        if let Some((lock, _)) = event.lock_and_sequence() {
            self.last_lock = self.last_lock.max(lock);
        }
        self.last_thread = self.last_thread.max(writer);
    }

    /// Ends what is open.
    fn close(&mut self, mut open: Open) {
        let time_ns = self.duration_ns;
        for (&thread, &waiting) in &open.threads {
            let closing = self.closing.entry(thread).or_default();
            match waiting {
                Waiting::No => {}
                Waiting::ForLock(lock) => closing.push(Event::ContendedEntered(ContendedEntered {
                    lock,
                    sequence: next(&mut open.sequences, lock),
                    time_ns,
                    safepoint_ns: 0,
                })),
                Waiting::Parked { domain } => closing.push(Event::ParkEnd(ParkEnd {
                    domain,
                    sequence: next(&mut open.sequences, domain),
                    time_ns,
                    reason: ParkEndReason::Spurious,
                    ..ParkEnd::default()
                })),
            }
            closing.push(Event::ThreadEnd(ThreadEnd { time_ns }));
        }
        // The JVM deflates monitors while no thread runs.
        let deflated = self.closing.entry(ThreadId::NONE).or_default();
        for (lock, last) in open.sequences {
            if lock <= LockId(PARK_DOMAINS) {
                self.domains.insert(lock, last);
            } else if !open.retired.contains(&lock) {
                let sequence = last + 1;
                deflated.push(Event::LockRetired(LockRetired { lock, sequence }));
            }
        }
    }
}

impl Open {
    /// The events of one thread come in their order.
    fn follow(&mut self, thread: ThreadId, event: &Event<'_>) {
        if let Some((lock, sequence)) = event.lock_and_sequence() {
            let last = self.sequences.entry(lock).or_default();
            *last = (sequence + event.numbers() - 1).max(*last);
        }
        if let Event::LockRetired(LockRetired { lock, .. }) = *event {
            self.retired.insert(lock);
        }
        let waiting = match *event {
            Event::ThreadStart(_) | Event::ParkEnd(_) => Waiting::No,
            Event::ContendedEntered(_) | Event::ContendedExit(_) => Waiting::No,
            Event::ContendedEnter(ContendedEnter { lock, .. }) => Waiting::ForLock(lock),
            Event::ParkBegin(park) => Waiting::Parked {
                domain: park.domain,
            },
            Event::ThreadEnd(_) => {
                self.threads.remove(&thread);
                return;
            }
            _ => return,
        };
        self.threads.insert(thread, waiting);
    }
}

fn next(sequences: &mut BTreeMap<LockId, u64>, lock: LockId) -> u64 {
    let last = sequences.entry(lock).or_default();
    *last += 1;
    *last
}

fn is_loss(event: &Event<'_>) -> bool {
    matches!(event, Event::LostNumbers(_) | Event::LostEvents(_))
}

/// The error of a trace with a buffer that cannot be decoded.
pub(crate) fn malformed(trace: &TraceFile, error: trace_format::DecodeError) -> anyhow::Error {
    anyhow::anyhow!(
        "{}: expected a complete trace, found a buffer that is {error}",
        trace.path().display()
    )
}
