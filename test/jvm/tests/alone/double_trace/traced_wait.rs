//! The waits in one of two traces of a run, without its identifiers.

use std::path::Path;

use jvm_tests::{Action, ClassPath, analyze};
use trace_analysis::{
    Chain, ChainIndex, Entities, Frame, Mechanism, Owner, UnknownOwner, Wait, WaitKind,
};

/// A wait of one thread for one lock.
#[derive(Clone, Debug)]
pub(crate) struct TracedWait {
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

/// The owner of the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Thread {
        /// `Thread.getId()`.
        id: u64,
        /// The innermost method that is no part of a lock.
        method: String,
        /// The method calls `Object.wait` there.
        waits: bool,
    },
    Nobody,
    NotKnown(UnknownOwner),
}

impl TracedWait {
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

/// Returns all waits of a trace that were contention and ended, by their start. The class path is
/// the program's.
pub(crate) fn read(trace: &Path, class_path: &ClassPath) -> Vec<TracedWait> {
    let mut waits = Vec::new();
    let summary = analyze(trace, |wait, entities| {
        if wait.kind == WaitKind::Contention && wait.ended() {
            waits.push(describe(wait, entities, class_path));
        }
    });
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    jvm_tests::check_sound(&summary);
    let start_ns = signed(summary.file.header().start_unix_ns);
    for part in waits.iter_mut().flat_map(|wait| &mut wait.parts) {
        part.start_ns += start_ns;
        part.end_ns += start_ns;
    }
    waits.sort_by_key(TracedWait::start_ns);
    waits
}

fn describe(wait: &Wait, entities: &Entities, class_path: &ClassPath) -> TracedWait {
    let parts = wait.contentions.iter().map(|part| Part {
        start_ns: signed(part.start_ns),
        end_ns: signed(part.start_ns + part.duration_ns),
        owner: match part.owner {
            Owner::Thread { thread, chain } => {
                let id = entities.thread(thread).java_id.0;
                owner(id, chain, entities, class_path)
            }
            Owner::Free | Owner::Frozen => By::Nobody,
            Owner::Unknown(reason) => By::NotKnown(reason),
        },
    });
    let class = entities.lock_class(wait.lock);
    TracedWait {
        thread: entities.thread(wait.thread).java_id.0,
        mechanism: wait.mechanism,
        lock_class: class.map_or(String::new(), |class| entities.class_name(class).to_owned()),
        after_wait: wait.after_wait,
        parts: parts.collect(),
    }
}

/// A thread that has released the lock with a call chain.
fn owner(id: u64, chain: ChainIndex, entities: &Entities, class_path: &ClassPath) -> By {
    let (method, waits) = match entities.chain(chain) {
        Chain::Known { frames, .. } => innermost_of_program(frames, entities, class_path),
        unknown => (format!("{unknown:?}"), false),
    };
    By::Thread { id, method, waits }
}

/// The innermost method that is no part of a lock, and whether it calls `Object.wait` there.
fn innermost_of_program(
    frames: &[Frame],
    entities: &Entities,
    class_path: &ClassPath,
) -> (String, bool) {
    let mut of_program = frames.iter().map(|frame| {
        let method = entities.method(frame.method);
        let class = method.class.map_or("", |class| entities.class_name(class));
        (frame.bci, method, class)
    });
    let innermost = of_program.find(|(.., class)| !class.starts_with("java.util.concurrent."));
    let Some((bci, method, class_name)) = innermost else {
        return (String::new(), false);
    };
    let class = class_path.class(class_name);
    let in_file = class
        .as_ref()
        .and_then(|class| class.method(&method.name, &method.signature));
    (
        format!("{class_name}.{}", method.name),
        in_file.is_some_and(|in_file| in_file.action(bci) == Action::Wait),
    )
}

fn signed(time_ns: u64) -> i64 {
    i64::try_from(time_ns).expect("a time before the year 2262")
}
