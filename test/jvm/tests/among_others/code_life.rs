//! The life of the code in call chains: loaded, compiled, redefined and
//! unloaded; and chains too long to be recorded whole.

use std::path::Path;

use jvm_tests::{
    CompileMode, Frame, Programs, analyze, check_program, check_sound, is_nightly, java_compiler,
    line_of, redefinition_agent, run_to_success, scratch_directory, source_directory, waits,
    waits_on,
};
use trace_analysis::{Chain, ChainIndex, Entities, Owner};

/// Other classes lie where a class was, and other methods have its methods'
/// code: names in the trace stay right.
#[test]
fn unloading_under_memory_pressure() {
    let rounds = if is_nightly() { "500" } else { "30" };
    let program = ["scenarios.MemoryPressure", rounds];
    check_program(&program, &["-Xmx16m"], |_, run| {
        let unloaded = run.lines_of("unloaded").next().expect("the program counts");
        let unloaded: usize = unloaded[0].parse().expect("a count");
        assert!(unloaded > 20, "only {unloaded} classes unloaded");

        let mut waits = waits(&run.trace());
        waits.retain(|wait| wait.common().lock_class.starts_with("scenarios.P0"));
        let locks: Vec<_> = run.lines_of("lock").collect();
        let counts = [waits.len(), locks.len()].map(|count| count.to_string());
        assert_eq!(counts, [rounds, rounds]);
        for (wait, lock) in waits.iter().zip(locks) {
            let [class, hash] = lock[..] else {
                panic!("not a lock: {lock:?}");
            };
            assert_eq!(wait.common().lock_id, format!("{hash}@{class}"));
            let accept = format!("{class}.accept");
            let lines = ["enter", "leave"].map(|name| line_of("scenarios.Plugin", name));
            check_innermost(&accept, &lines, &wait.common().chain);
            check_innermost(&accept, &lines, wait.longest_part().owner_frames());
        }
    });
}

/// Methods that were redefined while they were on the stack keep their lines.
#[test]
fn redefinition() {
    let directory = scratch_directory("redefinition");
    let other = other_version(directory.path());
    let agent = redefinition_agent(directory.path());
    check_program(&["scenarios.Redefinition"], &[&agent, &other], |_, run| {
        let waits = waits_on(&run.trace(), "scenarios.Redefined");
        let versions: Vec<_> = run.lines_of("version").collect();
        assert_eq!((waits.len(), versions.len()), (12, 12));
        for (wait, version) in waits.iter().zip(versions) {
            // The version's source, below those of the other scenarios.
            let source = match version[0] {
                "0" => "scenarios.Redefined",
                _ => "scenarios.redefined/Redefined",
            };
            let waiter = [line_of(source, "wanted")];
            check_innermost("scenarios.Redefined.pass", &waiter, &wait.common().chain);
            let owner = ["enter", "leave"].map(|name| line_of(source, name));
            let owner_frames = wait.longest_part().owner_frames();
            check_innermost("scenarios.Redefined.hold", &owner, owner_frames);
        }
    });
}

/// Compiles the other version; returns the property that names it.
fn other_version(directory: &Path) -> String {
    let mut compiler = java_compiler(directory);
    compiler.arg("-cp").arg(Programs::compiled().classes());
    compiler.arg(source_directory().join("scenarios/redefined/Redefined.java"));
    run_to_success(&mut compiler);
    let class = directory.join("scenarios/Redefined.class");
    format!("-Dscenarios.redefined={}", class.display())
}

fn check_innermost(method: &str, lines: &[i32], chain: &[Frame]) {
    let frame = chain.first().expect("the call chain is known");
    assert_eq!(frame.name(), method);
    let line = frame.line.unwrap_or_default();
    assert!(lines.contains(&line), "{frame} is not at {lines:?}");
}

/// `LockTraceStackWalk::max_frames`: how many frames of the stack are recorded.
/// The methods inlined into one frame count as one.
const MAX_FRAMES: usize = 1_024;

#[test]
fn a_thousand_frames() {
    check_deep_stack(1_000);
}

/// The chain lacks its outermost frames and says so. The compilers inline a
/// recursion once, so even their frames are more than are recorded.
#[test]
fn more_frames_than_are_recorded() {
    check_deep_stack(3 * MAX_FRAMES);
}

fn check_deep_stack(depth: usize) {
    let program = ["scenarios.DeepStack", &depth.to_string()];
    check_program(&program, &[], |mode, run| {
        let mut waits = 0;
        let summary = analyze(&run.trace(), |wait, entities| {
            let class = entities.lock_class(wait.lock);
            if class.map(|class| entities.class_name(class)) != Some("scenarios.DeepStack") {
                return;
            }
            waits += 1;
            check_deep_chain("want", depth, mode, wait.chain, entities);
            for contention in &wait.contentions {
                if let Owner::Thread { chain, .. } = contention.owner {
                    check_deep_chain("own", depth, mode, chain, entities);
                }
            }
        });
        check_sound(&summary.unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(waits, 5);
    });
}

/// The chain of a thread on the ground of `DeepStack`, which `method` is.
fn check_deep_chain(
    method: &str,
    depth: usize,
    mode: CompileMode,
    chain: ChainIndex,
    entities: &Entities,
) {
    let Chain::Known { frames, truncated } = entities.chain(chain) else {
        panic!("not known: {:?}", entities.chain(chain));
    };
    let line = |name| line_of("scenarios.DeepStack", name);
    let ground = match method {
        "own" => vec![line("enter"), line("leave")],
        _ => vec![line("wanted")],
    };
    let mut expected = vec![(method, ground), ("descend", vec![line(method)])];
    expected.resize(depth + 1, ("descend", vec![line("deeper")]));
    expected.push(("run", vec![line("dive")]));

    if mode == CompileMode::Interpreter {
        assert_eq!(frames.len(), expected.len().min(MAX_FRAMES));
    }
    assert!(frames.len() >= expected.len().min(MAX_FRAMES));
    assert_eq!(frames.len() < expected.len(), depth > MAX_FRAMES);
    assert_eq!(*truncated, frames.len() < expected.len());
    for (frame, (method, lines)) in frames.iter().zip(expected) {
        assert_eq!(&*entities.method(frame.method).name, method);
        assert!(lines.contains(&frame.line), "{method}: line {}", frame.line);
    }
}
