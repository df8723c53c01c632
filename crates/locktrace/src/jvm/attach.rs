//! Sends diagnostic commands to a JVM, as `jcmd` does, and loads agents into it.
//!
//! A JVM that is asked to opens a socket, named after the number that the process has in its own
//! container (HotSpot, `attachListener_linux.cpp`): by a file, and by the signal that makes it
//! look for this file. Each command has a connection of its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::jvm::process::{Process, ProcessError};
use crate::outcome::cause;

/// How long a JVM may take to open its socket, and then to say the next part of an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks whether the socket is there.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// A longer answer is cut off.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// Why a JVM did not execute a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("process {0} is the JVM of user {1}: run locktrace as that user")]
    AnotherUser(u32, u32),
    #[error("process {0} takes no commands: SIGQUIT, which asks a JVM to listen, would end it")]
    WithoutSignals(u32),
    #[error(
        "process {0} did not listen within {patience} s: it is stopped, or was started with \
         -XX:+DisableAttachMechanism", patience = PATIENCE.as_secs()
    )]
    Deaf(u32),
    #[error("process {0} did not answer within {patience} s", patience = PATIENCE.as_secs())]
    Silent(u32),
    #[error("process {pid}: {action}: {error}")]
    Io {
        pid: u32,
        action: &'static str,
        #[source]
        error: io::Error,
    },
    #[error("process {pid} says: {answer}")]
    Refused { pid: u32, answer: String },
}

cause!(Trace: CommandError);

/// What the JVM answers to a diagnostic command.
///
/// # Errors
///
/// If it cannot be asked, or does not do it.
pub(crate) fn command(pid: u32, command: &str) -> Result<String, CommandError> {
    send(pid, ["jcmd", command, "", ""], PATIENCE)
}

/// Loads a native agent, and returns what its entry point does.
///
/// # Errors
///
/// If the JVM cannot be asked, or cannot load it.
pub(crate) fn load_agent(pid: u32, library: &str, options: &str) -> Result<i32, CommandError> {
    // To change all classes of a large application may take long.
    let patience = PATIENCE * 12;
    let answer = send(pid, ["load", library, "true", options], patience)?;
    // JDK 8 gives the number alone, later ones `return code: 0`.
    let last = answer.split_whitespace().next_back();
    last.and_then(|word| word.parse().ok())
        .ok_or(CommandError::Refused { pid, answer })
}

/// Sends an operation and its arguments.
fn send(pid: u32, words: [&str; 4], patience: Duration) -> Result<String, CommandError> {
    let process = Process::find(pid)?;
    // A JVM listens to its own user, and not even to root.
    if process.user() != geteuid().as_raw() {
        return Err(CommandError::AnotherUser(pid, process.user()));
    }
    let socket = listening(&process)?;
    ask(pid, &socket, words, patience)
}

/// The JVM traces, but not to a file: its events are analyzed where they happen.
pub(crate) fn only_analyzes(pid: u32) -> bool {
    command(pid, "LockContention.status").is_ok_and(|answer| tells_of_analysis(&answer))
}

/// An answer names a trace that has no file, as the runtime in the JVM calls it.
pub(crate) fn tells_of_analysis(answer: &str) -> bool {
    answer.contains("<online analysis>")
}

/// The socket on which the JVM listens.
fn listening(process: &Process) -> Result<PathBuf, CommandError> {
    let pid = process.pid();
    let directory = process.root().join("tmp");
    let socket = directory.join(format!(".java_pid{}", process.inner_pid()));
    if is_socket(&socket) {
        return Ok(socket);
    }
    if !process.handles_quit() {
        return Err(CommandError::WithoutSignals(pid));
    }
    let _request = Request::new(process, &directory).map_err(|error| CommandError::Io {
        pid,
        action: "cannot create the file that asks it to listen",
        error,
    })?;
    signal(pid).map_err(|error| CommandError::Io {
        pid,
        action: "cannot send the signal that asks it to listen",
        error,
    })?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if is_socket(&socket) {
            return Ok(socket);
        }
        if !process.is_alive() {
            return Err(ProcessError::None(pid).into());
        }
        thread::sleep(LOOK_INTERVAL);
    }
    Err(CommandError::Deaf(pid))
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}

fn signal(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(ErrorKind::InvalidInput)?;
    Ok(kill_process(pid, Signal::QUIT)?)
}

/// The file that asks a JVM to listen, as long as it has not done so.
struct Request(PathBuf);

impl Request {
    /// The JVM looks in its working directory, then in the one for temporary files.
    fn new(process: &Process, temporary: &Path) -> io::Result<Self> {
        let name = format!(".attach_pid{}", process.inner_pid());
        let first = process.working_directory().join(&name);
        let path = match File::create(&first) {
            Ok(_) => first,
            Err(_) => {
                let second = temporary.join(&name);
                File::create(&second)?;
                second
            }
        };
        Ok(Self(path))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // A JVM without the signal does no harm: the next attempt finds the file there.
        let _ = fs::remove_file(&self.0);
    }
}

/// Sends the command and reads the answer: a line with 0 if it was done, and text.
fn ask(
    pid: u32,
    socket: &Path,
    words: [&str; 4],
    patience: Duration,
) -> Result<String, CommandError> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => CommandError::Silent(pid),
        _ => CommandError::Io {
            pid,
            action: "cannot talk to it",
            error,
        },
    };
    let answer = exchange(socket, words, patience).map_err(failed)?;
    let (result, text) = answer.split_once('\n').unwrap_or((&answer, ""));
    if result == "0" {
        Ok(text.to_owned())
    } else {
        let answer = text.trim().to_owned();
        Err(CommandError::Refused { pid, answer })
    }
}

fn exchange(socket: &Path, words: [&str; 4], patience: Duration) -> io::Result<String> {
    let mut stream = connect(socket, patience)?;
    stream.set_read_timeout(Some(patience))?;
    // The protocol's version, the operation, and three arguments.
    let request = ["1"].into_iter().chain(words);
    let request: String = request.flat_map(|word| [word, "\0"]).collect();
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Connects to a socket, and waits no longer than that for its owner, nor to write. The queue of a JVM
/// that is stopped takes a few connections; later ones would wait for ever.
fn connect(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // On Linux it is also for how long to wait for the connection (socket(7)).
    set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a socket without a listener whose queue of connections is full.
    #[test]
    fn who_does_not_listen_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let flags = SocketFlags::CLOEXEC;
        let listener = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let listener = listener.unwrap();
        net::bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        net::listen(&listener, 0).unwrap();
        let _first = connect(&path, PATIENCE).unwrap();
        let late = exchange(&path, ["jcmd", "help", "", ""], Duration::from_millis(100));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
