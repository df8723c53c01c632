//! Quantities for people.

pub(crate) use trace_report::human::{count, duration, percent, plural, share, wall_clock};

/// A number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}

/// A change as percentage; as a factor, if it is more than tenfold.
/// How many times as fast: with two digits behind the point, or fewer if there are enough before it.
pub(crate) fn factor(factor: f64) -> String {
    match factor {
        ..9.995 => format!("×{factor:.2}"),
        ..99.95 => format!("×{factor:.1}"),
        _ => format!("×{}", count(factor.round() as u64)),
    }
}

pub(crate) fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    let sign = if percent < 0.0 { "−" } else { "+" };
    match percent.abs() {
        size @ ..99.95 => format!("{sign}{size:.1} %"),
        size if share < 10.0 => format!("{sign}{} %", count(size.round() as u64)),
        _ => format!("×{}", count((share + 1.0).round() as u64)),
    }
}
