//! Programs in Go, which `scripts/install-test-packages.sh` builds where Go is new enough.

use std::path::Path;
use std::process::Command;

/// The program, if it is there. If it is not, this says so.
pub(crate) fn go_program(name: &str) -> Option<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = root.join("build/test-go").join(name);
    if program.exists() {
        return Some(Command::new(program));
    }
    let program = program.display();
    eprintln!(
        "skipped: no {program}; crates/locktrace/tests/go/go.mod says how new Go has to be for it"
    );
    None
}
