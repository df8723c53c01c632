//! The change of a lock.

use std::fmt;
use std::str::FromStr;

/// More stripes or permits are as good as no lock.
const MAX_COPIES: u32 = 1 << 10;

/// The change of a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LockChange {
    /// It is not there any more: what was done while it was held needs no lock.
    Removed,
    /// What is done while it is held takes longer by this factor.
    Holds(f64),
    /// What is done while it is held is done after its release, and takes as long.
    MovedOut,
    /// It is replaced by this many locks, one for each part of its keys, used equally often.
    Split(u32),
    /// This many threads can have it at once: the permits of a semaphore, or the objects of a pool.
    Permits(u32),
    /// Who came first gets it first: nobody takes it while others wait.
    Fair,
    /// Who comes while it is free takes it, also if others wait.
    Unfair,
    /// Those who only read share it.
    ReadWrite,
}

impl LockChange {
    /// Whether the time changes for which code has the lock, also if nobody else wants it.
    pub(super) fn changes_holds(self) -> bool {
        matches!(self, Self::Holds(factor) if factor != 1.0)
    }

    /// Whether no thread goes on later because of it.
    pub(super) fn lets_go_on_earlier(self) -> bool {
        match self {
            Self::Removed | Self::MovedOut | Self::Split(_) | Self::ReadWrite => true,
            Self::Holds(factor) => factor <= 1.0,
            // There may have been more permits.
            Self::Permits(_) | Self::Fair | Self::Unfair => false,
        }
    }
}

/// The text is no change of a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected removed, holds=FACTOR (0 to 100), moved-out, split=STRIPES (1 to {MAX_COPIES}), permits=PERMITS (1 to {MAX_COPIES}), fair, unfair or read-write"
)]
pub struct UnknownChange;

impl FromStr for LockChange {
    type Err = UnknownChange;

    fn from_str(text: &str) -> Result<Self, UnknownChange> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        match (name, number) {
            ("removed", None) => Ok(Self::Removed),
            ("moved-out", None) => Ok(Self::MovedOut),
            ("fair", None) => Ok(Self::Fair),
            ("unfair", None) => Ok(Self::Unfair),
            ("read-write", None) => Ok(Self::ReadWrite),
            ("holds", Some(factor)) => {
                let factor = factor.parse().map_err(|_| UnknownChange)?;
                let is_possible = (0.0..=100.0).contains(&factor);
                is_possible
                    .then_some(Self::Holds(factor))
                    .ok_or(UnknownChange)
            }
            ("split", Some(stripes)) => copies(stripes).map(Self::Split),
            ("permits", Some(permits)) => copies(permits).map(Self::Permits),
            _ => Err(UnknownChange),
        }
    }
}

fn copies(text: &str) -> Result<u32, UnknownChange> {
    let copies = text.parse().map_err(|_| UnknownChange)?;
    let is_possible = (1..=MAX_COPIES).contains(&copies);
    is_possible.then_some(copies).ok_or(UnknownChange)
}

impl fmt::Display for LockChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("removed"),
            Self::MovedOut => f.write_str("moved-out"),
            Self::Holds(factor) => write!(f, "holds={factor}"),
            Self::Split(stripes) => write!(f, "split={stripes}"),
            Self::Permits(permits) => write!(f, "permits={permits}"),
            Self::Fair => f.write_str("fair"),
            Self::Unfair => f.write_str("unfair"),
            Self::ReadWrite => f.write_str("read-write"),
        }
    }
}
