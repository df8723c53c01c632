//! What is kept for the parks of threads in a trace.

pub(crate) mod permits;
pub(crate) mod synchronizers;
pub(crate) mod thread_state;

use crate::ffi::{Env, Object, ParkFields, ParkHelper, ParkNatives};
use crate::parks::permits::Permits;
use crate::parks::synchronizers::Synchronizers;

/// Everything that belongs to the parks of one trace.
#[derive(Debug)]
pub(crate) struct Parks {
    pub(crate) fields: ParkFields,
    pub(crate) synchronizers: Synchronizers,
    pub(crate) permits: Permits,
    helper: &'static ParkHelper,
}

impl Parks {
    /// `None` if the JVM's class library has not what parks are traced by.
    pub(crate) fn new(env: Env<'_>, natives: ParkNatives) -> Option<Self> {
        let fields = ParkFields::find(env)?;
        let helper = ParkHelper::get(env, natives)?;
        Some(Self {
            fields,
            synchronizers: Synchronizers::new(&helper.helper),
            permits: Permits::default(),
            helper,
        })
    }

    /// Lets parks be told of from now on.
    pub(crate) fn start(&self, env: Env<'_>) {
        self.helper.set_traced(env, true);
    }

    /// Parks are not told of any more, and no object is kept for them.
    pub(crate) fn stop(&self, env: Env<'_>) {
        self.synchronizers.slots.clear(env);
        self.helper.set_traced(env, false);
    }

    /// Virtual threads tell of their parks.
    pub(crate) fn traces_virtual_threads(&self) -> bool {
        self.helper.traces_virtual_threads
    }

    /// The current thread, by Java, is none that the JVM tells tools of: a carrier that does its
    /// scheduler's work in the middle of a virtual thread's call.
    pub(crate) fn is_hidden(&self, env: Env<'_>, current: Object<'_>) -> bool {
        self.traces_virtual_threads() && !env.is_current(current)
    }
}
