//! Runs of the programs, traced and not.

use std::ffi::OsString;

use super::{Measured, Outcome, Pair, Predicted};
use crate::jdk::Jdk;
use crate::jvm::{Jvm, Run};
use crate::locktrace::locktrace;
use crate::real_programs::pairs_class_path;

/// Runs a program with tracing to predict what its remedy brings; then without tracing as it is and with the
/// remedy, in turns, each in this number of JVMs.
pub fn measure(pair: &'static Pair, runs: usize) -> Outcome {
    let predicted = predict(pair, &jvm(pair, "before").trace_file("trace.lct").run());
    let mut measured = Measured::default();
    for _ in 0..runs {
        measured
            .before_s
            .push(elapsed_s(&jvm(pair, "before").run()));
        measured.after_s.push(elapsed_s(&jvm(pair, "after").run()));
    }
    Outcome {
        pair,
        predicted,
        measured,
    }
}

/// One thread for the collector, and as few collections in one variant as in the other.
const FLAGS: [&str; 2] = ["-XX:+UseSerialGC", "-Xmn256m"];

fn jvm(pair: &Pair, variant: &str) -> Jvm {
    let jvm = Jvm::untraced(Jdk::traced(), &["pairs.Program", pair.program, variant]).flags(FLAGS);
    match pair.is_real() {
        true => jvm.class_path(pairs_class_path()),
        false => jvm,
    }
}

fn predict(pair: &Pair, traced: &Run) -> Predicted {
    let words = ["what-if", "--format", "json"].iter().chain(pair.question);
    let arguments = words.map(OsString::from).chain([traced.trace().into()]);
    let found = locktrace(arguments);
    assert_eq!(found.code, 0, "{}: {}", pair.program, found.stderr);
    serde_json::from_str(&found.stdout).expect("JSON")
}

/// How long the program took by its own clock.
fn elapsed_s(run: &Run) -> f64 {
    let words = run.lines_of("elapsed").next();
    let words = words.unwrap_or_else(|| panic!("{}", run.describe()));
    let elapsed_ns: f64 = words[0].parse().expect("nanoseconds");
    elapsed_ns / 1e9
}
