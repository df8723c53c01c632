//! A thread's buffer of encoded events, and the bound of all buffers together.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trace_format::buffer_file::SLOT_HEADER_LEN;
use trace_format::{
    DoesNotFit, Event, LostEvents, LostNumbers, SegmentDecoder, SegmentEncoder, ThreadId,
};

use crate::buffers::lengths::{SMALL_LEN, USUAL_LEN};
use crate::buffers::memory::BufferMemory;
use crate::fallible::try_box;
use crate::os;
use crate::primitive::AtomicPtr;

/// The most that a reset keeps of a full buffer, in bytes. It stands on the
/// stack meanwhile.
const MAX_LOSS_RECORD_LEN: usize = 8 << 10;

/// Memory that one thread at a time writes events to. It is not the allocator's, so that
/// the thread neither takes a lock of the JVM's allocator nor breaks up its heap.
#[derive(Debug)]
pub(crate) struct Buffer {
    thread: ThreadId,
    index: u64,
    encoder: SegmentEncoder,
    memory: BufferMemory,
    /// How many bytes of the memory are written, at most.
    capacity: usize,
    /// Belongs to the structure that links buffers; see
    /// [`BufferQueue`](crate::buffers::queue::BufferQueue).
    pub(crate) next: AtomicPtr<Buffer>,
    /// `None` while the buffer is unused.
    charge: Option<Charge>,
}

impl Buffer {
    /// A buffer of `capacity` bytes, or `None` when memory is short.
    #[cfg(test)]
    pub(crate) fn try_new(
        charge: Charge,
        capacity: usize,
        thread: ThreadId,
        index: u64,
    ) -> Option<Box<Self>> {
        let memory = BufferMemory::anonymous(Self::mapped_len(capacity))?;
        let mut buffer = Self::unused(memory)?;
        buffer.restart(charge, capacity, thread, index);
        Some(buffer)
    }

    /// Returns an unused buffer, or `None` when memory is short.
    pub(crate) fn unused(memory: BufferMemory) -> Option<Box<Self>> {
        try_box(Self {
            thread: ThreadId::NONE,
            index: 0,
            encoder: SegmentEncoder::new(),
            memory,
            capacity: 0,
            next: AtomicPtr::default(),
            charge: None,
        })
    }

    /// How much a buffer of `capacity` bytes maps, in bytes.
    pub(crate) fn mapped_len(capacity: usize) -> usize {
        let needed = capacity.saturating_add(SLOT_HEADER_LEN);
        let len = if needed <= SMALL_LEN {
            SMALL_LEN
        } else {
            needed.max(USUAL_LEN)
        };
        len.checked_next_multiple_of(os::page_len()).unwrap_or(len)
    }

    /// Makes the buffer a new one in the same memory, which must have at least
    /// `capacity` bytes.
    pub(crate) fn restart(
        &mut self,
        charge: Charge,
        capacity: usize,
        thread: ThreadId,
        index: u64,
    ) {
        self.thread = thread;
        self.index = index;
        self.encoder = SegmentEncoder::new();
        self.capacity = capacity;
        self.charge = Some(charge);
        self.memory.begin(thread.0, index);
    }

    /// Makes the buffer unused: its memory does not count any more, and nothing needs
    /// its events.
    pub(crate) fn release(&mut self) {
        self.charge = None;
        self.memory.commit_nothing();
    }

    /// The events are in the trace once that is `trace_len` bytes long.
    pub(crate) fn mark_written(&self, trace_len: u64) {
        self.memory.written(trace_len);
    }

    /// How long the buffer's memory is, in bytes.
    pub(crate) fn memory_len(&self) -> usize {
        self.memory.len()
    }

    /// The thread that wrote the events.
    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    /// How many buffers the thread had before this one.
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// The events written.
    pub(crate) fn segment(&mut self) -> &[u8] {
        self.encoder.flush(room(&mut self.memory, self.capacity));
        self.commit();
        let bytes = room(&mut self.memory, self.capacity);
        bytes.get(..self.encoder.len()).unwrap_or_default()
    }

    /// How many events are written.
    pub(crate) fn events(&self) -> u32 {
        self.encoder.events()
    }

    /// An event of the buffer is metadata.
    pub(crate) fn contains_metadata(&self) -> bool {
        self.encoder.contains_metadata()
    }

    /// Appends what `encode` encodes.
    pub(crate) fn write(
        &mut self,
        encode: impl FnOnce(&mut SegmentEncoder, &mut [u8]) -> Result<(), DoesNotFit>,
    ) -> Result<(), DoesNotFit> {
        let written = encode(&mut self.encoder, room(&mut self.memory, self.capacity));
        // Also if the event does not fit: what was to be flushed is.
        self.commit();
        written
    }

    /// Makes the events so far outlive the process.
    #[inline]
    fn commit(&mut self) {
        let tail = self.encoder.grown_tail();
        self.memory.commit(self.encoder.len(), tail);
    }

    /// Gives up the events to make room, but keeps a record of their sequence
    /// numbers in at most half of the buffer. Returns how many events are lost.
    pub(crate) fn lose_events(&mut self) -> u64 {
        let mut record = [0; MAX_LOSS_RECORD_LEN];
        let len = record.len().min(self.capacity / 2);
        let (record, _) = record.split_at_mut(len);

        let mut loss = LossRecord::new();
        for event in SegmentDecoder::new(self.segment()).flatten() {
            loss.add(record, &event);
        }
        let (encoder, lost) = loss.finish(record);
        self.memory.commit_nothing();
        for (to, from) in self.memory.events().iter_mut().zip(record) {
            *to = *from;
        }
        self.encoder = encoder;
        self.commit();
        lost
    }

    /// Gives up the events without a record, which would not be read.
    pub(crate) fn clear(&mut self) {
        self.encoder = SegmentEncoder::new();
        self.memory.commit_nothing();
    }
}

/// The part of a buffer's memory that events are written to.
#[inline]
fn room(memory: &mut BufferMemory, capacity: usize) -> &mut [u8] {
    memory.events().get_mut(..capacity).unwrap_or_default()
}

/// Writes the remains of lost events: [`Event::LostNumbers`] as long as they fit,
/// one for those that follow each other, and the number of the others.
struct LossRecord {
    encoder: SegmentEncoder,
    /// Numbers that are not written yet: the next event may have the one that follows.
    last: Option<LostNumbers>,
    lost: u64,
    unlisted: u64,
}

impl LossRecord {
    /// The bytes kept free for the [`Event::LostEvents`] at the end.
    const RESERVED: usize = 16;

    fn new() -> Self {
        Self {
            encoder: SegmentEncoder::new(),
            last: None,
            lost: 0,
            unlisted: 0,
        }
    }

    fn add(&mut self, record: &mut [u8], event: &Event<'_>) {
        match *event {
            // The record of an earlier loss.
            Event::LostEvents(LostEvents { events }) => {
                self.unlisted = self.unlisted.saturating_add(events);
            }
            Event::LostNumbers(numbers) => self.list(record, numbers),
            _ => {
                self.lost = self.lost.saturating_add(1);
                if let Some((lock, first)) = event.lock_and_sequence() {
                    let count = event.numbers();
                    self.list(record, LostNumbers { lock, first, count });
                }
            }
        }
    }

    fn list(&mut self, record: &mut [u8], numbers: LostNumbers) {
        if let Some(last) = &mut self.last
            && last.lock == numbers.lock
            && last.first.checked_add(last.count) == Some(numbers.first)
        {
            last.count = last.count.saturating_add(numbers.count);
        } else {
            self.write_last(record);
            self.last = Some(numbers);
        }
    }

    fn write_last(&mut self, record: &mut [u8]) {
        let Some(numbers) = self.last.take() else {
            return;
        };
        let room = record.len().saturating_sub(Self::RESERVED);
        let listed = record.get_mut(..room).is_some_and(|record| {
            let encoded = self.encoder.encode(record, &Event::LostNumbers(numbers));
            encoded.is_ok()
        });
        if !listed {
            self.unlisted = self.unlisted.saturating_add(numbers.count);
        }
    }

    /// The encoder of the finished record and the number of events lost.
    fn finish(mut self, record: &mut [u8]) -> (SegmentEncoder, u64) {
        self.write_last(record);
        if self.unlisted > 0 {
            let rest = Event::LostEvents(LostEvents {
                events: self.unlisted,
            });
            // Fits into the room reserved for it.
            let _ = self.encoder.encode(record, &rest);
        }
        (self.encoder, self.lost)
    }
}

/// Counts the bytes that all buffers in use map, so that a drainer that cannot keep up costs
/// events instead of the application's memory.
#[derive(Debug, Default)]
pub(crate) struct BufferBudget {
    // Relaxed throughout: the counts guard no other memory.
    bytes: AtomicU64,
    peak_bytes: AtomicU64,
    buffers: AtomicU64,
    peak_buffers: AtomicU64,
}

/// The share of one buffer in the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: &'static BufferBudget,
    bytes: u64,
}

impl BufferBudget {
    /// Counts one more buffer, unless all together would exceed `max_bytes`.
    pub(crate) fn charge(&'static self, bytes: usize, max_bytes: u64) -> Option<Charge> {
        let bytes = bytes as u64;
        let total = self.bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let buffers = self.buffers.fetch_add(1, Relaxed).saturating_add(1);
        let charge = Charge {
            budget: self,
            bytes,
        };
        if total > max_bytes {
            return None;
        }
        self.peak_bytes.fetch_max(total, Relaxed);
        self.peak_buffers.fetch_max(buffers, Relaxed);
        Some(charge)
    }

    /// Buffers at this moment.
    pub(crate) fn buffers(&self) -> u64 {
        self.buffers.load(Relaxed)
    }

    /// Bytes at this moment.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Most bytes at once.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Relaxed)
    }

    /// Most buffers at once.
    pub(crate) fn peak_buffers(&self) -> u64 {
        self.peak_buffers.load(Relaxed)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.bytes.fetch_sub(self.bytes, Relaxed);
        self.budget.buffers.fetch_sub(1, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use trace_format::{ContendedEntered, JavaThreadId, LockId, LockRetired, ThreadRename};

    use super::*;

    fn buffer(capacity: usize) -> Box<Buffer> {
        let budget = Box::leak(Box::new(BufferBudget::default()));
        let charge = budget.charge(Buffer::mapped_len(capacity), u64::MAX);
        Buffer::try_new(charge.unwrap(), capacity, ThreadId(1), 0).unwrap()
    }

    fn write(buffer: &mut Buffer, event: &Event<'_>) -> Result<(), DoesNotFit> {
        buffer.write(|encoder, bytes| encoder.encode(bytes, event))
    }

    fn decode(buffer: &mut Buffer) -> Vec<Event<'_>> {
        SegmentDecoder::new(buffer.segment())
            .collect::<Result<_, _>>()
            .unwrap()
    }

    #[test]
    fn lost_events_leave_their_numbers() {
        let mut buffer = buffer(1000);
        let entered = Event::ContendedEntered(ContendedEntered {
            lock: LockId(5),
            sequence: 9,
            time_ns: 1,
            safepoint_ns: 0,
        });
        write(
            &mut buffer,
            &Event::ThreadRename(ThreadRename {
                java_id: JavaThreadId(1),
                name: "worker",
            }),
        )
        .unwrap();
        write(&mut buffer, &entered).unwrap();
        write(
            &mut buffer,
            &Event::LockRetired(LockRetired {
                lock: LockId(5),
                sequence: 10,
            }),
        )
        .unwrap();
        write(&mut buffer, &Event::LostEvents(LostEvents { events: 7 })).unwrap();

        assert_eq!(buffer.lose_events(), 3);

        assert!(!buffer.contains_metadata());
        let expected = [
            Event::LostNumbers(LostNumbers {
                lock: LockId(5),
                first: 9,
                count: 2,
            }),
            Event::LostEvents(LostEvents { events: 7 }),
        ];
        assert_eq!(decode(&mut buffer), expected);
    }

    /// However often a buffer fills up, every number is listed or counted, and
    /// there is room again.
    #[test]
    fn losses_take_at_most_half_of_the_buffer() {
        let mut buffer = buffer(2000);
        let mut lost = 0;
        for number in 0..10_000 {
            let event = Event::ContendedEntered(ContendedEntered {
                lock: LockId(5),
                // Those between are other threads'.
                sequence: 2 * number,
                time_ns: 1,
                safepoint_ns: 0,
            });
            if write(&mut buffer, &event).is_err() {
                lost += buffer.lose_events();
                assert!(buffer.segment().len() <= 1000);
                write(&mut buffer, &event).unwrap();
            }
        }
        lost += buffer.lose_events();
        assert_eq!(lost, 10_000);

        let events = decode(&mut buffer);
        let listed = events
            .iter()
            .filter(|event| event.lock_and_sequence().is_some())
            .count();
        let Some(Event::LostEvents(LostEvents { events: unlisted })) = events.last() else {
            panic!("{:?}", events.last());
        };
        assert_eq!(listed as u64 + unlisted, 10_000);
        assert!(listed > 300, "{listed}");
    }

    #[test]
    fn numbers_that_follow_each_other_take_no_room() {
        let mut buffer = buffer(2000);
        for sequence in 0..10_000 {
            let event = Event::ContendedEntered(ContendedEntered {
                lock: LockId(5),
                sequence,
                time_ns: 1,
                safepoint_ns: 0,
            });
            if write(&mut buffer, &event).is_err() {
                buffer.lose_events();
                write(&mut buffer, &event).unwrap();
            }
        }
        buffer.lose_events();
        let all = LostNumbers {
            lock: LockId(5),
            first: 0,
            count: 10_000,
        };
        assert_eq!(decode(&mut buffer), [Event::LostNumbers(all)]);
    }

    #[test]
    fn the_budget_bounds_all_buffers() {
        let budget = Box::leak(Box::new(BufferBudget::default()));
        let first = budget.charge(2000, 3000).unwrap();
        assert!(budget.charge(2000, 3000).is_none());
        let second = budget.charge(2000, 4000).unwrap();
        drop((first, second));
        assert!(budget.charge(3000, 3000).is_some());
        assert_eq!(budget.peak_bytes(), 4000);
        assert_eq!(budget.peak_buffers(), 2);
    }

    #[test]
    fn a_used_buffer_starts_again() {
        let mut buffer = buffer(1000);
        write(&mut buffer, &Event::LostEvents(LostEvents { events: 7 })).unwrap();
        let budget = Box::leak(Box::new(BufferBudget::default()));
        buffer.restart(budget.charge(1, 1).unwrap(), 20, ThreadId(2), 9);
        assert_eq!((buffer.events(), buffer.segment()), (0, &[][..]));
        let name = "longer than the new capacity";
        let rename = Event::ThreadRename(ThreadRename {
            java_id: JavaThreadId(1),
            name,
        });
        assert!(write(&mut buffer, &rename).is_err());
    }

    #[test]
    fn buffers_map_whole_pages() {
        let page = os::page_len();
        assert_eq!(Buffer::mapped_len(1), SMALL_LEN.next_multiple_of(page));
        let usual = USUAL_LEN.next_multiple_of(page);
        assert_eq!(Buffer::mapped_len(SMALL_LEN + 1), usual);
        assert_eq!(Buffer::mapped_len(30 * page + 1), 31 * page);
        assert!(Buffer::mapped_len(usize::MAX) >= USUAL_LEN);
    }
}
