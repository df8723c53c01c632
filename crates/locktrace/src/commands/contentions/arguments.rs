//! The arguments of `locktrace contentions`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::filter::PATTERNS;
use crate::arguments::waits::WaitArguments;

#[derive(Args, Debug)]
#[command(after_long_help = PATTERNS)]
pub(crate) struct ContentionsArguments {
    /// Trace files, pipes, or - for standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    /// Show the N longest waits in a table
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) top: u32,

    /// Output format
    #[arg(long, value_enum, default_value_t = ContentionsFormat::Jsonl)]
    pub(crate) format: ContentionsFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentionsFormat {
    /// The longest waits for people, each with those who made it last
    Table,
    /// A JSON object a line for each part of a wait
    Jsonl,
    /// Comma-separated values
    Csv,
}
