//! Makes a long trace of a short one, to see what an analysis does with it.
//!
//! The long trace is as of a program that does what the traced one did, over and over, each time
//! with new threads and with new monitors of the same objects.

mod copy;
mod survey;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stderr};
use std::path::Path;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use trace_analysis::TraceFile;

use crate::copy::Copies;
use crate::survey::Survey;

/// The length of the trace to write.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// At least this size; the last copy is written to its end.
    Bytes(u64),
    /// This number of copies.
    Copies(u64),
}

/// Writes a trace that repeats `trace` to `output`; returns how many copies there are, at least one.
///
/// # Errors
///
/// If the trace is not complete, or a file cannot be read or written.
pub fn magnify(
    trace: &Path,
    output: &Path,
    length: Length,
    start_unix_ns: Option<u64>,
) -> anyhow::Result<u64> {
    let (wanted, written): (_, fn(&Copies<'_>) -> u64) = match length {
        Length::Bytes(bytes) => (bytes, |copies| copies.bytes_written()),
        Length::Copies(copies) => (copies, |copies| copies.count()),
    };
    let trace = TraceFile::open(trace)?;
    let mut header = trace.header().clone();
    header.start_unix_ns = start_unix_ns.unwrap_or(header.start_unix_ns);
    let survey = Survey::of(&trace)?;
    let bar = progress_bar(output, wanted);
    let in_output = || output.display().to_string();
    let file = BufWriter::new(File::create(output).with_context(in_output)?);
    let mut copies = Copies::new(&trace, &survey, &header, file).with_context(in_output)?;
    while copies.count() == 0 || written(&copies) < wanted {
        copies.write_next()?;
        bar.set_position(written(&copies));
    }
    bar.finish_and_clear();
    let (count, mut file) = copies.finish().with_context(in_output)?;
    file.flush().with_context(in_output)?;
    Ok(count)
}

fn progress_bar(output: &Path, wanted: u64) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_msg} {bar:30} {percent:>3} %  {eta} left")
        .expect("a valid template");
    ProgressBar::new(wanted)
        .with_style(style)
        .with_message(format!("Writing {}", output.display()))
}
