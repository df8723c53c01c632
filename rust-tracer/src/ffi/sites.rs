//! Where objects were allocated that become contended locks.

use trace_format::{ChainId, ClassId};

use crate::chains::key;
use crate::runtime::Runtime;
use crate::site_table::ObjectId;
use crate::tracer::ThreadTracer;

/// In place of the outermost frame of a key: the chain allocates an object, and the trace may
/// refer to it long after the code of its frames is gone.
pub const LCT_SITE_FRAME: u64 = 0x2000_0000_0000_0000;
const _: () = assert!(LCT_SITE_FRAME == key::SITE);

/// Notes where the thread has allocated an object, in case it becomes a contended lock. `chain`
/// begins with [`LCT_SITE_FRAME`].
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_allocated(
    thread: Option<&mut ThreadTracer>,
    class_id: u32,
    identity_hash: u32,
    chain: u32,
) {
    let Some(thread) = thread else { return };
    thread.allocated(object_id(class_id, identity_hash), ChainId(chain));
}

/// Writes where an object was allocated that is a contended lock, if that is known. Called
/// before the lock is described, by `lct_lock_describe` or the begin of a park, and after the
/// number for that was taken. Without `again`, writes nothing that the trace already has.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_tell_site(
    thread: Option<&mut ThreadTracer>,
    class_id: u32,
    identity_hash: u32,
    again: bool,
) {
    let Some(thread) = thread else { return };
    thread.write_site(object_id(class_id, identity_hash), again);
}

fn object_id(class: u32, identity_hash: u32) -> ObjectId {
    ObjectId {
        class: ClassId(class),
        identity_hash,
    }
}

/// Counts objects whose allocation was recorded, objects of the same classes whose allocation
/// was not, and the time of threads that the recording took.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_allocated(
    runtime: &'static Runtime,
    recorded: u64,
    skipped: u64,
    recording_ns: u64,
) {
    let counts = &runtime.counts.sites;
    counts.add_objects(recorded, skipped, recording_ns);
}

/// Counts a stop of all threads that began to record the allocations of some classes and gave up
/// others.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_site_stop(
    runtime: &'static Runtime,
    classes: u64,
    given_up: u64,
    methods_discarded: u64,
    stopped_ns: u64,
) {
    let counts = &runtime.counts.sites;
    counts.add_stop(classes, given_up, methods_discarded, stopped_ns);
}
