//! Java classes that instrumented code calls, and their static fields.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{JNI_OK, JNINativeMethod, jclass, jobject};

use crate::ffi::env::Env;
use crate::ffi::reference::Object;

/// The number of slots of a class.
pub(crate) const SLOTS: usize = 64;

/// A class with an array of objects. Its references are global ones that are never deleted.
#[derive(Debug)]
pub(crate) struct Helper {
    class: NonNull<c_void>,
    /// The array.
    objects: NonNull<c_void>,
    /// `slotsInUse`.
    slots_in_use: NonNull<c_void>,
}

// SAFETY: global references and identifiers of fields may be used by any thread.
unsafe impl Send for Helper {}
// SAFETY: as above.
unsafe impl Sync for Helper {}

impl Helper {
    /// # Safety
    ///
    /// `natives` are native methods of the class, with functions of their types.
    pub(super) unsafe fn define(
        env: Env<'_>,
        name: &CStr,
        bytes: &[u8],
        objects: &CStr,
        natives: &[JNINativeMethod],
    ) -> Option<Self> {
        let (native, jni) = env.jni()?;
        let count = i32::try_from(natives.len()).ok()?;
        // SAFETY: the texts are NUL-terminated. Each result is checked before it is used. Asking for a
        // field initializes the class, so that the array exists. The types of the fields are those in
        // the sources, and the natives are as the caller promises.
        unsafe {
            let class = Self::define_class(env, name, bytes)?;
            if (native.RegisterNatives)(jni, class.as_ptr(), natives.as_ptr(), count) != JNI_OK {
                return None;
            }
            let signature = c"[Ljava/lang/Object;".as_ptr();
            let field = (native.GetStaticFieldID)(jni, class.as_ptr(), objects.as_ptr(), signature);
            let field = NonNull::new(field)?;
            let objects = (native.GetStaticObjectField)(jni, class.as_ptr(), field.as_ptr());
            let objects = global(env, objects)?;
            let name = c"slotsInUse".as_ptr();
            let slots_in_use = (native.GetStaticFieldID)(jni, class.as_ptr(), name, c"I".as_ptr());
            Some(Self {
                class,
                objects,
                slots_in_use: NonNull::new(slots_in_use)?,
            })
        }
    }

    /// Defines a class in the boot loader.
    pub(super) fn define_class(env: Env<'_>, name: &CStr, bytes: &[u8]) -> Option<NonNull<c_void>> {
        let (native, jni) = env.jni()?;
        let len = i32::try_from(bytes.len()).ok()?;
        // SAFETY: the text is NUL-terminated, `bytes` points to `len` bytes, and a null loader is
        // the boot loader. The result is a local reference or null.
        unsafe {
            let bytes = bytes.as_ptr().cast();
            let class = (native.DefineClass)(jni, name.as_ptr(), ptr::null_mut(), bytes, len);
            global(env, class)
        }
    }

    pub(super) fn class(&self) -> jclass {
        self.class.as_ptr()
    }

    /// Puts an object into a slot, or empties it.
    pub(crate) fn set(&self, env: Env<'_>, slot: u8, object: Option<Object<'_>>) {
        let Some((native, jni)) = env.jni() else {
            return;
        };
        let object = object.map_or(ptr::null_mut(), Object::raw);
        // SAFETY: the references are valid, and the array takes any object. Slots are within its
        // bounds, so no exception is thrown.
        unsafe {
            (native.SetObjectArrayElement)(jni, self.objects.as_ptr(), slot.into(), object);
        }
    }

    /// Returns the bound below which the class looks at slots.
    pub(crate) fn slots_in_use(&self, env: Env<'_>) -> i32 {
        env.jni().map_or(0, |(native, jni)| {
            // SAFETY: a static field of the class, of this type.
            unsafe {
                let (class, field) = (self.class.as_ptr(), self.slots_in_use.as_ptr());
                (native.GetStaticIntField)(jni, class, field)
            }
        })
    }

    /// Has the class look at the slots below this one.
    pub(crate) fn set_slots_in_use(&self, env: Env<'_>, slots: i32) {
        if let Some((native, jni)) = env.jni() {
            // SAFETY: a static field of the class, of this type.
            unsafe {
                let (class, field) = (self.class.as_ptr(), self.slots_in_use.as_ptr());
                (native.SetStaticIntField)(jni, class, field, slots);
            }
        }
    }
}

/// Returns what the first call has defined in the JVM, for all traces; `None` if the JVM refused it.
pub(super) fn once<T>(
    cell: &'static OnceLock<Option<T>>,
    env: Env<'_>,
    define: impl FnOnce() -> Option<T>,
) -> Option<&'static T> {
    let defined = cell.get_or_init(|| {
        let defined = define();
        env.clear_exception();
        defined
    });
    defined.as_ref()
}

/// # Safety
///
/// `object` is null or a local reference.
pub(super) unsafe fn global(env: Env<'_>, object: jobject) -> Option<NonNull<c_void>> {
    let (native, jni) = env.jni()?;
    let object = NonNull::new(object)?;
    // SAFETY: as the caller promises.
    NonNull::new(unsafe { (native.NewGlobalRef)(jni, object.as_ptr()) })
}
