//! Rates and changes for people.

use trace_comparison::{Change, ComparedRow, Verdict};
use trace_report::name::printable;

use crate::text::human;

/// What blocked time is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    Second,
    Unit,
}

impl Per {
    /// The name in machine-readable output.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Unit => "unit",
        }
    }

    /// Blocked time per second or unit.
    pub(super) fn rate(self, rate_ns: f64) -> String {
        let suffix = match self {
            Self::Second => "/s",
            Self::Unit => "",
        };
        let sign = if rate_ns < 0.0 { "−" } else { "" };
        let ns = rate_ns.abs().round() as u64;
        format!("{sign}{}{suffix}", human::duration(ns))
    }

    /// The same with its sign.
    pub(super) fn difference(self, rate_ns: f64) -> String {
        let sign = if rate_ns.round() > 0.0 { "+" } else { "" };
        format!("{sign}{}", self.rate(rate_ns))
    }
}

/// By how many percent, `new` and `gone`.
pub(super) fn relative(row: &ComparedRow) -> String {
    match row.change.share {
        _ if row.after.waits == 0 => "gone".to_owned(),
        Some(share) if row.before.waits > 0 => human::signed_percent(share),
        _ => "new".to_owned(),
    }
}

/// Where the change lies, as a share of what there was before if that is not nothing.
pub(super) fn interval(change: &Change, before_ns: f64, per: Per) -> String {
    let Some([low_ns, high_ns]) = change.interval_ns else {
        return "runs too short".to_owned();
    };
    let end = |ns: f64| {
        if before_ns > 0.0 {
            human::signed_percent(ns / before_ns)
        } else {
            per.difference(ns)
        }
    };
    format!("{} to {}", end(low_ns), end(high_ns))
}

/// The text for people.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::More => "more",
        Verdict::Less => "less",
        Verdict::Unclear => "~",
        Verdict::TooShort => "?",
    }
}

/// What a row is called in one line.
pub(super) fn row_label(row: &ComparedRow) -> String {
    let labels: Vec<String> = row
        .values
        .iter()
        .map(|value| printable(&value.label))
        .collect();
    labels.join(" › ")
}
