//! Checks that what the documents name is there: files of the sources, and what links lead to.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{fs, str};

use layers::workspace;

/// The files and folders under version control.
fn paths() -> BTreeSet<PathBuf> {
    let listed = Command::new("git")
        // Any owner of the clone will do.
        .args(["-c", "safe.directory=*", "ls-files"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(workspace())
        .output()
        .expect("git");
    assert!(listed.status.success(), "{listed:?}");
    let files = str::from_utf8(&listed.stdout)
        .expect("UTF-8")
        .lines()
        .map(Path::new);
    let there = files.filter(|file| workspace().join(file).exists());
    there
        .flat_map(Path::ancestors)
        .map(Path::to_owned)
        .collect()
}

/// The targets of the links of a document that lead to files, without what is sought in them.
fn link_targets(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("](").skip(1);
    let targets = after.filter_map(|rest| rest.split(')').next());
    targets.filter_map(|target| {
        let file = target.split(['#', ' ']).next().unwrap_or_default();
        let is_file = !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:");
        is_file.then_some(file)
    })
}

/// The source files that a document names in code.
fn source_files(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|name| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        name.ends_with(".rs") && name.chars().all(is_name)
    })
}

/// A path from the folder of a document, without `..`.
fn resolve(folder: &Path, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn links_and_named_files_are_there() {
    if !workspace().join(".git").exists() {
        println!("skipped: not a clone, so which files belong to it is not known");
        return;
    }
    let paths = paths();
    let mut missing = Vec::new();
    let is_document = |path: &&PathBuf| path.extension().is_some_and(|end| end == "md");
    for document in paths.iter().filter(is_document) {
        let text = fs::read_to_string(workspace().join(document)).expect("text");
        let folder = document.parent().unwrap_or(Path::new(""));
        for target in link_targets(&text) {
            if !paths.contains(&resolve(folder, target)) {
                missing.push(format!("{}: a link to {target}", document.display()));
            }
        }
        for file in source_files(&text) {
            if !paths.iter().any(|path| path.ends_with(file)) {
                missing.push(format!("{}: {file}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn targets_and_names_are_found() {
    let text = "See [one](docs/one.md#part), [web](https://example.org), [here](#below), `a/b.rs` and `c.rs --x`.";
    assert_eq!(link_targets(text).collect::<Vec<_>>(), ["docs/one.md"]);
    assert_eq!(source_files(text).collect::<Vec<_>>(), ["a/b.rs"]);
    assert_eq!(
        resolve(Path::new("docs/design"), "../x.md"),
        Path::new("docs/x.md")
    );
}
