//! Parts of machine-readable output that several commands share.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use trace_analysis::{ChainIndex, Entities, Frame, Lock, LockIndex, ThreadIndex, WaitTally};

/// Writes one JSON object that people can read, too.
///
/// # Errors
///
/// Those of `out`.
pub fn write_json(mut out: impl Write, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, record)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Numbers with names, in the order given.
pub struct NamedNumbers(pub Vec<(&'static str, u64)>);

impl Serialize for NamedNumbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// The waits of one mechanism and kind.
#[derive(Debug, Serialize)]
pub struct KindRecord {
    mechanism: &'static str,
    kind: &'static str,
    waits: u64,
    duration_ns: u64,
}

/// Returns the waits of all mechanisms and kinds that occur.
pub fn kind_records(waits: &WaitTally) -> Vec<KindRecord> {
    let found = waits.iter().filter(|(.., sums)| sums.waits > 0);
    let records = found.map(|(mechanism, waiting, sums)| KindRecord {
        mechanism: mechanism.name(),
        kind: waiting.name(),
        waits: sums.waits,
        duration_ns: sums.duration_ns,
    });
    records.collect()
}

/// A thread.
#[derive(Debug, Serialize)]
pub struct ThreadRecord<'a> {
    /// `Thread.getId()`; 0 for threads of the JVM itself.
    pub id: u64,
    /// Its last name.
    pub name: &'a str,
}

impl<'a> ThreadRecord<'a> {
    /// Creates the record of a thread of these entities.
    pub fn new(thread: ThreadIndex, entities: &'a Entities) -> Self {
        let thread = entities.thread(thread);
        Self {
            id: thread.java_id.0,
            name: &thread.name,
        }
    }
}

/// A lock.
#[derive(Debug, Serialize)]
pub struct LockRecord<'a> {
    /// The name of its class, or its placeholder.
    pub lock_class: String,
    /// The text that identifies it among others.
    pub lock_id: String,
    /// The class that the lock object stands for, if it is a `java.lang.Class`; the class
    /// that is initialized, if it is the JVM's own lock for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirrored_class: Option<&'a str>,
}

impl<'a> LockRecord<'a> {
    /// Creates the record of a lock of these entities.
    pub fn new(lock: LockIndex, entities: &'a Entities) -> Self {
        let (lock_class, mirrored_class) = match entities.lock(lock) {
            Lock::Object {
                class,
                mirrored_class,
                ..
            } => {
                let mirrored_class = mirrored_class.map(|class| entities.class_name(class));
                (entities.class_name(class).to_owned(), mirrored_class)
            }
            Lock::NotDescribed { .. } | Lock::NoBlocker | Lock::Forgotten => {
                (entities.lock_name(lock), None)
            }
        };
        Self {
            lock_class,
            lock_id: entities.lock_id(lock),
            mirrored_class,
        }
    }
}

/// One frame of a call chain.
#[derive(Debug, Serialize)]
pub struct FrameRecord<'a> {
    class: &'a str,
    method: &'a str,
    signature: &'a str,
    /// -1 for native methods.
    bci: i32,
    /// -1 where unknown.
    line: i32,
    /// Empty where unknown.
    file: &'a str,
}

impl<'a> FrameRecord<'a> {
    fn new(frame: &Frame, entities: &'a Entities) -> Self {
        let method = entities.method(frame.method);
        Self {
            class: method.class.map_or("", |class| entities.class_name(class)),
            method: &method.name,
            signature: &method.signature,
            bci: frame.bci,
            line: frame.line,
            file: method.class.map_or("", |class| entities.source_file(class)),
        }
    }
}

/// Returns the frames of a call chain, innermost first; none where it is unknown.
pub fn frames(chain: ChainIndex, entities: &Entities) -> Vec<FrameRecord<'_>> {
    let frames = entities.chain(chain).frames().iter();
    frames
        .map(|frame| FrameRecord::new(frame, entities))
        .collect()
}

/// Returns a call chain in one field: `class.method(File.java:line)`, innermost first, separated by
/// semicolons, with `...` at the end if outer frames are missing.
pub fn chain_text(chain: ChainIndex, entities: &Entities) -> String {
    entities.frame_labels(chain).join(";")
}
