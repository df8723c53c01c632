//! Methods.

use std::ptr;

use jvmti_bindings::sys::jni::{JNI_TRUE, jclass};
use jvmti_bindings::sys::jvmti::jvmtiLineNumberEntry;

use crate::ffi::env::Env;
use crate::ffi::memory::{JvmArray, JvmText};
use crate::ffi::reference::{Class, Method, Object};

/// JVMS table 4.6-A.
const ACC_SYNCHRONIZED: i32 = 0x20;
/// JVMS 6.5.
const MONITOREXIT: u8 = 0xc3;

impl<'a> Env<'a> {
    pub(crate) fn declaring_class(self, method: Method<'_>) -> Option<Class<'a>> {
        let mut class: jclass = ptr::null_mut();
        // SAFETY: the method's class is loaded; `class` can be written.
        unsafe {
            jvmti!(self, GetMethodDeclaringClass, method.0.as_ptr(), &mut class);
            Object::new(class)
        }
    }

    /// Returns the name of a method and its descriptor.
    pub(crate) fn method_name(self, method: Method<'_>) -> (JvmText<'a>, JvmText<'a>) {
        let (mut name, mut signature) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the method's class is loaded; the texts are the agent's to free.
        unsafe {
            jvmti!(
                self,
                GetMethodName,
                method.0.as_ptr(),
                &mut name,
                &mut signature,
                ptr::null_mut()
            );
            (
                JvmText::new(self.memory(), name),
                JvmText::new(self.memory(), signature),
            )
        }
    }

    /// Returns where each source line begins, by byte code index, in no order.
    pub(crate) fn lines(self, method: Method<'_>) -> Vec<(u16, i32)> {
        let (mut count, mut lines) = (0, ptr::null_mut());
        // SAFETY: the method's class is loaded; the array is the agent's to free.
        let lines: JvmArray<'_, jvmtiLineNumberEntry> = unsafe {
            jvmti!(
                self,
                GetLineNumberTable,
                method.0.as_ptr(),
                &mut count,
                &mut lines
            );
            JvmArray::new(self.memory(), lines, count)
        };
        let lines = lines.iter();
        let in_code = lines.filter_map(|line| {
            let start = u16::try_from(line.start_location).ok()?;
            Some((start, line.line_number))
        });
        in_code.collect()
    }

    /// Passes the byte code of a method to `look`, none of a native one.
    pub(crate) fn with_code<T>(self, method: Method<'_>, look: impl FnOnce(&[u8]) -> T) -> T {
        let (mut count, mut code) = (0, ptr::null_mut());
        // SAFETY: the method's class is loaded; the array is the agent's to free.
        let code: JvmArray<'_, u8> = unsafe {
            jvmti!(self, GetBytecodes, method.0.as_ptr(), &mut count, &mut code);
            JvmArray::new(self.memory(), code, count)
        };
        look(&code)
    }

    /// Whether the method is code that its class no longer has, and runs to its end.
    pub(crate) fn is_obsolete(self, method: Method<'_>) -> bool {
        let mut obsolete = 0;
        // SAFETY: the method's class is loaded, and `obsolete` can be written.
        unsafe { jvmti!(self, IsMethodObsolete, method.0.as_ptr(), &mut obsolete) };
        obsolete == JNI_TRUE
    }

    /// Whether the method is synchronized, or may have synchronized blocks.
    pub(crate) fn may_own_monitors(self, method: Method<'_>) -> bool {
        self.is_synchronized(method) || self.code_contains(method, MONITOREXIT)
    }

    pub(crate) fn is_synchronized(self, method: Method<'_>) -> bool {
        let mut modifiers = 0;
        // SAFETY: the method's class is loaded, and `modifiers` can be written.
        unsafe { jvmti!(self, GetMethodModifiers, method.0.as_ptr(), &mut modifiers) };
        modifiers & ACC_SYNCHRONIZED != 0
    }

    /// Whether a byte is anywhere in the code of the method, as an instruction or a part of one.
    fn code_contains(self, method: Method<'_>, byte: u8) -> bool {
        self.with_code(method, |code| code.contains(&byte))
    }
}
