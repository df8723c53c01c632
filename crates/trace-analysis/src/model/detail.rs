//! How much is found out about a wait.

/// How much the analysis finds out about who made threads wait. What is not asked for costs
/// nothing: a wait can have as many contentions as the lock had owners meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// What is known of a wait by itself, and not in a sum.
    pub by: BlameBy,
    /// Whether the root owners are found, too. Waits are held back until the waits of their owners
    /// are known.
    pub roots: bool,
    /// Whether parts are split by where their owners stood, as far as they were sampled.
    pub samples: bool,
    /// Whether single contentions of a sample of the time are enough if there are too many: of other waits for locks only
    /// the sums of the code of their direct owners are known then.
    pub is_sampled: bool,
}

/// What of a wait is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlameBy {
    /// All that owners had in one call chain, whichever threads they were: the thread of an owner is
    /// one of them. Of a lock that guards the initialization of a class, as [`Owner`](Self::Owner).
    Code,
    /// All that one owner had: a thread with a call chain.
    Owner,
    /// Nothing: the single contentions are there, too.
    Contention,
}

impl Detail {
    /// What each call chain had of a wait.
    pub const CODE: Self = Self::by(BlameBy::Code);
    /// What each owner had of a wait.
    pub const OWNERS: Self = Self::by(BlameBy::Owner);
    /// The single contentions of a wait.
    pub const CONTENTIONS: Self = Self::by(BlameBy::Contention);

    const fn by(by: BlameBy) -> Self {
        Self {
            by,
            roots: false,
            samples: false,
            is_sampled: false,
        }
    }

    /// Returns the same, and root owners.
    #[must_use]
    pub const fn with_roots(self) -> Self {
        Self {
            roots: true,
            ..self
        }
    }

    /// Returns the root owner of each contention, and where owners stood.
    #[must_use]
    pub const fn with_samples(self) -> Self {
        Self {
            by: BlameBy::Contention,
            roots: true,
            samples: true,
            ..self
        }
    }

    /// Returns the same, of a sample of the time if there are too many contentions.
    #[must_use]
    pub const fn sampled(self) -> Self {
        Self {
            is_sampled: true,
            ..self
        }
    }

    /// Returns what `self` is and what `other` is.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            by: self.by.max(other.by),
            roots: self.roots || other.roots,
            samples: self.samples || other.samples,
            is_sampled: self.may_be_sampled() && other.may_be_sampled(),
        }
    }

    /// Whether the single contentions are wanted.
    pub fn has_contentions(self) -> bool {
        self.by == BlameBy::Contention
    }

    /// Whether single contentions of all waits are not needed.
    fn may_be_sampled(self) -> bool {
        self.is_sampled || !self.has_contentions()
    }

    /// Whether root owners are looked for, and parts of a wait may be added up.
    pub(crate) fn adds_up_roots(self) -> bool {
        self.roots && !self.has_contentions()
    }
}

impl Default for Detail {
    fn default() -> Self {
        Self::CONTENTIONS
    }
}
