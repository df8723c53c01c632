//! A trace that is started in a running JVM to be looked at, and stopped afterwards.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::jvm::attach::{self, CommandError};
use crate::jvm::process::{self, Process, ProcessError};
use crate::{outcome, output};

/// A trace that ends with this.
pub(crate) struct StartedTrace {
    pid: u32,
    path: PathBuf,
    /// Nobody has asked for the file.
    is_temporary: bool,
    is_stopped: bool,
}

impl StartedTrace {
    /// Starts a trace to `file`, as the JVM finds it; or to a temporary file, which is removed
    /// at the end.
    ///
    /// # Errors
    ///
    /// If the JVM cannot be asked or does not do it.
    pub(crate) fn start(pid: u32, file: Option<&Path>) -> outcome::Result<Self> {
        let inner_pid = Process::find(pid)?.inner_pid();
        let name = match file {
            Some(file) => absolute_name(file)?,
            None => format!("/tmp/locktrace-{inner_pid}.lct"),
        };
        let answer = attach::command(pid, &format!("LockContention.start file=\"{name}\""))?;
        if attach::tells_of_analysis(&answer) {
            return Err(ProcessError::OnlyAnalyzes(pid).into());
        }
        if !answer.contains("Started tracing") {
            let answer = answer.trim().to_owned();
            return Err(CommandError::Refused { pid, answer }.into());
        }
        let is_temporary = file.is_none();
        match process::trace_of(pid) {
            Ok(path) => Ok(Self {
                pid,
                path,
                is_temporary,
                is_stopped: false,
            }),
            Err(error) => {
                attach::command(pid, STOP)?;
                Err(error.into())
            }
        }
    }

    /// Where it goes, as it can be opened from here.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Stops the trace, unless the JVM has ended, and removes a temporary file.
    ///
    /// # Errors
    ///
    /// If the JVM does not stop it: it goes on.
    pub(crate) fn stop(mut self) -> Result<(), CommandError> {
        self.try_stop()
    }

    fn try_stop(&mut self) -> Result<(), CommandError> {
        if self.is_stopped {
            return Ok(());
        }
        self.is_stopped = true;
        let is_tracing = process::trace_of(self.pid).is_ok_and(|path| path == self.path);
        let stopped = match is_tracing {
            true => attach::command(self.pid, STOP).map(drop),
            false => Ok(()),
        };
        if self.is_temporary {
            // The JVM may have been in a container that is gone.
            let _ = fs::remove_file(&self.path);
        }
        stopped
    }
}

impl Drop for StartedTrace {
    fn drop(&mut self) {
        if let Err(error) = self.try_stop() {
            output::complain(&error);
        }
    }
}

const STOP: &str = "LockContention.stop";

/// A name that stands for the same file in the JVM's working directory, and between
/// quotation marks.
fn absolute_name(file: &Path) -> outcome::Result<String> {
    let path = std::path::absolute(file)?;
    match path.to_str() {
        Some(name) if !name.contains(['"', '\n']) => Ok(name.to_owned()),
        _ => {
            let message = format!("{}: this name cannot be passed to a JVM", path.display());
            Err(io::Error::new(ErrorKind::InvalidFilename, message).into())
        }
    }
}
