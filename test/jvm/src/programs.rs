//! Compilation of the Java programs and their native library.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3;

use crate::jdk::Jdk;
use crate::paths::{scratch_directory, source_directory, target_directory};

/// The compiled programs.
#[derive(Debug)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// The programs in `demo/` and `scenarios/`, compiled once for each state
    /// of their sources.
    pub fn compiled() -> &'static Programs {
        static PROGRAMS: OnceLock<Programs> = OnceLock::new();
        PROGRAMS.get_or_init(|| {
            let sources = Sources::find();
            let directory =
                target_directory().join(format!("jvm-tests/programs-{:016x}", sources.hash()));
            if !directory.exists() {
                sources.compile(&directory);
            }
            Programs { directory }
        })
    }

    /// The class path.
    pub fn classes(&self) -> PathBuf {
        self.directory.join("classes")
    }

    /// The library with the native methods of `scenarios/`.
    pub fn natives(&self) -> PathBuf {
        self.directory.join("libscenarios.so")
    }
}

struct Sources {
    java: Vec<PathBuf>,
    native: Vec<PathBuf>,
}

impl Sources {
    fn find() -> Self {
        let root = source_directory();
        let mut java = files_in(&root.join("demo"), "java");
        java.extend(files_in(&root.join("scenarios"), "java"));
        let native = files_in(&root.join("scenarios/native"), "c");
        Self { java, native }
    }

    fn hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        for source in self.java.iter().chain(&self.native) {
            hash.update(source.as_os_str().as_encoded_bytes());
            hash.update(&fs::read(source).expect("a source file is readable"));
        }
        hash.digest()
    }

    /// Compiles into a directory that appears when all is done, so that another
    /// test program that does the same meanwhile does no harm.
    fn compile(&self, directory: &Path) {
        let scratch = scratch_directory("compile");
        let classes = scratch.path().join("classes");
        fs::create_dir(&classes).expect("the target directory is writable");
        run_to_success(java_compiler(&classes).args(&self.java));

        let include = Jdk::stock().home().join("include");
        let mut compiler = Command::new("cc");
        compiler
            .args([
                "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o",
            ])
            .arg(scratch.path().join("libscenarios.so"))
            .args(&self.native)
            .arg("-I")
            .arg(&include)
            .arg("-I")
            .arg(include.join("linux"));
        run_to_success(&mut compiler);

        if fs::rename(scratch.path(), directory).is_ok() {
            let _renamed = scratch.keep();
        }
        assert!(directory.exists(), "cannot create {}", directory.display());
    }
}

/// A Java compiler that puts class files into `classes`.
pub fn java_compiler(classes: &Path) -> Command {
    let mut compiler = Command::new(Jdk::stock().tool("javac"));
    // Code that uses sun.misc.Unsafe compiles against the real class library
    // only, which this option makes javac see.
    compiler.args([
        "-Xlint:all",
        "-Werror",
        "-XDignore.symbol.file",
        "-encoding",
        "UTF-8",
        "-d",
    ]);
    compiler.arg(classes);
    compiler
}

/// Runs a command that must succeed.
pub fn run_to_success(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

fn files_in(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the package has its source directories");
    let paths = entries.map(|entry| entry.expect("a directory is readable").path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension() == Some(OsStr::new(extension)))
        .collect();
    files.sort();
    files
}
