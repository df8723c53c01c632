//! An oracle for call chains: a thread that waits for a monitor stands where byte code acquires
//! one, and its owner where byte code releases one. Says what a program's class files
//! say, as `javap` would print it; the tracer has no part in that.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;

use trace_analysis::{
    ChainIndex, Entities, Frame, Lock, LockIndex, Mechanism, Owner, TraceFile, Wait, WaitKind,
};
use trace_format::Capabilities;

use crate::class_path::{Action, ClassPath, Method};
use crate::summary::{analyze, check_sound};

/// The positions in a trace, judged by the class files.
#[derive(Debug, Default)]
pub struct Positions {
    /// Of threads that waited.
    waiting: Tally,
    /// Of their owners.
    owning: Tally,
    wrong_waiting: BTreeMap<String, Tally>,
    wrong_owning: BTreeMap<String, Tally>,
    /// Positions that no class file can judge, by the reason.
    apart: BTreeMap<&'static str, Tally>,
}

/// The number of times that something is in a trace, and the waiting that it stands for.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: u64,
    duration_ns: u64,
}

#[derive(Clone, Debug)]
enum Verdict {
    Right,
    /// Nothing can be said, for a reason.
    Apart(&'static str),
    Wrong(String),
}

/// The lock class of the locks that class initialization takes.
const INITIALIZATION_LOCK: &str = "[I";
/// The same as an agent calls it, on JDKs whose classes may be others than those of JDK 8.
const INITIALIZATION_LOCK_OF_AGENT: &str = "int[]";
/// The lock that collectors take to append to the list of references.
const REFERENCES_LOCK: &str = "java.lang.ref.Reference$Lock";

/// Native methods that lock on behalf of their callers.
const LOCKING_NATIVES: [&str; 2] = ["sun.misc.Unsafe.", "scenarios."];

impl Positions {
    /// Those of all waits for monitors in a sound trace.
    pub fn of(trace: &Path, class_path: &ClassPath) -> Self {
        let mut positions = Self::default();
        let mut verdicts = HashMap::new();
        let file = TraceFile::open(trace).unwrap_or_else(|error| panic!("{error}"));
        let capabilities = file.header().capabilities;
        let summary = analyze(trace, |wait, entities| {
            // Code that waits in `Object.wait` or notifies stands there, not at a monitor.
            if wait.mechanism == Mechanism::Monitor && wait.kind == WaitKind::Contention {
                positions.add(wait, |position| {
                    let verdict = verdicts.entry(position);
                    let verdict = verdict
                        .or_insert_with(|| position.judge(class_path, entities, capabilities));
                    verdict.clone()
                });
            }
        });
        check_sound(&summary.unwrap_or_else(|error| panic!("{error}")));
        positions
    }

    fn add(&mut self, wait: &Wait, mut judge: impl FnMut(Position) -> Verdict) {
        let position = |role, chain| Position {
            role,
            after_wait: wait.after_wait,
            chain,
            lock: wait.lock,
        };
        self.waiting.add(wait.duration_ns);
        let waiting = judge(position(Role::Waiting, wait.chain));
        count(
            waiting,
            wait.duration_ns,
            &mut self.wrong_waiting,
            &mut self.apart,
        );
        for part in &wait.contentions {
            if let Owner::Thread { chain, .. } = part.owner {
                self.owning.add(part.duration_ns);
                let owning = judge(position(Role::Owning, chain));
                count(
                    owning,
                    part.duration_ns,
                    &mut self.wrong_owning,
                    &mut self.apart,
                );
            }
        }
    }

    /// Panics, and prints the positions, if one is wrong.
    pub fn check(&self) {
        let is_right = self.wrong_waiting.is_empty() && self.wrong_owning.is_empty();
        assert!(is_right, "positions without their monitor:\n{self}");
    }

    /// Returns the number of positions judged, of waiting threads and of owners.
    pub fn judged(&self) -> (u64, u64) {
        (self.waiting.count, self.owning.count)
    }
}

fn count(
    verdict: Verdict,
    duration_ns: u64,
    wrong: &mut BTreeMap<String, Tally>,
    apart: &mut BTreeMap<&'static str, Tally>,
) {
    match verdict {
        Verdict::Right => {}
        Verdict::Apart(reason) => apart.entry(reason).or_default().add(duration_ns),
        Verdict::Wrong(what) => wrong.entry(what).or_default().add(duration_ns),
    }
}

impl Tally {
    fn add(&mut self, duration_ns: u64) {
        self.count += 1;
        self.duration_ns += duration_ns;
    }
}

impl fmt::Display for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, all, wrong) in [
            ("waiting", self.waiting, &self.wrong_waiting),
            ("owning", self.owning, &self.wrong_owning),
        ] {
            let wrong_ns: u64 = wrong.values().map(|tally| tally.duration_ns).sum();
            let share = 100.0 * wrong_ns as f64 / all.duration_ns.max(1) as f64;
            writeln!(f, "{what}: {all}, {share:.1} % of it wrong")?;
            let mut wrong: Vec<_> = wrong.iter().collect();
            wrong.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.duration_ns));
            for (what, tally) in wrong {
                writeln!(f, "  {tally}: {what}")?;
            }
        }
        for (reason, tally) in &self.apart {
            writeln!(f, "apart, {reason}: {tally}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} times, {} us", self.count, self.duration_ns / 1_000)
    }
}

/// A call chain, and what a thread with this chain did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Position {
    role: Role,
    after_wait: bool,
    chain: ChainIndex,
    lock: LockIndex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Waiting,
    Owning,
}

impl Position {
    /// Judges a position. A trace may say that it knows only the compiled method of a release in
    /// compiled code. An agent's trace may have the call of `Object.wait` in place of the code that
    /// releases the lock in the end.
    fn judge(
        self,
        class_path: &ClassPath,
        entities: &Entities,
        capabilities: Capabilities,
    ) -> Verdict {
        let Some(frame) = entities.chain(self.chain).frames().first() else {
            return Verdict::Apart("no call chain");
        };
        let Lock::Object {
            class,
            mirrored_class,
            ..
        } = entities.lock(self.lock)
        else {
            return Verdict::Wrong("lock not described".to_owned());
        };
        let site = Site::of(frame, entities);
        if self.after_wait && self.role == Role::Waiting {
            return match site.name() == "java.lang.Object.wait" {
                true => Verdict::Right,
                false => Verdict::Wrong(format!("after a wait {site}")),
            };
        }
        let lock = LockedObject {
            class: entities.class_name(class),
            mirrored: mirrored_class.map(|class| entities.class_name(class)),
        };
        let may = |capability| self.role == Role::Owning && capabilities.contains(capability);
        let is_vague = may(Capabilities::WITHOUT_POSITIONS) && site.bci < 0;
        let waits = may(Capabilities::BY_AGENT) && site.action(class_path) == Some(Action::Wait);
        match judge(self.role, &site, &lock, class_path) {
            Verdict::Wrong(_) if is_vague => Verdict::Apart("compiled method alone"),
            Verdict::Wrong(_) if waits => Verdict::Apart("released by Object.wait"),
            verdict => verdict,
        }
    }
}

/// The position of a thread.
struct Site<'a> {
    class: &'a str,
    method: &'a str,
    signature: &'a str,
    bci: i32,
}

/// The object that is locked.
struct LockedObject<'a> {
    class: &'a str,
    /// The class that it stands for, if it is a `java.lang.Class`.
    mirrored: Option<&'a str>,
}

impl<'a> Site<'a> {
    fn of(frame: &Frame, entities: &'a Entities) -> Self {
        let method = entities.method(frame.method);
        Self {
            class: method.class.map_or("", |class| entities.class_name(class)),
            method: &method.name,
            signature: &method.signature,
            bci: frame.bci,
        }
    }

    fn name(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }

    /// Returns the action of the byte code there, if there is any.
    fn action(&self, class_path: &ClassPath) -> Option<Action> {
        let class = class_path.class(self.class)?;
        let method = class.method(self.method, self.signature)?;
        Some(method.action(self.bci))
    }
}

impl fmt::Display for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Site {
            class,
            method,
            signature,
            bci,
        } = self;
        write!(f, "{class}.{method}{signature} at {bci}")
    }
}

fn judge(role: Role, site: &Site<'_>, lock: &LockedObject<'_>, class_path: &ClassPath) -> Verdict {
    let Some(class) = class_path.class(site.class) else {
        return Verdict::Apart("a class that the JVM has made");
    };
    let Some(method) = class.method(site.method, site.signature) else {
        return Verdict::Wrong(format!("no such method: {site}"));
    };
    let action = method.action(site.bci);
    let wanted = match role {
        Role::Waiting => Action::Enter,
        Role::Owning => Action::Exit,
    };
    let at_entry_or_anywhere = role == Role::Owning || site.bci <= 0;
    if action == wanted
        || (synchronizes(method, site, lock, class_path) && at_entry_or_anywhere)
        || (method.is_native
            && LOCKING_NATIVES
                .iter()
                .any(|name| site.name().starts_with(name)))
    {
        return Verdict::Right;
    }
    match lock_of_the_jvm(action, method, lock, class_path) {
        Some(purpose) => Verdict::Apart(purpose),
        None => Verdict::Wrong(format!("{}: {site}", lock.class)),
    }
}

/// Does the method lock this object whenever it is called?
fn synchronizes(
    method: &Method,
    site: &Site<'_>,
    lock: &LockedObject<'_>,
    class_path: &ClassPath,
) -> bool {
    let locks_it = || match method.is_static {
        true => lock.mirrored == Some(site.class),
        // A class that the JVM has made may be anything.
        false => class_path.is_a(lock.class, site.class) != Some(false),
    };
    method.is_synchronized && locks_it()
}

/// Returns the lock that the JVM takes on its own account while it executes a byte code that names
/// a class, or a native method.
fn lock_of_the_jvm(
    action: Action,
    method: &Method,
    lock: &LockedObject<'_>,
    class_path: &ClassPath,
) -> Option<&'static str> {
    let names_class = method.is_native || matches!(action, Action::Initialize | Action::Resolve);
    match lock.class {
        INITIALIZATION_LOCK if names_class => Some("class initialization"),
        INITIALIZATION_LOCK_OF_AGENT => Some("class initialization"),
        REFERENCES_LOCK => Some("list of references"),
        class if names_class && class_path.is_a(class, "java.lang.ClassLoader") == Some(true) => {
            Some("class loading")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jdk::Jdk;
    use crate::programs::Programs;

    const OWN: &str = "(Lscenarios/Held;)V";

    fn judged(
        role: Role,
        class: &str,
        method: &str,
        signature: &str,
        bci: i32,
        lock: &str,
    ) -> Verdict {
        let class_path = ClassPath::new(Jdk::traced(), Programs::compiled().classes().as_os_str());
        let site = Site {
            class,
            method,
            signature,
            bci,
        };
        let (class, mirrored) = match lock.strip_prefix("class ") {
            Some(mirrored) => ("java.lang.Class", Some(mirrored)),
            None => (lock, None),
        };
        judge(role, &site, &LockedObject { class, mirrored }, &class_path)
    }

    fn is_right(
        role: Role,
        class: &str,
        method: &str,
        signature: &str,
        bci: i32,
        lock: &str,
    ) -> bool {
        matches!(
            judged(role, class, method, signature, bci, lock),
            Verdict::Right
        )
    }

    #[test]
    fn a_block_is_entered_and_left_at_its_byte_codes() {
        let class = "scenarios.SynchronizedBlock";
        let at = |role, bci| is_right(role, class, "own", OWN, bci, "java.lang.Object");
        let positions = |role| (-1..40).filter(|&bci| at(role, bci)).collect::<Vec<_>>();
        // As javap prints them: the second exit is for exceptions.
        assert_eq!(positions(Role::Waiting), [6]);
        assert_eq!(positions(Role::Owning), [12, 18]);
    }

    #[test]
    fn a_synchronized_method_locks_its_object_or_class() {
        let hold =
            |role, bci, lock| is_right(role, "scenarios.MethodHandleCall", "hold", OWN, bci, lock);
        assert!(hold(Role::Owning, 3, "scenarios.MethodHandleCall"));
        assert!(hold(Role::Waiting, 0, "scenarios.MethodHandleCall"));
        assert!(!hold(Role::Waiting, 3, "scenarios.MethodHandleCall"));
        assert!(!hold(Role::Owning, 3, "java.util.Vector"));
        assert!(!hold(Role::Owning, 3, "class scenarios.MethodHandleCall"));

        let vector = |lock| is_right(Role::Owning, "java.util.Vector", "size", "()I", 0, lock);
        assert!(vector("java.util.Vector") && vector("java.util.Stack"));
        assert!(!vector("java.util.Hashtable"));
    }

    #[test]
    fn locks_of_the_jvm_are_named_apart() {
        let class = "scenarios.SynchronizedBlock";
        let at = |bci, lock| judged(Role::Waiting, class, "<init>", "()V", bci, lock);
        // new java.lang.Object
        assert!(matches!(
            at(5, "[I"),
            Verdict::Apart("class initialization")
        ));
        assert!(matches!(
            at(6, "int[]"),
            Verdict::Apart("class initialization")
        ));
        assert!(matches!(
            at(5, "java.net.URLClassLoader"),
            Verdict::Apart("class loading")
        ));
        assert!(matches!(at(5, "java.lang.Object"), Verdict::Wrong(_)));
        // dup
        assert!(matches!(at(8, "[I"), Verdict::Wrong(_)));
    }

    #[test]
    fn what_has_no_class_file_is_not_judged() {
        let proxy = judged(
            Role::Owning,
            "com.sun.proxy.$Proxy1",
            "run",
            "()V",
            0,
            "java.lang.Object",
        );
        assert!(matches!(proxy, Verdict::Apart(_)));
        assert!(!is_right(
            Role::Owning,
            "scenarios.SynchronizedBlock",
            "none",
            "()V",
            0,
            "java.lang.Object"
        ));
    }
}
