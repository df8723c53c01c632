//! The Java classes that instrumented code calls before it releases a monitor.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jint, jobject};

use crate::ffi::env::Env;
use crate::ffi::helper::{Arrays, Helper, once, with_unsafe_of};
use crate::ffi::reference::{Class, Object};

/// The internal name of the class that is called.
pub(crate) const EXITS_CLASS: &str = "java/locktrace/Exits";
/// Its method.
pub(crate) const EXITS_METHOD: &str = "exit";
/// `helper/watching/Exits.java`, compiled by JDK 8: looks whether threads wait for the monitor, where
/// the other one does nothing.
pub(crate) const WATCHING_EXITS_FILE: &[u8] = include_bytes!("../../helper/watching/Exits.class");

/// `helper/Exits.java`, compiled likewise.
const EXITS_FILE: &[u8] = include_bytes!("../../helper/Exits.class");
/// `helper/Monitors.java`, compiled likewise.
const MONITORS_FILE: &[u8] = include_bytes!("../../helper/Monitors.class");

/// The lengths of `CONTENDED` and `TABLE`.
const SLOTS: usize = 4;
const TABLE_LEN: usize = 1 << 13;

static HELPER: OnceLock<Option<ExitHelper>> = OnceLock::new();

/// The native methods `Monitors.released`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitNatives {
    /// Takes a slot and a site.
    pub(crate) from_slot: unsafe extern "system" fn(*mut JNIEnv, jclass, jint, jint),
    /// Takes an object of the table and a site.
    pub(crate) from_table: unsafe extern "system" fn(*mut JNIEnv, jclass, jobject, jint),
}

/// The classes.
#[derive(Debug)]
pub(crate) struct ExitHelper {
    /// The class with the slots for monitors that threads wait for.
    pub(crate) monitors: Helper,
    /// The class that is called, by a global reference that is never deleted.
    exits: NonNull<c_void>,
}

// SAFETY: global references may be used by any thread.
unsafe impl Send for ExitHelper {}
// SAFETY: as above.
unsafe impl Sync for ExitHelper {}

impl ExitHelper {
    /// Returns whether another copy of this library has defined the classes. Two copies would each see
    /// a part of the releases.
    pub(crate) fn is_of_other_copy(env: Env<'_>) -> bool {
        HELPER.get().is_none() && env.has_class(c"java/locktrace/Exits")
    }

    /// Returns the classes, which the first call defines; `None` if the JVM refuses them.
    pub(crate) fn get(env: Env<'_>, natives: ExitNatives) -> Option<&'static Self> {
        once(&HELPER, env, || Self::define(env, natives))
    }

    fn define(env: Env<'_>, natives: ExitNatives) -> Option<Self> {
        let released = |signature: &'static CStr, function| JNINativeMethod {
            name: c"released".as_ptr(),
            signature: signature.as_ptr(),
            fnPtr: function,
        };
        let natives = [
            released(c"(II)V", natives.from_slot as *mut c_void),
            released(c"(Ljava/lang/Object;I)V", natives.from_table as *mut c_void),
        ];
        let exits = Helper::define_class(env, c"java/locktrace/Exits", EXITS_FILE)?;
        // SAFETY: a reference to a class of the package of the other one, which uses `Unsafe` as soon
        // as it is defined. The types of the native methods and arrays are those in the source.
        let monitors = unsafe {
            let bytes = with_unsafe_of(env, exits.as_ptr(), MONITORS_FILE)?;
            let name = c"java/locktrace/Monitors";
            let arrays = Arrays {
                slots: (c"CONTENDED", SLOTS),
                table: Some((c"TABLE", TABLE_LEN)),
            };
            Helper::define(env, name, &bytes, arrays, &natives)
        }?;
        Some(Self { monitors, exits })
    }

    /// Returns the class that is called.
    pub(crate) fn exits(&self) -> Option<Class<'_>> {
        // SAFETY: a global reference that is never deleted.
        unsafe { Object::new(self.exits.as_ptr()) }
    }
}
