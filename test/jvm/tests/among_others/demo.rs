//! The demonstration shows what it is meant to show.

use jvm_tests::{Jvm, analyze, check_demo, check_sound};

#[test]
fn the_report_names_the_culprits() {
    let run = Jvm::traced(&["demo.Demo"]).run();
    assert_eq!(
        run.stdout,
        "480 orders, 320 returns, 20 reports: the books balance\n"
    );
    assert_eq!(run.stderr, "");
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));

    check_demo(&run.trace(), "<lock was free>");
}
