//! Records of the JVM's and the system's effect on threads: the payload of a system chunk.
//!
//! The payload is a sequence of records, each a varint with its type, and varints:
//!
//! | record | | then |
//! |---|---|---|
//! | 1 | [`Safepoint`] | begin; until all threads had stopped, and from there to the end |
//! | 2 | [`ThreadTimes`] | thread, time, and the system's counts |
//! | 3 | [`HookPart`] | thread, time, duration, and weight |
//! | 4 | [`Freeze`] | begin and duration |
//!
//! Times and durations are in nanoseconds. A reader ends at a record that it does not know.

use crate::error::{DecodeError, Malformed};
use crate::id::ThreadId;
use crate::varint;
use crate::wire::ByteReader;

/// All threads that run Java code were stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Safepoint {
    /// Start of the stop, in nanoseconds since the trace's start.
    pub begin_ns: u64,
    /// Time at which all had stopped.
    pub reached_ns: u64,
    /// Time at which they could go on.
    pub end_ns: u64,
}

/// The system's counts for a thread at some time (`/proc/self/task/TID/schedstat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// The thread.
    pub thread: ThreadId,
    /// Time of the counts, in nanoseconds since the trace's start.
    pub time_ns: u64,
    /// Time that the thread had been on a processor since it was created, in nanoseconds.
    pub processor_ns: u64,
    /// Time that it had waited for one, ready to run, in nanoseconds, without the current wait, if
    /// it waits.
    pub run_delay_ns: u64,
    /// Number of times that it had come to a processor. The wait before such a time was already in
    /// [`run_delay_ns`](Self::run_delay_ns), however short.
    pub timeslices: u64,
}

/// The tracer itself ran in a hook, from begin to end or up to a break in it: one of many hooks
/// that was chosen at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookPart {
    /// The thread that ran the hook.
    pub thread: ThreadId,
    /// Time of its end, in nanoseconds since the trace's start.
    pub end_ns: u64,
    /// Its duration.
    pub duration_ns: u64,
    /// The number of hooks that it stands for: one in `weight` was chosen.
    pub weight: u64,
}

/// The process did not run, nor would it have on an idle machine: it was stopped by a signal, a debugger or
/// a freezer, or the machine was suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freeze {
    /// Start, in nanoseconds since the trace's start. It may have begun a little earlier.
    pub begin_ns: u64,
    /// End.
    pub end_ns: u64,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemRecord {
    /// A safepoint that is over.
    Safepoint(Safepoint),
    /// The counts of a thread.
    ThreadTimes(ThreadTimes),
    /// The tracer's own time.
    HookPart(HookPart),
    /// The process did not run.
    Freeze(Freeze),
}

const SAFEPOINT: u64 = 1;
const THREAD_TIMES: u64 = 2;
const HOOK_PART: u64 = 3;
const FREEZE: u64 = 4;

/// Length of the longest record, in bytes.
pub(crate) const MAX_RECORD_LEN: usize = 6 * varint::MAX_LEN;

impl SystemRecord {
    pub(crate) fn push(&self, payload: &mut Vec<u8>) {
        let (numbers, len) = match *self {
            Self::Safepoint(Safepoint {
                begin_ns,
                reached_ns,
                end_ns,
            }) => {
                let reached_ns = reached_ns.max(begin_ns);
                let to_stop_ns = reached_ns - begin_ns;
                let stopped_ns = end_ns.saturating_sub(reached_ns);
                ([SAFEPOINT, begin_ns, to_stop_ns, stopped_ns, 0, 0], 4)
            }
            Self::ThreadTimes(ThreadTimes {
                thread,
                time_ns,
                processor_ns,
                run_delay_ns,
                timeslices,
            }) => (
                [
                    THREAD_TIMES,
                    thread.into(),
                    time_ns,
                    processor_ns,
                    run_delay_ns,
                    timeslices,
                ],
                6,
            ),
            Self::HookPart(HookPart {
                thread,
                end_ns,
                duration_ns,
                weight,
            }) => (
                [HOOK_PART, thread.into(), end_ns, duration_ns, weight, 0],
                5,
            ),
            Self::Freeze(Freeze { begin_ns, end_ns }) => {
                let duration_ns = end_ns.saturating_sub(begin_ns);
                ([FREEZE, begin_ns, duration_ns, 0, 0, 0], 3)
            }
        };
        for number in numbers.into_iter().take(len) {
            varint::push(payload, number);
        }
    }

    fn read(input: &mut ByteReader<'_>) -> Result<Option<Self>, Malformed> {
        Ok(match input.varint()? {
            SAFEPOINT => {
                let begin_ns = input.varint()?;
                let reached_ns = begin_ns.saturating_add(input.varint()?);
                let end_ns = reached_ns.saturating_add(input.varint()?);
                Some(Self::Safepoint(Safepoint {
                    begin_ns,
                    reached_ns,
                    end_ns,
                }))
            }
            THREAD_TIMES => Some(Self::ThreadTimes(ThreadTimes {
                thread: input.number()?,
                time_ns: input.varint()?,
                processor_ns: input.varint()?,
                run_delay_ns: input.varint()?,
                timeslices: input.varint()?,
            })),
            HOOK_PART => Some(Self::HookPart(HookPart {
                thread: input.number()?,
                end_ns: input.varint()?,
                duration_ns: input.varint()?,
                weight: input.varint()?,
            })),
            FREEZE => {
                let begin_ns = input.varint()?;
                let end_ns = begin_ns.saturating_add(input.varint()?);
                Some(Self::Freeze(Freeze { begin_ns, end_ns }))
            }
            _ => None,
        })
    }
}

/// Iterates over the records of a chunk. Ends at one that this version does not know.
#[derive(Clone, Debug)]
pub struct SystemRecords<'a> {
    input: ByteReader<'a>,
    len: usize,
}

impl<'a> SystemRecords<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self {
            input: ByteReader::new(payload),
            len: payload.len(),
        }
    }
}

impl Iterator for SystemRecords<'_> {
    type Item = Result<SystemRecord, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_empty() {
            return None;
        }
        let offset = self.len - self.input.remaining();
        let record = SystemRecord::read(&mut self.input);
        if !matches!(record, Ok(Some(_))) {
            self.input = ByteReader::new(&[]);
        }
        match record {
            Ok(record) => record.map(Ok),
            Err(cause) => Some(Err(DecodeError { offset, cause })),
        }
    }
}
