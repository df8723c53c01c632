//! Time in which the process did not run, against the clock of the one that stopped it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use jvm_tests::{Jvm, Run, RunningJvm, analyze, locktrace, run_to_success};
use serde_json::Value;
use trace_format::Counter;

/// The program's waiters.
const WAITERS: u32 = 6;
const STOP: Duration = Duration::from_secs(2);
/// The time that the program goes on before and after.
const REST: Duration = Duration::from_millis(200);
/// The tracer claims what is certain: from when its thread was due, in 15 ms, and without what that waited for
/// a processor before and after, on a machine that runs other tests.
const LEAST_SHARE: f64 = 0.8;

const CLASS: &str = "scenarios.Frozen";

/// A way to stop a process.
enum Brake {
    Signal,
    Freezer(Group),
}

/// A control group of its own.
struct Group {
    directory: PathBuf,
    is_unified: bool,
}

impl Group {
    /// `None` where there is no such controller, or it is not for us.
    fn new(controller: Option<&str>) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").expect("always there");
        let mut mounts = mounts
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>());
        let mount = mounts.find(|mount| match controller {
            None => mount[2] == "cgroup2",
            Some(name) => mount[2] == "cgroup" && mount[3].split(',').any(|option| option == name),
        })?;
        let name = format!(
            "locktrace-{}-{}",
            std::process::id(),
            controller.unwrap_or("unified")
        );
        let directory = Path::new(mount[1]).join(name);
        fs::create_dir(&directory).ok()?;
        Some(Self {
            directory,
            is_unified: controller.is_none(),
        })
    }

    /// Returns whether the system lets us.
    fn set(&self, file: &str, value: &str) -> bool {
        fs::write(self.directory.join(file), value).is_ok()
    }

    fn add(&self, process: u32) -> bool {
        self.set("cgroup.procs", &process.to_string())
    }

    /// Returns whether it has a freezer, which is off.
    fn has_freezer(&self) -> bool {
        let file = if self.is_unified {
            "cgroup.freeze"
        } else {
            "freezer.state"
        };
        self.directory.join(file).exists()
    }

    fn freeze(&self, on: bool) {
        let (file, value, seen) = match (self.is_unified, on) {
            (true, true) => ("cgroup.freeze", "1", Some(("cgroup.events", "frozen 1"))),
            (true, false) => ("cgroup.freeze", "0", None),
            (false, true) => ("freezer.state", "FROZEN", Some(("freezer.state", "FROZEN"))),
            (false, false) => ("freezer.state", "THAWED", None),
        };
        assert!(self.set(file, value), "{file}");
        if let Some((file, wanted)) = seen {
            let path = self.directory.join(file);
            await_line(&path, |line| line == wanted);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It is empty once the process has ended.
        for _ in 0..100 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn await_line(path: &Path, is_wanted: impl Fn(&str) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !fs::read_to_string(path).is_ok_and(|text| text.lines().any(&is_wanted)) {
        assert!(Instant::now() < deadline, "{}", path.display());
        thread::sleep(Duration::from_millis(1));
    }
}

impl Brake {
    fn name(&self) -> &'static str {
        match self {
            Self::Signal => "SIGSTOP",
            Self::Freezer(Group {
                is_unified: true, ..
            }) => "freezer of control groups",
            Self::Freezer(_) => "freezer of control groups, first version",
        }
    }

    fn pull(&self, process: u32) {
        match self {
            Self::Signal => {
                signal(process, "STOP");
                let status = format!("/proc/{process}/status");
                await_line(Path::new(&status), |line| line.starts_with("State:\tT"));
            }
            Self::Freezer(group) => group.freeze(true),
        }
    }

    fn release(&self, process: u32) {
        match self {
            Self::Signal => signal(process, "CONT"),
            Self::Freezer(group) => group.freeze(false),
        }
    }

    /// Stops the process. Returns for how long, at least and at most.
    fn stop(&self, process: u32) -> (Duration, Duration) {
        let before = Instant::now();
        self.pull(process);
        let begin = Instant::now();
        thread::sleep(STOP);
        let least = begin.elapsed();
        self.release(process);
        (least, before.elapsed())
    }
}

fn signal(process: u32, name: &str) {
    run_to_success(Command::new("kill").args([format!("-{name}"), process.to_string()]));
}

/// All that work here for that process, with a reason for those that do not.
fn brakes(process: u32) -> Vec<Brake> {
    let mut brakes = vec![Brake::Signal];
    for (controller, name) in [(Some("freezer"), "first version"), (None, "second version")] {
        let group = Group::new(controller).filter(Group::has_freezer);
        match group.filter(|group| group.add(process)) {
            Some(group) => brakes.push(Brake::Freezer(group)),
            None => println!("skipped: no freezer of control groups, {name}, that we may use"),
        }
    }
    brakes
}

/// Returns a figure of a report on the program's locks, in nanoseconds.
fn total(run: &Run, key: &str) -> u64 {
    let trace = run.trace();
    let arguments = ["report", "--format", "json", "--method", "*Frozen*"];
    let arguments = arguments
        .into_iter()
        .map(Path::new)
        .chain([trace.as_path()]);
    let report = locktrace(arguments);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    report["totals"][key].as_u64().expect("a number")
}

fn counted(run: &Run, counter: Counter) -> u64 {
    let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
    summary.tracer_value(counter).unwrap_or(0)
}

/// The program once all its waiters are blocked.
fn started(jvm: Jvm) -> RunningJvm {
    let mut jvm = jvm.start();
    jvm.await_line("blocked");
    thread::sleep(REST);
    jvm
}

fn ended(mut jvm: RunningJvm) -> Run {
    thread::sleep(REST);
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    run
}

/// The number of runs in one of which all stops are noticed. A stop that begins while the drainer
/// writes is not.
const ATTEMPTS: usize = 3;

#[test]
fn stops_are_nobodys_fault() {
    let noticed = (0..ATTEMPTS).find_map(|_| run_with_stops());
    let run = noticed.expect("a run in which all stops are noticed");
    let frozen_ns = total(&run, "frozen_ns");

    // The blocked time is what the threads say, and what is not frozen has its owner.
    let said = run
        .lines_of("waited")
        .map(|words| words[0].parse::<u64>().expect("a number"));
    let said_ns: u64 = said.sum();
    let blocked_ns = total(&run, "duration_ns");
    let difference = blocked_ns as f64 / said_ns as f64 - 1.0;
    assert!(difference.abs() < 0.02, "{blocked_ns} of {said_ns}");
    let nobodys_ns = total(&run, "free_ns") + total(&run, "unknown_owner_ns");
    assert!(nobodys_ns < blocked_ns / 20, "{nobodys_ns} of {blocked_ns}");

    let online = fs::read_to_string(run.directory().join("online.json")).expect("a report");
    let online: Value = serde_json::from_str(&online).expect("JSON");
    assert!(online["totals"]["frozen_ns"].as_u64() >= Some(frozen_ns));
    let text = locktrace([Path::new("report"), &run.trace()]).stdout;
    assert!(text.contains("\nFrozen "), "{text}");
}

/// Stops the program in each way once. Returns the run if all stops were noticed; the time noticed
/// never exceeds the time of the stops.
fn run_with_stops() -> Option<Run> {
    let report = [
        "-XX:LockContentionAnalysis=both",
        "-XX:LockContentionReportFile=online.json",
    ];
    let jvm = started(Jvm::traced(&[CLASS]).flags(report));
    let brakes = brakes(jvm.id());
    let (mut least, mut most) = (Duration::ZERO, Duration::ZERO);
    for brake in &brakes {
        let (at_least, at_most) = brake.stop(jvm.id());
        println!("{}: {at_least:?} to {at_most:?}", brake.name());
        (least, most) = (least + at_least, most + at_most);
        thread::sleep(REST);
    }
    let run = ended(jvm);

    let frozen_ns = total(&run, "frozen_ns");
    let most_ns = (WAITERS * most).as_nanos() as u64;
    let freezes = counted(&run, Counter::Freezes);
    println!("frozen {frozen_ns}, at most {most_ns}, in {freezes} freezes");
    assert!(frozen_ns <= most_ns, "{frozen_ns}");
    assert!(freezes <= brakes.len() as u64, "{freezes}");
    assert_eq!(counted(&run, Counter::SuspendedNs), 0);
    if freezes < brakes.len() as u64 {
        return None;
    }
    let least_ns = (WAITERS * least).mul_f64(LEAST_SHARE).as_nanos() as u64;
    assert!(least_ns <= frozen_ns, "{frozen_ns}");
    Some(run)
}

/// Other processes that want all processors, until they are dropped.
struct Spinning(Vec<Child>);

impl Spinning {
    fn begin() -> Self {
        let processors = thread::available_parallelism().map_or(1, |count| count.get());
        let spin = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
        };
        let spinning = (0..2 * processors).map(|_| spin().expect("there is a shell"));
        Self(spinning.collect())
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns how long the tracer's thread waited for a processor, according to the system.
fn run_delay_ns(process: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let delays = tasks.filter_map(|task| {
        let task = task.ok()?.path();
        let name = fs::read_to_string(task.join("comm")).ok()?;
        let times = fs::read_to_string(task.join("schedstat")).ok()?;
        let delay = times.split(' ').nth(1)?.parse::<u64>().ok()?;
        name.starts_with("locktrace-drain").then_some(delay)
    });
    delays.sum()
}

/// A process that gets no processor is not stopped: it waits for one.
#[test]
fn a_busy_machine_is_no_stop() {
    let jvm = started(Jvm::traced(&[CLASS]).below(&["nice", "-n", "19"]));
    let group = Group::new(Some("cpu")).filter(|group| {
        // One millisecond in each second.
        group.set("cpu.cfs_period_us", "1000000")
            && group.set("cpu.cfs_quota_us", "1000")
            && group.add(jvm.id())
    });
    if group.is_none() {
        println!("skipped: no control group, first version, that limits the processor time");
    }
    let before_ns = run_delay_ns(jvm.id());
    let spinning = Spinning::begin();
    thread::sleep(2 * STOP);
    if let Some(group) = &group {
        // The system counts a delay when it has ended.
        let deadline = Instant::now() + 30 * STOP;
        while Duration::from_nanos(run_delay_ns(jvm.id()) - before_ns) <= STOP {
            assert!(Instant::now() < deadline, "it gets its processor");
            thread::sleep(REST);
        }
        assert!(group.set("cpu.cfs_quota_us", "-1"));
    }
    drop(spinning);
    let delay_ns = run_delay_ns(jvm.id()) - before_ns;
    println!("the tracer's thread waited {delay_ns} ns for a processor");
    let run = ended(jvm);
    assert_eq!(total(&run, "frozen_ns"), 0);
    assert_eq!(counted(&run, Counter::Freezes), 0);
}
