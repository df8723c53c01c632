//! A real application: the H2 database, with one lock for all its clients.

use jvm_tests::{
    DATABASE_LOCK, Jdk, Jvm, analyze, check_bank, check_sound, database_class_path, report,
};

const MAIN_CLASS: &str = "h2.BankTransfers";
const OUTPUT: &str = "16000 transfers, no money lost\n";

#[test]
fn the_report_names_the_lock_of_the_database() {
    let run = Jvm::traced(&[MAIN_CLASS])
        .class_path(database_class_path())
        .analyzed_online()
        .run();
    run.check_online_report();
    assert_eq!(run.stdout, OUTPUT, "{}", run.describe());
    assert_eq!(run.stderr, "");
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));

    check_bank(&run.trace());
    let report = report(&run.trace(), "lock-class,owner-method");
    let database = report.node(DATABASE_LOCK);
    assert!(
        database.share > 0.5,
        "not the main lock: {:#?}",
        report.tree
    );
}

#[test]
fn works_as_with_the_stock_jdk_when_tracing_is_off() {
    for jdk in [Jdk::stock(), Jdk::traced()] {
        let run = Jvm::untraced(jdk, &[MAIN_CLASS])
            .class_path(database_class_path())
            .run();
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (OUTPUT, ""));
    }
}
