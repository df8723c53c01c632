//! Paths in the repository, or in an archive of `bench/pack`.

use std::env;
use std::path::{Path, PathBuf};

/// The folder `bench` of the archive that the harness runs in, if it does.
pub(crate) fn packed_bench() -> Option<PathBuf> {
    env::var_os("LOCKTRACE_BENCH").map(PathBuf::from)
}

/// The folder `bench`.
pub(crate) fn bench() -> PathBuf {
    packed_bench().unwrap_or_else(|| repository().join("bench"))
}

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2);
    root.expect("the package lies in a folder of bench")
}

/// Returns the folder of files that the harness builds or fetches and keeps.
pub(crate) fn build() -> PathBuf {
    repository().join("build/bench")
}

/// The agent for stock JVMs, as `make agent` builds it.
pub(crate) fn agent() -> PathBuf {
    let named = env::var_os("LOCKTRACE_AGENT").map(PathBuf::from);
    named.unwrap_or_else(|| repository().join("build/agent/liblocktrace.so"))
}
