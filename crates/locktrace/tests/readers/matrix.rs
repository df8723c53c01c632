//! The matrix of `docs/export.md`: which reader in which version opened which format, and what of it was compared.
//!
//! A test that has opened an export says so at its end, once for each reader:
//!
//! ```text
//! matrix::opened("pprof", "`go tool pprof`", &Version::asked(Command::new("go").arg("version")), "sums and names");
//! matrix::opened("parquet", "DuckDB", &Version::pinned("scripts/test-requirements.txt", "duckdb"), "sums of rows");
//! ```
//!
//! The test fails if the matrix lacks that. With `LOCKTRACE_MATRIX=write` the test adds it instead, with the date of
//! today; `make export-matrix` makes the whole matrix anew. Several tests that open a format with the same reader
//! share a row, which has what each of them compared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use std::{env, fs};

use crate::export::printed;

/// The version of a reader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Version {
    /// The repository says which: the matrix has to have this one.
    Pinned(String),
    /// The machine's own: the matrix may have another one.
    Installed(String),
}

impl Version {
    /// The first version after `before`, the name of a package, in a file of the repository.
    pub(crate) fn pinned(file: &str, before: &str) -> Self {
        let text = fs::read_to_string(root().join(file)).expect(file);
        let (_, after) = text.split_once(before).expect(before);
        Self::Pinned(first_version(after))
    }

    /// The first version that a program of the machine prints, on standard output.
    pub(crate) fn asked(program: &mut Command) -> Self {
        Self::Installed(first_version(&printed(program)))
    }

    fn cell(&self) -> String {
        match self {
            Self::Pinned(version) => version.clone(),
            Self::Installed(version) => format!("{version}{INSTALLED}"),
        }
    }
}

/// What follows the version of a reader that is the machine's own.
const INSTALLED: &str = " (installed)";

/// The first word of `text` that begins with a digit and has a dot, but for a `v` or `go` in front.
pub(crate) fn first_version(text: &str) -> String {
    let mut words =
        text.split(|of: char| !of.is_ascii_alphanumeric() && !['.', '-', '_', '+'].contains(&of));
    let version = words.find_map(|word| {
        let number = word.trim_start_matches(|of: char| of.is_ascii_alphabetic());
        let is_version = number.starts_with(|of: char| of.is_ascii_digit()) && number.contains('.');
        (is_version && matches!(&word[..word.len() - number.len()], "" | "v" | "go"))
            .then(|| number.to_owned())
    });
    version.unwrap_or_else(|| panic!("no version in {text}"))
}

/// A test has opened an export in `format` with `reader`, and has `compared` something with a truth of its own.
pub(crate) fn opened(format: &str, reader: &str, version: &Version, compared: &str) {
    // Tests that run at once change one file.
    static DOCUMENT: Mutex<()> = Mutex::new(());
    let _one_at_a_time = DOCUMENT.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join("docs/export.md");
    let document = fs::read_to_string(&path).expect("docs/export.md");
    let row = Row {
        format: format!("`{format}`"),
        reader: reader.to_owned(),
        version: version.cell(),
        compared: BTreeSet::from([compared.to_owned()]),
        date: today(),
    };
    if env::var("LOCKTRACE_MATRIX").is_ok_and(|mode| mode == "write") {
        fs::write(&path, with(&document, row)).expect("docs/export.md can be written");
    } else {
        assert!(
            has(&document, &row),
            "docs/export.md has no row for this; `make export-matrix` writes it: {row:?}"
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn today() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    now.split('T').next().expect("a date").to_owned()
}

/// A row of the matrix, in the order in which rows are sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    format: String,
    reader: String,
    version: String,
    compared: BTreeSet<String>,
    date: String,
}

impl Row {
    fn parse(line: &str) -> Self {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [format, reader, version, compared, date] =
            cells[..].try_into().unwrap_or_else(|_| panic!("{line}"));
        Self {
            format: str::to_owned(format),
            reader: str::to_owned(reader),
            version: str::to_owned(version),
            compared: compared.split("; ").map(str::to_owned).collect(),
            date: str::to_owned(date),
        }
    }

    fn line(&self) -> String {
        let compared: Vec<_> = self.compared.iter().map(String::as_str).collect();
        let cells = [
            &*self.format,
            &self.reader,
            &self.version,
            &compared.join("; "),
            &self.date,
        ];
        format!("| {} |", cells.join(" | "))
    }

    /// Whether both are of the same reader, in a version that does as well.
    fn is_of_reader_of(&self, other: &Self) -> bool {
        let is_installed = |row: &Self| row.version.ends_with(INSTALLED);
        let same_version =
            self.version == other.version || is_installed(self) && is_installed(other);
        self.format == other.format && self.reader == other.reader && same_version
    }
}

const BEGIN: &str = "<!-- matrix -->\n";
const END: &str = "<!-- end of matrix -->\n";
const HEAD: &str = "| format | reader | version | compared | on |\n|---|---|---|---|---|\n";

/// The rows of a document, and what is before and after the table.
fn split(document: &str) -> (&str, Vec<Row>, &str) {
    let (before, rest) = document.split_once(BEGIN).expect("begin of the matrix");
    let (table, after) = rest.split_once(END).expect("end of the matrix");
    let rows = table.strip_prefix(HEAD).expect("head of the matrix");
    (before, rows.lines().map(Row::parse).collect(), after)
}

fn has(document: &str, wanted: &Row) -> bool {
    let (_, rows, _) = split(document);
    rows.iter()
        .any(|row| row.is_of_reader_of(wanted) && row.compared.is_superset(&wanted.compared))
}

/// The document with what a row has. Its version and date replace those of a row that is there.
fn with(document: &str, mut new: Row) -> String {
    let (before, mut rows, after) = split(document);
    let at = rows.iter().position(|row| row.is_of_reader_of(&new));
    if let Some(at) = at {
        new.compared.append(&mut rows.swap_remove(at).compared);
    }
    rows.push(new);
    rows.sort();
    let lines: String = rows.iter().map(|row| row.line() + "\n").collect();
    [before, BEGIN, HEAD, &lines, END, after].concat()
}

#[test]
fn the_matrix_lacks_what_no_test_has_added() {
    let row = |version: &Version, compared: &str| Row {
        format: "`pprof`".to_owned(),
        reader: "a reader".to_owned(),
        version: version.cell(),
        compared: BTreeSet::from([compared.to_owned()]),
        date: "2016-02-29".to_owned(),
    };
    let pinned = |version: &str| Version::Pinned(version.to_owned());
    let installed = |version: &str| Version::Installed(version.to_owned());
    let empty = ["before\n", BEGIN, HEAD, END, "after\n"].concat();
    let one = row(&pinned("1.2"), "sums");
    assert!(!has(&empty, &one));
    let document = with(&with(&empty, one.clone()), row(&installed("3.4"), "names"));
    assert!(document.starts_with("before\n") && document.ends_with("after\n"));
    assert!(has(&document, &one));
    assert!(!has(&document, &row(&pinned("1.3"), "sums")));
    assert!(!has(&document, &row(&pinned("1.2"), "names")));
    assert!(has(&document, &row(&installed("3.5"), "names")));
    assert!(!has(&document, &row(&installed("3.5"), "sums")));

    // What is compared is put together; of the machine's own there is one row.
    let document = with(&document, row(&pinned("1.2"), "names"));
    let document = with(&document, row(&installed("3.5"), "sums"));
    let (_, rows, _) = split(&document);
    let lines: Vec<_> = rows.iter().map(Row::line).collect();
    assert_eq!(
        lines,
        [
            "| `pprof` | a reader | 1.2 | names; sums | 2016-02-29 |",
            "| `pprof` | a reader | 3.5 (installed) | names; sums | 2016-02-29 |",
        ]
    );
}

#[test]
fn versions_are_found_where_packages_are_pinned() {
    for (text, version) in [
        ("==2.0.1\nflask==3.1.3", "2.0.1"),
        ("[s3]==5.2.5", "5.2.5"),
        ("@1.25.0 speedscope package", "1.25.0"),
        ("\"\nversion = \"0.12.4\"", "0.12.4"),
        ("</artifactId>\n      <version>9.1.2</version>", "9.1.2"),
        (" v0.312.0 // indirect", "0.312.0"),
        ("go version go1.26.1 linux/amd64", "1.26.1"),
        ("openjdk version \"17.0.15\" 2025-04-15", "17.0.15"),
    ] {
        assert_eq!(first_version(text), version);
    }
}
