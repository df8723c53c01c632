//! The Java classes that instrumented code calls before it releases a monitor.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jint};

use crate::ffi::env::Env;
use crate::ffi::helper::{Helper, once};
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

static HELPER: OnceLock<Option<ExitHelper>> = OnceLock::new();

/// The native method `Monitors.released`, which takes a slot and a site.
pub(crate) type Released = unsafe extern "system" fn(*mut JNIEnv, jclass, jint, jint);

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
    /// Returns the classes, which the first call defines; `None` if the JVM refuses them.
    pub(crate) fn get(env: Env<'_>, released: Released) -> Option<&'static Self> {
        once(&HELPER, env, || Self::define(env, released))
    }

    fn define(env: Env<'_>, released: Released) -> Option<Self> {
        let natives = [JNINativeMethod {
            name: c"released".as_ptr(),
            signature: c"(II)V".as_ptr(),
            fnPtr: released as *mut c_void,
        }];
        let name = c"java/locktrace/Monitors";
        // SAFETY: the type of the native method is that in the source.
        let monitors = unsafe { Helper::define(env, name, MONITORS_FILE, c"CONTENDED", &natives) }?;
        let exits = Helper::define_class(env, c"java/locktrace/Exits", EXITS_FILE)?;
        Some(Self { monitors, exits })
    }

    /// Returns the class that is called.
    pub(crate) fn exits(&self) -> Option<Class<'_>> {
        // SAFETY: a global reference that is never deleted.
        unsafe { Object::new(self.exits.as_ptr()) }
    }
}
