//! Predictions from the traces of simulated programs, against the same programs with the change.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use trace_analysis::{
    Analysis, ChainIndex, Detail, Effect, Limits, LockChange, LockIndex, Prediction, Question,
    Replay, UnseenHolds, WhatIf,
};
use trace_format::file::VERSION;
use trace_format::{Capabilities, Event, Freeze, SystemRecord, ThreadId};

use crate::{park, script};
use simulator::{Busy, Program, Run, Turn, code, run};

mod readers;
mod simulator;

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
    let mut events = script::metadata_events();
    events.extend(script::parse(script));
    let name = format!("{:x}@Lock", lock + 1);
    predict_events(&events, freezes, |id| id == name, change, is_affected)
}

/// What the change of a lock of a trace would bring, that is known by its identifier.
fn predict_events(
    events: &[(ThreadId, Event<'static>)],
    freezes: &[SystemRecord],
    is_changed: impl Fn(&str) -> bool,
    change: LockChange,
    is_affected: impl Fn(Option<&str>) -> bool,
) -> Prediction {
    let mut what_if = WhatIf::default();
    let mut analysis = Analysis::new(Limits::default()).with_detail(Detail::CONTENTIONS);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::HOLDS);
    script::take_system(&mut trace, freezes, &mut what_if);
    for (thread, event) in events {
        trace.event(*thread, event, &mut what_if);
    }
    trace.finish(&mut what_if);
    let entities = analysis.entities();
    what_if.predict(&Question {
        change,
        is_changed: |lock: LockIndex| is_changed(&entities.lock_id(lock)),
        is_affected: |chain: Option<ChainIndex>, _| {
            let frame = chain.and_then(|chain| entities.chain(chain).frames().last());
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
                    inner: None,
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
        let mut moved_ns = 0;
        for turn in turns.iter_mut().filter(|_| change == LockChange::MovedOut) {
            turn.think_ns += std::mem::take(&mut moved_ns);
            if turn.lock == 0 {
                moved_ns = std::mem::take(&mut turn.hold_ns);
            }
        }
        for (at, turn) in turns.iter_mut().enumerate().filter(|(_, it)| it.lock == 0) {
            match change {
                // Nobody else has this one.
                LockChange::Removed => turn.lock = 10 + thread,
                LockChange::Holds(factor) => {
                    turn.hold_ns = (turn.hold_ns as f64 * factor) as u64;
                    if let Some((_, hold_ns)) = &mut turn.inner {
                        *hold_ns = (*hold_ns as f64 * factor) as u64;
                    }
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
        let Run {
            waited_ns, script, ..
        } = run(&program);
        for (lock, change) in [
            (0, LockChange::Holds(1.0)),
            (0, LockChange::Split(1)),
            (0, LockChange::Unfair),
            (7, LockChange::Removed),
        ] {
            let found = predict(&script, lock, change);
            prop_assert_eq!(found.before_ns, waited_ns);
            let effect = effect(&found)?;
            prop_assert_eq!(effect.after_ns, waited_ns, "{}", change);
            let (least_ns, most_ns) = effect.after_range_ns;
            prop_assert!((least_ns..=most_ns).contains(&waited_ns), "{:?}", found);
            let (least, most) = effect.speedup.range;
            prop_assert!((effect.speedup.factor - 1.0).abs() < 1e-9, "{:?}", found);
            prop_assert!(least <= 1.0 && most >= 1.0, "{:?}", found);
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
        let script = run(&program).script;
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
        let script = run(&program).script;
        for script in [with_half_of_begins(&script), script] {
            for change in [
                LockChange::Removed,
                LockChange::Holds(0.0),
                LockChange::Holds(3.5),
                LockChange::MovedOut,
                LockChange::Split(3),
                LockChange::Fair,
                LockChange::Unfair,
                LockChange::ReadWrite,
            ] {
                let found = predict(&script, 0, change);
                check_bounds(&found)?;
                if change == LockChange::Removed && found.effect.is_ok() {
                    let of_changed = found.locks.iter().filter(|lock| lock.is_changed);
                    for lock in of_changed {
                        prop_assert_eq!(lock.after_ns, Some((0, 0)));
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
    let Ok(effect) = found.effect else {
        prop_assert!(found.replays.iter().all(|replay| !replay.is_reliable));
        return Ok(());
    };
    let (least_ns, most_ns) = effect.after_range_ns;
    prop_assert!(least_ns <= most_ns);
    let (least, most) = effect.speedup.range;
    prop_assert!(least > 0.0 && least <= effect.speedup.factor && effect.speedup.factor <= most);
    for replay in found.replays.iter().filter(|replay| replay.is_reliable) {
        prop_assert!(least_ns <= replay.changed_ns);
        let limit_ns = effect.after_with_unseen_lock_ns.unwrap_or(u64::MAX);
        prop_assert!(replay.changed_ns.min(limit_ns) <= most_ns);
        prop_assert!(least <= replay.speedup && replay.speedup <= most);
        prop_assert_eq!(replay.forced, 0, "locks are not nested");
    }
    Ok(())
}

/// What is predicted.
fn effect(found: &Prediction) -> Result<Effect, TestCaseError> {
    (found.effect).map_err(|reason| TestCaseError::fail(format!("{reason:?}: {found:?}")))
}

/// The replay whose assumptions are those of the simulator.
fn as_simulated(prediction: &Prediction) -> &Replay {
    let mut replays = prediction.replays.iter();
    let found = replays.find(|replay| {
        !replay.assumptions.by_arrival && replay.assumptions.unseen_holds == UnseenHolds::None
    });
    found.expect("one")
}

/// Where every acquisition waits, nothing is unknown: the replay finds what the program does.
#[test]
fn what_is_all_known_is_replayed_exactly() {
    let turn = |hold_ns| Turn {
        think_ns: 10,
        lock: 0,
        hold_ns,
        inner: None,
    };
    let program: Program = (0..4).map(|at| vec![turn(400 + at); 50]).collect();
    let Run {
        waited_ns, script, ..
    } = run(&program);
    let found = predict(&script, 0, LockChange::Holds(0.5));
    let as_simulated = as_simulated(&found);
    let off = |found_ns: u64, truth_ns: u64| (found_ns as f64 / truth_ns as f64 - 1.0).abs();
    assert!(off(as_simulated.unchanged_ns, waited_ns) < 0.01);
    let truth_ns = run(&changed(&program, LockChange::Holds(0.5))).waited_ns;
    assert!(off(as_simulated.changed_ns, truth_ns) < 0.01);
}

/// Half of the threads release the lock elsewhere than the others, and only their holds get shorter.
#[test]
fn holds_of_some_code_get_shorter() {
    // No two of them come at the same time.
    let turn = |thread| Turn {
        think_ns: 10 + thread,
        lock: 0,
        hold_ns: 400 + 50 * thread,
        inner: None,
    };
    let program: Program = (0..4_u64).map(|thread| vec![turn(thread); 50]).collect();
    let Run {
        waited_ns, script, ..
    } = run(&program);
    let change = LockChange::Holds(0.0);
    let found = predict_for(&script, 0, change, |method| {
        method.is_some_and(|method| method.ends_with('c'))
    });
    let truth_ns = run(&changed_for(&program, change, |thread| code(thread) == "c")).waited_ns;
    assert!(truth_ns < waited_ns * 3 / 4 && truth_ns > waited_ns / 4);
    let replayed_ns = as_simulated(&found).changed_ns;
    let off = (replayed_ns as f64 / truth_ns as f64 - 1.0).abs();
    assert!(off < 0.01, "{replayed_ns} for {truth_ns}");
    let of_none = predict_for(&script, 0, change, |_| false);
    assert_eq!(of_none.effect.expect("a prediction").after_ns, waited_ns);
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Compares what was predicted with what was measured, over many programs.
#[derive(Default)]
struct Tally {
    programs: usize,
    unreliable: usize,
    /// Measured, predicted, and the bounds.
    outside: Vec<[f64; 4]>,
    /// The half of what is between the bounds, and how far off the estimate is, as shares.
    widths: Vec<f64>,
    off: Vec<f64>,
}

impl Tally {
    fn add(&mut self, before: &[Busy], after: &[Busy], found: &Prediction) {
        self.programs += 1;
        let Ok(Effect { speedup, .. }) = found.effect else {
            self.unreliable += 1;
            return;
        };
        let share = |it: &Busy| it.waited_ns as f64 / it.done_ns as f64;
        let sum = |of: &[Busy]| -> f64 {
            let each = before.iter().zip(of);
            each.map(|(before, it)| share(before) * it.done_ns as f64)
                .sum()
        };
        let measured = sum(before) / sum(after);
        let (least, most) = speedup.range;
        if !(least..=most).contains(&measured) {
            self.outside.push([measured, speedup.factor, least, most]);
        }
        self.widths.push((most - least) / 2.0 / speedup.factor);
        self.off.push((speedup.factor / measured - 1.0).abs());
    }

    fn append(&mut self, mut other: Self) {
        self.programs += other.programs;
        self.unreliable += other.unreliable;
        self.outside.append(&mut other.outside);
        self.widths.append(&mut other.widths);
        self.off.append(&mut other.off);
    }

    /// At most this share is outside, and the bounds say something.
    fn check(mut self, name: &str, outside: f64) {
        let (width, off) = (median(&mut self.widths), median(&mut self.off));
        println!(
            "{name}: {} of {} outside, {} unreliable; bounds ±{:.1} %, estimate {:.1} % off: {:.3?}",
            self.outside.len(),
            self.programs,
            self.unreliable,
            width * 100.0,
            off * 100.0,
            self.outside,
        );
        let programs = self.programs as f64;
        assert!(programs > 0.0, "{name}");
        assert!(self.outside.len() as f64 <= outside * programs, "{name}");
        assert!(self.unreliable as f64 <= 0.1 * programs, "{name}");
        assert!(width < 0.25 && off < 0.05, "{name}");
    }
}

/// A runner with the same random numbers each time.
fn runner() -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// Where locks nest, the trace shows only the nestings for which a thread waited.
const NESTED_OUTSIDE: f64 = 0.02;

/// Random programs are really run with the change: it is done sooner by a factor that is within the bounds in 99
/// of 100; where locks nest, in 98.
#[test]
fn programs_that_are_changed_are_done_as_predicted() {
    const PROGRAMS: usize = 300;
    let mut runner = runner();
    for (nested, outside) in [(false, 0.01), (true, NESTED_OUTSIDE)] {
        let mut all = Tally::default();
        for change in [
            LockChange::Removed,
            LockChange::Holds(0.5),
            LockChange::Holds(0.0),
            LockChange::MovedOut,
            LockChange::Split(4),
        ] {
            // What is nested is moved out as well, which the programs do not do.
            if nested && change == LockChange::MovedOut {
                continue;
            }
            let mut tally = Tally::default();
            for _ in 0..PROGRAMS {
                let tree = programs(2, 100).new_tree(&mut runner).expect("a program");
                let mut program = proptest::strategy::ValueTree::current(&tree);
                if nested {
                    program = with_nested(&program);
                }
                let before = run(&program);
                let found = predict(&before.script, 0, change);
                // A lock that nobody waited for is not in the trace, which the note is about.
                if found.locks.iter().any(|lock| lock.is_changed) && found.locks.len() >= 2 {
                    let after = run(&changed(&program, change));
                    tally.add(&before.threads, &after.threads, &found);
                }
            }
            all.append(tally);
        }
        all.check(&format!("nested: {nested}"), outside);
    }
}

/// Half of the threads take lock 1 while they hold lock 0.
fn with_nested(program: &Program) -> Program {
    let mut program = program.clone();
    for turns in program.iter_mut().step_by(2) {
        for turn in turns.iter_mut().filter(|turn| turn.lock == 0) {
            turn.inner = Some((1, turn.hold_ns / 2));
        }
    }
    program
}

/// How long threads wait is within the bounds, too, but for one in eight: which of them a monitor lets wait is chance, and
/// holds that get longer are waited for where nobody noticed them before.
#[test]
fn programs_that_are_changed_wait_as_predicted() {
    const PROGRAMS: usize = 150;
    let mut runner = runner();
    for change in [
        LockChange::Removed,
        LockChange::Holds(0.5),
        LockChange::Holds(2.0),
        LockChange::Split(4),
    ] {
        let (mut outside, mut seen, mut beyond) = (Vec::new(), 0, 0);
        for _ in 0..PROGRAMS {
            let tree = programs(2, 100).new_tree(&mut runner).expect("a program");
            let program = proptest::strategy::ValueTree::current(&tree);
            let before = run(&program);
            let after_ns = run(&changed(&program, change)).waited_ns;
            let found = predict(&before.script, 0, change);
            let Ok(effect) = found.effect else {
                continue;
            };
            // A lock that nobody waited for is not in the trace, which the note is about.
            if found.locks.len() < 2 {
                let limit_ns = effect.after_with_unseen_lock_ns.unwrap_or(u64::MAX);
                beyond += usize::from(before.waited_ns > 0 && after_ns > limit_ns);
                continue;
            }
            seen += 1;
            let (least_ns, most_ns) = effect.after_range_ns;
            if !(least_ns..=most_ns).contains(&after_ns) {
                outside.push((before.waited_ns, after_ns, least_ns, most_ns));
            }
        }
        assert!(seen >= PROGRAMS / 2, "{change}");
        assert!(
            outside.len() <= seen / 8,
            "{change}: {} of {seen}: {outside:?}",
            outside.len()
        );
        assert!(beyond <= PROGRAMS / 10, "{change}");
    }
}

/// Of a trace with too many waits, slices of all of its time are replayed, and they say what all of it does.
#[test]
fn slices_of_a_large_trace_are_replayed() {
    let mut bits = 1_u64;
    let mut about = |ns: u64| {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ns / 2 + (bits >> 33) % ns
    };
    let turns = |about: &mut dyn FnMut(u64) -> u64| {
        let turns = (0..20_000).map(|_| Turn {
            think_ns: about(100_000),
            lock: 0,
            hold_ns: about(60_000),
            inner: None,
        });
        turns.collect::<Vec<_>>()
    };
    let program: Program = (0..5).map(|_| turns(&mut about)).collect();
    let before = run(&program);
    let change = LockChange::Holds(0.5);
    let found = predict(&before.script, 0, change);
    assert_eq!(found.before_ns, before.waited_ns);
    assert_eq!(found.waits, before.script.matches(" enter ").count() as u64);
    assert!(
        (0.1..0.9).contains(&found.replayed_share),
        "{}",
        found.replayed_share
    );
    let mut tally = Tally::default();
    tally.add(
        &before.threads,
        &run(&changed(&program, change)).threads,
        &found,
    );
    tally.check("slices", 0.0);
}

/// Threads take turns with two permits: those that `have` them give them to those that `wait`, which have waited
/// in `acquires` on an object of a class, in `releases`.
fn lent(
    class: &str,
    acquires: &str,
    releases: &str,
    (mut have, mut wait): (Vec<u64>, Vec<u64>),
) -> Vec<(ThreadId, Event<'static>)> {
    const HOLD_NS: u64 = 1_000_000;
    let mut script = format!("{class}\n");
    let mut time_ns = 0;
    for thread in &wait {
        time_ns += 1_000;
        writeln!(script, "{time_ns} T{thread} park {acquires}").expect("text");
    }
    for _ in 0..100 {
        for (last, next) in have.iter().zip(&wait) {
            time_ns += HOLD_NS / have.len() as u64;
            writeln!(script, "{time_ns} T{last} unpark T{next} {releases}").expect("text");
            writeln!(script, "{} T{next} woken", time_ns + 100).expect("text");
            writeln!(script, "{} T{last} park {acquires}", time_ns + 10_000).expect("text");
        }
        (have, wait) = (wait, have);
    }
    let mut events = park::script::metadata_events();
    events.splice(0..0, script::metadata_events());
    events.extend(park::script::parse(&script));
    events
}

/// Four threads share two permits, or what a pool lends, and four of them would not wait any more.
#[test]
fn more_permits_let_more_threads_go_on() {
    for (class, acquires, releases) in [
        ("Semaphore", "share/b", "unshare/b"),
        ("Condition", "await/b", "unlock/a"),
    ] {
        let events = lent(class, acquires, releases, (vec![1, 2], vec![3, 4]));
        let factor = |permits| {
            let change = LockChange::Permits(permits);
            let found = predict_events(&events, &[], |_| true, change, |_| true);
            found.effect.expect("a prediction").speedup.factor
        };
        assert!((factor(2) - 1.0).abs() < 0.02, "{class} {}", factor(2));
        assert!((1.8..2.1).contains(&factor(4)), "{class} {}", factor(4));
    }
}

/// Two threads that take turns share no pool: neither can do anything before the other has.
#[test]
fn threads_that_take_turns_share_no_pool() {
    let events = lent("Condition", "await/b", "unlock/a", (vec![1], vec![2]));
    let found = predict_events(&events, &[], |_| true, LockChange::Permits(2), |_| true);
    assert_eq!(found.waits, 0);
    assert_eq!(found.locks, []);
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
    let effect = found.effect.expect("nothing is off");
    assert_eq!((found.before_ns, effect.after_ns), (0, 0));
    assert_eq!(effect.speedup.factor, 1.0);
}
