//! The memory of a buffer: a header, which says how much of the buffer is written if it is
//! found after the death of the process, and space for events.

use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, compiler_fence};

use memmap2::MmapMut;
use trace_format::GrownTail;
use trace_format::buffer_file::{self, SLOT_HEADER_LEN, word};

use crate::buffers::file::Slot;

/// Memory that outlives the process if it is a [`Slot`] of the file of buffers. A mapping of
/// the buffer's own if not: the header is kept all the same, which costs less than to ask.
#[derive(Debug)]
pub(crate) struct BufferMemory {
    start: NonNull<u8>,
    len: usize,
    /// Which of the two records was written last.
    record: bool,
    /// Keeps the memory.
    _owner: Owner,
}

// SAFETY: the memory belongs to this value alone, wherever it is.
unsafe impl Send for BufferMemory {}

/// The owner that the memory is given back to.
#[derive(Debug)]
enum Owner {
    Mapping(#[expect(dead_code, reason = "gives the memory back when dropped")] MmapMut),
    Slot(#[expect(dead_code, reason = "gives the memory back when dropped")] Slot),
}

impl BufferMemory {
    /// Memory of the buffer's own, of `len` bytes with the header.
    pub(crate) fn anonymous(len: usize) -> Option<Self> {
        let mut mapping = MmapMut::map_anon(len.max(SLOT_HEADER_LEN)).ok()?;
        Some(Self {
            start: NonNull::new(mapping.as_mut_ptr())?,
            len: mapping.len(),
            record: false,
            _owner: Owner::Mapping(mapping),
        })
    }

    /// Memory in the file of buffers.
    pub(crate) fn in_slot(slot: Slot) -> Self {
        let (start, len) = (slot.start(), slot.len());
        let memory = Self {
            start,
            len,
            record: false,
            _owner: Owner::Slot(slot),
        };
        // The slot is found from now on, without an event.
        memory.commit_nothing();
        let tag = buffer_file::slot_tag(u32::try_from(len).unwrap_or_default());
        memory.set(word::TAG, tag);
        memory
    }

    /// How long it is, in bytes, with the header.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the space for events.
    pub(crate) fn events(&mut self) -> &mut [u8] {
        let len = self.len.saturating_sub(SLOT_HEADER_LEN);
        // SAFETY: the memory is `self.len` bytes, at least those of the header, and this
        // value's alone; `header` gives access to other bytes only.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().add(SLOT_HEADER_LEN), len) }
    }

    fn header(&self) -> &[AtomicU64; word::COUNT] {
        // SAFETY: the memory begins with these words, at the start of a page; they are
        // accessed in no other way.
        unsafe { self.start.cast().as_ref() }
    }

    fn set(&self, word: usize, value: u64) {
        if let Some(place) = self.header().get(word) {
            place.store(value, Relaxed);
        }
    }

    /// Says that no event is written; what is there may be overwritten.
    pub(crate) fn commit_nothing(&self) {
        self.set(word::COMMIT, 0);
        // A process is killed between two of a thread's instructions, and the memory has
        // what those before have stored. So only the compiler must keep the order.
        compiler_fence(SeqCst);
    }

    /// Says whose events come, the first ones of a buffer.
    pub(crate) fn begin(&self, thread: u32, index: u64) {
        self.commit_nothing();
        self.set(word::THREAD, thread.into());
        self.set(word::INDEX, index);
        self.set(word::WRITTEN_END, 0);
        compiler_fence(SeqCst);
    }

    /// Says that the events are in the trace once that is `trace_len` bytes long.
    pub(crate) fn written(&self, trace_len: u64) {
        self.set(word::WRITTEN_END, trace_len);
    }

    /// Says that the first `len` bytes of the segment are written, or those that `tail`
    /// says and then `tail`.
    #[inline]
    pub(crate) fn commit(&mut self, len: usize, tail: Option<GrownTail>) {
        let commit = match tail {
            None => buffer_file::commit(len as u32, 0),
            Some(tail) => {
                self.record = !self.record;
                let record = usize::from(self.record);
                let first = word::RECORDS.get(record).copied().unwrap_or_default();
                let places = self.header().iter().skip(first);
                for (place, number) in places.zip(tail.numbers) {
                    place.store(number, Relaxed);
                }
                buffer_file::commit(tail.at, u32::from(self.record).saturating_add(1))
            }
        };
        // Release: after the events that it is about. See also `commit_nothing`.
        if let Some(place) = self.header().get(word::COMMIT) {
            place.store(commit, Release);
        }
    }
}

impl Drop for BufferMemory {
    /// A slot that is used no more is found no more.
    fn drop(&mut self) {
        self.commit_nothing();
        self.set(word::TAG, 0);
    }
}
