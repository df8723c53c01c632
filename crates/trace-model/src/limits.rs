//! How large a model may become.

/// The most numbers that a [model](crate::Model) holds. What is beyond them is folded: it
/// counts in sums, but is not known one by one.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Waits kept one by one.
    pub waits: usize,
    /// What owners had of these waits.
    pub shares: usize,
    /// Parts of these waits; beyond the limit none are kept.
    pub parts: usize,
    /// Distinct combinations of thread, lock and code that wait; beyond the limit threads and
    /// locks are not told apart.
    pub waiters: usize,
    /// The same of owners.
    pub owners: usize,
    /// Sums of folded waits, by owner: for all threads and locks without a time, and again
    /// for all code by time.
    pub folded_shares: usize,
}

impl Default for Limits {
    /// Up to some 300 MB, so that a question is answered within a tenth of a second.
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
