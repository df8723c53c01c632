//! The process and its JVM, independent of a thread.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::thread;

use jvmti_bindings::sys::jni::{JNI_OK, JavaVM};
use jvmti_bindings::sys::jni::{JNIEnv, jint};
use jvmti_bindings::sys::jvmti::{JVMTI_VERSION_1_2, jvmtiEnv};

use crate::ffi::env::Env;

/// Returns the local time as in the names of HotSpot's logs.
pub(crate) fn local_time() -> String {
    let mut fields = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call; all zero is a valid `tm` if it fails.
    let fields = unsafe {
        let now = libc::time(ptr::null_mut());
        libc::localtime_r(&now, fields.as_mut_ptr());
        fields.assume_init()
    };
    format!(
        "{:04}-{:02}-{:02}_{:02}-{:02}-{:02}",
        fields.tm_year.saturating_add(1900),
        fields.tm_mon.saturating_add(1),
        fields.tm_mday,
        fields.tm_hour,
        fields.tm_min,
        fields.tm_sec,
    )
}

const JNI_VERSION_1_8: jint = 0x0001_0008;

/// The JVM of the process. It stays until the process ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vm(*mut JavaVM);

// SAFETY: the invocation interface may be called by any thread.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

impl Vm {
    /// # Safety
    ///
    /// `vm` is the JVM that calls the agent.
    pub(crate) unsafe fn new(vm: *mut JavaVM) -> Self {
        Self(vm)
    }

    /// Creates a tool's environment, with the interface of JDK 8. The current thread must be attached
    /// once the JVM has threads: HotSpot uses it without a check.
    pub(crate) fn new_environment(self) -> Option<Environment> {
        let jvmti = self.get_env(JVMTI_VERSION_1_2)?;
        Some(Environment {
            vm: self,
            jvmti: jvmti.cast(),
        })
    }

    /// Returns the JNI environment of the current thread, if it is attached.
    fn jni(self) -> Option<*mut JNIEnv> {
        Some(self.get_env(JNI_VERSION_1_8)?.cast())
    }

    fn get_env(self, version: jint) -> Option<*mut c_void> {
        let mut env = ptr::null_mut();
        // SAFETY: the pointer is the JVM's, and `env` can be written.
        let result = unsafe { ((**self.0).GetEnv)(self.0, &mut env, version) };
        (result == JNI_OK && !env.is_null()).then_some(env)
    }

    /// Runs `work` in a new thread of the agent, which is attached meanwhile. Returns `false` if no
    /// thread can be created.
    pub(crate) fn spawn(self, name: &str, work: impl FnOnce() + Send + 'static) -> bool {
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || self.attached(work)).is_ok()
    }

    /// Runs `work` with the current thread attached as a daemon. Does nothing if the JVM takes no
    /// threads any more.
    pub(crate) fn attached(self, work: impl FnOnce()) {
        let mut env = ptr::null_mut();
        // SAFETY: the pointer is the JVM's, `env` can be written, and null asks for the defaults.
        let result =
            unsafe { ((**self.0).AttachCurrentThreadAsDaemon)(self.0, &mut env, ptr::null_mut()) };
        if result != JNI_OK {
            return;
        }
        work();
        // SAFETY: the thread was attached above, and has no Java frames.
        unsafe { ((**self.0).DetachCurrentThread)(self.0) };
    }
}

/// A tool's environment in the JVM, with its own events and thread-local storage.
#[derive(Debug)]
pub(crate) struct Environment {
    vm: Vm,
    jvmti: *mut jvmtiEnv,
}

// SAFETY: JVMTI functions may be called by any thread that is attached.
unsafe impl Send for Environment {}
// SAFETY: as above.
unsafe impl Sync for Environment {}

impl Environment {
    /// Returns the interface for the current thread, if it is attached.
    pub(crate) fn env(&self) -> Option<Env<'_>> {
        // SAFETY: both belong to this JVM, and the second to this thread.
        Some(unsafe { Env::new(self.jvmti, self.vm.jni()?) })
    }

    /// Returns the interface for the current thread.
    ///
    /// # Safety
    ///
    /// `jni` is the current thread's.
    pub(crate) unsafe fn env_with(&self, jni: *mut JNIEnv) -> Env<'_> {
        // SAFETY: as the caller promises, and both belong to this JVM.
        unsafe { Env::new(self.jvmti, jni) }
    }

    /// Returns the interface while the JVM has no threads: without JNI.
    pub(crate) fn without_thread(&self) -> Env<'_> {
        // SAFETY: functions of `Env` that need JNI do nothing without it.
        unsafe { Env::new(self.jvmti, ptr::null_mut()) }
    }

    /// Like [`env`](Self::env), for a caller that hands the environment on.
    pub(crate) fn env_of_caller<'a>(&self) -> Option<Env<'a>> {
        // SAFETY: as in `env`. An environment is disposed of by its session's end only.
        Some(unsafe { Env::new(self.jvmti, self.vm.jni()?) })
    }

    /// Returns whether `env` is the interface of this environment.
    pub(crate) fn is_of(&self, env: Env<'_>) -> bool {
        ptr::eq(self.jvmti, env.environment())
    }

    pub(crate) fn vm(&self) -> Vm {
        self.vm
    }
}
