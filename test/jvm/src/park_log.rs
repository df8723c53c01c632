//! The events of parked threads in a trace, without those in `Object.wait`: `locktrace dump`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::contention::Frame;
use crate::locktrace::dump;

/// The park events of a trace.
#[derive(Debug)]
pub struct ParkLog {
    /// Those of each thread that wrote any, in the thread's order.
    pub threads: Vec<ParkingThread>,
    /// Domains and numbers of the events of `Object.wait`, which are not in the list.
    pub numbers_of_waits: Vec<(u64, u64)>,
}

/// A thread that parks or unparks.
#[derive(Debug)]
pub struct ParkingThread {
    /// `Thread.getId()`.
    pub java_id: u64,
    /// Its name in the end.
    pub name: String,
    /// The events that it wrote.
    pub events: Vec<ParkEvent>,
}

/// One event.
#[derive(Clone, Debug)]
pub struct ParkEvent {
    /// The order that it has a place in.
    pub domain: u64,
    /// Its place in that order.
    pub sequence: u64,
    /// The time, since the trace's start.
    pub time_ns: u64,
    /// `Thread.getId()` of the blocker's owner at that time, 0 for none.
    pub owner: u64,
    /// The rest.
    pub action: ParkAction,
}

/// The kinds of events.
#[derive(Clone, Debug)]
pub enum ParkAction {
    /// The thread parks.
    Begin {
        /// On what.
        blocker: Option<Blocker>,
        /// For how long at most.
        timeout: Timeout,
        /// It has been in the queue since its previous park.
        continued: bool,
        /// Its position, innermost frame first.
        chain: Vec<Frame>,
    },
    /// The thread parks no longer.
    End {
        /// The reason, as `dump` calls it.
        reason: String,
        /// The permit consumed, 0 for none.
        permit: u64,
        /// The unpark that gave it did not see what the thread parks on.
        unpark_elsewhere: bool,
    },
    /// The thread unparks another one.
    Unpark {
        /// `Thread.getId()` of that one.
        target: u64,
        /// The permit given, 0 if it had one already.
        permit: u64,
        /// The blocker that the target was seen to park on.
        blocker: Option<Blocker>,
        /// By `Thread.interrupt`.
        interrupt: bool,
        /// The thread's position, innermost frame first.
        chain: Vec<Frame>,
    },
    /// The owner is about to release the lock.
    Release {
        /// The lock.
        blocker: Option<Blocker>,
    },
}

/// The object that a thread parks on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// Its class, and the classes that this extends, without `java.lang.Object`.
    pub classes: Vec<String>,
    /// Identity hash code.
    pub hash: u64,
}

/// The limit of a park.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// For ever.
    None,
    /// For some nanoseconds.
    After(u64),
    /// Until a time in milliseconds since 1970.
    At(u64),
}

impl ParkLog {
    /// The events of a trace that could be read as a whole.
    pub fn read(trace: &Path) -> ParkLog {
        let mut lines: Vec<Line> = dump(trace);
        // The buffers of a thread are numbered, and a file holds them in any order.
        lines.sort_by_key(|line| (line.thread, line.buffer));
        let entities = Entities::of(&lines);
        let mut threads: Vec<ParkingThread> = Vec::new();
        for of_thread in lines.chunk_by(|one, next| one.thread == next.thread) {
            let events: Vec<_> = of_thread
                .iter()
                .filter_map(|line| entities.park_event(line.thread, &line.event))
                .collect();
            if !events.is_empty() {
                let (java_id, name) = &entities.threads[&of_thread[0].thread];
                threads.push(ParkingThread {
                    java_id: *java_id,
                    name: name.clone(),
                    events,
                });
            }
        }
        let numbers_of_waits = lines.iter().filter_map(|line| line.event.of_object_wait());
        ParkLog {
            threads,
            numbers_of_waits: numbers_of_waits.collect(),
        }
    }

    /// The only thread of a name.
    ///
    /// Panics if there is no such thread, or several.
    pub fn thread(&self, name: &str) -> &ParkingThread {
        let mut threads = self.threads.iter().filter(|thread| thread.name == name);
        match (threads.next(), threads.next()) {
            (Some(thread), None) => thread,
            (found, another) => panic!("not one thread {name}: {found:?}, {another:?}"),
        }
    }

    /// All unparks and interrupts, with the threads that wrote them.
    pub fn unparks(&self) -> impl Iterator<Item = (&ParkingThread, &ParkEvent)> {
        let events = self
            .threads
            .iter()
            .flat_map(|thread| thread.events.iter().map(move |event| (thread, event)));
        events.filter(|(_, event)| matches!(event.action, ParkAction::Unpark { .. }))
    }
}

impl ParkingThread {
    /// Its parks: pairs of their first and last events.
    ///
    /// Panics if they do not alternate. The last may lack its end.
    pub fn parks(&self) -> Vec<[&ParkEvent; 2]> {
        let is_of_park = |event: &&ParkEvent| {
            matches!(
                event.action,
                ParkAction::Begin { .. } | ParkAction::End { .. }
            )
        };
        let parks: Vec<_> = self.events.iter().filter(is_of_park).collect();
        let pairs = parks.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        let pairs: Vec<_> = pairs.collect();
        for pair in &pairs {
            let alternate = matches!(
                pair.map(|event| &event.action),
                [ParkAction::Begin { .. }, ParkAction::End { .. }]
            );
            assert!(alternate, "{self}");
        }
        pairs
    }
}

impl fmt::Display for ParkingThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.name, self.java_id)?;
        self.events
            .iter()
            .try_for_each(|event| writeln!(f, "  {event}"))
    }
}

/// All but the call chain.
impl fmt::Display for ParkEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {} ns, ", self.domain, self.sequence, self.time_ns)?;
        write!(f, "owner {}: ", self.owner)?;
        match &self.action {
            ParkAction::Begin {
                blocker,
                timeout,
                continued,
                ..
            } => {
                let continued = if *continued { "continued " } else { "" };
                let class = blocker.as_ref().map_or("nothing", Blocker::class);
                write!(f, "{continued}park on {class}, timeout {timeout:?}")
            }
            ParkAction::End { reason, permit, .. } => write!(f, "{reason}, permit {permit}"),
            ParkAction::Unpark {
                target,
                permit,
                interrupt,
                ..
            } => {
                let verb = if *interrupt { "interrupt" } else { "unpark" };
                write!(f, "{verb} {target}, permit {permit}")
            }
            ParkAction::Release { blocker } => {
                let class = blocker.as_ref().map_or("nothing", Blocker::class);
                write!(f, "release {class}")
            }
        }
    }
}

impl Blocker {
    /// The name of its class.
    pub fn class(&self) -> &str {
        &self.classes[0]
    }
}

#[derive(Debug, Deserialize)]
struct Line {
    thread: u32,
    buffer: u64,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event")]
enum Event {
    ThreadStart {
        java_id: u64,
        name: String,
    },
    ThreadRename {
        java_id: u64,
        name: String,
    },
    Class {
        class: u32,
        super_class: u32,
        name: String,
    },
    Method {
        method: u32,
        class: u32,
        name: String,
    },
    Chain {
        chain: u32,
        frames: Vec<FrameNumbers>,
    },
    ParkBegin {
        time_ns: u64,
        domain: u64,
        sequence: u64,
        blocker_class: u32,
        blocker_hash: u64,
        owner: u64,
        continued: bool,
        chain: u32,
        timeout_ns: Option<u64>,
        deadline_unix_ms: Option<u64>,
        monitor: bool,
    },
    ParkEnd {
        time_ns: u64,
        domain: u64,
        sequence: u64,
        reason: String,
        permit: u64,
        unpark_elsewhere: bool,
        owner: u64,
        monitor: bool,
    },
    Unpark {
        time_ns: u64,
        domain: u64,
        sequence: u64,
        target: u64,
        permit: u64,
        blocker_class: u32,
        blocker_hash: u64,
        owner: u64,
        interrupt: bool,
        waiters: u64,
        chain: u32,
    },
    ExclusiveRelease {
        time_ns: u64,
        domain: u64,
        sequence: u64,
        blocker_class: u32,
        blocker_hash: u64,
    },
    #[serde(other)]
    Other,
}

impl Event {
    /// The domain and the number of an event of `Object.wait`.
    fn of_object_wait(&self) -> Option<(u64, u64)> {
        match *self {
            Event::ParkBegin {
                domain,
                sequence,
                monitor: true,
                ..
            }
            | Event::ParkEnd {
                domain,
                sequence,
                monitor: true,
                ..
            }
            | Event::Unpark {
                domain,
                sequence,
                waiters: 1..,
                ..
            } => Some((domain, sequence)),
            _ => None,
        }
    }
}

#[derive(Debug, Deserialize)]
struct FrameNumbers {
    method: u32,
    bci: i32,
    line: i32,
}

/// The entities that numbers in events stand for.
#[derive(Debug, Default)]
struct Entities<'a> {
    /// `Thread.getId()` and name.
    threads: BTreeMap<u32, (u64, String)>,
    /// Superclass and name.
    classes: BTreeMap<u32, (u32, &'a str)>,
    /// Class and name.
    methods: BTreeMap<u32, (u32, &'a str)>,
    chains: BTreeMap<u32, &'a [FrameNumbers]>,
}

impl<'a> Entities<'a> {
    fn of(lines: &'a [Line]) -> Self {
        let mut entities = Self::default();
        for line in lines {
            match &line.event {
                Event::ThreadStart { java_id, name } => {
                    let thread = (*java_id, name.clone());
                    entities.threads.insert(line.thread, thread);
                }
                Event::Class {
                    class,
                    super_class,
                    name,
                } => {
                    entities.classes.insert(*class, (*super_class, name));
                }
                Event::Method {
                    method,
                    class,
                    name,
                } => {
                    entities.methods.insert(*method, (*class, name));
                }
                Event::Chain { chain, frames } => {
                    entities.chains.insert(*chain, frames);
                }
                _ => {}
            }
        }
        entities.rename_threads(lines);
        entities
    }

    fn rename_threads(&mut self, lines: &[Line]) {
        for line in lines {
            if let Event::ThreadRename { java_id, name } = &line.event {
                let mut threads = self.threads.values_mut();
                if let Some(thread) = threads.find(|thread| thread.0 == *java_id) {
                    thread.1.clone_from(name);
                }
            }
        }
    }

    fn park_event(&self, thread: u32, event: &Event) -> Option<ParkEvent> {
        let event = match *event {
            Event::ParkBegin {
                time_ns,
                domain,
                sequence,
                blocker_class,
                blocker_hash,
                owner,
                continued,
                chain,
                timeout_ns,
                deadline_unix_ms,
                monitor: false,
            } => ParkEvent {
                domain,
                sequence,
                time_ns,
                owner,
                action: ParkAction::Begin {
                    blocker: self.blocker(blocker_class, blocker_hash),
                    timeout: Timeout::of(timeout_ns, deadline_unix_ms),
                    continued,
                    chain: self.chain(chain),
                },
            },
            Event::ParkEnd {
                time_ns,
                domain,
                sequence,
                ref reason,
                permit,
                unpark_elsewhere,
                owner,
                monitor: false,
            } => ParkEvent {
                domain,
                sequence,
                time_ns,
                owner,
                action: ParkAction::End {
                    reason: reason.clone(),
                    permit,
                    unpark_elsewhere,
                },
            },
            Event::Unpark {
                time_ns,
                domain,
                sequence,
                target,
                permit,
                blocker_class,
                blocker_hash,
                owner,
                interrupt,
                waiters: 0,
                chain,
            } => ParkEvent {
                domain,
                sequence,
                time_ns,
                owner,
                action: ParkAction::Unpark {
                    target,
                    permit,
                    blocker: self.blocker(blocker_class, blocker_hash),
                    interrupt,
                    chain: self.chain(chain),
                },
            },
            Event::ExclusiveRelease {
                time_ns,
                domain,
                sequence,
                blocker_class,
                blocker_hash,
            } => ParkEvent {
                domain,
                sequence,
                time_ns,
                owner: self.threads[&thread].0,
                action: ParkAction::Release {
                    blocker: self.blocker(blocker_class, blocker_hash),
                },
            },
            _ => return None,
        };
        Some(event)
    }

    fn blocker(&self, class: u32, hash: u64) -> Option<Blocker> {
        let mut classes = Vec::new();
        let mut next = class;
        while next != 0 {
            let (super_class, name) = self.classes[&next];
            classes.push(name.to_owned());
            next = super_class;
        }
        (class != 0).then_some(Blocker { classes, hash })
    }

    fn chain(&self, chain: u32) -> Vec<Frame> {
        let frames = self.chains.get(&chain).copied().unwrap_or_default();
        frames.iter().map(|frame| self.frame(frame)).collect()
    }

    fn frame(&self, frame: &FrameNumbers) -> Frame {
        let (class, method) = self.methods[&frame.method];
        Frame {
            class: self.classes[&class].1.to_owned(),
            method: method.to_owned(),
            bci: Some(frame.bci),
            line: Some(frame.line),
            file: None,
        }
    }
}

impl Timeout {
    fn of(timeout_ns: Option<u64>, deadline_unix_ms: Option<u64>) -> Self {
        match (timeout_ns, deadline_unix_ms) {
            (Some(ns), _) => Self::After(ns),
            (None, Some(unix_ms)) => Self::At(unix_ms),
            (None, None) => Self::None,
        }
    }
}
