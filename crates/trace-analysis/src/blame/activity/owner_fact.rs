//! Facts from which the activity of owners is added up.

use crate::blame::timeline::hold_spans::ThreadTime;
use crate::model::wait::OwnerActivity;
use crate::order::system_fact::SystemFact;

/// A fact about owners, in the order in which it is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OwnerFact {
    /// The JVM or the system did that.
    System(SystemFact),
    /// A thread, which may own locks, waited, and did that meanwhile.
    OwnWait(ThreadTime, OwnerActivity),
    /// A thread waited for a lock in a wait that is selected.
    Waited(ThreadTime),
}
