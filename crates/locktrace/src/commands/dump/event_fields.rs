//! The fields of events, for output that names them.

use std::fmt;

use serde::{Serialize, Serializer};
use trace_format::{
    ChainRef, Event, FieldValue, Frame, Hold, LockOwner, ParkEndReason, ParkTimeout,
};

/// Names and values of the fields of `event`; the time comes first if there is
/// one.
pub(crate) fn fields<'a>(event: &'a Event<'_>) -> Vec<(&'static str, Field<'a>)> {
    use Field::{Flag, Frames, Hexadecimal, Number, Text};

    let mut fields = Vec::new();
    for (name, value) in event.fields() {
        match value {
            FieldValue::Number(time_ns) if name == "time_ns" => {
                fields.insert(0, (name, Number(time_ns)));
            }
            FieldValue::Number(address) if name == "monitor_address" => {
                fields.push((name, Hexadecimal(address)));
            }
            FieldValue::Number(number) => fields.push((name, Number(number))),
            FieldValue::Flag(flag) => fields.push((name, Flag(flag))),
            FieldValue::Text(text) => fields.push((name, Text(text))),
            FieldValue::Frames(frames) => fields.push((name, Frames(frames))),
            FieldValue::Chain(ChainRef::Chain(chain)) => {
                fields.push((name, Number(chain.into())));
            }
            FieldValue::Chain(ChainRef::Forward(forward_ref)) => {
                fields.push(("forward_ref", Number(forward_ref.into())));
            }
            FieldValue::Blocker(blocker) => fields.extend([
                ("blocker_class", Number(blocker.class.into())),
                ("blocker_hash", Number(blocker.identity_hash.into())),
            ]),
            FieldValue::Timeout(ParkTimeout::None) => {}
            FieldValue::Timeout(ParkTimeout::After(ns)) => {
                fields.push(("timeout_ns", Number(ns)));
            }
            FieldValue::Timeout(ParkTimeout::At(unix_ms)) => {
                fields.push(("deadline_unix_ms", Number(unix_ms)));
            }
            FieldValue::Owner(LockOwner::NotKnown) => {}
            FieldValue::Owner(LockOwner::Thread(thread)) => {
                fields.push((name, Number(thread.into())));
            }
            FieldValue::Owner(LockOwner::OnStack(address)) => {
                fields.push(("owner_on_stack", Hexadecimal(address)));
            }
            FieldValue::Hold(Hold::NotKnown) => {}
            FieldValue::Hold(Hold::BeforeContention) => {
                fields.push((name, Text("before-contention")));
            }
            FieldValue::Hold(Hold::For { duration_ns }) => {
                fields.push(("hold_ns", Number(duration_ns)));
            }
            FieldValue::Hold(Hold::Several {
                holds,
                held_ns,
                span_ns,
            }) => fields.extend([
                ("holds", Number(holds.into())),
                ("held_ns", Number(held_ns)),
                ("span_ns", Number(span_ns)),
            ]),
            FieldValue::Stack(stack) if stack.size == 0 => {}
            FieldValue::Stack(stack) => fields.extend([
                (name, Hexadecimal(stack.lowest)),
                ("stack_size", Hexadecimal(stack.size)),
            ]),
            FieldValue::Reason(reason) => fields.push((name, Text(park_end_reason(reason)))),
        }
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
