//! Quantities for people.

use std::time::{Duration, SystemTime};

/// Formats a duration with three significant digits.
pub fn duration(duration_ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    for (unit_ns, unit) in UNITS {
        // A unit that rounds up to the next is left to the next.
        if duration_ns >= unit_ns - unit_ns / 2_000 {
            let value = duration_ns as f64 / unit_ns as f64;
            return match value {
                ..9.995 => format!("{value:.2} {unit}"),
                ..99.95 => format!("{value:.1} {unit}"),
                _ => format!("{} {unit}", count(value.round() as u64)),
            };
        }
    }
    format!("{duration_ns} ns")
}

/// Formats a share as percentage.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        "<0.1 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// Formats a number with a comma between each three digits.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `part` of `whole`; 0 if the whole is 0.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Returns `one thing`, `2 things`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

/// Formats a point in time, given in nanoseconds since 1970.
pub fn wall_clock(unix_ns: u64) -> String {
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

    #[test]
    fn durations_have_three_digits() {
        for (duration_ns, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (9_994_999, "9.99 ms"),
            (9_995_000, "10.0 ms"),
            (123_456_789, "123 ms"),
            (1_500_000_000, "1.50 s"),
            (4_321_000_000_000, "4,321 s"),
        ] {
            assert_eq!(duration(duration_ns), expected);
        }
    }
}
