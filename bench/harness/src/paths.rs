//! Where things are in the repository.

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

/// What the harness builds or fetches that is to be kept.
pub(crate) fn build() -> PathBuf {
    repository().join("build/bench")
}

/// The agent for stock JVMs, as `make agent` builds it.
pub(crate) fn agent() -> PathBuf {
    let named = env::var_os("LOCKTRACE_AGENT").map(PathBuf::from);
    named.unwrap_or_else(|| repository().join("build/agent/liblocktrace.so"))
}
