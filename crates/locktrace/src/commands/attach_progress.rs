//! How far an agent is that was attached: it changes loaded classes a few at a time.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use trace_format::{Chunk, Counter};

use crate::text::human::{count, duration};
use crate::{input, outcome};

/// The state of the changes, as the trace has it about once a second.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    done: u64,
    total: u64,
    duration_ns: u64,
    longest_ns: u64,
}

/// Waits until all classes are changed or the trace ends, and writes how long that took the JVM.
///
/// # Errors
///
/// If the trace cannot be read.
pub(super) fn show(trace: &Path, pid: u32, out: &mut impl Write) -> outcome::Result<()> {
    let mut trace = input::follow(trace, pid)?;
    let bar = bar();
    let mut last = None;
    while let Some(chunk) = trace.next_chunk()? {
        let Chunk::Counters(counters) = chunk else {
            continue;
        };
        let progress = Progress::of(counters.flatten());
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        // The first counters may be older than the list of classes.
        let is_over = progress.done >= progress.total && (progress.total > 0 || last.is_some());
        last = Some(progress);
        if is_over {
            break;
        }
    }
    bar.finish_and_clear();
    if let Some(progress) = last {
        progress.write(out)?;
    }
    Ok(())
}

impl Progress {
    fn of(counters: impl Iterator<Item = (Counter, u64)>) -> Self {
        let mut progress = Self::default();
        for (counter, value) in counters {
            match counter {
                Counter::ClassesDone => progress.done = value,
                Counter::ClassesToChange => progress.total = value,
                Counter::ClassChangeNs => progress.duration_ns = value,
                Counter::LongestClassChangeNs => progress.longest_ns = value,
                _ => {}
            }
        }
        progress
    }

    fn write(self, out: &mut impl Write) -> io::Result<()> {
        let Self { done, total, .. } = self;
        if done < total {
            return writeln!(
                out,
                "The trace has ended: {done} of {total} classes were changed"
            );
        }
        writeln!(
            out,
            "Changed {} classes, which took the JVM {} in all, {} at once",
            count(total),
            duration(self.duration_ns),
            duration(self.longest_ns),
        )
    }
}

/// Returns a bar on standard error; a hidden one where nobody would see it.
fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "Changing classes, a few at a time {bar:30} {pos} of {len}  {eta} left",
    );
    ProgressBar::no_length().with_style(style.expect("a valid template"))
}
