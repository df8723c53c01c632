//! `locktrace summary`: what to fix first, or that nothing is.

mod record;
mod summarize;
mod text;

use clap::{Args, ValueEnum};
use trace_report::record::write_json;

use self::record::SummaryRecord;
use crate::arguments::threads::ThreadArguments;
use crate::outcome::{self, Outcome};
use crate::view::traces::ModelArguments;
use crate::{output, problem};

const SUMMARY_NOTES: &str = "\
Prints at most five findings. A finding blames the code at the end of the chain of owners: a thread
that only waits in lock() itself is not to blame for those that wait behind it. Patterns:
  deadlock                 threads block each other for good
  never-released           the thread that has a lock has ended, or waits for its next task
  possible-deadlock        a thread has a lock and waits for another thread, which may need the lock
  no-permit-released       nobody gives permits of a semaphore back any more
  still-held               a lock was held for long when the trace ended
  starved                  others get a lock, one thread does not
  class-initialization     threads wait for a static initializer
  waits-while-holding      the owner waits for another thread while it holds the lock
  writer-behind-readers    a reader keeps a writer out, and other readers queue behind the writer
  notify-storm             threads woken from Object.wait queue up for the lock again
  one-map-key              threads wait while one key or bin of a concurrent map is computed
  uneven-stripes           one of several locks takes nearly all waits of the same code
  fair-lock                a fair lock is held for short times, so each hand-over wakes a thread
  convoy                   short holds, and most of the time goes into waking the next thread
  many-locks-of-one-class  the lock is divided already
  one-global-lock          one lock object serializes many methods
  many-short-holds         the lock is held for short times, but often
  long-hold                the lock is held for long
  taking-turns             threads park until others like them, which park too, unpark them
  pool-too-small           threads wait until others like them give something back
  long-wait                threads wait until other threads wake them

Waiting for another thread or for a pool is reported if it took longer than waiting for locks. Idle
workers never are.

If threads are blocked for less than 0.5 % of the run and for less than 1 % of their own time, no
lock is worth changing, and the summary shows what threads wait for instead. Runs of 5 s and more are
also judged without their first tenth; findings that are only there are marked as start-up.";

#[derive(Args, Debug)]
#[command(after_long_help = SUMMARY_NOTES)]
pub(crate) struct SummaryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// Sentences for people
    Text,
    /// One JSON object
    Json,
}

pub(crate) fn run(arguments: &SummaryArguments) -> outcome::Result<Outcome> {
    let summary = summarize::summarize(&arguments.model, arguments.threads)?;
    match arguments.format {
        SummaryFormat::Text => output::print(&text::render(&summary, output::terminal_width()))?,
        SummaryFormat::Json => write_json(output::machine(), &SummaryRecord::new(&summary))?,
    }
    Ok(problem::complain(&summary.traces))
}
