//! What `lock-order`, `convoys` and `what-if` have in common.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::threads::ThreadArguments;

/// What `lock-order`, `convoys` and `what-if` have in common.
#[derive(Args, Debug)]
pub(crate) struct StructureArguments {
    /// Trace file, pipe, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// Show at most N rows in a table, 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = StructureFormat::Table)]
    pub(crate) format: StructureFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StructureFormat {
    /// A text for people
    Table,
    /// One JSON object
    Json,
}
