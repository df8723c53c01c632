//! `locktrace query`: one question of the viewer's page.

use std::io::{Read, Write};

use clap::Args;
use trace_model::Arrangement;

use crate::arguments::index::IndexArguments;
use crate::outcome::{self, Outcome};
use crate::output;
use crate::view::answer::Question;
use crate::view::loader::Loader;
use crate::view::progress_bar::progress_bar;
use crate::view::topic::Topic;
use crate::view::traces::{ModelArguments, open, targets};

#[derive(Args, Debug)]
#[command(after_long_help = "\
Questions and answers are described in docs/viewer-api.md. For example, who held which locks in
the second second of the trace:

  locktrace query trace.lct \\
    --json '{\"selection\": {\"from_ns\": 1e9, \"to_ns\": 2e9}, \"by\": [\"lock-class\", \"owner-method\"]}'")]
pub(crate) struct QueryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) index: IndexArguments,

    /// What to ask for
    #[arg(long, value_enum, default_value_t = Topic::Query, value_name = "TOPIC")]
    pub(crate) ask: Topic,

    /// The question as JSON; - reads it from standard input
    #[arg(long, value_name = "QUESTION", default_value = "{}")]
    pub(crate) json: String,

    /// Fold the shortest waits until ROWS waits and owners of waits are left, and answer as an
    /// exported file of that size does
    #[arg(long, value_name = "ROWS")]
    pub(crate) fold_to: Option<usize>,
}

/// `locktrace query`.
pub(crate) fn run(arguments: &QueryArguments) -> outcome::Result<Outcome> {
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
    let mut loaded = loader.load(&mut progress_bar())?;
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
