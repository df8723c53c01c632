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
    /// The programs that the environment names, or those in `demo/`, `scenarios/` and `pairs/`, compiled once
    /// for each state of their sources.
    pub fn compiled() -> &'static Programs {
        static PROGRAMS: OnceLock<Programs> = OnceLock::new();
        PROGRAMS.get_or_init(|| {
            if let Some(directory) = std::env::var_os("LOCKTRACE_PROGRAMS") {
                return Programs {
                    directory: directory.into(),
                };
            }
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

    /// Returns the classes for the boot class path: access to the JVM's own test interface.
    pub fn boot_classes(&self) -> PathBuf {
        self.directory.join("boot")
    }

    /// The library with the native methods of `scenarios/`.
    pub fn natives(&self) -> PathBuf {
        self.directory.join("libscenarios.so")
    }

    /// A native program that creates a JVM.
    pub fn launcher(&self) -> PathBuf {
        self.directory.join("launcher")
    }
}

struct Sources {
    java: Vec<PathBuf>,
    boot: Vec<PathBuf>,
    native: Vec<PathBuf>,
    launcher: PathBuf,
}

impl Sources {
    fn find() -> Self {
        let root = source_directory();
        let folders = ["demo", "scenarios", "pairs"];
        let java = folders.map(|folder| files_in(&root.join(folder), "java"));
        let boot = files_in(&root.join("scenarios/whitebox/sun/hotspot"), "java");
        let native = files_in(&root.join("scenarios/native"), "c");
        let launcher = root.join("scenarios/launcher/launcher.c");
        Self {
            java: java.concat(),
            boot,
            native,
            launcher,
        }
    }

    fn hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        let java = self.java.iter().chain(&self.boot);
        for source in java.chain(&self.native).chain([&self.launcher]) {
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
        let boot = scratch.path().join("boot");
        fs::create_dir(&boot).expect("the target directory is writable");
        run_to_success(java_compiler(&boot).args(&self.boot));
        run_to_success(
            java_compiler(&classes)
                .arg("-cp")
                .arg(&boot)
                .args(&self.java),
        );

        let mut library = c_compiler(&scratch.path().join("libscenarios.so"));
        run_to_success(library.args(["-shared", "-fPIC"]).args(&self.native));
        let mut launcher = c_compiler(&scratch.path().join("launcher"));
        run_to_success(launcher.arg(&self.launcher).arg("-ldl"));

        if fs::rename(scratch.path(), directory).is_ok() {
            let _renamed = scratch.keep();
        }
        assert!(directory.exists(), "cannot create {}", directory.display());
    }
}

/// A C compiler that knows JNI and writes to `output`.
fn c_compiler(output: &Path) -> Command {
    let include = Jdk::stock().home().join("include");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
    compiler.arg(output);
    compiler.arg("-I").arg(&include);
    compiler.arg("-I").arg(include.join("linux"));
    compiler
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

/// Builds a Java agent whose classes are those of the program, with which
/// `scenarios/Redefinition.java` may redefine classes; returns its flag.
pub fn redefinition_agent(directory: &Path) -> String {
    let manifest = directory.join("manifest");
    let text = "Premain-Class: scenarios.Redefinition\nCan-Redefine-Classes: true\n";
    fs::write(&manifest, text).expect("a scratch directory is writable");
    let agent = directory.join("agent.jar");
    let mut jar = Command::new(Jdk::stock().tool("jar"));
    run_to_success(jar.arg("cfm").arg(&agent).arg(&manifest));
    format!("-javaagent:{}", agent.display())
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
