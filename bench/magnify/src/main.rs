//! The command line of [`magnify`].

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use magnify::{Length, magnify};

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
