//! The file of buffers: memory that is still there when the process has been killed.
//!
//! The file is mapped as a whole, at its greatest length. It consists of *extents* of the same
//! length, each of slots of one length. A word tells which, and which slots are taken, so
//! threads take and return slots without a lock.
//!
//! A store to a mapped file raises a signal that ends the process if the file system has no
//! block for it. So extents get their blocks before they are used; and where a file system
//! does not promise to keep them, there is no file of buffers. The drainer asks for blocks,
//! ahead of need and never a thread of the application, and gives none back. Where there is
//! no room, or none yet, buffers have memory of their own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use memmap2::{MmapOptions, MmapRaw};
use trace_format::FileHeader;
use trace_format::buffer_file::{self, ALIVE_OFFSET, HEADER_LEN, MAX_LEN, SLOT_ALIGN};

use crate::buffers::lengths::SMALL_LEN;
use crate::fallible::try_collect;
use crate::os::{self, InWords};
use crate::primitive::AtomicU64;

/// Length of an extent in bytes. Has the longest buffer: 2^14 frames, each of fifteen bytes.
const EXTENT_LEN: usize = 256 << 10;
/// How many extents are free at least when the drainer has looked: 4 MiB, more than a
/// thousand threads begin to write between two looks.
const MIN_FREE: usize = 16;
/// Of the word of an extent: a bit for each slot, the first one the lowest.
const TAKEN: u64 = (1 << 32) - 1;
/// And above these the length of the slots, in units of [`SLOT_ALIGN`].
const LEN_SHIFT: u32 = 32;

/// The file, which is there until its trace has ended.
#[derive(Debug)]
pub(crate) struct BufferFile {
    path: PathBuf,
    file: File,
    map: MmapRaw,
    extents: Vec<AtomicU64>,
    /// How many extents have blocks; these come first. Only the drainer changes it.
    reserved: AtomicUsize,
    /// Extents before this one had no free slot a moment ago; for small slots and for others.
    first_free: [AtomicUsize; 2],
    /// How often a thread needed a slot and there was none.
    misses: AtomicU64,
    /// The user knows that the file has no room.
    has_complained: AtomicBool,
}

/// Why there is no file of buffers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoBufferFile {
    #[error("cannot write '{}': {}", path.display(), InWords(error))]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the file system of '{}' does not reserve space for it", path.display())]
    FileSystem { path: PathBuf },
    #[error("memory is short")]
    Memory(#[from] std::collections::TryReserveError),
}

impl BufferFile {
    /// Creates the file beside the trace with the name `trace`, for `max_bytes` of buffers.
    ///
    /// # Errors
    ///
    /// If that cannot be done, or could end the process later.
    pub(crate) fn create(
        trace: &Path,
        header: &FileHeader,
        max_bytes: u64,
    ) -> Result<Self, NoBufferFile> {
        let mut path: OsString = trace.as_os_str().to_owned();
        path.push(buffer_file::EXTENSION);
        let path = PathBuf::from(path);
        let extents = extents(max_bytes);
        if extents == 0 {
            let error = ErrorKind::FileTooLarge.into();
            return Err(NoBufferFile::Io { path, error });
        }
        let words = try_collect((0..extents).map(|_| AtomicU64::new(0)))?;
        match Self::open(&path, header, words) {
            Ok(Some(file)) => Ok(file),
            Ok(None) => Err(NoBufferFile::FileSystem { path }),
            Err(error) => Err(NoBufferFile::Io { path, error }),
        }
    }

    fn open(path: &Path, header: &FileHeader, extents: Vec<AtomicU64>) -> io::Result<Option<Self>> {
        let file = match create(path) {
            // The trace that it belonged to is not beside it any more: this one is.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                fs::remove_file(path)?;
                create(path)?
            }
            created => created?,
        };
        let begun = Self::begin(&file, header, extents.len());
        if !matches!(begun, Ok(Some(_))) {
            // It stays behind empty at worst.
            let _ = fs::remove_file(path);
        }
        Ok(begun?.map(|map| Self {
            path: path.to_owned(),
            file,
            map,
            extents,
            reserved: AtomicUsize::new(0),
            first_free: Default::default(),
            misses: AtomicU64::new(0),
            has_complained: AtomicBool::new(false),
        }))
    }

    /// Maps the file and makes it one of buffers.
    fn begin(file: &File, header: &FileHeader, extents: usize) -> io::Result<Option<MmapRaw>> {
        if !os::keeps_reserved_space(file) {
            return Ok(None);
        }
        os::lock_file(file)?;
        os::reserve(file, 0, HEADER_LEN as u64)?;
        let len = HEADER_LEN.saturating_add(extents.saturating_mul(EXTENT_LEN));
        let map = MmapOptions::new()
            .len(len)
            .no_reserve_swap()
            .map_raw(file)?;
        file.write_all_at(&buffer_file::header(header), 0)?;
        Ok(Some(map))
    }

    /// Says until when the process has lived, in nanoseconds since the trace's start.
    pub(crate) fn set_alive(&self, time_ns: u64) {
        // SAFETY: the header is mapped as long as the file is, has blocks, and this word is
        // accessed in no other way.
        let word = unsafe {
            let start = self.map.as_mut_ptr().add(ALIVE_OFFSET);
            std::sync::atomic::AtomicU64::from_ptr(start.cast())
        };
        word.store(time_ns, Release);
    }

    /// Gives extents blocks until some are free: at least [`MIN_FREE`], and a quarter of all.
    /// For the drainer alone.
    pub(crate) fn make_room(&self) {
        let reserved = self.reserved.load(Relaxed);
        let words = self.extents.iter().take(reserved);
        let mut free = words.filter(|word| word.load(Relaxed) == 0).count();
        for extent in reserved..self.extents.len() {
            if free >= MIN_FREE.max(extent / 4) {
                return;
            }
            let offset = extent_offset(extent) as u64;
            if let Err(error) = os::reserve(&self.file, offset, EXTENT_LEN as u64) {
                return self.complain(&error);
            }
            // Release: a thread that uses the extent does so when it has blocks.
            self.reserved.store(extent.saturating_add(1), Release);
            free = free.saturating_add(1);
        }
    }

    /// How often a buffer got memory of its own because no slot was free.
    pub(crate) fn misses(&self) -> u64 {
        self.misses.load(Relaxed)
    }

    /// Removes the file: the trace has ended.
    pub(crate) fn remove(&self) {
        // A reader that finds it beside a trace that has its end does not look at it.
        let _ = fs::remove_file(&self.path);
    }

    /// A slot of `len` bytes; `None` if the file is full.
    pub(crate) fn take(self: &Arc<Self>, len: usize) -> Option<Slot> {
        let slot = self.free_slot(len);
        if slot.is_none() {
            self.misses.fetch_add(1, Relaxed);
        }
        slot
    }

    fn free_slot(self: &Arc<Self>, len: usize) -> Option<Slot> {
        let units = len.div_ceil(SLOT_ALIGN);
        let slots = u32::try_from((EXTENT_LEN / SLOT_ALIGN).checked_div(units)?).ok()?;
        let all = TAKEN.checked_shr(32_u32.saturating_sub(slots))?;
        if slots == 0 {
            return None;
        }
        // Acquire: the extents have blocks.
        let reserved = self.reserved.load(Acquire);
        // Relaxed: only a hint, so those before come last.
        let [small, others] = &self.first_free;
        let first_free = if len <= SMALL_LEN { small } else { others };
        let first = first_free.load(Relaxed).min(reserved);
        let (extent, index) = (first..reserved).chain(0..first).find_map(|extent| {
            let word = self.extents.get(extent)?;
            Some((extent, take_one(word, units as u64, all)?))
        })?;
        first_free.store(extent, Relaxed);
        Some(Slot {
            file: Arc::clone(self),
            extent,
            index,
            len,
            units,
        })
    }

    fn complain(&self, error: &io::Error) {
        if !self.has_complained.swap(true, Relaxed) {
            let path = self.path.display();
            // There is nobody to tell that standard error cannot be written.
            let _ = writeln!(
                io::stderr(),
                "locktrace: cannot extend '{path}': {}; events would be lost if the JVM \
                 were killed",
                InWords(error)
            );
        }
    }
}

/// Where an extent begins in the file.
fn extent_offset(extent: usize) -> usize {
    HEADER_LEN.saturating_add(extent.saturating_mul(EXTENT_LEN))
}

/// How many extents buffers of `max_bytes` can need.
fn extents(max_bytes: u64) -> usize {
    const LEN: u64 = EXTENT_LEN as u64;
    // Beyond the limit of the process a signal would end it.
    let max_len = MAX_LEN.min(os::max_file_len());
    let most = max_len.saturating_sub(HEADER_LEN as u64) / LEN;
    // Some of each extent is not used, and the buffers that are kept come on top.
    let usual = max_bytes.saturating_add(max_bytes / 8) / LEN;
    usize::try_from(usual.saturating_add(64).min(most)).unwrap_or(1)
}

/// Takes the first free slot of an extent whose slots are of `units`, or of one that has none
/// yet.
fn take_one(word: &AtomicU64, units: u64, all: u64) -> Option<u32> {
    let mut found = word.load(Relaxed);
    loop {
        let (taken, of_units) = (found & TAKEN, found >> LEN_SHIFT);
        if taken == all || of_units != 0 && of_units != units {
            return None;
        }
        let index = (!taken).trailing_zeros();
        let taken = taken | 1_u64.checked_shl(index)?;
        // Acquire: sees that the last user has finished.
        match word.compare_exchange_weak(found, units << LEN_SHIFT | taken, Acquire, Relaxed) {
            Ok(_) => return Some(index),
            Err(other) => found = other,
        }
    }
}

/// Gives a slot of an extent back; an extent without slots can have others.
fn return_one(word: &AtomicU64, index: u32) {
    let mut found = word.load(Relaxed);
    loop {
        let left = found & !1_u64.checked_shl(index).unwrap_or_default();
        let left = if left & TAKEN == 0 { 0 } else { left };
        match word.compare_exchange_weak(found, left, AcqRel, Relaxed) {
            Ok(_) => return,
            Err(other) => found = other,
        }
    }
}

/// Creates the file for this user alone, as the trace.
fn create(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}

/// A part of the file, with blocks, that one buffer has for itself.
#[derive(Debug)]
pub(crate) struct Slot {
    file: Arc<BufferFile>,
    extent: usize,
    index: u32,
    /// In bytes.
    len: usize,
    /// Its length, which all slots of its extent have, in units of [`SLOT_ALIGN`].
    units: usize,
}

impl Slot {
    /// Where it begins in memory.
    pub(crate) fn start(&self) -> NonNull<u8> {
        // SAFETY: the mapping has all extents, and is not at address 0.
        unsafe { NonNull::new_unchecked(self.file.map.as_mut_ptr().add(self.offset())) }
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where it begins in the file.
    fn offset(&self) -> usize {
        let in_extent = self
            .units
            .saturating_mul(SLOT_ALIGN)
            .saturating_mul(self.index as usize);
        extent_offset(self.extent).saturating_add(in_extent)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(word) = self.file.extents.get(self.extent) {
            return_one(word, self.index);
            for first in &self.file.first_free {
                first.fetch_min(self.extent, Relaxed);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;
    use std::os::unix::fs::MetadataExt;
    use std::sync::Mutex;
    use std::{env, iter, process, thread};

    use super::*;

    const USUAL: usize = 24 << 10;
    const SMALL: usize = 8 << 10;

    /// A trace that is removed with its buffers.
    struct Trace(PathBuf);

    impl Trace {
        fn new(test: &str) -> Self {
            let name = format!("locktrace-buffers-{test}-{}.lct", process::id());
            Self(env::temp_dir().join(name))
        }

        fn buffers(&self) -> PathBuf {
            let mut name = self.0.as_os_str().to_owned();
            name.push(buffer_file::EXTENSION);
            name.into()
        }

        fn file(&self, max_bytes: u64) -> Arc<BufferFile> {
            let file = BufferFile::create(&self.0, &FileHeader::default(), max_bytes);
            Arc::new(file.unwrap())
        }
    }

    impl Drop for Trace {
        fn drop(&mut self) {
            let _ = fs::remove_file(self.buffers());
        }
    }

    #[test]
    fn no_two_threads_get_the_same_part() {
        let trace = Trace::new("threads");
        let file = trace.file(64 << 20);
        file.make_room();
        let taken = Mutex::new(HashSet::new());
        thread::scope(|scope| {
            for len in [SMALL, USUAL, SMALL, USUAL, EXTENT_LEN - 1000] {
                let (taken, file) = (&taken, &file);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let slots: Vec<_> = (0..5).map(|_| file.take(len).unwrap()).collect();
                        let parts = slots.iter().flat_map(|slot| {
                            let units = slot.len().div_ceil(SLOT_ALIGN);
                            (0..units).map(|unit| slot.offset() + unit * SLOT_ALIGN)
                        });
                        let parts: Vec<_> = parts.collect();
                        let mut taken_now = taken.lock().unwrap();
                        assert!(parts.iter().all(|&part| taken_now.insert(part)));
                        drop(taken_now);
                        thread::yield_now();
                        let mut taken_now = taken.lock().unwrap();
                        parts.iter().for_each(|part| _ = taken_now.remove(part));
                        drop(taken_now);
                        drop(slots);
                    }
                });
            }
        });
        assert!(file.extents.iter().all(|word| word.load(Relaxed) == 0));
    }

    /// What is given back is used again, also in another length, before the file grows.
    #[test]
    fn parts_are_used_again() {
        let trace = Trace::new("parts");
        let file = trace.file(1 << 20);
        file.make_room();
        let len = fs::metadata(trace.buffers()).unwrap().len();
        assert_eq!(len, extent_offset(MIN_FREE) as u64);
        for (round, len_of_slot) in [SMALL, USUAL, EXTENT_LEN].into_iter().enumerate() {
            let slots: Vec<_> = iter::from_fn(|| file.take(len_of_slot)).collect();
            assert_eq!(slots.len(), MIN_FREE * (EXTENT_LEN / len_of_slot));
            assert_eq!(file.misses(), round as u64 + 1);
            for slot in &slots {
                let part = slot.offset()..slot.offset() + slot.len();
                assert!(part.start >= HEADER_LEN && part.end as u64 <= len);
                // SAFETY: the slot is this test's alone and has blocks.
                unsafe { slot.start().write_bytes(0xff, slot.len()) };
            }
        }
        let now = fs::metadata(trace.buffers()).unwrap();
        assert_eq!(now.len(), len);
        assert!(now.blocks() * 512 >= len, "{} blocks", now.blocks());
        assert!(file.take(EXTENT_LEN + 1).is_none());
    }

    /// Slots of two lengths that are taken in turns fill their extents.
    #[test]
    fn extents_are_filled() {
        let trace = Trace::new("filled");
        let file = trace.file(64 << 20);
        file.make_room();
        let slots: Vec<_> = [SMALL, USUAL]
            .into_iter()
            .cycle()
            .take(20)
            .map(|len| file.take(len).unwrap())
            .collect();
        assert!(slots.iter().all(|slot| slot.extent < 2));
    }

    /// The drainer keeps room ahead of what is used, until the file has its greatest length.
    #[test]
    fn there_is_always_room() {
        let trace = Trace::new("room");
        let file = trace.file(64 << 20);
        let mut slots = Vec::new();
        while slots.len() < file.extents.len() {
            file.make_room();
            let reserved = file.reserved.load(Relaxed);
            let free = reserved - slots.len();
            assert!(free >= MIN_FREE.max(slots.len() / 4) || reserved == file.extents.len());
            slots.extend(file.take(EXTENT_LEN));
        }
        assert_eq!(file.misses(), 0);
        assert!(file.take(SMALL).is_none());
        drop(slots.pop());
        assert!(file.take(SMALL).is_some());
    }

    #[test]
    fn a_file_of_another_run_is_replaced() {
        let trace = Trace::new("other");
        fs::write(trace.buffers(), "of another run").unwrap();
        let file = trace.file(1 << 20);
        file.set_alive(7);
        let bytes = fs::read(trace.buffers()).unwrap();
        assert!(bytes.starts_with(&buffer_file::MAGIC));
        assert_eq!(bytes[ALIVE_OFFSET..ALIVE_OFFSET + 2], [7, 0]);
        let mode = fs::metadata(trace.buffers()).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        file.remove();
        assert!(!trace.buffers().exists());
    }

    #[test]
    fn the_reason_for_a_missing_file_is_reported() {
        let create = |path: &str| {
            let error = BufferFile::create(Path::new(path), &FileHeader::default(), 1 << 20);
            error.unwrap_err().to_string()
        };
        assert_eq!(
            create("/no/such/x.lct"),
            "cannot write '/no/such/x.lct.buffers': No such file or directory"
        );
        // It has no files that can be reserved.
        assert!(create("/proc/self/x.lct").starts_with("cannot write"));
    }
}
