//! One run of a JVM.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use wait4::{ResUse, Wait4};

use crate::tracer_threads::TracerThreads;

/// Time between two looks at the tracer's threads.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// The end of a JVM.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if it had to be killed because its time was over.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) duration: Duration,
    /// Most memory that it had at once.
    pub(crate) peak_rss_bytes: u64,
    /// Processor time, of the whole process.
    pub(crate) cpu_ns: u64,
    /// The same of the tracer's threads, by name, without the last moment.
    pub(crate) tracer_cpu_ns: BTreeMap<String, u64>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// The reason if it did not end well.
    pub(crate) fn failure(&self) -> Option<String> {
        match self.status {
            Some(status) if status.success() => None,
            Some(status) => Some(status.to_string()),
            None => Some(format!("killed after {} s", self.duration.as_secs())),
        }
    }

    /// The last lines that it complained with.
    pub(crate) fn last_complaints(&self) -> String {
        const LINES: usize = 30;
        let lines: Vec<&str> = self.stderr.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

/// Runs `java` in `folder`, where its output goes to files, for at most
/// `time_limit`.
pub(crate) fn run(
    java: &Path,
    arguments: &[OsString],
    folder: &Path,
    time_limit: Duration,
) -> anyhow::Result<Finished> {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    let create = |path: &Path| File::create(path).with_context(|| path.display().to_string());
    let start = Instant::now();
    let mut child = Command::new(java)
        .args(arguments)
        .current_dir(folder)
        // Would change what is measured.
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("_JAVA_OPTIONS")
        .stdin(Stdio::null())
        .stdout(create(&stdout)?)
        .stderr(create(&stderr)?)
        .spawn()
        .with_context(|| java.display().to_string())?;

    let process = Pid::from_child(&child);
    let (ended, end) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let usage = child.wait4();
        // Nobody listens any more if the time was over.
        let _ = ended.send(());
        usage
    });
    let mut tracer_threads = TracerThreads::of(process.as_raw_nonzero().get());
    let in_time = loop {
        let left = time_limit.saturating_sub(start.elapsed());
        match end.recv_timeout(left.min(LOOK_INTERVAL)) {
            Err(RecvTimeoutError::Timeout) if left.is_zero() => break false,
            Err(RecvTimeoutError::Timeout) => tracer_threads.read(),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break true,
        }
    };
    if !in_time {
        // It may have ended just now.
        let _ = kill_process(process, Signal::KILL);
    }
    let usage: ResUse = waiter
        .join()
        .expect("waiting does not panic")
        .context("waiting for java")?;
    Ok(Finished {
        status: in_time.then_some(usage.status),
        duration: start.elapsed(),
        peak_rss_bytes: usage.rusage.maxrss,
        cpu_ns: (usage.rusage.utime + usage.rusage.stime).as_nanos() as u64,
        tracer_cpu_ns: tracer_threads.into_cpu_ns(),
        stdout: read_lossily(&stdout)?,
        stderr: read_lossily(&stderr)?,
    })
}

fn read_lossily(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, time_limit: Duration) -> Finished {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arguments = ["-c", script].map(OsString::from);
        run(Path::new("sh"), &arguments, folder.path(), time_limit).expect("sh runs")
    }

    #[test]
    fn output_and_memory_are_known() {
        let finished = shell("echo out; echo err >&2", Duration::from_secs(60));
        assert_eq!(finished.failure(), None);
        assert_eq!((&*finished.stdout, &*finished.stderr), ("out\n", "err\n"));
        assert!((100_000..100_000_000).contains(&finished.peak_rss_bytes));
    }

    #[test]
    fn a_failure_is_reported_with_the_last_lines() {
        let finished = shell("seq 40 >&2; exit 3", Duration::from_secs(60));
        assert_eq!(finished.failure(), Some("exit status: 3".to_owned()));
        assert!(finished.last_complaints().starts_with("11\n"));
    }

    #[test]
    fn what_hangs_is_killed() {
        let finished = shell("exec sleep 60", Duration::from_millis(100));
        assert_eq!(finished.failure(), Some("killed after 0 s".to_owned()));
    }
}
