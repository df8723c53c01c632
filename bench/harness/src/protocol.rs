//! The lines in which a benchmark reports its iterations; the class
//! `bench.Iterations` prints them.

use serde::{Deserialize, Serialize};

/// The costs of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    /// By the clock on the wall.
    pub(crate) time_ns: u64,
    /// Processor time of the whole process.
    pub(crate) cpu_ns: u64,
}

/// Reads the iterations from what a benchmark printed; the reason if it failed
/// or did a number other than `expected`.
pub(crate) fn parse(output: &str, expected: u32) -> Result<Vec<Iteration>, String> {
    let mut iterations = Vec::new();
    let mut running = false;
    for message in output.lines().filter_map(message) {
        let next = iterations.len() + 1;
        let words: Vec<&str> = message.split(' ').collect();
        match words[..] {
            ["failed", ..] => return Err(message.to_owned()),
            ["iteration", number, "begin"] if !running && is(number, next) => running = true,
            [
                "iteration",
                number,
                "end",
                "time_ns",
                time_ns,
                "cpu_ns",
                cpu_ns,
            ] if running && is(number, next) => {
                let nanoseconds =
                    |text: &str| text.parse().map_err(|error| format!("{message}: {error}"));
                iterations.push(Iteration {
                    time_ns: nanoseconds(time_ns)?,
                    cpu_ns: nanoseconds(cpu_ns)?,
                });
                running = false;
            }
            _ => return Err(format!("unexpected line: bench {message}")),
        }
    }
    if iterations.len() != expected as usize {
        let done = iterations.len();
        return Err(format!("{done} iterations, expected {expected}"));
    }
    Ok(iterations)
}

/// Returns the text after `bench` in a line for the harness. A program that does not end its lines
/// may have printed something before.
fn message(line: &str) -> Option<&str> {
    ["bench iteration ", "bench failed"]
        .iter()
        .filter_map(|start| line.find(start))
        .map(|at| &line[at + "bench ".len()..])
        .next()
}

fn is(number: &str, expected: usize) -> bool {
    number.parse() == Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "\
noise
bench iteration 1 begin
===== noise =====
bench iteration 1 end time_ns 20 cpu_ns 30
no newbench iteration 2 begin
bench iteration 2 end time_ns 21 cpu_ns 31
";

    #[test]
    fn reads_iterations_among_other_output() {
        let expected = [(20, 30), (21, 31)].map(|(time_ns, cpu_ns)| Iteration { time_ns, cpu_ns });
        assert_eq!(parse(TWO, 2), Ok(expected.to_vec()));
    }

    #[test]
    fn iterations_must_all_be_there() {
        assert_eq!(parse(TWO, 3), Err("2 iterations, expected 3".to_owned()));
        assert_eq!(parse("", 1), Err("0 iterations, expected 1".to_owned()));
    }

    #[test]
    fn failures_are_reported() {
        let output = "bench iteration 1 begin\nbench failed sum is 3, expected 4\n";
        let reason = "failed sum is 3, expected 4";
        assert_eq!(parse(output, 1), Err(reason.to_owned()));
    }

    #[test]
    fn order_matters() {
        for output in [
            "bench iteration 2 begin",
            "bench iteration 1 end time_ns 1 cpu_ns 1",
            "bench iteration 1 begin\nbench iteration 1 begin",
            "bench iteration 1 begin\nbench iteration 1 end time_ns x cpu_ns 1",
            "bench iteration 1 begin\nbench iteration 2 end time_ns 1 cpu_ns 1",
        ] {
            assert!(parse(output, 1).is_err(), "{output}");
        }
    }
}
