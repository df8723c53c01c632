//! `locktrace man`: the manual pages, made of what `--help` says.

use std::io;
use std::path::Path;

use clap::CommandFactory;

use crate::Outcome;
use crate::cli::Cli;

/// Writes `locktrace.1`, `locktrace-report.1` and so on.
///
/// # Errors
///
/// If they cannot be written into `folder`.
pub(crate) fn write(folder: &Path) -> anyhow::Result<Outcome> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
    Ok(Outcome::Complete)
}
