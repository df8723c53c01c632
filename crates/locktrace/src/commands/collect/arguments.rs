//! The arguments of `locktrace collect`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::arguments::origin::OriginArguments;
use crate::arguments::waits::KindArguments;
use crate::redaction::RedactArguments;

const COLLECT_NOTES: &str = "\
A trace has ended if its last record says so. The trace of a killed JVM has ended if it has not
changed for ten minutes and no process has it open for writing. Other traces stay, and so do copies
that a JVM made of a trace that went on. All tables are written before the first trace is deleted.
New tables of a trace replace the old ones, unless the old ones have more of it: a torn copy does
not replace the whole.

Such a copy, and a file that holds no trace (empty, cut in its header, or of another kind), is
renamed from FILE.lct to FILE.lct.aside, and ignored from then on.

Prints one line, and writes a file for each folder into OUT/watermarks/host=HOST. All traces of the
folder that began before its complete_until are in the tables. It does not advance while a trace
cannot be read. If another process collects the folder, this one does nothing. Files that a killed
process left in OUT are removed.

  */10 * * * *  locktrace collect --kind all /var/log/traces -o /mnt/runs";

#[derive(Args, Debug)]
#[command(after_long_help = COLLECT_NOTES)]
pub(crate) struct CollectArguments {
    /// The folder with the traces, *.lct
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    /// The directory of the tables, for the runs of many hosts, or an object store:
    /// s3://BUCKET/PREFIX, with the environment's credentials (AWS_ACCESS_KEY_ID, ...)
    #[arg(short, long, value_name = "OUT|URL", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Leave the traces where they are
    #[arg(long)]
    pub(crate) keep: bool,

    #[command(flatten)]
    pub(crate) redact: RedactArguments,

    #[command(flatten)]
    pub(crate) origin: OriginArguments,

    #[command(flatten)]
    pub(crate) kinds: KindArguments,
}
