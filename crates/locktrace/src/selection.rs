//! Which waits to consider, and which part of the time.

use std::time::{Duration, SystemTime};

use clap::Args;
use trace_analysis::{Aspect, Condition, Pattern, Selection, TimeRange, TraceError, TraceInput};

/// A part of the time.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RangeArguments {
    /// Leave out what happened before: a time since the trace's start (10s, 1m30s), before
    /// its end (-5s), or of the clock in UTC (2026-11-22 17:00:00). What had begun before
    /// counts from then on
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    from: Option<Time>,

    /// Leave out what happened from then on. What had not ended counts until then
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    to: Option<Time>,
}

/// What waits have to be called. Wildcards and regular expressions are those of [`Pattern`].
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FilterArguments {
    /// Only threads of this name wait
    #[arg(long, value_name = "PATTERN")]
    thread: Vec<Pattern>,

    /// Only locks of this class
    #[arg(long, value_name = "PATTERN")]
    lock_class: Vec<Pattern>,

    /// Only where such a method waits: class and name as in a report
    #[arg(long, value_name = "PATTERN")]
    method: Vec<Pattern>,

    /// Only the parts of waits in which such a method held the lock
    #[arg(long, value_name = "PATTERN")]
    owner_method: Vec<Pattern>,

    /// Only what is so called under an aspect, as a row of a report: owner-thread=worker-1,
    /// lock=demo.Ledger@1f32, owner-activity=waiting*
    #[arg(long, value_name = "ASPECT=PATTERN", value_parser = parse_named)]
    of: Vec<(Aspect, Pattern)>,

    /// Leave out what is so called under an aspect: thread=main, owner-thread=GC*,
    /// method=/^java[.]/, kind=idle
    #[arg(long, value_name = "ASPECT=PATTERN", value_parser = parse_named)]
    exclude: Vec<(Aspect, Pattern)>,
}

/// What there is to say about patterns beside the options that take them.
pub(crate) const PATTERNS: &str = "\
Patterns:
  demo.AuditLog   exactly this name
  demo.*          names that begin so
  *.Hash?able     * is any text, ? any character
  /Log|Ledger/    names in which this regular expression is found

A name is what a report shows under the aspect, or its key in JSON. An option given several times
selects what one of its patterns matches; different options have to hold all.";

impl FilterArguments {
    /// All waits are considered.
    pub(crate) fn is_all(&self) -> bool {
        let Self {
            thread,
            lock_class,
            method,
            owner_method,
            of,
            exclude,
        } = self;
        let patterns = [thread, lock_class, method, owner_method];
        patterns.iter().all(|patterns| patterns.is_empty()) && of.is_empty() && exclude.is_empty()
    }

    /// What of the waits to consider, in `range`, where these packages and classes are no
    /// callers.
    pub(crate) fn selection(&self, range: TimeRange, libraries: &[String]) -> Selection {
        let wanted = [
            (Aspect::Thread, &self.thread),
            (Aspect::LockClass, &self.lock_class),
            (Aspect::Method, &self.method),
            (Aspect::OwnerMethod, &self.owner_method),
        ];
        let wanted = wanted.map(|(aspect, patterns)| (aspect, patterns.clone()));
        let of_aspect = |aspect: Aspect| {
            let named = self.of.iter().filter(move |(of, _)| *of == aspect);
            (aspect, named.map(|(_, pattern)| pattern.clone()).collect())
        };
        let named = Aspect::ALL.into_iter().map(of_aspect);
        let wanted = wanted.into_iter().chain(named);
        let wanted = wanted.filter(|(_, patterns): &(_, Vec<_>)| !patterns.is_empty());
        let wanted = wanted.map(|(aspect, patterns)| Condition {
            aspect,
            patterns,
            is_negated: false,
        });
        let excluded = self.exclude.iter().map(|(aspect, pattern)| Condition {
            aspect: *aspect,
            patterns: vec![pattern.clone()],
            is_negated: true,
        });
        let everything = Selection::default()
            .in_range(range)
            .with_libraries(libraries.to_vec());
        wanted.chain(excluded).fold(everything, Selection::with)
    }
}

fn parse_named(text: &str) -> Result<(Aspect, Pattern), String> {
    let Some((aspect, pattern)) = text.split_once('=') else {
        return Err("expected ASPECT=PATTERN".to_owned());
    };
    let aspect = aspect
        .parse::<Aspect>()
        .map_err(|error| error.to_string())?;
    let pattern = pattern
        .parse::<Pattern>()
        .map_err(|error| error.to_string())?;
    Ok((aspect, pattern))
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
