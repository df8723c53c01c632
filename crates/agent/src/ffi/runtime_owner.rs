//! The runtime of a trace, which lives until its session is dropped.

use std::time::Duration;

use rust_tracer::{Config, Runtime, StartError};

/// How long the end of a trace may take to be written.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Owns a runtime. Its tracers are in a field of the same struct that is dropped earlier.
#[derive(Debug)]
pub(crate) struct RuntimeOwner(*mut Runtime);

// SAFETY: a runtime is made to be shared by all threads.
unsafe impl Send for RuntimeOwner {}
// SAFETY: as above.
unsafe impl Sync for RuntimeOwner {}

impl RuntimeOwner {
    /// Creates the trace file and starts its writer.
    pub(crate) fn start(config: Config) -> Result<Self, StartError> {
        Runtime::start(config).map(Self)
    }

    /// Returns the runtime. Nothing made from it outlives the session that owns this.
    pub(crate) fn get(&self) -> &'static Runtime {
        // SAFETY: from `Runtime::start`, and freed in `drop` only.
        unsafe { &*self.0 }
    }

    /// Writes the end of the trace. May be called again.
    pub(crate) fn end_trace(&self) {
        self.get().stop(STOP_TIMEOUT);
    }
}

impl Drop for RuntimeOwner {
    fn drop(&mut self) {
        self.end_trace();
        // SAFETY: the session that this is a part of is not shared any more when it is dropped,
        // so no thread is in a hook; its tracers, the only users of the runtime besides hooks,
        // were dropped before this field (see `Session`).
        unsafe { Runtime::end(self.0) };
    }
}
