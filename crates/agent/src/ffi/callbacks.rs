//! The functions of the agent that the JVM calls, handed down from its entry.

use jvmti_bindings::sys::jvmti::jvmtiEventCallbacks;

use crate::ffi::exit_helper::ExitNatives;
use crate::ffi::park_helper::ParkNatives;

/// The functions that the JVM calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callbacks {
    /// At events.
    pub(crate) events: jvmtiEventCallbacks,
    /// Before the release of a monitor.
    pub(crate) exits: ExitNatives,
    /// At parks and unparks, and when synchronizers change their owners.
    pub(crate) parks: ParkNatives,
}
