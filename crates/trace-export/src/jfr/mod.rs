//! A recording of the JDK's Flight Recorder.
//!
//! | event | what it is |
//! |---|---|
//! | `jdk.JavaMonitorEnter`, `jdk.ThreadPark` | a wait, on the thread that waited, as the JDK records it |
//! | `locktrace.Blame` | a part of a wait, on its owner, with the owner's stack trace |
//! | `jdk.JVMInformation` | once for each trace |
//!
//! The format has no specification but the JDK's source code, whose files the modules name. A file consists of chunks,
//! each of which has all that its events refer to; so no more than a chunk is in memory. Events are written as waits
//! are found, and belong to the chunk in which they end, like the JDK's.

mod chunk;
mod constants;
mod encoding;
mod metadata;
mod types;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};

use foldhash::fast::RandomState;
use trace_analysis::{
    Aspect, ClassIndex, Contention, Entities, Lock, LockIndex, Mechanism, MethodTable, Owner,
    ParkTimeout, ThreadIndex, Wait, WaitEnd, WaitKind,
};

use self::chunk::Chunk;
use self::constants::NONE;
use self::encoding::Encoder;
use crate::stretches::{Stretch, end_ns, stretches};

/// A recording under construction.
pub struct RecordingWriter<W: Write> {
    out: W,
    run: Run,
    /// The number of threads in all runs.
    threads: u64,
    /// The highest number of a constant in the runs before, if any.
    last_constant: Option<u64>,
    /// The starts of the chunks, in nanoseconds since 1970.
    starts: HashSet<u64, RandomState>,
}

/// The current run.
#[derive(Default)]
struct Run {
    start_unix_ns: u64,
    chunk: Chunk,
    threads: HashMap<ThreadIndex, u64, RandomState>,
    classes: HashMap<ClassIndex, u64, RandomState>,
    methods: MethodTable,
}

/// The fields that the events of a wait share: numbers of constants, and the lock's address.
#[derive(Clone, Copy)]
struct Common {
    class: u64,
    address: u64,
    thread: u64,
    stack: u64,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording.
    pub fn new(out: W) -> Self {
        Self {
            out,
            run: Run::default(),
            threads: 0,
            last_constant: None,
            starts: HashSet::default(),
        }
    }

    /// Begins a run of the process `pid` in a virtual machine that calls itself `jvm`, which began `start_unix_ns`
    /// nanoseconds after 1970. Waits belong to it until it ends.
    pub fn begin_run(&mut self, start_unix_ns: u64, pid: u32, jvm: &str) {
        let before_constants = self
            .last_constant
            .unwrap_or_else(|| before_constants(start_unix_ns, pid));
        self.run = Run {
            start_unix_ns,
            chunk: Chunk::new(0, before_constants),
            ..Run::default()
        };
        self.run.chunk.event(types::JVM_INFORMATION, 0, |event| {
            event.number(start_unix_ns);
            event.text(jvm);
            // Its version, three kinds of arguments, and its start, which a trace does not have.
            for _ in 0..4 {
                event.optional_text(None);
            }
            event.signed(NOTHING);
            event.number(u64::from(pid));
        });
    }

    /// Adds a wait of the run, for which the analysis has found [`Detail::CONTENTIONS`](trace_analysis::Detail).
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn add(&mut self, wait: &Wait, entities: &Entities) -> io::Result<()> {
        for stretch in stretches(wait) {
            self.make_room()?;
            self.add_wait(wait, &stretch, entities);
            for part in stretch.parts {
                self.make_room()?;
                self.add_blame(wait, part, entities);
            }
        }
        Ok(())
    }

    fn add_wait(&mut self, wait: &Wait, stretch: &Stretch<'_>, entities: &Entities) {
        let common = self.common(wait, entities);
        let start = chunk::ticks(self.run.start_unix_ns, stretch.start_ns);
        let begin = |event: &mut Encoder| {
            event.number(start);
            event.number(stretch.end_ns - stretch.start_ns);
            event.number(common.thread);
            event.number(common.stack);
            event.number(common.class);
        };
        let mut latest_first = stretch.parts.iter().rev();
        let mut last_owner = || {
            let known = latest_first.find_map(|part| part.owner.thread());
            known.map_or(NONE, |(owner, _)| self.thread(owner, entities))
        };
        match wait.mechanism {
            Mechanism::Monitor if wait.kind != WaitKind::Contention => {
                let notifier = last_owner();
                let chunk = &mut self.run.chunk;
                chunk.event(types::MONITOR_WAIT, stretch.end_ns, |event| {
                    begin(event);
                    event.number(notifier);
                    // 0: without a limit, as in `Object.wait(0)`.
                    let timeout_ns = match wait.timeout {
                        ParkTimeout::After(duration_ns) => duration_ns,
                        ParkTimeout::None | ParkTimeout::At(_) => 0,
                    };
                    event.signed(signed(timeout_ns / NS_PER_MS));
                    event.flag(wait.end == WaitEnd::TimedOut);
                    event.number(common.address);
                });
            }
            Mechanism::Monitor => {
                let previous_owner = last_owner();
                let chunk = &mut self.run.chunk;
                chunk.event(types::MONITOR_ENTER, stretch.end_ns, |event| {
                    begin(event);
                    event.number(previous_owner);
                    event.number(common.address);
                });
            }
            Mechanism::Park => {
                let chunk = &mut self.run.chunk;
                chunk.event(types::THREAD_PARK, stretch.end_ns, |event| {
                    begin(event);
                    let (timeout, until) = limits(wait.timeout);
                    event.signed(timeout);
                    event.signed(until);
                    event.number(common.address);
                });
            }
        }
    }

    fn add_blame(&mut self, wait: &Wait, part: &Contention, entities: &Entities) {
        let common = self.common(wait, entities);
        let (thread, stack) = match part.owner.thread() {
            Some((thread, chain)) => (
                self.thread(thread, entities),
                self.run.chunk.constants.stack(chain, entities),
            ),
            None => (NONE, NONE),
        };
        let mut name = |aspect: Aspect, owner: Owner| {
            let value = aspect.value(wait, owner, entities, &mut self.run.methods);
            self.run.chunk.constants.text(&value.name(entities))
        };
        let method = name(Aspect::OwnerMethod, part.owner);
        let kind = name(Aspect::Kind, part.owner);
        let start = chunk::ticks(self.run.start_unix_ns, part.start_ns);
        let constants = &mut self.run.chunk.constants;
        let lock = constants.text(&entities.lock_name(wait.lock));
        self.run.chunk.event(types::BLAME, end_ns(part), |event| {
            event.number(start);
            event.number(part.duration_ns);
            event.number(thread);
            event.number(stack);
            event.text_constant(method);
            event.number(common.thread);
            event.number(common.stack);
            event.number(common.class);
            event.number(common.address);
            event.text_constant(lock);
            event.text_constant(kind);
        });
    }

    fn common(&mut self, wait: &Wait, entities: &Entities) -> Common {
        let class = entities.lock_class(wait.lock);
        Common {
            thread: self.thread(wait.thread, entities),
            class: self.run.chunk.constants.lock_class(class, entities),
            stack: self.run.chunk.constants.stack(wait.chain, entities),
            address: self.run.address(wait.lock, entities),
        }
    }

    fn thread(&mut self, thread: ThreadIndex, entities: &Entities) -> u64 {
        let (known, count) = (&mut self.run.threads, &mut self.threads);
        self.run.chunk.constants.thread(thread, entities, || {
            *known.entry(thread).or_insert_with(|| {
                *count += 1;
                *count
            })
        })
    }

    /// Writes the chunk if it is full, and begins the next one.
    fn make_room(&mut self) -> io::Result<()> {
        if self.run.chunk.is_full() {
            let chunk = &self.run.chunk;
            let next = Chunk::new(chunk.end_ns(), chunk.constants.last_number());
            let full = std::mem::replace(&mut self.run.chunk, next);
            self.write(full)?;
        }
        Ok(())
    }

    /// Writes a chunk. Mission Control takes chunks that begin at the same time for duplicates.
    fn write(&mut self, mut chunk: Chunk) -> io::Result<()> {
        let start_unix_ns = self.run.start_unix_ns;
        while !self
            .starts
            .insert(start_unix_ns.wrapping_add(chunk.start_ns()))
        {
            chunk.begin_later();
        }
        chunk.write(start_unix_ns, &mut self.out)
    }

    /// Ends the run, which took `duration_ns`.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn end_run(&mut self, duration_ns: u64) -> io::Result<()> {
        let mut last = std::mem::take(&mut self.run.chunk);
        self.last_constant = Some(last.constants.last_number());
        last.extend_to(duration_ns);
        self.write(last)
    }

    /// Ends the recording.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Run {
    /// Returns a number in place of an address, which locks do not keep: the identity hash code, and in the upper half
    /// the number of the lock's class in this run. 0 if the lock cannot be distinguished from others.
    fn address(&mut self, lock: LockIndex, entities: &Entities) -> u64 {
        match entities.lock(lock) {
            Lock::Object {
                class,
                identity_hash,
                ..
            } => {
                let next = self.classes.len() as u64 + 1;
                let class = *self.classes.entry(class).or_insert(next);
                class << 32 | u64::from(identity_hash)
            }
            Lock::NotDescribed { lock, .. } => 1 << 63 | lock.0,
            Lock::NoBlocker | Lock::Forgotten => 0,
        }
    }
}

/// Returns the number that the constants of a recording follow, so that it can be joined with others: the start of a
/// random part of the numbers that have four bytes, far above the numbers of JVMs. Some readers take 32 bits of them.
fn before_constants(start_unix_ns: u64, pid: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(start_unix_ns);
    hasher.write_u32(pid);
    1 << 27 | hasher.finish() >> (u64::BITS - 27)
}

/// Stands for the absence of a time in the JDK's events.
const NOTHING: i64 = i64::MIN;

/// Returns the longest time of a park, in nanoseconds, and its deadline, in milliseconds since 1970.
fn limits(timeout: ParkTimeout) -> (i64, i64) {
    match timeout {
        ParkTimeout::None => (NOTHING, NOTHING),
        ParkTimeout::After(duration_ns) => (signed(duration_ns), NOTHING),
        ParkTimeout::At(unix_ms) => (NOTHING, signed(unix_ms)),
    }
}

/// Nanoseconds of the unit in which `Object.wait` has its limit.
const NS_PER_MS: u64 = 1_000_000;

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
