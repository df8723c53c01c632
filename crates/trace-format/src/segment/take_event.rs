//! Where decoded events go.

use crate::event::Event;

/// Takes a decoded event. A closure would do, but for [`take`](Self::take) to be inlined in any
/// case.
pub trait TakeEvent<'a> {
    /// Takes the event, which stands in so many bytes. To be inlined, so that it is compiled for
    /// each of the frequent types of events.
    fn take(self, event: &Event<'a>, bytes: usize);
}
