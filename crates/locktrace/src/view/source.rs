//! Source code below the folder that the user names.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where packages begin, in the usual builds.
const ROOTS: [&str; 9] = [
    "",
    "src",
    "src/main/java",
    "src/test/java",
    "src/main/kotlin",
    "src/main/scala",
    "src/main/groovy",
    "src/java",
    "java",
];

const MAX_FILE_BYTES: u64 = 16 << 20;
const MAX_CONTEXT: usize = 200;

/// Asks for the lines around one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceQuestion {
    class: String,
    file: String,
    line: usize,
    #[serde(default = "default_context")]
    context: usize,
}

fn default_context() -> usize {
    12
}

/// Some lines of a file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SourceLines {
    /// Below the folder.
    path: String,
    /// From the root, for links to editors.
    absolute: String,
    from_line: usize,
    lines: Vec<String>,
}

/// A folder with source code.
#[derive(Clone, Debug)]
pub(crate) struct SourceFolder(PathBuf);

impl SourceFolder {
    /// The folder at `path`.
    ///
    /// # Errors
    ///
    /// If it does not exist.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        let path = path.canonicalize()?;
        if !path.is_dir() {
            return Err(std::io::ErrorKind::NotADirectory.into());
        }
        Ok(Self(path))
    }

    /// The lines asked for; `None` if there is no such file below the folder.
    pub(crate) fn lines(&self, question: &SourceQuestion) -> Option<SourceLines> {
        let path = self.find(&question.class, &question.file)?;
        let text = fs::read(&path).ok()?;
        let text = String::from_utf8_lossy(&text);
        let context = question.context.min(MAX_CONTEXT - 1);
        let from_line = question.line.saturating_sub(context).max(1);
        let count = question.line.saturating_add(context).saturating_add(1) - from_line;
        let lines = text.lines().skip(from_line - 1).take(count);
        Some(SourceLines {
            path: path.strip_prefix(&self.0).ok()?.to_str()?.to_owned(),
            absolute: path.to_str()?.to_owned(),
            from_line,
            lines: lines.map(str::to_owned).collect(),
        })
    }

    fn find(&self, class: &str, file: &str) -> Option<PathBuf> {
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        let below = Path::new(&package.replace('.', "/")).join(file);
        // A class or a file can be called anything in a trace.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let is_name = !file.is_empty() && !file.contains(['/', '\\', '\0']);
        if !is_name || class.contains('\0') || !below.components().all(is_plain) {
            return None;
        }
        let candidates = ROOTS.iter().map(|root| self.0.join(root).join(&below));
        let mut found = candidates.filter_map(|path| path.canonicalize().ok());
        found.find(|path| path.starts_with(&self.0) && is_readable(path))
    }
}

fn is_readable(path: &Path) -> bool {
    let metadata = fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(class: &str, file: &str, line: usize, context: usize) -> SourceQuestion {
        SourceQuestion {
            class: class.to_owned(),
            file: file.to_owned(),
            line,
            context,
        }
    }

    fn folder() -> (tempfile::TempDir, SourceFolder) {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("project");
        fs::create_dir_all(inner.join("src/main/java/demo")).unwrap();
        fs::write(
            inner.join("src/main/java/demo/Ledger.java"),
            "one\ntwo\nthree\nfour\n",
        )
        .unwrap();
        fs::write(outer.path().join("Secret.java"), "secret\n").unwrap();
        fs::write(inner.join("Plain.java"), "plain\n").unwrap();
        std::os::unix::fs::symlink(outer.path().join("Secret.java"), inner.join("Link.java"))
            .unwrap();
        let folder = SourceFolder::open(&inner).unwrap();
        (outer, folder)
    }

    #[test]
    fn lines_are_found_by_class() {
        let (_guard, folder) = folder();
        let found = folder
            .lines(&question("demo.Ledger", "Ledger.java", 3, 1))
            .unwrap();
        assert_eq!(found.path, "src/main/java/demo/Ledger.java");
        assert_eq!(found.from_line, 2);
        assert_eq!(found.lines, ["two", "three", "four"]);
        let whole = question("demo.Ledger", "Ledger.java", usize::MAX, usize::MAX);
        assert!(folder.lines(&whole).unwrap().lines.is_empty());
        assert!(
            folder
                .lines(&question("Plain", "Plain.java", 0, 5))
                .is_some()
        );
    }

    #[test]
    fn nothing_outside_of_the_folder_is_read() {
        let (guard, folder) = folder();
        let secret = guard.path().join("Secret.java");
        let absolute = secret.to_str().unwrap();
        for (class, file) in [
            ("Secret", "../Secret.java"),
            ("...Secret", "Secret.java"),
            ("...X", "Secret.java"),
            ("/.Secret", "Secret.java"),
            ("x", absolute),
            ("Link", "Link.java"),
            ("a/../../b.Secret", "Secret.java"),
            ("..", ".."),
            ("a\0b.C", "C.java"),
            ("demo.Ledger", ""),
            ("demo.Ledger", "."),
        ] {
            assert_eq!(
                folder.lines(&question(class, file, 1, 1)),
                None,
                "{class} {file}"
            );
        }
    }
}
