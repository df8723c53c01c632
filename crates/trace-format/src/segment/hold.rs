//! Layout of a hold.

use crate::error::{DoesNotFit, Malformed};
use crate::event::Hold;
use crate::wire::{ByteReader, ByteWriter};

const NOT_KNOWN: u64 = 0;
const BEFORE_CONTENTION: u64 = 1;
/// Several holds, whose numbers follow.
const SEVERAL: u64 = 2;
/// Offset of a duration.
const BEFORE_DURATIONS: u64 = 3;
/// The least number of several holds.
const MIN_SEVERAL: u16 = 2;

impl Hold {
    #[inline]
    pub(super) fn encode(self, out: &mut ByteWriter<'_>) -> Result<(), DoesNotFit> {
        match self {
            Self::NotKnown => out.varint(NOT_KNOWN),
            Self::BeforeContention => out.varint(BEFORE_CONTENTION),
            Self::For { duration_ns } => out.varint(duration_ns.saturating_add(BEFORE_DURATIONS)),
            Self::Several {
                holds,
                held_ns,
                span_ns,
            } => {
                out.varint(SEVERAL)?;
                out.varint(holds.saturating_sub(MIN_SEVERAL))?;
                out.varint(held_ns)?;
                out.varint(span_ns)
            }
        }
    }

    #[inline(always)]
    pub(super) fn decode(input: &mut ByteReader<'_>) -> Result<Self, Malformed> {
        Ok(match input.varint()? {
            NOT_KNOWN => Self::NotKnown,
            BEFORE_CONTENTION => Self::BeforeContention,
            SEVERAL => Self::Several {
                holds: input
                    .number::<u16>()?
                    .checked_add(MIN_SEVERAL)
                    .ok_or(Malformed::TooLarge)?,
                held_ns: match input.varint()? {
                    held_ns @ ..=Self::MAX_SUM_NS => held_ns,
                    _ => return Err(Malformed::TooLarge),
                },
                span_ns: input.varint()?,
            },
            number => Self::For {
                duration_ns: number - BEFORE_DURATIONS,
            },
        })
    }
}
