//! What can be found out about a process that a user wants to look at: the trace that it writes,
//! or why it writes none.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use trace_analysis::TraceFile;

use crate::files::paths::are_same_file;
use crate::outcome::cause;

/// Why a process has no trace.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("no such process: {0}")]
    None(u32),
    #[error("{0} is a thread of process {1}: give the process")]
    Thread(u32, u32),
    #[error("process {0} has ended, and only waits for its parent to take notice")]
    Ended(u32),
    #[error("process {0} is not a JVM")]
    NotAJvm(u32),
    #[error("process {0} is another user's (user {1}), and nothing shows that it is a JVM")]
    AnotherUser(u32, u32),
    #[error("process {0} is another user's JVM (user {1}): run locktrace as that user")]
    AnotherUsersJvm(u32, u32),
    #[error(
        "process {0} is a JVM that can trace lock contention, but does not: start a trace with \
         `jcmd {0} LockContention.start`"
    )]
    DoesNotTrace(u32),
    #[error(
        "process {0} analyzes lock contention itself and writes no trace: ask it with \
         `jcmd {0} LockContention.report`, or start a trace after `jcmd {0} LockContention.stop`"
    )]
    OnlyAnalyzes(u32),
    #[error(
        "process {0} is a JVM that cannot trace lock contention itself: let an agent do that with \
         `locktrace attach {0}`"
    )]
    WithoutTracing(u32),
}

cause!(Trace: ProcessError);

/// The trace that a JVM writes, as it can be opened from here.
///
/// # Errors
///
/// If it writes none, or that cannot be found out: the reason that helps most to go on.
pub(crate) fn trace_of(pid: u32) -> Result<PathBuf, ProcessError> {
    let process = Process::find(pid)?;
    trace_being_written(&process.directory).ok_or_else(|| process.why_no_trace())
}

/// A process.
pub(crate) struct Process {
    pid: u32,
    /// What the system tells about it.
    directory: PathBuf,
    status: String,
}

impl Process {
    /// # Errors
    ///
    /// If it does not exist.
    pub(crate) fn find(pid: u32) -> Result<Self, ProcessError> {
        let directory = PathBuf::from(format!("/proc/{pid}"));
        match fs::read_to_string(directory.join("status")) {
            Ok(status) => Ok(Self {
                pid,
                directory,
                status,
            }),
            Err(_) => Err(ProcessError::None(pid)),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The number that it has in its own container.
    pub(crate) fn inner_pid(&self) -> u32 {
        let mut lines = self.status.lines();
        let pids = lines.find_map(|line| line.strip_prefix("NSpid:"));
        let inner = pids.and_then(|pids| pids.split_whitespace().last());
        inner.and_then(|pid| pid.parse().ok()).unwrap_or(self.pid)
    }

    /// What it has for the root of all files.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    pub(crate) fn working_directory(&self) -> PathBuf {
        self.directory.join("cwd")
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.directory.exists()
    }

    /// Who it belongs to.
    pub(crate) fn user(&self) -> u32 {
        fs::metadata(&self.directory).map_or(0, |metadata| metadata.uid())
    }

    /// The first file that it has mapped and that is wanted, under the name that it has there.
    pub(crate) fn mapped_file(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let maps = fs::read_to_string(self.directory.join("maps")).ok()?;
        let mut files = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]));
        files.find(|file| is_wanted(file)).map(str::to_owned)
    }

    /// `SIGQUIT` does not end it.
    pub(crate) fn handles_quit(&self) -> bool {
        const QUIT: u64 = 1 << (3 - 1);
        let handled = field(&self.status, "SigCgt:");
        let handled = handled.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        handled.is_some_and(|mask| mask & QUIT != 0)
    }

    fn why_no_trace(&self) -> ProcessError {
        let (pid, process) = (self.pid, &self.directory);
        if let Some(group) = field(&self.status, "Tgid:").and_then(|group| group.parse().ok())
            && group != pid
        {
            return ProcessError::Thread(pid, group);
        }
        if field(&self.status, "State:").is_some_and(|state| state.starts_with('Z')) {
            return ProcessError::Ended(pid);
        }
        let library = match jvm_library(process) {
            Ok(library) => library,
            Err(_) if self.is_known_as_jvm() => {
                return ProcessError::AnotherUsersJvm(pid, self.user());
            }
            Err(_) => return ProcessError::AnotherUser(pid, self.user()),
        };
        let Some(library) = library else {
            return ProcessError::NotAJvm(pid);
        };
        match has_tracing(&library) {
            Ok(false) => ProcessError::WithoutTracing(pid),
            Ok(true) | Err(_) => ProcessError::DoesNotTrace(pid),
        }
    }

    /// The JVM has published its counters, or listens to those who attach: both are in files
    /// that are called after the number that it has in its own container.
    fn is_known_as_jvm(&self) -> bool {
        let inner = self.inner_pid().to_string();
        let roots = [self.root().join("tmp"), PathBuf::from("/tmp")];
        roots.iter().any(|directory| {
            let socket = fs::metadata(directory.join(format!(".java_pid{inner}")));
            socket.is_ok_and(|metadata| metadata.file_type().is_socket())
                || has_counters(directory, &inner)
        })
    }
}

/// The first word behind a name in `/proc/PID/status`.
fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    let rest = lines.find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()
}

/// The JVM's library as the process sees it; `None` if it has none.
///
/// # Errors
///
/// If the process is another user's.
fn jvm_library(process: &Path) -> io::Result<Option<PathBuf>> {
    let maps = fs::read_to_string(process.join("maps"))?;
    let mut lines = maps.lines();
    let Some(line) = lines.find(|line| line.ends_with("/libjvm.so")) else {
        return Ok(None);
    };
    let path = line.find('/').map_or("", |at| &line[at + 1..]);
    Ok(Some(process.join("root").join(path)))
}

/// There is `hsperfdata_USER/PID` in the directory.
fn has_counters(directory: &Path, pid: &str) -> bool {
    let Ok(entries) = fs::read_dir(directory) else {
        return false;
    };
    let of_users = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("hsperfdata_")
    });
    of_users
        .into_iter()
        .any(|entry| entry.path().join(pid).is_file())
}

/// The trace that the process has open for writing, as it can be opened from here.
fn trace_being_written(process: &Path) -> Option<PathBuf> {
    let descriptors = fs::read_dir(process.join("fd")).ok()?;
    descriptors.flatten().find_map(|descriptor| {
        let path = descriptor.path();
        let is_file = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
        let is_trace = is_file && TraceFile::open(&path).is_ok();
        (is_trace && is_written(process, &descriptor.file_name()))
            .then(|| reachable(process, &path))
            .flatten()
    })
}

/// A process has the file open for writing, as far as this user may know.
pub(crate) fn is_written_by_any(file: &Metadata) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    processes.flatten().any(|process| {
        let process = process.path();
        let Ok(descriptors) = fs::read_dir(process.join("fd")) else {
            return false;
        };
        descriptors.flatten().any(|descriptor| {
            let found = fs::metadata(descriptor.path());
            found.is_ok_and(|found| are_same_file(&found, file))
                && is_written(&process, &descriptor.file_name())
        })
    })
}

/// The process can write to the descriptor: others may only be read, by a program that is about
/// traces.
fn is_written(process: &Path, descriptor: &OsStr) -> bool {
    let info = fs::read_to_string(process.join("fdinfo").join(descriptor));
    let flags = info.ok().and_then(|info| {
        let octal = field(&info, "flags:")?;
        u32::from_str_radix(octal, 8).ok()
    });
    flags.is_some_and(|flags| flags & ACCESS_MODE != READ_ONLY)
}

/// Of the flags of a descriptor, octal in `/proc/PID/fdinfo`; as in `open(2)`.
const ACCESS_MODE: u32 = 0o3;
const READ_ONLY: u32 = 0;

/// Where the file of a descriptor lies: a process in a container has its own root.
fn reachable(process: &Path, descriptor: &Path) -> Option<PathBuf> {
    let wanted = fs::metadata(descriptor).ok()?;
    let path = fs::read_link(descriptor).ok()?;
    let in_root = process.join("root").join(path.strip_prefix("/").ok()?);
    [path, in_root].into_iter().find(|path| {
        let found = fs::metadata(path);
        found.is_ok_and(|found| are_same_file(&found, &wanted))
    })
}

/// The name of a flag that only JVMs with tracing know.
const FLAG: &[u8] = b"LockContentionTraceFile";

/// The JVM knows the flags of the tracer.
fn has_tracing(library: &Path) -> io::Result<bool> {
    let mut file = File::open(library)?;
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let read = file.read(&mut buffer[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let known = kept + read;
        if memchr::memmem::find(&buffer[..known], FLAG).is_some() {
            return Ok(true);
        }
        // The name may be cut by the end of the buffer.
        kept = known.min(FLAG.len() - 1);
        buffer.copy_within(known - kept..known, 0);
    }
}
