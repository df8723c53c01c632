//! A budget for the processor time that hooks take.
//!
//! Most of a hook's time is the stack walk, which grows with the depth of the stack. Above the budget
//! only the innermost frames are walked: the owner of a lock and its method stay exact, the callers
//! of that method become a sample.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rust_tracer::cycles;

/// The most time, in cycles, that the budget may be ahead or in arrears: about a second.
const MAX_CREDIT: u64 = 1 << 31;

/// A hook that seems to take longer was interrupted: the rest is not charged.
const MAX_CYCLES: u64 = 1 << 20;

/// One chain in this number is whole in any case.
const SAMPLE: u64 = 64;

/// A share of one processor's time, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share(u32);

impl Default for Share {
    /// Returns 2 percent.
    fn default() -> Self {
        Self(20_000)
    }
}

impl Share {
    /// Parses `2`, `0.5` or `2%`, up to 100 percent.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = text.strip_suffix('%').unwrap_or(text);
        let is_number = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let percent: f64 = number.parse().ok().filter(|_| is_number)?;
        let is_share = (0.0..=100.0).contains(&percent);
        is_share.then_some(Self((percent * 1e4).round() as u32))
    }

    pub(crate) fn millionths(self) -> u32 {
        self.0
    }
}

/// The time that the hooks of all threads take.
#[derive(Debug)]
pub(crate) struct Budget {
    share: Share,
    /// The time, in cycles of the processor's clock, up to which the budget has paid for hooks: in
    /// the future if they took too much.
    paid_until: AtomicU64,
    /// The number of chains above the budget, of which a sample is whole.
    cut: AtomicU64,
}

impl Budget {
    pub(crate) fn new(share: Share) -> Self {
        Self {
            share,
            paid_until: AtomicU64::new(0),
            cut: AtomicU64::new(0),
        }
    }

    /// Charges the cycles that a hook has taken.
    pub(crate) fn spend(&self, cycles: u64) {
        let share = u64::from(self.share.0).max(1);
        let time = cycles.min(MAX_CYCLES).saturating_mul(1_000_000) / share;
        let now = cycles::now();
        let earliest = now.saturating_sub(MAX_CREDIT);
        let latest = now.saturating_add(MAX_CREDIT);
        // Relaxed: guards no other memory.
        let add = |paid: u64| Some(paid.max(earliest).saturating_add(time).min(latest));
        let _ = self.paid_until.fetch_update(Relaxed, Relaxed, add);
    }

    /// Returns whether the next chain is to be whole.
    pub(crate) fn pays_for_chain(&self) -> bool {
        self.paid_until.load(Relaxed) <= cycles::now()
            || self.cut.fetch_add(1, Relaxed).is_multiple_of(SAMPLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent() {
        for (text, share) in [
            ("2", 20_000),
            ("2%", 20_000),
            ("0.05", 500),
            ("100%", 1_000_000),
        ] {
            assert_eq!(Share::parse(text), Some(Share(share)), "{text}");
        }
        for text in ["", "%", "-1", "101", "1e1", "inf", "two", "2%%"] {
            assert_eq!(Share::parse(text), None, "{text}");
        }
    }

    #[test]
    fn above_the_budget_a_sample_is_whole() {
        let budget = Budget::new(Share(20_000));
        assert!((0..1_000).all(|_| budget.pays_for_chain()));
        // More than the budget may be in arrears.
        for _ in 0..2 * MAX_CREDIT * 20_000 / 1_000_000 / MAX_CYCLES {
            budget.spend(2 * MAX_CYCLES);
        }
        let whole = (0..10 * SAMPLE).filter(|_| budget.pays_for_chain()).count();
        assert_eq!(whole, 10);
    }

    #[test]
    fn all_of_a_processor_pays_for_all() {
        let budget = Budget::new(Share(1_000_000));
        budget.spend(1_000);
        assert!(budget.pays_for_chain());
    }
}
