//! The JDKs under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::paths::repository;
use crate::setting::is_nightly;

/// An installed JDK 8, or a runtime of a later version without its tools.
#[derive(Debug)]
pub struct Jdk {
    home: PathBuf,
}

/// The versions of the stock runtimes that `make stock-jdks` installs.
const LATER_VERSIONS: [&str; 4] = ["11", "17", "21", "25"];

impl Jdk {
    /// The patched JDK.
    pub fn traced() -> &'static Jdk {
        static JDK: OnceLock<Jdk> = OnceLock::new();
        JDK.get_or_init(|| {
            let jdk = Jdk::find("LOCKTRACE_JDK", "build/jdk");
            let version = Command::new(jdk.tool("java"))
                .args([
                    "-XX:+TraceLockContention",
                    "-XX:LockContentionTraceFile=/dev/null",
                    "-version",
                ])
                .output()
                .expect("java can be started");
            assert!(
                version.status.success(),
                "{} does not know -XX:+TraceLockContention: {}",
                jdk.home.display(),
                String::from_utf8_lossy(&version.stderr),
            );
            jdk
        })
    }

    /// The same JDK without our patches.
    pub fn stock() -> &'static Jdk {
        static JDK: OnceLock<Jdk> = OnceLock::new();
        JDK.get_or_init(|| Jdk::find("LOCKTRACE_JDK_STOCK", "build/jdk-stock"))
    }

    /// JVMs that know nothing of locktrace: one of each version that has long-term support.
    pub fn stock_versions() -> &'static [&'static Jdk] {
        static JDKS: OnceLock<Vec<&'static Jdk>> = OnceLock::new();
        JDKS.get_or_init(|| {
            let directory = std::env::var_os("LOCKTRACE_STOCK_JDKS")
                .map_or_else(|| repository().join("build/stock-jdks"), PathBuf::from);
            let later = LATER_VERSIONS.map(|version| {
                let home = directory.join(version);
                assert!(
                    home.join("bin/java").exists(),
                    "no Java {version} at {}: run `make stock-jdks`, or name the directory of \
                     all of them in LOCKTRACE_STOCK_JDKS",
                    home.display(),
                );
                &*Box::leak(Box::new(Jdk { home }))
            });
            [Jdk::stock()].into_iter().chain(later).collect()
        })
    }

    /// Those for tests that take long with each: the first and the last one, which differ most; all in
    /// nightly tests.
    pub fn chosen_stock_versions() -> Vec<&'static Jdk> {
        let all = Self::stock_versions();
        match is_nightly() {
            true => all.to_vec(),
            false => vec![all[0], all[all.len() - 1]],
        }
    }

    /// The one of those that is of this version.
    pub fn stock_version(version: &str) -> &'static Jdk {
        let index = LATER_VERSIONS.iter().position(|later| *later == version);
        // JDK 8 is the first.
        let index = index.map_or(0, |index| index + 1);
        Self::stock_versions()[index]
    }

    /// The one whose JVM wrote a trace, by what the trace says of the JVM.
    pub fn that_wrote(jvm: &str) -> &'static Jdk {
        // As in "OpenJDK 64-Bit Server VM (25.0.2+10-LTS)"; the version of JDK 8 has a count of its
        // own, "25.504-b01".
        let version = jvm.rsplit('(').next().and_then(|jvm| jvm.split('+').next());
        let later = || Self::stock_versions()[1..].iter();
        match version {
            Some(version) if jvm.contains('+') => later()
                .find(|jdk| jdk.version() == version)
                .unwrap_or_else(|| panic!("no JDK at hand wrote this trace: {jvm}")),
            _ => Jdk::traced(),
        }
    }

    /// The JDK or runtime in a directory.
    pub fn at(home: &Path) -> &'static Jdk {
        Box::leak(Box::new(Jdk {
            home: home.to_owned(),
        }))
    }

    fn find(variable: &str, default: &str) -> Jdk {
        let home =
            std::env::var_os(variable).map_or_else(|| repository().join(default), PathBuf::from);
        assert!(
            home.join("bin/java").exists(),
            "no JDK at {}: run `make jdk`, or name one in {variable}",
            home.display(),
        );
        Jdk { home }
    }

    /// The directory that `JAVA_HOME` would name.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The file with the classes of a JDK from 9 on.
    pub fn modules(&self) -> Option<PathBuf> {
        let modules = self.home.join("lib/modules");
        modules.exists().then_some(modules)
    }

    /// Returns the version in its `release` file.
    fn version(&self) -> String {
        let path = self.home.join("release");
        let release = fs::read_to_string(&path);
        let release = release.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut lines = release.lines();
        let version = lines.find_map(|line| line.strip_prefix("JAVA_VERSION="));
        let version = version.unwrap_or_else(|| panic!("{}: no version", path.display()));
        version.trim_matches('"').to_owned()
    }

    /// A program of the JDK.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// The shared library that is the JVM.
    pub fn libjvm(&self) -> PathBuf {
        self.home.join("jre/lib/amd64/server/libjvm.so")
    }
}
