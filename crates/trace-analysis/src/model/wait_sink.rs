//! Where waits go.

use crate::model::entity::Entities;
use crate::model::time_sampling::TimeSampling;
use crate::model::wait::{EndedHolds, Wait};

/// Takes the waits that an analysis finds.
///
/// Closures that take a wait and what it refers to are sinks, too. The analysis knows a sink as `dyn` only, so that it
/// is compiled once, not once for each.
pub trait WaitSink {
    /// Takes a wait, which refers to `entities`. It is over, or the trace is.
    fn wait(&mut self, wait: &Wait, entities: &Entities);

    /// Whether [`holds`](Self::holds) does anything.
    #[inline]
    fn wants_holds(&self) -> bool {
        false
    }

    /// Takes holds that ended in the time considered while threads waited for the lock, whichever
    /// waits are selected.
    #[inline]
    fn holds(&mut self, _holds: EndedHolds) {}

    /// From now on the single contentions and the root owners are only known of waits for locks that begin in the time that
    /// is kept. There were too many, and a [sample](crate::Detail::sampled) is enough.
    fn sampled(&mut self, _kept: TimeSampling) {}
}

impl<F: FnMut(&Wait, &Entities)> WaitSink for F {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self(wait, entities);
    }
}

/// A sink that several threads can share the work of.
pub trait DivisibleSink: WaitSink + Send {
    /// Returns a sink of the same kind that has taken no waits, for some of the waits.
    fn part(&self) -> Self;

    /// Adds what another part has taken. The order in which waits were taken makes no
    /// difference.
    fn merge(&mut self, part: Self);
}

impl DivisibleSink for () {
    fn part(&self) -> Self {}

    fn merge(&mut self, _part: Self) {}
}

/// Takes no notice of waits.
impl WaitSink for () {
    fn wait(&mut self, _wait: &Wait, _entities: &Entities) {}
}
