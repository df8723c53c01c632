//! What a command comes to, and the exit code that says so.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::process::ExitCode;

use trace_analysis::TraceError;

/// The result of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Complete,
    /// The traces lack something, and so does the result.
    Incomplete,
    /// There is more waiting than the user allows.
    Regressed,
    /// Some traces cannot be read; the result is about the others.
    Unreadable,
}

/// The error of a command, by what its user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    cause: Cause,
    error: anyhow::Error,
}

/// What a command failed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its arguments. Most wrong usage clap reports itself.
    Usage,
    /// A trace, or the JVM that writes it.
    Trace,
    /// Everything else: the output.
    Output,
}

/// The result of what a command does.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The options do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) &'static str);

/// Returns the exit code of a command. The help of [`Cli`](crate::cli::Cli) documents it.
pub(crate) fn exit_code(result: &Result<Outcome>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Outcome::Complete) => 0,
        Ok(Outcome::Incomplete) => 1,
        Ok(Outcome::Regressed) => 5,
        Ok(Outcome::Unreadable) => 3,
        Err(failure) => match failure.cause {
            Cause::Usage => 2,
            Cause::Trace => 3,
            Cause::Output => 4,
        },
    })
}

impl Failure {
    pub(crate) fn new(cause: Cause, error: impl Into<anyhow::Error>) -> Self {
        let error = error.into();
        Self { cause, error }
    }

    /// Returns the error itself, if it is of this type.
    pub(crate) fn downcast<E: std::error::Error + Send + Sync + 'static>(
        self,
    ) -> std::result::Result<E, Self> {
        let cause = self.cause;
        self.error.downcast().map_err(|error| Self { cause, error })
    }

    /// Returns the error, if it is of this type.
    pub(crate) fn downcast_ref<E: std::error::Error + Send + Sync + 'static>(&self) -> Option<&E> {
        self.error.downcast_ref()
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.error.fmt(formatter)
    }
}

/// Says which [`Cause`] the errors of a type have.
macro_rules! cause {
    ($cause:ident: $error:ty) => {
        impl From<$error> for $crate::outcome::Failure {
            fn from(error: $error) -> Self {
                Self::new($crate::outcome::Cause::$cause, error)
            }
        }
    };
}
pub(crate) use cause;

cause!(Usage: UsageError);
cause!(Trace: TraceError);
cause!(Output: io::Error);
