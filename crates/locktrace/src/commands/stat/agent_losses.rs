//! What an agent counts of that which it does not know, in words.

use trace_format::Counter;

/// The counters and what they mean.
pub(crate) const MEANINGS: [(Counter, &str); 9] = [
    (
        Counter::UntrackedEnters,
        "waits for monitors that are not in the trace: the table of objects was full",
    ),
    (
        Counter::UnseenContenders,
        "waits that their owners did not notice: too many locks were waited for at once",
    ),
    (
        Counter::UnwatchedEnters,
        "waits that began before owners looked for any: they do so once threads wait",
    ),
    (
        Counter::EarlierWaits,
        "threads that waited for locks already when the trace began: not in the trace",
    ),
    (
        Counter::UntoldMethods,
        "methods whose releases are not all recorded, such as native ones",
    ),
    (
        Counter::RefusedClasses,
        "classes without instrumented releases: the JVM refused them, or they were too many",
    ),
    (
        Counter::AmbiguousExits,
        "releases that may be inner ones of the same lock, so that the code may be another one",
    ),
    (
        Counter::UntrackedPermits,
        "unparks that cannot be matched with a park: the table of threads was full",
    ),
    (
        Counter::SchedulerCalls,
        "parks, unparks and releases by the scheduler of virtual threads, inside of their calls",
    ),
];

/// [`MEANINGS`] says what `counter` counts.
pub(crate) fn is_listed(counter: Counter) -> bool {
    MEANINGS.iter().any(|&(listed, _)| listed == counter)
}
