//! Texts that the JVM passes.

use std::ffi::{CStr, c_char};

/// # Safety
///
/// `text` is null or NUL-terminated, and stays unchanged during `'a`.
pub(super) unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}
