//! Standard output, and complaints on standard error.

use std::fmt::Display;
use std::fs::Permissions;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use trace_report::style::ALARM;

use crate::files::{atomic_file, paths};
use crate::outcome;

/// Standard output.
///
/// Errors name it. Its reader may close it having seen enough; the rest is
/// then dropped, so that the exit code says the same however much is read.
pub(crate) struct Output {
    stdout: StdoutLock<'static>,
    is_closed: bool,
}

impl Output {
    fn new() -> Self {
        Self {
            stdout: io::stdout().lock(),
            is_closed: false,
        }
    }

    /// Nobody reads it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// `result`, or `dropped` if nobody reads it any more.
    fn attempted<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(dropped)
            }
            // The caller writes again.
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let message = format!("standard output: {error}");
                Err(io::Error::new(error.kind(), message))
            }
            written => written,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        let written = self.stdout.write(bytes);
        self.attempted(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let flushed = self.stdout.flush();
        self.attempted(flushed, ())
    }
}

/// Standard output for machines: buffered, without colours.
pub(crate) fn machine() -> BufWriter<Output> {
    BufWriter::with_capacity(1 << 16, Output::new())
}

/// Passes a file, or standard output, to `write`. A reader of the file sees all of the old one or
/// all of the new one.
///
/// # Errors
///
/// Those of `write` and of the file, which they name.
pub(crate) fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match path {
        None => {
            let mut out = machine();
            write(&mut out)?;
            out.flush()
        }
        Some(path) => replace(path, write).map_err(|error| paths::named(path, &error)),
    }
}

/// As [`write_to`], where `write` can also fail for another reason than the output.
///
/// # Errors
///
/// Those of `write` and of the file; those of the file name it.
pub(crate) fn write_while(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> outcome::Result<()>,
) -> outcome::Result<()> {
    let mut failure = None;
    let written = write_to(path, |out| {
        write(out).map_err(|error| match error.downcast::<io::Error>() {
            Ok(error) => error,
            Err(error) => io::Error::other(failure.insert(error).to_string()),
        })
    });
    match failure {
        Some(failure) => Err(failure),
        None => Ok(written?),
    }
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A collector that runs as another user reads it, as far as the umask lets it.
    let permissions = Permissions::from_mode(0o666);
    atomic_file::replace(path, permissions, |file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    })
}

/// The error below an error of the CSV writer, which hides it.
pub(crate) fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Writes text for people to standard output, with colours if it is a terminal
/// and `NO_COLOR` is not set.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = machine();
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => write!(out, "{}", strip_str(text))?,
        _ => out.write_all(text.as_bytes())?,
    }
    out.flush()
}

/// Width of the terminal; `None` if standard output is not a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (width, _) = terminal_size::terminal_size()?;
    Some(usize::from(width.0))
}

/// Says on standard error what is wrong. The exit code says it even if that fails.
pub(crate) fn complain(message: &dyn Display) {
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{ALARM}locktrace:{ALARM:#} {message}");
}
