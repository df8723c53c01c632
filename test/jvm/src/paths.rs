//! Paths in the repository.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// The root of the repository.
pub fn repository() -> &'static Path {
    let package = source_directory();
    package
        .ancestors()
        .nth(2)
        .expect("the package lies two levels deep")
}

/// The root of the Java sources: this package, or its folder in an archive of `bench/pack`.
pub fn source_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let pack = std::env::var_os("LOCKTRACE_PACK");
        pack.map_or_else(
            || PathBuf::from(env!("CARGO_MANIFEST_DIR")),
            |pack| Path::new(&pack).join("test/jvm"),
        )
    })
}

/// Cargo's target directory, in which the running test or program was built.
pub fn target_directory() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows its own program");
    // target/PROFILE/deps/TEST or target/PROFILE/PROGRAM
    let mut folders = program.ancestors().skip(1);
    let profile = folders.find(|folder| !folder.ends_with("deps"));
    let target = profile.and_then(Path::parent);
    target
        .expect("Cargo puts programs below its target directory")
        .to_owned()
}

/// A fresh directory for one run, below the one that the environment names.
pub fn scratch_directory(name: &str) -> TempDir {
    let parent = std::env::var_os("LOCKTRACE_SCRATCH")
        .map_or_else(|| target_directory().join("jvm-tests"), PathBuf::from);
    std::fs::create_dir_all(&parent).expect("the target directory is writable");
    let directory = tempfile::Builder::new()
        .prefix(&format!("{name}-"))
        .tempdir_in(parent);
    directory.expect("the target directory is writable")
}
