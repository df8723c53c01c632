//! Parks of threads, and the synchronizers that they park on.

pub(crate) mod permits;
pub(crate) mod synchronizers;
pub(crate) mod thread_state;

use crate::ffi::{Class, Env, Object, ParkFields, ParkHelper, ParkNatives};
use crate::parks::permits::Permits;
use crate::parks::synchronizers::Synchronizers;

/// The state of all parks in one trace.
#[derive(Debug)]
pub(crate) struct Parks {
    pub(crate) fields: ParkFields,
    pub(crate) synchronizers: Synchronizers,
    pub(crate) permits: Permits,
    helper: &'static ParkHelper,
}

impl Parks {
    /// Returns `None` if parks cannot be traced with the JVM's class library.
    /// `neighbor` is a class of the package of the agent's helpers.
    pub(crate) fn new(env: Env<'_>, neighbor: Class<'_>, natives: ParkNatives) -> Option<Self> {
        let fields = ParkFields::find(env)?;
        let helper = ParkHelper::get(env, neighbor, natives)?;
        Some(Self {
            fields,
            synchronizers: Synchronizers::new(&helper.helper),
            permits: Permits::default(),
            helper,
        })
    }

    /// Has the helper class report parks.
    pub(crate) fn start(&self, env: Env<'_>) {
        self.helper.set_traced(env, true);
    }

    /// Has the helper class stop reporting parks, and empties its slots.
    pub(crate) fn stop(&self, env: Env<'_>) {
        self.synchronizers.slots.clear(env);
        self.helper.set_traced(env, false);
    }

    /// Returns whether parks of virtual threads are traced.
    pub(crate) fn traces_virtual_threads(&self) -> bool {
        self.helper.traces_virtual_threads
    }

    /// Returns whether the JVM hides the current thread, which is `current` in Java, from tools: it is
    /// a carrier that runs its scheduler during a virtual thread's call.
    pub(crate) fn is_hidden(&self, env: Env<'_>, current: Object<'_>) -> bool {
        self.traces_virtual_threads() && !env.is_current(current)
    }
}
