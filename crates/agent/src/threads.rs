//! The state of each thread that has been in a hook.
//!
//! A thread has a number in the thread-local storage of the tool interface, which belongs to the
//! Java thread, not to the thread of the operating system: a virtual thread takes it along to
//! another carrier.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use papaya::HashMap;
use rust_tracer::{Runtime, ThreadTracer, monotonic_ns, text};
use trace_format::{JavaThreadId, StackRange};

use crate::ffi::{Env, LongField, Object};
use crate::instrumentation::late::LateClass;
use crate::monitors::Monitor;
use crate::monitors::inner_exits::InnerExits;
use crate::parks::thread_state::ParkState;

/// How often a thread's name is checked, since there is no event when it changes.
const NAME_INTERVAL_NS: u64 = 1_000_000_000;

/// The number of a thread that has ended. It may still contend for its own monitor, on which others
/// wait in `Thread.join`.
const ENDED: usize = usize::MAX;

/// A wait for a monitor that has begun.
#[derive(Debug)]
pub(crate) struct MonitorWait {
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) began_ns: u64,
    /// The number of releases that were seen before; `None` if none could be.
    pub(crate) exits: Option<u32>,
    /// The class of the JDK in whose code it waits, if that is not changed yet.
    pub(crate) late_class: Option<Arc<LateClass>>,
}

impl MonitorWait {
    /// Ends a wait of a thread that does not get the monitor, or whose end was not seen.
    pub(crate) fn abandon(self) {
        self.monitor.abandon();
        self.leave_class();
    }

    /// Ends the wait in the code of the class.
    pub(crate) fn leave_class(&self) {
        if let Some(class) = &self.late_class {
            class.wait_ends();
        }
    }
}

/// The state of one thread.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Its number in the tool interface.
    pub(crate) tag: usize,
    pub(crate) tracer: Box<ThreadTracer>,
    pub(crate) waits_for: Option<MonitorWait>,
    pub(crate) parks: ParkState,
    pub(crate) inner_exits: InnerExits,
    pub(crate) java_id: JavaThreadId,
    is_virtual: bool,
    name: Box<[u8]>,
    name_checked_ns: u64,
}

/// The threads, by their numbers in the tool interface.
#[derive(Debug)]
pub(crate) struct Threads {
    /// No thread ever waits for one of these mutexes: the thread itself only tries its own, and the
    /// end of the trace takes them when no thread is in a hook.
    threads: HashMap<usize, Arc<Mutex<Option<Thread>>>>,
    /// Relaxed: guards no other memory.
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

    /// Runs `hook` with the state of the current thread; returns `None` if there is no memory for one.
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
                let current = env.thread();
                let state = self.create(env, runtime, current, tag)?;
                let state = Arc::new(Mutex::new(Some(state)));
                let is_known = env.set_thread_tag(current, tag);
                current.inspect(|&current| env.delete(current));
                if !is_known {
                    return None;
                }
                threads.insert(tag, Arc::clone(&state));
                state
            }
        };
        // Fails only within another hook of the same thread.
        let mut state = state.try_lock().ok()?;
        let thread = state.as_mut()?;
        thread.check_name(env);
        Some(hook(thread))
    }

    /// Returns `Thread.getId()` of a thread's object.
    pub(crate) fn java_id(&self, env: Env<'_>, thread: Object<'_>) -> u64 {
        let id = self.java_id_field.map(|field| env.long(thread, field));
        id.unwrap_or_default().cast_unsigned()
    }

    /// Creates the state of the current thread, whose object `current` is.
    fn create(
        &self,
        env: Env<'_>,
        runtime: &'static Runtime,
        current: Option<Object<'_>>,
        tag: usize,
    ) -> Option<Thread> {
        let java_id = JavaThreadId(current.map_or(0, |thread| self.java_id(env, thread)));
        let now_ns = monotonic_ns();
        let name = env.thread_name(current);
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
            inner_exits: InnerExits::default(),
            java_id,
            is_virtual: current.is_some_and(|thread| env.is_virtual(thread)),
            name: name.to_vec().into_boxed_slice(),
            name_checked_ns: now_ns,
        })
    }

    /// Ends the state of the current thread, whose object `current` is.
    pub(crate) fn end(
        &self,
        env: Env<'_>,
        runtime: &'static Runtime,
        current: Object<'_>,
    ) -> Option<()> {
        let tag = env.thread_tag();
        if tag == 0 {
            return None;
        }
        env.set_thread_tag(Some(current), ENDED);
        let threads = self.threads.pin();
        let state = threads.remove(&tag)?;
        let mut thread = state.try_lock().ok()?.take()?;
        if let Some(wait) = thread.waits_for.take() {
            wait.abandon();
        }
        thread.write_pending(runtime);
        thread.tracer.end(monotonic_ns());
        Some(())
    }

    /// Ends the states of all threads, none of which is in a hook.
    pub(crate) fn leave_all(&self, runtime: &'static Runtime) {
        let threads = self.threads.pin();
        for state in threads.values() {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(mut thread) = state.take() {
                thread.write_pending(runtime);
                thread.tracer.leave();
            }
        }
    }
}

impl Thread {
    /// Returns the object of the thread, which is the current one, if it has to be passed to the JVM:
    /// [`Env::thread`] says why. It is a local reference.
    pub(crate) fn named<'a>(&self, env: Env<'a>) -> Option<Object<'a>> {
        self.is_virtual.then(|| env.thread())?
    }

    /// Writes the events that hooks have held back.
    fn write_pending(&mut self, runtime: &'static Runtime) {
        self.parks.end(&mut self.tracer);
        self.inner_exits
            .end(&mut self.tracer, &runtime.agent_counts);
    }

    /// Prepares for the thread to block. A virtual one leaves its buffer to others that lack one, as
    /// any number of virtual threads may be blocked.
    pub(crate) fn blocks(&mut self) {
        if self.is_virtual {
            self.tracer.rest();
        }
    }

    fn check_name(&mut self, env: Env<'_>) {
        let now_ns = monotonic_ns();
        if now_ns.saturating_sub(self.name_checked_ns) < NAME_INTERVAL_NS {
            return;
        }
        self.name_checked_ns = now_ns;
        let current = self.named(env);
        let name = env.thread_name(current);
        current.inspect(|&current| env.delete(current));
        if *name != *self.name {
            self.name = name.to_vec().into_boxed_slice();
            self.tracer.rename(&text::from_jvm(&name));
        }
    }
}
