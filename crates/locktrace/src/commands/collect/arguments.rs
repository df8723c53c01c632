//! The arguments of `locktrace collect`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::arguments::origin::OriginArguments;
use crate::arguments::waits::KindArguments;
use crate::redaction::RedactArguments;

const COLLECT_NOTES: &str = "\
A trace has ended if it says so; one whose JVM was killed, if it has not changed for ten minutes and
no process has it open for writing. Others are left alone, as are copies that a JVM made of a trace
that went on. All tables are written before the first trace is deleted; those of the same trace take
the place of the old ones, unless these have more of it: a part of a trace, as a copy that was torn,
does not replace the whole.

Such a part, and a file that holds no trace (it is empty, or cut in its header, or something else),
is set aside: FILE.lct is called FILE.lct.aside then, and is not looked at again.

Prints one line, and writes a file for each folder into OUT/watermarks/host=HOST, whose
complete_until says that all traces of the folder that began before are in the tables. It stays
where it is while a trace cannot be read. If another one collects the folder already, there is
nothing to do. What one that was killed has left in OUT is removed.

  */10 * * * *  locktrace collect --kind all /var/log/traces -o /mnt/runs";

#[derive(Args, Debug)]
#[command(after_long_help = COLLECT_NOTES)]
pub(crate) struct CollectArguments {
    /// The folder; traces are its files that are called *.lct
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
