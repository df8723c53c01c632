//! Paths in the repository, or in an archive of `bench/pack`.

use std::env;
use std::path::{Path, PathBuf};

/// The root of the archive that the harness runs in, if it does. An archive has the layout of the repository.
pub(crate) fn pack() -> Option<PathBuf> {
    env::var_os("LOCKTRACE_PACK").map(PathBuf::from)
}

/// The root of the repository, or of the archive.
pub(crate) fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = || package.ancestors().nth(2).map(Path::to_owned);
    pack()
        .or_else(here)
        .expect("the package lies in a folder of bench")
}

/// The folder `bench`.
pub(crate) fn bench() -> PathBuf {
    repository().join("bench")
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
