//! The readers of recordings.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{BLAME, MONITOR_ENTER, Sums, THREAD_PARK, add, text};
use crate::export::printed;
use crate::matrix::{self, Version};

/// Where the packages are that `scripts/install-test-packages.sh` installs, and what says in which version.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../build/test-jmc/*");
const REQUIREMENTS: &str = "crates/locktrace/tests/jmc/pom.xml";

/// A JDK, whose `jfr` opens recordings.
pub(super) struct Jdk {
    programs: PathBuf,
    version: Version,
}

impl Jdk {
    /// The machine's own.
    pub(super) fn installed() -> Self {
        let programs = PathBuf::new();
        let version = Version::asked(Command::new("java").arg("--version"));
        Self { programs, version }
    }

    /// One of those that `make stock-jdks` installs, by its feature release.
    pub(super) fn stock(release: u32) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let jdks = env::var_os("LOCKTRACE_STOCK_JDKS");
        let jdks = jdks.map_or_else(|| root.join("build/stock-jdks"), PathBuf::from);
        let programs = jdks.join(release.to_string()).join("bin");
        if !programs.join("jfr").exists() {
            let programs = programs.display();
            eprintln!("skipped: no jfr of JDK {release} in {programs}; run `make stock-jdks`");
            return None;
        }
        let version = Version::asked(Command::new(programs.join("java")).arg("--version"));
        Some(Self { programs, version }.pinned())
    }

    /// Which one it is says `scripts/install-stock-jdks.sh`, but not in full.
    fn pinned(mut self) -> Self {
        if let Version::Installed(version) = self.version {
            self.version = Version::Pinned(version);
        }
        self
    }

    /// The machine's own and the newest one.
    pub(super) fn all() -> Vec<Self> {
        [Some(Self::installed()), Self::stock(25)]
            .into_iter()
            .flatten()
            .collect()
    }

    pub(super) fn program(&self, name: &str) -> Command {
        Command::new(self.programs.join(name))
    }

    fn jfr(&self, arguments: &str, recording: &Path) -> String {
        let mut jfr = self.program("jfr");
        printed(jfr.args(arguments.split_whitespace()).arg(recording))
    }

    /// The events that `jfr print` finds: type and values.
    pub(super) fn events(&self, recording: &Path) -> Vec<(String, Value)> {
        let types = [MONITOR_ENTER, THREAD_PARK, BLAME].join(",");
        let print = format!("print --json --stack-depth 64 --events {types}");
        let recording: Value = serde_json::from_str(&self.jfr(&print, recording)).expect("JSON");
        let events = recording["recording"]["events"].as_array().expect("events");
        let events = events.iter().cloned();
        events
            .map(|mut event| (text(&event["type"]).to_owned(), event["values"].take()))
            .collect()
    }

    /// All that `jfr print` makes of a recording.
    pub(super) fn print(&self, recording: &Path) -> String {
        self.jfr("print", recording)
    }

    /// The lines that begin so of what `jfr summary` prints, without their begin.
    pub(super) fn summary(&self, recording: &Path, begin: &str) -> Vec<String> {
        let summary = self.jfr("summary", recording);
        let lines = summary.lines();
        let rests = lines.filter_map(|line| line.trim_start().strip_prefix(begin));
        rests.map(|rest| rest.trim().to_owned()).collect()
    }

    /// How many events of a type `jfr summary` finds, whichever number the type has.
    pub(super) fn count(&self, recording: &Path, event: &str) -> u64 {
        let counts = self.summary(recording, &format!("{event} "));
        let first = counts
            .iter()
            .map(|line| line.split(' ').next().expect("a count"));
        first
            .map(|count| count.parse::<u64>().expect("a number"))
            .sum()
    }

    /// The rows of what `jfr view` prints, cell by cell: columns are at least as wide as the lines below their names.
    pub(super) fn view(&self, view: &str, recording: &Path) -> Vec<Vec<String>> {
        let printed = self.jfr(&format!("view --width 200 {view}"), recording);
        let mut lines = printed.lines().skip_while(|line| !line.starts_with("---"));
        let rule = lines
            .next()
            .unwrap_or_else(|| panic!("no rows in {printed}"));
        let mut columns = Vec::new();
        let mut start = 0;
        for dashes in rule.split(' ') {
            columns.push(start..start + dashes.len());
            start += dashes.len() + 1;
        }
        let rows = lines.take_while(|line| !line.is_empty());
        rows.map(|line| {
            let cells: Vec<_> = line.chars().collect();
            let cells = columns.iter().map(|column| {
                let cell = cells.iter().take(column.end).skip(column.start);
                cell.collect::<String>().trim().to_owned()
            });
            cells.collect()
        })
        .collect()
    }

    /// What the recording says of itself: of each type what it is marked with, and then of each field what it is marked
    /// with, its type and its name. Sentences for people are left out.
    pub(super) fn types(&self, recording: &Path) -> BTreeMap<String, Vec<Vec<String>>> {
        let metadata = self.jfr("metadata", recording);
        let mut types = BTreeMap::new();
        for of_type in metadata.split("\n}\n") {
            let Some(at) = of_type.find("@Name(\"") else {
                continue;
            };
            let (name, rest) = of_type[at..].split_once('\n').expect("more than a name");
            let mut parts = vec![Vec::new()];
            for line in rest.lines().map(str::trim) {
                let part = parts.last_mut().expect("there is one");
                if line.starts_with("@Description(") || line.is_empty() {
                    continue;
                }
                part.push(line.to_owned());
                if !line.starts_with('@') {
                    part.sort_unstable();
                    parts.push(Vec::new());
                }
            }
            let name = name.trim_start_matches("@Name(\"").trim_end_matches("\")");
            types.insert(name.to_owned(), parts);
        }
        types
    }

    /// Something of recordings was compared.
    pub(super) fn opened(&self, compared: &str) {
        matrix::opened("jfr", "the JDK's `jfr`", &self.version, compared);
    }
}

/// What Mission Control finds in a recording.
pub(super) struct MissionControl(BTreeMap<String, Sums>);

impl MissionControl {
    pub(super) fn open(recording: &Path) -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jmc/MissionControl.java");
        let mut java = Command::new("java");
        java.args(["-cp", PACKAGES]).arg(program).arg(recording);
        let mut found = BTreeMap::<String, Sums>::new();
        for line in printed(&mut java).lines() {
            let cells: Vec<_> = line.split('\t').collect();
            let [of, key, count, duration_ns] = cells[..] else {
                panic!("{line}");
            };
            let sum = [count, duration_ns].map(|number| number.parse().expect("a number"));
            let key = format!("\"{}\"", key.replace('"', "\\\""));
            let key: String = serde_json::from_str(&key).expect("a text, escaped");
            add(found.entry(of.to_owned()).or_default(), &key, sum.into());
        }
        Self(found)
    }

    /// Of these events, or an aspect of them.
    pub(super) fn sums(&self, of: &str) -> Sums {
        self.0.get(of).cloned().unwrap_or_default()
    }

    /// Of waits, whichever the mechanism.
    pub(super) fn waits(&self, aspect: &str) -> Sums {
        let mut sums = self.sums(&format!("{MONITOR_ENTER}{aspect}"));
        for (key, sum) in self.sums(&format!("{THREAD_PARK}{aspect}")) {
            add(&mut sums, &key, sum);
        }
        sums
    }

    /// Something of recordings was compared.
    pub(super) fn opened(compared: &str) {
        let version = "<artifactId>flightrecorder.rules.jdk</artifactId>";
        let version = Version::pinned(REQUIREMENTS, version);
        matrix::opened("jfr", "JDK Mission Control's parser", &version, compared);
    }
}

/// async-profiler's `jfrconv`.
pub(super) struct Jfrconv;

impl Jfrconv {
    /// Sums of the waits in a recording by call chain, as it prints them: the thread if it is asked for, frames from
    /// the outermost one, and the lock's class.
    pub(super) fn locks(recording: &Path, options: &[&str]) -> Sums {
        let [counts, totals] = [&[][..], &["--total"]].map(|total| {
            let output = recording.with_extension("collapsed");
            let mut java = Command::new("java");
            java.args(["-cp", PACKAGES, "one.convert.Main", "--lock"]);
            java.args(["--dot", "-o", "collapsed"])
                .args(options)
                .args(total);
            printed(java.arg(recording).arg(&output));
            let lines = std::fs::read_to_string(output).expect("UTF-8");
            let mut sums = BTreeMap::<String, u64>::new();
            for line in lines.lines() {
                let (chain, number) = line.rsplit_once(' ').expect("a number");
                let number: u64 = number.parse().expect("a number");
                *sums.entry(chain.to_owned()).or_default() += number;
            }
            sums
        });
        assert!(counts.keys().eq(totals.keys()));
        let sums = counts.into_iter().zip(totals.into_values());
        sums.map(|((chain, count), duration_ns)| (chain, (count, duration_ns)))
            .collect()
    }

    /// Something of recordings was compared.
    pub(super) fn opened(compared: &str) {
        let version = Version::pinned(REQUIREMENTS, "<artifactId>jfr-converter</artifactId>");
        matrix::opened("jfr", "async-profiler's `jfrconv`", &version, compared);
    }
}
