//! What the producer of a trace guarantees, and what it leaves out.

/// A set of guarantees, and of what the trace does not tell. What a producer does not
/// guarantee may be so all the same.
///
/// A later version may know more of them: they are kept, and mean nothing here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u16);

impl Capabilities {
    /// Releases say [for how long](crate::Hold) the lock was held, where that can be told.
    pub const HOLDS: Self = Self(1 << 1);
    /// Sequence numbers put the events of each lock in order.
    pub const ORDERED: Self = Self(1 << 2);
    /// Permits tell which unpark ended which park.
    pub const PERMITS: Self = Self(1 << 3);

    /// Enters of monitors were not traced.
    pub const WITHOUT_MONITORS: Self = Self(1 << 4);
    /// Parks were not traced.
    pub const WITHOUT_PARKS: Self = Self(1 << 5);
    /// The locks of `java.util.concurrent` do not tell when they are released, so owners are
    /// those that wake somebody or are seen by who waits.
    pub const WITHOUT_SYNCHRONIZERS: Self = Self(1 << 6);
    /// Compiled code does not describe the position of each release: of the owner's innermost
    /// frame the compiled method may be known alone, without what was inlined.
    pub const WITHOUT_POSITIONS: Self = Self(1 << 7);
    /// An agent in the JVM wrote the trace, not the JVM itself: it does not see releases by native
    /// code and by the JVM, safepoints, and who waits for a monitor after it was notified.
    pub const BY_AGENT: Self = Self(1 << 8);

    /// Safepoints are told, each with its [begin and end](crate::Safepoint).
    pub const SAFEPOINTS: Self = Self(1 << 10);
    /// What the system counts of owners of contended locks is [told](crate::ThreadTimes).
    pub const THREAD_TIMES: Self = Self(1 << 11);
    /// The system does not count for how long a thread has waited for a processor.
    pub const WITHOUT_RUN_DELAY: Self = Self(1 << 12);
    /// The stacks of owners that others wait for long are [sampled](crate::OwnerSample).
    pub const OWNER_SAMPLES: Self = Self(1 << 13);
    /// Where locks were allocated is [told](crate::LockSite), as far as it was recorded.
    pub const LOCK_SITES: Self = Self(1 << 14);

    /// The bit beside them in the file's header.
    const NOT_CAPABILITIES: u16 = 1;

    /// Returns the bits in the file header's flags.
    pub(crate) fn flags(self) -> u16 {
        self.0
    }

    /// Returns what a trace of a version before they were written guarantees.
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

    /// Returns the names of the guarantees that are known.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = [
            (Self::HOLDS, "holds"),
            (Self::ORDERED, "ordered"),
            (Self::PERMITS, "permits"),
            (Self::SAFEPOINTS, "safepoints"),
            (Self::THREAD_TIMES, "thread-times"),
            (Self::OWNER_SAMPLES, "owner-samples"),
            (Self::LOCK_SITES, "lock-sites"),
        ];
        let named = known
            .into_iter()
            .filter(move |&(capability, _)| self.contains(capability));
        named.map(|(_, name)| name)
    }

    /// Returns what the trace does not tell, in words.
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
