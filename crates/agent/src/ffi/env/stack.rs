//! The stacks of threads.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;

use crate::ffi::env::Env;
use crate::ffi::reference::{Method, Object};

/// A frame on a thread's stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) method: Method<'a>,
    /// The byte code index; `None` in native code.
    pub(crate) bci: Option<u16>,
}

/// A buffer for the frames of a stack.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffer: Vec<jvmtiFrameInfo>,
    len: usize,
}

// SAFETY: the identifiers of methods in it are numbers until `Env::frames` reads them.
unsafe impl Send for Frames {}

impl Frames {
    /// Allocates a buffer for `capacity` frames; `None` if memory is short.
    pub(crate) fn with_capacity(capacity: usize) -> Option<Self> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(capacity).ok()?;
        buffer.resize_with(capacity, jvmtiFrameInfo::default);
        Some(Self { buffer, len: 0 })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer is full, so that outer frames may be missing.
    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.buffer.len()
    }
}

impl<'a> Env<'a> {
    /// Fills `frames` with the stack of a thread, by default the current one, the innermost frame
    /// first, without the first `skipped` frames.
    pub(crate) fn stack(self, thread: Option<Object<'_>>, skipped: u16, frames: &mut Frames) {
        let Ok(capacity) = i32::try_from(frames.buffer.len()) else {
            return;
        };
        let mut count = 0;
        // SAFETY: a thread, or null for the current one; the buffer has that capacity.
        unsafe {
            jvmti!(
                self,
                GetStackTrace,
                thread.map_or(ptr::null_mut(), Object::raw),
                skipped.into(),
                capacity,
                frames.buffer.as_mut_ptr(),
                &mut count
            )
        };
        frames.len = usize::try_from(count).unwrap_or_default();
    }

    /// Returns the frames of the last [`stack`](Self::stack) in this call of the agent.
    pub(crate) fn frames(self, frames: &Frames) -> impl DoubleEndedIterator<Item = Frame<'a>> {
        let filled = frames.buffer.get(..frames.len).unwrap_or_default();
        filled.iter().filter_map(|frame| {
            Some(Frame {
                method: Method(NonNull::new(frame.method)?, PhantomData),
                bci: u16::try_from(frame.location).ok(),
            })
        })
    }
}
