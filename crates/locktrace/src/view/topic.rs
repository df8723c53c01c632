//! What a question is about.

use clap::ValueEnum;

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Topic {
    /// Groups by aspects
    Query,
    /// Traces, totals, findings and deadlocks
    Model,
    /// How long waits are
    Histogram,
    /// Single waits
    Waits,
    /// One wait, as {"id": N}
    Wait,
    /// A timeline by lock or by thread
    Lanes,
    /// The whole model, as in an exported file
    Embedded,
}
