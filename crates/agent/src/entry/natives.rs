//! The native methods of the helper classes. These only convert.

use jvmti_bindings::sys::jni::{JNI_TRUE, JNIEnv, jboolean, jclass, jint, jlong, jobject};

use crate::ffi::{Env, Environment, Object};
use crate::hooks::{monitors, parks as park_hooks};

/// `Monitors.released` of a slot.
pub(super) unsafe extern "system" fn released(
    jni: *mut JNIEnv,
    _class: jclass,
    slot: jint,
    _site: jint,
) {
    let Ok(slot) = usize::try_from(slot) else {
        return;
    };
    monitors::contended_exit(slot, |environment| {
        // SAFETY: the JVM gives the current thread's interface to native methods.
        unsafe { environment.env_with(jni) }
    });
}

/// `Monitors.released` of an object in the table.
pub(super) unsafe extern "system" fn released_from_table(
    jni: *mut JNIEnv,
    _class: jclass,
    object: jobject,
    _site: jint,
) {
    // SAFETY: called by the JVM, with a reference that is valid during the call.
    unsafe {
        if let Some(object) = Object::new(object) {
            monitors::contended_exit_of(object, interface(jni));
        }
    }
}

/// # Safety
///
/// The JVM gives the current thread's interface to native methods.
unsafe fn interface(jni: *mut JNIEnv) -> impl Fn(&Environment) -> Env<'_> {
    // SAFETY: as the caller promises.
    move |environment| unsafe { environment.env_with(jni) }
}

pub(super) unsafe extern "system" fn parks(
    jni: *mut JNIEnv,
    _class: jclass,
    current: jobject,
    is_absolute: jboolean,
    time: jlong,
) {
    // SAFETY: called by the JVM, with references that are valid during the call.
    unsafe {
        if let Some(current) = Object::new(current) {
            let is_absolute = is_absolute == JNI_TRUE;
            park_hooks::park_begin(interface(jni), current, is_absolute, time);
        }
    }
}

pub(super) unsafe extern "system" fn parked(jni: *mut JNIEnv, _class: jclass, current: jobject) {
    // SAFETY: as above.
    unsafe {
        if let Some(current) = Object::new(current) {
            park_hooks::park_end(interface(jni), current);
        }
    }
}

pub(super) unsafe extern "system" fn unparks(
    jni: *mut JNIEnv,
    _class: jclass,
    current: jobject,
    thread: jobject,
) {
    // SAFETY: as above, or null.
    unsafe {
        if let (Some(current), Some(thread)) = (Object::new(current), Object::new(thread)) {
            park_hooks::unpark_begin(interface(jni), current, thread);
        }
    }
}

pub(super) unsafe extern "system" fn unparked(jni: *mut JNIEnv, _class: jclass, current: jobject) {
    // SAFETY: as above.
    unsafe {
        if let Some(current) = Object::new(current) {
            park_hooks::unpark_end(interface(jni), current);
        }
    }
}

pub(super) unsafe extern "system" fn owner_changes(
    jni: *mut JNIEnv,
    _class: jclass,
    current: jobject,
    synchronizer: jobject,
    thread: jobject,
    slot: jint,
) {
    // SAFETY: as above, or null.
    unsafe {
        let (current, synchronizer) = (Object::new(current), Object::new(synchronizer));
        let new_owner = Object::new(thread);
        if let (Some(current), Some(synchronizer), Ok(slot)) =
            (current, synchronizer, usize::try_from(slot))
        {
            park_hooks::owner_changes(interface(jni), current, synchronizer, new_owner, slot);
        }
    }
}
