//! The period of a profile.

/// A period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Begin, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// The duration, in nanoseconds.
    pub duration_ns: u64,
}
