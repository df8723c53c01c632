//! The order of park events.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trace_format::{LockId, PARK_DOMAINS};

/// Gives park events their sequence numbers: a counter for each domain.
///
/// One counter for all would be a bottleneck of the application's making only in
/// the traced run. The threads that share one of these have just competed for
/// the state of a blocker too, or would have had to share a hash code's bits
/// (`docs/design/order-of-events.md`).
#[derive(Debug)]
pub(crate) struct ParkDomains([Counter; PARK_DOMAINS as usize]);

/// A counter in a pair of cache lines, which the processor fetches together, of its
/// own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

impl Default for ParkDomains {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

impl ParkDomains {
    /// Takes the next number in the domain of `key`. All events with the
    /// same key have the same domain.
    // Relaxed: of two modifications of one atomic, the one that happens before the
    // other comes first. An unpark becomes noticeable by the lock of the target's
    // mutex, which follows the number in the program, so a target that noticed has
    // a higher one.
    pub(crate) fn next_number(&self, key: u64) -> (LockId, u64) {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3,
        // 6.4): Java thread ids are consecutive.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let domain = hash % PARK_DOMAINS;
        let counter = self.0.get(domain as usize);
        let last = counter.map_or(0, |Counter(last)| last.fetch_add(1, Relaxed));
        (LockId(domain.wrapping_add(1)), last.wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_domain_counts_for_itself() {
        let domains = ParkDomains::default();
        let (domain, first) = domains.next_number(42);
        assert!((1..=PARK_DOMAINS).contains(&domain.0));
        assert_eq!(first, 1);
        assert_eq!(domains.next_number(42), (domain, 2));
        let other = (0..).find_map(|key| {
            let (other, number) = domains.next_number(key);
            (other != domain).then_some(number)
        });
        assert_eq!(other, Some(1));
    }

    /// Threads with consecutive ids do not meet.
    #[test]
    fn consecutive_keys_are_spread() {
        let domains = ParkDomains::default();
        let mut used: Vec<_> = (0..64).map(|key| domains.next_number(key).0).collect();
        used.sort_unstable();
        used.dedup();
        assert!(used.len() > 60, "{used:?}");
    }
}
