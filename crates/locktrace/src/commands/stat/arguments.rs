//! The arguments of `locktrace stat`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::threads::ThreadArguments;

#[derive(Args, Debug)]
pub(crate) struct StatArguments {
    /// Trace files, pipes, or - for standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = StatFormat::Table)]
    pub(crate) format: StatFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatFormat {
    /// Tables for people
    Table,
    /// One JSON object
    Json,
}
