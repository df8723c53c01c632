//! Predictions from the traces of simulated programs, against the same programs with the change.

use std::collections::VecDeque;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use trace_analysis::{
    Analysis, ChainIndex, Detail, Limits, LockChange, LockIndex, Prediction, Question, Replay,
    WhatIf,
};
use trace_format::file::VERSION;
use trace_format::{Capabilities, Freeze, SystemRecord};

use crate::script;

/// What a thread does once: it works by itself, and then holds a lock.
#[derive(Clone, Copy, Debug)]
struct Turn {
    think_ns: u64,
    lock: usize,
    hold_ns: u64,
}

/// The turns of each thread.
type Program = Vec<Vec<Turn>>;

#[derive(Clone, Copy, Debug)]
enum State {
    Thinks(u64),
    Waits(u64),
    Holds { since_ns: u64, until_ns: u64 },
}

/// Where a thread releases locks.
fn code(thread: usize) -> &'static str {
    ["b", "c"][thread % 2]
}

/// Runs a program whose locks are handed to who waited longest. Returns how long threads waited,
/// and the trace.
fn run(program: &Program) -> (u64, String) {
    let locks = program.iter().flatten().map(|turn| turn.lock + 1).max();
    let mut queues = vec![VecDeque::new(); locks.unwrap_or(0)];
    let mut owners = vec![None; queues.len()];
    let mut states: Vec<_> = program
        .iter()
        .map(|turns| State::Thinks(turns.first().map_or(0, |turn| turn.think_ns)))
        .collect();
    let mut at = vec![0; program.len()];
    let (mut waited_ns, mut script) = (0, String::new());
    loop {
        let next = (0..program.len()).filter(|&it| at[it] < program[it].len());
        let next = next.filter_map(|thread| match states[thread] {
            State::Holds { until_ns, .. } => Some((until_ns, 0, thread)),
            State::Thinks(until_ns) => Some((until_ns, 1, thread)),
            State::Waits(_) => None,
        });
        let Some((now_ns, _, thread)) = next.min() else {
            return (waited_ns, script);
        };
        let turn = program[thread][at[thread]];
        let line = turn.lock + 1;
        let held = |hold_ns: u64| State::Holds {
            since_ns: now_ns,
            until_ns: now_ns + hold_ns,
        };
        match states[thread] {
            State::Thinks(_) if owners[turn.lock].is_none() => {
                owners[turn.lock] = Some(thread);
                states[thread] = held(turn.hold_ns);
            }
            State::Thinks(_) => {
                queues[turn.lock].push_back(thread);
                states[thread] = State::Waits(now_ns);
                writeln!(script, "{now_ns} T{thread} enter a on L{line}").expect("text");
            }
            State::Holds { since_ns, .. } => {
                owners[turn.lock] = queues[turn.lock].pop_front();
                if let Some(next) = owners[turn.lock] {
                    let held_ns = now_ns - since_ns;
                    writeln!(
                        script,
                        "{now_ns} T{thread} exit {} held:{held_ns} on L{line}",
                        code(thread)
                    )
                    .expect("text");
                    writeln!(script, "{now_ns} T{next} entered on L{line}").expect("text");
                    if let State::Waits(since_ns) = states[next] {
                        waited_ns += now_ns - since_ns;
                    }
                    states[next] = held(program[next][at[next]].hold_ns);
                }
                at[thread] += 1;
                let next = program[thread].get(at[thread]);
                states[thread] = State::Thinks(now_ns + next.map_or(0, |turn| turn.think_ns));
            }
            State::Waits(_) => unreachable!("who waits is not next"),
        }
    }
}

/// What the change of a lock of a trace would bring.
fn predict(script: &str, lock: usize, change: LockChange) -> Prediction {
    predict_for(script, lock, change, |_| true)
}

/// The same where the change only affects some code, known by its name.
fn predict_for(
    script: &str,
    lock: usize,
    change: LockChange,
    is_affected: impl Fn(Option<&str>) -> bool,
) -> Prediction {
    predict_frozen(script, &[], lock, change, is_affected)
}

/// The same of a process that did not always run.
fn predict_frozen(
    script: &str,
    freezes: &[SystemRecord],
    lock: usize,
    change: LockChange,
    is_affected: impl Fn(Option<&str>) -> bool,
) -> Prediction {
    let mut what_if = WhatIf::default();
    let mut analysis = Analysis::new(Limits::default()).with_detail(Detail::CONTENTIONS);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::HOLDS);
    script::take_system(&mut trace, freezes, &mut what_if);
    let events = script::parse(script);
    for (thread, event) in script::metadata_events().iter().chain(&events) {
        trace.event(*thread, event, &mut what_if);
    }
    trace.finish(&mut what_if);
    let entities = analysis.entities();
    let name = format!("{:x}@Lock", lock + 1);
    what_if.predict(&Question {
        change,
        is_changed: |lock: LockIndex| entities.lock_id(lock) == name,
        is_affected: |chain: Option<ChainIndex>, _| {
            let frame = chain.and_then(|chain| entities.chain(chain).frames().first());
            let method = frame.map(|frame| entities.method_label(frame.method));
            is_affected(method.as_deref())
        },
        processors: None,
        entities,
    })
}

/// Threads that take the locks in turn, each of them as long as a random program says.
fn programs(locks: usize, turns: usize) -> impl Strategy<Value = Program> {
    let range = |from: u64| (from..from * 20).prop_flat_map(|most| (Just(most), most..most * 2));
    let durations = prop::collection::vec((range(1_000), range(500)), locks);
    (2..7_usize, durations, any::<u64>()).prop_map(move |(threads, durations, seed)| {
        let mut bits = seed;
        let mut between = |(least, most): (u64, u64)| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            least + (bits >> 33) % (most - least + 1)
        };
        let mut program = Program::new();
        for _ in 0..threads {
            let turns = (0..turns * locks).map(|turn| {
                let (think, hold) = durations[turn % locks];
                Turn {
                    think_ns: between(think),
                    lock: turn % locks,
                    hold_ns: between(hold),
                }
            });
            program.push(turns.collect());
        }
        program
    })
}

/// The program with lock 0 changed.
fn changed(program: &Program, change: LockChange) -> Program {
    changed_for(program, change, |_| true)
}

/// The same where the change only affects some threads.
fn changed_for(
    program: &Program,
    change: LockChange,
    is_affected: impl Fn(usize) -> bool,
) -> Program {
    let mut program = program.clone();
    let threads = program.iter_mut().enumerate();
    for (thread, turns) in threads.filter(|&(thread, _)| is_affected(thread)) {
        for (at, turn) in turns.iter_mut().enumerate().filter(|(_, it)| it.lock == 0) {
            match change {
                // Nobody else has this one.
                LockChange::Removed => turn.lock = 10 + thread,
                LockChange::Holds(factor) => {
                    turn.hold_ns = (turn.hold_ns as f64 * factor) as u64;
                }
                LockChange::Split(stripes) => {
                    let key = (thread * 7_919 + at * 104_729) ^ (at * at * 31);
                    turn.lock = match key % stripes as usize {
                        0 => 0,
                        stripe => 100 + stripe,
                    };
                }
                _ => {}
            }
        }
    }
    program
}

proptest! {
    #[test]
    fn changes_that_change_nothing_bring_nothing(program in programs(2, 12)) {
        let (waited_ns, script) = run(&program);
        for (lock, change) in [
            (0, LockChange::Holds(1.0)),
            (0, LockChange::Split(1)),
            (0, LockChange::Unfair),
            (7, LockChange::Removed),
        ] {
            let found = predict(&script, lock, change);
            prop_assert_eq!(found.before_ns, waited_ns);
            prop_assert_eq!(found.after_ns, waited_ns, "{}", change);
            let (least_ns, most_ns) = found.after_range_ns;
            prop_assert!((least_ns..=most_ns).contains(&waited_ns), "{:?}", found);
            for replay in &found.replays {
                prop_assert_eq!(replay.unchanged_ns, replay.changed_ns);
            }
        }
    }

    /// However long a program was stopped while threads waited, the same is predicted.
    #[test]
    fn a_freeze_makes_no_difference(
        program in programs(2, 8), at in any::<prop::sample::Index>(), duration_ns in 1..10_000_000_u64,
    ) {
        let (_, script) = run(&program);
        let times_ns = times_in_waits(&script);
        prop_assume!(!times_ns.is_empty());
        let begin_ns = times_ns[at.index(times_ns.len())];
        let stopped = frozen(&script, begin_ns, duration_ns);
        let freeze = SystemRecord::Freeze(Freeze {
            begin_ns,
            end_ns: begin_ns + duration_ns,
        });
        for change in [LockChange::Removed, LockChange::Holds(0.5), LockChange::Holds(0.0)] {
            let found = predict_frozen(&stopped, &[freeze], 0, change, |_| true);
            prop_assert_eq!(found, predict(&script, 0, change));
        }
    }

    /// Bounds and estimate are in order, whatever is changed, also by rules that contradict the trace.
    #[test]
    fn bounds_are_around_each_replay(program in programs(3, 8)) {
        let (_, script) = run(&program);
        for script in [with_half_of_begins(&script), script] {
            for change in [
                LockChange::Removed,
                LockChange::Holds(0.0),
                LockChange::Holds(3.5),
                LockChange::Split(3),
                LockChange::Fair,
                LockChange::Unfair,
                LockChange::ReadWrite,
            ] {
                let found = predict(&script, 0, change);
                check_bounds(&found)?;
                if change == LockChange::Removed {
                    let of_changed = found.locks.iter().filter(|lock| lock.is_changed);
                    for lock in of_changed {
                        prop_assert_eq!(lock.after_ns, (0, 0));
                    }
                }
            }
        }
    }
}

/// The trace of the same program, stopped at that time for that duration.
fn frozen(script: &str, begin_ns: u64, duration_ns: u64) -> String {
    let shifted = |time_ns: u64| match time_ns < begin_ns {
        true => time_ns,
        false => time_ns + duration_ns,
    };
    let lines = script.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let time_ns: u64 = words[0].parse().expect("a time");
        let words = words[1..]
            .iter()
            .map(|word| match word.strip_prefix("held:") {
                Some(held) => {
                    let since_ns = time_ns - held.parse::<u64>().expect("a duration");
                    format!(" held:{}", shifted(time_ns) - shifted(since_ns))
                }
                None => format!(" {word}"),
            });
        format!("{}{}\n", shifted(time_ns), words.collect::<String>())
    });
    lines.collect()
}

/// When some thread waits, and no event is.
fn times_in_waits(script: &str) -> Vec<u64> {
    let mut waiting = 0;
    let events = script.lines().map(|line| {
        let time_ns: u64 = line
            .split(' ')
            .next()
            .and_then(|it| it.parse().ok())
            .expect("a time");
        waiting += i32::from(line.contains(" enter ")) - i32::from(line.contains(" entered "));
        (time_ns, waiting)
    });
    let events: Vec<(u64, i32)> = events.collect();
    let times = events
        .windows(2)
        .filter(|it| it[0].1 > 0 && it[0].0 + 1 < it[1].0);
    times.map(|it| it[0].0.midpoint(it[1].0) + 1).collect()
}

/// The trace where only every other release reports when the hold began.
fn with_half_of_begins(script: &str) -> String {
    let mut releases = 0;
    let words = script.split_inclusive(' ').map(|word| {
        releases += usize::from(word.starts_with("held:"));
        match word.starts_with("held:") && releases % 2 == 0 {
            true => "held:long ",
            false => word,
        }
    });
    words.collect()
}

fn check_bounds(found: &Prediction) -> Result<(), TestCaseError> {
    let (least_ns, most_ns) = found.after_range_ns;
    prop_assert!(least_ns <= most_ns);
    for replay in &found.replays {
        prop_assert!(least_ns <= replay.changed_ns);
        let limit_ns = found.after_with_unseen_lock_ns.unwrap_or(u64::MAX);
        prop_assert!(replay.changed_ns.min(limit_ns) <= most_ns);
        prop_assert_eq!(replay.forced, 0, "locks are not nested");
    }
    Ok(())
}

/// The replay whose assumptions are those of the simulator.
fn first_comes_first(prediction: &Prediction) -> &Replay {
    let mut replays = prediction.replays.iter();
    let found =
        replays.find(|replay| !replay.assumptions.last_first && !replay.assumptions.assumed_holds);
    found.expect("one")
}

/// Where every acquisition waits, nothing is unknown: the replay finds what the program does.
#[test]
fn what_is_all_known_is_replayed_exactly() {
    let turn = |hold_ns| Turn {
        think_ns: 10,
        lock: 0,
        hold_ns,
    };
    let program: Program = (0..4).map(|at| vec![turn(400 + at); 50]).collect();
    let (waited_ns, script) = run(&program);
    let found = predict(&script, 0, LockChange::Holds(0.5));
    let first_comes_first = first_comes_first(&found);
    let off = |found_ns: u64, truth_ns: u64| (found_ns as f64 / truth_ns as f64 - 1.0).abs();
    assert!(off(first_comes_first.unchanged_ns, waited_ns) < 0.01);
    let (truth_ns, _) = run(&changed(&program, LockChange::Holds(0.5)));
    assert!(off(first_comes_first.changed_ns, truth_ns) < 0.01);
}

/// Half of the threads release the lock elsewhere than the others, and only their holds get shorter.
#[test]
fn holds_of_some_code_get_shorter() {
    let turn = |hold_ns| Turn {
        think_ns: 10,
        lock: 0,
        hold_ns,
    };
    let program: Program = (0..4).map(|at| vec![turn(400 + 50 * at); 50]).collect();
    let (waited_ns, script) = run(&program);
    let change = LockChange::Holds(0.0);
    let found = predict_for(&script, 0, change, |method| {
        method.is_some_and(|method| method.ends_with('c'))
    });
    let (truth_ns, _) = run(&changed_for(&program, change, |thread| code(thread) == "c"));
    assert!(truth_ns < waited_ns * 3 / 4 && truth_ns > waited_ns / 4);
    let replayed_ns = first_comes_first(&found).changed_ns;
    let off = (replayed_ns as f64 / truth_ns as f64 - 1.0).abs();
    assert!(off < 0.01, "{replayed_ns} for {truth_ns}");
    let of_none = predict_for(&script, 0, change, |_| false);
    assert_eq!(of_none.after_ns, waited_ns);
}

/// Random programs are really run with the change. The bounds allow for chance: so a few may be outside.
#[test]
fn programs_that_are_changed_wait_as_predicted() {
    const PROGRAMS: usize = 150;
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for change in [
        LockChange::Removed,
        LockChange::Holds(0.5),
        LockChange::Holds(2.0),
        LockChange::Split(4),
    ] {
        let (mut outside, mut width, mut off) = (Vec::new(), 0.0, 0.0);
        let (mut programs_seen, mut beyond) = (0, 0);
        for _ in 0..PROGRAMS {
            let tree = programs(2, 100).new_tree(&mut runner).expect("a program");
            let program = proptest::strategy::ValueTree::current(&tree);
            let (before_ns, script) = run(&program);
            if before_ns == 0 {
                continue;
            }
            let (after_ns, _) = run(&changed(&program, change));
            let found = predict(&script, 0, change);
            let (least_ns, most_ns) = found.after_range_ns;
            // A lock that nobody waited for is not in the trace, which the note is about.
            if found.locks.len() < 2 {
                let limit_ns = found.after_with_unseen_lock_ns.unwrap_or(u64::MAX);
                beyond += usize::from(after_ns > limit_ns);
                continue;
            }
            programs_seen += 1;
            width += (most_ns - least_ns) as f64 / before_ns as f64;
            off += (found.after_ns as f64 - after_ns as f64).abs() / before_ns as f64;
            if !(least_ns..=most_ns).contains(&after_ns) {
                outside.push((before_ns, after_ns, least_ns, most_ns, program.len()));
            }
        }
        let mean = |sum: f64| sum / programs_seen as f64 * 100.0;
        println!(
            "{change}: {} of {programs_seen} outside, {beyond} beyond the note; bounds {:.1} % wide, estimate {:.1} % off: {outside:?}",
            outside.len(),
            mean(width),
            mean(off),
        );
        assert!(programs_seen >= PROGRAMS / 2, "{change}");
        assert!(outside.len() <= programs_seen / 10, "{change}: {outside:?}");
        assert!(beyond <= PROGRAMS / 10, "{change}");
    }
}

/// Two threads take two locks one after the other, in opposite order, and nobody knows when the
/// second hold of each began. Without a third lock they do so at the same time. If the second hold
/// were assumed to begin in the first one, they would wait for each other.
#[test]
fn a_hold_does_not_begin_in_one_that_ends_before_it() {
    let script = "
        10 T1 enter b on L1
        150 T3 enter b on L2
        200 T0 exit a held:100 on L2
        200 T3 entered on L2
        250 T4 enter b on L3
        290 T0 exit a held:long on L3
        290 T4 entered on L3
        1000 T2 exit a held:1000 on L1
        1000 T1 entered on L1
        1140 T5 enter b on L3
        1190 T1 exit a held:100 on L3
        1190 T5 entered on L3
        1240 T6 enter b on L2
        1280 T1 exit a held:long on L2
        1280 T6 entered on L2";
    let found = predict(script, 0, LockChange::Removed);
    assert!(
        found.replays.iter().all(|replay| replay.forced == 0),
        "{found:?}"
    );
}

/// A thread waits for a lock, releases it unnoticed, and soon acquires it again, within another
/// one: as the other thread always does. Were both one hold, they would wait for each other once
/// they meet.
#[test]
fn a_hold_that_begins_in_another_one_is_not_what_was_waited_for_before() {
    let script = "
        10 T1 enter b on L1
        40 T0 enter b on L2
        60 T7 exit a held:60 on L2
        60 T0 entered on L2
        250 T3 enter b on L2
        250 T4 enter b on L3
        290 T0 exit a held:80 on L2
        290 T3 entered on L2
        300 T0 exit a held:200 on L3
        300 T4 entered on L3
        1000 T2 exit a held:1000 on L1
        1000 T1 entered on L1
        1180 T6 enter b on L2
        1200 T1 exit a held:50 on L2
        1200 T6 entered on L2
        1250 T5 enter b on L3
        1300 T1 exit a held:220 on L3
        1300 T5 entered on L3";
    let found = predict(script, 0, LockChange::Removed);
    assert!(
        found.replays.iter().all(|replay| replay.forced == 0),
        "{found:?}"
    );
}

#[test]
fn nobody_waits_and_nothing_is_predicted() {
    let found = predict("", 0, LockChange::Removed);
    assert_eq!((found.before_ns, found.after_ns), (0, 0));
}
