//! The parks of one thread.

use std::sync::Arc;

use rust_tracer::ThreadTracer;
use trace_format::{ParkTimeout, Unpark};

use crate::parks::synchronizers::Synchronizer;

/// The state of a thread's parks.
#[derive(Debug, Default)]
pub(crate) struct ParkState {
    pub(crate) park: Option<Park>,
    /// The identity hashes of the queue node in which the thread waited last, and of the blocker.
    pub(crate) last_place: (u32, u32),
    /// Unparks that have begun, each with the cycle counts at the begin and end of its first hook.
    /// They nest: to unpark a virtual thread may unpark a carrier for it.
    pub(crate) unparks: Vec<(Unpark, (u64, u64))>,
}

/// A park that has begun.
#[derive(Debug)]
pub(crate) struct Park {
    pub(crate) began_ns: u64,
    pub(crate) timeout: ParkTimeout,
    /// Whether a permit was available at the begin.
    pub(crate) permit_available: bool,
    /// The synchronizer that counts this park until it ends.
    pub(crate) synchronizer: Option<Arc<Synchronizer>>,
}

impl ParkState {
    /// Ends the park that has begun, if one has, and returns it.
    pub(crate) fn leave(&mut self) -> Option<Park> {
        let park = self.park.take()?;
        if let Some(synchronizer) = &park.synchronizer {
            synchronizer.park_ends();
        }
        Some(park)
    }

    /// Ends the state with its thread or the trace. An unpark that has not returned has its number
    /// already, and is written without a call chain.
    pub(crate) fn end(&mut self, tracer: &mut ThreadTracer) {
        self.leave();
        for (unpark, _) in self.unparks.drain(..) {
            tracer.unpark(unpark);
        }
    }
}
