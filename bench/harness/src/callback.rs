//! Callbacks by which a suite reports its iterations: compiled against the suite's jar, and put
//! where the suite finds them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use tempfile::TempDir;

use crate::java::{Jdk, compile_callback, jar_contains, succeed};

/// The folder in the jars of DaCapo 9.12-MR1 and of the Scala suite that a class
/// loader of its own loads the suite's harness from, and callbacks with it. Other
/// jars have these classes at their root.
const HARNESS_FOLDER: &str = "harness";
const HARNESS_CLASS: &str = "harness/org/dacapo/harness/Callback.class";

/// Compiled classes; deleted with it.
#[derive(Debug)]
pub(crate) struct Callback {
    folder: TempDir,
    /// A copy of the suite's jar that has the classes in [`HARNESS_FOLDER`], if the
    /// suite loads them from there.
    jar: Option<PathBuf>,
}

impl Callback {
    /// Compiles the callback in a folder of `bench/callbacks/src`.
    ///
    /// # Errors
    ///
    /// If the jar does not have a suite's classes, or cannot be copied.
    pub(crate) fn compile(jdk: &Jdk, jar: &Path, source: &str) -> anyhow::Result<Self> {
        let mut callback = Self {
            folder: tempfile::tempdir()?,
            jar: None,
        };
        let classes = callback.classes();
        if jar_contains(jdk, jar, HARNESS_CLASS)? {
            let mut unpack = Command::new(jdk.tool("jar"));
            unpack.arg("xf").arg(jar).arg(HARNESS_FOLDER);
            let unpacked = callback.folder().join("suite");
            fs::create_dir(&unpacked)?;
            succeed(unpack.current_dir(&unpacked))?;
            let below = classes.join(HARNESS_FOLDER);
            fs::create_dir_all(&below)?;
            compile_callback(jdk, source, &unpacked.join(HARNESS_FOLDER), &below)?;
            callback.jar = Some(callback.add_to_copy(jdk, jar)?);
        } else {
            fs::create_dir(&classes)?;
            compile_callback(jdk, source, jar, &classes)?;
        }
        Ok(callback)
    }

    /// Copies the jar, and adds the classes.
    fn add_to_copy(&self, jdk: &Jdk, jar: &Path) -> anyhow::Result<PathBuf> {
        let copy = self.folder().join("suite.jar");
        fs::copy(jar, &copy).with_context(|| copy.display().to_string())?;
        let mut add = Command::new(jdk.tool("jar"));
        add.arg("uf").arg(&copy).arg("-C").arg(self.classes());
        succeed(add.arg(HARNESS_FOLDER))?;
        Ok(copy)
    }

    /// A folder that exists as long as the callback.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the classes.
    pub(crate) fn classes(&self) -> PathBuf {
        self.folder().join("classes")
    }

    /// The class path of the suite in `jar` with the callback.
    pub(crate) fn class_path(&self, jar: PathBuf) -> Vec<PathBuf> {
        match &self.jar {
            Some(copy) => vec![copy.clone()],
            None => vec![jar, self.classes()],
        }
    }
}
