//! The fields of events, for output that names them.

use std::fmt;

use serde::{Serialize, Serializer};
use trace_format::{
    ChainDescription, ChainRef, ChainRetired, ClassDescription, ContendedEnter, ContendedEntered,
    ContendedExit, Event, ForwardResolved, Frame, LoaderUnload, LockDescription, LockRetired,
    LostEvents, LostNumber, MethodDescription, MethodRetired, ParkBegin, ParkEndReason,
    ParkTimeout, ThreadEnd, ThreadRename, ThreadStart,
};

/// Names and values of the fields of `event`; the time comes first if there is
/// one.
pub(crate) fn fields<'a>(event: &'a Event<'_>) -> Vec<(&'static str, Field<'a>)> {
    use Field::{Flag, Frames, Hexadecimal, Number, Text};

    match *event {
        Event::LockDescription(LockDescription {
            lock,
            class,
            mirrored_class,
            identity_hash,
            monitor_address,
        }) => vec![
            ("lock", Number(lock.into())),
            ("class", Number(class.into())),
            ("mirrored_class", Number(mirrored_class.into())),
            ("identity_hash", Number(identity_hash.into())),
            ("monitor_address", Hexadecimal(monitor_address)),
        ],
        Event::ContendedEnter(ContendedEnter {
            lock,
            sequence,
            time_ns,
            chain,
            after_wait,
        }) => vec![
            ("time_ns", Number(time_ns)),
            ("lock", Number(lock.into())),
            ("sequence", Number(sequence)),
            ("chain", Number(chain.into())),
            ("after_wait", Flag(after_wait)),
        ],
        Event::ContendedEntered(ContendedEntered {
            lock,
            sequence,
            time_ns,
            safepoint_ns,
        }) => vec![
            ("time_ns", Number(time_ns)),
            ("lock", Number(lock.into())),
            ("sequence", Number(sequence)),
            ("safepoint_ns", Number(safepoint_ns)),
        ],
        Event::ContendedExit(ContendedExit {
            lock,
            sequence,
            time_ns,
            chain,
        }) => vec![
            ("time_ns", Number(time_ns)),
            ("lock", Number(lock.into())),
            ("sequence", Number(sequence)),
            match chain {
                ChainRef::Chain(chain) => ("chain", Number(chain.into())),
                ChainRef::Forward(forward_ref) => ("forward_ref", Number(forward_ref.into())),
            },
        ],
        Event::LockRetired(LockRetired { lock, sequence }) => {
            vec![
                ("lock", Number(lock.into())),
                ("sequence", Number(sequence)),
            ]
        }
        Event::ForwardResolved(ForwardResolved { forward_ref, chain }) => vec![
            ("forward_ref", Number(forward_ref.into())),
            ("chain", Number(chain.into())),
        ],
        Event::ThreadStart(ThreadStart {
            time_ns,
            java_id,
            name,
        }) => vec![
            ("time_ns", Number(time_ns)),
            ("java_id", Number(java_id.into())),
            ("name", Text(name)),
        ],
        Event::ThreadRename(ThreadRename { java_id, name }) => {
            vec![("java_id", Number(java_id.into())), ("name", Text(name))]
        }
        Event::ThreadEnd(ThreadEnd { time_ns }) => {
            vec![("time_ns", Number(time_ns))]
        }
        Event::Class(ClassDescription {
            class,
            super_class,
            loader,
            name,
            source_file,
            loader_class,
        }) => vec![
            ("class", Number(class.into())),
            ("super_class", Number(super_class.into())),
            ("loader", Number(loader.into())),
            ("name", Text(name)),
            ("source_file", Text(source_file)),
            ("loader_class", Text(loader_class)),
        ],
        Event::Method(MethodDescription {
            method,
            class,
            name,
            signature,
        }) => vec![
            ("method", Number(method.into())),
            ("class", Number(class.into())),
            ("name", Text(name)),
            ("signature", Text(signature)),
        ],
        Event::Chain(ChainDescription {
            chain,
            ref frames,
            truncated,
        }) => vec![
            ("chain", Number(chain.into())),
            ("frames", Frames(frames)),
            ("truncated", Flag(truncated)),
        ],
        Event::LoaderUnload(LoaderUnload { loader, time_ns }) => {
            vec![
                ("time_ns", Number(time_ns)),
                ("loader", Number(loader.into())),
            ]
        }
        Event::ChainRetired(ChainRetired { chain }) => vec![("chain", Number(chain.into()))],
        Event::MethodRetired(MethodRetired { method }) => vec![("method", Number(method.into()))],
        Event::ParkBegin(park) => park_begin_fields(park),
        Event::ParkEnd(park) => vec![
            ("time_ns", Number(park.time_ns)),
            ("domain", Number(park.domain.into())),
            ("sequence", Number(park.sequence)),
            ("reason", Text(park_end_reason(park.reason))),
            ("permit", Number(park.permit.into())),
            ("unpark_elsewhere", Flag(park.unpark_elsewhere)),
            ("owner", Number(park.owner.into())),
            ("safepoint_ns", Number(park.safepoint_ns)),
        ],
        Event::Unpark(unpark) => vec![
            ("time_ns", Number(unpark.time_ns)),
            ("domain", Number(unpark.domain.into())),
            ("sequence", Number(unpark.sequence)),
            ("target", Number(unpark.target.into())),
            ("permit", Number(unpark.permit.into())),
            ("blocker_class", Number(unpark.blocker.class.into())),
            ("blocker_hash", Number(unpark.blocker.identity_hash.into())),
            ("owner", Number(unpark.owner.into())),
            ("interrupt", Flag(unpark.interrupt)),
            ("chain", Number(unpark.chain.into())),
        ],
        Event::LostNumber(LostNumber { lock, sequence }) => {
            vec![
                ("lock", Number(lock.into())),
                ("sequence", Number(sequence)),
            ]
        }
        Event::LostEvents(LostEvents { events }) => vec![("events", Number(events))],
    }
}

fn park_begin_fields(park: ParkBegin) -> Vec<(&'static str, Field<'static>)> {
    use Field::{Flag, Number};

    let mut fields = vec![
        ("time_ns", Number(park.time_ns)),
        ("domain", Number(park.domain.into())),
        ("sequence", Number(park.sequence)),
        ("blocker_class", Number(park.blocker.class.into())),
        ("blocker_hash", Number(park.blocker.identity_hash.into())),
        ("owner", Number(park.owner.into())),
        ("continued", Flag(park.continued)),
        ("chain", Number(park.chain.into())),
    ];
    match park.timeout {
        ParkTimeout::None => {}
        ParkTimeout::After(ns) => fields.push(("timeout_ns", Number(ns))),
        ParkTimeout::At(unix_ms) => fields.push(("deadline_unix_ms", Number(unix_ms))),
    }
    fields
}

fn park_end_reason(reason: ParkEndReason) -> &'static str {
    match reason {
        ParkEndReason::Unparked => "unparked",
        ParkEndReason::PermitAvailable => "permit-available",
        ParkEndReason::Interrupted => "interrupted",
        ParkEndReason::TimedOut => "timed-out",
        ParkEndReason::Spurious => "spurious",
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field<'a> {
    Number(u64),
    /// A number that people know in hexadecimal.
    Hexadecimal(u64),
    Flag(bool),
    Text(&'a str),
    Frames(&'a [Frame]),
}

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Field::Number(number) | Field::Hexadecimal(number) => serializer.serialize_u64(number),
            Field::Flag(flag) => serializer.serialize_bool(flag),
            Field::Text(text) => serializer.serialize_str(text),
            Field::Frames(frames) => serializer.collect_seq(frames.iter().map(FrameRecord::new)),
        }
    }
}

#[derive(Serialize)]
struct FrameRecord {
    method: u32,
    bci: i32,
    line: i32,
}

impl FrameRecord {
    fn new(&Frame { method, bci, line }: &Frame) -> Self {
        Self {
            method: method.0,
            bci,
            line,
        }
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Field::Number(number) => write!(f, "{number}"),
            Field::Hexadecimal(number) => write!(f, "{number:#x}"),
            Field::Flag(flag) => write!(f, "{flag}"),
            Field::Text(text) => write!(f, "{text:?}"),
            Field::Frames(frames) => {
                for (at, Frame { method, bci, line }) in frames.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{method}@{bci}:{line}")?;
                }
                Ok(())
            }
        }
    }
}
