//! The identifiers of a trace.
//!
//! They are serial numbers, not addresses, and are never reused within a trace. So an event may be
//! read before the metadata that it refers to, without ever meaning something else.

use std::fmt;
use std::num::TryFromIntError;

/// Declares types of identifiers: numbers without arithmetic. All are alike, so they are declared
/// alike.
macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident: $number:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $number);

        impl $name {
            /// Stands for "none" or "unknown".
            pub const NONE: Self = Self(0);

            /// Returns whether it is [`NONE`](Self::NONE).
            #[inline]
            pub const fn is_none(self) -> bool {
                self.0 == 0
            }
        }

        impl From<$name> for u64 {
            #[inline]
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl TryFrom<u64> for $name {
            type Error = TryFromIntError;

            #[inline]
            fn try_from(number: u64) -> Result<Self, Self::Error> {
                Ok(Self(number.try_into()?))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// Serial number of a thread's tracer, unique within one trace.
    ThreadId: u32;

    /// `Thread.getId()`: names threads that have not written anything yet.
    JavaThreadId: u64;

    /// One incarnation of a lock: the time from the first contention on an
    /// inflated monitor to its deflation. Or a [domain](crate::PARK_DOMAINS) of
    /// parks.
    LockId: u64;

    /// Serial number of a class.
    ClassId: u32;

    /// Serial number of a method.
    MethodId: u32;

    /// Serial number of a call chain.
    ChainId: u32;

    /// Identity of a class loader: the address of its `ClassLoaderData`, unique between two
    /// [`LoaderUnload`](crate::LoaderUnload) of the same value in file order. The boot loader has
    /// 0.
    LoaderId: u64;

    /// A reference to a call chain that will be known only later (paper, section
    /// 3.2, "Conditional waiting").
    ForwardRef: u64;

    /// A permit given to a thread, numbered for each thread by itself, or the permit of a
    /// [notification](Self::of_notification).
    Permit: u32;
}

impl Permit {
    /// Returns the permit of the notification with this sequence number: its lower 32 bits, or 1 if
    /// these are 0.
    #[inline]
    pub const fn of_notification(sequence: u64) -> Self {
        match sequence as u32 {
            0 => Self(1),
            number => Self(number),
        }
    }
}
