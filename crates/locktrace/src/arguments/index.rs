//! Whether to keep an index.

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct IndexArguments {
    /// Keep an index of a trace of less than 64 MB as well
    #[arg(long)]
    index: bool,

    /// Neither read nor write TRACE.idx, the index of a trace of 64 MB or more
    #[arg(long, conflicts_with = "index")]
    no_index: bool,
}

impl IndexArguments {
    /// Which traces have an index.
    pub(crate) fn use_of(&self) -> IndexUse {
        match (self.index, self.no_index) {
            (_, true) => IndexUse::Never,
            (true, _) => IndexUse::Always,
            _ => IndexUse::OfLarge,
        }
    }
}

/// Which traces have an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexUse {
    Never,
    /// Those that are large.
    OfLarge,
    Always,
}
