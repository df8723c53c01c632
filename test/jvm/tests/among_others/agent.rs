//! The agent on stock JVMs of each version: it names the same locks, owners and shares as the
//! programs themselves, follows its options, and leaves alone what it does not understand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use trace_analysis::{Blame, Entities, Lock, Owner, UnknownOwner, Wait};
use trace_format::Counter;

use jvm_tests::{
    Finished, Jdk, Jvm, NEVER_INLINED, Programs, Run, RunningJvm, agent_library, agent_option,
    analyze, check_demo, check_each, check_owner_shares, check_sound, contentions, locktrace,
    report, repository, run_to_success, scratch_directory,
};

/// Checks something on stock JVMs.
fn on_each_version(check: impl Fn(&'static Jdk)) {
    check_each(Jdk::chosen_stock_versions(), |jdk| check(jdk));
}

/// Runs a program with the agent, whose trace is where the patched JVM's would be.
fn traced(jdk: &'static Jdk, program: &[&str], options: &str) -> Jvm {
    let flag = agent_option(&format!("file=trace.lct{options}"));
    Jvm::untraced(jdk, program).flags([flag])
}

#[test]
fn the_demo_shows_the_culprits() {
    on_each_version(|jdk| {
        let run = traced(jdk, &["demo.Demo"], "")
            .flags(["-Xverify:all"])
            .run();
        assert_eq!(
            run.stdout,
            "480 orders, 320 returns, 20 reports: the books balance\n"
        );
        check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
        check_demo(&run.trace(), "<owner unknown: hand-off>");
    });
}

/// Also that each position in the trace is one of the class files as they are.
#[test]
fn each_method_is_blamed_for_what_its_clock_says() {
    for kind in ["Block", "Method", "StaticMethod"] {
        on_each_version(|jdk| {
            let run = traced(jdk, &["scenarios.OwnerShares", kind, "1000", "40"], "")
                .flags(NEVER_INLINED)
                .run();
            let setting = format!("{kind} on {}", jdk.home().display());
            check_owner_shares(&setting, &run, 40, contentions(&run.trace()));
        });
    }
}

/// Code of the JDK is changed once threads wait for what it holds. A JVM before 21 forgets the frames of
/// the JDK's classes, which it does not verify.
#[test]
fn owners_in_code_of_the_jdk_are_known() {
    for lock in ["map", "stream", "vector", "outside"] {
        on_each_version(|jdk| {
            for verified in [&[][..], &["-Xverify:all"]] {
                let run = traced(jdk, &["scenarios.JdkLocks", lock], "")
                    .flags(verified)
                    .run();
                assert!(run.status.success(), "{}", run.describe());
                let setting = format!("{lock} on {} {verified:?}", jdk.home().display());
                let from_ns = if lock == "outside" { 1_000_000_000 } else { 0 };
                check_owners_are_known(&setting, &run, from_ns);
            }
        });
    }
}

/// Owners are known, but of the first wait of each thread, and of those that began before `from_ns`; and
/// each release can be reported.
fn check_owners_are_known(setting: &str, run: &Run, from_ns: u64) {
    let (mut known_ns, mut unknown_ns) = (0, 0);
    let mut waited = BTreeSet::new();
    let summary = analyze(&run.trace(), |wait, _| {
        let is_first = waited.insert(wait.thread) || wait.start_ns < from_ns;
        for blame in &wait.blame {
            match blame.owner {
                Owner::Thread { .. } => known_ns += blame.duration_ns,
                // Most of that nobody had it: a thread had been woken, and did not run yet.
                Owner::Unknown(UnknownOwner::HandOff) | Owner::Free | Owner::Frozen => {}
                Owner::Unknown(_) if is_first => {}
                Owner::Unknown(_) => unknown_ns += blame.duration_ns,
            }
        }
    });
    let summary = summary.expect("a trace");
    for missing in [Counter::UntoldMethods, Counter::RefusedClasses] {
        let count = summary.tracer_value(missing).unwrap_or(0);
        assert_eq!(count, 0, "{setting}: {missing:?}");
    }
    assert!(known_ns > 100_000_000, "{setting}: {known_ns}");
    let share = known_ns as f64 / (known_ns + unknown_ns) as f64;
    assert!(share >= 0.95, "{setting}: {share}");
    let late = summary.tracer_value(Counter::LateClasses).unwrap_or(0);
    // A stream of later versions has a lock of `java.util.concurrent`.
    let least = u64::from(!setting.starts_with("stream"));
    assert!(
        (least..=4).contains(&late),
        "{setting}: {late} late classes"
    );
}

/// Code that releases a monitor looks at a few objects one by one, and looks up the others.
#[test]
fn owners_of_a_thousand_monitors_are_known() {
    const MONITORS: u32 = 1_000;
    on_each_version(|jdk| {
        let program = ["scenarios.ManyMonitors", &MONITORS.to_string()];
        let run = traced(jdk, &program, "").run();
        assert!(run.status.success(), "{}", run.describe());
        let setting = jdk.home().display();
        let (mut waits, mut known) = (0, 0);
        let summary = analyze(&run.trace(), |wait, entities| {
            let waiter = &entities.thread(wait.thread).name;
            let is_own = lock_class(entities, wait) == Some("java.lang.Object");
            let Some(number) = waiter.strip_prefix("other-").filter(|_| is_own) else {
                return;
            };
            waits += 1;
            // The one with the same number, and nearly all the time: the rest is the hand-off.
            let mut longest = wait.blame.iter().collect::<Vec<_>>();
            longest.sort_by_key(|blame| blame.duration_ns);
            let is_right = longest.last().is_some_and(|blame| match blame.owner {
                Owner::Thread { thread, .. } => {
                    *entities.thread(thread).name == format!("owner-{number}")
                }
                _ => false,
            });
            known += u32::from(is_right);
        });
        let summary = summary.expect("a trace");
        check_sound(&summary);
        assert_eq!(waits, MONITORS, "{setting}");
        // One may wait for so short a time that the hand-off takes longer.
        assert!(known >= MONITORS * 99 / 100, "{setting}: {known}");
        let unseen = summary.tracer_value(Counter::UnseenContenders);
        assert_eq!(unseen.unwrap_or(0), 0, "{setting}");
    });
}

fn lock_class<'a>(entities: &'a Entities, wait: &Wait) -> Option<&'a str> {
    match entities.lock(wait.lock) {
        Lock::Object { class, .. } => Some(entities.class_name(class)),
        _ => None,
    }
}

/// JDK 25 cannot write an AOT cache after an agent has changed classes of the JDK.
#[test]
fn a_jvm_that_records_an_aot_cache_is_left_alone() {
    let directory = scratch_directory("aot-cache");
    // Of directories there is no cache.
    let jar = directory.path().join("program.jar");
    let programs = Programs::compiled();
    let mut archive = Command::new(Jdk::stock().tool("jar"));
    archive.arg("cf").arg(&jar);
    for class in ["JdkLocks", "JdkLocks$SlowStream"] {
        let class = format!("scenarios/{class}.class");
        archive.arg("-C").arg(programs.classes()).arg(class);
    }
    run_to_success(&mut archive);
    for recording in [
        &["-XX:AOTCacheOutput=program.aot"][..],
        &["-XX:AOTMode=record", "-XX:AOTConfiguration=program.aotconf"],
    ] {
        let run = traced(
            Jdk::stock_version("25"),
            &["scenarios.JdkLocks", "stream"],
            "",
        )
        .flags(recording)
        .class_path(&jar)
        .run();
        assert!(run.status.success(), "{}", run.describe());
        assert!(
            run.stderr.contains("records an AOT cache"),
            "{}",
            run.describe()
        );
        let mut waits = 0;
        let summary = analyze(&run.trace(), |_, _| waits += 1).expect("a trace");
        let late = summary.tracer_value(Counter::LateClasses).unwrap_or(0);
        assert!(waits > 0 && late == 0, "{waits} {late}");
        let written = ["program.aot", "program.aotconf"].map(|cache| run.directory().join(cache));
        assert!(
            written.iter().any(|cache| cache.exists()),
            "{}",
            run.describe()
        );
    }
}

#[test]
fn all_of_random_programs_fits_together() {
    on_each_version(|jdk| {
        let mut jvm = traced(jdk, &["scenarios.RandomContention", "1", "2", "3"], "").start();
        for number in 1..=3 {
            jvm.await_line(&format!("done {number}"));
            if number < 3 {
                jvm.send_line();
            }
        }
        let run = jvm.finish();
        assert!(run.status.success(), "{}", run.describe());
        assert_eq!(run.stderr, "");
        check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
    });
}

/// A JVM that runs is traced from the attachment to the detachment, again and again, and goes on
/// as if nothing had been.
#[test]
fn attached_and_detached() {
    on_each_version(|jdk| {
        let mut jvm = Jvm::untraced(jdk, &["scenarios.EndlessContention"]).start();
        let directory = scratch_directory("attached");
        jvm.await_line("running");
        for round in 1..=3 {
            let trace = directory.path().join(format!("{round}.lct"));
            let attached = attach(&jvm, &trace);
            assert_eq!(attached.code, 0, "{}", attached.stderr);
            assert!(attached.stdout.contains(trace.to_str().unwrap()));
            check_said_of_changes(&attached.stdout);
            let again = attach(&jvm, &directory.path().join("again.lct"));
            assert_eq!(again.code, 3, "{}", again.stderr);
            assert!(
                again.stderr.contains("is traced already"),
                "{}",
                again.stderr
            );
            await_waits(&trace);
            let detached = detach(&jvm);
            assert_eq!(detached.code, 0, "{}", detached.stderr);
            let nothing = detach(&jvm);
            assert_eq!(nothing.code, 3, "{}", nothing.stderr);
            assert!(nothing.stderr.contains("is not traced by an agent"));
            check_owners(&trace);
        }
        jvm.send_line();
        let run = jvm.finish();
        assert!(run.status.success(), "{}", run.describe());
        assert_eq!(run.stdout, "running\ndone\n");
        assert!(!directory.path().join("again.lct").exists());
    });
}

/// The changes of classes are over, and it is said how long they took.
fn check_said_of_changes(said: &str) {
    let line = said.lines().find(|line| line.starts_with("Changed "));
    let words: Vec<_> = line.unwrap_or_default().split(' ').collect();
    let classes = words.get(1).and_then(|number| number.parse().ok());
    // Those that park, those of references, and the program's own.
    assert!(
        classes.is_some_and(|classes: u32| (5..60).contains(&classes)),
        "{said}"
    );
}

/// Of waits that began before the attachment it is said how many there are, and only of those for locks.
#[test]
fn attached_to_a_program_that_hangs() {
    on_each_version(|jdk| {
        let mut jvm = Jvm::untraced(jdk, &["scenarios.EarlierWaits"]).start();
        let directory = scratch_directory("hung");
        let trace = directory.path().join("hung.lct");
        jvm.await_line("waiting");
        let attached = attach(&jvm, &trace);
        assert_eq!(attached.code, 0, "{}", attached.stderr);
        let file = trace.to_str().expect("UTF-8");
        let top = locktrace(["top", "--batch", "-n", "1", file]);
        let line = format!(
            "Incomplete: waits begun before tracing, of 2 threads at least: jstack {} shows them",
            jvm.id()
        );
        assert!(
            top.stdout.lines().any(|found| found == line),
            "{}",
            top.stdout
        );
        let detached = detach(&jvm);
        assert_eq!(detached.code, 0, "{}", detached.stderr);
        check_said(&trace, "earlier_waits", "not in the trace");
        jvm.send_line();
        let run = jvm.finish();
        assert!(run.status.success(), "{}", run.describe());
    });
}

/// Two copies of the library would each see a part of the releases.
#[test]
fn a_second_copy_is_refused() {
    let jdk = Jdk::stock();
    let directory = scratch_directory("copy");
    let copy = directory.path().join("liblocktrace-copy.so");
    fs::copy(agent_library(), &copy).expect("a copy");
    let mut jvm = Jvm::untraced(jdk, &["scenarios.EndlessContention"]).start();
    jvm.await_line("running");
    let attached = attach(&jvm, &directory.path().join("first.lct"));
    assert_eq!(attached.code, 0, "{}", attached.stderr);
    let pid = jvm.id().to_string();
    let option = format!("file={}", directory.path().join("second.lct").display());
    let copy = copy.to_str().expect("UTF-8");
    let refused = locktrace(["attach", &pid, "--agent", copy, "--", &option]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let first = agent_library().canonicalize().expect("the library");
    let use_first = format!("use --agent {}", first.display());
    assert!(refused.stderr.contains(&use_first), "{}", refused.stderr);
    assert!(!directory.path().join("second.lct").exists());
    let detached = detach(&jvm);
    assert_eq!(detached.code, 0, "{}", detached.stderr);
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
}

/// HotSpot doubles some constants of a class at each change, to more than a class can have.
#[test]
fn attached_as_often_as_one_likes() {
    const ROUNDS: usize = 20;
    on_each_version(|jdk| {
        let mut jvm = Jvm::untraced(jdk, &["scenarios.NanConstant"]).start();
        let directory = scratch_directory("again");
        jvm.await_line("running");
        for round in 1..=ROUNDS {
            let attached = attach(&jvm, &directory.path().join(format!("{round}.lct")));
            assert_eq!(attached.code, 0, "{round}: {}", attached.stderr);
            let detached = detach(&jvm);
            assert_eq!(detached.code, 0, "{round}: {}", detached.stderr);
        }
        jvm.send_line();
        let run = jvm.finish();
        assert!(run.status.success(), "{}", run.describe());
    });
}

/// Waits until a trace that is being written has some waits with an owner.
fn await_waits(trace: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let mut owned = 0;
        let is_owned = |blame: &Blame| matches!(blame.owner, Owner::Thread { .. });
        analyze(trace, |wait, _| {
            owned += u32::from(wait.blame.iter().any(is_owned));
        })
        .expect("a trace");
        if owned >= 20 {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{}: {owned} waits",
            trace.display()
        );
        thread::sleep(Duration::from_millis(50));
    }
}

/// All that has an owner was released by one of the two methods.
fn check_owners(trace: &Path) {
    check_sound(&analyze(trace, |_, _| {}).expect("a trace"));
    let report = report(trace, "lock-class,owner-method");
    let lock = report.node("scenarios.EndlessContention");
    let owners: Vec<_> = lock
        .children
        .iter()
        .map(|owner| owner.label.as_str())
        .filter(|label| !label.starts_with("<owner unknown"))
        .collect();
    for method in ["block", "method"] {
        let is_method = |label: &&str| label.ends_with(&format!("EndlessContention.{method}"));
        assert!(owners.iter().any(is_method), "{method}: {lock:#?}");
    }
    assert_eq!(owners.len(), 2, "{lock:#?}");
}

fn attach(jvm: &RunningJvm, trace: &Path) -> Finished {
    let options = format!("file={}", trace.display());
    ask(jvm, "attach", &["--wait", "--", &options])
}

fn detach(jvm: &RunningJvm) -> Finished {
    ask(jvm, "detach", &[])
}

fn ask(jvm: &RunningJvm, command: &str, rest: &[&str]) -> Finished {
    let pid = jvm.id().to_string();
    let library = agent_library().to_str().expect("UTF-8");
    let arguments = [command, &pid, "--agent", library];
    locktrace(arguments.iter().chain(rest))
}

/// Options that nobody understands keep the JVM from starting, as of any agent; a file that
/// cannot be written does not.
#[test]
fn bad_options_are_named() {
    on_each_version(|jdk| {
        for (options, complaint) in [
            ("flie=x", "locktrace: unknown option 'flie'"),
            ("file=", "locktrace: option 'file': expected a path"),
            ("chains=0", "locktrace: option 'chains': expected a number"),
            (
                "sample=lots",
                "locktrace: option 'sample': expected percent",
            ),
            ("duration=soon", "locktrace: option 'duration': expected a"),
            (
                "exclude=*",
                "locktrace: option 'exclude': expected a package",
            ),
        ] {
            let flag = agent_option(options);
            let run = Jvm::untraced(jdk, &["scenarios.RandomContention", "1"])
                .flags([flag])
                .finish();
            assert!(!run.status.success(), "{}", run.describe());
            assert!(run.stderr.contains(complaint), "{}", run.describe());
        }
        let flag = agent_option("help");
        let run = Jvm::untraced(jdk, &["scenarios.RandomContention", "1"])
            .flags([flag])
            .run();
        assert!(run.stdout.contains("file=PATH"), "{}", run.describe());
        let flag = agent_option("file=missing/trace.lct");
        let run = Jvm::untraced(jdk, &["scenarios.RandomContention", "1"])
            .flags([flag])
            .run();
        let lines: Vec<_> = run.stderr.lines().collect();
        assert!(
            matches!(lines[..], [line] if line.contains("missing/trace.lct")),
            "{}",
            run.describe()
        );
    });
}

#[test]
fn a_trace_ends_when_its_time_is_over() {
    let jvm = traced(
        Jdk::stock(),
        &["scenarios.RandomContention", "1", "2"],
        ",duration=1s",
    );
    let mut jvm = jvm.start();
    jvm.await_line("done 1");
    let deadline = Instant::now() + Duration::from_secs(60);
    while analyze(&jvm.trace(), |_, _| {}).is_ok_and(|summary| !summary.is_complete()) {
        assert!(Instant::now() < deadline, "the trace never ends");
        thread::sleep(Duration::from_millis(50));
    }
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
}

/// Gaps in the agent's knowledge are counted, and `stat` reports them in words.
#[test]
fn what_is_not_known_is_said() {
    let program = ["scenarios.Contend", "SynchronizedNative"];
    let run = traced(Jdk::stock(), &program, "").run();
    let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
    let untold = summary.tracer_value(Counter::UntoldMethods);
    assert!(untold.is_some_and(|methods| methods >= 2), "{untold:?}");
    let trace = run.trace();
    check_said(&trace, "untold_methods", "such as native ones");
}

/// Code that releases monitors looks for waiting threads once there are some, also where it was compiled
/// before, and where the owner is in it when the first thread begins to wait.
#[test]
fn owners_look_once_a_thread_waits() {
    on_each_version(|jdk| {
        let program = ["scenarios.OwnerShares", "Method", "50000", "1"];
        let run = traced(jdk, &program, "").flags(NEVER_INLINED).run();
        let setting = format!("the first waits on {}", jdk.home().display());
        check_owner_shares(&setting, &run, 1, contentions(&run.trace()));
        let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
        let early = summary.tracer_value(Counter::UnwatchedEnters);
        assert!(early.is_some_and(|waits| waits >= 1), "{setting}");
        check_said(&run.trace(), "unwatched_enters", "once threads wait");
    });
}

/// A line of `stat` begins and ends so.
fn check_said(trace: &Path, begin: &str, end: &str) {
    let said = locktrace(["stat".as_ref(), trace.as_os_str()]).stdout;
    let line = said.lines().find(|line| line.starts_with(begin));
    assert!(line.is_some_and(|line| line.ends_with(end)), "{said}");
}

/// Beyond the budget call chains are cut short, which the trace says, and each method is still blamed
/// for what its clock says.
#[test]
fn chains_are_sampled_beyond_the_budget() {
    on_each_version(|jdk| {
        let program = ["scenarios.OwnerShares", "Method", "1000", "40"];
        let run = traced(jdk, &program, ",sample=0.001").run();
        let setting = format!("sampled on {}", jdk.home().display());
        check_owner_shares(&setting, &run, 40, contentions(&run.trace()));
        // Those with few frames are whole in any case.
        let (short, whole, budget) = sampled(&run.trace());
        assert!(
            short >= 100 && budget == 10,
            "{setting}: {short} and {whole}"
        );
        check_said(&run.trace(), "Sampled", "more than 0.001 % of a processor");
    });
    let program = ["scenarios.OwnerShares", "Method", "1000", "40"];
    let run = traced(Jdk::stock(), &program, ",sample=100").run();
    let (short, whole, budget) = sampled(&run.trace());
    assert!(short == 0 && whole > 0 && budget == 1_000_000);
}

/// Returns the numbers of call chains that were cut short and that were not, and the budget in
/// millionths.
fn sampled(trace: &Path) -> (u64, u64, u64) {
    let summary = analyze(trace, |_, _| {}).expect("a trace");
    let value = |counter| summary.tracer_value(counter).unwrap_or(0);
    let short = value(Counter::ShortChains);
    let recorded = value(Counter::ChainsRecorded);
    (short, recorded - short, value(Counter::HookBudgetPpm))
}

/// The library exports the functions that the JVM looks for, and nothing that could take the place
/// of another library's.
#[test]
fn nothing_else_is_exported() {
    let output = Command::new("nm")
        .args(["--dynamic", "--defined-only"])
        .arg(agent_library())
        .output()
        .expect("nm can be started");
    let output = String::from_utf8(output.stdout).expect("symbols are ASCII");
    let mut symbols: Vec<_> = output
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    symbols.sort_unstable();
    assert_eq!(
        symbols,
        ["Agent_OnAttach", "Agent_OnLoad", "Agent_OnUnload"]
    );
}

/// The classes that changed code calls are what their sources say.
#[test]
fn the_helpers_are_made_of_their_sources() {
    let helper = repository().join("crates/agent/helper");
    let defined = scratch_directory("helper");
    let classes = ["Exits", "Monitors", "Parks", "VirtualParks"];
    let stubs = ("-sourcepath", &*helper.join("stubs"));
    check_made(&helper, &classes, stubs, defined.path());
    let defined_again = scratch_directory("watching");
    let watching = helper.join("watching");
    let made = ("-classpath", defined.path());
    check_made(&watching, &["Exits"], made, defined_again.path());
}

/// Compiles the classes of a folder, with others that they need, and compares.
fn check_made(folder: &Path, classes: &[&str], others: (&str, &Path), target: &Path) {
    let sources = classes.iter().map(|class| folder.join(class));
    let mut javac = Command::new(Jdk::stock().tool("javac"));
    javac
        .args(["-g:none", "-XDignore.symbol.file", "-implicit:none"])
        .arg(others.0)
        .arg(others.1)
        .arg("-d")
        .arg(target)
        .args(sources.map(|source| source.with_extension("java")));
    run_to_success(&mut javac);
    for class in classes {
        let file = Path::new(class).with_extension("class");
        let made = fs::read(target.join("java/locktrace").join(&file)).expect("a class");
        let committed = fs::read(folder.join(&file)).expect("a class");
        assert!(
            made == committed,
            "{class} is not what javac makes of its source"
        );
    }
}
