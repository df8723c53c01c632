//! A thread's new name on its way from whoever gives it.

use std::ptr;

use trace_format::JavaThreadId;

use crate::fallible::{try_box, try_to_string};
use crate::primitive::{AtomicPtr, Ordering};

/// What a thread is called from now on.
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

/// The last name that was given and not taken yet. Anybody may give and take one at any time.
#[derive(Debug, Default)]
pub(crate) struct NewName {
    /// Null or from `Box::into_raw`; whoever replaces that owns it.
    name: AtomicPtr<Name>,
}

impl NewName {
    /// Nobody gets the name that was given before, if that is still there.
    pub(crate) fn give(&self, name: Box<Name>) {
        drop(self.replace(Box::into_raw(name)));
    }

    /// Takes the name, if there is one.
    pub(crate) fn take(&self) -> Option<Box<Name>> {
        if self.is_given() {
            self.replace(ptr::null_mut())
        } else {
            None
        }
    }

    /// A name is there to be taken.
    pub(crate) fn is_given(&self) -> bool {
        // Relaxed: `take` looks again.
        !self.name.load(Ordering::Relaxed).is_null()
    }

    fn replace(&self, name: *mut Name) -> Option<Box<Name>> {
        // Acquire and release: who gets the name sees it whole.
        let before = self.name.swap(name, Ordering::AcqRel);
        // SAFETY: not null, so `give` stored a box, and the exchange makes this the only one to
        // get it.
        (!before.is_null()).then(|| unsafe { Box::from_raw(before) })
    }
}

impl Drop for NewName {
    fn drop(&mut self) {
        drop(self.take());
    }
}
