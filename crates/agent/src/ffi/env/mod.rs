//! The JVM's functions for the current thread, a file for each subject.
//!
//! A function that fails returns `None`, an empty text or nothing: what the agent cannot find out
//! it leaves out of the trace.

/// Calls a function of the tool interface. Returns `false` if the JVM lacks it or it fails.
macro_rules! jvmti {
    ($env:expr, $function:ident $(, $argument:expr)*) => {{
        let env: Env<'_> = $env;
        match env.tool().$function {
            Some(function) => {
                function(env.jvmti $(, $argument)*) == jvmti_bindings::sys::jvmti::jvmtiError::NONE
            }
            None => false,
        }
    }};
}

mod arguments;
mod classes;
mod methods;
mod objects;
pub(super) mod stack;
pub(super) mod threads;

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeInterface_};
use jvmti_bindings::sys::jvmti::{
    JVMTI_DISABLE, JVMTI_ENABLE, jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks,
    jvmtiInterface_1_,
};

use crate::ffi::event::Event;
use crate::ffi::memory::{JvmText, Memory};

/// The JVM's interfaces for the current thread. What they return does not leave the thread, nor the
/// call of the agent that asked for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env<'a> {
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    call: PhantomData<&'a ()>,
}

impl<'a> Env<'a> {
    /// # Safety
    ///
    /// `jvmti` is an environment of the JVM, and `jni` null or the current thread's; both stay
    /// so during `'a`.
    pub(crate) unsafe fn new(jvmti: *mut jvmtiEnv, jni: *mut JNIEnv) -> Self {
        Self {
            jvmti,
            jni,
            call: PhantomData,
        }
    }

    /// Returns the tool's environment.
    pub(super) fn environment(self) -> *const jvmtiEnv {
        self.jvmti
    }

    fn tool(self) -> &'a jvmtiInterface_1_ {
        // SAFETY: an environment points to its table of functions, as `new` demands.
        unsafe { &*(*self.jvmti).functions }
    }

    /// Returns the native interface; `None` before the JVM has threads.
    pub(super) fn jni(self) -> Option<(&'a JNINativeInterface_, *mut JNIEnv)> {
        // SAFETY: null, or it points to its table of functions, as `new` demands.
        let native = unsafe { self.jni.as_ref()?.as_ref() }?;
        Some((native, self.jni))
    }

    fn memory(self) -> Memory<'a> {
        // SAFETY: an environment of the JVM during `'a`, as `new` demands.
        unsafe { Memory::new(self.jvmti) }
    }

    /// Copies `bytes` to memory that the JVM will free.
    pub(crate) fn copy_for_jvm(self, bytes: &[u8]) -> Option<NonNull<u8>> {
        let mut memory = ptr::null_mut();
        let len = i64::try_from(bytes.len()).ok()?;
        // SAFETY: `memory` can be written.
        let allocated = unsafe { jvmti!(self, Allocate, len, &mut memory) };
        let memory = NonNull::new(memory).filter(|_| allocated)?;
        // SAFETY: the JVM has allocated that many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory.as_ptr(), bytes.len()) };
        Some(memory)
    }

    /// Asks for the capabilities that the agent needs. Returns whether the JVM grants them.
    pub(crate) fn add_capabilities(self) -> bool {
        let mut possible = jvmtiCapabilities::default();
        let mut wanted = jvmtiCapabilities::default();
        wanted.set_can_generate_monitor_events(true);
        wanted.set_can_get_line_numbers(true);
        wanted.set_can_get_source_file_name(true);
        wanted.set_can_get_bytecodes(true);
        wanted.set_can_get_constant_pool(true);
        wanted.set_can_get_monitor_info(true);
        wanted.set_can_retransform_classes(true);
        // SAFETY: both structures are valid for the calls.
        unsafe {
            if jvmti!(self, GetPotentialCapabilities, &mut possible) {
                wanted.set_can_support_virtual_threads(possible.can_support_virtual_threads());
            }
            jvmti!(self, AddCapabilities, &wanted)
        }
    }

    /// Sets the functions that the JVM calls at events. Returns whether it accepts them.
    pub(crate) fn set_callbacks(self, callbacks: &jvmtiEventCallbacks) -> bool {
        let size = i32::try_from(size_of::<jvmtiEventCallbacks>()).unwrap_or_default();
        // SAFETY: the structure is valid, and of that size.
        unsafe { jvmti!(self, SetEventCallbacks, callbacks, size) }
    }

    /// Enables or disables an event in all threads. Returns whether the JVM has done so.
    pub(crate) fn notify(self, event: Event, on: bool) -> bool {
        let mode = if on { JVMTI_ENABLE } else { JVMTI_DISABLE };
        // SAFETY: a null thread stands for all.
        unsafe {
            jvmti!(
                self,
                SetEventNotificationMode,
                mode,
                event.number(),
                ptr::null_mut()
            )
        }
    }

    /// Ends the tool's environment, which is not used afterwards.
    pub(crate) fn dispose(self) {
        // SAFETY: the session that uses it has ended, and no thread is in a hook.
        unsafe { jvmti!(self, DisposeEnvironment) };
    }

    /// Returns a property of the JVM; an empty text if it has none of this name.
    pub(crate) fn property(self, name: &CStr) -> JvmText<'a> {
        let mut value: *mut c_char = ptr::null_mut();
        // SAFETY: `name` is NUL-terminated, and `value` can be written; it is null, or the
        // agent's to free.
        unsafe {
            jvmti!(self, GetSystemProperty, name.as_ptr(), &mut value);
            JvmText::new(self.memory(), value)
        }
    }

    /// Clears an exception that a call of the agent has left: it is not the application's.
    pub(super) fn clear_exception(self) {
        if let Some((native, env)) = self.jni() {
            // SAFETY: may be called at any time.
            unsafe { (native.ExceptionClear)(env) };
        }
    }
}
