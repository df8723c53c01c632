//! Layout of a hold.

use super::decode::Malformed;
use crate::event::Hold;
use crate::wire::ByteReader;

const NOT_KNOWN: u64 = 0;
const BEFORE_CONTENTION: u64 = 1;
/// To be added to a duration.
const BEFORE_DURATIONS: u64 = 2;

impl Hold {
    /// The number that stands for the hold.
    #[inline]
    pub(super) fn number(self) -> u64 {
        match self {
            Self::NotKnown => NOT_KNOWN,
            Self::BeforeContention => BEFORE_CONTENTION,
            Self::For { duration_ns } => duration_ns.saturating_add(BEFORE_DURATIONS),
        }
    }

    #[inline]
    pub(super) fn decode(input: &mut ByteReader<'_>) -> Result<Self, Malformed> {
        Ok(match input.varint()? {
            NOT_KNOWN => Self::NotKnown,
            BEFORE_CONTENTION => Self::BeforeContention,
            number => Self::For {
                duration_ns: number - BEFORE_DURATIONS,
            },
        })
    }
}
