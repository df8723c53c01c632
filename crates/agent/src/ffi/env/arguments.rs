//! The arguments of the JVM.

use std::ffi::CStr;
use std::ptr;

use crate::ffi::env::Env;
use crate::ffi::reference::Object;

impl Env<'_> {
    /// Returns whether any of the JVM's arguments is wanted, also of those in files and in the environment, by
    /// `jdk.internal.misc.VM.getRuntimeArguments`; `false` before JDK 9, which does not have it.
    pub(crate) fn any_argument(self, is_wanted: impl Fn(&[u8]) -> bool) -> bool {
        let Some(arguments) = self.arguments() else {
            return false;
        };
        let Some((native, env)) = self.jni() else {
            return false;
        };
        // SAFETY: the reference is one of an array of strings.
        let len = unsafe { (native.GetArrayLength)(env, arguments.raw()) };
        let found = (0..len).any(|at| {
            // SAFETY: as above, and within its length.
            let argument = unsafe { (native.GetObjectArrayElement)(env, arguments.raw(), at) };
            // SAFETY: the element is null, or a local reference to a string.
            unsafe { Object::new(argument) }.is_some_and(|argument| {
                let found = self.with_text(argument, &is_wanted);
                self.delete(argument);
                found
            })
        });
        self.delete(arguments);
        found
    }

    fn arguments(self) -> Option<Object<'static>> {
        let (native, env) = self.jni()?;
        // SAFETY: the texts are NUL-terminated, and the method is static and has no parameters;
        // what fails leaves an exception, which is cleared.
        unsafe {
            let class = Object::new((native.FindClass)(env, c"jdk/internal/misc/VM".as_ptr()));
            let Some(class) = class else {
                self.clear_exception();
                return None;
            };
            let (name, signature) = (c"getRuntimeArguments", c"()[Ljava/lang/String;");
            let (name, signature) = (name.as_ptr(), signature.as_ptr());
            let method = (native.GetStaticMethodID)(env, class.raw(), name, signature);
            let arguments = match method.is_null() {
                true => ptr::null_mut(),
                false => (native.CallStaticObjectMethodA)(env, class.raw(), method, ptr::null()),
            };
            self.clear_exception();
            self.delete(class);
            Object::new(arguments)
        }
    }

    fn with_text(self, text: Object<'_>, look: impl FnOnce(&[u8]) -> bool) -> bool {
        let Some((native, env)) = self.jni() else {
            return false;
        };
        // SAFETY: the reference is one of a string; its characters are NUL-terminated, and given
        // back afterwards.
        unsafe {
            let characters = (native.GetStringUTFChars)(env, text.raw(), ptr::null_mut());
            if characters.is_null() {
                self.clear_exception();
                return false;
            }
            let found = look(CStr::from_ptr(characters).to_bytes());
            (native.ReleaseStringUTFChars)(env, text.raw(), characters);
            found
        }
    }
}
