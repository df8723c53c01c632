//! The numbers of types.

/// The number that those of the types follow: no JVM uses numbers there, so files can be joined
/// from several recordings. The JDK reads constants of types with the same number as constants of
/// the first one.
pub(in crate::jfr) const BEFORE: u64 = 10_000;

pub(in crate::jfr) const BOOLEAN: u64 = BEFORE + 2;
pub(in crate::jfr) const INT: u64 = BEFORE + 3;
pub(in crate::jfr) const LONG: u64 = BEFORE + 4;
pub(in crate::jfr) const STRING: u64 = BEFORE + 5;
pub(in crate::jfr) const CLASS: u64 = BEFORE + 6;
pub(in crate::jfr) const THREAD: u64 = BEFORE + 7;
pub(in crate::jfr) const SYMBOL: u64 = BEFORE + 8;
pub(in crate::jfr) const METHOD: u64 = BEFORE + 9;
pub(in crate::jfr) const STACK_TRACE: u64 = BEFORE + 10;
pub(in crate::jfr) const STACK_FRAME: u64 = BEFORE + 11;
pub(in crate::jfr) const FRAME_TYPE: u64 = BEFORE + 12;
pub(in crate::jfr) const CLASS_LOADER: u64 = BEFORE + 13;
pub(in crate::jfr) const PACKAGE: u64 = BEFORE + 14;
pub(in crate::jfr) const THREAD_GROUP: u64 = BEFORE + 15;
pub(in crate::jfr) const MODULE: u64 = BEFORE + 16;

pub(in crate::jfr) const JVM_INFORMATION: u64 = BEFORE + 20;
pub(in crate::jfr) const MONITOR_ENTER: u64 = BEFORE + 21;
pub(in crate::jfr) const THREAD_PARK: u64 = BEFORE + 22;
pub(in crate::jfr) const BLAME: u64 = BEFORE + 23;
pub(in crate::jfr) const MONITOR_WAIT: u64 = BEFORE + 24;
pub(in crate::jfr) const THREAD_SLEEP: u64 = BEFORE + 25;
pub(in crate::jfr) const SOCKET_READ: u64 = BEFORE + 26;
pub(in crate::jfr) const SOCKET_WRITE: u64 = BEFORE + 27;
pub(in crate::jfr) const FILE_READ: u64 = BEFORE + 28;
pub(in crate::jfr) const FILE_WRITE: u64 = BEFORE + 29;

pub(in crate::jfr) const LABEL: u64 = BEFORE + 30;
pub(in crate::jfr) const DESCRIPTION: u64 = BEFORE + 31;
pub(in crate::jfr) const CATEGORY: u64 = BEFORE + 32;
pub(in crate::jfr) const TIMESTAMP: u64 = BEFORE + 33;
pub(in crate::jfr) const TIMESPAN: u64 = BEFORE + 34;
pub(in crate::jfr) const UNSIGNED: u64 = BEFORE + 35;
pub(in crate::jfr) const MEMORY_ADDRESS: u64 = BEFORE + 36;
pub(in crate::jfr) const MONITOR_ADDRESS: u64 = BEFORE + 37;
pub(in crate::jfr) const CONTENT_TYPE: u64 = BEFORE + 38;
pub(in crate::jfr) const DATA_AMOUNT: u64 = BEFORE + 39;
