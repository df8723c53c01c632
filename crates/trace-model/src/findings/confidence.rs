//! The confidence in a finding.

use super::facts::Facts;
use super::finding::FindingConfidence;
use crate::sum::Sum;
use trace_report::human;

/// Fewer waits may be chance.
const FEW_WAITS: u64 = 20;
const VERY_FEW_WAITS: u64 = 5;

/// Returns the confidence in the facts.
pub(crate) fn of(facts: &Facts, safepoint_ns: Sum) -> FindingConfidence {
    let free = facts.of_locks(facts.free_ns);
    let unknown = facts.of_locks(facts.unknown_ns);
    let safepoint = facts.of_own(safepoint_ns);
    let mut notes = Vec::new();
    let mut doubts = 0;
    let mut note = |is_so: bool, is_doubt: bool, text: String| {
        if is_so {
            doubts += u32::from(is_doubt);
            notes.push(text);
        }
    };
    note(
        free >= 0.1,
        free >= 0.5,
        format!(
            "the locks were free for {} of the time that threads waited for them: threads had been woken, \
             but were not running yet",
            human::percent(free)
        ),
    );
    note(
        unknown >= 0.1,
        true,
        match facts.is_conditional {
            true => format!(
                "for {} of the time that threads waited, it is not known who woke them",
                human::percent(unknown)
            ),
            false => format!(
                "for {} of the time that threads waited for these locks, the owner is not known",
                human::percent(unknown)
            ),
        },
    );
    note(
        safepoint >= 0.1,
        safepoint >= 0.3,
        format!(
            "{} of this waiting was in safepoints, such as garbage collections, which stop all threads",
            human::percent(safepoint)
        ),
    );
    note(
        facts.waits < FEW_WAITS,
        true,
        format!("only {}", human::plural(facts.waits, "wait")),
    );
    note(
        facts.owner.is_empty(),
        true,
        "the code of the owner is not known".to_owned(),
    );
    let is_low = doubts > 1 || facts.waits < VERY_FEW_WAITS || unknown >= 0.5;
    let level = match (is_low, doubts) {
        (true, _) => "low",
        (false, 0) => "high",
        (false, _) => "medium",
    };
    FindingConfidence {
        level,
        free_ns: facts.free_ns,
        unknown_ns: facts.unknown_ns,
        safepoint_ns,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(change: impl Fn(&mut Facts)) -> &'static str {
        let mut facts = Facts {
            duration_ns: Sum::from(100),
            lock_ns: Sum::from(200),
            waits: 100,
            owner: "demo.Ledger.post".to_owned(),
            ..Facts::default()
        };
        change(&mut facts);
        of(&facts, Sum::default()).level
    }

    #[test]
    fn doubts_lower_the_level() {
        assert_eq!(level(|_| {}), "high");
        assert_eq!(level(|facts| facts.free_ns = Sum::from(60)), "high");
        assert_eq!(level(|facts| facts.free_ns = Sum::from(100)), "medium");
        assert_eq!(level(|facts| facts.unknown_ns = Sum::from(30)), "medium");
        assert_eq!(level(|facts| facts.unknown_ns = Sum::from(120)), "low");
        assert_eq!(level(|facts| facts.owner.clear()), "medium");
        assert_eq!(level(|facts| facts.waits = 7), "medium");
        assert_eq!(level(|facts| facts.waits = 2), "low");
    }
}
