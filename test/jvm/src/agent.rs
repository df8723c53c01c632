//! The agent under test.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::paths::{repository, target_directory};
use crate::programs::run_to_success;

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
