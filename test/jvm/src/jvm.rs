//! One run of a JVM.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wait_timeout::ChildExt;

use crate::jdk::Jdk;
use crate::paths::scratch_directory;
use crate::programs::Programs;
use crate::return_barriers::ReturnBarriers;

/// A JVM to be started.
///
/// It runs in a scratch directory of its own, which holds its output and its trace and is kept when
/// the test fails.
#[derive(Debug)]
pub struct Jvm {
    jdk: &'static Jdk,
    /// The trace; `None` runs without tracing.
    trace_file: Option<OsString>,
    /// A command that runs the JVM's command.
    below: Vec<String>,
    flags: Vec<OsString>,
    class_path: OsString,
    program: Vec<String>,
    time_limit: Duration,
}

/// The default name of a trace.
const TRACE_FILE: &str = "trace.lct";

/// Flags that keep the compilers from inlining what only drives a scenario;
/// `scenarios/Held.java` says why.
pub const NEVER_INLINED: [&str; 3] = [
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=dontinline,scenarios.Held::*",
    "-XX:CompileCommand=dontinline,scenarios.Turn::*",
];

impl Jvm {
    /// Runs a Java program, named by its main class and its arguments, on the
    /// patched JDK with tracing on.
    pub fn traced(program: &[&str]) -> Self {
        let mut jvm = Self::untraced(Jdk::traced(), program);
        jvm.trace_file = Some(TRACE_FILE.into());
        jvm.flags(ReturnBarriers::of_environment().flags())
    }

    /// Runs a Java program on some JDK without tracing.
    pub fn untraced(jdk: &'static Jdk, program: &[&str]) -> Self {
        let programs = Programs::compiled();
        let mut natives = OsString::from("-Dscenarios.natives=");
        natives.push(programs.natives());
        Self {
            jdk,
            trace_file: None,
            below: Vec::new(),
            flags: vec![natives],
            class_path: programs.classes().into(),
            program: program.iter().map(|&word| word.to_owned()).collect(),
            time_limit: Duration::from_secs(120),
        }
    }

    /// Adds JVM flags.
    pub fn flags(mut self, flags: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.flags
            .extend(flags.into_iter().map(|flag| flag.as_ref().to_owned()));
        self
    }

    /// Replaces how long the program may run, which is two minutes.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Replaces the class path, by default the scenarios'.
    pub fn class_path(mut self, class_path: impl Into<OsString>) -> Self {
        self.class_path = class_path.into();
        self
    }

    /// Lets the trace go elsewhere.
    pub fn trace_file(mut self, path: impl Into<OsString>) -> Self {
        self.trace_file = Some(path.into());
        self
    }

    /// Lets another command start the JVM.
    pub fn below(mut self, command: &[&str]) -> Self {
        self.below = command.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Runs the program to its end, however that looks.
    pub fn finish(self) -> Run {
        self.start().finish()
    }

    /// Runs the program to its end, which must be a success.
    pub fn run(self) -> Run {
        let run = self.finish();
        assert!(run.status.success(), "{}", run.describe());
        run
    }

    /// Starts the program.
    pub fn start(self) -> RunningJvm {
        let directory = scratch_directory(self.program.join("-").trim_start_matches('-'));
        let output = |name| {
            File::create(directory.path().join(name)).expect("a scratch directory is writable")
        };
        let mut words = self
            .below
            .iter()
            .map(OsString::from)
            .chain([self.jdk.tool("java").into()]);
        let mut command = Command::new(words.next().expect("at least java"));
        command.args(words);
        if let Some(path) = &self.trace_file {
            let mut flag = OsString::from("-XX:LockContentionTraceFile=");
            flag.push(path);
            command.arg("-XX:+TraceLockContention").arg(flag);
        }
        command
            .args(&self.flags)
            .arg("-cp")
            .arg(&self.class_path)
            .args(&self.program)
            .current_dir(directory.path())
            // Would let the JVM print a line that no test expects.
            .env_remove("JAVA_TOOL_OPTIONS")
            .stdin(Stdio::piped())
            .stdout(output("stdout"))
            .stderr(output("stderr"));
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        RunningJvm {
            command: format!("{command:?}"),
            child,
            directory: KeptOnFailure(Some(directory)),
            deadline: Instant::now() + self.time_limit,
        }
    }
}

/// A JVM that runs.
#[derive(Debug)]
pub struct RunningJvm {
    command: String,
    child: Child,
    directory: KeptOnFailure,
    deadline: Instant,
}

impl RunningJvm {
    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The trace being written.
    pub fn trace(&self) -> PathBuf {
        self.directory.path().join(TRACE_FILE)
    }

    /// Waits until the program has printed a line.
    pub fn await_line(&mut self, line: &str) {
        while !self.stdout().lines().any(|printed| printed == line) {
            let ended = self.child.try_wait().expect("a child can be waited for");
            assert!(
                ended.is_none(),
                "{}: ended before it printed {line:?}",
                self.command
            );
            assert!(
                Instant::now() < self.deadline,
                "{}: never printed {line:?}",
                self.command
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a line to the program's standard input.
    pub fn send_line(&mut self) {
        let stdin = self.child.stdin.as_mut().expect("standard input is a pipe");
        stdin.write_all(b"\n").expect("the program reads its input");
    }

    /// Ends the process at once, as `kill -9` does.
    pub fn kill(mut self) -> Run {
        self.child.kill().expect("the program runs");
        self.finish()
    }

    /// Waits for the program's end.
    pub fn finish(mut self) -> Run {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let status = self
            .child
            .wait_timeout(left)
            .expect("a child can be waited for");
        let Some(status) = status else {
            self.child.kill().expect("the program runs");
            panic!("{}: still running after its time", self.command);
        };
        let stdout = self.stdout();
        let stderr = read_lossily(&self.directory.path().join("stderr"));
        Run {
            command: self.command,
            directory: self.directory,
            status,
            stdout,
            stderr,
        }
    }

    fn stdout(&self) -> String {
        read_lossily(&self.directory.path().join("stdout"))
    }
}

/// A JVM that has ended.
#[derive(Debug)]
pub struct Run {
    command: String,
    directory: KeptOnFailure,
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Run {
    /// The trace that it wrote.
    pub fn trace(&self) -> PathBuf {
        self.directory().join(TRACE_FILE)
    }

    /// The directory that it ran in.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Keeps the directory that it ran in, for somebody to look into it.
    pub fn keep(mut self) -> PathBuf {
        self.directory.keep()
    }

    /// The words of each line of output that begins with `word`, without it.
    pub fn lines_of<'a>(&'a self, word: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
        let lines = self.stdout.lines().map(|line| line.split_whitespace());
        lines.filter_map(move |mut words| (words.next() == Some(word)).then(|| words.collect()))
    }

    /// Describes the run, for a failed test to print.
    pub fn describe(&self) -> String {
        let Self {
            command,
            status,
            stdout,
            stderr,
            ..
        } = self;
        let directory = self.directory().display();
        format!("{command}\nin {directory}: {status}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}

/// A scratch directory that stays when the test fails.
#[derive(Debug)]
struct KeptOnFailure(Option<TempDir>);

impl KeptOnFailure {
    fn path(&self) -> &Path {
        self.0.as_ref().expect("only kept at the end").path()
    }

    fn keep(&mut self) -> PathBuf {
        self.0.take().expect("only kept once").keep()
    }
}

impl Drop for KeptOnFailure {
    fn drop(&mut self) {
        if thread::panicking()
            && let Some(directory) = self.0.take()
        {
            eprintln!("kept {}", directory.keep().display());
        }
    }
}

fn read_lossily(path: &Path) -> String {
    let bytes = fs::read(path).expect("the output of a run is in its directory");
    String::from_utf8_lossy(&bytes).into_owned()
}
