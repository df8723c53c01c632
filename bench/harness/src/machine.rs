//! The machine that a result belongs to.

use std::fs;
use std::thread;

use serde::{Deserialize, Serialize};

/// The properties that must be equal for results to be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) host: String,
    pub(crate) cpu_model: String,
    /// Hardware threads that the harness may use.
    pub(crate) processors: usize,
    pub(crate) memory_bytes: u64,
    /// Release of the kernel.
    pub(crate) kernel: String,
    /// The policy that chooses the processors' frequency; `none` if the kernel does not say, as in
    /// most virtual machines.
    pub(crate) frequency_governor: String,
}

impl Machine {
    /// The machine that this runs on.
    pub(crate) fn this() -> Self {
        let unknown = || "unknown".to_owned();
        let cpu_info = read("/proc/cpuinfo").unwrap_or_default();
        let memory = read("/proc/meminfo").unwrap_or_default();
        let memory_kib =
            field(&memory, "MemTotal").and_then(|size| size.strip_suffix(" kB")?.parse().ok());
        Self {
            host: read("/proc/sys/kernel/hostname").unwrap_or_else(unknown),
            cpu_model: field(&cpu_info, "model name").map_or_else(unknown, str::to_owned),
            processors: thread::available_parallelism().map_or(0, usize::from),
            memory_bytes: memory_kib.unwrap_or(0_u64) * 1024,
            kernel: read("/proc/sys/kernel/osrelease").unwrap_or_else(unknown),
            frequency_governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .unwrap_or_else(|| "none".to_owned()),
        }
    }
}

/// Returns the average number of threads that wanted to run in the last minute.
pub(crate) fn load_average() -> f64 {
    let averages = read("/proc/loadavg").unwrap_or_default();
    let first = averages.split(' ').next();
    first
        .and_then(|average| average.parse().ok())
        .unwrap_or(0.0)
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The value of the first line `name: value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = fields.filter(|(key, _)| key.trim() == name);
    values.next().map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_proc_files() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nmodel name\t: B\n";
        assert_eq!(field(text, "model name"), Some("A CPU @ 2 GHz"));
        assert_eq!(field(text, "name"), None);
    }

    #[test]
    fn this_machine_has_processors_and_memory() {
        let machine = Machine::this();
        assert!(
            machine.processors > 0 && machine.memory_bytes > 1 << 20,
            "{machine:?}"
        );
    }
}
