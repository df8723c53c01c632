//! Readers behind a writer that waits for a reader are blocked by that reader, by the program's own clock.

use std::collections::BTreeMap;

use jvm_tests::{Jdk, Jvm, Run, agent_option, check_each, waits};

const MODES: [&str; 4] = ["nonfair", "fair", "stamped", "downgrade"];

/// The share of all waiting that may be on another method than by the program's clock. A thread notes its hold
/// after it has it, and others may be woken before the note of its release.
const MOST_WRONG: f64 = 0.01;

/// The share of all waiting in which the lock may be free: a thread that released it may be put to rest before it reads
/// the program's clock.
const MOST_FREE: f64 = 0.1;

#[test]
fn the_reader_inside_is_to_blame() {
    check_each(MODES, |mode| {
        check(
            &Jvm::traced(&["scenarios.StalledReaders", mode]).run(),
            mode,
        );
    });
}

#[test]
fn the_agent_blames_it_too() {
    let cases = Jdk::chosen_stock_versions().into_iter();
    let cases = cases.flat_map(|jdk| MODES.map(|mode| (jdk, mode)));
    check_each(cases, |(jdk, mode)| {
        let run = Jvm::untraced(jdk, &["scenarios.StalledReaders", mode])
            .flags([agent_option("file=trace.lct")])
            .run();
        check(&run, mode);
    });
}

/// A hold, by the program's clock in nanoseconds.
struct Hold<'r> {
    method: &'r str,
    wanted_ns: i64,
    acquired_ns: i64,
    released_ns: i64,
}

fn check(run: &Run, mode: &str) {
    let holds: Vec<Hold<'_>> = run
        .lines_of("hold")
        .map(|words| {
            let number = |at: usize| words[at].parse().expect("nanoseconds");
            Hold {
                method: words[0],
                wanted_ns: number(1),
                acquired_ns: number(2),
                released_ns: number(3),
            }
        })
        .collect();
    let mut truth: BTreeMap<&str, i64> = BTreeMap::new();
    let mut waited_ns = 0;
    for waiting in &holds {
        waited_ns += waiting.acquired_ns - waiting.wanted_ns;
        for owner in &holds {
            let until_ns = waiting.acquired_ns.min(owner.released_ns);
            let overlap_ns = until_ns - waiting.wanted_ns.max(owner.acquired_ns);
            *truth.entry(owner.method).or_default() += overlap_ns.max(0);
        }
    }
    let mut found: BTreeMap<&str, i64> = BTreeMap::new();
    let waits = waits(&run.trace());
    for part in waits.iter().flat_map(|wait| &wait.parts) {
        let frames = part.owner_chain.iter().flatten();
        let of_program = |class: &str| class == "scenarios.StalledReaders";
        let mut methods = frames.filter(|frame| of_program(&frame.class));
        let method = methods.find(|frame| truth.contains_key(&*frame.method));
        let method = method.map_or("nobody", |frame| &frame.method);
        *found.entry(method).or_default() += i64::try_from(part.duration_ns).expect("not so long");
    }
    let context = format!("{mode}: by the program {truth:?} of {waited_ns}, found {found:?}");
    println!("{context}");
    let of_waiting = |ns: i64| ns as f64 / waited_ns as f64;
    // Threads are woken one after the other, on a busy machine late: that is blamed on nobody.
    for (&method, &true_ns) in &truth {
        let wrong_ns = found.get(method).copied().unwrap_or(0) - true_ns;
        assert!(of_waiting(wrong_ns) <= MOST_WRONG, "{method}: {context}");
    }
    let main = if mode == "downgrade" { mode } else { "export" };
    let nobody_ns = found.get("nobody").copied().unwrap_or(0);
    assert!(of_waiting(nobody_ns) <= MOST_FREE, "{context}");
    let missed_ns = truth[main] - found.get(main).copied().unwrap_or(0) - nobody_ns;
    assert!(of_waiting(missed_ns) <= MOST_WRONG, "{context}");
}
