//! A real application: the H2 database, with one lock for all its clients.

use std::ffi::OsString;
use std::fs;
use std::sync::OnceLock;

use jvm_tests::{
    Jar, Jdk, Jvm, alone, analyze, check_sound, dependencies, java_compiler, report,
    run_to_success, source_directory,
};

const DATABASE: Jar = Jar {
    name: "h2-1.2.121.jar",
    sha256: "3233d38ee11e15243f66c98ad388da9f12cf038a203cf507415081e3329ac4f4",
};

const MAIN_CLASS: &str = "h2.BankTransfers";
const OUTPUT: &str = "16000 transfers, no money lost\n";

#[test]
fn the_report_names_the_lock_of_the_database() {
    let _processor = alone();
    let run = Jvm::traced(&[MAIN_CLASS])
        .class_path(class_path())
        .analyzed_online()
        .run();
    run.check_online_report();
    assert_eq!(run.stdout, OUTPUT, "{}", run.describe());
    assert_eq!(run.stderr, "");
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));

    let report = report(&run.trace(), "lock-class,owner-method");
    let database = report.node("org.h2.engine.Database");
    assert!(
        database.share > 0.5,
        "not the main lock: {:#?}",
        report.tree
    );

    // Every command runs in a `synchronized (database)` of one of these.
    let known = database
        .children
        .iter()
        .filter(|node| !node.label.starts_with('<'));
    let known: u64 = known.map(|node| node.duration_ns).sum();
    let commands = database
        .children
        .iter()
        .filter(|node| node.label.contains("org.h2.command.Command."));
    let commands: u64 = commands.map(|node| node.duration_ns).sum();
    assert!(commands as f64 > 0.9 * known as f64, "{database:#?}");
}

#[test]
fn works_as_with_the_stock_jdk_when_tracing_is_off() {
    let _processor = alone();
    for jdk in [Jdk::stock(), Jdk::traced()] {
        let run = Jvm::untraced(jdk, &[MAIN_CLASS])
            .class_path(class_path())
            .run();
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (OUTPUT, ""));
    }
}

/// The compiled program and the database.
fn class_path() -> OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    let class_path = CLASS_PATH.get_or_init(|| {
        let jars = dependencies("h2", &[DATABASE]);
        let classes = jars[0].with_file_name("classes");
        fs::create_dir_all(&classes).expect("the target directory is writable");
        run_to_success(
            java_compiler(&classes).arg(source_directory().join("h2/BankTransfers.java")),
        );
        std::env::join_paths(jars.iter().chain([&classes])).expect("no path has a colon")
    });
    class_path.clone()
}
