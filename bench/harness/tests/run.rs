//! Runs the harness on a jar that has the command lines of the known suites and
//! whose benchmarks have a known outcome, and on a bundled application.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jvm_tests::{Jdk, java_compiler, run_to_success, scratch_directory};
use serde_json::Value;
use tempfile::TempDir;

/// In each measured iteration of `parks`: those of the program, the mark of the
/// iteration's start, and the first park of the mark of its end, which takes a permit
/// that might be left over.
const PARKS_MEASURED: u64 = 10 + 1 + 1;

/// Compiles the jar of suites into a folder.
fn suite_jar(folder: &Path) -> PathBuf {
    compile(
        folder,
        &[".", "suite", "org/dacapo/harness", "org/renaissance"],
    );
    let content = ["Harness.class", "org", "suite"];
    jar(folder, &content, "suite.Renaissance")
}

/// The same, laid out as DaCapo 9.12-MR1 and the Scala suite: the harness lies in a
/// folder of the jar.
fn nested_suite_jar(folder: &Path) -> PathBuf {
    let harness = folder.join("harness");
    fs::create_dir(&harness).expect("a scratch folder is writable");
    compile(
        &harness,
        &["suite", "org/dacapo/harness", "org/renaissance"],
    );
    compile(folder, &["nested"]);
    jar(folder, &["Harness.class", "harness"], "Harness")
}

/// Compiles the suites' sources in some folders.
fn compile(classes: &Path, folders: &[&str]) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut compiler = java_compiler(classes);
    for below in folders {
        let entries = fs::read_dir(sources.join(below)).expect("the sources are there");
        let paths = entries.map(|entry| entry.expect("a folder is readable").path());
        compiler.args(paths.filter(|path| path.extension() == Some(OsStr::new("java"))));
    }
    run_to_success(&mut compiler);
}

/// Makes a jar of some files and folders in `folder`.
fn jar(folder: &Path, content: &[&str], main_class: &str) -> PathBuf {
    let path = folder.join("suite.jar");
    let mut jar = Command::new(Jdk::stock().tool("jar"));
    jar.arg("cfe").arg(&path).arg(main_class);
    for name in content {
        jar.arg("-C").arg(folder).arg(name);
    }
    run_to_success(&mut jar);
    path
}

/// Runs the harness.
fn bench(arguments: &[&OsStr]) -> Output {
    bench_with(Jdk::stock().home(), arguments)
}

/// Runs the harness with another stock JDK.
fn bench_with(stock: &Path, arguments: &[&OsStr]) -> Output {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_locktrace-bench"));
    bench.env("LOCKTRACE_JDK", Jdk::traced().home());
    bench.env("LOCKTRACE_JDK_STOCK", stock);
    bench.args(arguments).output().expect("the harness starts")
}

/// Runs the harness into a folder; returns its results.
fn results(folder: &TempDir, arguments: &[&OsStr]) -> Value {
    results_with(Jdk::stock().home(), folder, arguments)
}

/// Runs the harness with another stock JDK into a folder; returns its results.
fn results_with(stock: &Path, folder: &TempDir, arguments: &[&OsStr]) -> Value {
    let output = [OsStr::new("--output"), folder.path().as_os_str()];
    let run = bench_with(stock, &[&output, arguments].concat());
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{stderr}");
    read(folder.path())
}

fn read(folder: &Path) -> Value {
    let json = fs::read(folder.join("results.json")).expect("results are written");
    serde_json::from_slice(&json).expect("results are JSON")
}

fn words(line: &str) -> Vec<&OsStr> {
    line.split(' ').map(OsStr::new).collect()
}

/// The JVMs of a benchmark in a configuration.
fn jvms<'a>(results: &'a Value, name: &str, configuration: &str) -> Vec<&'a Value> {
    let jvms = results["jvms"].as_array().expect("a list of JVMs").iter();
    jvms.filter(|jvm| jvm["workload"]["name"] == name && jvm["configuration"] == configuration)
        .collect()
}

#[test]
fn a_suite_is_measured_and_its_failures_are_reported() {
    let folder = scratch_directory("bench-suite");
    let jar = suite_jar(folder.path());
    let mut arguments = words(
        "--configurations stock,compressed --rounds 2 --iterations 3 --keep 2 --size small \
         --heap 64m --benchmarks parks,wrong,crashes --dacapo",
    );
    arguments.push(jar.as_os_str());
    let results = results(&folder, &arguments);

    for configuration in ["stock", "compressed"] {
        let passed = jvms(&results, "parks", configuration);
        assert_eq!(passed.len(), 2, "a JVM in each round");
        for jvm in passed {
            let iterations = jvm["outcome"]["passed"]["iterations"].as_array();
            assert_eq!(iterations.map(Vec::len), Some(3), "{jvm}");
            assert!(jvm["peak_rss_bytes"].as_u64() > Some(10 << 20), "{jvm}");
        }
        for (name, reason) in [
            ("wrong", "failed wrong: wrong result"),
            ("crashes", "0 iterations, expected 3"),
        ] {
            for jvm in jvms(&results, name, configuration) {
                let failed = jvm["outcome"]["failed"]["reason"].as_str();
                assert!(
                    failed.is_some_and(|failed| failed.contains(reason)),
                    "{jvm}"
                );
            }
        }
    }
    let crash = &jvms(&results, "crashes", "stock")[0]["outcome"]["failed"]["stderr"];
    assert!(crash.to_string().contains("as requested"), "{crash}");

    for jvm in jvms(&results, "parks", "compressed") {
        let measured = &jvm["outcome"]["passed"]["traced"]["measured"];
        assert_eq!(
            measured["events"]["ParkBegin"],
            2 * PARKS_MEASURED,
            "{measured}"
        );
        assert!(measured["raw_bytes"].as_u64() > Some(20), "{measured}");
    }
    check_figures(&results);
    check_documents(folder.path());
    check_report(folder.path());
}

/// The harness lies in a folder of the jar. There is no stock JDK, and nobody asks for
/// it: ratios are to the first configuration.
#[test]
fn a_suite_with_a_nested_harness_is_measured_without_a_stock_jdk() {
    let folder = scratch_directory("bench-nested");
    let jar = nested_suite_jar(folder.path());
    let mut arguments = words(
        "--configurations off,compressed --rounds 1 --iterations 2 --keep 1 --size small \
         --heap 64m --benchmarks parks --dacapo",
    );
    arguments.push(jar.as_os_str());
    let results = results_with(Path::new("/nonexistent"), &folder, &arguments);

    for jvm in jvms(&results, "parks", "compressed") {
        let measured = &jvm["outcome"]["passed"]["traced"]["measured"];
        assert_eq!(measured["events"]["ParkBegin"], PARKS_MEASURED, "{jvm}");
    }
    let figures = &results["figures"];
    assert_eq!(figures["baseline"], "off", "{figures}");
    let ratio = |configuration| {
        let figures = &figures["workloads"][0]["configurations"][configuration];
        figures["time_ratio"]["median"].as_f64()
    };
    assert_eq!(ratio("off"), Some(1.0), "{figures}");
    assert!(ratio("compressed") > Some(0.0), "{figures}");
    let targets = results["targets"].as_array().expect("targets");
    let over_stock = targets.iter().filter(|target| {
        let demand = target["demand"].as_str().expect("a demand");
        demand.contains("stock") || demand.contains("no application")
    });
    for target in over_stock {
        assert_eq!(target["verdict"], "not-measured", "{target}");
    }
}

/// Two versions of the tracer, each with and without tracing, in one run.
#[test]
fn another_traced_jdk_is_compared_with() {
    let folder = scratch_directory("bench-other");
    let jar = suite_jar(folder.path());
    let other = folder.path().join("other-jdk");
    fs::create_dir_all(other.join("bin")).expect("a scratch folder is writable");
    let real = Jdk::traced().tool("java");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}/runs\nexec {} \"$@\"\n",
        other.display(),
        real.display()
    );
    for tool in ["java", "javac"] {
        let path = other.join("bin").join(tool);
        fs::write(&path, &script).expect("a scratch folder is writable");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, executable).expect("its file is ours");
    }
    let mut arguments = words(
        "--configurations other-off,other-compressed,compressed --rounds 1 --iterations 2 \
         --keep 1 --size small --heap 64m --benchmarks parks --dacapo",
    );
    arguments.push(jar.as_os_str());
    let without = bench(&arguments);
    let stderr = String::from_utf8_lossy(&without.stderr);
    assert_eq!(without.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("other-off needs a JDK: --other-jdk"),
        "{stderr}"
    );

    let named = [OsStr::new("--other-jdk"), other.as_os_str()];
    let results = results(&folder, &[&named, &arguments[..]].concat());
    for configuration in ["other-compressed", "compressed"] {
        let jvm = jvms(&results, "parks", configuration)[0];
        let measured = &jvm["outcome"]["passed"]["traced"]["measured"];
        assert_eq!(measured["events"]["ParkBegin"], PARKS_MEASURED, "{jvm}");
    }
    let runs = fs::read_to_string(other.join("runs")).expect("the other JDK ran");
    let measured = runs.lines().filter(|run| run.contains("parks"));
    let traced = measured.map(|run| run.contains("-XX:+TraceLockContention"));
    assert_eq!(traced.collect::<Vec<_>>(), [false, true], "{runs}");
}

/// Nothing is averaged over failures.
fn check_figures(results: &Value) {
    let figures = results["figures"]["workloads"].as_array().expect("figures");
    assert_eq!(figures.len(), 3);
    for workload in figures {
        let stock = &workload["configurations"]["stock"];
        let passes = workload["workload"]["name"] == "parks";
        let expected = if passes { (2, 0) } else { (0, 2) };
        let counts = ["jvms_passed", "jvms_failed"].map(|name| stock[name].as_u64());
        assert_eq!(counts, [Some(expected.0), Some(expected.1)], "{workload}");
        assert_eq!(stock["time_ns"].is_object(), passes, "{workload}");
        let ratio = &workload["configurations"]["compressed"]["time_ratio"]["median"];
        assert_eq!(
            ratio.as_f64().is_some_and(|ratio| ratio > 0.0),
            passes,
            "{workload}"
        );
    }
    let targets = results["targets"].as_array().expect("targets");
    assert!(
        targets
            .iter()
            .any(|target| target["number"] == 1 && target["verdict"] == "not-measured")
    );
}

fn check_documents(folder: &Path) {
    let tables = fs::read_to_string(folder.join("tables.md")).expect("tables are written");
    for part in [
        "dacapo:parks",
        "**Failed**: dacapo:crashes, compressed, round 2",
        "## Targets",
    ] {
        assert!(tables.contains(part), "no {part} in {tables}");
    }
    for name in [
        "figure-09-overhead",
        "figure-10-data-rate",
        "figure-11-event-types",
    ] {
        let svg = fs::read_to_string(folder.join(format!("{name}.svg"))).expect("plots are drawn");
        assert!(svg.contains("dacapo:parks"), "{name}");
        let png = fs::read(folder.join(format!("{name}.png"))).expect("plots are drawn");
        assert!(
            png.starts_with(b"\x89PNG") && png.len() > 5_000,
            "{name}: {} bytes",
            png.len()
        );
    }
}

/// Results of the same machine are put together; others are refused.
fn check_report(folder: &Path) {
    let other = scratch_directory("bench-report");
    let merge = |results: &Value| {
        let json = serde_json::to_vec(results).expect("results are JSON");
        fs::write(other.path().join("results.json"), json).expect("a scratch folder is writable");
        let merged = other.path().join("merged");
        let paths = [folder, other.path()].map(Path::as_os_str);
        let options = ["--report", "--output"].map(OsStr::new);
        let run = bench(&[
            options[0],
            paths[0],
            paths[1],
            options[1],
            merged.as_os_str(),
        ]);
        (run, merged)
    };
    let mut results = read(folder);
    let (run, merged) = merge(&results);
    assert!(run.status.success(), "{run:?}");
    let together = read(&merged);
    assert_eq!(together["rounds"], 4);
    let passed = &together["figures"]["workloads"][0]["configurations"]["stock"];
    let failed = ["jvms_passed", "jvms_failed"].map(|name| passed[name].as_u64().unwrap_or(0));
    assert_eq!(failed.iter().sum::<u64>(), 4, "{passed}");

    results["subject"]["machine"]["cpu_model"] = "another".into();
    let (run, _) = merge(&results);
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("different machines"), "{stderr}");
}

#[test]
fn what_hangs_is_killed_and_the_run_goes_on() {
    let folder = scratch_directory("bench-hangs");
    let jar = suite_jar(folder.path());
    let mut arguments = words(
        "--configurations stock --rounds 2 --iterations 1 --keep 1 --size small --timeout 2s \
         --benchmarks hangs --dacapo",
    );
    arguments.push(jar.as_os_str());
    let results = results(&folder, &arguments);
    let hanging = jvms(&results, "hangs", "stock");
    assert_eq!(hanging.len(), 2);
    for jvm in hanging {
        let reason = jvm["outcome"]["failed"]["reason"].as_str();
        assert!(
            reason.is_some_and(|reason| reason.contains("killed after 2 s")),
            "{jvm}"
        );
    }
}

#[test]
fn a_tracer_for_each_iteration_means_a_jvm_for_each() {
    let folder = scratch_directory("bench-renaissance");
    let jar = suite_jar(folder.path());
    let mut arguments = words(
        "--configurations compressed --rounds 1 --iterations 3 --keep 2 --size small --heap 64m \
         --reinitialize iteration --benchmarks parks,wrong --renaissance",
    );
    arguments.push(jar.as_os_str());
    let results = results(&folder, &arguments);
    let passed = jvms(&results, "parks", "compressed");
    assert_eq!(passed.len(), 2);
    for jvm in passed {
        let outcome = &jvm["outcome"]["passed"];
        assert_eq!(
            outcome["iterations"].as_array().map(Vec::len),
            Some(2),
            "{jvm}"
        );
        let events = &outcome["traced"]["measured"]["events"];
        assert_eq!(events["ParkBegin"], PARKS_MEASURED, "{jvm}");
    }
    let wrong = jvms(&results, "wrong", "compressed");
    assert!(
        wrong.iter().all(|jvm| jvm["outcome"]["failed"].is_object()),
        "{wrong:?}"
    );
}

#[test]
fn a_bundled_application_is_measured() {
    let folder = scratch_directory("bench-app");
    // Threads that take turns must wait for each other, whatever the processors do.
    let arguments = words(
        "--apps park-storm --configurations stock,compressed --rounds 1 --iterations 2 \
         --keep 1 --threads 4 --size small --heap 128m",
    );
    let results = results(&folder, &arguments);
    let figures = &results["figures"]["workloads"][0];
    let compressed = &figures["configurations"]["compressed"];
    assert_eq!(compressed["jvms_passed"], 1, "{results}");
    let trace = &compressed["trace"];
    assert!(trace["events_per_second"].as_f64() > Some(100.0), "{trace}");
    assert!(
        trace["raw_bytes_per_event"].as_f64() < Some(30.0),
        "{trace}"
    );
}

#[test]
fn wrong_usage_is_explained() {
    for (line, expected) in [
        (
            "--dacapo nowhere.jar",
            "no jar nowhere.jar: the DaCapo project",
        ),
        ("--renaissance nowhere.jar", "the Renaissance project"),
        ("--benchmarks xalan", "--benchmarks chooses from a jar"),
        ("--iterations 3 --keep 4", "cannot keep 4 of 3 iterations"),
        ("--rounds 0", "0 is not in 1.."),
        ("--configurations fast", "invalid value 'fast'"),
        ("--report nowhere", "nowhere/results.json"),
        ("--jdk nowhere", "no JDK in nowhere"),
    ] {
        let run = bench(&words(line));
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
}
