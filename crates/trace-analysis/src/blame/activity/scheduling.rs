//! How the threads at the end of chains of waits were scheduled in long parts of a wait.

use crate::blame::activity::run_delays::{Division, RunDelays, TICK_NS};
use crate::model::entity::ThreadIndex;
use crate::model::wait::{Owner, RootEnd, RootPart, Scheduling, Wait, WaitKind};
use crate::order::system_fact::SystemFact;

/// The samples of the system's counters that divide parts of waits.
#[derive(Debug)]
pub(crate) struct LongParts {
    delays: RunDelays,
}

/// Maximum number of samples kept: of 64 threads at each look of the drainer, for two minutes.
const MAX_SAMPLES: usize = 1 << 19;

impl Default for LongParts {
    fn default() -> Self {
        Self {
            delays: RunDelays::new(MAX_SAMPLES),
        }
    }
}

impl LongParts {
    /// Adds an action of the system.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        if let SystemFact::Times(times) = fact {
            self.delays.add(times);
        }
    }

    /// Fills in the scheduling of a wait's root owners. A part shorter than a clock tick shows nothing.
    pub(crate) fn describe(&mut self, wait: &mut Wait) {
        wait.scheduling.clear();
        if wait.kind != WaitKind::Contention || wait.duration_ns < TICK_NS {
            return;
        }
        let mut rest = wait.roots.as_slice();
        while let [first, ..] = rest {
            let at = wait.roots.len() - rest.len();
            let (len, end_ns) = run(rest);
            rest = &rest[len..];
            let Some(thread) = running(first) else {
                continue;
            };
            if end_ns - first.start_ns >= TICK_NS {
                let division = self.delays.divide(thread, first.start_ns, end_ns);
                wait.scheduling.push((at, division.into()));
            }
        }
    }
}

/// Returns the thread at the end of the chain if it did not wait itself, as far as events show.
fn running(part: &RootPart) -> Option<ThreadIndex> {
    match (part.root.end, part.root.held) {
        (RootEnd::Owner(Owner::Thread { thread, .. }), None) => Some(thread),
        _ => None,
    }
}

/// Returns how many parts follow each other with the same root, and when the last one ends.
fn run(parts: &[RootPart]) -> (usize, u64) {
    let (mut len, mut end_ns) = (0, parts[0].start_ns);
    for part in parts {
        if part.start_ns != end_ns || part.root != parts[0].root {
            break;
        }
        len += 1;
        end_ns = end_ns.saturating_add(part.duration_ns);
    }
    (len, end_ns)
}

impl From<Division> for Scheduling {
    fn from(division: Division) -> Self {
        Self {
            processor_ns: division.processor_ns,
            not_on_processor_ns: division.not_on_processor_ns,
            run_delay_ns: division.run_delay_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entity::{ChainIndex, LockIndex};
    use crate::model::wait::{HeldInWait, Root};
    use crate::order::system_fact::Times;

    const MS: u64 = 1_000_000;
    const OWNER: ThreadIndex = ThreadIndex(1);

    /// A part of this many milliseconds, with `root` as its owner.
    fn part(start_ms: u64, duration_ms: u64, root: Root) -> RootPart {
        RootPart {
            start_ns: start_ms * MS,
            duration_ns: duration_ms * MS,
            contentions: 1,
            owner: Owner::Free,
            own_wait: None,
            safepoint: None,
            sample: None,
            root,
        }
    }

    fn owned_at(lock: u32) -> Root {
        let thread = OWNER;
        let chain = ChainIndex::NOT_RELEASED;
        let end = RootEnd::Owner(Owner::Thread { thread, chain });
        Root::at(end, LockIndex(lock), 1)
    }

    /// Samples every 10 ms of a thread that computes until 100 ms, and then sleeps.
    fn describe(roots: Vec<RootPart>) -> Vec<(usize, Scheduling)> {
        let mut long = LongParts::default();
        for look in 0..=20 {
            long.system(SystemFact::Times(Times {
                thread: OWNER,
                time_ns: look * 10 * MS,
                processor_ns: (look * 10).min(100) * MS,
                run_delay_ns: 0,
                timeslices: 1,
            }));
        }
        let mut wait = Wait::blank();
        wait.duration_ns = roots.iter().map(|part| part.duration_ns).sum();
        wait.roots = roots;
        long.describe(&mut wait);
        wait.scheduling
    }

    #[test]
    fn parts_that_follow_each_other_are_one() {
        let computes = [(0, 3), (3, 30), (33, 67)];
        let computes = computes.map(|(start_ms, ms)| part(start_ms, ms, owned_at(1)));
        let sleeps = part(100, 100, owned_at(2));
        let [(0, first), (3, second)] = describe([&computes[..], &[sleeps]].concat())[..] else {
            panic!("two of them");
        };
        // Up to a tick of the counter is not known.
        let bounds_ms = |it: Scheduling| (it.processor_ns / MS, it.not_on_processor_ns / MS);
        assert_eq!(bounds_ms(first), (90, 0));
        assert_eq!(bounds_ms(second), (0, 90));
    }

    #[test]
    fn short_parts_and_own_waits_are_left_out() {
        let own_wait = Root {
            held: Some(HeldInWait {
                kind: WaitKind::Conditional,
                lock: LockIndex(1),
                chain: ChainIndex::NOT_RELEASED,
            }),
            ..owned_at(2)
        };
        let free = Root::at(RootEnd::Owner(Owner::Free), LockIndex(1), 1);
        let roots = [(0, 50, free), (50, 50, own_wait), (100, 9, owned_at(1))];
        let roots = roots.map(|(start_ms, ms, root)| part(start_ms, ms, root));
        assert_eq!(describe(roots.to_vec()), []);
    }
}
