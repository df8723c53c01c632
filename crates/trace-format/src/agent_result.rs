//! What the agent for stock JVMs returns when it is loaded into one that runs, and the JVM hands on
//! to who has asked for that.

/// It has done what its options say.
pub const DONE: i32 = 0;
/// It does not understand its options.
pub const OPTIONS: i32 = 100;
/// The JVM is traced by an agent already.
pub const TRACED_ALREADY: i32 = 101;
/// There is no trace of an agent that could be ended.
pub const NOT_TRACED: i32 = 102;
/// The JVM does not tell agents what they need.
pub const JVM: i32 = 103;
/// The trace cannot be written.
pub const FILE: i32 = 104;
