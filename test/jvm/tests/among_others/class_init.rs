//! Threads that wait until another one has initialized a class. The JVM's own lock
//! for that is an `int[0]`, which the initializing thread does not even hold.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use jvm_tests::{Run, Wait, check_chain, check_program, locktrace, waits};

const SLOW_CLASS: &str = "scenarios.SlowInitializer";

/// One thread needed or initialized the class of one round.
struct Note<'a> {
    thread: &'a str,
    begin_ns: u64,
    end_ns: u64,
}

/// The program's notes about one round.
struct Round<'a> {
    initialized: Note<'a>,
    needed: Vec<Note<'a>>,
    /// The time in which its threads could have run but had no processor, while they needed the class.
    delayed_ns: u64,
}

fn rounds(run: &Run) -> Vec<Round<'_>> {
    let mut rounds: BTreeMap<u32, (Vec<Note<'_>>, Vec<Note<'_>>)> = BTreeMap::new();
    let time = |text: &str| text.parse::<u64>().expect("a time in nanoseconds");
    for what in ["initialized", "needed"] {
        for line in run.lines_of(what) {
            let [round, thread, begin, end] = line[..] else {
                panic!("not a note: {line:?}");
            };
            let note = Note {
                thread,
                begin_ns: time(begin),
                end_ns: time(end),
            };
            let notes = rounds.entry(round.parse().expect("a number")).or_default();
            match what {
                "initialized" => notes.0.push(note),
                _ => notes.1.push(note),
            }
        }
    }
    let delayed: Vec<_> = run.lines_of("delayed").collect();
    let rounds = rounds
        .into_iter()
        .map(|(number, (mut initialized, needed))| {
            assert_eq!((initialized.len(), needed.len()), (1, 8));
            let number = number.to_string();
            let of_round = delayed.iter().filter(|line| line[0] == number);
            Round {
                initialized: initialized.remove(0),
                needed,
                delayed_ns: of_round.map(|line| time(line[2])).sum(),
            }
        });
    rounds.collect()
}

/// The waits for the initialization of the class of each round.
fn waits_by_class(run: &Run) -> Vec<Vec<Wait>> {
    let mut classes: Vec<(String, Vec<Wait>)> = Vec::new();
    for wait in waits(&run.trace()) {
        let common = wait.common();
        if common.mirrored_class.as_deref() != Some(SLOW_CLASS) {
            continue;
        }
        assert_eq!(common.lock_class, "[I", "{wait}");
        match classes.iter_mut().find(|(id, _)| *id == common.lock_id) {
            Some((_, waits)) => waits.push(wait),
            None => classes.push((common.lock_id.clone(), vec![wait])),
        }
    }
    classes.into_iter().map(|(_, waits)| waits).collect()
}

#[test]
fn who_waits_for_a_class_waits_for_its_initializer() {
    check_program(&["scenarios.ClassInitialization"], &[], |mode, run| {
        let rounds = rounds(run);
        let waits = waits_by_class(run);
        assert_eq!(waits.len(), rounds.len(), "classes that threads waited for");
        let mut long_waits = 0;
        for (round, waits) in rounds.iter().zip(&waits) {
            for needed in &round.needed {
                let of_thread = waits.iter().filter(|wait| wait.thread() == needed.thread);
                let of_thread: Vec<_> = of_thread.collect();
                check(needed, round, &of_thread);
                let by_initializer = of_thread
                    .iter()
                    .flat_map(|wait| &wait.parts)
                    .filter(|part| part.owner_name() == Some(round.initialized.thread));
                for part in by_initializer.filter(|part| part.duration_ns > 1_000_000) {
                    long_waits += 1;
                    let chain = part.owner_frames();
                    check_chain(
                        &[
                            ("java.lang.Class.forName0", "-"),
                            ("java.lang.Class.forName", "-"),
                            ("scenarios.ClassInitialization.need", "need"),
                        ],
                        &chain[..3],
                        mode,
                    );
                }
            }
        }
        // All but the initializing thread wait, unless they do not run in time.
        assert!(long_waits >= rounds.len() * 7 / 2, "{long_waits} waits");
        check_report(run);
    });
}

/// Checks a thread in the trace, all of it by bounds without a tolerance. Its waits lie within the
/// time for which it needed the class. Time that is not blamed on the initializing thread lies
/// before or after the initializer, except for the time in which the lock of the class was free for a
/// thread that had no processor.
fn check(needed: &Note<'_>, round: &Round<'_>, waits: &[&Wait]) {
    let waited_ns: u64 = waits.iter().map(|wait| wait.duration_ns).sum();
    let limit_ns = needed.end_ns - needed.begin_ns;
    assert!(waited_ns <= limit_ns, "{waited_ns} of {limit_ns} ns");
    let initialized = &round.initialized;
    if needed.thread == initialized.thread {
        return;
    }
    let parts = waits.iter().flat_map(|wait| &wait.parts);
    let others = parts.filter(|part| part.owner_name() != Some(initialized.thread));
    let others_ns: u64 = others.map(|part| part.duration_ns).sum();
    let before_ns = initialized.begin_ns.saturating_sub(needed.begin_ns);
    let after_ns = needed.end_ns.saturating_sub(initialized.end_ns);
    let delayed_ns = round.delayed_ns;
    assert!(
        others_ns <= before_ns + after_ns + delayed_ns,
        "{others_ns} ns are blamed on others, at most {before_ns} before, {after_ns} after, {delayed_ns} \
         without a processor: {waits:#?}"
    );
    for wait in waits {
        assert_eq!(wait.common().kind, "contention", "{wait}");
    }
}

/// Checks the text for people. On a busy machine hand-offs may take longer than the time that one
/// thread is blamed for, and so may the loading of the class.
fn check_report(run: &Run) {
    let trace = run.trace();
    let arguments = [
        OsStr::new("report"),
        OsStr::new("--top=3"),
        trace.as_os_str(),
    ];
    let report = locktrace(arguments).stdout;
    let mut rows = report.lines();
    let is_of_class =
        |row: &str| row.ends_with("  initialization of class scenarios.SlowInitializer");
    assert!(rows.any(is_of_class), "{report}");
    let mut below = rows.take_while(|row| row.contains('─'));
    let is_of_owner = |row: &str| row.contains("─ held by thread thread-");
    assert!(below.any(is_of_owner), "{report}");
}
