//! Jars from Maven's repositories.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::paths::{source_directory, target_directory};
use crate::programs::run_to_success;

/// A file and what its SHA-256 must be.
#[derive(Clone, Copy, Debug)]
pub struct Jar {
    /// The file's name.
    pub name: &'static str,
    /// In hexadecimal digits.
    pub sha256: &'static str,
}

/// What `pom.xml` in a directory of this package depends on: fetched once and
/// then kept in the target directory.
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

fn check(path: &Path, sha256: &str) {
    let digest = Sha256::digest(fs::read(path).expect("Maven has put it there"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = path.display();
    assert_eq!(digest, sha256, "{path} is not what was published");
}
