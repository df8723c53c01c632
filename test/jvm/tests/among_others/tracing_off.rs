//! With tracing off, the patched JVM behaves like the stock one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use jvm_tests::{Jdk, Jvm, RunningJvm};

#[test]
fn same_version() {
    assert_eq!(
        output(Jdk::traced(), &["-version"]),
        output(Jdk::stock(), &["-version"])
    );
}

/// The flags differ by those of the tracer, and by no value.
#[test]
fn same_flags() {
    let (stock, traced) = (flags(Jdk::stock()), flags(Jdk::traced()));
    let added: BTreeSet<_> = traced
        .keys()
        .filter(|name| !stock.contains_key(*name))
        .collect();
    assert!(
        added.iter().any(|name| *name == "TraceLockContention"),
        "{added:?}"
    );
    assert!(
        added.iter().all(|name| name.contains("LockContention")),
        "{added:?}"
    );
    for (name, value) in &stock {
        assert_eq!(traced.get(name), Some(value), "{name}");
    }
}

#[test]
fn same_output_of_the_demo() {
    let stock = Jvm::untraced(Jdk::stock(), &["demo.Demo"]).run();
    let traced = Jvm::untraced(Jdk::traced(), &["demo.Demo"]).run();
    assert_eq!(
        (&traced.stdout, &traced.stderr),
        (&stock.stdout, &stock.stderr)
    );
    let files: Vec<_> = fs::read_dir(traced.directory())
        .expect("it ran there")
        .collect();
    assert_eq!(files.len(), 2, "stdout and stderr, but no trace: {files:?}");
}

#[test]
fn same_dynamic_symbols() {
    let symbols = |jdk: &Jdk| -> BTreeSet<String> {
        let table = tool(
            "nm",
            &["--dynamic", "--defined-only", "--format=posix"],
            &jdk.libjvm(),
        );
        // "NAME TYPE VALUE SIZE"; a name may come with a version after an @.
        table
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .map(str::to_owned)
            .collect()
    };
    let (stock, traced) = (symbols(Jdk::stock()), symbols(Jdk::traced()));
    assert!(
        stock.contains("JNI_CreateJavaVM@@SUNWprivate_1.1"),
        "{stock:?}"
    );
    assert_eq!(
        traced.difference(&stock).count(),
        0,
        "{:?}",
        traced.difference(&stock)
    );
    assert_eq!(
        stock.difference(&traced).count(),
        0,
        "{:?}",
        stock.difference(&traced)
    );
}

#[test]
fn no_undefined_symbols() {
    let relocations = tool("ldd", &["-r"], &Jdk::traced().libjvm());
    assert!(!relocations.contains("undefined symbol"), "{relocations}");
    assert!(!relocations.contains("not found"), "{relocations}");
}

/// An unpark of a thread that has its permit is one store there. What the tracer needs
/// more stands in a function of its own.
#[test]
fn no_locked_instruction_in_unpark() {
    assert_eq!(
        locked_instructions(Jdk::traced(), "_ZN6Parker6unparkEv"),
        locked_instructions(Jdk::stock(), "_ZN6Parker6unparkEv")
    );
}

/// The instructions of a function of the JVM that lock the bus or a cache line.
fn locked_instructions(jdk: &Jdk, function: &str) -> usize {
    let disassemble = format!("--disassemble={function}");
    let code = tool(
        "objdump",
        &["--no-show-raw-insn", &disassemble],
        &jdk.libjvm(),
    );
    assert!(code.contains(&format!("<{function}>:")), "{code}");
    let is_locked = |line: &&str| line.contains("lock ") || line.contains("xchg");
    code.lines().filter(is_locked).count()
}

/// The drainer runs while tracing, and only then.
#[test]
fn no_thread_of_the_tracer() {
    let hang = ["scenarios.Endings", "hang"];
    let mut untraced = Jvm::untraced(Jdk::traced(), &hang).start();
    untraced.await_line("contended");
    assert_eq!(tracer_threads(&untraced), 0);
    untraced.kill();

    let mut traced = Jvm::traced(&hang).start();
    traced.await_line("contended");
    assert_eq!(tracer_threads(&traced), 1);
    traced.kill();
}

fn tracer_threads(jvm: &RunningJvm) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", jvm.id())).expect("the program runs");
    let names = tasks.map(|task| {
        fs::read_to_string(task.expect("readable").path().join("comm")).expect("readable")
    });
    // Linux cuts a name off after 15 bytes.
    names
        .filter(|name| name.starts_with("locktrace-drain"))
        .count()
}

/// All flags of the JVM and their values.
fn flags(jdk: &Jdk) -> BTreeMap<String, String> {
    let all = [
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+PrintFlagsFinal",
        "-version",
    ];
    let output = output(jdk, &all);
    // "     uintx AdaptiveSizeDecrementScaleFactor          = 4                                   {product}"
    let flags = output.lines().filter_map(|line| {
        let (declaration, value) = line.split_once('=')?;
        let name = declaration.split_whitespace().nth(1)?.trim_end_matches(':');
        Some((name.to_owned(), value.trim().to_owned()))
    });
    flags.collect()
}

fn output(jdk: &Jdk, flags: &[&str]) -> String {
    let output = Command::new(jdk.tool("java"))
        .args(flags)
        .output()
        .expect("java can be started");
    assert!(output.status.success(), "{flags:?}: {}", output.status);
    let text = |bytes| String::from_utf8(bytes).expect("java prints UTF-8");
    text(output.stdout) + &text(output.stderr)
}

fn tool(name: &str, arguments: &[&str], library: &Path) -> String {
    let output = Command::new(name).args(arguments).arg(library).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name}: {}", output.status);
    // `ldd -r` reports undefined symbols on its standard error.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
