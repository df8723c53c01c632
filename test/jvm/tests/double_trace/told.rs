//! What one of two traces tells of the waits in a run, without its identifiers.

use std::path::Path;

use jvm_tests::analyze;
use trace_analysis::{Chain, ChainIndex, Entities, Mechanism, Owner, UnknownOwner, Wait, WaitKind};

/// A wait of one thread for one lock.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// `Thread.getId()`.
    pub(crate) thread: u64,
    pub(crate) mechanism: Mechanism,
    pub(crate) lock_class: String,
    pub(crate) after_wait: bool,
    /// Without gaps, by time; at least one.
    pub(crate) parts: Vec<Part>,
}

/// A part of a wait, with one owner of the lock. Times are by the wall clock, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) owner: By,
}

/// Who had the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Thread {
        /// `Thread.getId()`.
        id: u64,
        /// The innermost method that is no part of a lock.
        method: String,
    },
    Nobody,
    NotKnown(UnknownOwner),
}

impl Told {
    pub(crate) fn start_ns(&self) -> i64 {
        self.parts[0].start_ns
    }

    pub(crate) fn end_ns(&self) -> i64 {
        self.parts[self.parts.len() - 1].end_ns
    }

    pub(crate) fn duration_ns(&self) -> i64 {
        self.end_ns() - self.start_ns()
    }
}

/// All waits of a trace that were contention and ended, by their start.
pub(crate) fn read(trace: &Path) -> Vec<Told> {
    let mut waits = Vec::new();
    let summary = analyze(trace, |wait, entities| {
        if wait.kind == WaitKind::Contention && wait.ended() {
            waits.push(tell(wait, entities));
        }
    });
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    jvm_tests::check_sound(&summary);
    let start_ns = signed(summary.file.header().start_unix_ns);
    for part in waits.iter_mut().flat_map(|wait| &mut wait.parts) {
        part.start_ns += start_ns;
        part.end_ns += start_ns;
    }
    waits.sort_by_key(Told::start_ns);
    waits
}

fn tell(wait: &Wait, entities: &Entities) -> Told {
    let parts = wait.contentions.iter().map(|part| Part {
        start_ns: signed(part.start_ns),
        end_ns: signed(part.start_ns + part.duration_ns),
        owner: match part.owner {
            Owner::Thread { thread, chain } => By::Thread {
                id: entities.thread(thread).java_id.0,
                method: method_of_program(chain, entities),
            },
            Owner::Free => By::Nobody,
            Owner::Unknown(reason) => By::NotKnown(reason),
        },
    });
    let class = entities.lock_class(wait.lock);
    Told {
        thread: entities.thread(wait.thread).java_id.0,
        mechanism: wait.mechanism,
        lock_class: class.map_or(String::new(), |class| entities.class_name(class).to_owned()),
        after_wait: wait.after_wait,
        parts: parts.collect(),
    }
}

fn method_of_program(chain: ChainIndex, entities: &Entities) -> String {
    let Chain::Known { frames, .. } = entities.chain(chain) else {
        return format!("{:?}", entities.chain(chain));
    };
    let mut methods = frames.iter().map(|frame| {
        let method = entities.method(frame.method);
        let class = method.class.map_or("", |class| entities.class_name(class));
        format!("{class}.{}", method.name)
    });
    let of_program = methods.find(|method| !method.starts_with("java.util.concurrent."));
    of_program.unwrap_or_default()
}

fn signed(time_ns: u64) -> i64 {
    i64::try_from(time_ns).expect("a time before the year 2262")
}
