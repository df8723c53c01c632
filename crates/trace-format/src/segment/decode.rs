//! Decoding of a segment's events.

use super::lock_table::{LockState, LockTable, NEW_LOCK};
use super::park::{self, ParkState};
use super::{kind, other, owner};
use crate::event::{
    ChainDescription, ChainRef, ChainRetired, ClassDescription, ContendedEnter, ContendedEntered,
    ContendedExit, Event, ForwardResolved, Frame, Hold, LoaderUnload, LockDescription, LockOwner,
    LockRetired, LostEvents, LostNumbers, MethodDescription, MethodRetired, StackRange, ThreadEnd,
    ThreadRename, ThreadStart,
};
use crate::file::VERSION;
use crate::id::{ClassId, ForwardRef, ThreadId};
use crate::wire::ByteReader;

/// A segment or a payload is not as its layout demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed at byte {offset}: {cause}")]
pub struct DecodeError {
    /// Where the malformed item begins, from the start of what is decoded.
    pub offset: usize,
    /// What is wrong with it.
    pub cause: Malformed,
}

/// What can be wrong with an encoded item.
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

/// Iterates over the events of a segment; ends after the first error, because
/// what follows cannot be understood.
#[derive(Clone, Debug)]
pub struct SegmentDecoder<'a> {
    input: ByteReader<'a>,
    len: usize,
    version: u16,
    previous_time_ns: u64,
    previous_forward_ref: ForwardRef,
    parks: ParkState,
    locks: LockTable,
}

impl<'a> SegmentDecoder<'a> {
    /// Creates a decoder of the whole segment `bytes`, written in the present version.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::of_version(VERSION, bytes)
    }

    /// A decoder of the whole segment `bytes`, written in this version of the
    /// format.
    pub fn of_version(version: u16, bytes: &'a [u8]) -> Self {
        Self {
            input: ByteReader::new(bytes),
            len: bytes.len(),
            version,
            previous_time_ns: 0,
            previous_forward_ref: ForwardRef::NONE,
            parks: ParkState::NEW,
            locks: LockTable::new(),
        }
    }

    /// Returns where the next event begins.
    pub fn offset(&self) -> usize {
        self.len - self.input.remaining()
    }

    #[inline]
    fn event(&mut self) -> Result<Event<'a>, Malformed> {
        let type_byte = self.input.byte()?;
        let kind = type_byte & 0x0f;
        let argument = type_byte >> 4;
        match kind {
            kind::ENTER..=kind::UNPARK_USUAL => self.lock_event(kind, argument),
            kind::OTHER => self.other_event(type_byte, argument),
            _ => Err(Malformed::UnknownEvent(type_byte)),
        }
    }

    #[inline]
    fn lock_event(&mut self, kind: u8, argument: u8) -> Result<Event<'a>, Malformed> {
        let slot = (argument != NEW_LOCK).then_some(argument);
        let (lock, mut state) = match slot {
            Some(slot) => self.locks.entry(slot).ok_or(Malformed::UnusedSlot(slot))?,
            None => (self.input.number()?, LockState::default()),
        };
        let sequence = state.sequence.wrapping_add(self.input.varint()?);
        state.sequence = sequence;
        let event = if kind == kind::LOST_NUMBERS {
            Event::LostNumbers(LostNumbers {
                lock,
                first: sequence,
                count: self.lost_count(sequence)?,
            })
        } else {
            let time_ns = self.time_ns()?;
            match kind {
                kind::ENTER | kind::ENTER_SAME_CHAIN => {
                    if kind == kind::ENTER {
                        state.enter_chain = self.input.number()?;
                    }
                    let chain = state.enter_chain;
                    Event::ContendedEnter(ContendedEnter {
                        lock,
                        sequence,
                        time_ns,
                        chain,
                        after_wait: false,
                        owner: self.owner()?,
                    })
                }
                kind::ENTER_AFTER_WAIT => {
                    let chain = self.input.number()?;
                    Event::ContendedEnter(ContendedEnter {
                        lock,
                        sequence,
                        time_ns,
                        chain,
                        after_wait: true,
                        owner: self.owner()?,
                    })
                }
                kind::ENTERED => Event::ContendedEntered(ContendedEntered {
                    lock,
                    sequence,
                    time_ns,
                    safepoint_ns: 0,
                }),
                kind::ENTERED_SAFEPOINT => {
                    let safepoint_ns = self.input.varint()?;
                    Event::ContendedEntered(ContendedEntered {
                        lock,
                        sequence,
                        time_ns,
                        safepoint_ns,
                    })
                }
                kind::PARK_BEGIN..=kind::UNPARK_USUAL => {
                    let numbers = (lock, sequence, time_ns);
                    park::decode(kind, numbers, &mut self.input, &mut self.parks, &mut state)?
                }
                kind::EXIT_FORWARD => {
                    let chain = ChainRef::Forward(self.forward_ref()?);
                    Event::ContendedExit(ContendedExit {
                        lock,
                        sequence,
                        time_ns,
                        chain,
                        hold: self.hold()?,
                    })
                }
                _ => {
                    if kind == kind::EXIT {
                        state.exit_chain = self.input.number()?;
                    }
                    let chain = ChainRef::Chain(state.exit_chain);
                    Event::ContendedExit(ContendedExit {
                        lock,
                        sequence,
                        time_ns,
                        chain,
                        hold: self.hold()?,
                    })
                }
            }
        };
        self.locks.update(slot, lock, state);
        Ok(event)
    }

    fn other_event(&mut self, type_byte: u8, argument: u8) -> Result<Event<'a>, Malformed> {
        Ok(match argument {
            other::LOCK_DESCRIPTION => Event::LockDescription(LockDescription {
                lock: self.input.number()?,
                class: self.input.number()?,
                mirrored_class: self.input.number()?,
                identity_hash: self.input.number()?,
                monitor_address: self.input.number()?,
            }),
            other::LOCK_RETIRED => Event::LockRetired(LockRetired {
                lock: self.input.number()?,
                sequence: self.input.varint()?,
            }),
            other::FORWARD_RESOLVED => Event::ForwardResolved(ForwardResolved {
                forward_ref: self.forward_ref()?,
                chain: self.input.number()?,
            }),
            other::THREAD_START => Event::ThreadStart(ThreadStart {
                time_ns: self.time_ns()?,
                java_id: self.input.number()?,
                name: self.input.text()?,
                stack: self.stack()?,
            }),
            other::THREAD_RENAME => Event::ThreadRename(ThreadRename {
                java_id: self.input.number()?,
                name: self.input.text()?,
            }),
            other::THREAD_END => Event::ThreadEnd(ThreadEnd {
                time_ns: self.time_ns()?,
            }),
            other::CLASS | other::SUBCLASS => Event::Class(ClassDescription {
                super_class: if argument == other::CLASS {
                    ClassId::NONE
                } else {
                    self.input.number()?
                },
                class: self.input.number()?,
                loader: self.input.number()?,
                name: self.input.text()?,
                source_file: self.input.text()?,
                loader_class: self.input.text()?,
            }),
            other::METHOD => Event::Method(MethodDescription {
                method: self.input.number()?,
                class: self.input.number()?,
                name: self.input.text()?,
                signature: self.input.text()?,
            }),
            other::CHAIN => self.chain()?,
            other::LOADER_UNLOAD => Event::LoaderUnload(LoaderUnload {
                loader: self.input.number()?,
                time_ns: self.time_ns()?,
            }),
            other::CHAIN_RETIRED => Event::ChainRetired(ChainRetired {
                chain: self.input.number()?,
            }),
            other::METHOD_RETIRED => Event::MethodRetired(MethodRetired {
                method: self.input.number()?,
            }),
            other::LOST_EVENTS => Event::LostEvents(LostEvents {
                events: self.input.number()?,
            }),
            _ => return Err(Malformed::UnknownEvent(type_byte)),
        })
    }

    fn chain(&mut self) -> Result<Event<'a>, Malformed> {
        /// Three numbers of at least one byte.
        const SHORTEST_FRAME: u64 = 3;

        let chain = self.input.number()?;
        let count = self.input.varint()?;
        let truncated = count % 2 == 1;
        let count = count / 2;
        // What the bytes cannot hold must not be allocated either.
        if count > self.input.remaining() as u64 / SHORTEST_FRAME {
            return Err(Malformed::Truncated);
        }
        let mut frames = Vec::with_capacity(count as usize);
        for _ in 0..count {
            frames.push(Frame {
                method: self.input.number()?,
                bci: minus_one(self.input.number()?),
                line: minus_one(self.input.number()?),
            });
        }
        Ok(Event::Chain(ChainDescription {
            chain,
            frames,
            truncated,
        }))
    }

    /// Enters name the owner, exits the hold, threads their stacks, and losses how many
    /// numbers they are.
    fn tells_ownership(&self) -> bool {
        self.version >= 4
    }

    #[inline]
    fn hold(&mut self) -> Result<Hold, Malformed> {
        if !self.tells_ownership() {
            return Ok(Hold::NotKnown);
        }
        Hold::decode(&mut self.input)
    }

    /// How many numbers are lost from `first` on.
    fn lost_count(&mut self, first: u64) -> Result<u64, Malformed> {
        if !self.tells_ownership() {
            return Ok(1);
        }
        let following = self.input.varint()?;
        first.checked_add(following).ok_or(Malformed::TooLarge)?;
        following.checked_add(1).ok_or(Malformed::TooLarge)
    }

    #[inline]
    fn owner(&mut self) -> Result<LockOwner, Malformed> {
        if !self.tells_ownership() {
            return Ok(LockOwner::NotKnown);
        }
        Ok(match self.input.varint()? {
            owner::NOT_KNOWN => LockOwner::NotKnown,
            owner::ON_STACK => LockOwner::OnStack(self.input.varint()?),
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
            lowest: self.input.varint()?,
            size: self.input.varint()?,
        })
    }

    #[inline]
    fn time_ns(&mut self) -> Result<u64, Malformed> {
        self.previous_time_ns = self.previous_time_ns.wrapping_add(self.input.varint()?);
        Ok(self.previous_time_ns)
    }

    fn forward_ref(&mut self) -> Result<ForwardRef, Malformed> {
        let difference: u64 = self.input.varint()?;
        self.previous_forward_ref =
            ForwardRef(self.previous_forward_ref.0.wrapping_add(difference));
        Ok(self.previous_forward_ref)
    }
}

impl<'a> Iterator for SegmentDecoder<'a> {
    type Item = Result<Event<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_empty() {
            return None;
        }
        let offset = self.offset();
        Some(self.event().map_err(|cause| {
            self.input = ByteReader::new(&[]);
            DecodeError { offset, cause }
        }))
    }
}

impl std::iter::FusedIterator for SegmentDecoder<'_> {}

fn minus_one(value: u32) -> i32 {
    value.wrapping_sub(1) as i32
}
