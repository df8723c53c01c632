//! Classes.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use jvmti_bindings::sys::jni::{JNI_TRUE, jclass, jmethodID};

use crate::ffi::env::Env;
use crate::ffi::memory::{JvmArray, JvmText};
use crate::ffi::reference::{Class, Method, Object};

impl<'a> Env<'a> {
    /// Returns the superclass of a class.
    pub(crate) fn superclass(self, class: Class<'_>) -> Option<Class<'a>> {
        let (native, env) = self.jni()?;
        // SAFETY: the reference is to a class, and the result a local one.
        unsafe { Object::new((native.GetSuperclass)(env, class.raw())) }
    }

    /// Returns whether the boot loader, or the one of the application, finds a class.
    pub(crate) fn has_class(self, name: &CStr) -> bool {
        let Some((native, env)) = self.jni() else {
            return false;
        };
        // SAFETY: the text is NUL-terminated; what fails leaves an exception, which is cleared.
        let class = unsafe { Object::new((native.FindClass)(env, name.as_ptr())) };
        self.clear_exception();
        class.inspect(|&class| self.delete(class));
        class.is_some()
    }

    /// Returns the loader of a class; `None` for the boot loader.
    pub(crate) fn loader(self, class: Class<'_>) -> Option<Object<'a>> {
        let mut loader = ptr::null_mut();
        // SAFETY: the reference is to a class, and `loader` can be written.
        unsafe {
            jvmti!(self, GetClassLoader, class.raw(), &mut loader);
            Object::new(loader)
        }
    }

    /// Returns the descriptor of a class: `Ljava/lang/String;`, `[I`.
    pub(crate) fn signature(self, class: Class<'_>) -> JvmText<'a> {
        let mut signature = ptr::null_mut();
        // SAFETY: the reference is to a class; the text is the agent's to free.
        unsafe {
            jvmti!(
                self,
                GetClassSignature,
                class.raw(),
                &mut signature,
                ptr::null_mut()
            );
            JvmText::new(self.memory(), signature)
        }
    }

    pub(crate) fn source_file(self, class: Class<'_>) -> JvmText<'a> {
        let mut name = ptr::null_mut();
        // SAFETY: the reference is to a class; the text is the agent's to free.
        unsafe {
            jvmti!(self, GetSourceFileName, class.raw(), &mut name);
            JvmText::new(self.memory(), name)
        }
    }

    /// Whether the class can be retransformed.
    pub(crate) fn is_modifiable(self, class: Class<'_>) -> bool {
        let mut modifiable = 0;
        // SAFETY: the reference is to a class, and `modifiable` can be written.
        let known = unsafe { jvmti!(self, IsModifiableClass, class.raw(), &mut modifiable) };
        known && modifiable == JNI_TRUE
    }

    /// Returns all classes that are loaded.
    pub(crate) fn loaded_classes(self) -> Vec<Class<'a>> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        // SAFETY: both can be written; the array is the agent's to free, the references in it
        // are local ones.
        let classes: JvmArray<'_, jclass> = unsafe {
            jvmti!(self, GetLoadedClasses, &mut count, &mut classes);
            JvmArray::new(self.memory(), classes, count)
        };
        let classes = classes.iter();
        // SAFETY: local references, valid during the call of the agent.
        let classes = classes.filter_map(|&class| unsafe { Object::new(class) });
        classes.collect()
    }

    /// Sends classes through the hooks of all agents again. Returns whether the JVM has done so.
    pub(crate) fn retransform(self, classes: &[Class<'_>]) -> bool {
        let raw: Vec<jclass> = classes.iter().map(|class| class.raw()).collect();
        let count = i32::try_from(raw.len()).unwrap_or_default();
        // SAFETY: `raw` has `count` references to classes.
        unsafe { jvmti!(self, RetransformClasses, count, raw.as_ptr()) }
    }

    /// Passes the constants of a class to `look`, as in a class file; none if the JVM refuses them.
    pub(crate) fn with_constants<T>(self, class: Class<'_>, look: impl FnOnce(&[u8]) -> T) -> T {
        let (mut count, mut len, mut bytes) = (0, 0, ptr::null_mut());
        // SAFETY: the reference is to a class, and all three can be written; the array is the
        // agent's to free.
        let bytes: JvmArray<'_, u8> = unsafe {
            let class = class.raw();
            jvmti!(
                self,
                GetConstantPool,
                class,
                &mut count,
                &mut len,
                &mut bytes
            );
            JvmArray::new(self.memory(), bytes, len)
        };
        look(&bytes)
    }

    /// Returns the methods of a class; `None` before the class is linked.
    pub(crate) fn class_methods(self, class: Class<'_>) -> Option<Vec<Method<'a>>> {
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: the reference is to a class; the array is the agent's to free.
        let (known, methods): (_, JvmArray<'_, jmethodID>) = unsafe {
            let known = jvmti!(self, GetClassMethods, class.raw(), &mut count, &mut methods);
            (known, JvmArray::new(self.memory(), methods, count))
        };
        let methods = methods.iter();
        let methods = methods.filter_map(|&id| Some(Method(NonNull::new(id)?, PhantomData)));
        known.then(|| methods.collect())
    }

    /// Lets the module of a class use a package of `java.base`. The JVM has modules.
    ///
    /// # Safety
    ///
    /// `class` is a reference to a class.
    pub(in crate::ffi) unsafe fn export_to(self, class: jclass, package: &CStr) -> bool {
        let Some((native, env)) = self.jni() else {
            return false;
        };
        // SAFETY: the texts are NUL-terminated, the references are checked before they are used.
        unsafe {
            let Some(object) = Object::new((native.FindClass)(env, c"java/lang/Object".as_ptr()))
            else {
                return false;
            };
            let base = (native.GetModule)(env, object.raw());
            let module = (native.GetModule)(env, class);
            !base.is_null()
                && !module.is_null()
                && jvmti!(self, AddModuleExports, base, package.as_ptr(), module)
        }
    }
}
