//! The Java class that the JDK calls in the place of `Unsafe.park` and `Unsafe.unpark`, and when
//! synchronizers get other owners.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{
    JNI_FALSE, JNI_TRUE, JNIEnv, JNINativeMethod, jboolean, jclass, jfieldID, jint, jlong, jobject,
};

use super::env::{Env, Object};
use super::helper::Helper;
use super::machine::Environment;
use crate::park_hooks;

/// The internal name of the class.
pub(crate) const PARKS_CLASS: &str = "java/locktrace/Parks";

/// What javac of JDK 8 makes of `helper/Parks.java`.
const CLASS_FILE: &[u8] = include_bytes!("../../helper/Parks.class");

/// `JNI_VERSION_9`.
const MODULES_SINCE: jint = 0x0009_0000;

/// Defined once in a JVM, whatever traces come.
static HELPER: OnceLock<Option<ParkHelper>> = OnceLock::new();

/// The class.
#[derive(Debug)]
pub(crate) struct ParkHelper {
    pub(crate) helper: Helper,
    traced: NonNull<c_void>,
}

// SAFETY: identifiers of fields may be used by any thread.
unsafe impl Send for ParkHelper {}
// SAFETY: as above.
unsafe impl Sync for ParkHelper {}

impl ParkHelper {
    /// The class, which is defined at the first call. `None` if the JVM refuses it.
    pub(crate) fn get(env: Env<'_>) -> Option<&'static Self> {
        HELPER
            .get_or_init(|| {
                let helper = Self::define(env);
                env.clear_exception();
                helper
            })
            .as_ref()
    }

    fn define(env: Env<'_>) -> Option<Self> {
        let (native, jni) = env.jni()?;
        // SAFETY: the interface is the current thread's.
        let has_modules = unsafe { (native.GetVersion)(jni) } >= MODULES_SINCE;
        let bytes = match has_modules {
            true => with_internal_unsafe(CLASS_FILE),
            false => CLASS_FILE.to_vec(),
        };
        let method =
            |name: &'static std::ffi::CStr, signature: &'static std::ffi::CStr, function| {
                JNINativeMethod {
                    name: name.as_ptr(),
                    signature: signature.as_ptr(),
                    fnPtr: function,
                }
            };
        let objects = c"(Ljava/lang/Object;Ljava/lang/Object;I)V";
        let natives = [
            method(c"parks", c"(ZJ)V", parks as *mut c_void),
            method(c"parked", c"()V", parked as *mut c_void),
            method(c"unparks", c"(Ljava/lang/Object;)V", unparks as *mut c_void),
            method(c"unparked", c"()V", unparked as *mut c_void),
            method(c"ownerChanges", objects, owner_changes as *mut c_void),
        ];
        let name = c"java/locktrace/Parks";
        // SAFETY: the types of the native methods are those in the source; the field is asked for
        // with its type.
        unsafe {
            let helper = Helper::define(env, name, &bytes, c"PARKED_ON", &natives)?;
            let traced =
                (native.GetStaticFieldID)(jni, helper.class(), c"traced".as_ptr(), c"Z".as_ptr());
            let exported = !has_modules || env.export_internal_unsafe_to(helper.class());
            exported.then_some(Self {
                traced: NonNull::new(traced)?,
                helper,
            })
        }
    }

    /// Lets the class tell of parks, or not any more.
    pub(crate) fn set_traced(&self, env: Env<'_>, traced: bool) {
        if let Some((native, jni)) = env.jni() {
            let traced = if traced { JNI_TRUE } else { JNI_FALSE };
            let field: jfieldID = self.traced.as_ptr();
            // SAFETY: a static field of the class, of this type.
            unsafe { (native.SetStaticBooleanField)(jni, self.helper.class(), field, traced) };
        }
    }
}

/// The class file with the name that `Unsafe` has from JDK 9 on in the place of the old one.
fn with_internal_unsafe(class: &[u8]) -> Vec<u8> {
    // With its length in two bytes, as the constant pool has it.
    const OLD: &[u8] = b"\x00\x0fsun/misc/Unsafe";
    const NEW: &[u8] = b"\x00\x18jdk/internal/misc/Unsafe";
    let at = class.windows(OLD.len()).position(|bytes| bytes == OLD);
    let parts =
        at.and_then(|at| Some((class.get(..at)?, class.get(at.checked_add(OLD.len())?..)?)));
    parts.map_or_else(Vec::new, |(before, after)| [before, NEW, after].concat())
}

/// # Safety
///
/// The JVM gives the current thread's interface to native methods.
unsafe fn current(jni: *mut JNIEnv) -> impl Fn(&Environment) -> Env<'_> {
    // SAFETY: as the caller promises.
    move |environment| unsafe { environment.env_with(jni) }
}

unsafe extern "system" fn parks(
    jni: *mut JNIEnv,
    _class: jclass,
    is_absolute: jboolean,
    time: jlong,
) {
    // SAFETY: called by the JVM.
    park_hooks::park_begin(unsafe { current(jni) }, is_absolute == JNI_TRUE, time);
}

unsafe extern "system" fn parked(jni: *mut JNIEnv, _class: jclass) {
    // SAFETY: called by the JVM.
    park_hooks::park_end(unsafe { current(jni) });
}

unsafe extern "system" fn unparks(jni: *mut JNIEnv, _class: jclass, thread: jobject) {
    // SAFETY: called by the JVM, with a reference that is valid during the call, or null.
    unsafe {
        if let Some(thread) = Object::new(thread) {
            park_hooks::unpark_begin(current(jni), thread);
        }
    }
}

unsafe extern "system" fn unparked(jni: *mut JNIEnv, _class: jclass) {
    // SAFETY: called by the JVM.
    park_hooks::unpark_end(unsafe { current(jni) });
}

unsafe extern "system" fn owner_changes(
    jni: *mut JNIEnv,
    _class: jclass,
    synchronizer: jobject,
    thread: jobject,
    slot: jint,
) {
    // SAFETY: called by the JVM, with references that are valid during the call, or null.
    unsafe {
        let (synchronizer, thread) = (Object::new(synchronizer), Object::new(thread));
        if let (Some(synchronizer), Ok(slot)) = (synchronizer, usize::try_from(slot)) {
            park_hooks::owner_changes(current(jni), synchronizer, thread, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_has_another_name() {
        let class = with_internal_unsafe(CLASS_FILE);
        assert_eq!(class.len(), CLASS_FILE.len() + 9);
    }
}
