//! `make what-if-pairs`: what `locktrace what-if` predicts for programs, and what their remedies bring.

use std::io::{IsTerminal, stderr};
use std::process::ExitCode;

use clap::Parser;
use jvm_tests::what_if::{Outcome, PAIRS, Pair, measure, median};

/// Compares predictions of `locktrace what-if` with programs that were really changed.
///
/// Traces each program once, and runs it without tracing as it is and with its remedy, in turns. Prints a table
/// in Markdown. Fails if fewer than 14 of 15 measured speed-ups lie within the predicted bounds, or if half of
/// the bounds are wider than 15 % of the estimate on either side.
#[derive(Debug, Parser)]
#[command(
    name = "what-if-pairs",
    bin_name = "make what-if-pairs",
    max_term_width = 100
)]
struct Arguments {
    /// Programs, those of --list [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = pair)]
    only: Vec<&'static Pair>,

    /// JVMs for each program as it is, and with its remedy
    #[arg(long, value_name = "N", default_value_t = 5)]
    runs: usize,

    /// The machine is busy: 12 of 15 are enough, and bounds may be wider
    #[arg(long)]
    busy: bool,

    /// List the programs and their remedies
    #[arg(long)]
    list: bool,
}

/// The largest median of the half widths of bounds, as a part of the estimate.
const MOST_HALF_WIDTH: f64 = 0.15;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for pair in PAIRS {
            println!("{:<22} {}", pair.program, pair.remedy);
        }
        return ExitCode::SUCCESS;
    }
    let pairs: Vec<&'static Pair> = match arguments.only.is_empty() {
        true => PAIRS.iter().collect(),
        false => arguments.only.clone(),
    };
    let outcomes = measure_all(&pairs, arguments.runs.max(1));
    conclude(&outcomes, arguments.busy)
}

fn pair(program: &str) -> Result<&'static Pair, String> {
    Pair::of(program).ok_or_else(|| "no such program, see --list".to_owned())
}

/// Prints a row for each pair as soon as it was measured.
fn measure_all(pairs: &[&'static Pair], runs: usize) -> Vec<Outcome> {
    println!("| program | remedy | change | predicted speed-up | measured | seconds | inside |");
    println!("|---|---|---|---|---|---|---|");
    let outcomes = pairs.iter().zip(1..).map(|(pair, number)| {
        if stderr().is_terminal() {
            eprint!("{number} of {}: {}\r", pairs.len(), pair.program);
        }
        let outcome = measure(pair, runs);
        println!("{}", row(&outcome));
        outcome
    });
    outcomes.collect()
}

fn row(outcome: &Outcome) -> String {
    let Outcome {
        pair,
        predicted,
        measured,
    } = outcome;
    let predicted = match (predicted.bounds(), &predicted.unreliable) {
        (Some(it), _) => format!("{:.2} ({:.2} to {:.2})", it.estimate, it.least, it.most),
        (None, Some(reason)) => format!("none: {reason}"),
        (None, None) => "none".to_owned(),
    };
    let (least, most) = measured.speedup_range();
    format!(
        "| `{}` | {} | `{}` | {predicted} | {:.2} ({least:.2} to {most:.2}) | {:.2} to {:.2} | {} |",
        pair.program,
        pair.remedy,
        pair.question.join(" ").trim_start_matches("--change "),
        measured.speedup(),
        median(&measured.before_s),
        median(&measured.after_s),
        if outcome.is_inside() { "yes" } else { "**no**" },
    )
}

fn conclude(outcomes: &[Outcome], is_busy: bool) -> ExitCode {
    let inside = outcomes.iter().filter(|it| it.is_inside()).count();
    let bounds = outcomes.iter().filter_map(|it| it.predicted.bounds());
    let half_widths: Vec<f64> = bounds.map(|it| it.half_width()).collect();
    let half_width = median(&half_widths);
    println!(
        "\n{inside} of {} inside; median width of the bounds ±{:.0} %",
        outcomes.len(),
        half_width * 100.0,
    );
    let of_fifteen = if is_busy { 12 } else { 14 };
    let is_narrow = is_busy || half_width <= MOST_HALF_WIDTH;
    match inside * 15 >= outcomes.len() * of_fifteen && is_narrow {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
