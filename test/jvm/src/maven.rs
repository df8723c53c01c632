//! Files that Maven fetches and builds: jars from its repositories, and the bundled applications.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::jdk::Jdk;
use crate::paths::{repository, source_directory, target_directory};
use crate::programs::{Programs, java_compiler, run_to_success};

/// A file and what its SHA-256 must be.
#[derive(Clone, Copy, Debug)]
pub struct Jar {
    /// The file's name.
    pub name: &'static str,
    /// In hexadecimal digits.
    pub sha256: &'static str,
}

/// Returns the dependencies of `pom.xml` in a directory of this package: fetched once and then kept
/// in the target directory.
pub fn dependencies(directory: &str, jars: &[Jar]) -> Vec<PathBuf> {
    let target = target_directory().join("jvm-tests").join(directory);
    let paths: Vec<_> = jars.iter().map(|jar| target.join(jar.name)).collect();
    if !paths.iter().all(|path| path.exists()) {
        let mut output_directory = OsString::from("-DoutputDirectory=");
        output_directory.push(&target);
        let mut maven = Command::new("mvn");
        maven.args(["--batch-mode", "--quiet", "--file"]);
        maven
            .arg(source_directory().join(directory).join("pom.xml"))
            .arg("dependency:copy-dependencies")
            .arg(output_directory);
        run_to_success(&mut maven);
    }
    for (path, jar) in paths.iter().zip(jars) {
        check(path, jar.sha256);
    }
    paths
}

/// The programs in a directory of this package, compiled, and what they depend on, jars and the other programs: a
/// class path.
pub fn program_class_path(directory: &str, jars: &[Jar]) -> OsString {
    let mut jars = dependencies(directory, jars);
    let joined = |paths: &[PathBuf]| std::env::join_paths(paths).expect("no path has a colon");
    let classes = jars[0].with_file_name("classes");
    jars.push(Programs::compiled().classes());
    fs::create_dir_all(&classes).expect("the target directory is writable");
    let sources = fs::read_dir(source_directory().join(directory)).expect("it is there");
    let sources = sources.map(|entry| entry.expect("a directory is readable").path());
    run_to_success(
        java_compiler(&classes)
            .arg("-cp")
            .arg(joined(&jars))
            .args(sources.filter(|path| path.extension() == Some(OsStr::new("java")))),
    );
    joined(&[jars, vec![classes]].concat())
}

/// The applications of `bench/apps` and all that they depend on, built once: a class path.
pub fn applications_class_path() -> OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    let class_path = CLASS_PATH.get_or_init(|| {
        let folder = repository().join("bench/apps");
        let mut maven = Command::new("mvn");
        maven.args(["--batch-mode", "--quiet", "--file"]);
        maven.arg(folder.join("pom.xml")).arg("package");
        run_to_success(maven.env("JAVA_HOME", Jdk::stock().home()));
        let jars = fs::read_dir(folder.join("target/dependency")).expect("Maven has made it");
        let jars = jars.map(|jar| jar.expect("a directory is readable").path());
        let classes = [folder.join("target/classes")];
        std::env::join_paths(classes.into_iter().chain(jars)).expect("no path has a colon")
    });
    class_path.clone()
}

fn check(path: &Path, sha256: &str) {
    let digest = Sha256::digest(fs::read(path).expect("Maven has put it there"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = path.display();
    assert_eq!(digest, sha256, "{path} is not what was published");
}
