//! Errors in encoded events, or for want of memory for them.

/// A segment or a payload does not follow its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed at byte {offset}: {cause}")]
pub struct DecodeError {
    /// Offset of the malformed item from the start of the decoded bytes.
    pub offset: usize,
    /// The defect.
    pub cause: Malformed,
}

/// The defects of an encoded item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes end inside the item.
    #[error("the item is cut off")]
    Truncated,
    /// A number exceeds its type.
    #[error("a number is too large")]
    TooLarge,
    /// Text is not UTF-8.
    #[error("text is not UTF-8")]
    Text,
    /// The type byte stands for no event of this version.
    #[error("unknown event type {0:#04x}")]
    UnknownEvent(u8),
    /// The event names a slot of the lock table that is not in use.
    #[error("unused lock slot {0}")]
    UnusedSlot(u8),
    /// The flags of the event exclude each other.
    #[error("contradictory flags {0:#04x}")]
    Flags(u8),
}

/// The event needs more bytes than are left; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event does not fit into the buffer")]
pub struct DoesNotFit;
