//! Applications whose methods C2 compiles with much that they call, checked by their
//! own byte code: nobody waits for a monitor but where it is acquired, and nobody held
//! one but where it is released.
//!
//! The scenarios' traces are checked so in all tests that read them.

use std::ffi::OsStr;
use std::time::Duration;

use jvm_tests::{
    ClassPath, CompileMode, Jdk, Jvm, Positions, Run, applications_class_path, check_each,
    database_class_path, is_nightly,
};

/// The modes in which C2 compiles. What is hot is compiled before it goes on, so that
/// a busy machine compiles no less.
const MODES: [CompileMode; 2] = [CompileMode::Tiered, CompileMode::C2];

/// The bundled applications whose threads wait for monitors, and others in which C2 has
/// much to compile; how often they run.
const APPLICATIONS: [(&str, &str); 11] = [
    ("h2", "4"),
    ("xalan", "6"),
    ("tomcat", "4"),
    ("lusearch", "3"),
    ("log4j", "4"),
    ("netty", "4"),
    ("actors", "4"),
    ("pmd", "4"),
    ("batik", "4"),
    ("hammer-monitor", "4"),
    ("producer-consumer", "4"),
];

/// The number of these in the short setting, each in another mode.
const SHORT: usize = 2;

/// On a busy machine, code that has to be compiled before it goes on goes on late.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Methods so large that C2 numbers their nodes anew, with several releases of one lock
/// that were inlined into them.
#[test]
fn database_with_prepared_statements() {
    check_each(MODES, |mode| {
        let rounds = if is_nightly() { "100000" } else { "20000" };
        let run = Jvm::traced(&["h2.KeyedStatements", rounds])
            .flags(mode.flags())
            .class_path(database_class_path())
            .time_limit(TIME_LIMIT)
            .run();
        assert_eq!(run.stdout, "no update lost\n", "{}", run.describe());
        check(&run, &database_class_path());
    });
}

#[test]
fn applications() {
    let all = || APPLICATIONS.into_iter().zip(MODES.into_iter().cycle());
    let cases: Vec<_> = if is_nightly() {
        let other_modes = MODES.into_iter().rev().cycle();
        all()
            .chain(APPLICATIONS.into_iter().zip(other_modes))
            .collect()
    } else {
        all().take(SHORT).collect()
    };
    check_each(cases, |((name, iterations), mode)| {
        let run = Jvm::traced(&["bench.Driver", name, "--iterations", iterations])
            .flags(mode.flags())
            .class_path(applications_class_path())
            .time_limit(TIME_LIMIT)
            .run();
        check(&run, &applications_class_path());
    });
}

fn check(run: &Run, class_path: &OsStr) {
    let positions = Positions::of(&run.trace(), &ClassPath::new(Jdk::traced(), class_path));
    println!("{positions}");
    positions.check();
    let (waiting, owning) = positions.judged();
    assert!(
        waiting > 0 && owning > 0,
        "no contention: {}",
        run.describe()
    );
}
