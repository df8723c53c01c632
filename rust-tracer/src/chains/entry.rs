//! An entry of the hash table of call chains: one block of memory, so that a
//! lookup that has found the entry has most of its frames in the cache.

use std::alloc::{self, Layout};
use std::ptr;

use trace_format::ChainId;

use crate::chains::key::ChainKey;
use crate::primitive::{AtomicPtr, AtomicU32, Ordering};

/// A link to an entry, null or from [`Entry::into_link`]. It points to the
/// beginning, because a link to the whole would not be a single word.
pub(crate) type Link = *mut Header;

/// The outcome of adding a chain to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The chain has this identifier, and the caller must describe it.
    Describe(ChainId),
    /// The chain has this identifier, and another call has to describe it.
    Known(ChainId),
}

/// The part before the frames.
#[derive(Debug)]
pub(crate) struct Header {
    hash: u64,
    /// The next entry of the list.
    next: AtomicPtr<Header>,
    len: usize,
    id: ChainId,
    /// The chain was described in this epoch, at the latest.
    epoch: AtomicU32,
}

/// A known call chain. Its key and identifier are constant.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Entry {
    header: Header,
    frames: [u64],
}

impl Entry {
    /// `None` when memory is short.
    pub(crate) fn try_new(key: ChainKey<'_>, id: ChainId, epoch: u32) -> Option<Box<Self>> {
        let len = key.frames.len();
        let (layout, frames_offset) = Layout::new::<Header>()
            .extend(Layout::array::<u64>(len).ok()?)
            .ok()?;
        let layout = layout.pad_to_align();
        // SAFETY: the layout's size is not zero: there is a header.
        let memory = unsafe { alloc::alloc(layout) };
        if memory.is_null() {
            return None;
        }
        let header = Header {
            hash: key.hash,
            next: AtomicPtr::default(),
            len,
            id,
            epoch: AtomicU32::new(epoch),
        };
        // SAFETY: `memory` is fresh, from the global allocator with the layout of
        // an entry with as many frames; header and frames initialize all of it.
        unsafe {
            let frames = memory.add(frames_offset).cast::<u64>();
            ptr::copy_nonoverlapping(key.frames.as_ptr(), frames, len);
            let link: Link = memory.cast();
            link.write(header);
            Some(Self::from_link(link))
        }
    }

    /// To be undone by [`from_link`](Self::from_link).
    pub(crate) fn into_link(self: Box<Self>) -> Link {
        Box::into_raw(self).cast()
    }

    /// # Safety
    ///
    /// `link` comes from [`into_link`](Self::into_link), and no other code uses it
    /// from now on.
    pub(crate) unsafe fn from_link(link: Link) -> Box<Self> {
        // SAFETY: as the caller promises.
        unsafe { Box::from_raw(Self::whole(link)) }
    }

    /// The entry that a link leads to; `None` if it is null.
    ///
    /// # Safety
    ///
    /// `link` is null, or the entry lives during `'a`.
    pub(crate) unsafe fn at<'a>(link: Link) -> Option<&'a Self> {
        // SAFETY: not null, so the caller promises an entry.
        (!link.is_null()).then(|| unsafe { &*Self::whole(link) })
    }

    /// # Safety
    ///
    /// `link` leads to an entry.
    unsafe fn whole(link: Link) -> *mut Self {
        // SAFETY: the caller promises an entry, whose header has its length.
        let len = unsafe { (*link).len };
        // A pointer to a slice has the same metadata as one to the entry.
        ptr::slice_from_raw_parts_mut(link, len) as *mut Self
    }

    pub(crate) fn key(&self) -> ChainKey<'_> {
        ChainKey {
            frames: &self.frames,
            hash: self.header.hash,
        }
    }

    pub(crate) fn frames(&self) -> &[u64] {
        &self.frames
    }

    pub(crate) fn id(&self) -> ChainId {
        self.header.id
    }

    pub(crate) fn has_key(&self, key: ChainKey<'_>) -> bool {
        self.header.hash == key.hash && self.frames == *key.frames
    }

    /// Memory that the entry takes, in bytes.
    pub(crate) fn size(&self) -> u64 {
        size_of_val(self) as u64
    }

    /// Where the link to the next entry stands.
    pub(crate) fn next(&self) -> &AtomicPtr<Header> {
        &self.header.next
    }

    /// Returns the last epoch in which the chain was described.
    pub(crate) fn epoch(&self) -> u32 {
        // Relaxed: decides only who describes the chain.
        self.header.epoch.load(Ordering::Relaxed)
    }

    /// Decides who describes the chain in `epoch`.
    pub(crate) fn describe_in(&self, epoch: u32) -> Added {
        // Relaxed: as above.
        let described = self.header.epoch.fetch_max(epoch, Ordering::Relaxed);
        if described < epoch {
            Added::Describe(self.id())
        } else {
            Added::Known(self.id())
        }
    }
}
