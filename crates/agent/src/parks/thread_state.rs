//! What is kept for a thread's parks.

use std::sync::Arc;

use rust_tracer::ThreadTracer;
use trace_format::{ParkTimeout, Unpark};

use crate::parks::synchronizers::Synchronizer;

/// What is kept for a thread's parks.
#[derive(Debug, Default)]
pub(crate) struct ParkState {
    pub(crate) park: Option<Park>,
    /// The identity hash of the node that the thread waited in last, and of the blocker.
    pub(crate) last_place: (u32, u32),
    /// Those that have begun, and between which readings of the cycles their hooks have run. One
    /// inside of another: to unpark a virtual thread can be to unpark a carrier for it.
    pub(crate) unparks: Vec<(Unpark, (u64, u64))>,
}

/// A park that has begun.
#[derive(Debug)]
pub(crate) struct Park {
    pub(crate) began_ns: u64,
    pub(crate) timeout: ParkTimeout,
    /// There was a permit already.
    pub(crate) permit_available: bool,
    /// Has to hear of the end.
    pub(crate) synchronizer: Option<Arc<Synchronizer>>,
}

impl ParkState {
    /// The thread is not parked any more, or ends. Returns the park that has begun.
    pub(crate) fn leave(&mut self) -> Option<Park> {
        let park = self.park.take()?;
        if let Some(synchronizer) = &park.synchronizer {
            synchronizer.park_ends();
        }
        Some(park)
    }

    /// The thread or the trace ends. An unpark that has not come back has its number already, and
    /// is told of without a call chain.
    pub(crate) fn end(&mut self, tracer: &mut ThreadTracer) {
        self.leave();
        for (unpark, _) in self.unparks.drain(..) {
            tracer.unpark(unpark);
        }
    }
}
