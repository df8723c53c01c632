//! The agent under test.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::hold_log::HoldLog;
use crate::jdk::Jdk;
use crate::jvm::Run;
use crate::paths::{repository, target_directory};
use crate::programs::run_to_success;
use crate::summary::{analyze, check_sound};
use crate::trace_clock::TraceClock;

/// The agent's library: the one that the environment names, or built from this repository.
pub fn agent_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        if let Some(library) = std::env::var_os("LOCKTRACE_AGENT") {
            return library.into();
        }
        let target = target_directory();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "build",
                "--quiet",
                "--release",
                "--package",
                "locktrace-agent",
            ])
            .arg("--target-dir")
            .arg(&target)
            .current_dir(repository());
        run_to_success(&mut cargo);
        target.join("release/liblocktrace_agent.so")
    })
}

/// The flag of a JVM that loads the agent with some options.
pub fn agent_option(options: &str) -> OsString {
    let mut flag = OsString::from("-agentpath:");
    flag.push(agent_library());
    flag.push("=");
    flag.push(options);
    flag
}

/// The tolerance of a method's blame, relative to all blame. The program notes when it has acquired
/// the lock and when it is about to release it, some microseconds away from that.
const SHARE_TOLERANCE: f64 = 0.03;

/// Panics unless the trace of `scenarios.HoldsOfLocks` is sound, and its methods are blamed for
/// waits for locks of a class as its own clock says.
pub fn check_shares_of_holds(lock: &str, class: &str, jdk: &Jdk, run: &Run) {
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
    let log = HoldLog::of(run, TraceClock::of(run)).with_unseen_acquisitions();
    let compared = log.compare(run, class);
    let truth = &compared.truth.methods;
    let total_ns: u64 = truth.values().map(|bounds| bounds.least_ns).sum();
    assert!(compared.waits > 20 && total_ns > 0, "{}", run.describe());
    let tolerance_ns = SHARE_TOLERANCE * total_ns as f64;
    for method in truth.keys().chain(compared.found.methods.keys()) {
        let found_ns = compared.found.methods.get(method).copied().unwrap_or(0);
        let bounds = truth.get(method).copied().unwrap_or_default();
        let range = bounds.least_ns as f64 - tolerance_ns..=bounds.most_ns as f64 + tolerance_ns;
        assert!(
            range.contains(&(found_ns as f64)),
            "{lock} on {}: {method:?}: {found_ns} ns instead of {bounds:?}",
            jdk.home().display(),
        );
    }
}
