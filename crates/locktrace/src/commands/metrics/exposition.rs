//! Metrics as text, of OpenMetrics or of the older format of Prometheus.
//!
//! In OpenMetrics the type and the help of a counter are about its name without `_total`, in the older format about
//! the whole name: a parser of the older one finds neither in text of the newer one.

use std::fmt::Write;

use crate::commands::metrics::arguments::MetricsFormat;
use crate::commands::metrics::label::Label;

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
#[derive(Debug)]
pub(super) struct Exposition<'a> {
    format: MetricsFormat,
    /// Of every series.
    common: &'a [Label],
    text: String,
}

impl<'a> Exposition<'a> {
    /// Nothing yet.
    pub(super) fn new(format: MetricsFormat, common: &'a [Label]) -> Self {
        Self {
            format,
            common,
            text: String::new(),
        }
    }

    /// Adds a family, and a series for each combination of values of its `labels`.
    pub(super) fn add<'n, const N: usize>(
        &mut self,
        family: &Family,
        labels: [&str; N],
        series: impl IntoIterator<Item = ([&'n str; N], u64)>,
    ) {
        let Family { name, kind, help } = family;
        let suffix = if kind.is_counter() { "_total" } else { "" };
        let described = match self.format {
            MetricsFormat::Openmetrics => (*name).to_owned(),
            MetricsFormat::Prometheus => format!("{name}{suffix}"),
        };
        let type_name = if kind.is_counter() {
            "counter"
        } else {
            "gauge"
        };
        let text = &mut self.text;
        let _ = writeln!(text, "# HELP {described} {help}");
        let _ = writeln!(text, "# TYPE {described} {type_name}");
        if kind.is_of_seconds() && self.format == MetricsFormat::Openmetrics {
            let _ = writeln!(text, "# UNIT {described} seconds");
        }
        for (values, value) in series {
            let common = self.common.iter();
            let common = common.map(|label| (&*label.name, &*label.value));
            let pairs = common.chain(labels.into_iter().zip(values));
            let pairs: Vec<_> = pairs
                .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
                .collect();
            let _ = write!(text, "{name}{suffix}");
            if !pairs.is_empty() {
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
        let end = match self.format {
            MetricsFormat::Openmetrics => "# EOF\n",
            MetricsFormat::Prometheus => "",
        };
        self.text + end
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

    const NAME: &str = "a\"} 1\n# EOF\n\\n\u{1b}";

    fn waits(format: MetricsFormat) -> String {
        let common: Label = "pid=7\"".parse().expect("a label");
        let common = [common];
        let mut exposition = Exposition::new(format, &common);
        let family = Family {
            name: "waits",
            kind: Kind::Counter,
            help: "All.",
        };
        exposition.add(&family, ["lock_class"], [([NAME], 3)]);
        exposition.finish()
    }

    #[test]
    fn values_are_escaped() {
        let series = "waits_total{pid=\"7\\\"\",lock_class=\"a\\\"} 1\\n# EOF\\n\\\\n\u{1b}\"} 3\n";
        assert_eq!(
            waits(MetricsFormat::Openmetrics),
            format!("# HELP waits All.\n# TYPE waits counter\n{series}# EOF\n")
        );
        assert_eq!(
            waits(MetricsFormat::Prometheus),
            format!("# HELP waits_total All.\n# TYPE waits_total counter\n{series}")
        );
    }

    #[test]
    fn no_nanosecond_is_lost() {
        assert_eq!(seconds(0), "0.000000000");
        assert_eq!(seconds(12_000_000_345), "12.000000345");
        assert_eq!(seconds(u64::MAX), "18446744073.709551615");
    }
}
