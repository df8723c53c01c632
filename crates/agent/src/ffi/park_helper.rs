//! The Java classes that the instrumented JDK calls to park and unpark threads, and when synchronizers
//! change their owners.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{
    JNI_FALSE, JNI_TRUE, JNIEnv, JNINativeMethod, jboolean, jclass, jfieldID, jint, jlong, jobject,
};

use crate::ffi::env::Env;
use crate::ffi::helper::{Arrays, Helper, MAX_SLOTS, once, with_unsafe_of};
use crate::ffi::reference::{Class, Object};

/// The internal name of the class.
pub(crate) const PARKS_CLASS: &str = "java/locktrace/Parks";
/// The internal name of the class for virtual threads.
pub(crate) const VIRTUAL_PARKS_CLASS: &str = "java/locktrace/VirtualParks";

/// `helper/Parks.java`, compiled by JDK 8.
const CLASS_FILE: &[u8] = include_bytes!("../../helper/Parks.class");
/// `helper/VirtualParks.java`, compiled likewise.
const VIRTUAL_CLASS_FILE: &[u8] = include_bytes!("../../helper/VirtualParks.class");

static HELPER: OnceLock<Option<ParkHelper>> = OnceLock::new();

/// The native methods of the class, which are static.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParkNatives {
    pub(crate) parks: unsafe extern "system" fn(*mut JNIEnv, jclass, jobject, jboolean, jlong),
    pub(crate) parked: unsafe extern "system" fn(*mut JNIEnv, jclass, jobject),
    pub(crate) unparks: unsafe extern "system" fn(*mut JNIEnv, jclass, jobject, jobject),
    pub(crate) unparked: unsafe extern "system" fn(*mut JNIEnv, jclass, jobject),
    pub(crate) owner_changes:
        unsafe extern "system" fn(*mut JNIEnv, jclass, jobject, jobject, jobject, jint),
}

/// The classes.
#[derive(Debug)]
pub(crate) struct ParkHelper {
    pub(crate) helper: Helper,
    /// Whether the class for virtual threads is defined.
    pub(crate) traces_virtual_threads: bool,
    traced: NonNull<c_void>,
}

// SAFETY: identifiers of fields may be used by any thread.
unsafe impl Send for ParkHelper {}
// SAFETY: as above.
unsafe impl Sync for ParkHelper {}

impl ParkHelper {
    /// Returns the classes, which the first call defines; `None` if the JVM refuses them.
    /// `neighbor` is a class of the package.
    pub(crate) fn get(
        env: Env<'_>,
        neighbor: Class<'_>,
        natives: ParkNatives,
    ) -> Option<&'static Self> {
        once(&HELPER, env, || Self::define(env, neighbor, natives))
    }

    fn define(env: Env<'_>, neighbor: Class<'_>, natives: ParkNatives) -> Option<Self> {
        let (native, jni) = env.jni()?;
        let method = |name: &'static CStr, signature: &'static CStr, function| JNINativeMethod {
            name: name.as_ptr(),
            signature: signature.as_ptr(),
            fnPtr: function,
        };
        let parking = c"(Ljava/lang/Thread;ZJ)V";
        let unparking = c"(Ljava/lang/Thread;Ljava/lang/Object;)V";
        let over = c"(Ljava/lang/Thread;)V";
        let changes = c"(Ljava/lang/Thread;Ljava/lang/Object;Ljava/lang/Object;I)V";
        let natives = [
            method(c"parks", parking, natives.parks as *mut c_void),
            method(c"parked", over, natives.parked as *mut c_void),
            method(c"unparks", unparking, natives.unparks as *mut c_void),
            method(c"unparked", over, natives.unparked as *mut c_void),
            method(
                c"ownerChanges",
                changes,
                natives.owner_changes as *mut c_void,
            ),
        ];
        let name = c"java/locktrace/Parks";
        let arrays = Arrays {
            slots: (c"PARKED_ON", MAX_SLOTS),
            table: None,
        };
        // SAFETY: `neighbor` is a class of the package; the native methods and the fields have the types
        // in the source.
        unsafe {
            let bytes = with_unsafe_of(env, neighbor.raw(), CLASS_FILE)?;
            let helper = Helper::define(env, name, &bytes, arrays, &natives)?;
            let traced =
                (native.GetStaticFieldID)(jni, helper.class(), c"traced".as_ptr(), c"Z".as_ptr());
            Some(Self {
                traced: NonNull::new(traced)?,
                traces_virtual_threads: define_virtual(env, helper.class()),
                helper,
            })
        }
    }

    /// Has the class report parks, or stop that.
    pub(crate) fn set_traced(&self, env: Env<'_>, traced: bool) {
        if let Some((native, jni)) = env.jni() {
            let traced = if traced { JNI_TRUE } else { JNI_FALSE };
            let field: jfieldID = self.traced.as_ptr();
            // SAFETY: a static field of the class, of this type.
            unsafe { (native.SetStaticBooleanField)(jni, self.helper.class(), field, traced) };
        }
    }
}

/// Defines the class for virtual threads. Returns `false` if the JVM has no virtual threads, or parks
/// them in another way.
///
/// # Safety
///
/// `neighbor` is a reference to a class of the same package.
unsafe fn define_virtual(env: Env<'_>, neighbor: jclass) -> bool {
    let Some((native, jni)) = env.jni().filter(|_| env.has_virtual_threads()) else {
        return false;
    };
    let called = [
        (c"parkVirtualThread", c"()V"),
        (c"parkVirtualThread", c"(J)V"),
        (c"unparkVirtualThread", c"(Ljava/lang/Thread;)V"),
    ];
    // SAFETY: the texts are NUL-terminated, and the references are checked before they are used.
    let defined = unsafe {
        let access = (native.FindClass)(jni, c"jdk/internal/access/JavaLangAccess".as_ptr());
        let access = Object::new(access);
        let has_method = |access: Object<'_>, (name, signature): (&CStr, &CStr)| {
            let (name, signature) = (name.as_ptr(), signature.as_ptr());
            !(native.GetMethodID)(jni, access.raw(), name, signature).is_null()
        };
        let is_usable = access.is_some_and(|access| {
            let has_all = called.iter().all(|&method| has_method(access, method));
            env.delete(access);
            has_all && env.export_to(neighbor, c"jdk.internal.access")
        });
        let name = c"java/locktrace/VirtualParks";
        is_usable && Helper::define_class(env, name, VIRTUAL_CLASS_FILE).is_some()
    };
    env.clear_exception();
    defined
}
