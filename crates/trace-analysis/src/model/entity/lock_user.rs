//! Which class uses a lock, where the lock's own class does not say it.

use std::hash::Hash;

use crate::collections::hash::SeededMap;

/// The only class whose code is known to use something, or that there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User<C> {
    /// This class, or classes nested in it.
    Only(C),
    /// Classes that have no class around all of them, or one that is not known.
    Several,
}

/// The users of locks `L`, and of all locks of a class `C` that have one.
#[derive(Clone, Debug)]
pub(crate) struct LockUsers<L, C> {
    of_locks: SeededMap<L, User<C>>,
    of_classes: SeededMap<C, User<C>>,
}

impl<L, C> Default for LockUsers<L, C> {
    fn default() -> Self {
        Self {
            of_locks: SeededMap::default(),
            of_classes: SeededMap::default(),
        }
    }
}

impl<L: Copy + Eq + Hash, C: Copy + Eq + Hash> LockUsers<L, C> {
    pub(crate) fn of_lock(&self, lock: L) -> Option<User<C>> {
        self.of_locks.get(&lock).copied()
    }

    pub(crate) fn of_class(&self, class: C) -> Option<User<C>> {
        self.of_classes.get(&class).copied()
    }

    pub(crate) fn set_of_lock(&mut self, lock: L, user: User<C>) {
        self.of_locks.insert(lock, user);
    }

    pub(crate) fn set_of_class(&mut self, class: C, user: User<C>) {
        self.of_classes.insert(class, user);
    }

    /// How many locks have one.
    pub(crate) fn len(&self) -> usize {
        self.of_locks.len()
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(L) -> bool) {
        self.of_locks.retain(|&lock, _| is_kept(lock));
    }
}

/// What objects of a JDK class are, whose name does not say what they are for: a synchronizer of
/// `java.util.concurrent`, or any object that is only locked.
pub(super) fn purpose(class: &str) -> Option<&'static str> {
    if class == "java.lang.Object" {
        return Some("lock");
    }
    let name = class.strip_prefix("java.util.concurrent.")?;
    match name.split('$').next()? {
        "Semaphore" => Some("semaphore"),
        "CountDownLatch" => Some("latch"),
        _ if name.ends_with("$ConditionObject") => Some("condition"),
        _ if name.starts_with("locks.") => Some("lock"),
        _ => None,
    }
}

/// Returns the name of the innermost class around two others, one of which it can be.
pub(crate) fn class_around<'a>(one: &'a str, other: &str) -> Option<&'a str> {
    let dollars = one.match_indices('$').map(|(at, _)| at);
    let mut ends = dollars.chain([one.len()]).rev();
    let end = ends.find(|&end| {
        let rest = other.strip_prefix(&one[..end]);
        end > 0 && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
    });
    end.map(|end| &one[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_are_those_of_synchronizers_and_plain_objects() {
        let purpose = |class: &str| super::purpose(class);
        assert_eq!(purpose("java.lang.Object"), Some("lock"));
        let juc = |name: &str| purpose(&format!("java.util.concurrent.{name}"));
        assert_eq!(juc("locks.ReentrantLock$NonfairSync"), Some("lock"));
        assert_eq!(juc("locks.StampedLock"), Some("lock"));
        assert_eq!(juc("Semaphore$FairSync"), Some("semaphore"));
        assert_eq!(juc("CountDownLatch$Sync"), Some("latch"));
        let condition = "locks.AbstractQueuedSynchronizer$ConditionObject";
        assert_eq!(juc(condition), Some("condition"));
        assert_eq!(juc("FutureTask"), None);
        assert_eq!(purpose("java.util.Hashtable"), None);
        assert_eq!(purpose("demo.Lock"), None);
    }

    #[test]
    fn a_class_is_around_those_nested_in_it() {
        let around = |one, other| class_around(one, other);
        assert_eq!(around("a.B", "a.B"), Some("a.B"));
        assert_eq!(around("a.B$C$D", "a.B$C$E"), Some("a.B$C"));
        assert_eq!(around("a.B$C", "a.B"), Some("a.B"));
        assert_eq!(around("a.B", "a.B$1"), Some("a.B"));
        assert_eq!(around("a.B", "a.Bar"), None);
        assert_eq!(around("a.B$C", "a.Bar$C"), None);
        assert_eq!(around("$C", "$D"), None);
    }
}
