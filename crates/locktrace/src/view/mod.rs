//! The viewer: what its page asks, answered by a server, on standard output, or in a file.

mod answer;
mod export;
mod index;
mod known_answers;
mod known_overview;
mod loader;
mod overview;
mod reader;
mod server;
mod short_names;
mod source;
mod summary;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use trace_analysis::TraceInput;
use trace_model::Arrangement;

use crate::cli::{ModelArguments, QueryArguments, SummaryArguments, SummaryFormat, ViewArguments};
use crate::target::Target;
pub(crate) use crate::view::answer::AnswerError;
use crate::view::answer::Question;
pub(crate) use crate::view::index::IndexUse;
use crate::view::loader::{Loaded, Loader};
pub(crate) use crate::view::loader::{Progress, Watcher};
use crate::{Outcome, input, output, paths, problem};

/// The options do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) &'static str);

/// `locktrace query`.
pub(crate) fn query(arguments: &QueryArguments) -> anyhow::Result<Outcome> {
    let text = match arguments.json.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
        text => text.to_owned(),
    };
    let question = Question::parse(arguments.ask, &text)?;
    let traces = open(&targets(&arguments.model))?;
    let arrangement = Arrangement::OneAfterTheOther;
    let loader = Loader::new(traces, arrangement, &arguments.model.library);
    let loader = loader.with_index(arguments.index.use_of());
    let mut loaded = loader.load(&mut input::bar())?;
    loaded.keep_index();
    if let Some(rows) = arguments.fold_to {
        loaded.fold_to(rows);
    }
    let answer = loaded.state.answer(&question, &loaded.entities)?;
    let mut out = output::machine();
    out.write_all(answer.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(loaded.state.complain())
}

/// `locktrace summary`.
pub(crate) fn summarize(arguments: &SummaryArguments) -> anyhow::Result<Outcome> {
    let traces = open(&targets(&arguments.model))?;
    let arrangement = Arrangement::OneAfterTheOther;
    let loader = Loader::new(traces, arrangement, &arguments.model.library);
    let mut loaded = loader.load(&mut input::bar())?;
    match arguments.format {
        SummaryFormat::Text => {
            let findings = loaded.state.findings(&loaded.entities);
            output::print(&summary::render(
                &loaded.state,
                &findings,
                output::terminal_width(),
            ))?;
        }
        SummaryFormat::Json => {
            let answer = loaded.state.answer(&Question::Overview, &loaded.entities)?;
            let mut out = output::machine();
            out.write_all(answer.as_bytes())?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    Ok(problem::complain(&loaded.state.summaries))
}

/// `locktrace view`.
pub(crate) fn view(arguments: &ViewArguments) -> anyhow::Result<Outcome> {
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
    server::serve(loader, arguments)
}

fn targets(arguments: &ModelArguments) -> Vec<Target> {
    let traces = arguments.traces.iter();
    traces.map(|trace| Target::of(trace)).collect()
}

/// Opens all traces as they are now.
fn open(targets: &[Target]) -> anyhow::Result<Vec<TraceInput>> {
    let paths: Result<Vec<PathBuf>, _> = targets.iter().map(Target::trace).collect();
    Ok(input::open(&paths?, false)?)
}

fn export_to(path: &Path, loader: Loader) -> anyhow::Result<Outcome> {
    let mut loaded = loader.load(&mut input::bar())?;
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
