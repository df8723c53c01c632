//! Threads that queue up for one lock.

use super::recognition::{LONG_PART_NS, Pattern, capitalized, owner_or};
use crate::findings::facts::Facts;
use trace_report::human;

pub(super) struct NotifyStorm;

impl Pattern for NotifyStorm {
    fn name(&self) -> &'static str {
        "notify-storm"
    }

    fn check(&self, facts: &Facts) -> bool {
        !facts.is_conditional && facts.of_own(facts.after_wait_ns) >= 0.5
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "Threads woken from Object.wait queue up for {}: {} of waiting, while {} holds it",
            facts.lock,
            facts.time(),
            owner_or(facts, "an unknown thread")
        )
    }

    fn remedy(&self) -> &'static str {
        "Wake only those that can go on: notify instead of notifyAll, one Condition for each \
         reason to wait, or a class of java.util.concurrent that hands over to one thread."
    }
}

pub(super) struct FairLock;

impl Pattern for FairLock {
    fn name(&self) -> &'static str {
        "fair-lock"
    }

    fn check(&self, facts: &Facts) -> bool {
        let is_handed_over = facts.is_free || facts.of_locks(facts.free_ns) >= 0.25;
        let is_short = facts.mean_part_ns() < LONG_PART_NS;
        !facts.is_conditional && facts.is_fair && is_short && is_handed_over
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "{} is fair, and {} holds it for short times only: threads waited {} for it, because the next \
             thread in the queue has to be woken each time",
            capitalized(&facts.lock),
            owner_or(facts, "unknown code"),
            facts.time(),
        )
    }

    fn remedy(&self) -> &'static str {
        "Use a lock that is not fair, unless the order matters; or an atomic, or work in batches."
    }
}

pub(super) struct Convoy;

impl Pattern for Convoy {
    fn name(&self) -> &'static str {
        "convoy"
    }

    fn check(&self, facts: &Facts) -> bool {
        // If the owners in between are not known, it looks like a hand-off.
        let is_free =
            facts.of_locks(facts.free_ns) >= 0.25 || facts.of_locks(facts.hand_off_ns) >= 0.25;
        !facts.is_conditional && is_free && facts.mean_part_ns() < LONG_PART_NS
    }

    fn sentence(&self, facts: &Facts) -> String {
        if facts.is_free {
            return format!(
                "{} changes hands all the time: threads waited {} for it while nobody held it, until \
                 the next thread was running after each release by {}",
                capitalized(&facts.lock),
                facts.time(),
                owner_or(facts, "unknown code")
            );
        }
        if facts.owner.is_empty() {
            return format!(
                "{} changes hands all the time: threads waited {} for it while nobody is known to \
                 have had it",
                capitalized(&facts.lock),
                facts.time()
            );
        }
        format!(
            "Short holds of {} by {} make a convoy: threads waited {} for it, and {} more until \
             the next thread was running",
            facts.lock,
            facts.owner,
            facts.time(),
            human::duration(facts.free_ns.max(facts.hand_off_ns).ns())
        )
    }

    fn remedy(&self) -> &'static str {
        "Take the lock less often (work in batches, keep data by thread), or let fewer threads \
         compete than there are processors. Shorter holds alone will not help: the time goes into \
         waking threads."
    }
}

pub(super) struct OneGlobalLock;

impl Pattern for OneGlobalLock {
    fn name(&self) -> &'static str {
        "one-global-lock"
    }

    fn check(&self, facts: &Facts) -> bool {
        let is_global = facts.locks == 1 && facts.direct_sites >= 4;
        // Where holds are long, they are the cause.
        let is_short = facts.mean_part_ns() < LONG_PART_NS;
        !facts.is_conditional && is_global && is_short && facts.share >= 0.2
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "A single lock, {}, serializes {} methods: threads waited {} while {} held it",
            facts.lock,
            facts.direct_sites,
            facts.time(),
            owner_or(facts, "an unknown thread")
        )
    }

    fn remedy(&self) -> &'static str {
        "Divide what the lock guards, so that different work takes different locks, or use a \
         concurrent collection in its place."
    }
}

pub(super) struct ManyShortHolds;

impl Pattern for ManyShortHolds {
    fn name(&self) -> &'static str {
        "many-short-holds"
    }

    fn check(&self, facts: &Facts) -> bool {
        !facts.is_conditional && facts.mean_part_ns() < LONG_PART_NS
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "{} holds {} often, for {} on average: threads waited {} for it",
            owner_or(facts, "Unknown code"),
            facts.lock,
            human::duration(facts.mean_part_ns()),
            facts.time()
        )
    }

    fn remedy(&self) -> &'static str {
        "Take the lock less often: work in batches, keep data by thread and merge it, or use an \
         atomic or a concurrent collection instead."
    }
}

pub(super) struct LongHold;

impl Pattern for LongHold {
    fn name(&self) -> &'static str {
        "long-hold"
    }

    fn check(&self, _facts: &Facts) -> bool {
        true
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "{} holds {} for long: threads waited {} for it",
            owner_or(facts, "Unknown code"),
            facts.lock,
            facts.time()
        )
    }

    fn remedy(&self) -> &'static str {
        "Do less while the lock is held: no input or output, no formatting, no calls of other \
         services; copy what is needed, release, then work."
    }
}
