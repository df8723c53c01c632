//! A thread's new name on its way from the thread that gives it.
//!
//! The name waits in the slot of the thread, which takes it before its next event. Meanwhile the drainer
//! may copy it, once, in case that event is long in coming.

use std::ptr;

use trace_format::JavaThreadId;

use crate::fallible::{try_box, try_to_string};
use crate::primitive::{AtomicPtr, Ordering};

/// A thread's new name.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) java_id: JavaThreadId,
    pub(crate) text: String,
}

impl Name {
    /// `None` when memory is short.
    pub(crate) fn try_new(java_id: JavaThreadId, text: &str) -> Option<Box<Self>> {
        let text = try_to_string(text)?;
        try_box(Self { java_id, text })
    }
}

/// The last name that was given and not taken yet.
#[derive(Debug, Default)]
pub(crate) struct NewName {
    /// Null, [`BEING_COPIED`], or from `Box::into_raw` with [`COPIED`] added once it was copied; the
    /// thread that replaces it owns it.
    name: AtomicPtr<Name>,
}

/// The drainer has the name. No other thread replaces this but by a newer name.
const BEING_COPIED: *mut Name = ptr::without_provenance_mut(COPIED);
/// Names are aligned to more than that.
const COPIED: usize = 1;

impl NewName {
    /// Gives a name, and drops the previous one if that is still there. By any thread, at any time.
    pub(crate) fn give(&self, name: Box<Name>) {
        // Acquire and release: who gets a name sees it whole.
        let before = self.name.swap(Box::into_raw(name), Ordering::AcqRel);
        // SAFETY: the exchange makes this the only one to get it.
        drop(unsafe { owned(before) });
    }

    /// Takes the name, if any, unless it is being copied at this moment. By one thread at a time.
    #[inline]
    pub(crate) fn take(&self) -> Option<Box<Name>> {
        let name = self.name.load(Ordering::Relaxed);
        if name.is_null() {
            return None;
        }
        self.take_this(name)
    }

    #[cold]
    fn take_this(&self, mut name: *mut Name) -> Option<Box<Name>> {
        while !name.is_null() && name != BEING_COPIED {
            match self.exchange(name, ptr::null_mut()) {
                // SAFETY: the exchange makes this the only one to get it.
                Ok(taken) => return unsafe { owned(taken) },
                Err(found) => name = found,
            }
        }
        None
    }

    /// Copies the name, if any, unless it was copied before. `None` also when memory is
    /// short. By the drainer.
    pub(crate) fn copy(&self) -> Option<Box<Name>> {
        let name = self.name.load(Ordering::Relaxed);
        if name.is_null() || name.addr() & COPIED != 0 {
            return None;
        }
        let name = self.exchange(name, BEING_COPIED).ok()?;
        // SAFETY: `give` stored a box without a mark, and until another thread replaces the mark, which leaves the
        // name to this one, no other thread uses it.
        let copy = unsafe { &*name };
        let copy = Name::try_new(copy.java_id, &copy.text);
        let copied = name.map_addr(|address| address | COPIED);
        if self.exchange(BEING_COPIED, copied).is_err() {
            // SAFETY: a newer one has come, so that no other thread gets this.
            drop(unsafe { owned(name) });
        }
        copy
    }

    fn exchange(&self, from: *mut Name, to: *mut Name) -> Result<*mut Name, *mut Name> {
        // Acquire and release: who gets a name sees it whole.
        self.name
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// The name, if it is one.
///
/// # Safety
///
/// `name` was in the cell, and no other thread gets it.
unsafe fn owned(name: *mut Name) -> Option<Box<Name>> {
    let name = name.map_addr(|address| address & !COPIED);
    // SAFETY: not null, so `give` stored a box, which is the caller's alone.
    (!name.is_null()).then(|| unsafe { Box::from_raw(name) })
}

impl Drop for NewName {
    fn drop(&mut self) {
        drop(self.take());
    }
}
