//! Quantities for people.

pub(crate) use trace_report::human::{count, duration, percent, plural, share, wall_clock};

/// A number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}
