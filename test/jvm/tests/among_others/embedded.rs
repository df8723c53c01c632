//! A JVM that a native program created in its own process.

use jvm_tests::{Jvm, NEVER_INLINED, Programs, Setting, check_chain, check_each, waits};

#[test]
fn created_and_destroyed_by_a_native_program() {
    let launcher = Programs::compiled().launcher();
    let launcher = launcher
        .to_str()
        .expect("the target directory's name is text");
    check_each(Setting::rotated("Embedded"), |setting| {
        let run = Jvm::traced(&["scenarios.Embedded"])
            .below(&[launcher])
            .flags(NEVER_INLINED)
            .flags(setting.flags())
            .run();
        assert_eq!(run.stdout, "destroyed\n", "{}", run.describe());

        let waits = waits(&run.trace());
        // Not those for classes that the other thread initializes.
        let for_the_lock: Vec<_> = waits
            .iter()
            .filter(|wait| wait.common().lock_class == "scenarios.Embedded$Lock")
            .collect();
        let [wait] = for_the_lock[..] else {
            panic!("not one wait: {for_the_lock:#?}");
        };
        assert_eq!(wait.thread(), "native-waiter", "{wait}");
        let longest = wait.longest_part();
        assert_eq!(longest.owner_name(), Some("native-owner"), "{wait}");
        let (blocked, owner) = (&wait.common().chain, longest.owner_frames());
        check_chain(
            &[("scenarios.Embedded.want", "wanted")],
            blocked,
            setting.mode,
        );
        check_chain(&[("scenarios.Embedded.own", "leave")], owner, setting.mode);

        let daemons = waits
            .iter()
            .filter(|wait| wait.thread().starts_with("native-daemon-"));
        assert!(daemons.count() > 2, "the daemons did not contend");
    });
}
