//! The traces that a model is made of.

use std::path::PathBuf;

use clap::Args;
use trace_analysis::TraceInput;

use crate::jvm::target::Target;
use crate::{input, outcome};

#[derive(Args, Debug)]
pub(crate) struct ModelArguments {
    /// Trace files, or processes that write one; several are shown as one
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Packages and classes to skip when naming callers
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    pub(crate) library: Vec<String>,
}

/// Returns what each argument stands for.
pub(crate) fn targets(arguments: &ModelArguments) -> Vec<Target> {
    let traces = arguments.traces.iter();
    traces.map(|trace| Target::of(trace)).collect()
}

/// Opens all traces as they are now.
pub(crate) fn open(targets: &[Target]) -> outcome::Result<Vec<TraceInput>> {
    let paths: Result<Vec<PathBuf>, _> = targets.iter().map(Target::trace).collect();
    Ok(input::open(&paths?, false)?)
}
