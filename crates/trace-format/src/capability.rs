//! Guarantees of a trace's producer, and its omissions.

/// A set of guarantees, and of omissions from the trace. The trace may have what the producer does
/// not guarantee.
///
/// Unknown bits of later versions are kept, and mean nothing here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u16);

impl Capabilities {
    /// Releases say [for how long](crate::Hold) the lock was held, where that is known.
    pub const HOLDS: Self = Self(1 << 1);
    /// Sequence numbers put the events of each lock in order.
    pub const ORDERED: Self = Self(1 << 2);
    /// Permits say which unpark ended which park.
    pub const PERMITS: Self = Self(1 << 3);

    /// Enters of monitors were not traced.
    pub const WITHOUT_MONITORS: Self = Self(1 << 4);
    /// Parks were not traced.
    pub const WITHOUT_PARKS: Self = Self(1 << 5);
    /// The locks of `java.util.concurrent` do not report their releases, so owners are the threads
    /// that wake others or that waiters see.
    pub const WITHOUT_SYNCHRONIZERS: Self = Self(1 << 6);
    /// Compiled code does not describe the position of each release: of the owner's innermost frame
    /// perhaps only the compiled method is known, without inlined ones.
    pub const WITHOUT_POSITIONS: Self = Self(1 << 7);
    /// An agent in the JVM wrote the trace, not the JVM itself: it does not see releases by native
    /// code and by the JVM, safepoints, and threads that wait for a monitor after a notification.
    pub const BY_AGENT: Self = Self(1 << 8);

    /// Safepoints are recorded, each with its [begin and end](crate::Safepoint).
    pub const SAFEPOINTS: Self = Self(1 << 10);
    /// The system's counts of the times of owners of contended locks are
    /// [recorded](crate::ThreadTimes).
    pub const THREAD_TIMES: Self = Self(1 << 11);
    /// The system does not count for how long a thread has waited for a processor.
    pub const WITHOUT_RUN_DELAY: Self = Self(1 << 12);
    /// The stacks of owners that others wait for longer than a threshold are
    /// [sampled](crate::OwnerSample).
    pub const OWNER_SAMPLES: Self = Self(1 << 13);
    /// The allocation sites of locks are [recorded](crate::LockSite), as far as they are known.
    pub const LOCK_SITES: Self = Self(1 << 14);

    /// Waits in `Object.wait` are recorded, each with the notification that ended it, if one did.
    pub const OBJECT_WAITS: Self = Self(1 << 15);

    /// The bit of the file header's flags that is not a capability.
    const NOT_CAPABILITIES: u16 = 1;

    /// Returns the bits in the file header's flags.
    pub(crate) fn flags(self) -> u16 {
        self.0
    }

    /// Returns the guarantees of a trace of a version that does not record them.
    pub(crate) fn of_old_version() -> Self {
        Self::ORDERED.union(Self::PERMITS)
    }

    /// Returns both these and `others`.
    pub const fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns whether all of `others` are guaranteed.
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the guarantees and omissions of these bits. Bits that are not known are kept.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & !Self::NOT_CAPABILITIES)
    }

    /// Returns the names of the known guarantees.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = [
            (Self::HOLDS, "holds"),
            (Self::ORDERED, "ordered"),
            (Self::PERMITS, "permits"),
            (Self::SAFEPOINTS, "safepoints"),
            (Self::THREAD_TIMES, "thread-times"),
            (Self::OWNER_SAMPLES, "owner-samples"),
            (Self::LOCK_SITES, "lock-sites"),
            (Self::OBJECT_WAITS, "object-waits"),
        ];
        let named = known
            .into_iter()
            .filter(move |&(capability, _)| self.contains(capability));
        named.map(|(_, name)| name)
    }

    /// Returns the omissions from the trace, in words.
    pub fn omissions(self) -> impl Iterator<Item = &'static str> {
        let known = [
            (Self::WITHOUT_MONITORS, "monitors were not traced"),
            (Self::WITHOUT_PARKS, "parks were not traced"),
            (
                Self::WITHOUT_SYNCHRONIZERS,
                "locks of java.util.concurrent do not tell all releases: the JVM was started without tracing",
            ),
            (
                Self::BY_AGENT,
                "an agent does not see releases by native code and by the JVM, safepoints, and waiting after notify",
            ),
            (
                Self::WITHOUT_POSITIONS,
                "compiled code may tell the compiled method only: -XX:+DebugNonSafepoints is off",
            ),
            (
                Self::WITHOUT_RUN_DELAY,
                "the system does not count how long threads wait for processors (CONFIG_SCHED_INFO)",
            ),
        ];
        let omitted = known
            .into_iter()
            .filter(move |&(omission, _)| self.contains(omission));
        omitted.map(|(_, words)| words)
    }
}
