//! The texts shown in place of unknown names.

pub(crate) const CUT_SHORT: &str = "<call chain cut short>";
pub(crate) const CYCLE: &str = "<waiting for each other>";
pub(crate) const FORGOTTEN_LOCK: &str = "<other locks>";
pub(crate) const FORGOTTEN_THREAD: &str = "<other threads>";
pub(crate) const FREE: &str = "<lock was free>";
pub(crate) const FROZEN: &str = "<process did not run>";
pub(crate) const NO_BLOCKER: &str = "<no blocker>";
pub(crate) const NO_CALLER: &str = "<only the JDK and libraries>";
pub(crate) const NOT_RECORDED: &str = "<call chain not recorded>";
pub(crate) const NOT_SAMPLED: &str = "<owner not sampled>";
pub(crate) const SITE_NOT_SEEN: &str = "<allocation not seen>";
pub(crate) const NOT_KEPT: &str = "<other call chains>";
pub(crate) const OTHER: &str = "<other>";
pub(crate) const UNRESOLVED: &str = "<call chain still to come when the trace ended>";

/// All placeholders but the unknown owner's, with their meaning. `N` stands for the
/// number in the trace.
pub const PLACEHOLDERS: [(&str, &str); 20] = [
    (
        FREE,
        "nobody held it: it was released, and those who waited were not running yet",
    ),
    (NO_BLOCKER, "the thread parked and did not say on what"),
    (
        NO_CALLER,
        "no frame of the call chain is of the program itself",
    ),
    (
        CUT_SHORT,
        "the frame asked for is further out than those recorded: the agent spares the outer ones while its budget is used up",
    ),
    (
        NOT_RECORDED,
        "the tracer could not walk the stack, or was configured not to",
    ),
    (
        UNRESOLVED,
        "the owner waited in Object.wait, and released the lock for good only after the end of the trace",
    ),
    (NOT_KEPT, "call chains for which there was no memory left"),
    (
        FORGOTTEN_LOCK,
        "locks that were forgotten for want of memory, for nobody had used them for long",
    ),
    (
        FORGOTTEN_THREAD,
        "threads that had ended and were forgotten for want of memory",
    ),
    (
        NOT_SAMPLED,
        "where the owner stood is not known: the time was too short for a sample of its stack, or none came",
    ),
    (
        SITE_NOT_SEEN,
        "where the lock was allocated is not known: before the first of its class was contended, where that is not recorded, or too long before",
    ),
    (
        FROZEN,
        "the process was stopped or frozen, or the machine suspended: nobody is to blame",
    ),
    (OTHER, "values not distinguished, for want of memory"),
    ("<call chain #N not described>", LOST),
    ("<class #N not described>", LOST),
    ("<lock #N not described>", LOST),
    ("<method #N not described>", LOST),
    ("<thread #N not described>", LOST),
    ("<thread not described>", "the thread wrote no event"),
    (
        CYCLE,
        "the owners behind it waited for each other: a deadlock, unless one of them gave up",
    ),
];
const LOST: &str = "its description is lost";
