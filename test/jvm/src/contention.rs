//! The output of `locktrace contentions`, and its sums.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// One record: a part of a wait and who is to blame for it.
#[derive(Clone, Debug, Deserialize)]
pub struct Contention {
    /// `monitor` or `park`.
    pub mechanism: String,
    /// Class of the contended object.
    pub lock_class: String,
    /// The class that a `java.lang.Class` stands for, or that is being initialized.
    pub mirrored_class: Option<String>,
    /// Identity of the contended object.
    pub lock_id: String,
    /// `contention`, `conditional`, `idle` or `sleep`.
    pub kind: String,
    /// The lock was re-acquired after `Object.wait` or `Condition.await`.
    pub after_wait: bool,
    /// The wait was over when the trace ended.
    pub ended: bool,
    /// The end of the wait, as printed.
    pub end: String,
    /// The longest time that the thread would have waited.
    pub timeout_ns: Option<u64>,
    /// Until when, by the wall clock.
    pub deadline_unix_ms: Option<u64>,
    /// The thread waited already when the trace began.
    #[serde(default)]
    pub begun_before_trace: bool,
    /// The blocked thread.
    pub thread: ThreadRef,
    /// The thread that held the lock, if known.
    pub owner: Option<ThreadRef>,
    /// The begin of this part of the wait, since the trace's start.
    pub start_ns: u64,
    /// Its duration.
    pub duration_ns: u64,
    /// The wait that this is a part of.
    pub wait_id: String,
    /// The position where the thread was blocked, innermost frame first.
    pub chain: Vec<Frame>,
    /// The code that held the lock, if known.
    pub owner_chain: Option<Vec<Frame>>,
}

impl Contention {
    /// Name of the thread that held the lock.
    pub fn owner_name(&self) -> Option<&str> {
        self.owner.as_ref().map(|owner| owner.name.as_str())
    }

    /// The code that held the lock; no frames where it is not known.
    pub fn owner_frames(&self) -> &[Frame] {
        self.owner_chain.as_deref().unwrap_or_default()
    }
}

/// A thread.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct ThreadRef {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
}

/// One frame of a call chain.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Frame {
    /// The class that declares the method.
    pub class: String,
    /// The method.
    pub method: String,
    /// Byte code index; absent or negative for native methods.
    pub bci: Option<i32>,
    /// Source line; absent or negative if unknown.
    pub line: Option<i32>,
    /// Source file; absent or empty if unknown.
    pub file: Option<String>,
}

impl Frame {
    /// Class and method.
    pub fn name(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().unwrap_or("?");
        write!(
            f,
            "{}.{}({file}:{})",
            self.class,
            self.method,
            self.line.unwrap_or(-1)
        )
    }
}

/// All records of one wait.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The wait's number.
    pub id: String,
    /// Its begin, since the trace's start.
    pub start_ns: u64,
    /// Its duration.
    pub duration_ns: u64,
    /// Its records, by time.
    pub parts: Vec<Contention>,
}

impl Wait {
    /// Puts records together into waits, ordered by their start.
    ///
    /// Panics if the records of a wait do not follow each other without a gap,
    /// or do not agree on who waited for what: blame must be conserved.
    pub fn group(contentions: Vec<Contention>) -> Vec<Wait> {
        let mut parts_by_id: BTreeMap<String, Vec<Contention>> = BTreeMap::new();
        for contention in contentions {
            parts_by_id
                .entry(contention.wait_id.clone())
                .or_default()
                .push(contention);
        }
        let mut waits: Vec<Wait> = parts_by_id
            .into_iter()
            .map(|(id, parts)| Wait::of(id, parts))
            .collect();
        waits.sort_by_key(|wait| wait.start_ns);
        waits
    }

    fn of(id: String, mut parts: Vec<Contention>) -> Wait {
        // A part of no length stays before the one that begins with it.
        parts.sort_by_key(|part| (part.start_ns, part.start_ns + part.duration_ns));
        let start_ns = parts[0].start_ns;
        let mut end_ns = start_ns;
        for part in &parts {
            assert_eq!(
                part.start_ns, end_ns,
                "gap or overlap in wait {id}: {parts:#?}"
            );
            assert_eq!(part.thread, parts[0].thread, "two threads in wait {id}");
            assert_eq!(part.lock_id, parts[0].lock_id, "two locks in wait {id}");
            assert_eq!(part.chain, parts[0].chain, "two call chains in wait {id}");
            end_ns += part.duration_ns;
        }
        Wait {
            id,
            start_ns,
            duration_ns: end_ns - start_ns,
            parts,
        }
    }

    /// Returns a record, for the fields that all its records share.
    pub fn common(&self) -> &Contention {
        &self.parts[0]
    }

    /// Name of the thread that waited.
    pub fn thread(&self) -> &str {
        &self.common().thread.name
    }

    /// The thread waited in `Thread.exit`.
    pub fn is_in_thread_exit(&self) -> bool {
        let outermost = self.common().chain.last();
        outermost.is_some_and(|frame| frame.name() == "java.lang.Thread.exit")
    }

    /// The longest record that names an owner. On a busy machine the time until
    /// the next owner runs, which has none, may well be longer.
    pub fn longest_part(&self) -> &Contention {
        let longest = self
            .parts
            .iter()
            .max_by_key(|part| (part.owner.is_some(), part.duration_ns));
        longest.expect("a wait has a record")
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contention {
            lock_id,
            kind,
            chain,
            ..
        } = self.common();
        let thread = self.thread();
        writeln!(f, "{thread}: {kind} {lock_id}, {} ns", self.duration_ns)?;
        for frame in chain {
            writeln!(f, "    {frame}")?;
        }
        for part in &self.parts {
            let owner = part.owner_name().unwrap_or("nobody known");
            writeln!(f, "  blocked by {owner}, {} ns", part.duration_ns)?;
            for frame in part.owner_chain.iter().flatten() {
                writeln!(f, "    {frame}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(wait_id: &str, start_ns: u64, duration_ns: u64) -> Contention {
        Contention {
            mechanism: "monitor".to_owned(),
            lock_class: "Lock".to_owned(),
            mirrored_class: None,
            lock_id: "1@Lock".to_owned(),
            kind: "contention".to_owned(),
            after_wait: false,
            ended: true,
            end: "acquired".to_owned(),
            timeout_ns: None,
            deadline_unix_ms: None,
            begun_before_trace: false,
            thread: ThreadRef {
                id: 1,
                name: "waiter".to_owned(),
            },
            owner: None,
            start_ns,
            duration_ns,
            wait_id: wait_id.to_owned(),
            chain: Vec::new(),
            owner_chain: None,
        }
    }

    #[test]
    fn groups_the_parts_of_each_wait() {
        let waits = Wait::group(vec![
            part("7", 30, 5),
            part("3", 10, 5),
            part("7", 20, 10),
            part("7", 20, 0),
        ]);
        let summary: Vec<_> = waits
            .iter()
            .map(|w| (&*w.id, w.start_ns, w.duration_ns, w.parts.len()))
            .collect();
        assert_eq!(summary, [("3", 10, 5, 1), ("7", 20, 15, 3)]);
    }

    #[test]
    #[should_panic(expected = "gap or overlap")]
    fn refuses_a_gap() {
        Wait::group(vec![part("7", 20, 10), part("7", 31, 5)]);
    }
}
