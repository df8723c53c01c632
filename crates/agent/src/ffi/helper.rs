//! Java classes that instrumented code calls, and their static fields.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{JNI_OK, JNINativeMethod, jclass, jint, jobject};

use crate::ffi::env::Env;
use crate::ffi::reference::Object;

/// The most slots of a class.
pub(crate) const MAX_SLOTS: usize = 64;

/// `JNI_VERSION_9`.
const MODULES_SINCE: jint = 0x0009_0000;

/// The static fields with objects that a class looks for, and their lengths.
#[derive(Debug)]
pub(super) struct Arrays {
    /// Those that it looks at one by one.
    pub(super) slots: (&'static CStr, usize),
    /// Those that it looks up by their identity hash code.
    pub(super) table: Option<(&'static CStr, usize)>,
}

/// A class with arrays of objects. Its references are global ones that are never deleted.
#[derive(Debug)]
pub(crate) struct Helper {
    class: NonNull<c_void>,
    /// At most [`MAX_SLOTS`].
    slots: Array,
    table: Option<Array>,
    /// `slotsInUse`.
    slots_in_use: NonNull<c_void>,
}

#[derive(Debug)]
struct Array {
    objects: NonNull<c_void>,
    len: usize,
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
        arrays: Arrays,
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
            let array = |(name, len): (&CStr, usize)| {
                let (name, signature) = (name.as_ptr(), c"[Ljava/lang/Object;".as_ptr());
                let field = (native.GetStaticFieldID)(jni, class.as_ptr(), name, signature);
                let field = NonNull::new(field)?;
                let objects = (native.GetStaticObjectField)(jni, class.as_ptr(), field.as_ptr());
                let objects = global(env, objects)?;
                Some(Array { objects, len })
            };
            let name = c"slotsInUse".as_ptr();
            let slots_in_use = (native.GetStaticFieldID)(jni, class.as_ptr(), name, c"I".as_ptr());
            Some(Self {
                class,
                slots: array(arrays.slots)?,
                table: match arrays.table {
                    Some(table) => Some(array(table)?),
                    None => None,
                },
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

    /// Returns the number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len
    }

    /// Returns the number of places in the table; 0 if the class has none.
    pub(crate) fn table_len(&self) -> usize {
        self.table.as_ref().map_or(0, |table| table.len)
    }

    /// Puts an object into a place, a slot or behind these one of the table, or empties it.
    pub(crate) fn set(&self, env: Env<'_>, place: usize, object: Option<Object<'_>>) {
        let Some((native, jni)) = env.jni() else {
            return;
        };
        let (array, index) = match (place.checked_sub(self.slots.len), &self.table) {
            (None, _) => (&self.slots, place),
            (Some(index), Some(table)) if index < table.len => (table, index),
            _ => return,
        };
        let Ok(index) = i32::try_from(index) else {
            return;
        };
        let object = object.map_or(ptr::null_mut(), Object::raw);
        // SAFETY: the references are valid, and the arrays take any object. The index is within the
        // array's bounds, so no exception is thrown.
        unsafe { (native.SetObjectArrayElement)(jni, array.objects.as_ptr(), index, object) };
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

/// Returns a class file that uses `Unsafe`, with the name of that in this JVM, and lets the module of
/// `class` use it. `None` if the JVM refuses.
///
/// # Safety
///
/// `class` is a reference to a class of the package.
pub(super) unsafe fn with_unsafe_of(env: Env<'_>, class: jclass, file: &[u8]) -> Option<Vec<u8>> {
    let (native, jni) = env.jni()?;
    // SAFETY: the interface is the current thread's.
    if unsafe { (native.GetVersion)(jni) } < MODULES_SINCE {
        return Some(file.to_vec());
    }
    // SAFETY: as the caller promises.
    let is_exported = unsafe { env.export_to(class, c"jdk.internal.misc") };
    is_exported.then(|| with_internal_unsafe(file))
}

/// Returns the class file with the name of `Unsafe` from JDK 9 on in place of the old one.
fn with_internal_unsafe(file: &[u8]) -> Vec<u8> {
    // As a class, the type of a field, and what a method returns; with their lengths in two bytes, as in
    // the constant pool.
    const NAMES: [(&[u8], &[u8]); 3] = [
        (
            b"\x00\x0fsun/misc/Unsafe",
            b"\x00\x18jdk/internal/misc/Unsafe",
        ),
        (
            b"\x00\x11Lsun/misc/Unsafe;",
            b"\x00\x1aLjdk/internal/misc/Unsafe;",
        ),
        (
            b"\x00\x13()Lsun/misc/Unsafe;",
            b"\x00\x1c()Ljdk/internal/misc/Unsafe;",
        ),
    ];
    let mut file = file.to_vec();
    for (old, new) in NAMES {
        if let Some(at) = file.windows(old.len()).position(|bytes| bytes == old) {
            file.splice(at..at.saturating_add(old.len()), new.iter().copied());
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_has_another_name() {
        let files: [(&[u8], usize); 2] = [
            (include_bytes!("../../helper/Parks.class"), 1),
            (include_bytes!("../../helper/Monitors.class"), 3),
        ];
        for (file, names) in files {
            let class = with_internal_unsafe(file);
            assert_eq!(class.len(), file.len() + 9 * names);
            assert!(!class.windows(8).any(|bytes| bytes == b"sun/misc"));
        }
    }
}
