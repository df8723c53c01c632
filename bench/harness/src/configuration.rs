//! The configurations that are compared.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::java::Jdks;
use crate::paths;

/// A way to run a JVM.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Configuration {
    /// The JDK without our patches; what all others are compared with if it is measured
    Stock,
    /// The patched JDK with tracing off
    Off,
    /// Tracing, uncompressed
    Raw,
    /// Tracing, compressed, as by default
    Compressed,
    /// Analysis in the JVM, without a trace file
    Online,
    /// Tracing without call chains, uncompressed
    NoChains,
    /// The patched JDK's Flight Recorder with the same events, each of them
    Jfr,
    /// async-profiler in lock mode, each contention, on the patched JDK
    AsyncProfiler,
    /// The agent in the JDK of `stock`; to be named
    Agent,
    /// The patched JDK of --other-jdk with tracing off
    OtherOff,
    /// Tracing by the JDK of --other-jdk, compressed
    OtherCompressed,
}

/// The name of a trace in the folder of a JVM.
pub(crate) const TRACE_FILE: &str = "trace.lct";

impl Configuration {
    /// The name on the command line and in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Off => "off",
            Self::Raw => "raw",
            Self::Compressed => "compressed",
            Self::Online => "online",
            Self::NoChains => "no-chains",
            Self::Jfr => "jfr",
            Self::AsyncProfiler => "async-profiler",
            Self::Agent => "agent",
            Self::OtherOff => "other-off",
            Self::OtherCompressed => "other-compressed",
        }
    }

    /// Returns the description, for a table.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Stock => "JDK without patches",
            Self::Off => "patched JDK, tracing off",
            Self::Raw => "tracing, uncompressed",
            Self::Compressed => "tracing, compressed",
            Self::Online => "analysis in the JVM, without a trace file",
            Self::NoChains => "tracing without call chains, uncompressed",
            Self::Jfr => "Flight Recorder: enter, wait and park at 0 ms, with stacks",
            Self::AsyncProfiler => "async-profiler, lock mode, threshold 0",
            Self::Agent => "the agent in the JDK without patches",
            Self::OtherOff => "the other patched JDK, tracing off",
            Self::OtherCompressed => "the other patched JDK, tracing, compressed",
        }
    }

    /// Writes a trace.
    pub(crate) fn traces(self) -> bool {
        matches!(
            self,
            Self::Raw | Self::Compressed | Self::NoChains | Self::Agent | Self::OtherCompressed
        )
    }

    /// Runs in the JDK without patches.
    pub(crate) fn is_of_stock_jdk(self) -> bool {
        matches!(self, Self::Stock | Self::Agent)
    }

    /// Runs in the JDK of `--other-jdk`.
    pub(crate) fn is_of_other_jdk(self) -> bool {
        matches!(self, Self::OtherOff | Self::OtherCompressed)
    }

    /// The program `java`.
    pub(crate) fn java(self, jdks: &Jdks) -> PathBuf {
        match self {
            Self::Stock | Self::Agent => jdks.stock().tool("java"),
            Self::OtherOff | Self::OtherCompressed => jdks.other().tool("java"),
            _ => jdks.traced.tool("java"),
        }
    }

    /// The flags of the JVM. Files are written to its working folder.
    pub(crate) fn flags(self, profiler: Option<&Path>) -> Vec<OsString> {
        let tracing = |flags: &[&str]| {
            let file = format!("-XX:LockContentionTraceFile={TRACE_FILE}");
            let always = ["-XX:+TraceLockContention", &file];
            always.iter().chain(flags).map(OsString::from).collect()
        };
        const UNCOMPRESSED: &str = "-XX:-LockContentionTraceCompression";
        match self {
            Self::Stock | Self::Off | Self::OtherOff => Vec::new(),
            Self::Raw => tracing(&[UNCOMPRESSED]),
            Self::Compressed | Self::OtherCompressed => tracing(&[]),
            Self::Online => tracing(&[
                "-XX:LockContentionAnalysis=online",
                "-XX:LockContentionReportFile=report.txt",
            ]),
            Self::NoChains => tracing(&[
                UNCOMPRESSED,
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-LockContentionCallChains",
            ]),
            Self::Jfr => {
                let mut flag = OsString::from("-XX:StartFlightRecording=settings=");
                flag.push(paths::bench().join("harness/contention.jfc"));
                flag.push(",filename=recording.jfr,dumponexit=true");
                vec![flag]
            }
            Self::AsyncProfiler => {
                let mut flag = OsString::from("-agentpath:");
                flag.push(profiler.unwrap_or(Path::new("libasyncProfiler.so")));
                flag.push("=start,event=lock,lock=0,file=profile.jfr");
                vec![flag]
            }
            Self::Agent => {
                let mut flag = OsString::from("-agentpath:");
                flag.push(paths::agent());
                flag.push(format!("=file={TRACE_FILE}"));
                vec![flag]
            }
        }
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A configuration that could not be measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Unavailable {
    pub(crate) configuration: Configuration,
    pub(crate) reason: String,
}
