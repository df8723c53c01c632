//! Decides whether it pays that waits share holds.

/// Finds that out from those that did: a wait during which an owner waited itself is taken apart again,
/// which costs more than not to have shared.
#[derive(Debug, Default)]
pub(crate) struct SharingPolicy {
    /// Of the waits that shared holds since it was asked last.
    whole: u32,
    apart: u32,
    /// How many waits to come do not.
    without: u32,
}

/// So many waits tell.
const ENOUGH: u32 = 1 << 10;

/// So many waits do not share holds then, if one in so many was taken apart. As many as are held back
/// share before it is known.
const WITHOUT: u32 = 1 << 17;
const ONE_IN: u32 = 4;

impl SharingPolicy {
    /// A wait that shared holds was taken apart again, or was not.
    pub(crate) fn note(&mut self, is_apart: bool) {
        self.apart += u32::from(is_apart);
        self.whole += u32::from(!is_apart);
        if self.apart + self.whole >= ENOUGH {
            if self.apart * ONE_IN > self.whole {
                self.without = WITHOUT;
            }
            (self.apart, self.whole) = (0, 0);
        }
    }

    /// A wait came.
    pub(crate) fn pass(&mut self) {
        self.without = self.without.saturating_sub(1);
    }

    /// Whether the next wait is to share holds.
    pub(crate) fn is_wanted(&self) -> bool {
        self.without == 0
    }
}
