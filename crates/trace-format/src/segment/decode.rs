//! Decoding of a segment's events.

use super::codes::{kind, other, owner};
use super::lock_table::{LockTable, NEW_LOCK};
use super::park::{self, ParkState};
use super::take_event::TakeEvent;
use crate::error::{DecodeError, Malformed};
use crate::event::{
    ChainDescription, ChainRef, ChainRetired, ClassDescription, ContendedEnter, ContendedEntered,
    ContendedExit, Event, ForwardResolved, Frame, Hold, LoaderUnload, LockDescription, LockOwner,
    LockRetired, LockSite, LostEvents, LostNumbers, MethodDescription, MethodRetired, OwnerSample,
    StackRange, ThreadEnd, ThreadRename, ThreadStart,
};
use crate::file::VERSION;
use crate::id::{ClassId, ForwardRef, ThreadId};
use crate::wire::ByteReader;

/// Iterates over the events of a segment; ends after the first error, because the rest cannot be
/// decoded.
#[derive(Clone, Debug)]
pub struct SegmentDecoder<'a> {
    input: Input<'a>,
    len: usize,
    parks: ParkState,
    locks: LockTable,
}

/// The remaining bytes, and the state after all events before.
#[derive(Clone, Debug)]
struct Input<'a> {
    bytes: ByteReader<'a>,
    version: u16,
    previous_time_ns: u64,
    previous_forward_ref: ForwardRef,
}

impl<'a> SegmentDecoder<'a> {
    /// Creates a decoder of the whole segment `bytes`, written in the present version.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::of_version(VERSION, bytes)
    }

    /// Creates a decoder of the whole segment `bytes`, written in this version of the format.
    pub fn of_version(version: u16, bytes: &'a [u8]) -> Self {
        Self {
            input: Input {
                bytes: ByteReader::new(bytes),
                version,
                previous_time_ns: 0,
                previous_forward_ref: ForwardRef::NONE,
            },
            len: bytes.len(),
            parks: ParkState::NEW,
            locks: LockTable::new(),
        }
    }

    /// Returns the offset of the next event.
    pub fn offset(&self) -> usize {
        self.len - self.input.bytes.remaining()
    }

    /// Passes the next event to `take`, with its length in bytes; `None` at the end.
    ///
    /// Like [`next`](Iterator::next), but `take` is compiled for each of the frequent types of
    /// events. So none is moved in memory between being decoded and being used, which would take
    /// longer than to decode it.
    ///
    /// # Errors
    ///
    /// If the segment does not follow its layout; then this is its end.
    #[inline(always)]
    pub fn next_with(&mut self, take: impl TakeEvent<'a>) -> Option<Result<(), DecodeError>> {
        if self.input.bytes.is_empty() {
            return None;
        }
        let before = self.input.bytes.remaining();
        Some(self.event(before, take).map_err(|cause| {
            self.input.bytes = ByteReader::new(&[]);
            DecodeError {
                offset: self.len - before,
                cause,
            }
        }))
    }

    #[inline(always)]
    fn event(&mut self, before: usize, take: impl TakeEvent<'a>) -> Result<(), Malformed> {
        let type_byte = self.input.bytes.byte()?;
        let kind = type_byte & 0x0f;
        let argument = type_byte >> 4;
        match kind {
            kind::ENTER..=kind::UNPARK_USUAL => self.lock_event(kind, argument, before, take),
            kind::OTHER => {
                let event = self.input.other_event(type_byte, argument)?;
                take.take(&event, before - self.input.bytes.remaining());
                Ok(())
            }
            _ => Err(Malformed::UnknownEvent(type_byte)),
        }
    }

    #[inline(always)]
    fn lock_event(
        &mut self,
        kind: u8,
        argument: u8,
        before: usize,
        take: impl TakeEvent<'a>,
    ) -> Result<(), Malformed> {
        let Self { input, locks, .. } = self;
        let (lock, state) = if argument == NEW_LOCK {
            let lock = input.bytes.number()?;
            (lock, locks.insert(lock))
        } else {
            let known = locks.entry_mut(argument);
            known.ok_or(Malformed::UnusedSlot(argument))?
        };
        let sequence = state.sequence.wrapping_add(input.bytes.varint()?);
        state.sequence = sequence;
        if kind == kind::LOST_NUMBERS {
            let event = Event::LostNumbers(LostNumbers {
                lock,
                first: sequence,
                count: input.lost_count(sequence)?,
            });
            take.take(&event, before - input.bytes.remaining());
            return Ok(());
        }
        let time_ns = input.time_ns()?;
        match kind {
            kind::ENTER | kind::ENTER_SAME_CHAIN | kind::ENTER_AFTER_WAIT => {
                let after_wait = kind == kind::ENTER_AFTER_WAIT;
                let chain = match kind {
                    kind::ENTER_SAME_CHAIN => state.enter_chain,
                    _ => input.bytes.number()?,
                };
                if !after_wait {
                    state.enter_chain = chain;
                }
                let event = Event::ContendedEnter(ContendedEnter {
                    lock,
                    sequence,
                    time_ns,
                    chain,
                    after_wait,
                    owner: input.owner()?,
                });
                take.take(&event, before - input.bytes.remaining());
                Ok(())
            }
            kind::ENTERED | kind::ENTERED_SAFEPOINT => {
                let event = Event::ContendedEntered(ContendedEntered {
                    lock,
                    sequence,
                    time_ns,
                    safepoint_ns: match kind {
                        kind::ENTERED => 0,
                        _ => input.bytes.varint()?,
                    },
                });
                take.take(&event, before - input.bytes.remaining());
                Ok(())
            }
            kind::PARK_BEGIN..=kind::UNPARK_USUAL => {
                let numbers = (lock, sequence, time_ns);
                park::decode(
                    (input.version, kind),
                    numbers,
                    &mut input.bytes,
                    &mut self.parks,
                    state,
                    before,
                    take,
                )
            }
            _ => {
                let chain = match kind {
                    kind::EXIT_FORWARD => ChainRef::Forward(input.forward_ref()?),
                    kind::EXIT => {
                        state.exit_chain = input.bytes.number()?;
                        ChainRef::Chain(state.exit_chain)
                    }
                    _ => ChainRef::Chain(state.exit_chain),
                };
                let event = Event::ContendedExit(ContendedExit {
                    lock,
                    sequence,
                    time_ns,
                    chain,
                    hold: input.hold()?,
                });
                take.take(&event, before - input.bytes.remaining());
                Ok(())
            }
        }
    }
}

impl<'a> Input<'a> {
    fn other_event(&mut self, type_byte: u8, argument: u8) -> Result<Event<'a>, Malformed> {
        Ok(match argument {
            other::LOCK_DESCRIPTION => Event::LockDescription(LockDescription {
                lock: self.bytes.number()?,
                class: self.bytes.number()?,
                mirrored_class: self.bytes.number()?,
                identity_hash: self.bytes.number()?,
                monitor_address: self.bytes.number()?,
            }),
            other::LOCK_RETIRED => Event::LockRetired(LockRetired {
                lock: self.bytes.number()?,
                sequence: self.bytes.varint()?,
            }),
            other::FORWARD_RESOLVED => Event::ForwardResolved(ForwardResolved {
                forward_ref: self.forward_ref()?,
                chain: self.bytes.number()?,
            }),
            other::THREAD_START => Event::ThreadStart(ThreadStart {
                time_ns: self.time_ns()?,
                java_id: self.bytes.number()?,
                name: self.bytes.text()?,
                stack: self.stack()?,
            }),
            other::THREAD_RENAME => Event::ThreadRename(ThreadRename {
                java_id: self.bytes.number()?,
                name: self.bytes.text()?,
            }),
            other::THREAD_END => Event::ThreadEnd(ThreadEnd {
                time_ns: self.time_ns()?,
            }),
            other::CLASS | other::SUBCLASS => Event::Class(ClassDescription {
                super_class: if argument == other::CLASS {
                    ClassId::NONE
                } else {
                    self.bytes.number()?
                },
                class: self.bytes.number()?,
                loader: self.bytes.number()?,
                name: self.bytes.text()?,
                source_file: self.bytes.text()?,
                loader_class: self.bytes.text()?,
            }),
            other::METHOD => Event::Method(MethodDescription {
                method: self.bytes.number()?,
                class: self.bytes.number()?,
                name: self.bytes.text()?,
                signature: self.bytes.text()?,
            }),
            other::CHAIN => self.chain()?,
            other::LOADER_UNLOAD => Event::LoaderUnload(LoaderUnload {
                loader: self.bytes.number()?,
                time_ns: self.time_ns()?,
            }),
            other::CHAIN_RETIRED => Event::ChainRetired(ChainRetired {
                chain: self.bytes.number()?,
            }),
            other::METHOD_RETIRED => Event::MethodRetired(MethodRetired {
                method: self.bytes.number()?,
            }),
            other::LOST_EVENTS => Event::LostEvents(LostEvents {
                events: self.bytes.number()?,
            }),
            other::OWNER_SAMPLE if self.version >= 5 => {
                let time_ns = self.time_ns()?;
                Event::OwnerSample(OwnerSample {
                    time_ns,
                    owner: self.bytes.number()?,
                    chain: self.bytes.number()?,
                    since_ns: time_ns.wrapping_sub(self.bytes.varint()?),
                    interval_ns: self.bytes.varint()?,
                })
            }
            other::LOCK_SITE if self.version >= 6 => Event::LockSite(LockSite {
                class: self.bytes.number()?,
                identity_hash: self.bytes.number()?,
                chain: self.bytes.number()?,
            }),
            _ => return Err(Malformed::UnknownEvent(type_byte)),
        })
    }

    fn chain(&mut self) -> Result<Event<'a>, Malformed> {
        /// Three numbers of at least one byte.
        const SHORTEST_FRAME: u64 = 3;

        let chain = self.bytes.number()?;
        let count = self.bytes.varint()?;
        let truncated = count % 2 == 1;
        let count = count / 2;
        // Frames that the bytes cannot hold must not be allocated either.
        if count > self.bytes.remaining() as u64 / SHORTEST_FRAME {
            return Err(Malformed::Truncated);
        }
        let mut frames = Vec::with_capacity(count as usize);
        for _ in 0..count {
            frames.push(Frame {
                method: self.bytes.number()?,
                bci: minus_one(self.bytes.number()?),
                line: minus_one(self.bytes.number()?),
            });
        }
        Ok(Event::Chain(ChainDescription {
            chain,
            frames,
            truncated,
        }))
    }

    /// Returns whether the version records owners in enters, holds in exits, stacks of threads, and
    /// the length of losses.
    fn tells_ownership(&self) -> bool {
        self.version >= 4
    }

    #[inline(always)]
    fn hold(&mut self) -> Result<Hold, Malformed> {
        if !self.tells_ownership() {
            return Ok(Hold::NotKnown);
        }
        Hold::decode(&mut self.bytes)
    }

    /// Reads the number of consecutive lost numbers from `first` on.
    fn lost_count(&mut self, first: u64) -> Result<u64, Malformed> {
        if !self.tells_ownership() {
            return Ok(1);
        }
        let following = self.bytes.varint()?;
        first.checked_add(following).ok_or(Malformed::TooLarge)?;
        following.checked_add(1).ok_or(Malformed::TooLarge)
    }

    #[inline(always)]
    fn owner(&mut self) -> Result<LockOwner, Malformed> {
        if !self.tells_ownership() {
            return Ok(LockOwner::NotKnown);
        }
        Ok(match self.bytes.varint()? {
            owner::NOT_KNOWN => LockOwner::NotKnown,
            owner::ON_STACK => LockOwner::OnStack(self.bytes.varint()?),
            thread => {
                let thread = u32::try_from(thread - owner::BEFORE_THREADS);
                LockOwner::Thread(ThreadId(thread.map_err(|_| Malformed::TooLarge)?))
            }
        })
    }

    fn stack(&mut self) -> Result<StackRange, Malformed> {
        if !self.tells_ownership() {
            return Ok(StackRange::default());
        }
        Ok(StackRange {
            lowest: self.bytes.varint()?,
            size: self.bytes.varint()?,
        })
    }

    #[inline]
    fn time_ns(&mut self) -> Result<u64, Malformed> {
        self.previous_time_ns = self.previous_time_ns.wrapping_add(self.bytes.varint()?);
        Ok(self.previous_time_ns)
    }

    fn forward_ref(&mut self) -> Result<ForwardRef, Malformed> {
        let difference: u64 = self.bytes.varint()?;
        self.previous_forward_ref =
            ForwardRef(self.previous_forward_ref.0.wrapping_add(difference));
        Ok(self.previous_forward_ref)
    }
}

struct Keep<'k, 'a>(&'k mut Option<Event<'a>>);

impl<'a> TakeEvent<'a> for Keep<'_, 'a> {
    #[inline(always)]
    fn take(self, event: &Event<'a>, _bytes: usize) {
        *self.0 = Some(event.clone());
    }
}

impl<'a> Iterator for SegmentDecoder<'a> {
    type Item = Result<Event<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut next = None;
        let taken = self.next_with(Keep(&mut next))?;
        taken.map(|()| next).transpose()
    }
}

impl std::iter::FusedIterator for SegmentDecoder<'_> {}

fn minus_one(value: u32) -> i32 {
    value.wrapping_sub(1) as i32
}
