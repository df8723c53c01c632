//! JDKs, and what is built and fetched for them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::paths;

/// An installed JDK, or a runtime of one.
#[derive(Clone, Debug)]
pub(crate) struct Jdk {
    home: PathBuf,
}

impl Jdk {
    /// The JDK in a folder; `option` is how the user would name another.
    pub(crate) fn find(home: &Path, option: &str) -> anyhow::Result<Self> {
        let jdk = Self {
            home: std::path::absolute(home)?,
        };
        ensure!(
            jdk.tool("java").exists(),
            "no JDK in {}: run `make jdk jdk-stock`, or name one with {option}",
            home.display()
        );
        Ok(jdk)
    }

    /// Its folder.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// A program of the JDK.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Returns the output of `java -version`.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let mut java = Command::new(self.tool("java"));
        let output = java.arg("-version").output().context("java -version")?;
        Ok(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// The JDKs that are compared.
#[derive(Clone, Debug)]
pub(crate) struct Jdks {
    pub(crate) traced: Jdk,
    /// `None` if it is not to be measured.
    pub(crate) stock: Option<Jdk>,
    /// Another patched one to compare with, if it is to be measured.
    pub(crate) other: Option<Jdk>,
}

impl Jdks {
    /// The JDK of the configurations `stock` and `agent`, one of which is to be measured.
    pub(crate) fn stock(&self) -> &Jdk {
        self.stock.as_ref().expect("found if it is to be measured")
    }

    /// The JDK of the configurations `other-off` and `other-compressed`, one of which is to
    /// be measured.
    pub(crate) fn other(&self) -> &Jdk {
        self.other.as_ref().expect("found if it is to be measured")
    }

    /// Returns the JDK that programs are built and listed with: the stock one may be a runtime
    /// only.
    pub(crate) fn tools(&self) -> &Jdk {
        &self.traced
    }
}

/// Runs a command that must succeed, and returns its standard output.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?}: {}\n{stdout}{stderr}", output.status);
    }
    Ok(stdout)
}

/// Builds the bundled applications, unless they come in an archive; returns their class path.
pub(crate) fn build_applications(jdk: &Jdk) -> anyhow::Result<Vec<PathBuf>> {
    let folder = paths::bench().join("apps");
    if paths::pack().is_none() {
        eprintln!("building the bundled applications");
        succeed(maven(jdk, &folder.join("pom.xml")).arg("package"))?;
    }
    let target = folder.join("target");
    Ok(vec![target.join("classes"), target.join("dependency/*")])
}

/// Fetches async-profiler; returns its agent.
pub(crate) fn fetch_profiler(jdk: &Jdk) -> anyhow::Result<PathBuf> {
    let folder = paths::build().join("profiler");
    let agent = folder.join("linux-x64/libasyncProfiler.so");
    if !agent.exists() {
        let pom = paths::repository().join("test/jvm/profiler/pom.xml");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        succeed(
            maven(jdk, &pom)
                .arg("dependency:copy-dependencies")
                .arg(option("outputDirectory", &folder)),
        )?;
        let jar = fs::read_dir(&folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension() == Some(OsStr::new("jar")))
            .context("Maven fetched no jar of async-profiler")?;
        let mut unpack = Command::new(jdk.tool("jar"));
        unpack
            .arg("xf")
            .arg(jar)
            .arg("linux-x64/libasyncProfiler.so");
        succeed(unpack.current_dir(&folder))?;
    }
    Ok(agent)
}

fn maven(jdk: &Jdk, pom: &Path) -> Command {
    let mut maven = Command::new("mvn");
    maven.env("JAVA_HOME", &jdk.home);
    maven.args(["--batch-mode", "--quiet", "--file"]).arg(pom);
    maven
}

fn option(name: &str, value: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("-D{name}="));
    option.push(value);
    option
}

/// Compiles what a suite calls to report its iterations into a folder, against
/// the suite's classes.
pub(crate) fn compile_callback(
    jdk: &Jdk,
    suite: &str,
    class_path: &Path,
    classes: &Path,
) -> anyhow::Result<()> {
    let sources = paths::bench().join("callbacks/src");
    let mut compiler = Command::new(jdk.tool("javac"));
    compiler.arg("-cp").arg(class_path).arg("-d").arg(classes);
    for folder in [
        sources.join("common/bench"),
        sources.join(suite).join("bench"),
    ] {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            compiler.arg(entry?.path());
        }
    }
    succeed(&mut compiler).with_context(|| format!("expected the classes of a {suite} suite"))?;
    Ok(())
}

/// The jar has a file of this name.
pub(crate) fn jar_contains(jdk: &Jdk, jar: &Path, name: &str) -> anyhow::Result<bool> {
    let mut list = Command::new(jdk.tool("jar"));
    let names = succeed(list.arg("tf").arg(jar).arg(name))?;
    Ok(names.lines().any(|line| line == name))
}
