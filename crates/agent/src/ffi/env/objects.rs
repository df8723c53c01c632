//! Objects, references to them, and their monitors.

use std::ffi::CStr;
use std::ptr::{self, NonNull};

use jvmti_bindings::sys::jni::{JNI_TRUE, jobject, jthread, jvalue};
use jvmti_bindings::sys::jvmti::jvmtiMonitorUsage;

use crate::ffi::env::Env;
use crate::ffi::memory::JvmArray;
use crate::ffi::reference::{Class, LongField, Object, WeakObject};

impl<'a> Env<'a> {
    /// Returns the identity hash code.
    pub(crate) fn hash(self, object: Object<'_>) -> Option<u32> {
        let mut hash = 0;
        // SAFETY: the reference is valid, and `hash` can be written.
        let known = unsafe { jvmti!(self, GetObjectHashCode, object.raw(), &mut hash) };
        known.then_some(hash.cast_unsigned())
    }

    /// Returns the class of an object.
    pub(crate) fn class_of(self, object: Object<'_>) -> Option<Class<'a>> {
        let (native, env) = self.jni()?;
        // SAFETY: the reference is valid, and the result a local one.
        unsafe { Object::new((native.GetObjectClass)(env, object.raw())) }
    }

    pub(crate) fn weak(self, object: Object<'_>) -> Option<WeakObject> {
        let (native, env) = self.jni()?;
        // SAFETY: the reference is valid.
        let weak = unsafe { (native.NewWeakGlobalRef)(env, object.raw()) };
        NonNull::new(weak).map(WeakObject)
    }

    /// Returns a local reference to the object; `None` once it was collected.
    pub(crate) fn strong(self, weak: &WeakObject) -> Option<Object<'a>> {
        let (native, env) = self.jni()?;
        // SAFETY: a weak reference is valid until it is deleted.
        unsafe { Object::new((native.NewLocalRef)(env, weak.0.as_ptr())) }
    }

    pub(crate) fn delete_weak(self, weak: WeakObject) {
        if let Some((native, env)) = self.jni() {
            // SAFETY: `weak` makes this reference alone, and is not used any more.
            unsafe { (native.DeleteWeakGlobalRef)(env, weak.0.as_ptr()) };
        }
    }

    /// Deletes a reference that is not needed any more.
    pub(crate) fn delete(self, object: Object<'_>) {
        // SAFETY: the reference is a local one of this thread: a class or a loader that the
        // agent has asked for.
        unsafe { self.delete_raw(object.raw()) };
    }

    /// # Safety
    ///
    /// `object` is null, or a local reference that is not used any more.
    pub(super) unsafe fn delete_raw(self, object: jobject) {
        if let Some((native, env)) = self.jni()
            && !object.is_null()
        {
            // SAFETY: as the caller promises.
            unsafe { (native.DeleteLocalRef)(env, object) };
        }
    }

    /// Whether both are the same object.
    pub(crate) fn is_same(self, object: Object<'_>, weak: &WeakObject) -> bool {
        // SAFETY: a weak reference is valid until it is deleted.
        unsafe { self.are_same_raw(object.raw(), weak.0.as_ptr()) }
    }

    /// Whether both are the same object.
    pub(crate) fn are_same(self, one: Object<'_>, other: Object<'_>) -> bool {
        // SAFETY: the references are valid.
        unsafe { self.are_same_raw(one.raw(), other.raw()) }
    }

    /// # Safety
    ///
    /// Both references are valid.
    unsafe fn are_same_raw(self, one: jobject, other: jobject) -> bool {
        self.jni().is_some_and(|(native, env)| {
            // SAFETY: as the caller promises.
            unsafe { (native.IsSameObject)(env, one, other) == JNI_TRUE }
        })
    }

    /// Whether the object is one of the class.
    pub(crate) fn is_instance(self, object: Object<'_>, class: Class<'_>) -> bool {
        self.jni().is_some_and(|(native, env)| {
            // SAFETY: the references are valid.
            unsafe { (native.IsInstanceOf)(env, object.raw(), class.raw()) == JNI_TRUE }
        })
    }

    /// Returns the thread that owns the object's monitor, which may have released it meanwhile. From
    /// JDK 23 on, `None` also if it is a virtual one. The JVM stops all threads for that.
    pub(crate) fn monitor_owner(self, object: Object<'_>) -> Option<Object<'a>> {
        let mut usage = jvmtiMonitorUsage {
            owner: ptr::null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: ptr::null_mut(),
            notify_waiter_count: 0,
            notify_waiters: ptr::null_mut(),
        };
        // SAFETY: the reference is valid, and `usage` can be written. Its arrays are the agent's to
        // free, and all references in it are local ones.
        unsafe {
            jvmti!(self, GetObjectMonitorUsage, object.raw(), &mut usage);
            for (threads, count) in [
                (usage.waiters, usage.waiter_count),
                (usage.notify_waiters, usage.notify_waiter_count),
            ] {
                let threads: JvmArray<'_, jthread> = JvmArray::new(self.memory(), threads, count);
                threads.iter().for_each(|&thread| self.delete_raw(thread));
            }
            Object::new(usage.owner)
        }
    }

    /// Whether the thread owns the object's monitor, by `Thread.holdsLock`.
    pub(crate) fn holds_lock(self, object: Object<'_>) -> bool {
        let Some((native, env)) = self.jni() else {
            return false;
        };
        // SAFETY: the texts are NUL-terminated, the method is static and takes an object; what
        // fails leaves an exception, which is cleared.
        unsafe {
            let Some(class) = Object::new((native.FindClass)(env, c"java/lang/Thread".as_ptr()))
            else {
                return false;
            };
            let (name, signature) = (c"holdsLock".as_ptr(), c"(Ljava/lang/Object;)Z".as_ptr());
            let method = (native.GetStaticMethodID)(env, class.raw(), name, signature);
            let arguments = [jvalue { l: object.raw() }];
            let holds = !method.is_null()
                && (native.CallStaticBooleanMethodA)(env, class.raw(), method, arguments.as_ptr())
                    == JNI_TRUE;
            self.clear_exception();
            self.delete(class);
            holds
        }
    }

    /// Finds a field of 64 bits in a class.
    pub(crate) fn long_field(self, class: &CStr, name: &CStr) -> Option<LongField> {
        let (native, env) = self.jni()?;
        // SAFETY: the texts are NUL-terminated; what fails leaves an exception, which is
        // cleared.
        unsafe {
            let class = Object::new((native.FindClass)(env, class.as_ptr()));
            let field = class.map_or(ptr::null_mut(), |class| {
                (native.GetFieldID)(env, class.raw(), name.as_ptr(), c"J".as_ptr())
            });
            self.clear_exception();
            class.inspect(|&class| self.delete(class));
            NonNull::new(field).map(LongField)
        }
    }

    /// Returns the value of a field. The object is of the class that the field was found in.
    pub(crate) fn long(self, object: Object<'_>, field: LongField) -> i64 {
        self.jni().map_or(0, |(native, env)| {
            // SAFETY: the field is one of `java.lang.Thread`, and the object a thread, the only
            // ones that the agent asks for.
            unsafe { (native.GetLongField)(env, object.raw(), field.0.as_ptr()) }
        })
    }
}
