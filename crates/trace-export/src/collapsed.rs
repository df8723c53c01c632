//! Collapsed stacks: a line for each call chain, its frames from the outermost to the innermost
//! between semicolons, and the nanoseconds that threads waited.
//!
//! The format of Brendan Gregg's `flamegraph.pl`, which inferno, speedscope and async-profiler also
//! read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use trace_analysis::Entities;

use crate::frames::{StackFrame, stack};
use crate::stacks::StackSums;

/// Replaces a character that has a meaning in this format.
const ESCAPED: char = '\u{fffd}';

/// Writes `sums`, sorted by call chain. With `lines`, each line of a method is a frame of its own.
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

/// Returns the name of a frame without characters that have a meaning in this format.
fn name(frame: StackFrame, entities: &Entities, lines: bool) -> String {
    let name = match frame {
        StackFrame::Java(frame) if lines && frame.line >= 0 => {
            format!("{}:{}", entities.method_label(frame.method), frame.line)
        }
        frame => frame.name(entities),
    };
    escaped(&name)
}

/// Escapes a name, which the traced program chooses. Readers take semicolons and line ends for ends
/// of frames and lines, a number after a blank at the end of the innermost frame for a second
/// value, and `# ` at the start of the outermost one for a comment; they drop leading and trailing
/// blanks.
fn escaped(name: &str) -> String {
    let begin = name.len() - name.trim_start_matches(in_front).len();
    let end = name.trim_end_matches(at_end).len();
    name.char_indices()
        .map(|(at, c)| match c {
            ';' | '\u{2028}' | '\u{2029}' => ESCAPED,
            c if c.is_control() => ESCAPED,
            c if c.is_whitespace() && (at < begin || at >= end) => ESCAPED,
            c => c,
        })
        .collect()
}

fn in_front(c: char) -> bool {
    c.is_whitespace() || c == '#'
}

fn at_end(c: char) -> bool {
    c.is_whitespace() || c.is_numeric() || c == '.'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_is_escaped() {
        for (name, expected) in [
            ("demo.Ledger.adds 2 numbers", "demo.Ledger.adds 2 numbers"),
            ("demo.Ledger.adds 2", "demo.Ledger.adds\u{fffd}2"),
            ("adds 2 1.5 ", "adds\u{fffd}2\u{fffd}1.5\u{fffd}"),
            ("run:12", "run:12"),
            ("# 7a b", "#\u{fffd}7a b"),
            (" \u{a0}#x", "\u{fffd}\u{fffd}#x"),
            (" ", "\u{fffd}"),
            ("a;b\n\u{2028}c", "a\u{fffd}b\u{fffd}\u{fffd}c"),
            ("7", "7"),
            ("", ""),
        ] {
            assert_eq!(escaped(name), expected, "{name:?}");
        }
    }
}
