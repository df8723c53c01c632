//! Python programs with the packages that `scripts/install-test-packages.sh` installs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Runs `program` with `arguments` in `directory`. Returns what it prints: JSON.
pub(crate) fn python(program: &str, directory: &Path, arguments: &[&str]) -> Value {
    let packages = packages();
    let output = Command::new("/usr/bin/python3")
        .args(["-c", program])
        .args(arguments)
        .current_dir(directory)
        .env("PYTHONPATH", &packages)
        .output()
        .expect("python is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{errors}\nThe packages in {} come from scripts/install-test-packages.sh",
        packages.display()
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Where the packages are.
pub(crate) fn packages() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("build/test-python")
}
