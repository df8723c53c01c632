//! `jcmd`, as users call it.

use std::process::Command;

use crate::jdk::Jdk;
use crate::jvm::RunningJvm;

/// Has the JVM do something, which it must not refuse. Returns what is printed.
pub fn jcmd(jvm: &RunningJvm, arguments: &[&str]) -> String {
    let (is_done, text) = run(jvm, arguments);
    assert!(is_done, "{arguments:?}: {text}");
    text
}

/// Returns the output, also if the request was refused.
pub fn jcmd_output(jvm: &RunningJvm, arguments: &[&str]) -> String {
    run(jvm, arguments).1
}

fn run(jvm: &RunningJvm, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(Jdk::traced().tool("jcmd"));
    command.arg(jvm.id().to_string()).args(arguments);
    let output = command.output().expect("the JDK has jcmd");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("UTF-8");
    (output.status.success(), text)
}
