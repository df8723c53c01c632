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
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use trace_analysis::TraceFile;

use crate::copy::Copies;
use crate::survey::Survey;

/// Writes a trace that repeats another one until it has the length wanted
///
/// Each copy happens after the one before it. Its threads, locks and forward
/// references have new numbers, and its events of parked threads go on counting.
/// Classes, methods and call chains are described once. At the end of a copy, the
/// threads that wait stop waiting, all threads end, and all monitors are deflated.
#[derive(Debug, Parser)]
#[command(name = "magnify", max_term_width = 100, after_help = EXIT_CODES)]
struct Arguments {
    /// The trace to repeat: complete, and without losses
    trace: PathBuf,

    /// The trace to write; replaced if it exists
    output: PathBuf,

    /// Size wanted, in millions of bytes; the last copy is written to its end
    #[arg(long, value_name = "N", default_value = "100")]
    megabytes: u64,

    /// Number of copies to write, whatever size they have
    #[arg(long, value_name = "N", conflicts_with = "megabytes")]
    copies: Option<NonZeroU64>,

    /// Start of the long trace, in nanoseconds since 1970, if not the same as the other one's
    #[arg(long, value_name = "N")]
    start_unix_ns: Option<u64>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  wrong usage, or a trace could not be read or written";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let length = match arguments.copies {
        Some(copies) => Length::Copies(copies.get()),
        None => Length::Bytes(arguments.megabytes.saturating_mul(1_000_000)),
    };
    match magnify(
        &arguments.trace,
        &arguments.output,
        length,
        arguments.start_unix_ns,
    ) {
        Ok(copies) => {
            println!("{copies} copies in {}", arguments.output.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("magnify: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The length of the trace to write.
#[derive(Clone, Copy, Debug)]
enum Length {
    Bytes(u64),
    Copies(u64),
}

/// Returns how many copies there are, at least one.
fn magnify(
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
