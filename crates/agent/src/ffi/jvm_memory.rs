//! Memory that the JVM has allocated for the agent.

use std::ffi::{CStr, c_char};
use std::ops::Deref;
use std::slice;

use super::env::Env;

/// A text of the JVM, in modified UTF-8.
#[derive(Debug)]
pub(crate) struct JvmText<'a> {
    env: Env<'a>,
    text: *mut c_char,
}

impl<'a> JvmText<'a> {
    /// # Safety
    ///
    /// `text` is null, or a NUL-terminated text that JVMTI has allocated and nobody else frees.
    pub(super) unsafe fn new(env: Env<'a>, text: *mut c_char) -> Self {
        Self { env, text }
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
        // SAFETY: allocated by JVMTI, as `new` demands, and not used any more.
        unsafe { self.env.deallocate(self.text.cast()) };
    }
}

/// An array of the JVM.
#[derive(Debug)]
pub(super) struct JvmArray<'a, T> {
    env: Env<'a>,
    values: *mut T,
    len: usize,
}

impl<'a, T> JvmArray<'a, T> {
    /// # Safety
    ///
    /// `values` is null, or points to `len` values in memory that JVMTI has allocated and nobody
    /// else frees.
    pub(super) unsafe fn new(env: Env<'a>, values: *mut T, len: i32) -> Self {
        let len = usize::try_from(len).unwrap_or_default();
        Self { env, values, len }
    }
}

impl<T> Deref for JvmArray<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.values.is_null() {
            return &[];
        }
        // SAFETY: so many values, as `new` demands, freed in `drop` only.
        unsafe { slice::from_raw_parts(self.values, self.len) }
    }
}

impl<T> Drop for JvmArray<'_, T> {
    fn drop(&mut self) {
        // SAFETY: allocated by JVMTI, as `new` demands, and not used any more.
        unsafe { self.env.deallocate(self.values.cast()) };
    }
}
