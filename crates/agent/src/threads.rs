//! What is kept for each thread that has contended for a monitor.
//!
//! A thread has a number in the thread-local storage of the tool interface, which belongs to the
//! Java thread and not to the thread of the operating system: a virtual thread takes it along to
//! another carrier.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use papaya::HashMap;
use rust_tracer::{Runtime, ThreadTracer, monotonic_ns, text};
use trace_format::{JavaThreadId, StackRange};

use crate::ffi::{Env, LongField, Object};
use crate::monitors::Monitor;
use crate::park_hooks::ParkState;

/// The JVM does not tell when a thread is renamed, so it is looked again after this time.
const NAME_INTERVAL_NS: u64 = 1_000_000_000;

/// The number of a thread that has ended: it may still contend for its own monitor, which others
/// wait for in `Thread.join`.
const ENDED: usize = usize::MAX;

/// The state of one thread.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Its number in the tool interface.
    pub(crate) tag: usize,
    pub(crate) tracer: Box<ThreadTracer>,
    /// What the thread has begun to wait for.
    pub(crate) waits_for: Option<Arc<Monitor>>,
    pub(crate) parks: ParkState,
    pub(crate) java_id: JavaThreadId,
    name: Box<[u8]>,
    name_checked_ns: u64,
}

/// All threads that have contended, by the numbers that they have in the tool interface.
#[derive(Debug)]
pub(crate) struct Threads {
    /// A mutex is only ever waited for by nobody: the thread itself tries it, and whoever ends
    /// the trace takes it when no thread is in a hook.
    threads: HashMap<usize, Arc<Mutex<Option<Thread>>>>,
    last_tag: AtomicUsize,
    /// `Thread.tid`.
    java_id_field: Option<LongField>,
}

impl Threads {
    pub(crate) fn new(env: Env<'_>) -> Self {
        Self {
            threads: HashMap::new(),
            last_tag: AtomicUsize::new(0),
            java_id_field: env.long_field(c"java/lang/Thread", c"tid"),
        }
    }

    /// Runs `hook` with the state of the current thread; not if there is no memory for one.
    pub(crate) fn with<T>(
        &self,
        env: Env<'_>,
        runtime: &'static Runtime,
        hook: impl FnOnce(&mut Thread) -> T,
    ) -> Option<T> {
        let threads = self.threads.pin();
        let tag = env.thread_tag();
        if tag == ENDED {
            return None;
        }
        let state = threads.get(&tag).cloned();
        let state = match state {
            Some(state) => state,
            None => {
                let tag = self.last_tag.fetch_add(1, Relaxed).wrapping_add(1);
                let state = Arc::new(Mutex::new(Some(self.create(env, runtime, tag)?)));
                if !env.set_thread_tag(tag) {
                    return None;
                }
                threads.insert(tag, Arc::clone(&state));
                state
            }
        };
        // Fails only if a hook runs within a hook.
        let mut state = state.try_lock().ok()?;
        let thread = state.as_mut()?;
        thread.check_name(env);
        Some(hook(thread))
    }

    /// `Thread.getId()` of a thread's object.
    pub(crate) fn java_id(&self, env: Env<'_>, thread: Object<'_>) -> u64 {
        let id = self.java_id_field.map(|field| env.long(thread, field));
        id.unwrap_or_default().cast_unsigned()
    }

    fn create(&self, env: Env<'_>, runtime: &'static Runtime, tag: usize) -> Option<Thread> {
        let current = env.thread();
        let java_id = JavaThreadId(current.map_or(0, |thread| self.java_id(env, thread)));
        current.inspect(|&thread| env.delete(thread));
        let now_ns = monotonic_ns();
        let name = env.thread_name();
        let tracer = ThreadTracer::start(
            runtime,
            java_id,
            &text::from_jvm(&name),
            0,
            StackRange::default(),
            now_ns,
        )?;
        Some(Thread {
            tag,
            tracer,
            waits_for: None,
            parks: ParkState::default(),
            java_id,
            name: name.to_vec().into_boxed_slice(),
            name_checked_ns: now_ns,
        })
    }

    /// The current thread ends. Returns its `Thread.getId()` if it had a state.
    pub(crate) fn end(&self, env: Env<'_>) -> Option<u64> {
        let tag = env.thread_tag();
        if tag == 0 {
            return None;
        }
        env.set_thread_tag(ENDED);
        let threads = self.threads.pin();
        let state = threads.remove(&tag)?;
        let mut thread = state.try_lock().ok()?.take()?;
        if let Some(monitor) = thread.waits_for {
            monitor.abandon();
        }
        thread.parks.end();
        thread.tracer.end(monotonic_ns());
        Some(thread.java_id.0)
    }

    /// All tracers are given back. No thread is in a hook.
    pub(crate) fn leave_all(&self) {
        let threads = self.threads.pin();
        for state in threads.values() {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(thread) = state.take() {
                thread.tracer.leave();
            }
        }
    }
}

impl Thread {
    fn check_name(&mut self, env: Env<'_>) {
        let now_ns = monotonic_ns();
        if now_ns.saturating_sub(self.name_checked_ns) < NAME_INTERVAL_NS {
            return;
        }
        self.name_checked_ns = now_ns;
        let name = env.thread_name();
        if *name != *self.name {
            self.name = name.to_vec().into_boxed_slice();
            self.tracer
                .thread_renamed(self.java_id, &text::from_jvm(&name));
        }
    }
}
