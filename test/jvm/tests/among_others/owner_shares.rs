//! The main acceptance test: how much each method is blamed for equals what
//! the program's own clock says.

use jvm_tests::{
    CompileMode, Jvm, NEVER_INLINED, Setting, check_each, check_owner_shares, contentions,
    is_nightly,
};

/// The time that `ownerA` holds the lock; the others twice, four and eight times as long.
const SHORTEST_HOLD_US: &str = "1000";

#[test]
fn with_every_compiler_collector_and_way_of_locking() {
    check_each(Setting::rotated("OwnerShares"), |setting| {
        check("Block", &setting.flags());
    });
}

/// In every mode in nightly tests; otherwise in every other one, from another one on for each kind.
#[test]
fn with_every_kind_of_monitor() {
    let kinds = [
        "Method",
        "StaticMethod",
        "NativeMethod",
        "Jni",
        "UnsafeMethods",
    ];
    let cases = kinds.iter().enumerate().flat_map(|(first, kind)| {
        let modes = CompileMode::ALL.into_iter().enumerate();
        let modes = modes.filter(move |(step, _)| is_nightly() || (first + step) % 2 == 0);
        modes.map(move |(_, mode)| (kind, mode))
    });
    check_each(cases, |(kind, mode)| check(kind, mode.flags()));
}

/// Runs `OwnerShares` and compares the blame.
fn check(kind: &str, flags: &[&str]) {
    let run = Jvm::traced(&["scenarios.OwnerShares", kind, SHORTEST_HOLD_US, "40"])
        .flags(NEVER_INLINED)
        // Collects garbage some times in a run.
        .flags(["-Xmx48m"])
        .flags(flags)
        .run();
    let setting = format!("{kind} {flags:?}");
    check_owner_shares(&setting, &run, 40, contentions(&run.trace()));
}
