//! Waiting for other threads, and for initializers.

use super::recognition::{Pattern, owner_or};
use crate::findings::facts::{Condition, Facts};

pub(super) struct ClassInitialization;

impl Pattern for ClassInitialization {
    fn name(&self) -> &'static str {
        "class-initialization"
    }

    fn check(&self, facts: &Facts) -> bool {
        facts.is_initialization
    }

    fn sentence(&self, facts: &Facts) -> String {
        if facts.is_free {
            return format!(
                "Threads waited {} for the {}, mostly after it had ended: they had been woken and \
                 were not running yet",
                facts.time(),
                facts.lock_class
            );
        }
        format!(
            "Threads waited {} for the {}, which another one runs",
            facts.time(),
            facts.lock_class
        )
    }

    fn remedy(&self) -> &'static str {
        "Do less in the static initializer, or use the class once before the threads start."
    }
}

pub(super) struct TakingTurns;

impl Pattern for TakingTurns {
    fn name(&self) -> &'static str {
        "taking-turns"
    }

    fn check(&self, facts: &Facts) -> bool {
        facts.is_conditional && facts.parks_directly && wake_each_other(facts)
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "Threads take turns: they parked for {} until another one unparked them in {}",
            facts.time(),
            owner_or(facts, "unknown code")
        )
    }

    fn remedy(&self) -> &'static str {
        "Do more between two turns, or let one thread do the work of both: each turn costs the time \
         to wake a thread. A queue between them lets both run."
    }
}

/// The name of the pattern of pools.
pub(crate) const POOL_TOO_SMALL: &str = "pool-too-small";

pub(super) struct PoolTooSmall;

impl Pattern for PoolTooSmall {
    fn name(&self) -> &'static str {
        POOL_TOO_SMALL
    }

    fn check(&self, facts: &Facts) -> bool {
        facts.is_conditional && wake_each_other(facts) && !is_queue(&facts.owner)
    }

    fn sentence(&self, facts: &Facts) -> String {
        let size = match facts.kept_at_once {
            0 | 1 => String::new(),
            threads => format!(" of at least {threads}"),
        };
        format!(
            "Threads waited {} until others gave something back in {}: it looks like a pool{size} \
             that is too small",
            facts.time(),
            owner_or(facts, "unknown code")
        )
    }

    fn remedy(&self) -> &'static str {
        "Keep what the pool lends for a shorter time, give it back before slow work, or make the \
         pool larger if what is behind it can take that."
    }
}

pub(super) struct WaitsWhileHolding;

impl Pattern for WaitsWhileHolding {
    fn name(&self) -> &'static str {
        "waits-while-holding"
    }

    fn check(&self, facts: &Facts) -> bool {
        !facts.is_conditional && facts.condition.is_some()
    }

    fn sentence(&self, facts: &Facts) -> String {
        let Condition {
            waits_in,
            waits_for,
        } = facts.condition.clone().unwrap_or_default();
        format!(
            "{} holds {} and waits for another thread meanwhile, in {waits_in} ({waits_for}): threads waited \
             {} for it",
            owner_or(facts, "Unknown code"),
            facts.lock,
            facts.time()
        )
    }

    fn remedy(&self) -> &'static str {
        "Release the lock before waiting for another thread. If that thread needs the lock too, this is a deadlock."
    }
}

pub(super) struct LongCondition;

impl Pattern for LongCondition {
    fn name(&self) -> &'static str {
        "long-wait"
    }

    fn check(&self, facts: &Facts) -> bool {
        facts.is_conditional
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "Threads waited {} until {} woke them",
            facts.time(),
            owner_or(facts, "another thread")
        )
    }

    fn remedy(&self) -> &'static str {
        "Let the waking thread finish sooner, or give the waiting threads other work meanwhile."
    }
}

/// Returns whether a method is of a queue of the JDK: who adds to one gives nothing back.
fn is_queue(method: &str) -> bool {
    let class = method.rsplit_once('.').map_or("", |(class, _)| class);
    class.starts_with("java.util.concurrent.")
        && (class.contains("Queue") || class.contains("Deque"))
}

/// Returns whether the threads that wait also wake each other.
fn wake_each_other(facts: &Facts) -> bool {
    2 * facts.waking_waiters >= facts.threads && facts.threads > 1
}
