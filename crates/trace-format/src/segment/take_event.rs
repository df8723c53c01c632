//! Consumers of decoded events.

use crate::event::Event;

/// Takes a decoded event. A closure would do, except that [`take`](Self::take) must be inlined in
/// any case.
pub trait TakeEvent<'a> {
    /// Takes the event, which is encoded in `bytes` bytes. To be inlined, so that it is compiled
    /// for each of the frequent types of events.
    fn take(self, event: &Event<'a>, bytes: usize);
}
