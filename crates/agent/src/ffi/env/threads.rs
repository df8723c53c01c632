//! The current thread, and the states of others.

use std::ffi::c_void;
use std::ptr;

use jvmti_bindings::sys::jni::{JNI_TRUE, jint, jobject, jthread};
use jvmti_bindings::sys::jvmti::jvmtiThreadInfo;

use crate::ffi::env::Env;
use crate::ffi::memory::{JvmArray, JvmText};
use crate::ffi::reference::Object;

/// `JNI_VERSION_19`, with which `IsVirtualThread` came.
const VIRTUAL_THREADS_SINCE: jint = 0x0013_0000;
/// `JVMTI_THREAD_STATE_INTERRUPTED`.
const JVMTI_THREAD_STATE_INTERRUPTED: i32 = 0x20_0000;
/// `JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER`.
const JVMTI_THREAD_STATE_BLOCKED: i32 = 0x400;
/// `JVMTI_THREAD_STATE_PARKED`.
const JVMTI_THREAD_STATE_PARKED: i32 = 0x200;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A monitor.
    Blocked,
    /// An unpark.
    Parked,
}

impl<'a> Env<'a> {
    /// Returns the number that the agent has stored with the thread; 0 at first.
    pub(crate) fn thread_tag(self) -> usize {
        let mut tag: *mut c_void = ptr::null_mut();
        // SAFETY: a null thread is the current one, and `tag` can be written.
        unsafe { jvmti!(self, GetThreadLocalStorage, ptr::null_mut(), &mut tag) };
        tag.addr()
    }

    /// Stores a number with the thread, whose object `current` is. Returns whether that worked.
    pub(crate) fn set_thread_tag(self, current: Option<Object<'_>>, tag: usize) -> bool {
        let tag = ptr::without_provenance(tag);
        // SAFETY: null or the current thread, which null stands for; the JVM does not dereference
        // the pointer.
        unsafe { jvmti!(self, SetThreadLocalStorage, raw(current), tag) }
    }

    /// Returns the thread's object as tools see it: a virtual thread while one is mounted.
    ///
    /// Functions that take a thread also take null for the current one. From JDK 21 on, null makes
    /// them wait until no virtual thread is being mounted or unmounted, and blocks that for all of
    /// them; a virtual thread that is passed makes them do so for that one only.
    pub(crate) fn thread(self) -> Option<Object<'a>> {
        let mut thread = ptr::null_mut();
        // SAFETY: `thread` can be written, and becomes a local reference.
        unsafe {
            jvmti!(self, GetCurrentThread, &mut thread);
            Object::new(thread)
        }
    }

    /// Whether the current thread is this one.
    pub(crate) fn is_current(self, thread: Object<'_>) -> bool {
        let Some(current) = self.thread() else {
            return false;
        };
        let is_same = self.are_same(current, thread);
        self.delete(current);
        is_same
    }

    /// Whether the JVM has virtual threads.
    pub(in crate::ffi) fn has_virtual_threads(self) -> bool {
        // SAFETY: the interface is the current thread's.
        self.jni().is_some_and(
            |(native, env)| unsafe { (native.GetVersion)(env) } >= VIRTUAL_THREADS_SINCE,
        )
    }

    /// Whether the thread is a virtual one.
    pub(crate) fn is_virtual(self, thread: Object<'_>) -> bool {
        let Some((native, env)) = self.jni().filter(|_| self.has_virtual_threads()) else {
            return false;
        };
        // SAFETY: this version has the function, and the reference is valid.
        unsafe { (native.IsVirtualThread)(env, thread.raw()) == JNI_TRUE }
    }

    /// Returns the name of the thread, whose object `current` is.
    pub(crate) fn thread_name(self, current: Option<Object<'_>>) -> JvmText<'a> {
        let mut info = jvmtiThreadInfo::default();
        // SAFETY: null or the current thread, which null stands for, and `info` can be written. Its
        // name is the agent's to free, and its references are local ones.
        unsafe {
            jvmti!(self, GetThreadInfo, raw(current), &mut info);
            self.delete_raw(info.thread_group);
            self.delete_raw(info.context_class_loader);
            JvmText::new(self.memory(), info.name)
        }
    }

    /// Whether the thread, whose object `current` is, was interrupted and has not reacted yet.
    pub(crate) fn is_interrupted(self, current: Object<'_>) -> bool {
        self.state(current) & JVMTI_THREAD_STATE_INTERRUPTED != 0
    }

    /// Returns what the thread waits for, if it does.
    pub(crate) fn waits(self, thread: Object<'_>) -> Option<Waits> {
        let state = self.state(thread);
        match (
            state & JVMTI_THREAD_STATE_BLOCKED,
            state & JVMTI_THREAD_STATE_PARKED,
        ) {
            (0, 0) => None,
            (0, _) => Some(Waits::Parked),
            _ => Some(Waits::Blocked),
        }
    }

    fn state(self, thread: Object<'_>) -> i32 {
        let mut state = 0;
        // SAFETY: the reference is valid, and `state` can be written.
        unsafe { jvmti!(self, GetThreadState, thread.raw(), &mut state) };
        state
    }

    /// Returns all threads but for virtual ones, as local references.
    pub(crate) fn all_threads(self) -> Vec<Object<'a>> {
        let (mut count, mut threads) = (0, ptr::null_mut());
        // SAFETY: both can be written; the array is the agent's to free, the references in it
        // are local ones.
        let threads: JvmArray<'_, jthread> = unsafe {
            jvmti!(self, GetAllThreads, &mut count, &mut threads);
            JvmArray::new(self.memory(), threads, count)
        };
        let threads = threads.iter();
        // SAFETY: local references, valid during the call of the agent.
        let threads = threads.filter_map(|&thread| unsafe { Object::new(thread) });
        threads.collect()
    }
}

fn raw(thread: Option<Object<'_>>) -> jobject {
    thread.map_or(ptr::null_mut(), Object::raw)
}
