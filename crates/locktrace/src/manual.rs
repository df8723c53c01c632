//! `locktrace man`: the manual pages, made of what `--help` says.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::{Outcome, paths};

/// Writes `locktrace.1`, `locktrace-report.1` and so on.
///
/// # Errors
///
/// If they cannot be written into `folder`.
pub(crate) fn write(folder: &Path) -> anyhow::Result<Outcome> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|error| paths::named(folder, &error))?;
    Ok(Outcome::Complete)
}
