//! Runs whose trace is analyzed in the JVM, too.

use std::fs;

use crate::jvm::{Jvm, Run};
use crate::locktrace::locktrace;

/// The name of the report of such a run.
const REPORT: &str = "report.json";

impl Jvm {
    /// Analyzes the trace in the JVM, in addition to writing it.
    pub fn analyzed_online(self) -> Self {
        let report = format!("-XX:LockContentionReportFile={REPORT}");
        self.flags(["-XX:LockContentionAnalysis=both", &report])
    }
}

impl Run {
    /// The report that the JVM left behind.
    pub fn online_report(&self) -> String {
        let report = fs::read_to_string(self.directory().join(REPORT));
        report.unwrap_or_else(|error| panic!("{error}\n{}", self.describe()))
    }

    /// Checks that the JVM's report is, byte for byte, what the command line says of the trace.
    pub fn check_online_report(&self) {
        let online = self.online_report();
        // The name of the trace as the JVM knows it.
        let trace = self.trace();
        let name = trace.file_name().expect("a file").to_string_lossy();
        let offline = locktrace([
            "report".as_ref(),
            "--format".as_ref(),
            "json".as_ref(),
            trace.as_os_str(),
        ]);
        let offline = offline.stdout.replace(&*trace.to_string_lossy(), &name);
        assert!(
            online == offline,
            "{}\n{online}\n{offline}",
            self.describe()
        );
    }
}
