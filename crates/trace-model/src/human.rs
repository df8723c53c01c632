//! Quantities for people.

/// A duration with three significant digits.
pub fn duration_text(duration_ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    for (unit_ns, unit) in UNITS {
        // A unit that rounds up to the next is left to the next.
        if duration_ns >= unit_ns - unit_ns / 2_000 {
            let value = duration_ns as f64 / unit_ns as f64;
            return match value {
                ..9.995 => format!("{value:.2} {unit}"),
                ..99.95 => format!("{value:.1} {unit}"),
                _ => format!("{} {unit}", with_separators(value.round() as u64)),
            };
        }
    }
    format!("{duration_ns} ns")
}

/// A share as percentage.
pub fn percent_text(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        "<0.1 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// A number with a comma between each three digits.
fn with_separators(number: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(duration_text(duration_ns), expected);
        }
    }
}
