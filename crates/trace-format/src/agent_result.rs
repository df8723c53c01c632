//! Results that the agent for stock JVMs returns when it is loaded into a running JVM. The JVM
//! passes them on to the process that asked for it.

/// The agent has done what its options say.
pub const DONE: i32 = 0;
/// The agent does not understand its options.
pub const OPTIONS: i32 = 100;
/// Another agent already traces the JVM.
pub const TRACED_ALREADY: i32 = 101;
/// No trace of an agent could be ended.
pub const NOT_TRACED: i32 = 102;
/// The JVM lacks capabilities that the agent needs.
pub const JVM: i32 = 103;
/// The trace cannot be written.
pub const FILE: i32 = 104;
/// Another copy of the library was loaded before.
pub const OTHER_COPY: i32 = 105;
