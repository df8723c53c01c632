//! Several locks of a class.

use super::recognition::{Pattern, owner_or};
use crate::findings::facts::Facts;
use trace_report::human;

/// The share of the waits from which on one lock has nearly all.
const NEARLY_ALL: f64 = 0.9;
/// Fewer waits may be chance.
const MANY_WAITS: u64 = 100;

/// Returns whether nearly all of many waits of the same code are for one lock.
fn one_lock_has_nearly_all(facts: &Facts) -> bool {
    let is_uneven = facts.site_largest_waits as f64 >= NEARLY_ALL * facts.site_waits as f64;
    facts.site_waits >= MANY_WAITS && is_uneven
}

pub(super) struct OneKey;

impl Pattern for OneKey {
    fn name(&self) -> &'static str {
        "one-map-key"
    }

    fn check(&self, facts: &Facts) -> bool {
        let is_one = facts.one_at_a_time || one_lock_has_nearly_all(facts);
        let is_bin = facts
            .lock_class
            .starts_with("java.util.concurrent.ConcurrentHashMap$");
        !facts.is_conditional && is_bin && facts.map_method.is_some() && is_one
    }

    fn sentence(&self, facts: &Facts) -> String {
        let method = facts.map_method.as_deref().unwrap_or_default();
        let mean_ns = facts.periods_ns / facts.periods.max(1);
        let often = match facts.periods {
            0 | 1 => format!("once, for {}", human::duration(mean_ns)),
            periods => format!(
                "{periods} times for {} on average, every {}",
                human::duration(mean_ns),
                human::duration(facts.run_ns / periods)
            ),
        };
        format!(
            "One key or bin of a map is computed in {} while others wait for it in \
             ConcurrentHashMap.{method}: {often}. {} waited {}",
            owner_or(facts, "unknown code"),
            human::plural(facts.threads, "thread"),
            facts.time()
        )
    }

    fn remedy(&self) -> &'static str {
        "Serve the old value and renew it in the background, or compute it outside of the map, and \
         insert only the result. More bins will not help."
    }
}

pub(super) struct UnevenStripes;

impl Pattern for UnevenStripes {
    fn name(&self) -> &'static str {
        "uneven-stripes"
    }

    fn check(&self, facts: &Facts) -> bool {
        !facts.is_conditional && facts.site_locks >= 2 && one_lock_has_nearly_all(facts)
    }

    fn sentence(&self, facts: &Facts) -> String {
        format!(
            "One of the locks of {} takes {} of {} waits of the same code: threads waited {} for {}",
            facts.lock_class,
            human::count(facts.site_largest_waits),
            human::count(facts.site_waits),
            facts.time(),
            owner_or(facts, "unknown code")
        )
    }

    fn remedy(&self) -> &'static str {
        "Look at what chooses the lock: a hash that sends most keys to one stripe, or one key that is \
         used most. More locks will not help."
    }
}

pub(super) struct ManyLocksOfOneClass;

impl Pattern for ManyLocksOfOneClass {
    fn name(&self) -> &'static str {
        "many-locks-of-one-class"
    }

    fn check(&self, facts: &Facts) -> bool {
        let is_spread = facts.of_own(facts.largest_lock_ns) < 0.5;
        !facts.is_conditional && facts.locks >= 8 && is_spread && !facts.one_at_a_time
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
