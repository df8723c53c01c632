//! One trace, from its start to its end.

pub(crate) mod budget;
pub(crate) mod options;
pub(crate) mod watch;

use std::mem;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwapOption;
use rust_tracer::cycles::{self, HookCycles};
use rust_tracer::{Config, Mode, Runtime, StartError, Used, monotonic_ns, text};
use trace_format::{Capabilities, FileHeader, Hook};

use crate::ffi::{Callbacks, Env, Environment, Event, ExitHelper, RuntimeOwner, local_time};
use crate::instrumentation::Instrumentation;
use crate::methods::Methods;
use crate::monitors::{Monitor, Monitors};
use crate::parks::Parks;
use crate::session::budget::Budget;
use crate::session::options::Options;
use crate::session::watch::Watch;
use crate::slots::Slots;
use crate::threads::{Thread, Threads};

/// The trace that is being written.
static SESSION: ArcSwapOption<Session> = ArcSwapOption::const_empty();

/// Set to 0 by the runtime when the file cannot be written any more.
static IS_WRITABLE: AtomicU8 = AtomicU8::new(0);

/// How long the end of a trace waits for hooks that are under way.
const PATIENCE: Duration = Duration::from_secs(5);

/// What belongs to one trace. Hooks use it as long as they see it in [`SESSION`].
#[derive(Debug)]
pub(crate) struct Session {
    // Dropped in this order: tracers use the runtime.
    pub(crate) threads: Threads,
    pub(crate) monitors: Monitors,
    pub(crate) methods: Methods,
    pub(crate) slots: Slots<Monitor>,
    /// `None` if releases of monitors are not traced.
    pub(crate) exit_helper: Option<&'static ExitHelper>,
    pub(crate) watch: Watch,
    /// `None` if parks are not traced.
    pub(crate) parks: Option<Parks>,
    pub(crate) instrumentation: Instrumentation,
    /// The most frames of a call chain.
    pub(crate) max_frames: u16,
    pub(crate) budget: Budget,
    runtime: RuntimeOwner,
    pub(crate) environment: Environment,
}

/// Runs `hook` if there is a trace, and it can be written.
pub(crate) fn with<T>(hook: impl FnOnce(&Session) -> Option<T>) -> Option<T> {
    // Relaxed: what is written once the file cannot be goes nowhere.
    match IS_WRITABLE.load(Relaxed) {
        0 => None,
        _ => with_any(hook),
    }
}

/// Runs `hook` if there is a trace. It undoes what others have done, so it also runs when nothing
/// can be written any more.
pub(crate) fn with_any<T>(hook: impl FnOnce(&Session) -> Option<T>) -> Option<T> {
    SESSION.load().as_ref().and_then(|session| hook(session))
}

/// There is a trace, or was one that nobody has ended.
pub(crate) fn is_on() -> bool {
    SESSION.load().is_some()
}

/// Starts a trace. Returns whether releases are seen, too.
///
/// # Errors
///
/// If its file cannot be created.
pub(crate) fn start(
    environment: Environment,
    env: Env<'_>,
    options: &Options,
    callbacks: &Callbacks,
) -> Result<bool, StartError> {
    let threads = Threads::new(env);
    let exit_helper = ExitHelper::get(env, callbacks.released);
    let parks = Parks::new(env, callbacks.parks);
    let capabilities = match parks {
        Some(_) => CAPABILITIES,
        None => CAPABILITIES.union(Capabilities::WITHOUT_PARKS),
    };
    IS_WRITABLE.store(1, Relaxed);
    let runtime = RuntimeOwner::start(Config {
        path: options.path(process::id(), &local_time()),
        header: FileHeader {
            compressed: true,
            capabilities,
            start_unix_ns: unix_ns(),
            pid: process::id(),
            jvm: version(env),
        },
        start_ns: monotonic_ns(),
        enabled: Some(&IS_WRITABLE),
        max_buffer_bytes: 0,
        crash_safe: false,
        mode: Mode::File,
        analysis_bytes: 0,
        report: None,
        used: Used::default(),
    })?;
    let session = Arc::new(Session {
        threads,
        monitors: Monitors::default(),
        methods: Methods::default(),
        slots: Slots::new(exit_helper.map(|helper| &helper.monitors)),
        exit_helper,
        watch: Watch::default(),
        instrumentation: Instrumentation::new(options.filter.clone(), parks.as_ref()),
        parks,
        max_frames: options.chains,
        budget: Budget::new(options.sample),
        runtime,
        environment,
    });
    let counts = &session.runtime().agent_counts;
    counts
        .hook_budget_ppm
        .add(options.sample.millionths().into());
    SESSION.store(Some(Arc::clone(&session)));
    if exit_helper.is_some() {
        env.notify(Event::ClassFileLoad, true);
        session.instrumentation.change_loaded(env, counts);
    }
    for event in EVENTS {
        env.notify(event, true);
    }
    if let Some(parks) = &session.parks {
        parks.start(env);
    }
    Ok(exit_helper.is_some())
}

/// What the JVM tells of while there is a trace.
const EVENTS: [Event; 5] = [
    Event::ContendedEntered,
    Event::ContendedEnter,
    Event::Wait,
    Event::ThreadEnd,
    Event::VirtualThreadEnd,
];

/// What the trace guarantees, and what it leaves out.
const CAPABILITIES: Capabilities = Capabilities::ORDERED.union(Capabilities::BY_AGENT);

/// Ends the trace, if there is one, and writes what is left of it. With a thread of the JVM it
/// undoes what the trace has changed there.
pub(crate) fn stop(env: Option<Env<'_>>) {
    let Some(session) = SESSION.swap(None) else {
        return;
    };
    if let Some(env) = env {
        let of_session = session.environment.env().unwrap_or(env);
        for event in EVENTS {
            of_session.notify(event, false);
        }
        of_session.notify(Event::ClassFileLoad, false);
        session.slots.clear(env);
        if let Some(parks) = &session.parks {
            parks.stop(env);
        }
    }
    match when_unused(session) {
        Ok(session) => session.finish(env.is_some()),
        // A thread has been in a hook all the time: it was stopped there.
        Err(session) => {
            session.runtime.end_trace();
            mem::forget(session);
        }
    }
}

/// The session for the caller alone, once all hooks have ended that use it.
fn when_unused(mut session: Arc<Session>) -> Result<Session, Arc<Session>> {
    let start = Instant::now();
    loop {
        session = match Arc::try_unwrap(session) {
            Ok(session) => return Ok(session),
            Err(session) => session,
        };
        if start.elapsed() > PATIENCE {
            return Err(session);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

impl Session {
    pub(crate) fn runtime(&self) -> &'static Runtime {
        self.runtime.get()
    }

    /// The session, if the JVM has told `env` something because of it: a thread may come late with what
    /// was meant for an earlier trace, whose numbers of threads are others.
    pub(crate) fn told(&self, env: Env<'_>) -> Option<&Self> {
        self.environment.is_of(env).then_some(self)
    }

    /// Runs `hook` with the state of the current thread, and charges the budget for it; not if there
    /// is no memory for a state. What it took is counted for hooks of this kind, if it is one.
    pub(crate) fn with_thread<T>(
        &self,
        env: Env<'_>,
        kind: Option<Hook>,
        hook: impl FnOnce(&mut Thread) -> T,
    ) -> Option<T> {
        let begin_cycles = cycles::now();
        self.threads.with(env, self.runtime(), |thread| {
            let result = hook(thread);
            if let Some(kind) = kind {
                thread
                    .tracer
                    .end_hook(kind, HookCycles::since(begin_cycles), 1);
            }
            self.budget.spend(cycles::since(begin_cycles));
            result
        })
    }

    /// Ends the trace first: to change classes takes time, in which no event is written. With
    /// a thread of the JVM the classes get their code back.
    fn finish(self, undoes: bool) {
        self.threads.leave_all(self.runtime());
        self.runtime.end_trace();
        if undoes && let Some(env) = self.environment.env() {
            self.instrumentation.restore(env);
            self.monitors.free_all(env);
            env.dispose();
        }
    }
}

/// The version of the JVM, as the patched one writes it, but for that of the class library.
fn version(env: Env<'_>) -> String {
    format!(
        "{} ({})",
        text::from_jvm(&env.property(c"java.vm.name")),
        text::from_jvm(&env.property(c"java.vm.version")),
    )
}

fn unix_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
