//! Encoding of events into a buffer.

use std::mem;

use super::codes::{kind, other, owner};
use super::lock_table::{LockState, LockTable, NEW_LOCK};
use super::park::ParkState;
use crate::error::DoesNotFit;
use crate::event::{
    ChainDescription, ChainRef, ChainRetired, ClassDescription, ContendedEnter, ContendedExit,
    Event, ForwardResolved, Frame, Hold, LoaderUnload, LockDescription, LockOwner, LockRetired,
    LockSite, LostEvents, MethodDescription, MethodRetired, OwnerSample, ThreadEnd, ThreadRename,
    ThreadStart,
};
use crate::id::{ChainId, ForwardRef, LockId, ThreadId};
use crate::wire::ByteWriter;

/// Encodes events into memory that the caller owns.
///
/// The encoder holds only the state of the encoding. Each call passes the same
/// memory and appends one event to its first [`len`](Self::len) bytes. After
/// [`encode_exit`](Self::encode_exit), [`flush`](Self::flush) makes them whole.
#[derive(Clone, Debug)]
pub struct SegmentEncoder {
    len: usize,
    events: u32,
    contains_metadata: bool,
    previous_time_ns: u64,
    previous_forward_ref: ForwardRef,
    parks: ParkState,
    locks: LockTable,
    last_exit: Option<LastExit>,
}

/// An exit, as long as it is the last event of the segment.
#[derive(Clone, Copy, Debug)]
struct LastExit {
    exit: ContendedExit,
    /// It follows the event before it, also an exit, in the order of the lock.
    follows: bool,
    kind: u8,
    /// Offset of its time, and the base of that difference.
    tail: usize,
    previous_time_ns: u64,
    /// Others were added to it since it was written.
    has_grown: bool,
}

/// The end of a segment that is not [flushed](SegmentEncoder::flush): the last event from some byte
/// on, with the holds added to it since it was written.
///
/// Plain numbers, so that noting them takes no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrownTail {
    /// Number of final bytes of the segment.
    pub at: u32,
    /// The numbers that follow them: the time as a difference, the chain + 1 or 0 for none, the
    /// number of holds, the sum of their durations, and their span.
    pub numbers: [u64; Self::NUMBERS],
}

impl GrownTail {
    /// Number of numbers.
    pub const NUMBERS: usize = 5;

    /// Returns the bytes that follow the first [`at`](Self::at) of the segment; `None` if no
    /// encoder has such numbers.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let [time_difference, chain, holds, held_ns, span_ns] = self.numbers;
        let hold = Hold::Several {
            holds: u16::try_from(holds).ok()?,
            held_ns,
            span_ns,
        };
        let mut bytes = vec![0; MAX_EXIT_TAIL_LEN];
        let mut out = ByteWriter::append(&mut bytes, 0);
        out.varint(time_difference).ok()?;
        if let Some(chain) = chain.checked_sub(1) {
            out.varint(chain).ok()?;
        }
        hold.encode(&mut out).ok()?;
        let len = out.len();
        bytes.truncate(len);
        Some(bytes)
    }
}

/// Greatest length of an exit from its time on.
const MAX_EXIT_TAIL_LEN: usize = 64;

impl Default for SegmentEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl SegmentEncoder {
    /// Creates an encoder for an empty segment.
    pub const fn new() -> Self {
        Self {
            len: 0,
            events: 0,
            contains_metadata: false,
            previous_time_ns: 0,
            previous_forward_ref: ForwardRef::NONE,
            parks: ParkState::NEW,
            locks: LockTable::new(),
            last_exit: None,
        }
    }

    /// Returns the length of the segment in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no event is written yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of events in the segment.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// Returns whether an event of the segment [is
    /// metadata](Event::is_metadata).
    pub fn contains_metadata(&self) -> bool {
        self.contains_metadata
    }

    /// Appends `event` to the segment in `bytes`.
    ///
    /// # Errors
    ///
    /// [`DoesNotFit`] if the event does not fit into `bytes`.
    pub fn encode(&mut self, bytes: &mut [u8], event: &Event<'_>) -> Result<(), DoesNotFit> {
        self.flush(bytes);
        match *event {
            Event::ContendedEnter(ref enter) => self.encode_enter(bytes, enter)?,
            Event::ContendedEntered(entered) => {
                let numbers = (entered.lock, entered.sequence, Some(entered.time_ns));
                self.lock_event(bytes, numbers, |_| match entered.safepoint_ns {
                    0 => (kind::ENTERED, None),
                    safepoint_ns => (kind::ENTERED_SAFEPOINT, Some(safepoint_ns)),
                })?;
            }
            Event::ContendedExit(ref exit) => return self.append_exit(bytes, exit),
            Event::ParkBegin(ref park) => {
                let parks = self.parks;
                self.park_event(
                    bytes,
                    (park.domain, park.sequence, park.time_ns),
                    |state| park.kind(parks, state),
                    |out, state| park.encode(out, state),
                    |state| park.remember(state),
                )?;
                self.parks = parks.parked(park);
            }
            Event::ParkEnd(ref park) => {
                let parks = self.parks;
                self.park_event(
                    bytes,
                    (park.domain, park.sequence, park.time_ns),
                    |_| park.kind(parks),
                    |out, _| park.encode(out),
                    |_| (),
                )?;
                self.parks = parks.ended(park);
            }
            Event::Unpark(ref unpark) => {
                self.park_event(
                    bytes,
                    (unpark.domain, unpark.sequence, unpark.time_ns),
                    |state| unpark.kind(state),
                    |out, state| unpark.encode(out, state),
                    |state| unpark.remember(state),
                )?;
            }
            Event::ExclusiveRelease(ref release) => {
                self.park_event(
                    bytes,
                    (release.domain, release.sequence, release.time_ns),
                    |_| kind::UNPARK,
                    |out, state| release.encode(out, state),
                    |state| release.remember(state),
                )?;
            }
            Event::LostNumbers(lost) => {
                let numbers = (lost.lock, lost.first, None);
                let following = lost.count.saturating_sub(1);
                self.lock_event(bytes, numbers, |_| (kind::LOST_NUMBERS, Some(following)))?;
            }
            Event::LockDescription(LockDescription {
                lock,
                class,
                mirrored_class,
                identity_hash,
                monitor_address,
            }) => {
                self.other_event(bytes, other::LOCK_DESCRIPTION, |out| {
                    out.varint(lock)?;
                    out.varint(class)?;
                    out.varint(mirrored_class)?;
                    out.varint(identity_hash)?;
                    out.varint(monitor_address)
                })?;
            }
            Event::LockRetired(LockRetired { lock, sequence }) => {
                self.other_event(bytes, other::LOCK_RETIRED, |out| {
                    out.varint(lock)?;
                    out.varint(sequence)
                })?;
            }
            Event::ForwardResolved(ForwardResolved { forward_ref, chain }) => {
                let difference = forward_ref.0.wrapping_sub(self.previous_forward_ref.0);
                self.other_event(bytes, other::FORWARD_RESOLVED, |out| {
                    out.varint(difference)?;
                    out.varint(chain)
                })?;
                self.previous_forward_ref = forward_ref;
            }
            Event::ThreadStart(ThreadStart {
                time_ns,
                java_id,
                name,
                stack,
            }) => {
                let difference = time_ns.wrapping_sub(self.previous_time_ns);
                self.other_event(bytes, other::THREAD_START, |out| {
                    out.varint(difference)?;
                    out.varint(java_id)?;
                    out.text(name)?;
                    out.varint(stack.lowest)?;
                    out.varint(stack.size)
                })?;
                self.previous_time_ns = time_ns;
            }
            Event::ThreadRename(ThreadRename { java_id, name }) => {
                self.other_event(bytes, other::THREAD_RENAME, |out| {
                    out.varint(java_id)?;
                    out.text(name)
                })?;
            }
            Event::ThreadEnd(ThreadEnd { time_ns }) => {
                let difference = time_ns.wrapping_sub(self.previous_time_ns);
                self.other_event(bytes, other::THREAD_END, |out| out.varint(difference))?;
                self.previous_time_ns = time_ns;
            }
            Event::Class(ClassDescription {
                class,
                super_class,
                loader,
                name,
                source_file,
                loader_class,
            }) => {
                let argument = if super_class.is_none() {
                    other::CLASS
                } else {
                    other::SUBCLASS
                };
                self.other_event(bytes, argument, |out| {
                    if !super_class.is_none() {
                        out.varint(super_class)?;
                    }
                    out.varint(class)?;
                    out.varint(loader)?;
                    out.text(name)?;
                    out.text(source_file)?;
                    out.text(loader_class)
                })?;
            }
            Event::Method(MethodDescription {
                method,
                class,
                name,
                signature,
            }) => {
                self.other_event(bytes, other::METHOD, |out| {
                    out.varint(method)?;
                    out.varint(class)?;
                    out.text(name)?;
                    out.text(signature)
                })?;
            }
            Event::Chain(ChainDescription {
                chain,
                ref frames,
                truncated,
            }) => {
                return self.encode_chain(bytes, chain, frames, truncated);
            }
            Event::LoaderUnload(LoaderUnload { loader, time_ns }) => {
                let difference = time_ns.wrapping_sub(self.previous_time_ns);
                self.other_event(bytes, other::LOADER_UNLOAD, |out| {
                    out.varint(loader)?;
                    out.varint(difference)
                })?;
                self.previous_time_ns = time_ns;
            }
            Event::ChainRetired(ChainRetired { chain }) => {
                self.other_event(bytes, other::CHAIN_RETIRED, |out| out.varint(chain))?;
            }
            Event::MethodRetired(MethodRetired { method }) => {
                self.other_event(bytes, other::METHOD_RETIRED, |out| out.varint(method))?;
            }
            Event::OwnerSample(OwnerSample {
                time_ns,
                owner,
                chain,
                since_ns,
                interval_ns,
            }) => {
                let difference = time_ns.wrapping_sub(self.previous_time_ns);
                self.other_event(bytes, other::OWNER_SAMPLE, |out| {
                    out.varint(difference)?;
                    out.varint(owner)?;
                    out.varint(chain)?;
                    out.varint(time_ns.wrapping_sub(since_ns))?;
                    out.varint(interval_ns)
                })?;
                self.previous_time_ns = time_ns;
            }
            Event::LockSite(LockSite {
                class,
                identity_hash,
                chain,
            }) => {
                self.other_event(bytes, other::LOCK_SITE, |out| {
                    out.varint(class)?;
                    out.varint(identity_hash)?;
                    out.varint(chain)
                })?;
            }
            Event::LostEvents(LostEvents { events }) => {
                self.other_event(bytes, other::LOST_EVENTS, |out| out.varint(events))?;
            }
        }
        self.contains_metadata |= event.is_metadata();
        Ok(())
    }

    /// Appends an exit, or adds it to the last event of the segment if that is an exit which [can
    /// stand for both](ContendedExit::and).
    ///
    /// Added exits are written with the next event, or by [`flush`](Self::flush): a thread adds
    /// hundreds in a row, and this makes each a few additions.
    ///
    /// # Errors
    ///
    /// [`DoesNotFit`] if the event does not fit into `bytes`.
    #[inline]
    pub fn encode_exit(
        &mut self,
        bytes: &mut [u8],
        exit: &ContendedExit,
    ) -> Result<(), DoesNotFit> {
        if let Some(last) = &mut self.last_exit
            && last.follows
            && bytes.len() >= last.tail.saturating_add(MAX_EXIT_TAIL_LEN)
            && let Some(both) = last.exit.and(exit)
        {
            last.exit = both;
            last.has_grown = true;
            self.previous_time_ns = both.time_ns;
            return Ok(());
        }
        self.flush(bytes);
        self.append_exit(bytes, exit)
    }

    /// Returns the end of the segment, if [`flush`](Self::flush) would change it.
    #[inline]
    pub fn grown_tail(&self) -> Option<GrownTail> {
        let last = self.last_exit.as_ref().filter(|last| last.has_grown)?;
        let Hold::Several {
            holds,
            held_ns,
            span_ns,
        } = last.exit.hold
        else {
            return None;
        };
        let chain = match last.exit.chain {
            ChainRef::Chain(chain) if last.kind == kind::EXIT => u64::from(chain) + 1,
            _ => 0,
        };
        Some(GrownTail {
            at: last.tail as u32,
            numbers: [
                last.exit.time_ns.wrapping_sub(last.previous_time_ns),
                chain,
                holds.into(),
                held_ns,
                span_ns,
            ],
        })
    }

    /// Completes the segment in `bytes`, the memory of the calls before.
    #[inline]
    pub fn flush(&mut self, bytes: &mut [u8]) {
        if let Some(mut last) = self.last_exit
            && mem::take(&mut last.has_grown)
        {
            self.rewrite_tail(bytes, last);
        }
    }

    /// Rewrites the last exit with its current numbers.
    fn rewrite_tail(&mut self, bytes: &mut [u8], last: LastExit) {
        let mut out = ByteWriter::append(bytes, last.tail);
        // The space was checked when the others were added.
        if self.exit_tail(&mut out, &last).is_ok() {
            self.len = out.len();
        }
        self.last_exit = Some(last);
    }

    #[inline]
    fn append_exit(&mut self, bytes: &mut [u8], exit: &ContendedExit) -> Result<(), DoesNotFit> {
        let (slot, mut state) = self.locks.slot_and_state(exit.lock);
        let kind = match exit.chain {
            ChainRef::Forward(_) => kind::EXIT_FORWARD,
            ChainRef::Chain(chain) if mem::replace(&mut state.exit_chain, chain) == chain => {
                kind::EXIT_SAME_CHAIN
            }
            ChainRef::Chain(_) => kind::EXIT,
        };
        let mut out = ByteWriter::append(bytes, self.len);
        self.numbers(&mut out, kind, slot, exit.lock, exit.sequence, &mut state)?;
        let before = self.last_exit;
        let last = LastExit {
            exit: *exit,
            follows: before.is_some_and(|before| before.exit.is_followed_by(exit)),
            kind,
            tail: out.len(),
            previous_time_ns: self.previous_time_ns,
            has_grown: false,
        };
        self.exit_tail(&mut out, &last)?;
        self.commit(out.len(), Some(exit.time_ns), slot, exit.lock, state);
        if let ChainRef::Forward(target) = exit.chain {
            self.previous_forward_ref = target;
        }
        self.last_exit = Some(last);
        Ok(())
    }

    fn exit_tail(&self, out: &mut ByteWriter<'_>, last: &LastExit) -> Result<(), DoesNotFit> {
        let LastExit { exit, kind, .. } = last;
        out.varint(exit.time_ns.wrapping_sub(last.previous_time_ns))?;
        match exit.chain {
            ChainRef::Forward(target) => {
                out.varint(target.0.wrapping_sub(self.previous_forward_ref.0))?;
            }
            ChainRef::Chain(chain) if *kind == kind::EXIT => out.varint(chain)?,
            ChainRef::Chain(_) => {}
        }
        exit.hold.encode(out)
    }

    /// Appends an [`Event::Chain`] whose frames are elsewhere in memory.
    ///
    /// # Errors
    ///
    /// [`DoesNotFit`] if the event does not fit into `bytes`.
    pub fn encode_chain(
        &mut self,
        bytes: &mut [u8],
        chain: ChainId,
        frames: &[Frame],
        truncated: bool,
    ) -> Result<(), DoesNotFit> {
        self.flush(bytes);
        self.other_event(bytes, other::CHAIN, |out| {
            out.varint(chain)?;
            out.varint(frames.len() as u64 * 2 + u64::from(truncated))?;
            for frame in frames {
                out.varint(frame.method)?;
                out.varint(plus_one(frame.bci))?;
                out.varint(plus_one(frame.line))?;
            }
            Ok(())
        })?;
        self.contains_metadata = true;
        Ok(())
    }

    #[inline]
    fn encode_enter(&mut self, bytes: &mut [u8], enter: &ContendedEnter) -> Result<(), DoesNotFit> {
        let (slot, mut state) = self.locks.slot_and_state(enter.lock);
        let kind = if enter.after_wait {
            kind::ENTER_AFTER_WAIT
        } else if mem::replace(&mut state.enter_chain, enter.chain) == enter.chain {
            kind::ENTER_SAME_CHAIN
        } else {
            kind::ENTER
        };
        let mut out = ByteWriter::append(bytes, self.len);
        self.numbers(&mut out, kind, slot, enter.lock, enter.sequence, &mut state)?;
        out.varint(enter.time_ns.wrapping_sub(self.previous_time_ns))?;
        if kind != kind::ENTER_SAME_CHAIN {
            out.varint(enter.chain)?;
        }
        match enter.owner {
            LockOwner::NotKnown | LockOwner::Thread(ThreadId::NONE) => {
                out.varint(owner::NOT_KNOWN)?
            }
            LockOwner::Thread(thread) => out.varint(u64::from(thread.0) + owner::BEFORE_THREADS)?,
            LockOwner::OnStack(address) => {
                out.varint(owner::ON_STACK)?;
                out.varint(address)?;
            }
        }
        self.commit(out.len(), Some(enter.time_ns), slot, enter.lock, state);
        Ok(())
    }

    /// Appends an event with a slot of the lock table. `describe` updates the
    /// lock's state and returns the kind and the values at the end.
    #[inline]
    fn lock_event(
        &mut self,
        bytes: &mut [u8],
        (lock, sequence, time_ns): (LockId, u64, Option<u64>),
        describe: impl FnOnce(&mut LockState) -> (u8, Option<u64>),
    ) -> Result<(), DoesNotFit> {
        let (slot, mut state) = self.locks.slot_and_state(lock);
        let (kind, last_value) = describe(&mut state);

        let mut out = ByteWriter::append(bytes, self.len);
        self.numbers(&mut out, kind, slot, lock, sequence, &mut state)?;
        if let Some(time_ns) = time_ns {
            out.varint(time_ns.wrapping_sub(self.previous_time_ns))?;
        }
        if let Some(value) = last_value {
            out.varint(value)?;
        }
        self.commit(out.len(), time_ns, slot, lock, state);
        Ok(())
    }

    /// Appends an event of a parked thread. `choose` chooses the kind, `write` writes the values
    /// after the time unless they are the usual ones, `remember` updates the domain's state.
    fn park_event(
        &mut self,
        bytes: &mut [u8],
        (domain, sequence, time_ns): (LockId, u64, u64),
        choose: impl FnOnce(&LockState) -> u8,
        write: impl FnOnce(&mut ByteWriter<'_>, &LockState) -> Result<(), DoesNotFit>,
        remember: impl FnOnce(&mut LockState),
    ) -> Result<(), DoesNotFit> {
        let (slot, mut state) = self.locks.slot_and_state(domain);
        let kind = choose(&state);
        let mut out = ByteWriter::append(bytes, self.len);
        self.numbers(&mut out, kind, slot, domain, sequence, &mut state)?;
        out.varint(time_ns.wrapping_sub(self.previous_time_ns))?;
        if !matches!(kind, kind::PARK_USUAL | kind::UNPARK_USUAL) {
            write(&mut out, &state)?;
        }
        remember(&mut state);
        self.commit(out.len(), Some(time_ns), slot, domain, state);
        Ok(())
    }

    /// Writes type, lock and sequence number.
    #[inline]
    fn numbers(
        &self,
        out: &mut ByteWriter<'_>,
        kind: u8,
        slot: Option<u8>,
        lock: LockId,
        sequence: u64,
        state: &mut LockState,
    ) -> Result<(), DoesNotFit> {
        out.byte(type_byte(kind, slot.unwrap_or(NEW_LOCK)))?;
        if slot.is_none() {
            out.varint(lock)?;
        }
        out.varint(sequence.wrapping_sub(state.sequence))?;
        state.sequence = sequence;
        Ok(())
    }

    /// Notes that the event is written: the next one builds on it.
    #[inline]
    fn commit(
        &mut self,
        len: usize,
        time_ns: Option<u64>,
        slot: Option<u8>,
        lock: LockId,
        state: LockState,
    ) {
        self.len = len;
        self.events = self.events.saturating_add(1);
        self.previous_time_ns = time_ns.unwrap_or(self.previous_time_ns);
        self.locks.update(slot, lock, state);
        self.last_exit = None;
    }

    /// Appends an event of [`kind::OTHER`] with the values that `write` writes.
    #[inline]
    fn other_event(
        &mut self,
        bytes: &mut [u8],
        argument: u8,
        write: impl FnOnce(&mut ByteWriter<'_>) -> Result<(), DoesNotFit>,
    ) -> Result<(), DoesNotFit> {
        let mut out = ByteWriter::append(bytes, self.len);
        out.byte(type_byte(kind::OTHER, argument))?;
        write(&mut out)?;
        self.len = out.len();
        self.events = self.events.saturating_add(1);
        self.last_exit = None;
        Ok(())
    }
}

fn type_byte(kind: u8, argument: u8) -> u8 {
    kind | argument << 4
}

/// Encodes the common -1 as a single byte.
fn plus_one(value: i32) -> u64 {
    u64::from((value as u32).wrapping_add(1))
}
