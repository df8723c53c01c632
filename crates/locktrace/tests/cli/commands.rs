//! Commands on sound traces.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use insta::assert_snapshot;
use serde_json::Value;
use trace_analysis::{Aspect, PLACEHOLDERS, UnknownOwner, WaitKind};

use crate::sample::{HASHTABLE_GET, HASHTABLE_PUT, PRINT, Sample};
use crate::{directory_with, locktrace, succeed};

fn demo(arguments: &str) -> String {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    succeed(directory.path(), arguments)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// One value for each line.
fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(json).collect()
}

#[test]
fn report() {
    assert_snapshot!(demo("report demo.lct"));
}

#[test]
fn locks() {
    assert_snapshot!(demo("locks demo.lct"));
    assert_snapshot!(demo(
        "locks demo.lct --wide --sort max_ns --top 1 --kind all"
    ));
}

#[test]
fn threads() {
    assert_snapshot!(demo("threads demo.lct"));
    assert_snapshot!(demo("threads demo.lct --sort caused_ns --format csv"));
}

#[test]
fn lock_order_without_nesting() {
    assert_snapshot!(demo("lock-order demo.lct"));
}

#[test]
fn convoys() {
    assert_snapshot!(demo("convoys demo.lct"));
    let found = json(&demo("convoys demo.lct --min-waits 1 --format json"));
    let report = json(&demo("report demo.lct --format json"));
    let convoys = found["convoys"].as_array().expect("convoys").iter();
    // Each wait is in one of them.
    for key in ["waits", "blocked_ns"] {
        let sum: u64 = convoys
            .clone()
            .map(|it| it[key].as_u64().expect("a number"))
            .sum();
        let total = if key == "waits" {
            "waits"
        } else {
            "duration_ns"
        };
        assert_eq!(Some(sum), report["totals"][total].as_u64(), "{key}");
    }
}

/// The figures of locks and threads are about the same waits as a report.
#[test]
fn figures_add_up_to_the_report() {
    let blocked_ns = |command: &str| -> u64 {
        let figures = json(&demo(command));
        let rows = figures["rows"].as_array().expect("rows");
        let numbers = rows.iter().map(|row| row["blocked_ns"].as_u64());
        numbers.map(|number| number.expect("a number")).sum()
    };
    for options in [
        "",
        " --kind all",
        " --from 1ms --to 3ms",
        " --lock-class *Hashtable",
    ] {
        let report = json(&demo(&format!("report demo.lct --format json{options}")));
        let total = report["totals"]["duration_ns"].as_u64();
        for command in ["locks", "threads"] {
            let found = blocked_ns(&format!("{command} demo.lct --format json{options}"));
            assert_eq!(Some(found), total, "{command}{options}");
        }
    }
}

#[test]
fn report_by_chains() {
    assert_snapshot!(demo(
        "report demo.lct --by lock,owner-chain,chain --top 2 --min-share 1"
    ));
}

#[test]
fn report_with_full_chains() {
    assert_snapshot!(demo(
        "report demo.lct --by owner-chain,thread --full-chains --top 1"
    ));
}

#[test]
fn report_as_csv() {
    assert_snapshot!(demo(
        "report demo.lct --by mechanism,lock,owner-thread --format csv"
    ));
}

#[test]
fn csv_row_without_a_large_enough_child_is_left_out() {
    let csv = demo("report demo.lct --by lock-class,thread --min-share 45 --format csv");
    let lock_classes: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(lock_classes, ["lock-class", "java.util.Hashtable"]);
    let csv = demo("report demo.lct --by lock-class,thread --min-share 80 --format csv");
    assert_eq!(csv.lines().count(), 1, "{csv}");
}

#[test]
fn report_as_json() {
    assert_snapshot!(demo(
        "report demo.lct --by lock-class,owner-chain --top 1 --format json"
    ));
}

#[test]
fn rows_with_little_time_are_added_up_unless_asked_for() {
    let mut sample = Sample::new(&["main", "worker-1"]);
    for (lock, start_us, duration_us) in [(1, 0, 10_000), (2, 20_000, 9), (3, 20_010, 8)] {
        sample.enter(2, lock, start_us, HASHTABLE_GET);
        sample.exit(1, lock, start_us + duration_us, HASHTABLE_PUT);
        sample.entered(2, lock, start_us + duration_us, 0);
    }
    let directory = directory_with(&sample, "small.lct");
    let output = |arguments: &str| {
        let report = succeed(directory.path(), &format!("report small.lct {arguments}"));
        let classes = [
            "java.util.Hashtable",
            "Class of avrora.util.Terminal",
            "Queue",
        ];
        let count = |class| report.lines().any(|line| line.ends_with(class)).into();
        let shown: u64 = classes.map(count).iter().sum();
        (shown, report.contains("  and 2 more, 17.0 µs in all\n"))
    };
    assert_eq!(output("--by lock-class"), (1, true));
    for asked_for in ["--all", "--min-share 0"] {
        assert_eq!(output(&format!("--by lock-class {asked_for}")), (3, false));
    }
    let json = json(&succeed(
        directory.path(),
        "report small.lct --by lock --format json",
    ));
    assert_eq!(json["tree"].as_array().expect("rows").len(), 3);
    let csv = succeed(directory.path(), "report small.lct --by lock --format csv");
    assert_eq!(csv.lines().count(), 1 + 3);
}

/// Idle workers apart. What is shown unasked must not be mistaken for contention.
#[test]
fn conditional_waiting_is_shown_where_it_outweighs_contention() {
    let mut sample = Sample::demo();
    sample.wait_for_condition(2, 1, 1_000);
    let directory = directory_with(&sample, "latch.lct");
    let report =
        |arguments: &str| succeed(directory.path(), &format!("report latch.lct{arguments}"));
    assert!(!report("").contains("woken by"), "{}", report(""));

    sample.wait_for_condition(2, 1, 1_000_000);
    sample.save(directory.path(), "latch.lct");
    assert_snapshot!(report(""));
    for arguments in [" --kind contention", " --kind all"] {
        assert!(!report(arguments).contains("\nConditional "), "{arguments}");
    }
    let tree = &json(&report(" --format json"))["tree"];
    assert!(!tree.to_string().contains("CountDownLatch"), "{tree}");
}

#[test]
fn help_explains_what_reports_print() {
    let help = demo("report --help");
    // However wide the terminal is.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let reasons = UnknownOwner::ALL.map(UnknownOwner::label);
    let kinds = WaitKind::ALL.map(WaitKind::name);
    let aspects = Aspect::ALL.map(Aspect::name);
    let placeholders = PLACEHOLDERS.map(|(placeholder, _)| placeholder);
    let words = reasons
        .iter()
        .chain(&kinds)
        .chain(&aspects)
        .chain(&placeholders);
    for word in words {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn json_tree_is_whole_unless_asked_otherwise() {
    let report = json(&demo(
        "report demo.lct --by thread,owner-thread,method --format json",
    ));
    let sum = |rows: &Value, field: &str| -> u64 {
        rows.as_array()
            .expect("rows")
            .iter()
            .map(|row| row[field].as_u64().expect(field))
            .sum()
    };
    assert_eq!(
        sum(&report["tree"], "duration_ns"),
        report["totals"]["duration_ns"]
    );
    assert_eq!(
        sum(&report["tree"], "contentions"),
        report["totals"]["contentions"]
    );
    for row in report["tree"].as_array().expect("rows") {
        assert_eq!(sum(&row["children"], "duration_ns"), row["duration_ns"]);
    }
}

#[test]
fn contentions() {
    let records = json_lines(&demo("contentions demo.lct"));
    let report = json(&demo("report demo.lct --format json"));
    let duration_ns: u64 = records
        .iter()
        .map(|record| record["duration_ns"].as_u64().expect("a duration"))
        .sum();
    assert_eq!(duration_ns, report["totals"]["duration_ns"]);
    assert_eq!(records.len() as u64, report["totals"]["contentions"]);

    let known = records.iter().find(|record| record["after_wait"] == true);
    assert_snapshot!(serde_json::to_string_pretty(known.expect("one")).expect("JSON"));
    let unknown = records
        .iter()
        .find(|record| record["owner"].is_null())
        .expect("one");
    assert_eq!(unknown["unknown_reason"], "handoff");
    assert!(unknown["owner_chain"].is_null());
}

#[test]
fn chains_that_are_cut_off_say_so() {
    let mut sample = Sample::demo();
    sample.cut_off_chains();
    let directory = directory_with(&sample, "deep.lct");
    let output = |arguments| succeed(directory.path(), arguments);

    for record in json_lines(&output("contentions deep.lct")) {
        assert_eq!(record["chain_truncated"], true, "{record}");
        let has_owner_chain = !record["owner_chain"].is_null();
        assert_eq!(record["owner_chain_truncated"] == true, has_owner_chain);
    }
    let csv = output("report deep.lct --by chain --format csv");
    for row in csv.lines().skip(1) {
        assert!(row.contains(";...,"), "{row}");
    }
    let table = output("report deep.lct --by chain --full-chains");
    let cut_off = table.lines().filter(|line| line.ends_with("..."));
    assert_eq!(cut_off.count(), csv.lines().skip(1).count(), "{table}");
}

#[test]
fn contentions_as_csv() {
    let text = demo("contentions demo.lct --format csv");
    let first: Vec<&str> = text.lines().take(3).collect();
    assert_snapshot!(first.join("\n"));
}

/// The table has the longest waits of those that the options select, in their order, and all parts
/// of each.
#[test]
fn the_longest_waits() {
    let options = "--of owner-thread=w* --exclude method=*await*";
    let mut waits = BTreeMap::<String, u64>::new();
    for record in json_lines(&demo(&format!("contentions demo.lct {options}"))) {
        let id = record["wait_id"].as_str().expect("text").to_owned();
        *waits.entry(id).or_default() += record["duration_ns"].as_u64().expect("a number");
    }
    let mut longest: Vec<_> = waits.into_values().collect();
    longest.sort_unstable_by(|a, b| b.cmp(a));
    assert!(longest.len() > 4, "{longest:?}");
    let table = demo(&format!(
        "contentions demo.lct --format table --top 4 {options}"
    ));
    let rows = table.lines().filter(|line| line.contains(" waits for "));
    let shown = rows.map(|row| {
        row.split_whitespace()
            .skip(2)
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    });
    let expected = longest[..4]
        .iter()
        .map(|&ns| trace_report::human::duration(ns));
    assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert_snapshot!(table);
    let usage = locktrace(
        Path::new("."),
        "contentions demo.lct --format table --top 0",
    );
    assert_eq!(usage.code, Some(2));
}

#[test]
fn stat() {
    assert_snapshot!(demo("stat demo.lct"));
}

#[test]
fn stat_as_json() {
    let stat = json(&demo("stat demo.lct --format json"));
    let trace = &stat["traces"][0];
    assert_eq!(trace["complete"], true);
    assert_eq!(trace["chain_references"], 200);
    assert_eq!(trace["tracer"]["drainer_cpu_ns"], 412_000);
    assert_eq!(trace["analysis"]["unbalanced_waits"], 0);
    let events: u64 = trace["events"]
        .as_array()
        .expect("types")
        .iter()
        .map(|event_type| event_type["events"].as_u64().expect("a number"))
        .sum();
    assert_eq!(
        events,
        json_lines(&demo("dump demo.lct --format jsonl")).len() as u64
    );
}

#[test]
fn stat_of_costs() {
    let mut sample = Sample::demo();
    sample.count_costs();
    let directory = directory_with(&sample, "costs.lct");
    assert_snapshot!(succeed(directory.path(), "stat costs.lct"));
    let stat = json(&succeed(directory.path(), "stat costs.lct --format json"));
    let trace = &stat["traces"][0];
    assert_eq!(trace["chain_cost"]["found"], 198);
    let hooks = trace["hook_costs"].as_array().expect("hooks");
    let kinds: Vec<&Value> = hooks.iter().map(|cost| &cost["hook"]).collect();
    assert_eq!(kinds, ["enter", "entered", "exit", "interrupted"]);
    assert_eq!(hooks[0]["duration_ns"], 30_500);
    assert_eq!(trace["tracer"]["frames_saved"], 800);
}

#[test]
fn stat_of_older_traces_is_silent_about_costs() {
    let stat = json(&demo("stat demo.lct --format json"));
    let trace = &stat["traces"][0];
    assert_eq!(trace["chain_cost"], Value::Null);
    assert_eq!(trace["hook_costs"], Value::Array(Vec::new()));
}

#[test]
fn dump() {
    let text = demo("dump demo.lct");
    let mut one_of_each: Vec<&str> = Vec::new();
    for line in text.lines() {
        if !one_of_each
            .iter()
            .any(|known| event_type(known) == event_type(line))
        {
            one_of_each.push(line);
        }
    }
    assert_snapshot!(one_of_each.join("\n"));
}

fn event_type(line: &str) -> Option<&str> {
    line.split_whitespace()
        .find(|word| word.starts_with(char::is_uppercase))
}

#[test]
fn several_traces_are_added_up() {
    let directory = directory_with(&Sample::demo(), "one.lct");
    Sample::demo().save(directory.path(), "two.lct");
    let totals =
        |arguments| json(&succeed(directory.path(), arguments))["totals"]["duration_ns"].as_u64();
    let one = totals("report one.lct --format json").expect("a duration");
    assert_eq!(
        totals("report one.lct two.lct --format json"),
        Some(2 * one)
    );
    let tables = succeed(directory.path(), "stat one.lct two.lct");
    assert_eq!(tables.matches("\nTracer  ").count(), 2 * 2, "{tables}");
}

#[test]
fn trace_without_contention_says_so() {
    let directory = directory_with(&Sample::new(&["main"]), "idle.lct");
    assert_snapshot!(succeed(directory.path(), "report idle.lct"));
    assert_eq!(succeed(directory.path(), "contentions idle.lct"), "");
    // A program that reads it finds the same columns as ever.
    let csv = succeed(directory.path(), "locks idle.lct --format csv");
    let columns = demo("locks demo.lct --format csv");
    assert_eq!(
        csv.lines().collect::<Vec<_>>(),
        columns.lines().take(1).collect::<Vec<_>>()
    );
}

/// Threads 2 and 3 have what the other one wants, thread 4 waits for one of them. Thread
/// 3 had to wait for what it has.
pub(crate) fn deadlocked() -> Sample {
    let mut sample = Sample::new(&["main", "worker-1", "worker-2", "worker-3"]);
    sample.enter_after_owner(3, 1, 100, HASHTABLE_PUT, 1);
    sample.exit(1, 1, 200, HASHTABLE_GET);
    sample.entered(3, 1, 210, 0);
    sample.enter_after_owner(3, 2, 1_000, PRINT, 2);
    sample.enter_after_owner(2, 1, 2_000, HASHTABLE_GET, 3);
    sample.enter_after_owner(4, 1, 50_000, HASHTABLE_GET, 3);
    sample
}

#[test]
fn deadlocks_come_first() {
    let directory = directory_with(&deadlocked(), "deadlock.lct");
    assert_snapshot!(succeed(directory.path(), "report deadlock.lct"));
    let report = json(&succeed(
        directory.path(),
        "report deadlock.lct --format json",
    ));
    assert_snapshot!(serde_json::to_string_pretty(&report["deadlocks"]).expect("JSON"));
    let contentions = succeed(directory.path(), "contentions deadlock.lct --format jsonl");
    let open = json_lines(&contentions)
        .iter()
        .filter(|part| part["ended"] == false)
        .map(|part| {
            (
                part["thread"]["name"].clone(),
                part["owner"]["name"].clone(),
            )
        })
        .collect::<Vec<_>>();
    let expected = [
        ("worker-2", "worker-1"),
        ("worker-1", "worker-2"),
        ("worker-3", "worker-2"),
    ];
    assert_eq!(
        open,
        expected.map(|(thread, owner)| (thread.into(), owner.into()))
    );
}

#[test]
fn deadlocks_of_each_trace() {
    let directory = directory_with(&deadlocked(), "one.lct");
    deadlocked().save(directory.path(), "two.lct");
    Sample::demo().save(directory.path(), "sound.lct");
    let text = succeed(directory.path(), "report one.lct sound.lct two.lct");
    let headings = text.lines().filter(|line| line.starts_with("DEADLOCK "));
    let headings: Vec<_> = headings.collect();
    assert_eq!(headings.len(), 2, "{text}");
    assert!(headings[0].contains("in one.lct"), "{text}");
    assert!(headings[1].contains("in two.lct"), "{text}");
}

#[test]
fn losses_are_loud() {
    let mut sample = Sample::new(&["main", "worker-1"]);
    sample.enter(2, 1, 10, HASHTABLE_GET);
    sample.lose(1, 1);
    sample.exit(1, 1, 50, HASHTABLE_PUT);
    sample.entered(2, 1, 53, 0);
    let directory = directory_with(&sample, "lossy.lct");
    let run = locktrace(directory.path(), "report lossy.lct");
    assert_eq!(run.code, Some(1));
    assert_snapshot!(run.stdout);
}

/// A thread is woken and does not run yet; another one has the lock for a moment.
#[test]
fn time_in_which_the_lock_was_free_is_not_blamed_on_anybody() {
    let mut sample = Sample::new(&["main", "worker-1", "worker-2"]);
    sample.enter(2, 1, 10, HASHTABLE_GET);
    sample.exit(1, 1, 50, HASHTABLE_PUT);
    sample.exit_after(3, 1, 80, HASHTABLE_PUT, 10);
    sample.entered(2, 1, 100, 0);
    let directory = directory_with(&sample, "free.lct");
    let run = locktrace(directory.path(), "report free.lct");
    assert_eq!(run.code, Some(0));
    assert_snapshot!(run.stdout);

    let report = json(&locktrace(directory.path(), "report free.lct --format json").stdout);
    let totals = &report["totals"];
    assert_eq!(totals["free_ns"], 40_000);
    assert_eq!(totals["barging_holds"], 1);
    assert_eq!(totals["unknown_owner_ns"], 0);
    let contentions = locktrace(directory.path(), "contentions free.lct").stdout;
    let free = contentions
        .lines()
        .filter(|line| line.contains("\"free\":true"));
    assert_eq!(free.count(), 2);
    let dump = locktrace(directory.path(), "dump free.lct").stdout;
    assert!(dump.contains("hold_ns=10000"), "{dump}");
    let stat = locktrace(directory.path(), "stat free.lct").stdout;
    assert!(stat.contains("Guarantees  holds"), "{stat}");
}

#[test]
fn colours_only_where_wanted() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let has_colours = |name, value| {
        let mut command = Command::cargo_bin("locktrace").expect("built by cargo");
        command
            .current_dir(directory.path())
            .args(["report", "demo.lct"])
            .env(name, value);
        let output = command.output().expect("can be started");
        output.stdout.contains(&0x1b)
    };
    assert!(has_colours("CLICOLOR_FORCE", "1"));
    assert!(!has_colours("NO_COLOR", "1"));
}

#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = demo(&format!("completions {shell}"));
        assert!(script.contains("owner-method"), "{shell}");
        for command in ["report", "summary", "query", "view"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
        // Options of the viewer, and what can be asked.
        for word in ["export", "compare", "histogram", "embedded"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn manual_pages() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    assert_eq!(succeed(directory.path(), "man ."), "");
    for (page, words) in [
        ("locktrace.1", "contentions"),
        ("locktrace-report.1", "owner"),
        ("locktrace-view.1", "export"),
    ] {
        let page = directory.path().join(page);
        let roff = fs::read_to_string(&page).expect("a page of each command");
        assert!(roff.contains(".SH OPTIONS"), "{}", page.display());
        assert!(roff.contains(words), "{}", page.display());
    }
    let run = locktrace(directory.path(), "man no/such/folder");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("no/such/folder"), "{}", run.stderr);
}

/// Begin and end of each contention, in nanoseconds.
fn times(contentions: &str) -> Vec<(u64, u64)> {
    let records = json_lines(contentions).into_iter();
    let times = records.map(|record| {
        let field = |name: &str| record[name].as_u64().expect("a number");
        (field("start_ns"), field("start_ns") + field("duration_ns"))
    });
    times.collect()
}

#[test]
fn a_part_of_the_time_is_what_is_left_of_all() {
    let all = times(&demo("contentions demo.lct --kind all"));
    let start_ns = all
        .iter()
        .map(|&(start_ns, _)| start_ns)
        .min()
        .expect("some");
    let end_ns = all.iter().map(|&(_, end_ns)| end_ns).max().expect("some");
    let third_ns = (end_ns - start_ns) / 3;
    let (from_ns, until_ns) = (start_ns + third_ns, end_ns - third_ns);
    let inside = all.iter().filter_map(|&(start_ns, end_ns)| {
        let inside = (start_ns.max(from_ns), end_ns.min(until_ns));
        (inside.0 < inside.1).then_some(inside)
    });
    let inside: Vec<_> = inside.collect();
    assert!(!inside.is_empty() && inside.len() < all.len());

    let range = format!("--from {from_ns}ns --to {until_ns}ns");
    let found = times(&demo(&format!("contentions demo.lct --kind all {range}")));
    assert_eq!(found, inside);
    let report = json(&demo(&format!(
        "report demo.lct --kind all --format json {range}"
    )));
    let sum_ns: u64 = inside
        .iter()
        .map(|(start_ns, end_ns)| end_ns - start_ns)
        .sum();
    assert_eq!(report["totals"]["duration_ns"].as_u64(), Some(sum_ns));
    assert_eq!(
        report["trace"]["duration_ns"].as_u64(),
        Some(until_ns - from_ns)
    );

    let events = json_lines(&demo(&format!("dump demo.lct --format jsonl {range}")));
    assert!(!events.is_empty());
    for event in events {
        let time_ns = event["time_ns"].as_u64().expect("a time");
        assert!((from_ns..until_ns).contains(&time_ns), "{event}");
    }
}

#[test]
fn times_before_the_end_are_those_since_the_start() {
    let all = json(&demo("report demo.lct --format json"));
    let trace = &all["trace"];
    let end_ns = trace["duration_ns"].as_u64().expect("a number");
    let half_ns = end_ns / 2;
    let since_start = demo(&format!("report demo.lct --from {}ns", end_ns - half_ns));
    assert_eq!(
        demo(&format!("report demo.lct --from -{half_ns}ns")),
        since_start
    );
    assert_eq!(
        demo("report demo.lct --from -100000days"),
        demo("report demo.lct --from 0s")
    );
}

#[test]
fn filters_leave_what_they_name() {
    let all = json_lines(&demo("contentions demo.lct"));
    let text = |record: &serde_json::Value, field: &str| record[field].as_str().map(str::to_owned);
    let of_object = |record: &&serde_json::Value| record["mirrored_class"].is_null();
    let object = all.iter().find(of_object).expect("an object");
    let class = text(object, "lock_class").expect("a class");
    let of_class = |record: &serde_json::Value| text(record, "lock_class").as_ref() == Some(&class);
    let (with, without): (Vec<_>, Vec<_>) = all.into_iter().partition(of_class);
    assert!(!with.is_empty() && !without.is_empty());
    let contentions = |options: &str| json_lines(&demo(&format!("contentions demo.lct {options}")));
    assert_eq!(contentions(&format!("--lock-class {class}")), with);
    assert_eq!(
        contentions(&format!("--exclude lock-class={class}")),
        without
    );
    let hand_offs = contentions("--owner-method *hand-off*");
    assert!(!hand_offs.is_empty());
    let reason = |record: &serde_json::Value| text(record, "unknown_reason");
    assert!(
        hand_offs
            .iter()
            .all(|record| reason(record).as_deref() == Some("handoff"))
    );
    let report = json(&demo(
        "report demo.lct --format json --owner-method *hand-off*",
    ));
    let durations_ns = hand_offs
        .iter()
        .filter_map(|record| record["duration_ns"].as_u64());
    let sum_ns: u64 = durations_ns.sum();
    assert_eq!(report["totals"]["duration_ns"].as_u64(), Some(sum_ns));
}

/// Runs `locktrace` with the trace at `path` on its standard input.
fn piped(path: &std::path::Path, arguments: &str) -> String {
    let output = assert_cmd::Command::cargo_bin("locktrace")
        .expect("built by cargo")
        .args(arguments.split_whitespace())
        .pipe_stdin(path)
        .expect("a trace")
        .output()
        .expect("can be started");
    assert_eq!(output.status.code(), Some(0), "{arguments}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_pipe_says_the_same_as_a_file() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let path = directory.path().join("demo.lct");
    for command in ["report", "contentions", "stat", "dump"] {
        let file = succeed(directory.path(), &format!("{command} demo.lct"));
        let pipe = piped(&path, &format!("{command} -"));
        assert_eq!(pipe.replace("<stdin>", "demo.lct"), file, "{command}");
        // The process that wrote it is not there any more.
        let followed = succeed(directory.path(), &format!("{command} --follow demo.lct"));
        assert_eq!(followed, file, "{command}");
    }
}

#[test]
fn the_end_of_a_pipe_cannot_be_looked_at_first() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    assert_cmd::Command::cargo_bin("locktrace")
        .expect("built by cargo")
        .args(["report", "-", "--from", "-5s"])
        .pipe_stdin(directory.path().join("demo.lct"))
        .expect("a trace")
        .assert()
        .code(3);
}
