//! Standard output, and complaints on standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstyle::{AnsiColor, Style};

/// What stands out.
pub(crate) const BOLD: Style = Style::new().bold();
/// What is not to distract.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What must be seen.
pub(crate) const ALARM: Style = AnsiColor::Red.on_default().bold();

/// Standard output for machines: buffered, without colours.
pub(crate) fn machine() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
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
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Width of the terminal; `None` if standard output is not a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (width, _) = terminal_size::terminal_size()?;
    Some(usize::from(width.0))
}

/// Says on standard error what is wrong.
pub(crate) fn complain(message: &dyn Display) {
    anstream::eprintln!("{ALARM}locktrace:{ALARM:#} {message}");
}
