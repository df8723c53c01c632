//! Collapsed stacks: a line for each call chain, its frames from the outermost to the innermost
//! between semicolons, and the nanoseconds that threads waited.
//!
//! The format of Brendan Gregg's `flamegraph.pl`, which inferno, speedscope and async-profiler
//! read, too.

use std::collections::BTreeMap;
use std::io::{self, Write};

use trace_analysis::Entities;

use crate::frames::{StackFrame, stack};
use crate::stacks::StackSums;

/// Writes `sums`, sorted by call chain. With `lines`, a method is another frame for each line
/// in it.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    mut out: impl Write,
    sums: &StackSums,
    entities: &Entities,
    lines: bool,
) -> io::Result<()> {
    let mut durations_ns = BTreeMap::<String, u64>::new();
    for (key, sum) in sums.sorted(entities) {
        let frames = stack(key, entities).into_iter();
        let names: Vec<_> = frames.map(|frame| name(frame, entities, lines)).collect();
        let duration_ns = durations_ns.entry(names.join(";")).or_default();
        *duration_ns = duration_ns.saturating_add(sum.duration_ns);
    }
    for (stack, duration_ns) in durations_ns {
        writeln!(out, "{stack} {duration_ns}")?;
    }
    out.flush()
}

/// The name of a frame without what means something in this format: the traced program chooses
/// its names.
fn name(frame: StackFrame, entities: &Entities, lines: bool) -> String {
    let name = match frame {
        StackFrame::Java(frame) if lines && frame.line >= 0 => {
            format!("{}:{}", entities.method_label(frame.method), frame.line)
        }
        frame => frame.name(entities),
    };
    name.replace(|c: char| c == ';' || c.is_control(), "\u{fffd}")
}
