//! Real programs under the agent, on stock JVMs of each version: H2, whose clients share one lock, and a
//! shop on Tomcat with contention of known cause.

use std::path::Path;
use std::thread;
use std::time::Duration;

use jvm_tests::{
    Jdk, Jvm, RunningJvm, agent_library, agent_option, analyze, applications_class_path,
    check_bank, check_each, check_shop, check_sound, database_class_path, is_nightly, locktrace,
    scratch_directory, shop_class_path,
};

/// H2 1.2.121 is of 2009. What it needs of the JDK is still there.
#[test]
fn the_lock_of_the_database() {
    check_each(Jdk::chosen_stock_versions(), |jdk| {
        let run = Jvm::untraced(jdk, &["h2.BankTransfers"])
            .flags([agent_option("file=trace.lct,sample=100")])
            .class_path(database_class_path())
            .run();
        assert_eq!(run.stdout, "16000 transfers, no money lost\n");
        check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
        check_bank(&run.trace());
    });
}

#[test]
fn the_causes_in_a_server() {
    check_each(Jdk::chosen_stock_versions(), |jdk| {
        let run = Jvm::untraced(jdk, &["server.WebShop"])
            .flags([agent_option("file=trace.lct")])
            .class_path(shop_class_path())
            .run();
        assert!(run.stdout.ends_with(": all right\n"), "{}", run.describe());
        check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
        check_shop(&run.trace());
    });
}

/// Attached when the code is compiled, and detached again.
#[test]
fn attached_after_the_warm_up() {
    if !is_nightly() {
        return;
    }
    check_each(Jdk::chosen_stock_versions(), |jdk| {
        let database = [
            "bench.Driver",
            "h2",
            "--iterations",
            "12",
            "--size",
            "small",
        ];
        let database = Jvm::untraced(jdk, &database).class_path(applications_class_path());
        let iteration = |jvm: &mut RunningJvm, number: u32| {
            jvm.await_line(&format!("bench iteration {number} begin"));
        };
        trace_attached(
            database,
            |jvm| iteration(jvm, 5),
            |jvm| iteration(jvm, 8),
            check_bank,
        );

        let shop = Jvm::untraced(jdk, &["server.WebShop", "12"]).class_path(shop_class_path());
        let some_time = |_: &mut RunningJvm| thread::sleep(Duration::from_secs(4));
        trace_attached(shop, some_time, some_time, check_shop);
    });
}

/// Traces a program from when it is warm until it has done enough.
fn trace_attached(
    jvm: Jvm,
    await_warm: impl FnOnce(&mut RunningJvm),
    await_enough: impl FnOnce(&mut RunningJvm),
    check: impl FnOnce(&Path),
) {
    let directory = scratch_directory("attached");
    let trace = directory.path().join("trace.lct");
    let mut jvm = jvm.start();
    await_warm(&mut jvm);
    let options = format!("file={},sample=100", trace.display());
    ask(jvm.id(), "attach", &["--", &options]);
    await_enough(&mut jvm);
    ask(jvm.id(), "detach", &[]);
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    check_sound(&analyze(&trace, |_, _| {}).expect("a trace"));
    check(&trace);
}

fn ask(pid: u32, command: &str, rest: &[&str]) {
    let pid = pid.to_string();
    let library = agent_library().to_str().expect("UTF-8");
    let arguments = [command, &pid, "--agent", library];
    let finished = locktrace(arguments.iter().chain(rest));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}
