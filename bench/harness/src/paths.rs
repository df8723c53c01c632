//! Paths in the repository.

use std::env;
use std::path::{Path, PathBuf};

/// The folder `bench`.
pub(crate) fn bench() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in bench")
}

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    bench().parent().expect("bench lies in the repository")
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
