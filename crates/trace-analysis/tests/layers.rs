//! The files of the crate are layers: each imports only from its own layer or from those
//! below, and no two files import each other, not even by way of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, Macro, Path, UseName, UseRename, UseTree};

/// The layers of ARCHITECTURE.md, the lowest first, and their files.
const LAYERS: [(&str, &[&str]); 8] = [
    (
        "model",
        &[
            "batch",
            "contention",
            "counter",
            "entity",
            "entity::renamed",
            "entity_store",
            "few_map",
            "hash",
            "id_set",
            "kept_set",
            "label",
            "library",
            "lock_group",
            "maybe",
            "packed_owner",
            "pending_chains",
            "placeholder",
            "recent_map",
            "room",
            "search",
            "signature",
            "synchronizer",
            "time_range",
            "wait_sink",
        ],
    ),
    (
        "reading",
        &["feeder", "left_buffers", "trace_file", "trace_input"],
    ),
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
            "park::permit_map",
            "park::permits",
            "rearranger",
            "system_fact",
        ],
    ),
    (
        "blame",
        &[
            "by_thread",
            "freezes",
            "held_runs",
            "held_waits",
            "hook_parts",
            "known_waits",
            "last_events",
            "last_facts",
            "last_waits",
            "ledger",
            "lock_analyzer",
            "lock_dispatcher",
            "own_waits",
            "owner_fact",
            "owner_samples",
            "owner_spans",
            "park",
            "park::code",
            "park::dispatcher",
            "park::lock_analyzer",
            "park::ownership",
            "park::recent_wakers",
            "park::sink",
            "park::ticket_heap",
            "park::waker",
            "parts",
            "recent_roots",
            "roots",
            "run_delays",
            "safepoints",
            "shared_holds",
            "shared_run",
            "sharing",
            "stretches",
            "through",
            "timeline",
            "waiters",
        ],
    ),
    (
        "aggregation",
        &[
            "aggregation",
            "aspect",
            "convoys",
            "histogram",
            "lock_order",
            "method_table",
            "overloads",
            "owner_facts",
            "owner_times",
            "pattern",
            "recent_paths",
            "selection",
            "statistics",
            "still_blocked",
            "tally",
            "value",
            "wait_figures",
            "worker_loop",
        ],
    ),
    (
        "prediction",
        &[
            "what_if",
            "what_if::assumed",
            "what_if::clock",
            "what_if::hold",
            "what_if::holds",
            "what_if::known_lock",
            "what_if::known_thread",
            "what_if::observed",
            "what_if::owner_code",
            "what_if::program",
            "what_if::replay",
        ],
    ),
    (
        "analysis",
        &[
            "analysis",
            "blaming",
            "contents",
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
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
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

/// Collects the modules of the crate that a file names, but for its tests.
struct Imports<'a> {
    module: &'a str,
    known: &'a BTreeSet<String>,
    found: BTreeSet<String>,
}

impl Imports<'_> {
    /// Notes the module that a path leads to, if it is another one of the crate.
    fn add(&mut self, path: &[String]) {
        let Some((first, names)) = path.split_first() else {
            return;
        };
        let own = if self.module == "lib" {
            ""
        } else {
            self.module
        };
        let parent = own.rsplit_once("::").map_or("", |(parent, _)| parent);
        let (base, names) = match first.as_str() {
            "crate" => ("", names),
            "super" => (parent, names),
            "self" => (own, names),
            // A child of this module, or another crate.
            _ => (own, path),
        };
        let is_outside = base == own && !self.known.contains(&join(base, &names[..1]));
        if is_outside && !matches!(first.as_str(), "crate" | "super" | "self") {
            return;
        }
        let found = (0..=names.len()).rev().map(|len| join(base, &names[..len]));
        // What is in no other file is in the one of the base.
        let found = found.into_iter().find(|module| self.known.contains(module));
        let found = found.unwrap_or_else(|| "lib".to_owned());
        if found != self.module {
            self.found.insert(found);
        }
    }

    fn add_tree(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_tree(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(tree, before);
                }
            }
            UseTree::Name(UseName { ident, .. }) | UseTree::Rename(UseRename { ident, .. }) => {
                before.push(ident.to_string());
                self.add(before);
                before.pop();
            }
            _ => self.add(before),
        }
    }
}

/// The module of these names in `base`.
fn join(base: &str, names: &[String]) -> String {
    let base = Some(base.to_owned()).filter(|base| !base.is_empty());
    let names: Vec<_> = base.into_iter().chain(names.iter().cloned()).collect();
    names.join("::")
}

fn is_test(attributes: &[Attribute]) -> bool {
    let mut configurations = attributes
        .iter()
        .filter(|found| found.path().is_ident("cfg"));
    configurations.any(|found| {
        found
            .parse_args::<Path>()
            .is_ok_and(|name| name.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<_> = path
            .segments
            .iter()
            .map(|name| name.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, used: &'ast Macro) {
        // Tokens stand apart: what is between two names of a path is `::`.
        let text = used.tokens.to_string().replace(" :: ", "::");
        for word in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':')) {
            let names: Vec<_> = word.split("::").map(str::to_owned).collect();
            if names.len() > 1 && matches!(names[0].as_str(), "crate" | "super") {
                self.add(&names);
            }
        }
    }
}

/// The modules that the text of a file names.
fn imports(module: &str, text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let file = syn::parse_file(text).expect("a file of Rust");
    let mut imports = Imports {
        module,
        known,
        found: BTreeSet::new(),
    };
    imports.visit_file(&file);
    imports.found
}

fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let files = files();
    let known = files.keys().cloned().collect();
    let edges = files.iter().map(|(module, path)| {
        let text = fs::read_to_string(path).expect("text");
        (module.clone(), imports(module, &text, &known))
    });
    edges.collect()
}

#[test]
fn every_way_to_name_a_file_is_found() {
    let known = ["a", "b", "c", "d", "e", "lib", "park", "park::x", "park::y"];
    let known = known.map(str::to_owned).into();
    let found = |module, text| {
        imports(module, text, &known)
            .into_iter()
            .collect::<Vec<_>>()
    };
    let text = "
        use std::fmt;
        use crate::{a::{self, Thing}, b};
        pub(crate) use crate::c::*;
        impl Thing {
            fn make(&self) -> crate::d::Other { println!(\"{}\", crate::e::NAME); }
        }
        #[cfg(test)]
        mod tests { use crate::park::x::Test; }
    ";
    assert_eq!(found("park::x", text), ["a", "b", "c", "d", "e"]);
    let text = "use super::y::Thing; fn other() -> super::Sum { 0 }";
    assert_eq!(found("park::x", text), ["park", "park::y"]);
    assert_eq!(found("park", "mod x; use x::Thing;"), ["park::x"]);
    assert_eq!(
        found("lib", "mod a; pub use a::Thing; use regex::b;"),
        ["a"]
    );
    // What the crate exports is in its root.
    assert_eq!(found("a", "use crate::Thing;"), ["lib"]);
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
        for target in targets {
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
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
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
