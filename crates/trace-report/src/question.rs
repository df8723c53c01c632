//! Questions to a running JVM.

use std::time::Duration;

use trace_analysis::{Aspect, WaitKind};

use crate::kinds::Kinds;

/// The default aspects.
pub const DEFAULT_BY: &str = "lock-class,owner-method,method";

/// The form of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A tree for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// A question for a report. The default is the same as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The aspects of the rows, outermost first.
    pub by: Option<Vec<Aspect>>,
    /// The most rows in one level; 0 for all.
    pub top: Option<usize>,
    /// The kinds of waits.
    pub kinds: Option<Kinds>,
    /// Only waits that ended since then.
    pub from: Option<Since>,
    /// The form of the answer.
    pub format: Format,
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// This long after the start of the trace.
    Start(Duration),
    /// This long ago.
    Ago(Duration),
}

impl Since {
    /// Returns the time in nanoseconds since the trace's start, given the present one.
    pub(crate) fn at_ns(self, now_ns: u64) -> u64 {
        let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Since::Start(duration) => ns(duration),
            Since::Ago(duration) => now_ns.saturating_sub(ns(duration)),
        }
    }
}

impl Question {
    /// Parses a question from texts, each empty if it is not given: aspects and kinds with commas
    /// between them, a number, a time as `10s` or `-5s`, and `text` or `json`.
    ///
    /// # Errors
    ///
    /// One of them cannot be understood. The error says which.
    pub fn parse(
        by: &str,
        top: &str,
        kind: &str,
        from: &str,
        format: &str,
    ) -> Result<Self, String> {
        Ok(Self {
            by: given(by, parse_aspects).map_err(|error| format!("by: {error}"))?,
            top: given(top, parse_number).map_err(|error| format!("top: {error}"))?,
            kinds: given(kind, parse_kinds).map_err(|error| format!("kind: {error}"))?,
            from: given(from, parse_time).map_err(|error| format!("from: {error}"))?,
            format: given(format, parse_format)
                .map_err(|error| format!("format: {error}"))?
                .unwrap_or_default(),
        })
    }

    /// Returns whether the sums over the whole trace answer it.
    pub(crate) fn is_about_all(&self) -> bool {
        self.by.is_none() && self.kinds.is_none() && self.from.is_none()
    }

    /// Returns the aspects.
    pub fn aspects(&self) -> Vec<Aspect> {
        let default = || parse_aspects(DEFAULT_BY).unwrap_or_default();
        self.by.clone().unwrap_or_else(default)
    }
}

fn given<T>(
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    parse(text).map(Some)
}

/// Parses aspects. Root owners are known when owners' waits are over, which is too late for a live
/// report.
fn parse_aspects(text: &str) -> Result<Vec<Aspect>, String> {
    let aspects = text.split(',').map(|name| name.trim().parse::<Aspect>());
    let aspects: Result<Vec<_>, _> = aspects.collect();
    let aspects = aspects.map_err(|error| error.to_string())?;
    match aspects.iter().find(|aspect| aspect.is_of_root()) {
        Some(root) => Err(format!(
            "{root} needs a trace file, which locktrace report reads"
        )),
        None => Ok(aspects),
    }
}

fn parse_number(text: &str) -> Result<usize, String> {
    let expected = || format!("expected a number, found \"{text}\"");
    text.parse().map_err(|_| expected())
}

fn parse_kinds(text: &str) -> Result<Kinds, String> {
    let mut kinds = Vec::new();
    for name in text.split(',').map(str::trim) {
        let of_name = |kind: &WaitKind| name == "all" || kind.name() == name;
        let found: Vec<_> = WaitKind::ALL.into_iter().filter(of_name).collect();
        if found.is_empty() {
            let names = WaitKind::ALL.map(WaitKind::name).join(", ");
            return Err(format!(
                "unknown kind \"{name}\", expected one of {names}, all"
            ));
        }
        kinds.extend(found);
    }
    Ok(Kinds::new(kinds))
}

fn parse_time(text: &str) -> Result<Since, String> {
    let expected = |_| format!("expected a time as 10s or -5s, found \"{text}\"");
    match text.strip_prefix('-') {
        Some(ago) => humantime::parse_duration(ago).map(Since::Ago),
        None => humantime::parse_duration(text).map(Since::Start),
    }
    .map_err(expected)
}

fn parse_format(text: &str) -> Result<Format, String> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err(format!("expected text or json, found \"{text}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_understood() {
        assert_eq!(Question::parse("", "", "", "", ""), Ok(Question::default()));
        let question = Question::parse("lock, thread", "7", "idle,sleep", "-5s", "json");
        let expected = Question {
            by: Some(vec![Aspect::Lock, Aspect::Thread]),
            top: Some(7),
            kinds: Some(Kinds::new(vec![WaitKind::Idle, WaitKind::Sleep])),
            from: Some(Since::Ago(Duration::from_secs(5))),
            format: Format::Json,
        };
        assert_eq!(question, Ok(expected));
        let all = Question::parse("", "", "all", "1m30s", "text").unwrap();
        assert_eq!(all.kinds, Some(Kinds::new(WaitKind::ALL.to_vec())));
        assert_eq!(all.from, Some(Since::Start(Duration::from_secs(90))));
    }

    #[test]
    fn errors_name_the_option() {
        for (texts, expected) in [
            (["color", "", "", "", ""], "by: unknown aspect \"color\""),
            (["depth", "", "", "", ""], "by: depth needs a trace file"),
            (["", "many", "", "", ""], "top: expected a number"),
            (["", "", "busy", "", ""], "kind: unknown kind \"busy\""),
            (
                ["", "", "", "soon", ""],
                "from: expected a time as 10s or -5s",
            ),
            (["", "", "", "", "xml"], "format: expected text or json"),
        ] {
            let [by, top, kind, from, format] = texts;
            let error = Question::parse(by, top, kind, from, format).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
