//! Starts and stops traces: when the JVM loads the agent, begins or ends, and on request.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;

use trace_format::agent_result;

use crate::ffi::{Callbacks, Env, Environment, Event, ExitHelper, Vm};
use crate::hooks::class_changer;
use crate::messages::{NO_OWNERS, say};
use crate::session::options::{Action, HELP, Options};
use crate::session::{self, Extent, Moment};

/// Set from the agent's loading to the JVM's first thread.
static PREPARED: Mutex<Option<Prepared>> = Mutex::new(None);

struct Prepared {
    environment: Environment,
    options: Options,
    callbacks: Callbacks,
}

/// Prepares to trace from the JVM's start. Returns `false`, which ends the JVM, if the options are
/// wrong.
pub(crate) fn load(vm: Vm, options: &[u8], callbacks: Callbacks) -> bool {
    let options = match Options::parse(options) {
        Ok(options) => options,
        Err(error) => {
            say(&error);
            return false;
        }
    };
    match options.action {
        Action::Start => {}
        // As if the agent were not there.
        Action::Stop => return true,
        Action::Help => {
            // An error cannot be reported anywhere.
            let _ = io::stdout().write_all(HELP.as_bytes());
            return true;
        }
    }
    match prepare(vm, &callbacks) {
        Some(environment) => {
            let env = environment.without_thread();
            env.notify(Event::VmInit, true);
            env.notify(Event::VmDeath, true);
            *prepared() = Some(Prepared {
                environment,
                options,
                callbacks,
            });
        }
        None => say(&NO_EVENTS),
    }
    true
}

/// HotSpot crashes when it records an AOT cache after an agent has changed classes of the JDK, and
/// writes none after an agent has defined a class (25.0.2).
fn records_aot_cache(env: Env<'_>) -> bool {
    env.any_argument(|argument| {
        argument.starts_with(b"-XX:AOTCacheOutput=")
            || [&b"-XX:AOTMode=record"[..], b"-XX:AOTMode=create"].contains(&argument)
    })
}

const RECORDS_AOT_CACHE: &str = "this JVM records an AOT cache, which would fail if classes of the JDK \
    were changed or added: waits for monitors are traced, without owners, and no parks";

const OTHER_COPY: &str = "another copy of this library was loaded into the JVM before: only that one can \
    trace";

const NO_EVENTS: &str = "this JVM does not tell agents of monitors";

fn prepared() -> std::sync::MutexGuard<'static, Option<Prepared>> {
    PREPARED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare(vm: Vm, callbacks: &Callbacks) -> Option<Environment> {
    let environment = vm.new_environment()?;
    let env = environment.without_thread();
    (env.add_capabilities() && env.set_callbacks(&callbacks.events)).then_some(environment)
}

/// Starts the prepared trace: the JVM has its first thread.
pub(crate) fn vm_init(env: Env<'_>) {
    let Some(Prepared {
        environment,
        options,
        callbacks,
    }) = prepared().take()
    else {
        return;
    };
    match ExitHelper::is_of_other_copy(env) {
        true => say(&OTHER_COPY),
        false => {
            start(environment, env, &options, &callbacks, Moment::JvmStarts);
        }
    }
}

/// Starts a trace, or says why it cannot. Returns whether it has started.
fn start(
    environment: Environment,
    env: Env<'_>,
    options: &Options,
    callbacks: &Callbacks,
    moment: Moment,
) -> bool {
    let vm = environment.vm();
    let extent = match records_aot_cache(env) {
        true => Extent::Waits,
        false => Extent::All,
    };
    match session::start(environment, env, options, callbacks, moment, extent) {
        Ok(_) if extent == Extent::Waits => say(&RECORDS_AOT_CACHE),
        Ok(true) => {}
        Ok(false) => say(&NO_OWNERS),
        Err(error) => {
            say(&error);
            return false;
        }
    }
    session::with_any(|session| {
        class_changer::run(session);
        Some(())
    });
    if let Some(duration) = options.duration {
        let timer = thread::Builder::new().name("locktrace-timer".to_owned());
        let started = timer.spawn(move || {
            thread::sleep(duration);
            vm.attached(|| stop(vm));
        });
        if let Err(error) = started {
            say(&format_args!(
                "the trace will not end by itself: no thread can be created for that: {error}"
            ));
        }
    }
    true
}

/// Ends the trace, in a thread that is attached to the JVM.
fn stop(vm: Vm) {
    let environment = vm.new_environment();
    let env = environment.as_ref().and_then(Environment::env);
    session::stop(env);
    if let Some(env) = env {
        env.dispose();
    }
}

/// Runs a command in a running JVM. Returns one of the results of [`agent_result`].
pub(crate) fn attach(vm: Vm, options: &[u8], callbacks: Callbacks) -> i32 {
    let options = match Options::parse(options) {
        Ok(options) => options,
        Err(error) => {
            say(&error);
            return agent_result::OPTIONS;
        }
    };
    match options.action {
        Action::Start => attach_start(vm, &options, &callbacks),
        Action::Stop if !session::is_on() => {
            say(&"lock contention is not traced");
            agent_result::NOT_TRACED
        }
        Action::Stop => {
            stop(vm);
            agent_result::DONE
        }
        Action::Help => {
            // An error cannot be reported anywhere.
            let _ = io::stdout().write_all(HELP.as_bytes());
            agent_result::DONE
        }
    }
}

fn attach_start(vm: Vm, options: &Options, callbacks: &Callbacks) -> i32 {
    if session::is_on() {
        say(&"lock contention is traced already");
        return agent_result::TRACED_ALREADY;
    }
    let Some(environment) = prepare(vm, callbacks) else {
        say(&NO_EVENTS);
        return agent_result::JVM;
    };
    let env = environment.env_of_caller();
    if env.is_some_and(ExitHelper::is_of_other_copy) {
        say(&OTHER_COPY);
        return agent_result::OTHER_COPY;
    }
    match env {
        Some(env) if start(environment, env, options, callbacks, Moment::JvmRuns) => {
            agent_result::DONE
        }
        Some(_) => agent_result::FILE,
        None => agent_result::JVM,
    }
}

/// Ends the trace with the JVM.
pub(crate) fn unload() {
    session::stop(None);
}
