//! Profilers that walk stacks by themselves see those of a traced JVM as they see those of another one:
//! async-profiler, whose samples of an untraced run are the truth.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jvm_tests::{
    Jar, Jdk, Jvm, ReturnBarriers, check_each, dependencies, is_nightly, run_to_success,
};

/// The last release that asks the JVM for stacks unless something else is wanted, and the newest one.
const PROFILERS: [Jar; 2] = [
    Jar {
        name: "async-profiler-4.1.jar",
        sha256: "5535baa56133628cfffe2f05ca9bfef1fae3d5abe49835447262b1c6da4a9582",
    },
    Jar {
        name: "async-profiler-4.5.jar",
        sha256: "d0184907de67ca63363f1a6333c75eb7414fb3e13c564641304fe0fdca97363e",
    },
];

/// Ways to walk a stack; the first one is the profiler's own choice.
const WALKS: [&str; 5] = [
    "",
    ",cstack=vm",
    ",cstack=vmx",
    ",cstack=fp",
    ",cstack=dwarf",
];

/// Calls of `ProfiledStacks.descend` below its innermost method.
const CALLS: usize = 31;

/// The least share of whole stacks, relative to the untraced run.
const LEAST_SHARE: f64 = 0.99;

#[test]
fn stacks_are_whole_for_async_profiler() {
    let jars = [Path::new("profiler/previous"), Path::new("profiler")];
    let agents: Vec<_> = jars
        .iter()
        .zip(PROFILERS)
        .map(|(folder, jar)| agent(folder, jar))
        .collect();
    let cases: Vec<_> = match is_nightly() {
        true => agents
            .iter()
            .flat_map(|agent| WALKS.map(|walk| (agent, walk)))
            .collect(),
        false => vec![(&agents[1], ""), (&agents[1], ",cstack=vmx")],
    };
    check_each(&cases, |(agent, walk)| {
        let untraced = whole_stacks(Jvm::untraced(Jdk::traced(), &program()), agent, walk);
        let traced = Jvm::untraced(Jdk::traced(), &program())
            .flags(ReturnBarriers::On.flags())
            .trace_file("trace.lct");
        let traced = whole_stacks(traced, agent, walk);
        assert!(
            traced.share() >= LEAST_SHARE * untraced.share(),
            "{} {walk}: untraced {untraced:?}, traced {traced:?}",
            agent.display()
        );
    });
}

fn program() -> [&'static str; 2] {
    [
        "scenarios.ProfiledStacks",
        if is_nightly() { "10" } else { "6" },
    ]
}

/// The profiler's library in a jar that Maven fetches.
fn agent(folder: &Path, jar: Jar) -> PathBuf {
    let folder = folder.to_str().expect("a name in ASCII");
    let jar = dependencies(folder, &[jar]).remove(0);
    let library = "linux-x64/libasyncProfiler.so";
    let extracted = jar.with_file_name(library);
    if !extracted.exists() {
        let folder = jar.parent().expect("it is in a folder");
        run_to_success(
            Command::new(Jdk::stock().tool("jar"))
                .current_dir(folder)
                .arg("xf")
                .args([&jar, Path::new(library)]),
        );
    }
    extracted
}

/// Samples of the innermost method.
#[derive(Debug)]
struct Stacks {
    all: u64,
    whole: u64,
}

impl Stacks {
    fn share(&self) -> f64 {
        self.whole as f64 / self.all as f64
    }
}

fn whole_stacks(jvm: Jvm, agent: &Path, walk: &str) -> Stacks {
    let option = format!(
        "-agentpath:{}=start,event=itimer,interval=1ms{walk},collapsed,file=profile.txt",
        agent.display()
    );
    let described = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"];
    let run = jvm.flags(described).flags([option]).run();
    let profile =
        fs::read_to_string(run.directory().join("profile.txt")).expect("the profiler wrote it");
    let mut stacks = Stacks { all: 0, whole: 0 };
    for line in profile
        .lines()
        .filter(|line| line.contains("ProfiledStacks.innermost"))
    {
        let (chain, samples) = line.rsplit_once(' ').expect("a chain and its samples");
        let samples: u64 = samples.parse().expect("a number");
        stacks.all += samples;
        if chain.matches("ProfiledStacks.descend").count() == CALLS {
            stacks.whole += samples;
        }
    }
    // Enough stacks that one that is not whole does not decide; a busy machine has fewer of them.
    assert!(stacks.all >= 100, "{stacks:?}: {}", run.describe());
    stacks
}
