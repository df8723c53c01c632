//! What the producer of a trace guarantees.

/// A set of guarantees. What a producer does not guarantee may be so all the same.
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

    /// The bit beside them in the file's header.
    const NOT_CAPABILITIES: u16 = 1;

    /// Returns the set with these bits of the file header's flags.
    pub(crate) fn from_flags(flags: u16) -> Self {
        Self(flags & !Self::NOT_CAPABILITIES)
    }

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

    /// Returns the names of those that are known.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = [
            (Self::HOLDS, "holds"),
            (Self::ORDERED, "ordered"),
            (Self::PERMITS, "permits"),
        ];
        let named = known
            .into_iter()
            .filter(move |&(capability, _)| self.contains(capability));
        named.map(|(_, name)| name)
    }
}
