//! A second reader, written from the layout's description alone, agrees with the first one about
//! everything that the writer writes and about any other bytes.

mod support;

use proptest::prelude::*;
use support::{events, segment};
use trace_format::{
    Blocker, ChainDescription, ChainId, ChainRef, ChainRetired, ChunkWriter, ClassDescription,
    ClassId, ContendedEnter, ContendedEntered, ContendedExit, Event, ExclusiveRelease, ForwardRef,
    ForwardResolved, Frame, Hold, JavaThreadId, LoaderUnload, LockDescription, LockId, LockOwner,
    LockRetired, LockSite, LostEvents, LostNumbers, MethodDescription, MethodRetired, OwnerSample,
    ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Permit, SegmentDecoder, StackRange, ThreadEnd,
    ThreadId, ThreadRename, ThreadStart, Unpark, chunk,
};

/// The state of a lock, or of a domain in its place.
#[derive(Clone, Copy, Default)]
struct Slot {
    lock: u64,
    sequence: u64,
    /// Of an enter or a begin, and of an exit or an unpark.
    enter_chain: ChainId,
    exit_chain: ChainId,
    release_chain: ChainId,
    /// Class and identity hash.
    blocker: (ClassId, u32),
    /// Of an unpark.
    target: JavaThreadId,
    permit: Permit,
    waiters: u32,
    /// Of a begin in `Object.wait`.
    waits: bool,
    wait_timeout: ParkTimeout,
}

/// Reads a segment as its layout is described in `src/segment/mod.rs`.
struct Reader<'a> {
    rest: &'a [u8],
    time_ns: u64,
    forward_ref: ForwardRef,
    /// The thread's last event of this kind was a begin.
    parked: bool,
    /// The last begin was in `Object.wait`.
    waits: bool,
    /// Of the last end of a park that had one.
    permit: Permit,
    slots: Vec<Slot>,
    /// The number of locks announced.
    announced: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            time_ns: 0,
            forward_ref: ForwardRef::NONE,
            parked: false,
            waits: false,
            permit: Permit::NONE,
            slots: Vec::new(),
            announced: 0,
        }
    }

    /// Returns the events up to the first that is malformed, and whether one is.
    fn read(mut self) -> (Vec<Event<'a>>, bool) {
        let mut events = Vec::new();
        while !self.rest.is_empty() {
            match self.event() {
                Some(event) => events.push(event),
                None => return (events, true),
            }
        }
        (events, false)
    }

    fn event(&mut self) -> Option<Event<'a>> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        match (first & 15, first >> 4) {
            (kind @ 1..=14, slot) => self.lock_event(kind, slot.into()),
            (15, argument) => self.other_event(argument),
            _ => None,
        }
    }

    fn lock_event(&mut self, kind: u8, slot: usize) -> Option<Event<'a>> {
        let mut state = match slot {
            15 => Slot {
                lock: self.value()?,
                ..Slot::default()
            },
            _ => *self.slots.get(slot)?,
        };
        let lock = state.lock;
        let sequence = state.sequence.wrapping_add(self.number()?);
        state.sequence = sequence;
        let time_ns = if kind == 9 { 0 } else { self.time()? };
        let event = match kind {
            1..=3 => {
                let chain = if kind == 2 {
                    state.enter_chain
                } else {
                    self.value()?
                };
                let after_wait = kind == 3;
                if !after_wait {
                    state.enter_chain = chain;
                }
                let owner = match self.number()? {
                    0 => LockOwner::NotKnown,
                    1 => LockOwner::OnStack(self.number()?),
                    number => LockOwner::Thread(ThreadId(u32::try_from(number - 1).ok()?)),
                };
                Event::ContendedEnter(ContendedEnter {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    chain,
                    after_wait,
                    owner,
                })
            }
            4 | 5 => {
                let safepoint_ns = if kind == 4 { 0 } else { self.number()? };
                Event::ContendedEntered(ContendedEntered {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    safepoint_ns,
                })
            }
            6 | 7 => {
                if kind == 6 {
                    state.exit_chain = self.value()?;
                }
                let chain = ChainRef::Chain(state.exit_chain);
                Event::ContendedExit(ContendedExit {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    chain,
                    hold: self.hold()?,
                })
            }
            8 => {
                let chain = ChainRef::Forward(self.forward()?);
                Event::ContendedExit(ContendedExit {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    chain,
                    hold: self.hold()?,
                })
            }
            9 => {
                let following = self.number()?;
                sequence.checked_add(following)?;
                Event::LostNumbers(LostNumbers {
                    lock: LockId(lock),
                    first: sequence,
                    count: following.checked_add(1)?,
                })
            }
            10 | 13 if kind == 10 || !self.parked => {
                let flags = match kind {
                    10 => self.byte()?,
                    _ => 1 | 2 | if state.waits { 64 } else { 0 },
                };
                self.parked = true;
                self.waits = flags & 64 != 0;
                if flags & 1 == 0 {
                    state.blocker = (self.value()?, self.value()?);
                }
                if flags & 2 == 0 {
                    state.enter_chain = self.value()?;
                }
                let owner = if flags & 4 != 0 {
                    self.value()?
                } else {
                    JavaThreadId::NONE
                };
                let timeout = match flags & 48 {
                    0 if kind == 13 => state.wait_timeout,
                    0 => ParkTimeout::None,
                    16 => ParkTimeout::After(self.number()?),
                    32 => ParkTimeout::At(self.number()?),
                    _ => return None,
                };
                state.waits = self.waits;
                state.wait_timeout = match self.waits {
                    true => timeout,
                    false => ParkTimeout::None,
                };
                Event::ParkBegin(ParkBegin {
                    domain: LockId(lock),
                    sequence,
                    time_ns,
                    blocker: state.blocker(),
                    timeout,
                    owner,
                    continued: flags & 8 != 0,
                    chain: state.enter_chain,
                    monitor: self.waits,
                })
            }
            11 | 13 => {
                let flags = match kind {
                    11 => self.byte()?,
                    _ => 1 | if self.waits { 16 } else { 0 },
                };
                let reason = ParkEndReason::from_number(flags >> 5)?;
                let monitor = flags & 16 != 0;
                let before = |distance| Permit((sequence as u32).wrapping_sub(distance));
                let permit = match (flags & 1, kind, monitor) {
                    (0, _, _) => Permit::NONE,
                    (_, 11, true) => before(u32::try_from(self.number()?).ok()?),
                    (_, _, true) => before(1),
                    (_, 11, false) => self.value()?,
                    _ => Permit(self.permit.0.wrapping_add(8)),
                };
                self.parked = false;
                if !permit.is_none() && !monitor {
                    self.permit = permit;
                }
                Event::ParkEnd(ParkEnd {
                    domain: LockId(lock),
                    sequence,
                    time_ns,
                    reason,
                    permit,
                    safepoint_ns: if flags & 2 != 0 { self.number()? } else { 0 },
                    owner: if flags & 4 != 0 {
                        self.value()?
                    } else {
                        JavaThreadId::NONE
                    },
                    unpark_elsewhere: flags & 8 != 0,
                    monitor,
                })
            }
            _ => {
                let flags = match kind {
                    12 => self.byte()?,
                    _ => 1 | 2 | if state.waiters > 0 { 64 } else { 0 },
                };
                let is_release = flags & 16 != 0;
                let notifies = flags & 64 != 0;
                if is_release && flags & (4 | 8 | 64) != 0 {
                    return None;
                }
                let hold = if is_release {
                    self.hold()?
                } else {
                    Hold::NotKnown
                };
                if is_release {
                    // Without target and permit.
                } else if kind == 12 && notifies {
                    state.target = self.value()?;
                    state.waiters = u32::try_from(self.number()?).ok()?;
                    if state.waiters == 0 {
                        return None;
                    }
                } else if kind == 12 {
                    (state.target, state.permit) = (self.value()?, self.value()?);
                    state.waiters = 0;
                } else if !notifies {
                    state.permit = Permit(state.permit.0.wrapping_add(8));
                }
                if flags & 1 == 0 {
                    state.blocker = (self.value()?, self.value()?);
                }
                if flags & 2 == 0 {
                    let chain = self.value()?;
                    match is_release {
                        true => state.release_chain = chain,
                        false => state.exit_chain = chain,
                    }
                }
                match is_release {
                    true => Event::ExclusiveRelease(ExclusiveRelease {
                        domain: LockId(lock),
                        sequence,
                        time_ns,
                        blocker: state.blocker(),
                        hold,
                        chain: state.release_chain,
                    }),
                    false => Event::Unpark(Unpark {
                        domain: LockId(lock),
                        sequence,
                        time_ns,
                        target: state.target,
                        permit: match notifies {
                            true => Permit::NONE,
                            false => state.permit,
                        },
                        waiters: match notifies {
                            true => state.waiters,
                            false => 0,
                        },
                        blocker: state.blocker(),
                        owner: if flags & 4 != 0 {
                            self.value()?
                        } else {
                            JavaThreadId::NONE
                        },
                        interrupt: flags & 8 != 0,
                        never_acquired: flags & 32 != 0,
                        chain: state.exit_chain,
                    }),
                }
            }
        };
        let entry = state;
        if slot < 15 {
            self.slots[slot] = entry;
        } else if self.slots.len() < 15 {
            self.slots.push(entry);
            self.announced += 1;
        } else {
            self.slots[self.announced % 15] = entry;
            self.announced += 1;
        }
        Some(event)
    }

    fn other_event(&mut self, argument: u8) -> Option<Event<'a>> {
        Some(match argument {
            0 => Event::LockDescription(LockDescription {
                lock: self.value()?,
                class: self.value()?,
                mirrored_class: self.value()?,
                identity_hash: self.value()?,
                monitor_address: self.number()?,
            }),
            1 => Event::LockRetired(LockRetired {
                lock: self.value()?,
                sequence: self.number()?,
            }),
            2 => Event::ForwardResolved(ForwardResolved {
                forward_ref: self.forward()?,
                chain: self.value()?,
            }),
            3 => Event::ThreadStart(ThreadStart {
                time_ns: self.time()?,
                java_id: self.value()?,
                name: self.text()?,
                stack: StackRange {
                    lowest: self.number()?,
                    size: self.number()?,
                },
            }),
            4 => Event::ThreadRename(ThreadRename {
                java_id: self.value()?,
                name: self.text()?,
            }),
            5 => Event::ThreadEnd(ThreadEnd {
                time_ns: self.time()?,
            }),
            6 | 11 => Event::Class(ClassDescription {
                super_class: if argument == 11 {
                    self.value()?
                } else {
                    ClassId::NONE
                },
                class: self.value()?,
                loader: self.value()?,
                name: self.text()?,
                source_file: self.text()?,
                loader_class: self.text()?,
            }),
            7 => Event::Method(MethodDescription {
                method: self.value()?,
                class: self.value()?,
                name: self.text()?,
                signature: self.text()?,
            }),
            8 => {
                let chain = self.value()?;
                let count = self.number()?;
                let mut frames = Vec::new();
                for _ in 0..count / 2 {
                    frames.push(Frame {
                        method: self.value()?,
                        bci: self.value::<u32>()?.wrapping_sub(1) as i32,
                        line: self.value::<u32>()?.wrapping_sub(1) as i32,
                    });
                }
                Event::Chain(ChainDescription {
                    chain,
                    frames,
                    truncated: count % 2 == 1,
                })
            }
            9 => Event::LoaderUnload(LoaderUnload {
                loader: self.value()?,
                time_ns: self.time()?,
            }),
            10 => Event::LostEvents(LostEvents {
                events: self.number()?,
            }),
            12 => Event::ChainRetired(ChainRetired {
                chain: self.value()?,
            }),
            13 => Event::MethodRetired(MethodRetired {
                method: self.value()?,
            }),
            14 => {
                let time_ns = self.time()?;
                Event::OwnerSample(OwnerSample {
                    time_ns,
                    owner: self.value()?,
                    chain: self.value()?,
                    since_ns: time_ns.wrapping_sub(self.number()?),
                    interval_ns: self.number()?,
                })
            }
            15 => Event::LockSite(LockSite {
                class: self.value()?,
                identity_hash: self.value()?,
                chain: self.value()?,
            }),
            _ => return None,
        })
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        leb128::read::unsigned(&mut self.rest).ok()
    }

    /// Reads a number that must not exceed the range of `T`.
    fn value<T: TryFrom<u64>>(&mut self) -> Option<T> {
        self.number()?.try_into().ok()
    }

    fn time(&mut self) -> Option<u64> {
        self.time_ns = self.time_ns.wrapping_add(self.number()?);
        Some(self.time_ns)
    }

    fn hold(&mut self) -> Option<Hold> {
        Some(match self.number()? {
            0 => Hold::NotKnown,
            1 => Hold::BeforeContention,
            2 => Hold::Several {
                holds: u16::try_from(self.number()?).ok()?.checked_add(2)?,
                held_ns: Some(self.number()?).filter(|&held_ns| held_ns < 1 << 46)?,
                span_ns: self.number()?,
            },
            number => Hold::For {
                duration_ns: number - 3,
            },
        })
    }

    fn forward(&mut self) -> Option<ForwardRef> {
        self.forward_ref = ForwardRef(self.forward_ref.0.wrapping_add(self.number()?));
        Some(self.forward_ref)
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = self.number()?.try_into().ok()?;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }
}

impl Slot {
    fn blocker(self) -> Blocker {
        let (class, identity_hash) = self.blocker;
        Blocker {
            class,
            identity_hash,
        }
    }
}

/// Returns the library's result: the events before the first error, and whether there is one.
fn decode(bytes: &[u8]) -> (Vec<Event<'_>>, bool) {
    let results: Vec<_> = SegmentDecoder::new(bytes).collect();
    let malformed = results.last().is_some_and(Result::is_err);
    (results.into_iter().flatten().collect(), malformed)
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

proptest! {
    #[test]
    fn both_read_what_is_written(events in events()) {
        let bytes = segment(&events);
        prop_assert_eq!(Reader::new(&bytes).read(), (events, false));
    }

    #[test]
    fn both_read_the_same_of_any_segment(
        events in events(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        len in any::<prop::sample::Index>(),
    ) {
        let mut bytes = segment(&events);
        for (index, byte) in changes {
            if !bytes.is_empty() {
                let index = index.index(bytes.len());
                bytes[index] = byte;
            }
        }
        bytes.truncate(len.index(bytes.len() + 1));
        prop_assert_eq!(decode(&bytes), Reader::new(&bytes).read());
    }

    /// The layout in `src/chunk.rs`, by hand.
    #[test]
    fn chunks_are_laid_out_as_described(
        events in events(),
        thread: u32,
        buffer_index: u64,
        metadata: bool,
        compress: bool,
    ) {
        let bytes = segment(&events);
        let mut writer = ChunkWriter::new(compress);
        writer.push_segment(ThreadId(thread), buffer_index, &bytes, metadata).unwrap();
        let written = writer.events();
        let (header, stored) = written.split_at(chunk::HEADER_LEN);
        prop_assert_eq!(&header[..4], b"\xfeLc\xfd");
        prop_assert_eq!(header[4], 1);
        let compressed = header[5] & 1 == 1;
        prop_assert_eq!(header[5] & !1, u8::from(metadata) * 2);
        prop_assert_eq!(&header[6..8], [0, 0]);
        prop_assert_eq!(u32_at(header, 8) as usize, stored.len());
        prop_assert_eq!(u32_at(header, 16), crc32c(stored));
        prop_assert_eq!(u32_at(header, 20), crc32c(&header[..20]));

        let payload = if compressed {
            snap::raw::Decoder::new().decompress_vec(stored).unwrap()
        } else {
            stored.to_vec()
        };
        prop_assert_eq!(u32_at(header, 12) as usize, payload.len());
        prop_assert!(compress || !compressed);
        let mut rest = payload.as_slice();
        let numbers = [(); 3].map(|()| leb128::read::unsigned(&mut rest).unwrap());
        prop_assert_eq!(numbers, [thread.into(), buffer_index, bytes.len() as u64]);
        prop_assert_eq!(rest, bytes);
    }
}
