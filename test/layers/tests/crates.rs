//! Checks the crates of this workspace.

use std::fs;

use layers::{circles, folder_of, graph, workspace};

/// Crates of which no two files depend on each other.
const CRATES: [&str; 10] = [
    "crates/agent",
    "crates/bytecode-instrumentation",
    "crates/locktrace",
    "crates/trace-analysis",
    "crates/trace-comparison",
    "crates/trace-export",
    "crates/trace-format",
    "crates/trace-model",
    "crates/trace-report",
    "rust-tracer",
];

/// The folders of `crates/trace-analysis/src`, the lowest layer first. Those of one layer stand together.
const ANALYSIS: [&[&str]; 15] = [
    &["collections"],
    &["model"],
    &["input"],
    &["resolve"],
    &["order"],
    &["blame/facts"],
    &["blame/timeline"],
    &["blame/monitor"],
    &["blame/park"],
    &["blame/root_owner", "blame/activity"],
    &["blame"],
    &["aggregate"],
    &["what_if"],
    &["pipeline"],
    &["lib"],
];

/// The folders and files of `rust-tracer/src`, likewise. What the last ones have is for tests and benchmarks.
const TRACER: [&[&str]; 13] = [
    &["primitive", "fallible", "text", "os", "counters"],
    &["cycles"],
    &["park_domains", "site_table", "facts", "buffers"],
    &["threads"],
    &["chains"],
    &["output"],
    &["runtime"],
    &["lock"],
    &["tracer"],
    &["live", "drain"],
    &["lifecycle"],
    &["ffi"],
    &["lib", "bench", "loom_tests"],
];

/// Those of `crates/locktrace/src`, likewise.
const COMMAND_LINE: [&[&str]; 8] = [
    &["outcome"],
    &["files", "text"],
    &["output"],
    &["arguments", "jvm", "problem"],
    &["input"],
    &["redaction", "top", "view"],
    &["commands"],
    &["cli", "main"],
];

/// The folders and files of `crates/agent/src`, likewise.
const AGENT: [&[&str]; 10] = [
    &["ffi", "messages"],
    &["classes", "slots"],
    &["monitors", "parks"],
    &["instrumentation"],
    &["changes", "threads"],
    &["methods"],
    &["session"],
    &["hooks"],
    &["commands"],
    &["entry", "lib"],
];

#[test]
fn no_file_depends_on_itself_by_way_of_others() {
    for name in CRATES {
        let found = circles(graph(&workspace().join(name)));
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn folders_depend_on_those_below() {
    check_layers("crates/trace-analysis", &ANALYSIS);
    check_layers("rust-tracer", &TRACER);
    check_layers("crates/locktrace", &COMMAND_LINE);
    check_layers("crates/agent", &AGENT);
}

fn check_layers(name: &str, layers: &[&[&str]]) {
    let folders: Vec<&str> = layers
        .iter()
        .flat_map(|layer| layer.iter().copied())
        .collect();
    let find = |module: &str| {
        let folder = folder_of(module, &folders)
            .unwrap_or_else(|| panic!("{name}: {module} is in no layer"));
        let layer = layers
            .iter()
            .position(|layer| layer.contains(&folders[folder]));
        (layer.expect("of a layer"), folders[folder])
    };
    for (module, targets) in graph(&workspace().join(name)) {
        let (from, from_folder) = find(&module);
        for target in targets {
            let (to, to_folder) = find(&target);
            let is_below = to < from || to_folder == from_folder;
            assert!(
                is_below,
                "{name}: {module} depends on {target}, which is in no layer below"
            );
        }
    }
}

/// The table of ARCHITECTURE.md has a row for each folder, the highest first.
#[test]
fn the_table_shows_the_folders() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).expect("text");
    let (_, table) = text
        .split_once("## The layers of the analysis")
        .expect("a chapter");
    let table = table.split("\n## ").next().unwrap_or(table);
    let rows = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let shown: Vec<&str> = rows.collect();
    let top = |folder: &&&str| !folder.contains('/') && **folder != "lib";
    let folders = ANALYSIS.iter().rev().flat_map(|layer| layer.iter());
    let expected: Vec<&str> = folders.filter(top).copied().collect();
    assert_eq!(shown, expected);
}
