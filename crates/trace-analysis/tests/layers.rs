//! The files of the crate are layers: each imports only from its own layer or from those
//! below, and no two files import each other, not even by way of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of ARCHITECTURE.md, the lowest first, and their files.
const LAYERS: [(&str, &[&str]); 7] = [
    (
        "model",
        &[
            "contention",
            "counter",
            "entity",
            "entity_store",
            "hash",
            "id_set",
            "label",
            "library",
            "lock_group",
            "pending_chains",
            "placeholder",
            "room",
            "signature",
            "synchronizer",
            "time_range",
            "wait_sink",
        ],
    ),
    ("reading", &["trace_file", "trace_input"]),
    (
        "binding",
        &[
            "code_metadata",
            "forward_refs",
            "held_events",
            "metadata",
            "owned_event",
            "seen_owner",
            "stacks",
        ],
    ),
    (
        "ordering",
        &[
            "lock_event",
            "park::event",
            "park::order",
            "park::permits",
            "rearranger",
        ],
    ),
    (
        "blame",
        &[
            "last_events",
            "ledger",
            "lock_analyzer",
            "lock_dispatcher",
            "park",
            "park::code",
            "park::dispatcher",
            "park::lock_analyzer",
            "park::ownership",
            "park::recent_wakers",
            "park::sink",
            "park::waker",
            "parts",
            "timeline",
            "waiters",
        ],
    ),
    (
        "aggregation",
        &[
            "aggregation",
            "aspect",
            "method_table",
            "overloads",
            "pattern",
            "selection",
            "statistics",
            "still_blocked",
            "tally",
            "value",
            "worker_loop",
        ],
    ),
    (
        "analysis",
        &[
            "analysis",
            "blaming",
            "contents",
            "decode_ahead",
            "delivery",
            "file_analysis",
            "intake",
            "lib",
            "parallel",
            "snapshot",
        ],
    ),
];

/// The source files by the name of their module.
fn files() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![(String::new(), root)];
    while let Some((module, folder)) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            let name = path.file_stem().expect("a name").to_string_lossy();
            let name = match name.as_ref() {
                "mod" => module.clone(),
                name if module.is_empty() => name.to_owned(),
                name => format!("{module}::{name}"),
            };
            if path.is_dir() {
                folders.push((name, path));
            } else {
                found.insert(name, path);
            }
        }
    }
    found
}

/// The paths that a file imports, but for its tests: `crate::a::B`, `super::c::{D, E}`.
fn imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let uses = code.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
        line.starts_with("use ")
    });
    let statements = uses.map(|(at, _)| {
        let rest = code.lines().skip(at).collect::<Vec<_>>().join(" ");
        let (_, path) = rest.split_once("use ").expect("a use");
        path.split(';').next().unwrap_or(path).to_owned()
    });
    statements.collect()
}

/// The module that an import of `module` leads to, if it is one of the crate.
fn target(module: &str, import: &str, known: &BTreeMap<String, PathBuf>) -> Option<String> {
    let names: Vec<_> = import.split("::").map(str::trim).collect();
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let (base, names) = match names.split_first()? {
        (&"crate", names) => (String::new(), names),
        (&"super", names) => (parent.to_owned(), names),
        // A child of this module.
        _ => (module.to_owned(), names.as_slice()),
    };
    let mut found = Some(base.clone()).filter(|base| known.contains_key(base));
    let mut path = base;
    for name in names {
        path = if path.is_empty() {
            (*name).to_owned()
        } else {
            format!("{path}::{name}")
        };
        if known.contains_key(&path) {
            found = Some(path.clone());
        }
    }
    found.filter(|found| found != module)
}

fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let files = files();
    let edges = files.iter().map(|(module, path)| {
        let text = fs::read_to_string(path).expect("text");
        let imports = imports(&text);
        let targets = imports
            .iter()
            .filter_map(|import| target(module, import, &files));
        (module.clone(), targets.collect())
    });
    edges.collect()
}

fn layer(module: &str) -> usize {
    let found = LAYERS.iter().position(|(_, files)| files.contains(&module));
    found.unwrap_or_else(|| panic!("{module} is in no layer"))
}

#[test]
fn files_import_from_their_layer_and_those_below() {
    let graph = graph();
    assert!(graph["intake"].contains("rearranger"), "{graph:?}");
    assert!(graph["park::order"].contains("park::permits"), "{graph:?}");
    for (module, targets) in &graph {
        for target in targets.iter().filter(|_| module != "lib") {
            let (from, to) = (layer(module), layer(target));
            assert!(
                from >= to,
                "{module} ({}) imports {target} ({})",
                LAYERS[from].0,
                LAYERS[to].0
            );
        }
    }
    for (_, files) in LAYERS {
        for file in files {
            assert!(graph.contains_key(*file), "there is no {file}");
        }
    }
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    let mut graph = graph();
    // What imports nothing that is left is no part of a circle.
    loop {
        let modules: BTreeSet<_> = graph.keys().cloned().collect();
        let before = graph.len();
        graph.retain(|_, targets| targets.iter().any(|target| modules.contains(target)));
        if graph.len() == before {
            break;
        }
    }
    assert!(graph.is_empty(), "{graph:#?}");
}

#[test]
fn the_drawing_shows_the_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("text");
    let (_, drawing) = text
        .split_once("## The layers of the analysis")
        .expect("a chapter");
    let drawing = drawing.split("\n## ").next().unwrap_or(drawing);
    let rows = drawing.lines().filter(|line| line.starts_with("| **"));
    let rows = rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('*').to_owned();
        let files = cells[3]
            .split(", ")
            .map(|file| file.trim_matches('`').to_owned());
        (name, files.collect::<Vec<_>>())
    });
    let shown: Vec<_> = rows.collect();
    let expected = LAYERS.iter().rev().map(|(name, files)| {
        let files = files.iter().filter(|&&file| file != "lib");
        (
            (*name).to_owned(),
            files
                .map(|file| file.replace("::", "/"))
                .collect::<Vec<_>>(),
        )
    });
    assert_eq!(shown, expected.collect::<Vec<_>>());
}
