//! Programs that announce each of their releases, compared with the calls of the hooks.

use std::ffi::OsString;
use std::fmt::Write;

use bytecode_instrumentation::SiteKind;
use jvm_tests::scratch_directory;
use tempfile::TempDir;

use super::support::{AnyJdk, Calls, Instrumented, JavaPrograms, output_of};

const PROGRAM: &str = "instrumentation.Exits";

/// Numbers below and above what `sipush` can have.
const FIRST_SITE: u32 = 32_740;

const MODES: [&[&str]; 3] = [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &[]];

#[test]
fn hooks_get_each_release_in_order() {
    for calls in Calls::ALL {
        let program = Program::instrumented(calls);
        for jdk in AnyJdk::all() {
            for mode in MODES {
                let said = program.run(&jdk, mode, &["notes"]);
                program.check_notes(&said, calls);
            }
        }
    }
}

#[test]
fn monitors_are_released_whatever_a_hook_throws() {
    let program = Program::instrumented(Calls::Before);
    for jdk in AnyJdk::all() {
        for mode in MODES {
            let said = program.run(&jdk, mode, &["failures"]);
            assert_eq!(said, "failed 26 times\n", "{jdk:?} {mode:?}");
        }
    }
}

#[test]
fn compiled_code_calls_the_hooks_as_often() {
    for calls in Calls::ALL {
        let program = Program::instrumented(calls);
        for jdk in AnyJdk::all() {
            let flags = ["-XX:+PrintCompilation", "-XX:CICompilerCount=2", "-Xbatch"];
            let said = program.run(&jdk, &flags, &["hot", "20000"]);
            let counter = |name: &str| -> u64 {
                let mut values = said.lines().filter_map(|line| line.strip_prefix(name));
                let value = values
                    .next_back()
                    .unwrap_or_else(|| panic!("no {name} in {said}"));
                value.trim().parse().expect("a number")
            };
            let exits = counter("blockExits ") + counter("methodExits ");
            assert_eq!(exits, counter("releases "), "{jdk:?} {calls:?}");
            assert_eq!(counter("wrongExits "), 0);

            // A method whose releases do not match its acquisitions is not compiled, which is true of
            // one as it is: inline functions of Kotlin do not release if a call at their end throws.
            let ours = said
                .lines()
                .filter(|line| line.contains("instrumentation.") && !line.contains("::kotlin "));
            let (given_up, compiled): (Vec<_>, Vec<_>) = ours.partition(|line| {
                line.contains("COMPILE SKIPPED") || line.contains("not compilable")
            });
            assert!(given_up.is_empty(), "{jdk:?} {calls:?}: {given_up:#?}");
            for method in [
                "nested",
                "exceptions",
                "loops",
                "switches",
                "finallies",
                "manyVariables",
                "staticLongInteger",
                "scala",
                "clojure",
                "shared",
                "proguard",
            ] {
                let by_c2 =
                    |line: &&&str| line.contains(&format!("::{method} ")) && line.contains(" 4  ");
                assert!(
                    compiled.iter().any(|line| by_c2(&line)),
                    "{method}: {compiled:#?}"
                );
            }
        }
    }
}

struct Program {
    classes: TempDir,
    instrumented: Instrumented,
}

impl Program {
    fn instrumented(calls: Calls) -> Self {
        let classes = scratch_directory("exits");
        let mut instrumented = Instrumented::from_site(FIRST_SITE);
        let programs = JavaPrograms::compiled().programs();
        instrumented.add(&programs, calls, classes.path());
        assert_eq!(instrumented.partly, [""; 0], "left alone");
        assert!(instrumented.sites.keys().any(|&site| site < 32_768));
        assert!(instrumented.sites.keys().any(|&site| site > 32_768));
        Self {
            classes,
            instrumented,
        }
    }

    fn run(&self, jdk: &AnyJdk, flags: &[&str], arguments: &[&str]) -> String {
        let original = JavaPrograms::compiled().programs();
        let class_path = std::env::join_paths([self.classes.path(), &original]);
        let class_path: OsString = class_path.expect("no path has a colon");
        let mut java = jdk.java_with_hooks();
        java.args(flags)
            .arg("-Xverify:all")
            .arg("-cp")
            .arg(class_path);
        output_of(java.arg(PROGRAM).args(arguments))
    }

    fn check_notes(&self, said: &str, calls: Calls) {
        let expected = said
            .lines()
            .filter_map(|line| line.strip_prefix("expected "));
        let expected: String = expected.map(|line| line.to_owned() + "\n").collect();
        let mut noted = String::new();
        let mut after = Vec::new();
        let mut blocks = Vec::new();
        let lines = said.lines().filter_map(|line| line.strip_prefix("noted "));
        for line in lines {
            let (object, site) = line.split_once(' ').expect("an object and a site");
            let site: u32 = site.parse().expect("a number");
            let (method, site) = &self.instrumented.sites[&site];
            if object == "released" {
                after.push(site.number);
                continue;
            }
            if site.kind == SiteKind::Block {
                blocks.push(site.number);
            }
            assert!(site.line.is_some(), "{method} was compiled with lines");
            assert_eq!(site.bci.is_none(), site.kind == SiteKind::MethodUnwind);
            writeln!(noted, "{object} {method}").expect("a string");
        }
        assert!(expected.lines().count() > 60, "{expected}");
        assert_eq!(noted, expected);
        let expected_after = match calls {
            Calls::Before => Vec::new(),
            // Each right after the call before.
            Calls::BeforeAndAfter => blocks,
        };
        assert_eq!(after, expected_after);
        let kinds = [
            SiteKind::Block,
            SiteKind::MethodReturn,
            SiteKind::MethodUnwind,
        ];
        for kind in kinds {
            let mut sites = self.instrumented.sites.values();
            assert!(sites.any(|(_, site)| site.kind == kind), "{kind:?}");
        }
    }
}
