//! Which part of the time to consider.

use std::time::{Duration, SystemTime};

use clap::Args;
use trace_analysis::{TimeRange, TraceError, TraceInput};

/// A part of the time.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RangeArguments {
    /// Begin at a time since the trace's start (10s, 1m30s), before its end (-5s), or of the
    /// clock in UTC (2026-11-22 17:00:00). A wait that began before counts from then on
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    from: Option<Time>,

    /// End at this time. A wait that had not ended counts until then
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    to: Option<Time>,
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    SinceStart(Duration),
    BeforeEnd(Duration),
    Clock(SystemTime),
}

impl RangeArguments {
    /// The time from `from` to `to`, as far as they are given.
    pub(crate) fn new(from: Option<Time>, to: Option<Time>) -> Self {
        Self { from, to }
    }

    /// All time is considered.
    pub(crate) fn is_all(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// The range in a trace.
    pub(crate) fn of(&self, trace: &TraceInput) -> Result<TimeRange, TraceError> {
        let all = TimeRange::default();
        let time_ns = |time: Option<Time>, default_ns| match time {
            Some(time) => time.in_trace(trace),
            None => Ok(default_ns),
        };
        Ok(TimeRange {
            from_ns: time_ns(self.from, all.from_ns)?,
            until_ns: time_ns(self.to, all.until_ns)?,
        })
    }
}

impl Time {
    /// In nanoseconds since the trace's start; 0 if it is before.
    fn in_trace(self, trace: &TraceInput) -> Result<u64, TraceError> {
        Ok(match self {
            Self::SinceStart(duration) => nanoseconds(duration),
            Self::BeforeEnd(duration) => trace.end_ns()?.saturating_sub(nanoseconds(duration)),
            Self::Clock(time) => {
                let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH);
                let unix_ns = since_1970.map_or(0, nanoseconds);
                unix_ns.saturating_sub(trace.header().start_unix_ns)
            }
        })
    }
}

/// More than centuries are all that there are.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn parse_time(text: &str) -> Result<Time, String> {
    let parsed = match text.strip_prefix('-') {
        Some(duration) => humantime::parse_duration(duration)
            .ok()
            .map(Time::BeforeEnd),
        None => {
            let duration = humantime::parse_duration(text).ok().map(Time::SinceStart);
            let clock = || humantime::parse_rfc3339_weak(text).ok().map(Time::Clock);
            duration.or_else(clock)
        }
    };
    parsed.ok_or_else(|| "expected a time as 10s, -5s or 2026-11-22 17:00:00".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_or_of_the_clock() {
        let seconds = Duration::from_secs;
        let clock = SystemTime::UNIX_EPOCH + seconds(1_000_000_000);
        for (text, expected) in [
            ("10s", Time::SinceStart(seconds(10))),
            ("1m30s", Time::SinceStart(seconds(90))),
            ("250ms", Time::SinceStart(Duration::from_millis(250))),
            ("-5s", Time::BeforeEnd(seconds(5))),
            ("2001-09-09 01:46:40", Time::Clock(clock)),
            ("2001-09-09T01:46:40Z", Time::Clock(clock)),
        ] {
            assert_eq!(parse_time(text), Ok(expected), "{text}");
        }
        for text in ["", "10", "-", "tomorrow", "-2001-09-09 01:46:40"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
