//! What a user wants to look at.

use std::path::{Path, PathBuf};

use crate::jvm::attach;
use crate::jvm::process::{self, ProcessError};

/// A trace, or a process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Trace(PathBuf),
    Process(u32),
}

impl Target {
    /// What `argument` stands for: a number is a process, unless there is a file of that name.
    pub(crate) fn of(argument: &Path) -> Self {
        let text = argument.to_str().unwrap_or_default();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(pid) if is_number && !argument.exists() => Self::Process(pid),
            _ => Self::Trace(argument.to_owned()),
        }
    }

    /// The process that writes the trace which is there; `None` if only that is named.
    pub(crate) fn process(&self) -> Option<(PathBuf, u32)> {
        match self {
            Self::Trace(_) => None,
            Self::Process(pid) => Some((self.trace().ok()?, *pid)),
        }
    }

    /// The trace, or that which the process writes.
    ///
    /// # Errors
    ///
    /// If the process writes none.
    pub(crate) fn trace(&self) -> Result<PathBuf, ProcessError> {
        match self {
            Self::Trace(path) => Ok(path.clone()),
            Self::Process(pid) => process::trace_of(*pid).map_err(|error| match error {
                ProcessError::DoesNotTrace(pid) if attach::only_analyzes(pid) => {
                    ProcessError::OnlyAnalyzes(pid)
                }
                error => error,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_processes() {
        let process = |text| Target::of(Path::new(text)) == Target::Process(4711);
        assert!(process("4711"));
        for text in ["./4711", "4711.lct", "-", "+4711", "", "99999999999"] {
            assert!(!process(text), "{text}");
        }
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("1");
        std::fs::write(&path, "").expect("a writable folder");
        assert_eq!(Target::of(&path), Target::Trace(path.clone()));
    }
}
