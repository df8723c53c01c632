//! The limits of a model's size.

/// The most entries of each kind in a [model](crate::Model). What exceeds them is folded: it counts in
/// sums, but is not known one by one.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Waits kept one by one.
    pub waits: usize,
    /// Shares of owners in these waits.
    pub shares: usize,
    /// Parts of these waits. Beyond the limit none are kept.
    pub parts: usize,
    /// Waiters: combinations of a thread, a lock and code. Beyond the limit threads and locks are not
    /// distinguished.
    pub waiters: usize,
    /// Owners, likewise.
    pub owners: usize,
    /// Sums of folded waits, by owner: by thread and lock without a time, and again by code over
    /// time.
    pub folded_shares: usize,
}

impl Default for Limits {
    /// Returns limits of some 300 MB, so that a question is answered within a tenth of a second.
    fn default() -> Self {
        Self {
            waits: 500_000,
            shares: 1_500_000,
            parts: 4_000_000,
            waiters: 500_000,
            owners: 500_000,
            folded_shares: 500_000,
        }
    }
}
