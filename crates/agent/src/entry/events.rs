//! The callbacks of events.

use std::ffi::{c_char, c_uchar};
use std::slice;

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong, jobject, jthread};
use jvmti_bindings::sys::jvmti::{jvmtiEnv, jvmtiEventCallbacks};

use crate::commands;
use crate::entry::text::text;
use crate::ffi::{Env, Object};
use crate::hooks::{self, monitors};
use crate::instrumentation::LoadedClass;

/// Returns the functions below, as those that the JVM calls at events.
pub(super) fn callbacks() -> jvmtiEventCallbacks {
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(vm_init);
    callbacks.VMDeath = Some(vm_death);
    callbacks.ThreadEnd = Some(thread_end);
    callbacks.VirtualThreadEnd = Some(thread_end);
    callbacks.MonitorContendedEnter = Some(contended_enter);
    callbacks.MonitorContendedEntered = Some(contended_entered);
    callbacks.MonitorWait = Some(wait);
    callbacks.ClassFileLoadHook = Some(class_file_load);
    callbacks
}

unsafe extern "system" fn vm_init(jvmti: *mut jvmtiEnv, jni: *mut JNIEnv, _thread: jthread) {
    // SAFETY: as the JVM promises for a callback.
    commands::vm_init(unsafe { Env::new(jvmti, jni) });
}

unsafe extern "system" fn vm_death(_jvmti: *mut jvmtiEnv, _jni: *mut JNIEnv) {
    commands::unload();
}

unsafe extern "system" fn thread_end(jvmti: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: as the JVM promises for a callback.
    unsafe { with_object(jvmti, jni, thread, hooks::thread_end) };
}

unsafe extern "system" fn contended_enter(
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _thread: jthread,
    object: jobject,
) {
    // SAFETY: as the JVM promises for a callback.
    unsafe { with_object(jvmti, jni, object, monitors::contended_enter) };
}

unsafe extern "system" fn contended_entered(
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _thread: jthread,
    object: jobject,
) {
    // SAFETY: as the JVM promises for a callback.
    unsafe { with_object(jvmti, jni, object, monitors::contended_entered) };
}

unsafe extern "system" fn wait(
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _thread: jthread,
    object: jobject,
    _timeout_ms: jlong,
) {
    // SAFETY: as the JVM promises for a callback.
    unsafe { with_object(jvmti, jni, object, monitors::wait) };
}

/// # Safety
///
/// `jvmti` is an environment of the JVM, `jni` the current thread's, and `object` null or a
/// reference that is valid during the call.
unsafe fn with_object(
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    object: jobject,
    hook: fn(Env<'_>, Object<'_>),
) {
    // SAFETY: as the caller promises.
    let (env, object) = unsafe { (Env::new(jvmti, jni), Object::new(object)) };
    if let Some(object) = object {
        hook(env, object);
    }
}

unsafe extern "system" fn class_file_load(
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _protection_domain: jobject,
    len: jint,
    bytes: *const c_uchar,
    new_len: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    // SAFETY: as the JVM promises for a callback: references that are valid during it, a text or
    // null, and `len` bytes.
    let (env, class) = unsafe {
        let class = LoadedClass {
            name: text(name),
            loader: Object::new(loader),
            is_loaded_already: !redefined.is_null(),
            bytes: match (bytes.is_null(), usize::try_from(len)) {
                (false, Ok(len)) => slice::from_raw_parts(bytes, len),
                _ => &[],
            },
        };
        (Env::new(jvmti, jni), class)
    };
    let Some(changed) = hooks::class_file_load(env, &class) else {
        return;
    };
    let Ok(changed_len) = i32::try_from(changed.len()) else {
        return;
    };
    if let Some(copy) = env.copy_for_jvm(&changed) {
        // SAFETY: the JVM takes both from there, and frees the bytes.
        unsafe {
            new_len.write(changed_len);
            new_bytes.write(copy.as_ptr());
        }
    }
}
