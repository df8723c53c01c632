//! When what a profile is about happened.

/// A time with a begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Begin, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// How long it took, in nanoseconds.
    pub duration_ns: u64,
}
