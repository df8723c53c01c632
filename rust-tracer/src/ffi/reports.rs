//! Copies of a running trace, and reports about it.

use std::ptr;

use trace_report::Question;

use crate::ffi::lent::{LctStr, copy_message};
use crate::live::analysis::{self, ReportError};
use crate::live::dump;
use crate::runtime::Runtime;
use crate::text;

/// Copies the trace so far to a file of its own, which gets a number if its name is taken.
/// Writes the name of the copy to `text`, or, if it returns false, why the copy failed:
/// NUL-terminated, and cut off at `len` bytes. Waits for the drainer for at most ten
/// seconds, and then for as long as the copying takes.
///
/// # Safety
///
/// `runtime` comes from `lct_start`, and is not freed during the call. `path` is valid, and
/// `text` points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_dump(
    runtime: &'static Runtime,
    path: LctStr,
    text: *mut u8,
    len: usize,
) -> bool {
    // SAFETY: the caller promises a valid text.
    let copy = dump::dump(runtime, unsafe { path.to_path() });
    let message = match &copy {
        Ok(path) => path.to_string_lossy().into_owned(),
        Err(cause) => cause.to_string(),
    };
    // SAFETY: the caller promises `len` writable bytes.
    unsafe { copy_message(&message, text, len) };
    copy.is_ok()
}

/// The subject of a report. Each text may be empty, for the default of `locktrace report`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctQuestion {
    /// Aspects, separated by commas, outermost first.
    pub by: LctStr,
    /// The most rows on one level; 0 for all.
    pub top: LctStr,
    /// Kinds of waits, separated by commas, or `all`.
    pub kind: LctStr,
    /// Only waits that ended since: `10s` after the trace's start, or `-10s` before now.
    pub from: LctStr,
    /// `text` or `json`.
    pub format: LctStr,
}

/// Text made by the runtime, to be given back to `lct_text_free`.
#[derive(Debug)]
#[repr(C)]
pub struct LctText {
    /// First byte of UTF-8, or null.
    pub ptr: *mut u8,
    /// Number of bytes.
    pub len: usize,
}

impl From<String> for LctText {
    fn from(text: String) -> Self {
        let bytes = Box::leak(text.into_bytes().into_boxed_slice());
        Self {
            ptr: bytes.as_mut_ptr(),
            len: bytes.len(),
        }
    }
}

/// Reports on the trace so far. Writes the report to `text`, or, if it returns
/// false, why it failed; to be given back to `lct_text_free`. Waits for the
/// drainer for at most ten seconds, and for the analysis for at most thirty.
///
/// # Safety
///
/// `runtime` comes from `lct_start`, and is not freed during the call. The texts of `question`
/// are valid, and `text` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_report(
    runtime: &'static Runtime,
    question: &LctQuestion,
    text: *mut LctText,
) -> bool {
    let LctQuestion {
        by,
        top,
        kind,
        from,
        format,
    } = question;
    // SAFETY: the caller promises valid texts.
    let texts = [by, top, kind, from, format].map(|text| unsafe { text.bytes() });
    let [by, top, kind, from, format] = texts.map(text::from_jvm);
    let answer = Question::parse(&by, &top, &kind, &from, &format)
        .map_err(ReportError::Question)
        .and_then(|question| analysis::ask(runtime, question));
    let is_answered = answer.is_ok();
    let answer = answer.unwrap_or_else(|cause| cause.to_string());
    // SAFETY: the caller promises that it is writable.
    unsafe { text.write(answer.into()) };
    is_answered
}

/// Frees a text made by the runtime.
///
/// # Safety
///
/// `text` comes from the runtime, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_text_free(text: LctText) {
    if text.ptr.is_null() {
        return;
    }
    let bytes = ptr::slice_from_raw_parts_mut(text.ptr, text.len);
    // SAFETY: `LctText::from` has leaked a box of these bytes.
    drop(unsafe { Box::from_raw(bytes) });
}
