//! The text format of OpenMetrics.
//!
//! What is written can be read by parsers of the older text format of Prometheus, too, as that of
//! node_exporter's textfile collector: there are counters and gauges only, no timestamps, and no
//! `_created`.

use std::fmt::Write;

/// What the values of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    /// The values are given in nanoseconds.
    CounterOfSeconds,
    Gauge,
    /// The values are given in nanoseconds.
    GaugeOfSeconds,
}

impl Kind {
    fn is_counter(self) -> bool {
        matches!(self, Self::Counter | Self::CounterOfSeconds)
    }

    fn is_of_seconds(self) -> bool {
        matches!(self, Self::CounterOfSeconds | Self::GaugeOfSeconds)
    }
}

/// What several series have in common.
#[derive(Debug)]
pub(super) struct Family {
    /// Ends with the unit, if there is one.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
}

/// A set of metrics being written.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// Adds a family, and a series for each combination of values of its `labels`.
    pub(super) fn add<'n, const N: usize>(
        &mut self,
        family: &Family,
        labels: [&str; N],
        series: impl IntoIterator<Item = ([&'n str; N], u64)>,
    ) {
        let Self(text) = self;
        let Family { name, kind, help } = family;
        let type_name = if kind.is_counter() {
            "counter"
        } else {
            "gauge"
        };
        let _ = writeln!(text, "# TYPE {name} {type_name}");
        if kind.is_of_seconds() {
            let _ = writeln!(text, "# UNIT {name} seconds");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        let suffix = if kind.is_counter() { "_total" } else { "" };
        for (values, value) in series {
            let pairs = labels.iter().zip(values);
            let pairs: Vec<_> = pairs
                .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
                .collect();
            let _ = write!(text, "{name}{suffix}");
            if N > 0 {
                let _ = write!(text, "{{{}}}", pairs.join(","));
            }
            let _ = match kind.is_of_seconds() {
                true => writeln!(text, " {}", seconds(value)),
                false => writeln!(text, " {value}"),
            };
        }
    }

    /// The whole set.
    pub(super) fn finish(self) -> String {
        self.0 + "# EOF\n"
    }
}

/// A label's value: the traced program chooses its names.
fn escaped(value: &str) -> String {
    let backslashes = value.replace('\\', "\\\\");
    backslashes.replace('\n', "\\n").replace('"', "\\\"")
}

/// Nanoseconds as seconds, to the last digit.
fn seconds(duration_ns: u64) -> String {
    let (seconds, rest_ns) = (duration_ns / 1_000_000_000, duration_ns % 1_000_000_000);
    format!("{seconds}.{rest_ns:09}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        let mut exposition = Exposition::default();
        let family = Family {
            name: "waits",
            kind: Kind::Counter,
            help: "All.",
        };
        let name = "a\"} 1\n# EOF\n\\n\u{1b}";
        exposition.add(&family, ["lock_class"], [([name], 3)]);
        assert_eq!(
            exposition.finish(),
            "# TYPE waits counter\n# HELP waits All.\n\
             waits_total{lock_class=\"a\\\"} 1\\n# EOF\\n\\\\n\u{1b}\"} 3\n# EOF\n"
        );
    }

    #[test]
    fn no_nanosecond_is_lost() {
        assert_eq!(seconds(0), "0.000000000");
        assert_eq!(seconds(12_000_000_345), "12.000000345");
        assert_eq!(seconds(u64::MAX), "18446744073.709551615");
    }
}
