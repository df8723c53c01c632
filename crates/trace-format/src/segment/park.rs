//! Layout of the events of parked threads, behind domain, sequence and time.

use super::decode::Malformed;
use super::encode::DoesNotFit;
use super::kind;
use super::lock_table::LockState;
use crate::event::Event;
use crate::park::{Blocker, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Unpark};
use crate::wire::{ByteReader, ByteWriter};

/// The flags of each event.
mod flag {
    /// The blocker is that of the slot's last event that named one.
    pub(super) const SAME_BLOCKER: u8 = 1 << 0;
    /// The chain is that of the slot's last event of this kind.
    pub(super) const SAME_CHAIN: u8 = 1 << 1;
    /// The owner follows.
    pub(super) const OWNER: u8 = 1 << 2;

    // Of a begin.
    pub(super) const CONTINUED: u8 = 1 << 3;
    pub(super) const TIMEOUT_AFTER: u8 = 1 << 4;
    pub(super) const TIMEOUT_AT: u8 = 1 << 5;

    // Of an unpark.
    pub(super) const INTERRUPT: u8 = 1 << 3;

    // Of an end, whose reason takes the upper three bits.
    pub(super) const PERMIT: u8 = 1 << 0;
    pub(super) const SAFEPOINT: u8 = 1 << 1;
    pub(super) const ELSEWHERE: u8 = 1 << 3;
    pub(super) const REASON_SHIFT: u32 = 5;
}

impl ParkBegin {
    pub(super) fn encode(
        &self,
        out: &mut ByteWriter<'_>,
        state: &mut LockState,
    ) -> Result<(), DoesNotFit> {
        let same_blocker = state.blocker == self.blocker;
        let same_chain = state.enter_chain == self.chain;
        let (timeout_flag, timeout) = match self.timeout {
            ParkTimeout::None => (0, None),
            ParkTimeout::After(ns) => (flag::TIMEOUT_AFTER, Some(ns)),
            ParkTimeout::At(unix_ms) => (flag::TIMEOUT_AT, Some(unix_ms)),
        };
        out.byte(
            flag_if(same_blocker, flag::SAME_BLOCKER)
                | flag_if(same_chain, flag::SAME_CHAIN)
                | flag_if(self.owner != 0, flag::OWNER)
                | flag_if(self.continued, flag::CONTINUED)
                | timeout_flag,
        )?;
        if !same_blocker {
            encode_blocker(out, self.blocker)?;
        }
        if !same_chain {
            out.varint(self.chain.into())?;
        }
        if self.owner != 0 {
            out.varint(self.owner)?;
        }
        if let Some(timeout) = timeout {
            out.varint(timeout)?;
        }
        state.blocker = self.blocker;
        state.enter_chain = self.chain;
        Ok(())
    }

    fn decode(
        &mut self,
        input: &mut ByteReader<'_>,
        state: &mut LockState,
    ) -> Result<(), Malformed> {
        let flags = input.byte()?;
        if flags & flag::SAME_BLOCKER == 0 {
            state.blocker = decode_blocker(input)?;
        }
        if flags & flag::SAME_CHAIN == 0 {
            state.enter_chain = input.varint_u32()?;
        }
        self.blocker = state.blocker;
        self.chain = state.enter_chain;
        self.owner = varint_if(flags & flag::OWNER, input)?;
        self.continued = flags & flag::CONTINUED != 0;
        self.timeout = match flags & (flag::TIMEOUT_AFTER | flag::TIMEOUT_AT) {
            0 => ParkTimeout::None,
            flag::TIMEOUT_AFTER => ParkTimeout::After(input.varint()?),
            flag::TIMEOUT_AT => ParkTimeout::At(input.varint()?),
            _ => return Err(Malformed::Flags(flags)),
        };
        Ok(())
    }
}

impl ParkEnd {
    pub(super) fn encode(&self, out: &mut ByteWriter<'_>) -> Result<(), DoesNotFit> {
        out.byte(
            flag_if(self.permit != 0, flag::PERMIT)
                | flag_if(self.safepoint_ns != 0, flag::SAFEPOINT)
                | flag_if(self.owner != 0, flag::OWNER)
                | flag_if(self.unpark_elsewhere, flag::ELSEWHERE)
                | (self.reason as u8) << flag::REASON_SHIFT,
        )?;
        let values = [self.permit.into(), self.safepoint_ns, self.owner];
        for value in values.into_iter().filter(|&value| value != 0) {
            out.varint(value)?;
        }
        Ok(())
    }

    fn decode(&mut self, input: &mut ByteReader<'_>) -> Result<(), Malformed> {
        let flags = input.byte()?;
        self.reason = ParkEndReason::from_number(flags >> flag::REASON_SHIFT)
            .ok_or(Malformed::Flags(flags))?;
        if flags & flag::PERMIT != 0 {
            self.permit = input.varint_u32()?;
        }
        self.unpark_elsewhere = flags & flag::ELSEWHERE != 0;
        self.safepoint_ns = varint_if(flags & flag::SAFEPOINT, input)?;
        self.owner = varint_if(flags & flag::OWNER, input)?;
        Ok(())
    }
}

impl Unpark {
    pub(super) fn encode(
        &self,
        out: &mut ByteWriter<'_>,
        state: &mut LockState,
    ) -> Result<(), DoesNotFit> {
        let same_blocker = state.blocker == self.blocker;
        let same_chain = state.exit_chain == self.chain;
        out.byte(
            flag_if(same_blocker, flag::SAME_BLOCKER)
                | flag_if(same_chain, flag::SAME_CHAIN)
                | flag_if(self.owner != 0, flag::OWNER)
                | flag_if(self.interrupt, flag::INTERRUPT),
        )?;
        out.varint(self.target)?;
        out.varint(self.permit.into())?;
        if !same_blocker {
            encode_blocker(out, self.blocker)?;
        }
        if !same_chain {
            out.varint(self.chain.into())?;
        }
        if self.owner != 0 {
            out.varint(self.owner)?;
        }
        state.blocker = self.blocker;
        state.exit_chain = self.chain;
        Ok(())
    }

    fn decode(
        &mut self,
        input: &mut ByteReader<'_>,
        state: &mut LockState,
    ) -> Result<(), Malformed> {
        let flags = input.byte()?;
        self.target = input.varint()?;
        self.permit = input.varint_u32()?;
        if flags & flag::SAME_BLOCKER == 0 {
            state.blocker = decode_blocker(input)?;
        }
        if flags & flag::SAME_CHAIN == 0 {
            state.exit_chain = input.varint_u32()?;
        }
        self.blocker = state.blocker;
        self.chain = state.exit_chain;
        self.owner = varint_if(flags & flag::OWNER, input)?;
        self.interrupt = flags & flag::INTERRUPT != 0;
        Ok(())
    }
}

/// Decodes what follows an event's time.
pub(super) fn decode<'a>(
    kind: u8,
    (domain, sequence, time_ns): (u64, u64, u64),
    input: &mut ByteReader<'_>,
    state: &mut LockState,
) -> Result<Event<'a>, Malformed> {
    Ok(match kind {
        kind::PARK_BEGIN => {
            let mut event = ParkBegin {
                domain,
                sequence,
                time_ns,
                ..ParkBegin::default()
            };
            event.decode(input, state)?;
            Event::ParkBegin(event)
        }
        kind::PARK_END => {
            let mut event = ParkEnd {
                domain,
                sequence,
                time_ns,
                ..ParkEnd::default()
            };
            event.decode(input)?;
            Event::ParkEnd(event)
        }
        _ => {
            let mut event = Unpark {
                domain,
                sequence,
                time_ns,
                ..Unpark::default()
            };
            event.decode(input, state)?;
            Event::Unpark(event)
        }
    })
}

fn flag_if(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}

fn varint_if(flag: u8, input: &mut ByteReader<'_>) -> Result<u64, Malformed> {
    if flag == 0 { Ok(0) } else { input.varint() }
}

fn encode_blocker(out: &mut ByteWriter<'_>, blocker: Blocker) -> Result<(), DoesNotFit> {
    out.varint(blocker.class.into())?;
    out.varint(blocker.identity_hash.into())
}

fn decode_blocker(input: &mut ByteReader<'_>) -> Result<Blocker, Malformed> {
    Ok(Blocker {
        class: input.varint_u32()?,
        identity_hash: input.varint_u32()?,
    })
}
