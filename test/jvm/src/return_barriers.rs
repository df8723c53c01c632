//! The return barriers that the tracer leaves on the stacks of threads.

use std::process::Command;
use std::sync::OnceLock;

use crate::jdk::Jdk;

/// The setting of return barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnBarriers {
    /// They are; for each call chain the JVM walks the whole stack, too, and ends
    /// if it finds anything else.
    Verified,
    /// They are, as in production.
    On,
    /// They are not; call chains are verified as well.
    Off,
}

impl ReturnBarriers {
    /// Returns the default setting of traced JVMs.
    pub fn of_environment() -> Self {
        match std::env::var("LOCKTRACE_RETURN_BARRIERS").as_deref() {
            Err(_) | Ok("verified") => Self::Verified,
            Ok("on") => Self::On,
            Ok("off") => Self::Off,
            Ok(other) => {
                panic!("LOCKTRACE_RETURN_BARRIERS: expected verified, on or off, found: {other}")
            }
        }
    }

    /// The flags for it; none if the JVM has no return barriers, as on some
    /// processors.
    pub fn flags(self) -> &'static [&'static str] {
        if !is_supported() {
            return &[];
        }
        match self {
            Self::Verified => &[
                "-XX:+LockContentionReturnBarriers",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+LockContentionVerifyReturnBarriers",
            ],
            Self::On => &[
                "-XX:+LockContentionReturnBarriers",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-LockContentionVerifyReturnBarriers",
            ],
            Self::Off => &[
                "-XX:-LockContentionReturnBarriers",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+LockContentionVerifyReturnBarriers",
            ],
        }
    }
}

/// The JVM can set return barriers, and verify them.
fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        let java = Jdk::traced().tool("java");
        let output = Command::new(java)
            .args([
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+PrintFlagsFinal",
                "-version",
            ])
            .output()
            .expect("java can be started");
        let flags = String::from_utf8_lossy(&output.stdout);
        let knows = |flag| flags.split_whitespace().any(|word| word == flag);
        knows("LockContentionReturnBarriers") && knows("LockContentionVerifyReturnBarriers")
    })
}
