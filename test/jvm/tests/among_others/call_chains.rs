//! The call chains of the owner and of the blocked thread, in every way that
//! code can lock and that the JVM can execute it.
//!
//! One scenario each; `scenarios/*.java` say what is expected.

use jvm_tests::{CompileMode, Setting, check_compiled, check_contend, contend};

#[test]
fn synchronized_method() {
    check_in_all_modes("SynchronizedMethod");
}

#[test]
fn synchronized_block() {
    check_in_all_modes("SynchronizedBlock");
}

#[test]
fn static_synchronized_method() {
    check_in_all_modes("StaticSynchronizedMethod");
}

#[test]
fn synchronized_native_method() {
    check_in_all_modes("SynchronizedNative");
}

#[test]
fn jni_monitor() {
    check_in_all_modes("JniMonitor");
}

#[test]
fn jni_monitor_across_calls() {
    check_in_all_modes("JniMonitorAcrossCalls");
}

#[test]
fn unsafe_monitor() {
    check_in_all_modes("UnsafeMonitor");
}

#[test]
fn exception_from_method() {
    check_in_all_modes("ExceptionFromMethod");
}

#[test]
fn exception_from_block() {
    check_in_all_modes("ExceptionFromBlock");
}

#[test]
fn inlined_block() {
    check_in_all_modes("InlinedBlock");
}

#[test]
fn inlined_method() {
    check_in_all_modes("InlinedMethod");
}

#[test]
fn inlined_callee() {
    check_in_all_modes("InlinedCallee");
}

#[test]
fn late_inlining() {
    check_in_all_modes("LateInlining");
}

#[test]
fn reentrant() {
    check_in_all_modes("Reentrant");
}

#[test]
fn reflective_call() {
    check_in_all_modes("ReflectiveCall");
}

#[test]
fn lambda_body() {
    check_in_all_modes("LambdaBody");
}

#[test]
fn method_handle_call() {
    check_in_all_modes("MethodHandleCall");
}

/// The scenarios show inlining only if the compilers do inline: C1 and C2 say
/// so in their log.
#[test]
fn inlining_happens() {
    let deepest = [
        ("InlinedBlock", "own4"),
        ("InlinedBlock", "want3"),
        ("InlinedMethod", "own2"),
        ("InlinedMethod", "want2"),
        ("InlinedCallee", "runHeld"),
    ];
    for (scenario, method) in deepest {
        let profiled = |setting: &Setting| {
            matches!(
                setting.mode,
                CompileMode::C1 | CompileMode::C2 | CompileMode::Tiered
            )
        };
        for setting in Setting::rotated(scenario).into_iter().filter(profiled) {
            let log = contend(scenario, &setting).stderr;
            let inlined = |line: &str| {
                let attempt = line.contains(&format!("   scenarios.{scenario}::{method} ("))
                    && line.contains('@');
                attempt && (line.ends_with("bytes)") || line.ends_with("inline (hot)"))
            };
            assert!(
                log.lines().any(inlined),
                "{scenario}.{method} is not inlined by {setting:?}:\n{log}"
            );
        }
    }
}

fn check_in_all_modes(scenario: &str) {
    check_contend(scenario, |mode, run| check_compiled(scenario, mode, run));
}
