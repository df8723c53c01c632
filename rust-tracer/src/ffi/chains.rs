//! Call chains.

use std::mem::offset_of;

use trace_format::{ChainId, Frame, MethodId};

use crate::chains::key::{self, ChainKey, CodeUnit};
use crate::ffi::lent::slice_or_empty;
use crate::runtime::Runtime;
use crate::site_table::SiteTable;
use crate::tracer::ThreadTracer;

/// One frame of a call chain.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctFrame {
    /// Identifier of the method executed.
    pub method: u32,
    /// Byte code index, -1 without one.
    pub bci: i32,
    /// Source line, -1 if not known.
    pub line: i32,
}

/// The key of a call chain: the sequence of physical frames, outermost
/// first, each packed into 64 bits that never stand for another frame.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctChainKey {
    /// Outermost frame.
    pub frames: *const u64,
    /// Number of frames.
    pub len: usize,
    /// `lct_chain_hash` of all of them.
    pub hash: u64,
}

// A pointer to frames is cast to the type inside. The C header asserts the size, too.
const _: () = {
    assert!(size_of::<LctFrame>() == 12 && size_of::<Frame>() == 12);
    assert!(align_of::<LctFrame>() == align_of::<Frame>());
    assert!(offset_of!(LctFrame, bci) == 4 && offset_of!(Frame, bci) == 4);
    assert!(offset_of!(LctFrame, line) == 8 && offset_of!(Frame, line) == 8);
    assert!(size_of::<LctChainKey>() == 24);
};

impl LctChainKey {
    /// # Safety
    ///
    /// `frames` points to `len` values that stay unchanged during `'a`.
    unsafe fn borrow<'a>(self) -> ChainKey<'a> {
        ChainKey {
            // SAFETY: as the caller promises.
            frames: unsafe { slice_or_empty(self.frames, self.len) },
            hash: self.hash,
        }
    }
}

/// Returns the hash of a part of a call chain: of `len` frames, outermost first, inside
/// `outer_len` others. The hash of a chain is the sum of those of its parts.
///
/// # Safety
///
/// `frames` points to `len` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_hash(outer_len: usize, frames: *const u64, len: usize) -> u64 {
    // SAFETY: the caller promises `len` values.
    key::hash(outer_len, unsafe { slice_or_empty(frames, len) })
}

/// Returns the call chain with the given key, or 0 if it must be added. Of
/// the key's frames, `saved` were taken from an earlier walk.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; the key is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_find(
    thread: Option<&mut ThreadTracer>,
    key: LctChainKey,
    saved: usize,
) -> u32 {
    let Some(thread) = thread else { return 0 };
    // SAFETY: the caller promises valid frames.
    thread.find_chain(unsafe { key.borrow() }, saved).0
}

/// Returns `chain`, which `lct_chain_find` or `lct_chain_add` has returned in the metadata
/// epoch `epoch`, for the same `len` frames of code that still lives; 0 if it may have to
/// be described again. `saved` frames were taken from an earlier walk.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_again(
    thread: Option<&mut ThreadTracer>,
    chain: u32,
    epoch: u32,
    len: usize,
    saved: usize,
) -> u32 {
    let Some(thread) = thread else { return 0 };
    thread.chain_again(ChainId(chain), epoch, len, saved).0
}

/// Adds a call chain. `frames`, innermost first, are the key's frames with the inlined ones
/// resolved; `truncated` if outer ones are missing. Returns the chain's
/// identifier, also if another thread was first, or 0 when memory is short.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; the key is valid, and `frames` points
/// to `frames_len` frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_add(
    thread: Option<&mut ThreadTracer>,
    key: LctChainKey,
    frames: *const LctFrame,
    frames_len: usize,
    truncated: bool,
) -> u32 {
    let Some(thread) = thread else { return 0 };
    // SAFETY: the caller promises that many frames; the layouts agree, as
    // asserted above.
    let (key, frames) = unsafe { (key.borrow(), slice_or_empty(frames.cast(), frames_len)) };
    thread.add_chain(key, frames, truncated).0
}

/// Notes that a compiled method was flushed: no thread has a frame of it, and
/// none ever will. Call chains with such frames are forgotten.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_code_flushed(runtime: &'static Runtime, compile_id: u32) {
    if let Some(unit) = CodeUnit::compiled(compile_id) {
        runtime.unload_queue.post(unit);
    }
}

/// Notes that a method is freed: no thread has an interpreted frame of it, and
/// none ever will. Call chains with such frames are forgotten, and so is the
/// method. Does nothing for 0. At a safepoint.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_method_freed(runtime: &'static Runtime, method_id: u32) {
    if let Some(unit) = CodeUnit::interpreted(MethodId(method_id)) {
        runtime.sites.iter().for_each(SiteTable::forget);
        runtime.unload_queue.post(unit);
    }
}
