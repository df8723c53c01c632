//! The trace that a scenario expects; `scenarios/Scenario.java` explains the notation.

use std::fmt;
use std::fs;

use crate::compile_mode::CompileMode;
use crate::contention::Frame;
use crate::paths::source_directory;

/// The expectation on top of a scenario.
#[derive(Debug)]
pub struct Expectation {
    /// Class of the contended object.
    pub lock_class: String,
    /// The owner's call chain, innermost frame first.
    pub owner: Vec<ExpectedFrame>,
    /// The blocked thread's call chain, innermost frame first.
    pub waiter: Vec<ExpectedFrame>,
}

impl Expectation {
    /// Reads the expectation of a scenario that `Contend` runs.
    pub fn of(scenario: &str) -> Self {
        let mut lock_class = None;
        let mut owner = Vec::new();
        let mut waiter = Vec::new();
        for line in source(scenario).lines() {
            let words: Vec<_> = line
                .trim_start_matches([' ', '*'])
                .split_whitespace()
                .collect();
            match words[..] {
                ["lock", class] => lock_class = Some(class.to_owned()),
                ["owner", method, lines] => owner.push(ExpectedFrame::new(method, lines)),
                ["waiter", method, lines] => waiter.push(ExpectedFrame::new(method, lines)),
                // The comment has ended.
                ["*/"] | ["/"] => break,
                _ => {}
            }
        }
        owner.push(ExpectedFrame::new("scenarios.Contend$Owner.run", "own"));
        waiter.push(ExpectedFrame::new("scenarios.Contend$Waiter.run", "want"));
        Self {
            lock_class: lock_class.unwrap_or_else(|| panic!("{scenario}.java names no lock")),
            owner,
            waiter,
        }
    }
}

/// A frame that must be in a call chain.
#[derive(Debug)]
pub struct ExpectedFrame {
    class: String,
    method: String,
    /// The lines that the frame may be at, the one of the interpreter first;
    /// none if the line does not matter.
    lines: Vec<i32>,
}

impl ExpectedFrame {
    /// A frame in the notation of the scenarios.
    pub fn new(qualified_method: &str, lines: &str) -> Self {
        let (class, method) = qualified_method.rsplit_once('.').expect("CLASS.METHOD");
        let names = lines.split('|').filter(|&name| name != "-");
        Self {
            class: class.to_owned(),
            method: method.to_owned(),
            lines: names.map(|name| line_of(class, name)).collect(),
        }
    }

    fn matches(&self, frame: &Frame, mode: CompileMode) -> bool {
        let class_matches = match self.class.strip_suffix('*') {
            Some(beginning) => frame.class.starts_with(beginning),
            None => frame.class == self.class,
        };
        let lines = if mode.compiles() {
            &self.lines[..]
        } else {
            &self.lines[..self.lines.len().min(1)]
        };
        let line_matches = lines.is_empty() || frame.line.is_some_and(|line| lines.contains(&line));
        class_matches && frame.method == self.method && line_matches
    }

    /// Compares a call chain with what it must be; says how it differs.
    pub fn compare(expected: &[Self], chain: &[Frame], mode: CompileMode) -> Result<(), String> {
        let chain: Vec<_> = frames_of_source(chain).collect();
        let equal = chain.len() == expected.len()
            && expected
                .iter()
                .zip(&chain)
                .all(|(expected, frame)| expected.matches(frame, mode));
        if equal {
            return Ok(());
        }
        let expected: Vec<_> = expected.iter().map(Self::to_string).collect();
        let found: Vec<_> = chain.iter().map(ToString::to_string).collect();
        Err(format!(
            "expected\n  {}\nfound\n  {}",
            expected.join("\n  "),
            found.join("\n  ")
        ))
    }
}

/// Panics unless a call chain is the expected one, given as pairs in the
/// notation of the scenarios: a method and its lines.
pub fn check_chain(expected: &[(&str, &str)], chain: &[Frame], mode: CompileMode) {
    let frames = expected
        .iter()
        .map(|(method, lines)| ExpectedFrame::new(method, lines));
    let frames: Vec<_> = frames.collect();
    if let Err(difference) = ExpectedFrame::compare(&frames, chain, mode) {
        panic!("{difference}");
    }
}

/// Panics unless a call chain begins as expected.
pub fn check_innermost(expected: &[(&str, &str)], chain: &[Frame], mode: CompileMode) {
    let innermost = frames_of_source(chain).take(expected.len());
    let innermost: Vec<_> = innermost.cloned().collect();
    check_chain(expected, &innermost, mode);
}

/// Returns the frames without those of classes that stand for lambdas: whether stack traces show
/// them depends on the update.
fn frames_of_source(chain: &[Frame]) -> impl Iterator<Item = &Frame> {
    let is_of_source = |frame: &&Frame| !frame.class.contains("$$Lambda$");
    chain.iter().filter(is_of_source)
}

impl fmt::Display for ExpectedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.lines.iter().map(i32::to_string).collect();
        write!(f, "{}.{}:{}", self.class, self.method, lines.join("|"))
    }
}

/// The line of a class's source that carries the comment `// @name`.
pub fn line_of(class: &str, name: &str) -> i32 {
    let top_level = class.split('$').next().expect("a split has a first part");
    let simple = top_level
        .strip_prefix("scenarios.")
        .expect("only scenarios name their lines");
    let comment = format!("// @{name}");
    let line = source(simple)
        .lines()
        .position(|line| line.ends_with(&comment));
    let line = line.unwrap_or_else(|| panic!("{simple}.java has no line {comment}"));
    i32::try_from(line + 1).expect("a source file is short")
}

fn source(class: &str) -> String {
    let path = source_directory().join(format!("scenarios/{class}.java"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(class: &str, method: &str, line: i32) -> Frame {
        Frame {
            class: class.to_owned(),
            method: method.to_owned(),
            bci: Some(0),
            line: Some(line),
            file: None,
        }
    }

    #[test]
    fn reads_a_scenario() {
        let expectation = Expectation::of("SynchronizedMethod");
        assert_eq!(expectation.lock_class, "scenarios.SynchronizedMethod");
        let methods = |frames: &[ExpectedFrame]| -> Vec<String> {
            frames
                .iter()
                .map(|frame| format!("{}.{}", frame.class, frame.method))
                .collect()
        };
        let owner = [
            "scenarios.SynchronizedMethod.own",
            "scenarios.Contend$Owner.run",
        ];
        assert_eq!(methods(&expectation.owner), owner);
        let waiter = [
            "scenarios.SynchronizedMethod.want",
            "scenarios.Contend$Waiter.run",
        ];
        assert_eq!(methods(&expectation.waiter), waiter);
    }

    #[test]
    fn compiled_code_may_be_at_the_other_line() {
        let expected = [ExpectedFrame::new(
            "scenarios.SynchronizedMethod.own",
            "leave|enter",
        )];
        let leave = line_of("scenarios.SynchronizedMethod", "leave");
        let enter = line_of("scenarios.SynchronizedMethod", "enter");
        let at = |line| [frame("scenarios.SynchronizedMethod", "own", line)];
        for (line, interpreted, compiled) in
            [(leave, true, true), (enter, false, true), (1, false, false)]
        {
            let result = |mode| ExpectedFrame::compare(&expected, &at(line), mode).is_ok();
            assert_eq!(result(CompileMode::Interpreter), interpreted, "line {line}");
            assert_eq!(result(CompileMode::C2), compiled, "line {line}");
        }
    }

    #[test]
    fn a_missing_frame_is_a_difference() {
        let expected = [ExpectedFrame::new("java.lang.Object.wait", "-")];
        let difference = ExpectedFrame::compare(&expected, &[], CompileMode::Tiered);
        assert!(difference.unwrap_err().contains("java.lang.Object.wait"));
    }

    #[test]
    fn an_asterisk_stands_for_the_rest_of_a_class_name() {
        let expected = [ExpectedFrame::new(
            "sun.reflect.GeneratedMethodAccessor*.invoke",
            "-",
        )];
        let compare = |class, method| {
            let chain = [frame(class, method, -1)];
            ExpectedFrame::compare(&expected, &chain, CompileMode::Tiered).is_ok()
        };
        assert!(compare("sun.reflect.GeneratedMethodAccessor17", "invoke"));
        assert!(!compare("sun.reflect.GeneratedMethodAccessor17", "run"));
        assert!(!compare("sun.reflect.NativeMethodAccessorImpl", "invoke"));
    }
}
