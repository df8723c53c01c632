//! References to what the JVM has: objects, classes, methods and fields.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use jvmti_bindings::sys::jni::jobject;

/// A reference to an object, valid during a call of the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a>(NonNull<c_void>, PhantomData<&'a ()>);

impl Object<'_> {
    /// # Safety
    ///
    /// `object` is null or a reference that is valid as long as the result is used.
    pub(crate) unsafe fn new(object: jobject) -> Option<Self> {
        Some(Self(NonNull::new(object)?, PhantomData))
    }

    pub(super) fn raw(self) -> jobject {
        self.0.as_ptr()
    }
}

/// A reference to a class, valid during a call of the agent.
pub(crate) type Class<'a> = Object<'a>;

/// A reference to an object that does not keep it from being collected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WeakObject(pub(super) NonNull<c_void>);

// SAFETY: weak global references may be used by any thread.
unsafe impl Send for WeakObject {}
// SAFETY: as above.
unsafe impl Sync for WeakObject {}

/// A method whose class cannot be unloaded during a call of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method<'a>(pub(super) NonNull<c_void>, pub(super) PhantomData<&'a ()>);

impl Method<'_> {
    /// Returns a number that no other method ever has.
    pub(crate) fn key(self) -> usize {
        self.0.as_ptr().addr()
    }
}

/// A field of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongField(pub(super) NonNull<c_void>);

// SAFETY: identifiers of fields may be used by any thread.
unsafe impl Send for LongField {}
// SAFETY: as above.
unsafe impl Sync for LongField {}
