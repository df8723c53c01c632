//! What the JVM does for the agent, in the current thread.
//!
//! A function that fails returns `None`, an empty text or nothing: an agent that cannot find
//! out something leaves it out of the trace.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use jvmti_bindings::sys::jni::{
    JNI_TRUE, JNIEnv, JNINativeInterface_, jclass, jfieldID, jint, jmethodID, jobject, jvalue,
};
use jvmti_bindings::sys::jvmti::{
    JVMTI_DISABLE, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VIRTUAL_THREAD_END,
    JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEvent,
    jvmtiEventCallbacks, jvmtiFrameInfo, jvmtiInterface_1_, jvmtiLineNumberEntry, jvmtiThreadInfo,
};

use super::jvm_memory::{JvmArray, JvmText};

/// The JVM's interfaces for the current thread. What comes from it does not leave the thread
/// and the call of the agent that it was made in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env<'a> {
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    call: PhantomData<&'a ()>,
}

/// A reference to an object that is valid during a call of the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a>(NonNull<std::ffi::c_void>, PhantomData<&'a ()>);

impl Object<'_> {
    /// # Safety
    ///
    /// `object` is null or a reference that is valid as long as the result is used.
    pub(super) unsafe fn new(object: jobject) -> Option<Self> {
        Some(Self(NonNull::new(object)?, PhantomData))
    }

    pub(super) fn raw(self) -> jobject {
        self.0.as_ptr()
    }
}

/// A reference to a class that is valid during a call of the agent.
pub(crate) type Class<'a> = Object<'a>;

/// A reference to an object, or to what was one before it was collected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WeakObject(NonNull<std::ffi::c_void>);

// SAFETY: weak global references may be used by any thread.
unsafe impl Send for WeakObject {}
// SAFETY: as above.
unsafe impl Sync for WeakObject {}

/// A method whose class cannot be unloaded during a call of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method<'a>(NonNull<std::ffi::c_void>, PhantomData<&'a ()>);

impl Method<'_> {
    /// What the method is known by. It is never given to another method.
    pub(crate) fn key(self) -> usize {
        self.0.as_ptr().addr()
    }
}

/// A frame on the current thread's stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// Its method.
    pub(crate) method: Method<'a>,
    /// Byte code index; `None` in native code.
    pub(crate) bci: Option<u16>,
}

/// `JNI_VERSION_19`, with which `IsVirtualThread` came.
const VIRTUAL_THREADS_SINCE: jint = 0x0013_0000;
/// `JVMTI_THREAD_STATE_INTERRUPTED`.
const JVMTI_THREAD_STATE_INTERRUPTED: i32 = 0x20_0000;
/// JVMS table 4.6-A.
const ACC_SYNCHRONIZED: i32 = 0x20;
/// JVMS 6.5.
const MONITOREXIT: u8 = 0xc3;

/// What the JVM tells the agent of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    VmInit,
    VmDeath,
    ThreadEnd,
    VirtualThreadEnd,
    ContendedEnter,
    ContendedEntered,
    Wait,
    ClassFileLoad,
}

impl Event {
    fn number(self) -> jvmtiEvent {
        match self {
            Self::VmInit => JVMTI_EVENT_VM_INIT,
            Self::VmDeath => JVMTI_EVENT_VM_DEATH,
            Self::ThreadEnd => JVMTI_EVENT_THREAD_END,
            Self::VirtualThreadEnd => JVMTI_EVENT_VIRTUAL_THREAD_END,
            Self::ContendedEnter => JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
            Self::ContendedEntered => JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
            Self::Wait => JVMTI_EVENT_MONITOR_WAIT,
            Self::ClassFileLoad => JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        }
    }
}

/// Calls a function of the tool interface; `false` if the JVM lacks it or it fails.
macro_rules! jvmti {
    ($env:expr, $function:ident $(, $argument:expr)*) => {{
        let env: Env<'_> = $env;
        match env.tool().$function {
            Some(function) => function(env.jvmti $(, $argument)*) == jvmtiError::NONE,
            None => false,
        }
    }};
}

impl<'a> Env<'a> {
    /// # Safety
    ///
    /// `jvmti` is an environment of the JVM, and `jni` null or that of the current thread; both
    /// stay so during `'a`.
    pub(super) unsafe fn new(jvmti: *mut jvmtiEnv, jni: *mut JNIEnv) -> Self {
        Self {
            jvmti,
            jni,
            call: PhantomData,
        }
    }

    /// The tool's environment.
    pub(super) fn environment(self) -> *const jvmtiEnv {
        self.jvmti
    }

    fn tool(self) -> &'a jvmtiInterface_1_ {
        // SAFETY: an environment points to its table of functions, as `new` demands.
        unsafe { &*(*self.jvmti).functions }
    }

    /// The native interface; `None` before the JVM has threads.
    fn native(self) -> Option<&'a JNINativeInterface_> {
        // SAFETY: null, or it points to its table of functions, as `new` demands.
        unsafe { self.jni.as_ref()?.as_ref() }
    }

    pub(super) fn jni(self) -> Option<(&'a JNINativeInterface_, *mut JNIEnv)> {
        Some((self.native()?, self.jni))
    }

    /// # Safety
    ///
    /// `memory` is null or allocated by JVMTI, and not used afterwards.
    pub(super) unsafe fn deallocate(self, memory: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { jvmti!(self, Deallocate, memory) };
    }

    /// A copy of `bytes` that the JVM will free.
    pub(super) fn copy_for_jvm(self, bytes: &[u8]) -> Option<NonNull<u8>> {
        let mut memory = ptr::null_mut();
        let len = i64::try_from(bytes.len()).ok()?;
        // SAFETY: `memory` can be written.
        let allocated = unsafe { jvmti!(self, Allocate, len, &mut memory) };
        let memory = NonNull::new(memory).filter(|_| allocated)?;
        // SAFETY: the JVM has allocated so many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory.as_ptr(), bytes.len()) };
        Some(memory)
    }

    // -----------------------------------------------------------------------------------------
    // The tool

    /// Asks for what the agent needs. Returns whether it got that.
    pub(crate) fn add_capabilities(self) -> bool {
        let mut possible = jvmtiCapabilities::default();
        let mut wanted = jvmtiCapabilities::default();
        wanted.set_can_generate_monitor_events(true);
        wanted.set_can_get_line_numbers(true);
        wanted.set_can_get_source_file_name(true);
        wanted.set_can_get_bytecodes(true);
        wanted.set_can_get_constant_pool(true);
        wanted.set_can_retransform_classes(true);
        // SAFETY: both structures are valid for the calls.
        unsafe {
            if jvmti!(self, GetPotentialCapabilities, &mut possible) {
                wanted.set_can_support_virtual_threads(possible.can_support_virtual_threads());
            }
            jvmti!(self, AddCapabilities, &wanted)
        }
    }

    pub(super) fn set_callbacks(self, callbacks: &jvmtiEventCallbacks) -> bool {
        let size = i32::try_from(size_of::<jvmtiEventCallbacks>()).unwrap_or_default();
        // SAFETY: the structure is valid, and of that size.
        unsafe { jvmti!(self, SetEventCallbacks, callbacks, size) }
    }

    /// Lets the JVM tell of some kind of event in all threads, or not any more.
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

    /// Ends the tool's environment. It is not used any more.
    pub(crate) fn dispose(self) {
        // SAFETY: the session that uses it has ended, and no thread is in a hook.
        unsafe { jvmti!(self, DisposeEnvironment) };
    }

    /// A property of the JVM; empty if there is none.
    pub(crate) fn property(self, name: &CStr) -> JvmText<'a> {
        let mut value: *mut c_char = ptr::null_mut();
        // SAFETY: `name` is NUL-terminated, and `value` can be written; it is null, or the
        // agent's to free.
        unsafe {
            jvmti!(self, GetSystemProperty, name.as_ptr(), &mut value);
            JvmText::new(self, value)
        }
    }

    // -----------------------------------------------------------------------------------------
    // The current thread

    /// What the agent has kept with the thread; 0 at first.
    pub(crate) fn thread_tag(self) -> usize {
        let mut tag = ptr::null_mut();
        // SAFETY: a null thread is the current one, and `tag` can be written.
        unsafe { jvmti!(self, GetThreadLocalStorage, ptr::null_mut(), &mut tag) };
        tag.addr()
    }

    /// Keeps a number with the thread, whose object `current` is. Returns whether that worked.
    pub(crate) fn set_thread_tag(self, current: Option<Object<'_>>, tag: usize) -> bool {
        let tag = ptr::without_provenance(tag);
        // SAFETY: null or the current thread, which null stands for; the JVM does not look behind
        // the pointer.
        unsafe { jvmti!(self, SetThreadLocalStorage, raw(current), tag) }
    }

    /// The thread's object, as the JVM tells tools: a virtual thread while one is mounted.
    ///
    /// Functions that take a thread take null for the current one, too. From JDK 21 on they wait
    /// then until no virtual thread at all is being mounted or unmounted, and keep all of them
    /// from that; for a virtual thread that is named they do so for that one.
    pub(crate) fn thread(self) -> Option<Object<'a>> {
        let mut thread = ptr::null_mut();
        // SAFETY: `thread` can be written, and becomes a local reference.
        unsafe {
            jvmti!(self, GetCurrentThread, &mut thread);
            Object::new(thread)
        }
    }

    /// The current thread is this one.
    pub(crate) fn is_current(self, thread: Object<'_>) -> bool {
        let Some(current) = self.thread() else {
            return false;
        };
        let is_same = self.are_same(current, thread);
        self.delete(current);
        is_same
    }

    /// The JVM has virtual threads.
    pub(super) fn has_virtual_threads(self) -> bool {
        // SAFETY: the interface is the current thread's.
        self.jni().is_some_and(
            |(native, env)| unsafe { (native.GetVersion)(env) } >= VIRTUAL_THREADS_SINCE,
        )
    }

    /// The thread is a virtual one.
    pub(crate) fn is_virtual(self, thread: Object<'_>) -> bool {
        let Some((native, env)) = self.jni().filter(|_| self.has_virtual_threads()) else {
            return false;
        };
        // SAFETY: this version has the function, and the reference is valid.
        unsafe { (native.IsVirtualThread)(env, thread.raw()) == JNI_TRUE }
    }

    /// The name of the thread, whose object `current` is.
    pub(crate) fn thread_name(self, current: Option<Object<'_>>) -> JvmText<'a> {
        let mut info = jvmtiThreadInfo::default();
        // SAFETY: null or the current thread, which null stands for, and `info` can be written. Its
        // name is the agent's to free, and its references are local ones.
        unsafe {
            jvmti!(self, GetThreadInfo, raw(current), &mut info);
            self.delete_raw(info.thread_group);
            self.delete_raw(info.context_class_loader);
            JvmText::new(self, info.name)
        }
    }

    /// Fills `frames` with the stack of the thread, whose object `current` is, innermost frame
    /// first, as far as there is room, without the first `skipped` frames.
    pub(crate) fn stack(self, current: Option<Object<'_>>, skipped: u16, frames: &mut Frames) {
        let Ok(room) = i32::try_from(frames.0.len()) else {
            return;
        };
        let mut count = 0;
        // SAFETY: null or the current thread, which null stands for; `frames` has so much room.
        unsafe {
            jvmti!(
                self,
                GetStackTrace,
                raw(current),
                skipped.into(),
                room,
                frames.0.as_mut_ptr(),
                &mut count
            )
        };
        frames.1 = usize::try_from(count).unwrap_or_default();
    }

    /// The frames of the last [`stack`](Self::stack) in this call of the agent.
    pub(crate) fn frames(self, frames: &Frames) -> impl DoubleEndedIterator<Item = Frame<'a>> {
        let filled = frames.0.get(..frames.1).unwrap_or_default();
        filled.iter().filter_map(|frame| {
            Some(Frame {
                method: Method(NonNull::new(frame.method)?, PhantomData),
                bci: u16::try_from(frame.location).ok(),
            })
        })
    }

    // -----------------------------------------------------------------------------------------
    // Objects

    /// The identity hash code.
    pub(crate) fn hash(self, object: Object<'_>) -> Option<u32> {
        let mut hash = 0;
        // SAFETY: the reference is valid, and `hash` can be written.
        let known = unsafe { jvmti!(self, GetObjectHashCode, object.raw(), &mut hash) };
        known.then_some(hash.cast_unsigned())
    }

    pub(crate) fn weak(self, object: Object<'_>) -> Option<WeakObject> {
        let (native, env) = self.jni()?;
        // SAFETY: the reference is valid.
        let weak = unsafe { (native.NewWeakGlobalRef)(env, object.raw()) };
        NonNull::new(weak).map(WeakObject)
    }

    pub(crate) fn delete_weak(self, weak: WeakObject) {
        if let Some((native, env)) = self.jni() {
            // SAFETY: `weak` makes this reference alone, and is not used any more.
            unsafe { (native.DeleteWeakGlobalRef)(env, weak.0.as_ptr()) };
        }
    }

    /// Whether both are the same object.
    pub(crate) fn is_same(self, object: Object<'_>, weak: &WeakObject) -> bool {
        self.jni().is_some_and(|(native, env)| {
            // SAFETY: both references are valid.
            unsafe { (native.IsSameObject)(env, object.raw(), weak.0.as_ptr()) == JNI_TRUE }
        })
    }

    /// Whether both are the same object.
    pub(crate) fn are_same(self, one: Object<'_>, other: Object<'_>) -> bool {
        self.jni().is_some_and(|(native, env)| {
            // SAFETY: both references are valid.
            unsafe { (native.IsSameObject)(env, one.raw(), other.raw()) == JNI_TRUE }
        })
    }

    /// The thread, whose object `current` is, was interrupted, and has not reacted yet.
    pub(crate) fn is_interrupted(self, current: Object<'_>) -> bool {
        let mut state = 0;
        // SAFETY: the reference is valid, and `state` can be written.
        unsafe { jvmti!(self, GetThreadState, current.raw(), &mut state) };
        state & JVMTI_THREAD_STATE_INTERRUPTED != 0
    }

    /// Lets the module of a class use a package of `java.base`. The JVM has modules.
    ///
    /// # Safety
    ///
    /// `class` is a reference to a class.
    pub(super) unsafe fn export_to(self, class: jclass, package: &CStr) -> bool {
        let Some((native, env)) = self.jni() else {
            return false;
        };
        // SAFETY: the texts are NUL-terminated, the references are looked at before they are used.
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

    /// A reference is not needed any more.
    pub(crate) fn delete(self, object: Object<'_>) {
        // SAFETY: the reference is a local one of this thread: a class or a loader that the
        // agent has asked for.
        unsafe { self.delete_raw(object.raw()) };
    }

    /// # Safety
    ///
    /// `object` is null, or a local reference that is not used any more.
    unsafe fn delete_raw(self, object: jobject) {
        if let Some((native, env)) = self.jni()
            && !object.is_null()
        {
            // SAFETY: as the caller promises.
            unsafe { (native.DeleteLocalRef)(env, object) };
        }
    }

    /// The thread owns the object's monitor, as `Thread.holdsLock` tells.
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

    /// The field of the objects of a class, and of its subclasses, that has a number of 64 bits.
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

    /// The field's value. The object is of the class that the field was found in.
    pub(crate) fn long(self, object: Object<'_>, field: LongField) -> i64 {
        self.jni().map_or(0, |(native, env)| {
            // SAFETY: the field is one of `java.lang.Thread`, and the object a thread, the only
            // ones that the agent asks for.
            unsafe { (native.GetLongField)(env, object.raw(), field.0.as_ptr()) }
        })
    }

    /// An exception of what the agent has called is none of the application's.
    pub(super) fn clear_exception(self) {
        if let Some((native, env)) = self.jni() {
            // SAFETY: may be called at any time.
            unsafe { (native.ExceptionClear)(env) };
        }
    }

    // -----------------------------------------------------------------------------------------
    // Classes

    pub(crate) fn class_of(self, object: Object<'_>) -> Option<Class<'a>> {
        let (native, env) = self.jni()?;
        // SAFETY: the reference is valid, and the result a local one.
        unsafe { Object::new((native.GetObjectClass)(env, object.raw())) }
    }

    pub(crate) fn superclass(self, class: Class<'_>) -> Option<Class<'a>> {
        let (native, env) = self.jni()?;
        // SAFETY: the reference is that of a class, and the result a local one.
        unsafe { Object::new((native.GetSuperclass)(env, class.raw())) }
    }

    /// The loader of a class; `None` for the boot loader.
    pub(crate) fn loader(self, class: Class<'_>) -> Option<Object<'a>> {
        let mut loader = ptr::null_mut();
        // SAFETY: the reference is that of a class, and `loader` can be written.
        unsafe {
            jvmti!(self, GetClassLoader, class.raw(), &mut loader);
            Object::new(loader)
        }
    }

    /// The descriptor of a class: `Ljava/lang/String;`, `[I`.
    pub(crate) fn signature(self, class: Class<'_>) -> JvmText<'a> {
        let mut signature = ptr::null_mut();
        // SAFETY: the reference is that of a class; the text is the agent's to free.
        unsafe {
            jvmti!(
                self,
                GetClassSignature,
                class.raw(),
                &mut signature,
                ptr::null_mut()
            );
            JvmText::new(self, signature)
        }
    }

    /// The class can be retransformed.
    pub(crate) fn is_modifiable(self, class: Class<'_>) -> bool {
        let mut modifiable = 0;
        // SAFETY: the reference is that of a class, and `modifiable` can be written.
        let known = unsafe { jvmti!(self, IsModifiableClass, class.raw(), &mut modifiable) };
        known && modifiable == JNI_TRUE
    }

    /// All classes that are loaded.
    pub(crate) fn loaded_classes(self) -> Vec<Class<'a>> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        // SAFETY: both can be written; the array is the agent's to free, the references in it
        // are local ones.
        let classes: JvmArray<'_, jclass> = unsafe {
            jvmti!(self, GetLoadedClasses, &mut count, &mut classes);
            JvmArray::new(self, classes, count)
        };
        let classes = classes.iter();
        // SAFETY: local references, valid during the call of the agent.
        let classes = classes.filter_map(|&class| unsafe { Object::new(class) });
        classes.collect()
    }

    /// Sends classes through the hooks of all agents again. Returns whether the JVM did that.
    pub(crate) fn retransform(self, classes: &[Class<'_>]) -> bool {
        let raw: Vec<jclass> = classes.iter().map(|class| class.raw()).collect();
        let count = i32::try_from(raw.len()).unwrap_or_default();
        // SAFETY: so many references to classes.
        unsafe { jvmti!(self, RetransformClasses, count, raw.as_ptr()) }
    }

    /// Looks at the constants of a class, as they are in a class file; none if the JVM does not
    /// tell them.
    pub(crate) fn with_constants<T>(self, class: Class<'_>, look: impl FnOnce(&[u8]) -> T) -> T {
        let (mut count, mut len, mut bytes) = (0, 0, ptr::null_mut());
        // SAFETY: the reference is that of a class, and all three can be written; the array is the
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
            JvmArray::new(self, bytes, len)
        };
        look(&bytes)
    }

    /// The methods of a class; `None` before the class is linked.
    pub(crate) fn class_methods(self, class: Class<'_>) -> Option<Vec<Method<'a>>> {
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: the reference is that of a class; the array is the agent's to free.
        let (known, methods): (_, JvmArray<'_, jmethodID>) = unsafe {
            let known = jvmti!(self, GetClassMethods, class.raw(), &mut count, &mut methods);
            (known, JvmArray::new(self, methods, count))
        };
        let methods = methods.iter();
        let methods = methods.filter_map(|&id| Some(Method(NonNull::new(id)?, PhantomData)));
        known.then(|| methods.collect())
    }

    /// The method is synchronized, or may have synchronized blocks.
    pub(crate) fn may_own_monitors(self, method: Method<'_>) -> bool {
        self.is_synchronized(method) || self.code_contains(method, MONITOREXIT)
    }

    fn is_synchronized(self, method: Method<'_>) -> bool {
        let mut modifiers = 0;
        // SAFETY: the method's class is loaded, and `modifiers` can be written.
        unsafe { jvmti!(self, GetMethodModifiers, method.0.as_ptr(), &mut modifiers) };
        modifiers & ACC_SYNCHRONIZED != 0
    }

    /// Whether a byte is anywhere in the code of the method, as an instruction or a part of one.
    fn code_contains(self, method: Method<'_>, byte: u8) -> bool {
        self.with_code(method, |code| code.contains(&byte))
    }

    /// Looks at the byte code of a method, which is empty for a native one.
    pub(crate) fn with_code<T>(self, method: Method<'_>, look: impl FnOnce(&[u8]) -> T) -> T {
        let (mut count, mut code) = (0, ptr::null_mut());
        // SAFETY: the method's class is loaded; the array is the agent's to free.
        let code: JvmArray<'_, u8> = unsafe {
            jvmti!(self, GetBytecodes, method.0.as_ptr(), &mut count, &mut code);
            JvmArray::new(self, code, count)
        };
        look(&code)
    }

    pub(crate) fn source_file(self, class: Class<'_>) -> JvmText<'a> {
        let mut name = ptr::null_mut();
        // SAFETY: the reference is that of a class; the text is the agent's to free.
        unsafe {
            jvmti!(self, GetSourceFileName, class.raw(), &mut name);
            JvmText::new(self, name)
        }
    }

    // -----------------------------------------------------------------------------------------
    // Methods

    pub(crate) fn declaring_class(self, method: Method<'_>) -> Option<Class<'a>> {
        let mut class: jclass = ptr::null_mut();
        // SAFETY: the method's class is loaded; `class` can be written.
        unsafe {
            jvmti!(self, GetMethodDeclaringClass, method.0.as_ptr(), &mut class);
            Object::new(class)
        }
    }

    /// The name of a method and its descriptor.
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
            (JvmText::new(self, name), JvmText::new(self, signature))
        }
    }

    /// Where which source line begins, by byte code index; not in order.
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
            JvmArray::new(self, lines, count)
        };
        let lines = lines.iter();
        let in_code = lines.filter_map(|line| {
            let start = u16::try_from(line.start_location).ok()?;
            Some((start, line.line_number))
        });
        in_code.collect()
    }
}

fn raw(object: Option<Object<'_>>) -> jobject {
    object.map_or(ptr::null_mut(), Object::raw)
}

/// A field with a number of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongField(NonNull<std::ffi::c_void>);

// SAFETY: identifiers of fields may be used by any thread.
unsafe impl Send for LongField {}
// SAFETY: as above.
unsafe impl Sync for LongField {}

const _: () = assert!(size_of::<jfieldID>() == size_of::<jmethodID>());

/// Room for the frames of a stack, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<jvmtiFrameInfo>, usize);

// SAFETY: the identifiers of methods in it are numbers until `Env::frames` reads them.
unsafe impl Send for Frames {}

impl Frames {
    /// Room for that many frames; `None` if memory is short.
    pub(crate) fn with_room(frames: usize) -> Option<Self> {
        let mut room = Vec::new();
        room.try_reserve_exact(frames).ok()?;
        room.resize_with(frames, jvmtiFrameInfo::default);
        Some(Self(room, 0))
    }

    pub(crate) fn len(&self) -> usize {
        self.1
    }

    /// There is no room left, so outer frames may be missing.
    pub(crate) fn is_full(&self) -> bool {
        self.1 >= self.0.len()
    }
}
