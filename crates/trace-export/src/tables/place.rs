//! Paths of the tables of a run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use trace_analysis::{ParkTimeout, Wait};

use super::layout::RUNS;

/// The identity of a run among the runs of all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder of all runs.
    pub directory: PathBuf,
    /// The prefix of files that are not complete. Readers skip names that begin with a dot.
    pub temporary_prefix: String,
    /// The host of the JVM.
    pub host: String,
    /// The version of the application, if given.
    pub release: Option<String>,
    /// The start of the trace, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// The process of the JVM.
    pub pid: u32,
}

impl Place {
    const FILE_NAME: &str = "part-0.parquet";

    /// Returns the file of the table `runs`, relative to the folder of all runs.
    pub fn name_of_run(&self) -> PathBuf {
        self.name(RUNS.name)
    }

    /// Returns when a thread would have stopped waiting, in nanoseconds since the trace's start, if
    /// its wait had a limit.
    pub(super) fn deadline_ns(&self, wait: &Wait) -> Option<u64> {
        const NS_PER_MS: u64 = 1_000_000;
        match wait.timeout {
            ParkTimeout::None => None,
            ParkTimeout::After(duration_ns) => {
                Some(wait.whole_start_ns.saturating_add(duration_ns))
            }
            ParkTimeout::At(unix_ms) => Some(
                unix_ms
                    .saturating_mul(NS_PER_MS)
                    .saturating_sub(self.start_unix_ns),
            ),
        }
    }

    /// Returns the file of a table.
    pub(super) fn file(&self, table: &str) -> PathBuf {
        self.directory.join(self.name(table))
    }

    /// Returns the same, relative to the folder of all runs. Folders are named as in Hive: readers
    /// make columns of them.
    fn name(&self, table: &str) -> PathBuf {
        let Self {
            host,
            start_unix_ns,
            pid,
            ..
        } = self;
        Path::new(table)
            .join(format!("day={}", day(*start_unix_ns)))
            .join(host_folder(host))
            .join(format!("run={start_unix_ns}-{pid}"))
            .join(Self::FILE_NAME)
    }
}

/// Returns the name of the folder of a host.
pub fn host_folder(host: &str) -> String {
    format!("host={}", escaped(host))
}

/// Returns the day in UTC, as `2026-11-24`.
fn day(unix_ns: u64) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_ns);
    let time = humantime::format_rfc3339_seconds(time).to_string();
    time.split('T').next().unwrap_or_default().to_owned()
}

/// Escapes characters that have a meaning in a path, as Hive does. Characters outside of ASCII
/// stay: Spark makes a character of each escape.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '\u{80}'.. => {
                escaped.push(character)
            }
            _ => {
                let _ = write!(escaped, "%{:02X}", u32::from(character));
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_host_leaves_the_folder() {
        for (host, folder) in [
            ("shop-1.example", "host=shop-1.example"),
            ("../../etc", "host=..%2F..%2Fetc"),
            ("a=b c", "host=a%3Db%20c"),
            ("läden 东", "host=läden%20东"),
        ] {
            let place = Place {
                directory: "out".into(),
                temporary_prefix: String::new(),
                host: host.to_owned(),
                release: None,
                start_unix_ns: 1_456_789_012_345_678_901,
                pid: 4711,
            };
            let expected = format!(
                "out/waits/day=2016-02-29/{folder}/run=1456789012345678901-4711/part-0.parquet"
            );
            assert_eq!(place.file("waits"), Path::new(&expected));
        }
    }
}
