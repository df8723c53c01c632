//! Memory that the caller lends for the time of a call.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::slice;

/// Text that the callee only reads during the call: UTF-8, or modified UTF-8 as
/// in the JVM's symbols. A null `ptr` is empty text.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctStr {
    /// First byte.
    pub ptr: *const u8,
    /// Number of bytes.
    pub len: usize,
}

// The C header asserts the same layout.
const _: () = assert!(size_of::<LctStr>() == 16);

impl LctStr {
    /// # Safety
    ///
    /// `ptr` is null or points to `len` bytes that stay unchanged during `'a`.
    pub(super) unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: as the caller promises.
        unsafe { slice_or_empty(self.ptr, self.len) }
    }

    /// # Safety
    ///
    /// `ptr` is null or points to `len` bytes.
    pub(super) unsafe fn to_path(self) -> PathBuf {
        // SAFETY: as the caller promises.
        PathBuf::from(OsStr::from_bytes(unsafe { self.bytes() }))
    }
}

/// # Safety
///
/// `ptr` is null or points to `len` values that stay unchanged during `'a`.
pub(super) unsafe fn slice_or_empty<'a, T>(ptr: *const T, len: usize) -> &'a [T] {
    if ptr.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(ptr, len) }
}

/// Copies as much of `message` as fits before a NUL at the end of the `len` bytes at `to`.
///
/// # Safety
///
/// `to` points to `len` writable bytes.
pub(super) unsafe fn copy_message(message: &str, to: *mut u8, len: usize) {
    // SAFETY: as the caller promises.
    let to = unsafe { slice::from_raw_parts_mut(to, len) };
    to.fill(0);
    let Some((_nul, text)) = to.split_last_mut() else {
        return;
    };
    for (to, from) in text.iter_mut().zip(message.bytes()) {
        *to = from;
    }
}
