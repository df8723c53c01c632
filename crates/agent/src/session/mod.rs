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

use crate::changes::{Changes, undo};
use crate::ffi::{Callbacks, Env, Environment, Event, ExitHelper, RuntimeOwner, Waits, local_time};
use crate::instrumentation::{self, Instrumentation};
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

/// The runtime sets it to 0 when the file can no longer be written.
static IS_WRITABLE: AtomicU8 = AtomicU8::new(0);

/// How long the end of a trace waits for running hooks.
const PATIENCE: Duration = Duration::from_secs(5);

/// When a trace begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// The JVM has its first thread.
    JvmStarts,
    /// The application runs.
    JvmRuns,
}

/// What a trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All that the JVM lets an agent see.
    All,
    /// Waits for monitors, for which no class is changed or defined.
    Waits,
}

/// The state of one trace. Hooks use it as long as they see it in [`SESSION`].
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
    pub(crate) changes: Changes,
    /// The most frames of a call chain.
    pub(crate) max_frames: u16,
    pub(crate) budget: Budget,
    runtime: RuntimeOwner,
    pub(crate) environment: Environment,
}

/// Runs `hook` if a trace is on and its file can be written.
pub(crate) fn with<T>(hook: impl FnOnce(&Session) -> Option<T>) -> Option<T> {
    // Relaxed: events written after the file has failed go nowhere.
    match IS_WRITABLE.load(Relaxed) {
        0 => None,
        _ => with_any(hook),
    }
}

/// Runs `hook` if a trace is on, even if its file can no longer be written: it undoes what other
/// hooks have done.
pub(crate) fn with_any<T>(hook: impl FnOnce(&Session) -> Option<T>) -> Option<T> {
    SESSION.load().as_ref().and_then(|session| hook(session))
}

/// Returns whether a trace is on, even one whose file has failed.
pub(crate) fn is_on() -> bool {
    SESSION.load().is_some()
}

/// Starts a trace. Returns whether releases of monitors are traced, too.
///
/// # Errors
///
/// If its file cannot be created.
pub(crate) fn start(
    environment: Environment,
    env: Env<'_>,
    options: &Options,
    callbacks: &Callbacks,
    moment: Moment,
    extent: Extent,
) -> Result<bool, StartError> {
    let threads = Threads::new(env);
    let exit_helper = match extent {
        Extent::All => ExitHelper::get(env, callbacks.exits),
        Extent::Waits => None,
    };
    let neighbor = exit_helper.and_then(ExitHelper::exits);
    let parks = neighbor.and_then(|neighbor| Parks::new(env, neighbor, callbacks.parks));
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
    let watch = Watch::default();
    if exit_helper.is_none() {
        watch.turn_on(false);
    }
    let session = Arc::new(Session {
        threads,
        monitors: Monitors::default(),
        methods: Methods::default(),
        slots: Slots::new(exit_helper.map(|helper| &helper.monitors)),
        exit_helper,
        watch,
        instrumentation: Instrumentation::new(
            options.filter.clone(),
            parks.as_ref(),
            undo::take_over(),
        ),
        changes: Changes::new(java_version(env) > 11),
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
    // At once, for the first counters of the trace to have it.
    counts
        .earlier_waits
        .add(earlier_waits(env, session.parks.as_ref()));
    SESSION.store(Some(Arc::clone(&session)));
    if exit_helper.is_some() {
        env.notify(Event::ClassFileLoad, true);
        let classes = session.instrumentation.wanted(env, counts);
        match moment {
            // No code of the application runs yet.
            Moment::JvmStarts => {
                let refused = instrumentation::change(env, classes, |_| {});
                counts.refused_classes.add(refused);
            }
            Moment::JvmRuns => {
                counts.classes_to_change.add(classes.len() as u64);
                session.instrumentation.set_changes_loaded(true);
                session.changes.add_loaded(classes);
            }
        }
    }
    for event in EVENTS {
        env.notify(event, true);
    }
    if let Some(parks) = &session.parks {
        parks.start(env);
    }
    Ok(exit_helper.is_some())
}

/// Returns how many threads wait for a monitor, or for a synchronizer that has an owner.
fn earlier_waits(env: Env<'_>, parks: Option<&Parks>) -> u64 {
    let mut waits = 0;
    for thread in env.all_threads() {
        let is_for_lock = match env.waits(thread) {
            Some(Waits::Blocked) => true,
            Some(Waits::Parked) => parks.is_some_and(|parks| parks.fields.has_owner(env, thread)),
            None => false,
        };
        waits += u64::from(is_for_lock);
        env.delete(thread);
    }
    waits
}

/// The events that are enabled during a trace.
const EVENTS: [Event; 5] = [
    Event::ContendedEntered,
    Event::ContendedEnter,
    Event::Wait,
    Event::ThreadEnd,
    Event::VirtualThreadEnd,
];

/// What the trace guarantees and what it leaves out.
const CAPABILITIES: Capabilities = Capabilities::ORDERED.union(Capabilities::BY_AGENT);

/// Ends the trace, if one is on, and writes the rest of it. With an `env` it also undoes what the
/// trace has changed in the JVM.
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
        // A thread is still in a hook: it was stopped there.
        Err(session) => {
            session.runtime.end_trace();
            mem::forget(session);
        }
    }
}

/// Returns the session to its only user, once all hooks that use it have ended.
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

    /// Returns the session if `env` is of its environment. A thread may arrive late with an event of
    /// an earlier trace, whose thread numbers differ.
    pub(crate) fn of_environment(&self, env: Env<'_>) -> Option<&Self> {
        self.environment.is_of(env).then_some(self)
    }

    /// Runs `hook` with the state of the current thread and charges the budget for it; returns `None`
    /// if there is no memory for a state. The time counts for hooks of this `kind`.
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

    /// Ends the trace, then begins to give classes their code back if `undoes`.
    fn finish(self, undoes: bool) {
        self.threads.leave_all(self.runtime());
        self.runtime.end_trace();
        if undoes && let Some(env) = self.environment.env() {
            self.monitors.free_all(env);
            self.changes.free_all(env);
            let changed = self.instrumentation.end(env);
            undo::begin(self.environment, changed, self.changes.has_one_walk);
        }
    }
}

/// Returns the version of Java: 8, 11; 0 if the JVM does not say.
fn java_version(env: Env<'_>) -> u32 {
    let version = env.property(c"java.vm.specification.version");
    let version = text::from_jvm(&version);
    let feature = version.strip_prefix("1.").unwrap_or(&version);
    feature.parse().unwrap_or(0)
}

/// Returns the version of the JVM as the patched one writes it, without the class library's.
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
