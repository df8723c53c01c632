//! Traced threads.

use trace_format::{JavaThreadId, StackRange};

use crate::ffi::lent::LctStr;
use crate::runtime::Runtime;
use crate::text;
use crate::tracer::ThreadTracer;

/// The memory of a thread's stack.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctStack {
    /// Its lowest address.
    pub lowest: u64,
    /// Its size in bytes; 0 if not known.
    pub size: u64,
}

impl From<LctStack> for StackRange {
    fn from(LctStack { lowest, size }: LctStack) -> Self {
        Self { lowest, size }
    }
}

/// A thread that starts.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctThreadStart {
    /// `Thread.getId()`, or 0 for a thread of the JVM itself.
    pub java_id: u64,
    /// Its name.
    pub name: LctStr,
    /// The address by which monitors name the thread as their owner; 0 if it owns none.
    pub vm_thread: u64,
    /// Where it may keep locks.
    pub stack: LctStack,
    /// When it started.
    pub time_ns: u64,
}

// The C header asserts the same sizes.
const _: () = assert!(size_of::<LctStack>() == 16 && size_of::<LctThreadStart>() == 56);

/// Returns a tracer for a thread, to be ended with `lct_thread_end`; null when memory is short.
///
/// # Safety
///
/// `runtime` comes from `lct_start`; the name is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_start(
    runtime: &'static Runtime,
    start: &LctThreadStart,
) -> Option<Box<ThreadTracer>> {
    // SAFETY: the caller promises a valid text.
    let name = unsafe { start.name.bytes() };
    ThreadTracer::start(
        runtime,
        JavaThreadId(start.java_id),
        &text::from_jvm(name),
        start.vm_thread,
        start.stack.into(),
        start.time_ns,
    )
}

/// Sets the number by which the operating system knows the tracer's thread (`gettid`): the
/// runtime asks it how long the thread was on a processor, and how long it waited for one.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_os_id(thread: Option<&mut ThreadTracer>, os_id: u32) {
    let Some(thread) = thread else { return };
    thread.set_os_id(os_id);
}

/// Returns the number in the trace of the thread that `vm_thread` names; 0 without such a thread
/// at present, or if its number is not known. The caller has to make sure by other means that
/// the thread did not end meanwhile and another one take its place.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_number(runtime: &'static Runtime, vm_thread: u64) -> u32 {
    runtime.threads.numbers.find(vm_thread).0
}

/// Notes the new name of the thread that `vm_thread` names, if it has a tracer, which writes the
/// name before its next event: of names that change faster, only the last one. By any thread, at
/// any time; the pointer is not followed.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_rename(
    runtime: &'static Runtime,
    vm_thread: u64,
    java_id: u64,
    name: LctStr,
) {
    // SAFETY: the caller promises a valid text.
    let name = unsafe { name.bytes() };
    runtime.rename_thread(vm_thread, JavaThreadId(java_id), &text::from_jvm(name));
}

/// Ends a tracer with its thread. The pointer is not valid afterwards.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_end(thread: Option<Box<ThreadTracer>>, time_ns: u64) {
    let Some(thread) = thread else { return };
    thread.end(time_ns);
}

/// Frees the tracer of a thread that goes on, because the trace ends. Hands its buffer
/// to the drainer. By any thread, while the tracer's thread does not use it.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_leave(thread: Option<Box<ThreadTracer>>) {
    let Some(thread) = thread else { return };
    thread.leave();
}

/// Hands what the thread has written to the drainer.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_submit(thread: Option<&mut ThreadTracer>) {
    let Some(thread) = thread else { return };
    thread.submit_buffer();
}

/// Hands the buffers of all threads to the drainer, except those that are
/// being written to at this moment.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_reclaim_all(runtime: &'static Runtime) {
    runtime.reclaim_all();
}

/// Counts the memory that the caller keeps for its threads: `change_bytes` more, or less if
/// negative.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_thread_memory(runtime: &'static Runtime, change_bytes: i64) {
    runtime.counts.thread_memory.add(change_bytes);
}

/// Changes the number of threads that were already waiting when the trace began and have no event
/// that says so: up by those for which time was too short, down by those described later.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_untold_waits(runtime: &'static Runtime, change: i32) {
    runtime.counts.losses.change_untold_waits(change.into());
}
