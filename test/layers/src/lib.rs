//! Reads from the source files of a crate which of them name which others.
//!
//! A file that names another one, in a `use` line or elsewhere, depends on it. Tests of a file do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, Macro, UseName, UseRename, UseTree, Visibility};

/// Finds the source files of a crate, by the names of their modules.
fn files(crate_folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(String::new(), crate_folder.join("src"))];
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
            } else if path.extension().is_some_and(|extension| extension == "rs") {
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
        // An item that is in no other file is in the root.
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

/// Returns whether an item is compiled for tests only: `cfg(test)`, or `cfg(all(test, …))`.
fn is_test(attributes: &[Attribute]) -> bool {
    let conditions = attributes
        .iter()
        .filter(|found| found.path().is_ident("cfg"));
    let mut first_names = conditions.filter_map(|found| {
        let words = found.meta.require_list().ok()?.tokens.to_string();
        let mut words = words
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned);
        words.find(|word| word != "all")
    });
    first_names.any(|name| name == "test")
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

    /// The visibility of an item is no dependency.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
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
        // Tokens stand apart: what is between two names of a path is `::`. Texts name nothing.
        let text = used.tokens.to_string().replace(" :: ", "::");
        let text: Vec<_> = text.split('"').step_by(2).collect();
        let text = text.join(" ");
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
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{module}: {error}"));
    let mut imports = Imports {
        module,
        known,
        found: BTreeSet::new(),
    };
    imports.visit_file(&file);
    imports.found
}

/// Returns the root of this workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The modules that each module depends on.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reads which files of a crate depend on which others.
///
/// # Panics
///
/// A file cannot be read, or is no Rust.
pub fn graph(crate_folder: &Path) -> Graph {
    let files = files(crate_folder);
    let known = files.keys().cloned().collect();
    let edges = files.iter().map(|(module, path)| {
        let text = fs::read_to_string(path).expect("text");
        (module.clone(), imports(module, &text, &known))
    });
    edges.collect()
}

/// Returns the files that depend on themselves by way of others, and those between.
pub fn circles(mut graph: Graph) -> Graph {
    // A module without remaining dependencies is not part of a circle, and neither is one that no
    // module depends on.
    loop {
        let before = graph.len();
        let modules: BTreeSet<_> = graph.keys().cloned().collect();
        let named: BTreeSet<_> = graph.values().flatten().cloned().collect();
        graph.retain(|module, targets| {
            targets.retain(|target| modules.contains(target));
            !targets.is_empty() && named.contains(module)
        });
        if graph.len() == before {
            return graph;
        }
    }
}

/// Returns the first of the folders that a module is in, `None` if it is in none.
pub fn folder_of<'f>(module: &str, folders: &[&'f str]) -> Option<usize> {
    let is_in = |folder: &&'f str| {
        let inside = module.strip_prefix(&folder.replace('/', "::"));
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    folders.iter().position(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

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
                pub(in crate::park) fn make(&self) -> crate::d::Other { println!(\"{}\", crate::e::NAME); }
            }
            #[cfg(test)]
            mod tests { use crate::park::y::Test; }
            #[cfg(all(test, not(loom)))]
            mod more_tests { use crate::park::y::Test; }
        ";
        assert_eq!(found("park::x", text), ["a", "b", "c", "d", "e"]);
        let text = "use super::y::Thing; fn other() -> super::Sum { 0 }";
        assert_eq!(found("park::x", text), ["park", "park::y"]);
        assert_eq!(found("park", "mod x; use x::Thing;"), ["park::x"]);
        assert_eq!(
            found("lib", "mod a; pub use a::Thing; use regex::b;"),
            ["a"]
        );
        // The crate's exports are in its root.
        assert_eq!(found("a", "use crate::Thing;"), ["lib"]);
    }

    #[test]
    fn circles_are_found() {
        let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "a")];
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph
                .entry(from.to_owned())
                .or_default()
                .insert(to.to_owned());
            graph.entry(to.to_owned()).or_default();
        }
        let found: Vec<_> = circles(graph).into_keys().collect();
        assert_eq!(found, ["b", "c"]);
    }

    #[test]
    fn modules_are_in_folders() {
        let folders = ["blame/park", "order"];
        let found = [
            "blame::park",
            "blame::park::sink",
            "blame::parks",
            "order::x",
            "lib",
        ];
        let found = found.map(|module| folder_of(module, &folders));
        assert_eq!(found, [Some(0), Some(0), None, Some(1), None]);
    }
}
