//! The patterns of contention: each knows its facts, its sentence and its remedy.

mod conditions;
mod queues;
mod readers;
mod recognition;
mod stripes;

use super::facts::Facts;
pub(crate) use conditions::POOL_TOO_SMALL;
use conditions::{
    ClassInitialization, LongCondition, PoolTooSmall, TakingTurns, WaitsWhileHolding,
};
use queues::{Convoy, FairLock, LongHold, ManyShortHolds, NotifyStorm, OneGlobalLock};
use readers::WriterBehindReaders;
use recognition::Pattern;
use stripes::{ManyLocksOfOneClass, OneKey, UnevenStripes};

/// The most specific first; the last one fits everything.
const PATTERNS: [&dyn Pattern; 15] = [
    &ClassInitialization,
    &TakingTurns,
    &PoolTooSmall,
    &LongCondition,
    &WaitsWhileHolding,
    &WriterBehindReaders,
    &NotifyStorm,
    &OneKey,
    &UnevenStripes,
    &FairLock,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::facts::{Condition, ReaderQueue};
    use crate::sum::Sum;

    /// Threads waited 100 ms in 100 waits for one hold each.
    fn facts() -> Facts {
        Facts {
            lock_class: "demo.Ledger".to_owned(),
            lock: "demo.Ledger".to_owned(),
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
    fn a_lock_has_an_article_where_the_sentence_needs_one() {
        let mut facts = facts();
        facts.lock = "the lock of demo.Store (ReentrantLock$FairSync)".to_owned();
        let begins_so = |facts: &Facts, sentence: &str| {
            let found = of(facts).sentence(facts);
            assert!(found.starts_with(sentence), "{found}");
        };
        begins_so(&facts, "demo.Ledger.post holds the lock of demo.Store");
        facts.contentions = 1_000;
        facts.direct_sites = 5;
        begins_so(
            &facts,
            "A single lock, the lock of demo.Store (ReentrantLock$FairSync)",
        );
        facts.is_fair = true;
        facts.is_free = true;
        begins_so(&facts, "The lock of demo.Store (ReentrantLock$FairSync) is");
        facts.lock = "demo.Ledger".to_owned();
        begins_so(&facts, "demo.Ledger is fair");
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
        check("one-global-lock", |facts| {
            facts.direct_sites = 5;
            facts.contentions = 1_000;
        });
        // Long holds are the cause, however many methods wait.
        check("long-hold", |facts| facts.direct_sites = 5);
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
            facts.is_free = true;
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
        check("long-wait", |facts| facts.is_conditional = true);
        check("waits-while-holding", |facts| {
            facts.condition = Some(Condition::default());
        });
        check("writer-behind-readers", |facts| {
            facts.readers = Some(ReaderQueue::default());
        });
        check("one-map-key", |facts| {
            facts.map_method = Some("computeIfAbsent".to_owned());
            facts.lock_class = "java.util.concurrent.ConcurrentHashMap$Node".to_owned();
            facts.one_at_a_time = true;
            facts.locks = 20;
            facts.largest_lock_ns = Sum::from(10_000_000);
        });
        check("uneven-stripes", |facts| {
            (facts.site_locks, facts.site_waits) = (3, 100);
            facts.site_largest_waits = 98;
        });
        check("fair-lock", |facts| {
            facts.is_fair = true;
            facts.is_free = true;
            facts.contentions = 1_000;
        });
        // Nothing shows that it costs anything to hand it over.
        check("many-short-holds", |facts| {
            facts.is_fair = true;
            facts.contentions = 1_000;
        });
        check("long-wait", |facts| {
            facts.is_conditional = true;
            facts.waking_waiters = 3;
            facts.owner = "java.util.concurrent.ArrayBlockingQueue.put".to_owned();
        });
    }
}
