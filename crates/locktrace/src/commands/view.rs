//! `locktrace view`: traces in the browser.

use std::path::{Path, PathBuf};

use clap::Args;
use trace_model::Arrangement;

use crate::arguments::index::IndexArguments;
use crate::files::paths;
use crate::jvm::target::Target;
use crate::outcome::{self, Outcome, UsageError};
use crate::view::answer::Question;
use crate::view::export;
use crate::view::loader::{Loaded, Loader};
use crate::view::progress_bar::progress_bar;
use crate::view::server::{self, ServerArguments};
use crate::view::traces::{ModelArguments, open, targets};

#[derive(Args, Debug)]
pub(crate) struct ViewArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) index: IndexArguments,

    /// Compare the first trace with the others
    #[arg(long)]
    pub(crate) compare: bool,

    /// Write one HTML file that needs no server, and exit
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "no_open", "source", "no_follow"])]
    pub(crate) export: Option<PathBuf>,

    /// Show a trace that a JVM is writing as it is now; else the page grows with it
    #[arg(long)]
    pub(crate) no_follow: bool,

    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

/// `locktrace view`.
pub(crate) fn run(arguments: &ViewArguments) -> outcome::Result<Outcome> {
    let targets = targets(&arguments.model);
    let traces = open(&targets)?;
    let arrangement = if arguments.compare {
        if traces.len() < 2 {
            return Err(UsageError("--compare needs two traces at least").into());
        }
        Arrangement::Together
    } else {
        Arrangement::OneAfterTheOther
    };
    let loader = Loader::new(traces, arrangement, &arguments.model.library);
    let mut loader = loader.with_index(arguments.index.use_of());
    if let Some(path) = &arguments.export {
        return export_to(path, loader);
    }
    if !arguments.no_follow {
        let processes = targets.iter().filter_map(Target::process).collect();
        loader.follow(&processes)?;
    }
    server::serve(loader, &arguments.server)
}

fn export_to(path: &Path, loader: Loader) -> outcome::Result<Outcome> {
    let mut loaded = loader.load(&mut progress_bar())?;
    loaded.keep_index();
    let Loaded {
        mut state,
        entities,
        ..
    } = loaded;
    let page = export::page(|budget| state.answer(&Question::Embedded(budget), &entities))?;
    std::fs::write(path, page).map_err(|error| paths::named(path, &error))?;
    Ok(state.complain())
}
