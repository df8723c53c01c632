//! Classes, methods and loaders.

use trace_format::{ClassDescription, ClassId, LoaderId, MethodDescription, MethodId};

use crate::ffi::lent::LctStr;
use crate::runtime::Runtime;
use crate::text;
use crate::tracer::ThreadTracer;

/// Returns the current epoch of metadata, at first 1. What was described in an older
/// epoch may have been lost and must be described again.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_metadata_epoch(runtime: &'static Runtime) -> u32 {
    runtime.metadata_epoch()
}

/// Returns a fresh identifier for a class or a method; never 0, never the same again.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_new_id(runtime: &'static Runtime) -> u32 {
    runtime.new_entity_id()
}

/// A class.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctClass {
    /// Its identifier.
    pub class_id: u32,
    /// Identifier of its superclass, 0 for `java.lang.Object` or without one.
    pub super_class: u32,
    /// Address of the `ClassLoaderData` of its loader, 0 for the boot loader.
    pub loader: u64,
    /// Its name, with dots.
    pub name: LctStr,
    /// Name of its source file.
    pub source_file: LctStr,
    /// Name of the loader's class.
    pub loader_class: LctStr,
}

/// A method.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctMethod {
    /// Its identifier.
    pub method_id: u32,
    /// Identifier of its class.
    pub class_id: u32,
    /// Its name.
    pub name: LctStr,
    /// Its descriptor, as in the class file.
    pub signature: LctStr,
}

// The C header asserts the same sizes.
const _: () = assert!(size_of::<LctClass>() == 64 && size_of::<LctMethod>() == 40);

/// Describes a class.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; the texts are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_class(thread: Option<&mut ThreadTracer>, description: &LctClass) {
    let Some(thread) = thread else { return };
    let texts = [
        description.name,
        description.source_file,
        description.loader_class,
    ];
    // SAFETY: the caller promises valid texts.
    let [name, source_file, loader_class] =
        texts.map(|text| text::from_jvm(unsafe { text.bytes() }));
    thread.describe_class(ClassDescription {
        class: ClassId(description.class_id),
        super_class: ClassId(description.super_class),
        loader: LoaderId(description.loader),
        name: &name,
        source_file: &source_file,
        loader_class: &loader_class,
    });
}

/// Describes a method.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; the texts are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_method(thread: Option<&mut ThreadTracer>, description: &LctMethod) {
    let Some(thread) = thread else { return };
    let texts = [description.name, description.signature];
    // SAFETY: the caller promises valid texts.
    let [name, signature] = texts.map(|text| text::from_jvm(unsafe { text.bytes() }));
    thread.describe_method(MethodDescription {
        method: MethodId(description.method_id),
        class: ClassId(description.class_id),
        name: &name,
        signature: &signature,
    });
}

/// Notes that a loader's classes are unloaded. The caller has called
/// `lct_reclaim_all` before, in the same safepoint, so that everything
/// written about the classes precedes this, and calls `lct_submit` before its end.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_loader_unload(
    thread: Option<&mut ThreadTracer>,
    loader: u64,
    time_ns: u64,
) {
    let Some(thread) = thread else { return };
    thread.loader_unloaded(LoaderId(loader), time_ns);
}
