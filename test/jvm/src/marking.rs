//! The marks that the tracer leaves on the stacks of threads.

use std::process::Command;
use std::sync::OnceLock;

use crate::jdk::Jdk;

/// Whether stacks are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// They are; for each call chain the JVM walks the whole stack, too, and ends
    /// if it finds anything else.
    Verified,
    /// They are, as in production.
    On,
    /// They are not; call chains are verified as well.
    Off,
}

impl Marking {
    /// What traced JVMs run with unless a test says otherwise.
    pub fn of_environment() -> Self {
        match std::env::var("LOCKTRACE_MARKS").as_deref() {
            Err(_) | Ok("verified") => Self::Verified,
            Ok("on") => Self::On,
            Ok("off") => Self::Off,
            Ok(other) => panic!("LOCKTRACE_MARKS: expected verified, on or off, found: {other}"),
        }
    }

    /// The flags for it; none if the JVM never marks stacks, as on some
    /// processors.
    pub fn flags(self) -> &'static [&'static str] {
        if !is_supported() {
            return &[];
        }
        match self {
            Self::Verified => &[
                "-XX:+LockContentionMarkFrames",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+LockContentionVerifyMarks",
            ],
            Self::On => &[
                "-XX:+LockContentionMarkFrames",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-LockContentionVerifyMarks",
            ],
            Self::Off => &[
                "-XX:-LockContentionMarkFrames",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+LockContentionVerifyMarks",
            ],
        }
    }
}

/// The JVM can mark stacks, and verify the marks.
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
        knows("LockContentionMarkFrames") && knows("LockContentionVerifyMarks")
    })
}
