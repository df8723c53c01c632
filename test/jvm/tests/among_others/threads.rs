//! Threads that attach, change their names, and run code that is unloaded.

use std::collections::{BTreeMap, BTreeSet};

use jvm_tests::{
    analyze, check_chain, check_program, check_sound, for_each_event, for_each_segment, report,
    waits_on,
};
use trace_format::{Counter, Event};

#[test]
fn native_threads_attach_and_detach() {
    check_program(&["scenarios.Attached"], &[], |mode, run| {
        let waits = waits_on(&run.trace(), "scenarios.Attached");
        let blocked: Vec<_> = waits
            .iter()
            .map(|wait| (wait.thread(), wait.longest_part().owner_name()))
            .collect();
        let expected = [
            ("native-waiter", Some("main")),
            ("waiter", Some("native-owner")),
            ("waiter", Some("native-leaver")),
        ];
        assert_eq!(blocked, expected);

        let native_waiter = &waits[0];
        assert!(native_waiter.common().chain.is_empty(), "{native_waiter}");
        let block = [
            ("scenarios.Attached.block", "-"),
            ("scenarios.Attached.main", "-"),
        ];
        check_chain(&block, native_waiter.longest_part().owner_frames(), mode);
        for wait in &waits[1..] {
            assert!(wait.longest_part().owner_frames().is_empty(), "{wait}");
        }
    });
}

#[test]
fn renamed() {
    check_program(&["scenarios.Renamed"], &[], |_, run| {
        let waits = waits_on(&run.trace(), "scenarios.Renamed");
        assert_eq!(waits.len(), 3, "{waits:#?}");
        let ids: BTreeSet<_> = waits.iter().map(|wait| wait.common().thread.id).collect();
        assert_eq!(ids.len(), 1, "one thread: {waits:#?}");
        assert_eq!(waits[2].thread(), "renamed by another");

        let report = report(&run.trace(), "lock-class,thread");
        let threads = &report.node("scenarios.Renamed").children;
        assert_eq!(threads.len(), 1, "one thread: {threads:#?}");
        let label = &threads[0].label;
        assert!(label.contains("renamed by another"), "{label}");
    });
}

/// Names stand before the events under them, as the program says, whichever thread gives them; the
/// last ones hold, nothing is lost, and nobody's buffer is taken for a name.
#[test]
fn renamed_as_fast_as_can_be() {
    const JOBS: usize = 100;
    let program = ["scenarios.Renames", &JOBS.to_string(), "200", "1500"];
    check_program(&program, &["-Xss256k"], |_, run| {
        let number = |word: &str| word.parse::<u64>().expect("a number");
        let names_of = |word| {
            let lines = run.lines_of(word);
            let names = lines.map(|words| (number(words[0]), words[1].to_owned()));
            names.collect::<Vec<_>>()
        };
        let jobs = names_of("job");
        assert_eq!(jobs.len(), JOBS);
        let worker_id = jobs[0].0;

        let (mut lock_class, mut lock_classes, mut worker) = (None, BTreeMap::new(), None);
        for_each_event(&run.trace(), |thread, event| match event {
            Event::Class(class) if class.name == "scenarios.Renames" => {
                lock_class = Some(class.class);
            }
            Event::LockDescription(lock) => {
                lock_classes.insert(lock.lock, lock.class);
            }
            Event::ThreadStart(start) if start.java_id.0 == worker_id => worker = Some(thread),
            _ => {}
        });
        assert!(lock_class.is_some() && worker.is_some());

        let mut last_names = BTreeMap::new();
        let (mut names, mut waited) = (0, Vec::new());
        for_each_event(&run.trace(), |thread, event| match event {
            Event::ThreadRename(rename) => {
                names += 1;
                last_names.insert(rename.java_id.0, rename.name.to_owned());
            }
            Event::ContendedEnter(enter)
                if Some(thread) == worker
                    && lock_classes.get(&enter.lock).copied() == lock_class =>
            {
                waited.extend(last_names.get(&worker_id).cloned());
            }
            _ => {}
        });
        let expected: Vec<_> = jobs.into_iter().map(|(_, name)| name).collect();
        assert_eq!(waited, expected);
        for (id, name) in names_of("last") {
            assert_eq!(last_names.get(&id), Some(&name), "{id}");
        }

        let summary = analyze(&run.trace(), |_, _| {}).unwrap_or_else(|error| panic!("{error}"));
        check_sound(&summary);
        let given = number(run.lines_of("renames").next().expect("the program counts")[0]);
        assert!(
            names < given / 2,
            "{names} of {given} names are in the trace"
        );
        let reclaims = summary.tracer_value(Counter::Reclaims).expect("counted");
        assert!(
            reclaims < given / 10,
            "{reclaims} reclaims for {given} names"
        );
    });
}

#[test]
fn unloaded_classes() {
    check_program(&["scenarios.Unloading"], &[], |mode, run| {
        let unloaded = run.lines_of("unloaded").next().expect("the program counts");
        let unloaded: usize = unloaded[0].parse().expect("a count");
        assert!(unloaded > 20, "only {unloaded} of 30 classes unloaded");

        let waits = waits_on(&run.trace(), "scenarios.Plugin");
        assert_eq!(waits.len(), 30);
        for wait in waits {
            let owner_frames = wait.longest_part().owner_frames();
            let innermost = owner_frames.get(..1).unwrap_or_default();
            check_chain(
                &[("scenarios.Plugin.accept", "leave|enter")],
                innermost,
                mode,
            );
        }
    });
}

/// One collection unloads thousands of loaders: the buffers of all threads are taken
/// once, only loaders that the trace has named end in it, and they do so in one buffer.
#[test]
fn thousands_of_loaders_unloaded_at_once() {
    const ANONYMOUS: usize = 3_000;
    const PLUGINS: usize = 10;
    let program = [
        "scenarios.AnonymousClasses",
        &ANONYMOUS.to_string(),
        &PLUGINS.to_string(),
    ];
    check_program(&program, &[], |_, run| {
        let count_of = |word| {
            let words = run.lines_of(word).next().expect("the program counts");
            words[0].parse::<usize>().expect("a count")
        };
        assert!(count_of("unloaded") >= ANONYMOUS + PLUGINS);

        let mut loaders = BTreeSet::new();
        let mut buffers_with_ends = 0;
        let mut ended = BTreeSet::new();
        for_each_segment(&run.trace(), |segment| {
            let ended_before = ended.len();
            for event in segment.events() {
                match event.expect("the trace is sound") {
                    Event::Class(class) if class.name == "scenarios.Plugin" => {
                        loaders.insert(class.loader);
                    }
                    Event::LoaderUnload(end) => {
                        assert!(ended.insert(end.loader), "{:?} ends twice", end.loader);
                    }
                    _ => {}
                }
            }
            buffers_with_ends += usize::from(ended.len() > ended_before);
        });
        assert_eq!((ended.len(), ended), (PLUGINS, loaders));
        assert_eq!(buffers_with_ends, 1);

        let summary = analyze(&run.trace(), |_, _| {}).unwrap_or_else(|error| panic!("{error}"));
        let reclaims = summary.tracer_value(Counter::Reclaims).expect("counted");
        // The drainer's, of which there are ten in a second while much is described, at
        // safepoints of collections, and at the end: not one for each of the thousands of loaders.
        let expected = summary.duration_ns / 100_000_000 + count_of("safepoints") as u64 + 10;
        assert!(
            expected < (ANONYMOUS + PLUGINS) as u64,
            "the bound says nothing"
        );
        assert!(reclaims <= expected, "{reclaims} reclaims, not {expected}");
    });
}
