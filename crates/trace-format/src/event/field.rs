//! The fields of events by name, for code that shows or compares events of any type.

use super::value::{
    Blocker, ChainRef, Frame, Hold, LockOwner, ParkEndReason, ParkTimeout, StackRange,
};
use crate::id::{
    ChainId, ClassId, ForwardRef, JavaThreadId, LoaderId, LockId, MethodId, Permit, ThreadId,
};

/// The value of a field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A number or an identifier.
    Number(u64),
    /// A boolean.
    Flag(bool),
    /// Text.
    Text(&'a str),
    /// The frames of a call chain.
    Frames(&'a [Frame]),
    /// A call chain, or a reference to one.
    Chain(ChainRef),
    /// The object that a thread parks on.
    Blocker(Blocker),
    /// The limit of a park.
    Timeout(ParkTimeout),
    /// The reason for the end of a park.
    Reason(ParkEndReason),
    /// The owner of a lock.
    Owner(LockOwner),
    /// The duration of a hold.
    Hold(Hold),
    /// The memory of a stack.
    Stack(StackRange),
}

/// Declares the conversions of values of fields.
macro_rules! values {
    ($($value:ident: $($type:ty),+ => $make:expr;)+) => {$($(
        impl<'a> From<&'a $type> for FieldValue<'a> {
            fn from(value: &'a $type) -> Self {
                Self::$value($make(value))
            }
        }
    )+)+};
}

values! {
    Number: u64 => |&number| number;
    Number: u32, ThreadId, JavaThreadId, LockId, ClassId, MethodId, ChainId, LoaderId, ForwardRef,
        Permit => |&value| u64::from(value);
    Flag: bool => |&flag| flag;
    Text: &'a str => |&text| text;
    Frames: Vec<Frame> => Vec::as_slice;
    Chain: ChainRef => |&chain| chain;
    Blocker: Blocker => |&blocker| blocker;
    Timeout: ParkTimeout => |&timeout| timeout;
    Reason: ParkEndReason => |&reason| reason;
    Owner: LockOwner => |&owner| owner;
    Hold: Hold => |&hold| hold;
    Stack: StackRange => |&stack| stack;
}
