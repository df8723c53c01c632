//! The processor time of the tracer's own threads in a JVM.
//!
//! Times of whole processes vary more from run to run than these threads take; their
//! own time is known to the nanosecond, whatever else the machine does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Prefix of the names of the tracer's threads.
const PREFIX: &str = "locktrace-";

/// Reads the times while the JVM runs: the kernel forgets a thread that has ended.
#[derive(Debug)]
pub(crate) struct TracerThreads {
    tasks: PathBuf,
    cpu_ns: BTreeMap<String, u64>,
}

impl TracerThreads {
    /// Those of a process.
    pub(crate) fn of(process: i32) -> Self {
        Self {
            tasks: PathBuf::from(format!("/proc/{process}/task")),
            cpu_ns: BTreeMap::new(),
        }
    }

    /// Reads the times of now. What cannot be read has ended.
    pub(crate) fn read(&mut self) {
        let tasks = fs::read_dir(&self.tasks).into_iter().flatten().flatten();
        for task in tasks {
            if let Some((name, cpu_ns)) = tracer_thread(&task.path()) {
                self.cpu_ns.insert(name, cpu_ns);
            }
        }
    }

    /// The last times by name of the thread, in nanoseconds.
    pub(crate) fn into_cpu_ns(self) -> BTreeMap<String, u64> {
        self.cpu_ns
    }
}

/// The name and processor time of a thread if it is one of the tracer's.
fn tracer_thread(task: &Path) -> Option<(String, u64)> {
    let name = fs::read_to_string(task.join("comm")).ok()?;
    let name = name.trim_end();
    if !name.starts_with(PREFIX) {
        return None;
    }
    let times = fs::read_to_string(task.join("schedstat")).ok()?;
    let cpu_ns = times.split(' ').next()?.parse().ok()?;
    Some((name.to_owned(), cpu_ns))
}

#[cfg(test)]
mod tests {
    use std::process;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn only_the_time_of_threads_of_this_name() {
        const BUSY: Duration = Duration::from_millis(50);
        let busy = |name: &str| {
            thread::Builder::new().name(name.to_owned()).spawn(|| {
                let mut threads = TracerThreads::of(process::id().cast_signed());
                let begin = Instant::now();
                while begin.elapsed() < BUSY {}
                threads.read();
                threads.into_cpu_ns()
            })
        };
        let other = busy("other").expect("a thread").join().expect("no panic");
        assert!(!other.contains_key("other"));
        let named = busy("locktrace-test").expect("a thread").join();
        let cpu_ns = named.expect("no panic")["locktrace-test"];
        // Other processes may have had the processor meanwhile, but not all the time.
        assert!((1_000_000..=60_000_000).contains(&cpu_ns), "{cpu_ns} ns");
    }
}
