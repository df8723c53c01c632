//! The patterns of contention: each knows its facts, its sentence and its remedy.

use super::facts::Facts;
use trace_report::human;

/// A pattern of contention.
pub(crate) trait Pattern: Sync {
    /// Returns its name in answers.
    fn name(&self) -> &'static str;
    /// Returns whether the facts are of this pattern.
    fn check(&self, facts: &Facts) -> bool;
    /// Describes the problem.
    fn sentence(&self, facts: &Facts) -> String;
    /// Returns the usual remedy.
    fn remedy(&self) -> &'static str;
}

/// The most specific first; the last one fits everything.
const PATTERNS: [&dyn Pattern; 10] = [
    &ClassInitialization,
    &TakingTurns,
    &PoolTooSmall,
    &WriterBehindReaders,
    &NotifyStorm,
    &Convoy,
    &ManyLocksOfOneClass,
    &OneGlobalLock,
    &ManyShortHolds,
    &LongHold,
];

/// Returns the pattern of the facts.
pub(crate) fn of(facts: &Facts) -> &'static dyn Pattern {
    let found = PATTERNS.into_iter().find(|pattern| pattern.check(facts));
    found.unwrap_or(&LongHold)
}

/// From this duration on a hold is long.
const LONG_PART_NS: u64 = 1_000_000;

/// The share of the time in which locks were free from which on their owners are not to blame.
const MOSTLY_FREE: f64 = 0.5;

struct ClassInitialization;

impl Pattern for ClassInitialization {
    fn name(&self) -> &'static str {
        "class-initialization"
    }

    fn check(&self, facts: &Facts) -> bool {
        facts.is_initialization
    }

    fn sentence(&self, facts: &Facts) -> String {
        if facts.owner.is_empty() && facts.of_locks(facts.free_ns) >= MOSTLY_FREE {
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

struct TakingTurns;

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

/// Returns whether the threads that wait also wake each other.
fn wake_each_other(facts: &Facts) -> bool {
    2 * facts.waking_waiters >= facts.threads && facts.threads > 1
}

struct PoolTooSmall;

impl Pattern for PoolTooSmall {
    fn name(&self) -> &'static str {
        "pool-too-small"
    }

    fn check(&self, facts: &Facts) -> bool {
        facts.is_conditional && wake_each_other(facts)
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "Threads waited {} until others gave something back in {}: it looks like a pool that is \
             too small",
            facts.time(),
            facts.owner
        )
    }

    fn remedy(&self) -> &'static str {
        "Keep what the pool lends for a shorter time, give it back before slow work, or make the \
         pool larger if what is behind it can take that."
    }
}

struct WriterBehindReaders;

impl Pattern for WriterBehindReaders {
    fn name(&self) -> &'static str {
        "writer-behind-readers"
    }

    fn check(&self, facts: &Facts) -> bool {
        !facts.is_conditional && facts.of_locks(facts.readers_ns) >= 0.3
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "Writers wait behind readers of {}: {} while readers held it",
            facts.lock_class,
            human::duration(facts.readers_ns.ns())
        )
    }

    fn remedy(&self) -> &'static str {
        "Read for a shorter time under the lock, publish immutable snapshots instead of locking \
         for reads, or try optimistic reads (StampedLock)."
    }
}

struct NotifyStorm;

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
            facts.lock_class,
            facts.time(),
            owner_or(facts, "nobody known")
        )
    }

    fn remedy(&self) -> &'static str {
        "Wake only those that can go on: notify instead of notifyAll, one Condition for each \
         reason to wait, or a class of java.util.concurrent that hands over to one thread."
    }
}

struct Convoy;

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
        let between = facts.free_ns.max(facts.hand_off_ns);
        if facts.owner.is_empty() {
            return format!(
                "{} changes hands all the time: threads waited {} for it while nobody is known to \
                 have had it",
                facts.lock_class,
                facts.time()
            );
        }
        format!(
            "Short holds of {} by {} make a convoy: threads waited {} for it, and {} more until \
             the next thread was running",
            facts.lock_class,
            facts.owner,
            facts.time(),
            human::duration(between.ns())
        )
    }

    fn remedy(&self) -> &'static str {
        "Take the lock less often (work in batches, keep data by thread), or let fewer threads \
         compete than there are processors. Shorter holds alone will not help: the time goes into \
         waking threads."
    }
}

struct ManyLocksOfOneClass;

impl Pattern for ManyLocksOfOneClass {
    fn name(&self) -> &'static str {
        "many-locks-of-one-class"
    }

    fn check(&self, facts: &Facts) -> bool {
        let is_spread = facts.of_own(facts.largest_lock_ns) < 0.5;
        !facts.is_conditional && facts.locks >= 8 && is_spread
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "{} holds locks of {}: threads waited {} for {} of them",
            owner_or(facts, "Unknown code"),
            facts.lock_class,
            facts.time(),
            facts.locks
        )
    }

    fn remedy(&self) -> &'static str {
        "The lock is divided already, so more locks will not help much: hold each for a shorter \
         time, or keep threads from using the same one."
    }
}

struct OneGlobalLock;

impl Pattern for OneGlobalLock {
    fn name(&self) -> &'static str {
        "one-global-lock"
    }

    fn check(&self, facts: &Facts) -> bool {
        let is_global = facts.locks == 1 && facts.waiter_sites >= 4;
        !facts.is_conditional && is_global && facts.share >= 0.2
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "One {} serializes {} methods: threads waited {} for {}, which held it",
            facts.lock_class,
            facts.waiter_sites,
            facts.time(),
            owner_or(facts, "unknown code")
        )
    }

    fn remedy(&self) -> &'static str {
        "Divide what the lock guards, so that different work takes different locks, or use a \
         concurrent collection in its place."
    }
}

struct ManyShortHolds;

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
            facts.lock_class,
            human::duration(facts.mean_part_ns()),
            facts.time()
        )
    }

    fn remedy(&self) -> &'static str {
        "Take the lock less often: work in batches, keep data by thread and merge it, or use an \
         atomic or a concurrent collection instead."
    }
}

struct LongHold;

impl Pattern for LongHold {
    fn name(&self) -> &'static str {
        "long-hold"
    }

    fn check(&self, _facts: &Facts) -> bool {
        true
    }

    fn sentence(&self, facts: &Facts) -> String {
        if facts.is_conditional {
            return format!(
                "Threads waited {} until {} woke them",
                facts.time(),
                owner_or(facts, "something")
            );
        }
        format!(
            "{} holds {} for long: threads waited {} for it",
            owner_or(facts, "Unknown code"),
            facts.lock_class,
            facts.time()
        )
    }

    fn remedy(&self) -> &'static str {
        "Do less while the lock is held: no input or output, no formatting, no calls of other \
         services; copy what is needed, release, then work."
    }
}

fn owner_or<'f>(facts: &'f Facts, nobody: &'f str) -> &'f str {
    if facts.owner.is_empty() {
        nobody
    } else {
        &facts.owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::Sum;

    /// Threads waited 100 ms in 100 waits for one hold each.
    fn facts() -> Facts {
        Facts {
            lock_class: "demo.Ledger".to_owned(),
            owner: "demo.Ledger.post".to_owned(),
            duration_ns: Sum::from(100_000_000),
            waits: 100,
            contentions: 100,
            share: 0.5,
            lock_ns: Sum::from(100_000_000),
            locks: 1,
            largest_lock_ns: Sum::from(100_000_000),
            waiter_sites: 1,
            threads: 4,
            ..Facts::default()
        }
    }

    #[track_caller]
    fn check(expected: &str, change: impl Fn(&mut Facts)) {
        let mut facts = facts();
        change(&mut facts);
        let pattern = of(&facts);
        assert_eq!(pattern.name(), expected);
        assert!(
            pattern.sentence(&facts).contains("100 ms"),
            "{}",
            pattern.sentence(&facts)
        );
        assert!(!pattern.remedy().is_empty());
    }

    #[test]
    fn each_pattern_has_its_facts() {
        check("long-hold", |_| {});
        check("many-short-holds", |facts| facts.contentions = 101);
        check("long-hold", |facts| {
            facts.contentions = 1_000;
            facts.duration_ns = Sum::from(1_000_000_000);
            facts.share = 1.0;
            facts.owner = "100 ms".to_owned();
        });
        check("convoy", |facts| {
            facts.contentions = 1_000;
            facts.free_ns = Sum::from(30_000_000);
        });
        check("one-global-lock", |facts| facts.waiter_sites = 5);
        check("many-locks-of-one-class", |facts| {
            facts.locks = 20;
            facts.largest_lock_ns = Sum::from(10_000_000);
        });
        check("notify-storm", |facts| {
            facts.after_wait_ns = Sum::from(60_000_000)
        });
        check("writer-behind-readers", |facts| {
            facts.readers_ns = Sum::from(100_000_000)
        });
        check("class-initialization", |facts| {
            facts.is_initialization = true
        });
        check("class-initialization", |facts| {
            facts.is_initialization = true;
            facts.owner.clear();
            facts.free_ns = Sum::from(90_000_000);
        });
        check("pool-too-small", |facts| {
            facts.is_conditional = true;
            facts.waking_waiters = 3;
        });
        check("taking-turns", |facts| {
            facts.is_conditional = true;
            facts.parks_directly = true;
            facts.waking_waiters = 3;
        });
        check("long-hold", |facts| facts.is_conditional = true);
    }
}
