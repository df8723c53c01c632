//! The ways in which a JVM can execute byte code.

use crate::setting::{is_nightly, is_set};

/// The methods compiled before their first call, unless somebody asks for all: a JVM that compiles
/// the whole class library this way takes thirty times as long to start as one that does not.
const EAGER: &[&str] = &[
    "-Xcomp",
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=compileonly,scenarios.*::*",
    "-XX:CompileCommand=compileonly,java.util.concurrent.locks.*::*",
];

/// The JVM's compilers that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileMode {
    /// None.
    Interpreter,
    /// The client compiler only.
    C1,
    /// The server compiler only.
    C2,
    /// Both, as by default.
    Tiered,
    /// Both, before a method's first call: one of the scenarios or of a lock; any in nightly tests and with
    /// `LOCKTRACE_COMPILE_ALL`.
    Eager,
}

impl CompileMode {
    /// All modes.
    pub const ALL: [CompileMode; 5] = [
        CompileMode::Interpreter,
        CompileMode::C1,
        CompileMode::C2,
        CompileMode::Tiered,
        CompileMode::Eager,
    ];

    /// The JVM flags that choose the mode. With `-Xbatch` a method that has
    /// become hot runs compiled from then on, and not some time later.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            CompileMode::Interpreter => &["-Xint"],
            CompileMode::C1 => &["-XX:TieredStopAtLevel=1", "-Xbatch"],
            CompileMode::C2 => &["-XX:-TieredCompilation", "-Xbatch"],
            CompileMode::Tiered => &["-Xbatch"],
            CompileMode::Eager if is_nightly() || is_set("LOCKTRACE_COMPILE_ALL") => &["-Xcomp"],
            CompileMode::Eager => EAGER,
        }
    }

    /// Some code is compiled.
    pub fn compiles(self) -> bool {
        self != CompileMode::Interpreter
    }
}
