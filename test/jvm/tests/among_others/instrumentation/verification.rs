//! Every class of every JDK and application at hand, instrumented and verified by the JVM.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use jvm_tests::{applications_class_path, is_nightly, scratch_directory};

use super::support::{AnyJdk, Calls, Instrumented, JavaPrograms, output_of};

/// The counters of the hooks.
const COUNTERS: [&str; 4] = ["blockExits", "afterBlockExits", "methodExits", "wrongExits"];

#[test]
fn classes_of_jdk_8_are_verified() {
    let jdk = AnyJdk::stock();
    let library = jdk.home.join("jre/lib");
    let mut jars = jars_in(&library);
    // Of other loaders, but verified by the boot loader all the same.
    let others = [
        jars_in(&library.join("ext")),
        vec![jdk.home.join("lib/tools.jar")],
    ]
    .concat();
    jars.extend(others.iter().cloned());
    for calls in Calls::ALL {
        let scratch = scratch_directory("verification");
        let output = scratch.path().join("classes");
        let instrumented = Instrumented::of_all(&jars, calls, &output);
        // The number in 8u504, whose version the project fixes.
        assert!(
            instrumented.seen.len() > 20_000,
            "{}",
            instrumented.summary()
        );
        assert!(
            instrumented.sites.len() > 14_000,
            "{}",
            instrumented.summary()
        );
        assert_eq!(instrumented.partly, [""; 0], "left alone");

        let names = scratch.path().join("names");
        instrumented.write_names(&names);
        let programs = JavaPrograms::compiled();
        let mut java = jdk.tool("java");
        java.arg("-Xverify:all");
        java.arg(option("-Xbootclasspath/p:", [output, programs.hooks()]));
        java.arg(option("-Xbootclasspath/a:", others.clone()));
        java.arg("-cp").arg(programs.programs());
        java.arg("instrumentation.Verification").arg(names);
        let said = output_of(java.args(COUNTERS));
        check_verified(&instrumented, &said);
        check_counters(&said, calls);
    }
}

#[test]
fn classes_of_newer_jdks_are_verified() {
    for jdk in AnyJdk::with_modules() {
        let modules = jdk.modules();
        let all = Calls::ALL.into_iter();
        for calls in all.filter(|&calls| calls == Calls::Before || is_nightly()) {
            let scratch = scratch_directory("verification");
            let mut instrumented = Instrumented::default();
            let mut java = jdk.tool("java");
            java.args(["-Xverify:all", "--add-modules", "ALL-SYSTEM"]);
            let programs = JavaPrograms::compiled();
            for module in fs::read_dir(modules.path()).expect("it was extracted") {
                let module = module.expect("a directory is readable").path();
                let name = module.file_name().expect("a module has a name");
                let output = scratch.path().join(name);
                instrumented.add(&module, calls, &output);
                let mut patch = OsString::from("--patch-module=");
                patch.push(name);
                let places = match name == "java.base" {
                    true => vec![output, programs.hooks()],
                    false => vec![output],
                };
                java.arg(option(
                    patch.to_str().expect("it is ASCII").to_owned() + "=",
                    places,
                ));
            }
            println!("{calls:?} {jdk:?}: {}", instrumented.summary());
            assert_eq!(instrumented.partly, [""; 0], "left alone");
            let names = scratch.path().join("names");
            instrumented.write_names(&names);
            java.arg("-cp").arg(programs.programs());
            java.arg("instrumentation.Verification").arg(names);
            let said = output_of(java.args(COUNTERS));
            check_verified(&instrumented, &said);
            check_counters(&said, calls);
        }
    }
}

#[test]
fn classes_of_applications_are_verified() {
    let class_path = applications_class_path();
    let jars: Vec<_> = std::env::split_paths(&class_path).collect();
    let all = Calls::ALL.into_iter();
    for calls in all.filter(|&calls| calls == Calls::BeforeAndAfter || is_nightly()) {
        let instrumented = check_same_outcomes(&AnyJdk::stock(), &jars, &jars, calls);
        assert_eq!(instrumented.blocks_left_alone, 0);
        // The number of methods left alone is a detail of single classes.
        let left_alone: u64 = instrumented.left_alone.values().sum();
        assert!(left_alone * 100 < instrumented.sites.len() as u64);
    }
}

/// Compares what a JVM says of the classes of some jars before and after. Some of these refer to
/// classes that do not exist, with and without instrumentation.
pub(super) fn check_same_outcomes(
    jdk: &AnyJdk,
    jars: &[PathBuf],
    class_path: &[PathBuf],
    calls: Calls,
) -> Instrumented {
    let scratch = scratch_directory("verification");
    let output = scratch.path().join("classes");
    let instrumented = Instrumented::of_all(jars, calls, &output);
    let names = scratch.path().join("names");
    instrumented.write_names(&names);
    let outcomes = |first: Option<&PathBuf>| {
        let programs = JavaPrograms::compiled().programs();
        let places = first.into_iter().chain([&programs]).chain(class_path);
        let mut java = jdk.java_with_hooks();
        java.arg("-Xverify:all").arg("-cp");
        java.arg(std::env::join_paths(places).expect("no path has a colon"));
        output_of(java.arg("instrumentation.Verification").arg(&names))
    };
    let (before, after) = (outcomes(None), outcomes(Some(&output)));
    let lines = after.lines();
    let verified = lines.filter(|line| line.ends_with(": verified")).count();
    assert!(verified > 1_000, "{verified} classes");
    let pairs = before.lines().zip(after.lines());
    let differences: Vec<_> = pairs.filter(|(before, after)| before != after).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(before.lines().count(), after.lines().count());
    instrumented
}

pub(super) fn jars_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the JDK is readable");
    let paths = entries.map(|entry| entry.expect("a directory is readable").path());
    let mut jars: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "jar"))
        .collect();
    jars.sort();
    jars
}

fn option(name: impl Into<OsString>, places: impl IntoIterator<Item = PathBuf>) -> OsString {
    let mut option = name.into();
    option.push(std::env::join_paths(places).expect("no path has a colon"));
    option
}

fn check_verified(instrumented: &Instrumented, said: &str) {
    let (outcomes, _) = parse(said);
    let wrong: BTreeMap<_, _> = outcomes
        .iter()
        .filter(|(_, outcome)| **outcome != "verified")
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(outcomes.len(), instrumented.classes.len());
}

/// The JVM has run all the time with its own classes instrumented.
fn check_counters(said: &str, calls: Calls) {
    let (_, counters) = parse(said);
    println!("{counters:?}");
    assert_eq!(counters["wrongExits"], 0);
    assert!(counters["blockExits"] > 100 && counters["methodExits"] > 100);
    assert_eq!(
        counters["afterBlockExits"] > 100,
        calls == Calls::BeforeAndAfter
    );
}

/// Returns the result for each class, and the hooks' counters.
fn parse(said: &str) -> (BTreeMap<&str, &str>, BTreeMap<&str, u64>) {
    let outcomes = said.lines().filter_map(|line| line.split_once(": "));
    let counters = said.lines().filter_map(|line| line.split_once(' '));
    let counters = counters.filter_map(|(name, count)| Some((name, count.parse().ok()?)));
    (outcomes.collect(), counters.collect())
}
