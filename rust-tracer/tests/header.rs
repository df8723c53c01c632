//! The committed C header is the one that the sources make, and every compiler
//! that meets it understands it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `LOCKTRACE_BLESS=1` writes the header instead of comparing it.
#[test]
fn header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(root, config).unwrap();
    let mut generated = Vec::new();
    bindings.write(&mut generated);

    if std::env::var_os("LOCKTRACE_BLESS").is_some() {
        std::fs::write(header(), &generated).unwrap();
    }
    let committed = std::fs::read_to_string(header()).unwrap();
    let generated = String::from_utf8(generated).unwrap();
    assert!(
        committed == generated,
        "run LOCKTRACE_BLESS=1 cargo test -p rust-tracer header"
    );
}

/// HotSpot 8 is C++98 with GNU extensions.
#[test]
fn header_compiles() {
    let client = std::env::temp_dir().join(format!("locktrace-header-{}.c", std::process::id()));
    let include = format!("#include \"{}\"\n", header().display());
    std::fs::write(&client, include.repeat(2)).unwrap();
    for (compiler, language, standard) in [
        ("cc", "c", "c99"),
        ("cc", "c", "gnu17"),
        ("c++", "c++", "gnu++98"),
        ("c++", "c++", "c++17"),
    ] {
        let status = Command::new(compiler)
            .args([
                "-fsyntax-only",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-x",
                language,
            ])
            .arg(format!("-std={standard}"))
            .arg(&client)
            .status()
            .unwrap();
        assert!(status.success(), "{compiler} -std={standard}");
    }
    std::fs::remove_file(client).unwrap();
}

fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include/locktrace.h")
}
