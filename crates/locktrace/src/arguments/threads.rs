//! How many threads to use.

use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

/// How many threads to use.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ThreadArguments {
    /// Analyze with N threads [default: one per processor, at most 8; one for a short trace]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl ThreadArguments {
    /// More than share the work of one trace.
    const MAX: usize = 8;
    /// Shorter traces are done before more threads would be of use.
    const MIN_BYTES: u64 = 1 << 20;

    /// How many to use for a trace of that length, if it is known.
    pub(crate) fn count(self, byte_len: Option<u64>) -> NonZeroUsize {
        let is_short = byte_len.is_some_and(|byte_len| byte_len < Self::MIN_BYTES);
        match self.threads {
            Some(threads) => threads,
            None if is_short => NonZeroUsize::MIN,
            None => {
                let available = thread::available_parallelism().map_or(1, NonZeroUsize::get);
                NonZeroUsize::new(available.min(Self::MAX)).unwrap_or(NonZeroUsize::MIN)
            }
        }
    }
}
