//! Comparison with ASM for the same classes, method by method.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use jvm_tests::{applications_class_path, run_to_success, scratch_directory};

use super::support::{AnyJdk, Calls, Instrumented, JavaPrograms, output_of};

#[test]
fn asm_instruments_the_class_library_in_the_same_way() {
    let library = AnyJdk::stock().home.join("jre/lib/rt.jar");
    assert!(compare(&[library]) > 1_400);
}

/// Some of them written in Scala, or compiled for old JVMs.
#[test]
fn asm_instruments_applications_in_the_same_way() {
    let class_path = applications_class_path();
    let jars: Vec<PathBuf> = std::env::split_paths(&class_path).collect();
    assert!(compare(&jars) > 1_000);
}

/// With type annotations and frames of all kinds, of the newest compiler that there is, too.
#[test]
fn asm_instruments_annotated_code_in_the_same_way() {
    let programs = JavaPrograms::compiled().programs();
    assert!(compare(&[programs]) >= 3);
    for jdk in AnyJdk::with_modules() {
        let scratch = scratch_directory("annotated");
        let sources = jvm_tests::source_directory().join("instrumentation");
        let mut javac = jdk.tool("javac");
        javac
            .args(["-g", "--release", "17", "-d"])
            .arg(scratch.path());
        for name in ["Annotated.java", "Exits.java"] {
            javac.arg(sources.join(name));
        }
        run_to_success(&mut javac);
        assert!(compare(&[scratch.path().to_owned()]) >= 3);
    }
}

/// Compares all classes of some jars or directories; how many have changed.
fn compare(originals: &[PathBuf]) -> usize {
    let mut compared = 0;
    for calls in Calls::ALL {
        let scratch = scratch_directory("oracle");
        let output = scratch.path().join("classes");
        // Below and above what `sipush` can have.
        let mut instrumented = Instrumented::from_site(32_000);
        for original in originals {
            instrumented.add(original, calls, &output);
        }
        // The oracle does not know why something is left alone.
        let partly: HashSet<_> = instrumented.partly.iter().collect();
        let classes = instrumented.classes.iter();
        let classes = classes.filter(|(name, _)| !partly.contains(name));
        let lines: Vec<_> = classes
            .map(|(name, site)| format!("{name} {site}\n"))
            .collect();
        compared = lines.len();
        let list = scratch.path().join("list");
        fs::write(&list, lines.concat()).expect("a scratch directory is writable");
        let mut java = AnyJdk::stock().tool("java");
        java.arg("-cp").arg(JavaPrograms::compiled().oracle());
        java.arg("instrumentation.oracle.Oracle");
        java.arg(std::env::join_paths(originals).expect("no path has a colon"));
        java.arg(output).arg(list);
        let said = output_of(java.arg((calls == Calls::BeforeAndAfter).to_string()));
        println!("{calls:?}: {said}");
        assert!(said.contains(&format!("of {compared} classes compared")));
    }
    compared
}
