//! The process and the JVM in it, apart from any thread.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use jvmti_bindings::sys::jni::{JNI_OK, JavaVM};
use jvmti_bindings::sys::jni::{JNIEnv, jint};
use jvmti_bindings::sys::jvmti::{JVMTI_VERSION_1_2, jvmtiEnv};

use crate::ffi::env::Env;

/// The local time as HotSpot writes it into the names of its logs.
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

    /// A new tool's environment, with the interface that JDK 8 has. The current thread must be
    /// attached once the JVM has threads: HotSpot looks at it without asking whether it is.
    pub(crate) fn new_environment(self) -> Option<Environment> {
        let jvmti = self.get_env(JVMTI_VERSION_1_2)?;
        Some(Environment {
            vm: self,
            jvmti: jvmti.cast(),
        })
    }

    /// The JNI environment of the current thread, if that is attached.
    fn jni(self) -> Option<*mut JNIEnv> {
        Some(self.get_env(JNI_VERSION_1_8)?.cast())
    }

    fn get_env(self, version: jint) -> Option<*mut c_void> {
        let mut env = ptr::null_mut();
        // SAFETY: the pointer is that of the JVM, and `env` can be written.
        let result = unsafe { ((**self.0).GetEnv)(self.0, &mut env, version) };
        (result == JNI_OK && !env.is_null()).then_some(env)
    }

    /// Attaches the current thread, which the JVM does not wait for at its end, runs `work`, and
    /// detaches it. Without a JVM that takes threads nothing is run.
    pub(crate) fn attached(self, work: impl FnOnce()) {
        let mut env = ptr::null_mut();
        // SAFETY: the pointer is that of the JVM, `env` can be written, and null asks for what
        // is usual.
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

/// A tool's environment in the JVM: its events and its values for threads.
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
    /// The interface for the current thread, if that is attached.
    pub(crate) fn env(&self) -> Option<Env<'_>> {
        // SAFETY: both belong to this JVM, and the second to this thread.
        Some(unsafe { Env::new(self.jvmti, self.vm.jni()?) })
    }

    /// The interface for the current thread.
    ///
    /// # Safety
    ///
    /// `jni` is the current thread's.
    pub(crate) unsafe fn env_with(&self, jni: *mut JNIEnv) -> Env<'_> {
        // SAFETY: as the caller promises, and both belong to this JVM.
        unsafe { Env::new(self.jvmti, jni) }
    }

    /// The interface while the JVM has no threads yet: what needs JNI is not called.
    pub(crate) fn without_thread(&self) -> Env<'_> {
        // SAFETY: functions of `Env` that need JNI do nothing without it.
        unsafe { Env::new(self.jvmti, ptr::null_mut()) }
    }

    /// As [`env`](Self::env), for a call of the agent that hands the environment on.
    pub(crate) fn env_of_caller<'a>(&self) -> Option<Env<'a>> {
        // SAFETY: as in `env`. An environment is disposed of by its session's end only.
        Some(unsafe { Env::new(self.jvmti, self.vm.jni()?) })
    }

    /// Whether `env` is the interface of this environment.
    pub(crate) fn is_of(&self, env: Env<'_>) -> bool {
        ptr::eq(self.jvmti, env.environment())
    }

    pub(crate) fn vm(&self) -> Vm {
        self.vm
    }
}
