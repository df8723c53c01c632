//! What methods of the JDK wait for in `Object.wait`: what their callers wait for.

use crate::model::wait::WaitKind;

/// A method of the JDK that calls `Object.wait`.
struct JdkWait {
    class: &'static str,
    method: &'static str,
    kind: WaitKind,
}

const fn waits(class: &'static str, method: &'static str, kind: WaitKind) -> JdkWait {
    JdkWait {
        class,
        method,
        kind,
    }
}

/// The methods, of JDK 8 and later ones. Others wait for a condition.
const JDK_WAITS: [JdkWait; 11] = [
    waits("java.lang.Thread", "join", WaitKind::Join),
    waits("java.lang.UNIXProcess", "waitFor", WaitKind::Join),
    waits("java.lang.ProcessImpl", "waitFor", WaitKind::Join),
    waits("java.util.TimerThread", "mainLoop", WaitKind::Idle),
    waits("java.lang.ref.ReferenceQueue", "remove", WaitKind::Idle),
    waits("java.lang.ref.ReferenceQueue", "remove0", WaitKind::Idle),
    waits(
        "java.lang.ref.Reference",
        "tryHandlePending",
        WaitKind::Idle,
    ),
    waits(
        "java.lang.ref.Reference$ReferenceHandler",
        "run",
        WaitKind::Idle,
    ),
    waits("sun.misc.GC$Daemon", "run", WaitKind::Sleep),
    waits(
        "java.util.prefs.AbstractPreferences$EventDispatchThread",
        "run",
        WaitKind::Idle,
    ),
    waits("sun.java2d.Disposer", "run", WaitKind::Idle),
];

/// Returns what a method waits for that calls `Object.wait`, if it is one of the JDK's that are
/// known.
pub(crate) fn jdk_wait(class: &str, method: &str) -> Option<WaitKind> {
    let mut known = JDK_WAITS.iter();
    let found = known.find(|wait| wait.method == method && wait.class == class);
    found.map(|wait| wait.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_known_by_class_and_name() {
        assert_eq!(jdk_wait("java.lang.Thread", "join"), Some(WaitKind::Join));
        assert_eq!(jdk_wait("java.lang.Thread", "run"), None);
        assert_eq!(jdk_wait("com.example.Thread", "join"), None);
    }
}
