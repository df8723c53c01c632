//! The ways in which a JVM can execute byte code.

/// Which of the JVM's compilers run.
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
    /// Both, before a method's first call.
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
            CompileMode::Eager => &["-Xcomp"],
        }
    }

    /// Some code is compiled.
    pub fn compiles(self) -> bool {
        self != CompileMode::Interpreter
    }
}
