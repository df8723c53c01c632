//! Memory that the JVM has allocated for the agent.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::ops::Deref;
use std::slice;

use jvmti_bindings::sys::jvmti::jvmtiEnv;

/// The allocator: an environment of the tool interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory<'a> {
    jvmti: *mut jvmtiEnv,
    call: PhantomData<&'a ()>,
}

impl Memory<'_> {
    /// # Safety
    ///
    /// `jvmti` is an environment of the JVM, and stays so as long as the result is used.
    pub(super) unsafe fn new(jvmti: *mut jvmtiEnv) -> Self {
        Self {
            jvmti,
            call: PhantomData,
        }
    }

    /// # Safety
    ///
    /// `memory` is null or allocated by this environment, and not used afterwards.
    unsafe fn free(self, memory: *mut u8) {
        // SAFETY: an environment points to its table of functions, as `new` demands; the rest is as
        // the caller promises.
        unsafe {
            if let Some(deallocate) = (*(*self.jvmti).functions).Deallocate {
                deallocate(self.jvmti, memory);
            }
        }
    }
}

/// A text of the JVM, in modified UTF-8.
#[derive(Debug)]
pub(crate) struct JvmText<'a> {
    text: *mut c_char,
    memory: Memory<'a>,
}

impl<'a> JvmText<'a> {
    /// # Safety
    ///
    /// `text` is null, or a NUL-terminated text that `memory` has allocated and nobody else frees.
    pub(super) unsafe fn new(memory: Memory<'a>, text: *mut c_char) -> Self {
        Self { text, memory }
    }
}

impl Deref for JvmText<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.text.is_null() {
            return &[];
        }
        // SAFETY: NUL-terminated, as `new` demands, and freed in `drop` only.
        unsafe { CStr::from_ptr(self.text) }.to_bytes()
    }
}

impl Drop for JvmText<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated there, as `new` demands, and not used any more.
        unsafe { self.memory.free(self.text.cast()) };
    }
}

/// An array of the JVM.
#[derive(Debug)]
pub(super) struct JvmArray<'a, T> {
    values: *mut T,
    len: usize,
    memory: Memory<'a>,
}

impl<'a, T> JvmArray<'a, T> {
    /// # Safety
    ///
    /// `values` is null, or points to `len` values that `memory` has allocated and nobody else
    /// frees.
    pub(super) unsafe fn new(memory: Memory<'a>, values: *mut T, len: i32) -> Self {
        let len = usize::try_from(len).unwrap_or_default();
        Self {
            values,
            len,
            memory,
        }
    }
}

impl<T> Deref for JvmArray<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.values.is_null() {
            return &[];
        }
        // SAFETY: `len` values, as `new` demands, freed in `drop` only.
        unsafe { slice::from_raw_parts(self.values, self.len) }
    }
}

impl<T> Drop for JvmArray<'_, T> {
    fn drop(&mut self) {
        // SAFETY: allocated there, as `new` demands, and not used any more.
        unsafe { self.memory.free(self.values.cast()) };
    }
}
