//! Texts of entities, for people and for machines.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use crate::model::entity::{
    Chain, ChainIndex, ClassIndex, Entities, Frame, Lock, LockIndex, MethodIndex, ThreadIndex,
};
use crate::model::placeholder::{FORGOTTEN_LOCK, NO_BLOCKER, NOT_KEPT, NOT_RECORDED, UNRESOLVED};
use crate::model::wait::UnknownOwner;

impl Entities {
    /// Returns text for people: what the lock object is and which class uses it, if its own class does not
    /// say that, or else its [name](Self::lock_name).
    pub fn lock_label(&self, lock: LockIndex) -> String {
        let name = self.lock_name(lock);
        match self.lock_class(lock) {
            Some(class) => self.with_user(name, self.user(class, Some(lock))),
            None => name,
        }
    }

    /// Returns text for people: the class of locks, and which class uses all of them, if their own class does not
    /// say that.
    pub(crate) fn lock_class_label(&self, class: ClassIndex) -> String {
        self.with_user(self.class_name(class).to_owned(), self.user(class, None))
    }

    /// Returns the same of some locks of the class.
    pub fn locks_label(
        &self,
        class: ClassIndex,
        locks: impl IntoIterator<Item = LockIndex>,
    ) -> String {
        let users = locks.into_iter().map(|lock| self.user(class, Some(lock)));
        let same = users.reduce(|one, other| one.filter(|_| one == other));
        self.with_user(self.class_name(class).to_owned(), same.flatten())
    }

    fn with_user(&self, name: String, user: Option<(&str, ClassIndex)>) -> String {
        match user {
            Some((purpose, user)) => {
                let user = self.class_name(user);
                format!("{purpose} of {user} ({})", simple_name(&name))
            }
            None => name,
        }
    }

    /// Returns the lock object as `Object.toString` would print it. A
    /// `java.lang.Class` is named after the class that it stands for, a lock of
    /// the JVM's own after the class that it guards the initialization of.
    pub fn lock_name(&self, lock: LockIndex) -> String {
        match self.lock(lock) {
            Lock::Object {
                class,
                mirrored_class,
                identity_hash,
            } => {
                let name = match mirrored_class {
                    None => self.class_name(class).to_owned(),
                    Some(class) if self.initialized_class(lock).is_some() => {
                        self.initialization_label(class)
                    }
                    Some(class) => self.class_object_label(class),
                };
                format!("{name}@{identity_hash:x}")
            }
            Lock::NotDescribed { lock, .. } => format!("<lock #{lock} not described>"),
            Lock::NoBlocker => NO_BLOCKER.to_owned(),
            Lock::Forgotten => FORGOTTEN_LOCK.to_owned(),
        }
    }

    pub(crate) fn class_object_label(&self, class: ClassIndex) -> String {
        format!("Class of {}", self.class_name(class))
    }

    pub(crate) fn initialization_label(&self, class: ClassIndex) -> String {
        format!("initialization of class {}", self.class_name(class))
    }

    /// Returns the identity of a lock object: its identity hash code and its
    /// class.
    pub fn lock_id(&self, lock: LockIndex) -> String {
        match self.lock(lock) {
            Lock::Object {
                class,
                identity_hash,
                ..
            } => {
                format!("{identity_hash:x}@{}", self.class_name(class))
            }
            Lock::NotDescribed { trace, lock } => format!("#{lock}@<trace {trace}>"),
            Lock::NoBlocker => NO_BLOCKER.to_owned(),
            Lock::Forgotten => FORGOTTEN_LOCK.to_owned(),
        }
    }

    /// Number, name and ordinal of a thread.
    pub(crate) fn thread_key(&self, thread: ThreadIndex) -> String {
        let thread = self.thread(thread);
        match thread.ordinal {
            0 => format!("{}:{}", thread.java_id, thread.name),
            ordinal => format!("{}:{}:{ordinal}", thread.java_id, thread.name),
        }
    }

    /// Returns name and number of a thread, as in a thread dump.
    pub fn thread_long_label(&self, thread: ThreadIndex) -> String {
        let thread = self.thread(thread);
        match thread.ordinal {
            0 => format!("{} #{}", thread.name, thread.java_id),
            ordinal => format!("{} #{} ({ordinal})", thread.name, thread.java_id),
        }
    }

    /// Returns class and name of a method.
    pub fn method_label(&self, method: MethodIndex) -> String {
        let method = self.method(method);
        match method.class {
            Some(class) => format!("{}.{}", self.class_name(class), method.name),
            None => method.name.to_string(),
        }
    }

    /// Class, name and descriptor of a method.
    pub(crate) fn method_key(&self, method: MethodIndex) -> String {
        self.method_label(method) + &self.method(method).signature
    }

    /// Returns a frame as in a Java stack trace:
    /// `class.method(File.java:line)`.
    pub fn frame_label(&self, frame: &Frame) -> String {
        self.position_label(frame.method, frame.line)
    }

    /// A line of a method, as in a Java stack trace.
    pub(crate) fn position_label(&self, method: MethodIndex, line: i32) -> String {
        let class = self.method(method).class;
        let source_file = class.map_or("", |class| self.source_file(class));
        let place = match (source_file, line) {
            ("", ..0) => String::new(),
            ("", line) => format!("(line {line})"),
            (file, ..0) => format!("({file})"),
            (file, line) => format!("({file}:{line})"),
        };
        self.method_label(method) + &place
    }

    /// The frame of a call chain at `position`, and how many there are beyond it, or why
    /// the chain is not known.
    pub fn chain_label(&self, chain: ChainIndex, position: usize) -> String {
        match self.chain(chain) {
            Chain::NotRecorded => NOT_RECORDED.to_owned(),
            Chain::Unresolved => UNRESOLVED.to_owned(),
            Chain::NotReleased => "<code unknown: lock not released>".to_owned(),
            Chain::NotKept => NOT_KEPT.to_owned(),
            Chain::NotDescribed(chain) => format!("<call chain #{chain} not described>"),
            Chain::Known { frames, .. } => match frames.get(position..) {
                Some([frame]) => self.frame_label(frame),
                Some([frame, more @ ..]) => {
                    format!("{} [+{}]", self.frame_label(frame), more.len())
                }
                _ => String::new(),
            },
        }
    }

    /// Returns a label for each frame, innermost first, and `...` in the place
    /// of those that the tracer cut off. None where the chain is not known.
    pub fn frame_labels(&self, chain: ChainIndex) -> Vec<String> {
        let chain = self.chain(chain);
        let labels = chain.frames().iter().map(|frame| self.frame_label(frame));
        let cut_off = chain.is_truncated().then(|| "...".to_owned());
        labels.chain(cut_off).collect()
    }

    /// A hash of all frames, or the label of a chain that is not known.
    pub(crate) fn chain_key(&self, chain: ChainIndex) -> String {
        let Chain::Known { frames, truncated } = self.chain(chain) else {
            return self.chain_label(chain, 0);
        };
        let mut text = String::new();
        for frame in frames {
            let (method, bci, line) = (self.method_key(frame.method), frame.bci, frame.line);
            let _ = writeln!(text, "{method} {bci} {line}");
        }
        if *truncated {
            text.push_str("...");
        }
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }
}

/// Returns the name of a class without its package.
pub(crate) fn simple_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl UnknownOwner {
    /// Returns text for people.
    pub fn label(self) -> &'static str {
        match self {
            UnknownOwner::HandOff => "hand-off",
            UnknownOwner::NoExit => "no exit seen",
            UnknownOwner::Lost => "events lost",
            UnknownOwner::Collapsed => "too many owners",
            UnknownOwner::Readers => "readers",
            UnknownOwner::NotWoken => "not woken",
            UnknownOwner::TraceEnded => "trace ended",
        }
    }
}
