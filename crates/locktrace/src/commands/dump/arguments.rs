//! The arguments of `locktrace dump`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::range::RangeArguments;

#[derive(Args, Debug)]
pub(crate) struct DumpArguments {
    /// Trace file, pipe, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// Events without a time are left out where a part of the time is wanted
    #[command(flatten)]
    pub(crate) range: RangeArguments,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = DumpFormat::Text)]
    pub(crate) format: DumpFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpFormat {
    /// A line for each event
    Text,
    /// A JSON object a line
    Jsonl,
}
