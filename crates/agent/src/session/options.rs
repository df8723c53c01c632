//! The agent's options: `file=app.lct,chains=128`, spelled as async-profiler spells its own.

use std::path::PathBuf;
use std::time::Duration;

use crate::instrumentation::Filter;
use crate::session::budget::Share;

/// What `help` prints.
pub(crate) const HELP: &str = "\
locktrace agent: traces lock contention to a file
  java -agentpath:/path/liblocktrace.so=OPTION,OPTION,... -jar app.jar

  start            trace: the default
  stop             end the trace (of a JVM that the agent was attached to)
  help             print this
  file=PATH        the trace; %p is the process id, %t the time; default locktrace-%p.lct
  duration=TIME    end the trace after 30 (seconds), 30s, 5m or 2h
  chains=FRAMES    record at most this number of frames of a call chain, 1 to 4096; default 512
  sample=PERCENT   while the agent takes more of a processor's time than this, only a sample of the
                   call chains have more than their innermost frames; default 2, all at 100
  include=PACKAGE  instrument the releases in this package or class only; may be given several times
  exclude=PACKAGE  leave the code of this package or class as it is
";

/// The values of `include` and `exclude`.
const A_PACKAGE: &str = "a package or a class, as com.acme or com.acme.Shop";

/// The default of [`Options::chains`].
const DEFAULT_CHAINS: u16 = 512;
/// The largest value of [`Options::chains`].
const MAX_CHAINS: u16 = 4096;

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Action {
    #[default]
    Start,
    Stop,
    Help,
}

/// The options of one call of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) action: Action,
    /// The name of the trace, with `%p` and `%t` not yet replaced.
    pub(crate) file: String,
    /// After which time the trace ends by itself.
    pub(crate) duration: Option<Duration>,
    /// The most frames of a call chain.
    pub(crate) chains: u16,
    /// The share of a processor's time that hooks may take before chains are cut short.
    pub(crate) sample: Share,
    /// Classes whose releases of monitors are traced.
    pub(crate) filter: Filter,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            action: Action::default(),
            file: "locktrace-%p.lct".to_owned(),
            duration: None,
            chains: DEFAULT_CHAINS,
            sample: Share::default(),
            filter: Filter::default(),
        }
    }
}

/// An error in the options.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OptionError {
    #[error("options are not UTF-8")]
    NotUtf8,
    #[error("unknown option '{0}'; the option 'help' lists those there are")]
    Unknown(String),
    #[error("option '{0}' takes no value, found '{1}'")]
    Superfluous(String, String),
    #[error("option '{0}': expected {1}, found '{2}'")]
    Value(&'static str, &'static str, String),
}

impl Options {
    /// Parses what follows the agent's path.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, OptionError> {
        let text = str::from_utf8(text).map_err(|_| OptionError::NotUtf8)?;
        let mut options = Self::default();
        for option in text.split(',').filter(|option| !option.is_empty()) {
            options.add(option)?;
        }
        Ok(options)
    }

    fn add(&mut self, option: &str) -> Result<(), OptionError> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let action = match name {
            "start" => Some(Action::Start),
            "stop" => Some(Action::Stop),
            "help" => Some(Action::Help),
            _ => None,
        };
        if let Some(action) = action {
            if let Some(value) = value {
                let (name, value) = (name.to_owned(), value.to_owned());
                return Err(OptionError::Superfluous(name, value));
            }
            self.action = action;
            return Ok(());
        }
        let value = value.unwrap_or_default();
        match name {
            "file" if value.is_empty() => return Err(wrong("file", "a path", value)),
            "file" => value.clone_into(&mut self.file),
            "duration" => {
                let duration = parse_duration(value);
                let expected = "a time as 30, 30s, 5m or 2h";
                self.duration = Some(duration.ok_or_else(|| wrong("duration", expected, value))?);
            }
            "chains" => {
                let frames = value.parse().ok();
                let frames = frames.filter(|frames| (1..=MAX_CHAINS).contains(frames));
                let expected = "a number of frames from 1 to 4096";
                self.chains = frames.ok_or_else(|| wrong("chains", expected, value))?;
            }
            "sample" => {
                let expected = "percent of a processor, 0 to 100";
                let share = Share::parse(value);
                self.sample = share.ok_or_else(|| wrong("sample", expected, value))?;
            }
            "include" if self.filter.include(value) => {}
            "include" => return Err(wrong("include", A_PACKAGE, value)),
            "exclude" if self.filter.exclude(value) => {}
            "exclude" => return Err(wrong("exclude", A_PACKAGE, value)),
            _ => return Err(OptionError::Unknown(name.to_owned())),
        }
        Ok(())
    }

    /// Returns the path of the trace, with `%p` and `%t` replaced.
    pub(crate) fn path(&self, pid: u32, local_time: &str) -> PathBuf {
        let name = self.file.replace("%p", &pid.to_string());
        PathBuf::from(name.replace("%t", local_time))
    }
}

fn wrong(option: &'static str, expected: &'static str, found: &str) -> OptionError {
    OptionError::Value(option, expected, found.to_owned())
}

/// Parses a duration of at least a second: `30`, `30s`, `5m`, `2h`.
fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(['s', 'm', 'h']);
    let seconds_each = match text.get(digits.len()..)? {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = digits.parse().ok().filter(|_| is_number)?;
    let seconds = u64::from(number).checked_mul(seconds_each)?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_separated_by_commas() {
        assert_eq!(Options::parse(b""), Ok(Options::default()));
        let options = Options::parse(b"start,file=/tmp/a-%p.lct,,duration=5m,chains=8").unwrap();
        assert_eq!(options.path(17, "now"), PathBuf::from("/tmp/a-17.lct"));
        assert_eq!(options.duration, Some(Duration::from_secs(300)));
        assert_eq!(options.chains, 8);
        assert_eq!(Options::parse(b"stop").unwrap().action, Action::Stop);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, complaint) in [
            (
                "flie=x",
                "unknown option 'flie'; the option 'help' lists those there are",
            ),
            ("file=", "option 'file': expected a path, found ''"),
            (
                "duration=5x",
                "option 'duration': expected a time as 30, 30s, 5m or 2h, found '5x'",
            ),
            (
                "duration=0",
                "option 'duration': expected a time as 30, 30s, 5m or 2h, found '0'",
            ),
            (
                "duration=5mm",
                "option 'duration': expected a time as 30, 30s, 5m or 2h, found '5mm'",
            ),
            (
                "chains=9999",
                "option 'chains': expected a number of frames from 1 to 4096, found '9999'",
            ),
            (
                "sample=all",
                "option 'sample': expected percent of a processor, 0 to 100, found 'all'",
            ),
            ("stop=1", "option 'stop' takes no value, found '1'"),
        ] {
            let error = Options::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), complaint);
        }
        assert_eq!(Options::parse(b"\xff"), Err(OptionError::NotUtf8));
    }
}
