//! Findings name the known causes.

use trace_model::{Finding, Limits, WaitOrder, WaitSelection, WaitsQuery};

use crate::support::{demo, load, traces, without_parts};

fn findings(path: &std::path::Path, limits: Limits) -> Vec<Finding> {
    load(path, limits).findings()
}

/// Workers wait for the audit log, which one of them writes, and for the ledger, which is formatted
/// under its lock.
#[test]
fn the_demo_has_two_causes() {
    let folded = Limits {
        waits: 100,
        shares: 300,
        ..without_parts()
    };
    for limits in [Limits::default(), without_parts(), folded] {
        let found = findings(&demo(), limits);
        let owners: Vec<&str> = found
            .iter()
            .map(|finding| {
                finding
                    .owner
                    .as_ref()
                    .map_or("", |owner| owner.label.as_str())
            })
            .collect();
        assert_eq!(
            owners,
            ["demo.AuditLog.append", "demo.Ledger.formatStatement"]
        );
        assert!(found.iter().all(|finding| finding.pattern == "long-hold"));
        assert_eq!(found[1].lock_class.key, "java.util.Hashtable");
        assert_eq!(found[1].waiters[0].code.label, "java.util.Hashtable.merge");
        let frame = &found[1].owner.as_ref().unwrap().frame;
        assert!(
            frame.starts_with("demo.Ledger.formatStatement(Ledger.java:"),
            "{frame}"
        );
        assert!(found[0].share > found[1].share);
        assert!(found[0].mean_waiters > 1.0 && found[0].wall_share <= 1.0);
    }
}

/// The first finding is the cause that the source code shows: code that holds the lock during all of
/// its work, or is called very often, or threads that take turns.
#[test]
fn the_known_cause_of_applications_comes_first() {
    for (name, pattern, lock_class, owner, called_from, waiter, confidence) in [
        (
            "log4j",
            "long-hold",
            "org.apache.log4j.spi.RootLogger",
            "org.apache.log4j.Category.callAppenders",
            "",
            "org.apache.log4j.Category.callAppenders(Category.java:204)",
            "high",
        ),
        (
            "h2",
            "notify-storm",
            "org.h2.engine.Database",
            "org.h2.command.Command.executeUpdate",
            "",
            "org.h2.table.TableData.doLock(TableData.java:518)",
            "high",
        ),
        (
            "tomcat",
            "long-hold",
            "lock of sun.nio.ch.EPollSelectorImpl (Object)",
            "sun.nio.ch.EPollSelectorImpl.wakeup",
            "org.apache.tomcat.util.net.NioEndpoint$Poller.addEvent(NioEndpoint.java:658)",
            "sun.nio.ch.EPollSelectorImpl.doSelect(EPollSelectorImpl.java:102)",
            "high",
        ),
        // After each turn it takes time to wake a thread, in which no thread is waited for.
        (
            "park-storm",
            "taking-turns",
            "bench.synthetic.ParkStorm$Table",
            "bench.synthetic.ParkStorm.lambda$iterate$0",
            "",
            "bench.synthetic.ParkStorm.lambda$iterate$0(ParkStorm.java:29)",
            "low",
        ),
    ] {
        let found = findings(&application(name), Limits::default());
        let first = &found[0];
        let code = first.owner.as_ref().expect("it is known");
        assert_eq!(first.pattern, pattern, "{name}");
        assert_eq!(first.lock_class.label, lock_class);
        assert_eq!(code.label, owner);
        assert_eq!(code.called_from, called_from);
        assert_eq!(first.waiters[0].code.frame, waiter);
        assert!(first.share > 0.4, "{name}: {}", first.share);
        assert_eq!(first.confidence.level, confidence, "{name}");
    }
}

/// Two threads wait for each other, each in the code that wants the second lock.
#[test]
fn a_deadlock_comes_first_with_its_code() {
    let found = findings(&application("deadlock"), Limits::default());
    let first = &found[0];
    assert_eq!((first.pattern, first.threads), ("deadlock", 2));
    assert_eq!(first.lock_class.label, "scenarios.Deadlocks$Monitor");
    let waiting = first.waiters.iter().map(|it| it.code.frame.as_str());
    let enter = "scenarios.Deadlocks$Monitor.enter(Deadlocks.java:";
    let waits: u64 = first.waiters.iter().map(|it| it.waits).sum();
    assert!(waits == 2 && waiting.clone().all(|it| it.starts_with(enter)));
}

/// A trace of a real application.
fn application(name: &str) -> std::path::PathBuf {
    let traces = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    traces.join(name).with_extension("lct")
}

/// The wall time of a finding is the union of its parts, of all waits one by one.
#[test]
fn wall_time_is_exact_where_parts_are_known() {
    for path in traces() {
        let found = findings(&path, Limits::default());
        let mut loaded = load(&path, Limits::default());
        for finding in found.iter().filter(|finding| finding.pattern != "deadlock") {
            // All waits for the locks, with any owner.
            let [of_lock, of_owner] = [0, 1].map(|at| finding.selection.filter[at].clone());
            let waits = WaitsQuery {
                selection: WaitSelection {
                    filter: vec![of_lock],
                    ..finding.selection.clone()
                },
                sort: WaitOrder::Start,
                limit: 1_000,
                cursor: None,
            };
            let waits = loaded.model.waits(&waits, &loaded.entities).unwrap();
            assert!(waits.cursor.is_none(), "all of them");
            let mut times_ns = Vec::new();
            for wait in &waits.waits {
                let details = loaded.model.wait(wait.id, &loaded.entities).unwrap();
                let key = |value: u32| &details.names.values[value as usize].key;
                for part in details.parts.as_ref().expect("all are known") {
                    let share = &details.wait.shares[part.share as usize];
                    if *key(share.method) == of_owner.keys[0] {
                        times_ns.push((part.start_ns, part.start_ns + part.duration_ns));
                    }
                }
            }
            times_ns.sort_unstable();
            let merged =
                times_ns
                    .iter()
                    .fold(Vec::<(u64, u64)>::new(), |mut merged, &(from, to)| {
                        match merged.last_mut() {
                            Some(last) if from <= last.1 => last.1 = last.1.max(to),
                            _ => merged.push((from, to)),
                        }
                        merged
                    });
            let union_ns: u64 = merged.iter().map(|(from, to)| to - from).sum();
            assert!(finding.wall_exact && union_ns > 0, "{}", finding.id);
            assert_eq!(finding.wall_ns, union_ns, "{}", finding.id);
        }
    }
}

#[test]
fn a_finding_s_selection_has_its_time() {
    for path in traces() {
        let found = findings(&path, Limits::default());
        assert!(found.len() <= 5);
        let mut loaded = load(&path, Limits::default());
        for finding in found.iter().filter(|finding| finding.pattern != "deadlock") {
            let group = loaded.query(&finding.selection, &[]).groups[0].clone();
            assert_eq!(group.duration_ns, finding.duration_ns, "{}", finding.title);
            assert_eq!(group.waits, finding.waits, "{}", finding.title);
        }
    }
}
