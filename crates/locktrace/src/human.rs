//! Quantities for people.

use std::time::{Duration, SystemTime};

pub(crate) use trace_model::{duration_text as duration, percent_text as percent};

/// A number with separators.
pub(crate) fn count(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// A number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}

/// `part` of `whole`; 0 if there is nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// `one thing`, `2 things`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

/// A point in time, given in nanoseconds since 1970.
pub(crate) fn wall_clock(unix_ns: u64) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_ns);
    humantime::format_rfc3339_seconds(time)
        .to_string()
        .replace('T', " ")
        .replace('Z', " UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_to_nothing() {
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.0001), "<0.1 %");
        assert_eq!(percent(share(1, 3)), "33.3 %");
        assert_eq!(percent(share(1, 0)), "0.0 %");
    }
}
