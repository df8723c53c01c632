//! Layout of the events of parked threads, after domain, sequence and time.

use super::codes::kind;
use super::lock_table::LockState;
use super::take_event::TakeEvent;
use crate::error::{DoesNotFit, Malformed};
use crate::event::{
    Blocker, Event, ExclusiveRelease, Hold, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Unpark,
};
use crate::id::{LockId, Permit};
use crate::wire::{ByteReader, ByteWriter};

/// The flags of each event.
mod flag {
    /// The blocker is the same as in the slot's last event that named one.
    pub(super) const SAME_BLOCKER: u8 = 1 << 0;
    /// The chain is the same as in the slot's last event of this kind.
    pub(super) const SAME_CHAIN: u8 = 1 << 1;
    /// The owner follows.
    pub(super) const OWNER: u8 = 1 << 2;

    /// Of a begin: in `Object.wait`. Of an unpark: a notification.
    pub(super) const MONITOR: u8 = 1 << 6;

    // Of a begin.
    pub(super) const CONTINUED: u8 = 1 << 3;
    pub(super) const TIMEOUT_AFTER: u8 = 1 << 4;
    pub(super) const TIMEOUT_AT: u8 = 1 << 5;

    // Of an unpark.
    pub(super) const INTERRUPT: u8 = 1 << 3;
    /// It is a release.
    pub(super) const RELEASE: u8 = 1 << 4;
    pub(super) const NEVER_ACQUIRED: u8 = 1 << 5;

    // Of an end, whose reason takes the upper three bits.
    pub(super) const PERMIT: u8 = 1 << 0;
    pub(super) const SAFEPOINT: u8 = 1 << 1;
    pub(super) const ELSEWHERE: u8 = 1 << 3;
    /// In `Object.wait`.
    pub(super) const WAIT: u8 = 1 << 4;
    pub(super) const REASON_SHIFT: u32 = 5;
}

/// The JVM numbers the permits of a thread in steps; the numbers in between say how they were
/// given.
const PERMIT_STEP: u32 = 8;

/// Returns the most likely next permit.
fn next_permit(permit: Permit) -> Permit {
    Permit(permit.0.wrapping_add(PERMIT_STEP))
}

/// The state of its thread's parks in a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParkState {
    /// The last event was a begin.
    is_parked: bool,
    /// The last begin was of `Object.wait`.
    monitor: bool,
    /// The permit of a park taken last.
    permit: Permit,
}

impl ParkState {
    pub(super) const NEW: Self = Self {
        is_parked: false,
        monitor: false,
        permit: Permit::NONE,
    };

    /// Returns the state after a begin.
    pub(super) fn parked(self, park: &ParkBegin) -> Self {
        Self {
            is_parked: true,
            monitor: park.monitor,
            ..self
        }
    }

    /// Returns the state after an end.
    pub(super) fn ended(self, park: &ParkEnd) -> Self {
        Self {
            is_parked: false,
            permit: if park.permit.is_none() || park.monitor {
                self.permit
            } else {
                park.permit
            },
            ..self
        }
    }
}

impl ParkBegin {
    /// Returns the most likely next event.
    #[inline(always)]
    fn usual((domain, sequence, time_ns): (LockId, u64, u64), state: &LockState) -> Self {
        Self {
            domain,
            sequence,
            time_ns,
            blocker: state.blocker,
            chain: state.enter_chain,
            timeout: state.wait_timeout,
            monitor: state.waits,
            ..Self::default()
        }
    }

    pub(super) fn kind(&self, parks: ParkState, state: &LockState) -> u8 {
        let usual = Self::usual((self.domain, self.sequence, self.time_ns), state);
        match !parks.is_parked && *self == usual {
            true => kind::PARK_USUAL,
            false => kind::PARK_BEGIN,
        }
    }

    pub(super) fn encode(
        &self,
        out: &mut ByteWriter<'_>,
        state: &LockState,
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
                | flag_if(!self.owner.is_none(), flag::OWNER)
                | flag_if(self.continued, flag::CONTINUED)
                | flag_if(self.monitor, flag::MONITOR)
                | timeout_flag,
        )?;
        if !same_blocker {
            encode_blocker(out, self.blocker)?;
        }
        if !same_chain {
            out.varint(self.chain)?;
        }
        if !self.owner.is_none() {
            out.varint(self.owner)?;
        }
        if let Some(timeout) = timeout {
            out.varint(timeout)?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn remember(&self, state: &mut LockState) {
        state.blocker = self.blocker;
        state.enter_chain = self.chain;
        state.waits = self.monitor;
        state.wait_timeout = match self.monitor {
            true => self.timeout,
            false => ParkTimeout::None,
        };
    }

    #[inline(always)]
    fn decode(&mut self, version: u16, input: &mut ByteReader<'_>) -> Result<(), Malformed> {
        let flags = flags_of(version, flag::MONITOR, input)?;
        if flags & flag::SAME_BLOCKER == 0 {
            self.blocker = decode_blocker(input)?;
        }
        if flags & flag::SAME_CHAIN == 0 {
            self.chain = input.number()?;
        }
        self.owner = number_if(flags & flag::OWNER, input)?;
        self.continued = flags & flag::CONTINUED != 0;
        self.monitor = flags & flag::MONITOR != 0;
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
    /// Returns the most likely next event.
    #[inline(always)]
    fn usual((domain, sequence, time_ns): (LockId, u64, u64), parks: ParkState) -> Self {
        Self {
            domain,
            sequence,
            time_ns,
            reason: ParkEndReason::Unparked,
            permit: match parks.monitor {
                // The notification just before it in the domain.
                true => Permit(distance(sequence, 1)),
                false => next_permit(parks.permit),
            },
            monitor: parks.monitor,
            ..Self::default()
        }
    }

    pub(super) fn kind(&self, parks: ParkState) -> u8 {
        let usual = Self::usual((self.domain, self.sequence, self.time_ns), parks);
        match parks.is_parked && *self == usual {
            true => kind::PARK_USUAL,
            false => kind::PARK_END,
        }
    }

    pub(super) fn encode(&self, out: &mut ByteWriter<'_>) -> Result<(), DoesNotFit> {
        out.byte(
            flag_if(!self.permit.is_none(), flag::PERMIT)
                | flag_if(self.safepoint_ns != 0, flag::SAFEPOINT)
                | flag_if(!self.owner.is_none(), flag::OWNER)
                | flag_if(self.unpark_elsewhere, flag::ELSEWHERE)
                | flag_if(self.monitor, flag::WAIT)
                | (self.reason as u8) << flag::REASON_SHIFT,
        )?;
        if !self.permit.is_none() {
            out.varint(match self.monitor {
                true => distance(self.sequence, self.permit.0),
                false => self.permit.0,
            })?;
        }
        let values = [self.safepoint_ns, self.owner.into()];
        for value in values.into_iter().filter(|&value| value != 0) {
            out.varint(value)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn decode(&mut self, version: u16, input: &mut ByteReader<'_>) -> Result<(), Malformed> {
        let flags = flags_of(version, flag::WAIT, input)?;
        self.reason = ParkEndReason::from_number(flags >> flag::REASON_SHIFT)
            .ok_or(Malformed::Flags(flags))?;
        self.monitor = flags & flag::WAIT != 0;
        if flags & flag::PERMIT != 0 {
            let number = input.number()?;
            self.permit = Permit(match self.monitor {
                true => distance(self.sequence, number),
                false => number,
            });
        }
        self.unpark_elsewhere = flags & flag::ELSEWHERE != 0;
        self.safepoint_ns = number_if(flags & flag::SAFEPOINT, input)?;
        self.owner = number_if(flags & flag::OWNER, input)?;
        Ok(())
    }
}

impl Unpark {
    /// Returns the most likely next event.
    #[inline(always)]
    fn usual((domain, sequence, time_ns): (LockId, u64, u64), state: &LockState) -> Self {
        Self {
            domain,
            sequence,
            time_ns,
            target: state.target,
            permit: match state.waiters {
                0 => next_permit(state.permit),
                _ => Permit::NONE,
            },
            blocker: state.blocker,
            chain: state.exit_chain,
            waiters: state.waiters,
            ..Self::default()
        }
    }

    pub(super) fn kind(&self, state: &LockState) -> u8 {
        let usual = Self::usual((self.domain, self.sequence, self.time_ns), state);
        match *self == usual {
            true => kind::UNPARK_USUAL,
            false => kind::UNPARK,
        }
    }

    pub(super) fn encode(
        &self,
        out: &mut ByteWriter<'_>,
        state: &LockState,
    ) -> Result<(), DoesNotFit> {
        let same_blocker = state.blocker == self.blocker;
        let same_chain = state.exit_chain == self.chain;
        out.byte(
            flag_if(same_blocker, flag::SAME_BLOCKER)
                | flag_if(same_chain, flag::SAME_CHAIN)
                | flag_if(!self.owner.is_none(), flag::OWNER)
                | flag_if(self.interrupt, flag::INTERRUPT)
                | flag_if(self.never_acquired, flag::NEVER_ACQUIRED)
                | flag_if(self.waiters != 0, flag::MONITOR),
        )?;
        out.varint(self.target)?;
        match self.waiters {
            0 => out.varint(self.permit)?,
            waiters => out.varint(waiters)?,
        }
        if !same_blocker {
            encode_blocker(out, self.blocker)?;
        }
        if !same_chain {
            out.varint(self.chain)?;
        }
        if !self.owner.is_none() {
            out.varint(self.owner)?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn remember(&self, state: &mut LockState) {
        state.blocker = self.blocker;
        state.exit_chain = self.chain;
        state.target = self.target;
        state.waiters = self.waiters;
        if self.waiters == 0 {
            state.permit = self.permit;
        }
    }

    #[inline(always)]
    fn decode(&mut self, flags: u8, input: &mut ByteReader<'_>) -> Result<(), Malformed> {
        self.target = input.number()?;
        self.permit = Permit::NONE;
        self.waiters = 0;
        if flags & flag::MONITOR == 0 {
            self.permit = input.number()?;
        } else {
            self.waiters = input.number()?;
            if self.waiters == 0 {
                return Err(Malformed::Flags(flags));
            }
        }
        if flags & flag::SAME_BLOCKER == 0 {
            self.blocker = decode_blocker(input)?;
        }
        if flags & flag::SAME_CHAIN == 0 {
            self.chain = input.number()?;
        }
        self.owner = number_if(flags & flag::OWNER, input)?;
        self.interrupt = flags & flag::INTERRUPT != 0;
        self.never_acquired = flags & flag::NEVER_ACQUIRED != 0;
        Ok(())
    }
}

impl ExclusiveRelease {
    pub(super) fn encode(
        &self,
        out: &mut ByteWriter<'_>,
        state: &LockState,
    ) -> Result<(), DoesNotFit> {
        let same_blocker = state.blocker == self.blocker;
        let same_chain = state.release_chain == self.chain;
        out.byte(
            flag::RELEASE
                | flag_if(same_blocker, flag::SAME_BLOCKER)
                | flag_if(same_chain, flag::SAME_CHAIN),
        )?;
        self.hold.encode(out)?;
        if !same_blocker {
            encode_blocker(out, self.blocker)?;
        }
        if !same_chain {
            out.varint(self.chain)?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn remember(&self, state: &mut LockState) {
        state.blocker = self.blocker;
        state.release_chain = self.chain;
    }

    #[inline(always)]
    fn decode(
        flags: u8,
        (domain, sequence, time_ns): (LockId, u64, u64),
        input: &mut ByteReader<'_>,
        state: &LockState,
    ) -> Result<Self, Malformed> {
        if flags & (flag::OWNER | flag::INTERRUPT | flag::MONITOR) != 0 {
            return Err(Malformed::Flags(flags));
        }
        Ok(Self {
            domain,
            sequence,
            time_ns,
            hold: Hold::decode(input)?,
            blocker: match flags & flag::SAME_BLOCKER {
                0 => decode_blocker(input)?,
                _ => state.blocker,
            },
            chain: match flags & flag::SAME_CHAIN {
                0 => input.number()?,
                _ => state.release_chain,
            },
        })
    }
}

/// Decodes the values after an event's domain, sequence and time, and remembers them. Passes the
/// event to `take`; it began where `before` bytes were left.
#[inline(always)]
pub(super) fn decode<'a>(
    (version, kind): (u16, u8),
    numbers: (LockId, u64, u64),
    input: &mut ByteReader<'_>,
    parks: &mut ParkState,
    state: &mut LockState,
    before: usize,
    take: impl TakeEvent<'a>,
) -> Result<(), Malformed> {
    match kind {
        kind::UNPARK | kind::UNPARK_USUAL => {
            let mut event = Unpark::usual(numbers, state);
            if kind == kind::UNPARK {
                let flags = flags_of(version, flag::MONITOR, input)?;
                if flags & flag::RELEASE != 0 {
                    let event = ExclusiveRelease::decode(flags, numbers, input, state)?;
                    event.remember(state);
                    take.take(&Event::ExclusiveRelease(event), before - input.remaining());
                    return Ok(());
                }
                event.decode(flags, input)?;
            }
            event.remember(state);
            take.take(&Event::Unpark(event), before - input.remaining());
        }
        kind::PARK_USUAL if parks.is_parked => {
            let event = ParkEnd::usual(numbers, *parks);
            *parks = parks.ended(&event);
            take.take(&Event::ParkEnd(event), before - input.remaining());
        }
        kind::PARK_BEGIN | kind::PARK_USUAL => {
            let mut event = ParkBegin::usual(numbers, state);
            if kind == kind::PARK_BEGIN {
                event.decode(version, input)?;
            }
            event.remember(state);
            *parks = parks.parked(&event);
            take.take(&Event::ParkBegin(event), before - input.remaining());
        }
        _ => {
            let mut event = ParkEnd::usual(numbers, *parks);
            event.permit = Permit::NONE;
            event.decode(version, input)?;
            *parks = parks.ended(&event);
            take.take(&Event::ParkEnd(event), before - input.remaining());
        }
    }
    Ok(())
}

/// Returns how far `number` is behind the sequence number, or the number that is that far behind,
/// modulo 2³².
fn distance(sequence: u64, number: u32) -> u32 {
    (sequence as u32).wrapping_sub(number)
}

/// Reads flags. The flag for waits in `Object.wait` exists since version 7.
#[inline(always)]
fn flags_of(version: u16, of_waits: u8, input: &mut ByteReader<'_>) -> Result<u8, Malformed> {
    let flags = input.byte()?;
    if version < 7 && flags & of_waits != 0 {
        return Err(Malformed::Flags(flags));
    }
    Ok(flags)
}

fn flag_if(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}

/// Reads a number if the flag is set, else returns 0.
fn number_if<T: Default + TryFrom<u64>>(
    flag: u8,
    input: &mut ByteReader<'_>,
) -> Result<T, Malformed> {
    match flag {
        0 => Ok(T::default()),
        _ => input.number(),
    }
}

fn encode_blocker(out: &mut ByteWriter<'_>, blocker: Blocker) -> Result<(), DoesNotFit> {
    out.varint(blocker.class)?;
    out.varint(blocker.identity_hash)
}

fn decode_blocker(input: &mut ByteReader<'_>) -> Result<Blocker, Malformed> {
    Ok(Blocker {
        class: input.number()?,
        identity_hash: input.number()?,
    })
}
