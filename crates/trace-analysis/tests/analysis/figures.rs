//! Figures of locks and threads are those of the single contentions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{
    Analysis, DivisibleSink, Durations, Entities, Figures, Limits, LockIndex, Owner, ThreadIndex,
    TraceInput, Wait, WaitSink,
};

/// What is counted one by one.
#[derive(Debug, Default)]
struct Counted {
    durations_ns: Vec<u64>,
    caused_ns: Vec<u64>,
    free_ns: u64,
    unknown_ns: u64,
    locks: BTreeSet<LockIndex>,
    waiting: BTreeSet<ThreadIndex>,
    owning: BTreeSet<ThreadIndex>,
}

impl Counted {
    /// A wait of this lock, or of this thread.
    fn add(&mut self, wait: &Wait) {
        self.durations_ns.push(wait.duration_ns);
        self.locks.insert(wait.lock);
        self.waiting.insert(wait.thread);
        for contention in &wait.contentions {
            match contention.owner {
                Owner::Free => self.free_ns += contention.duration_ns,
                Owner::Unknown(_) => self.unknown_ns += contention.duration_ns,
                Owner::Thread { thread, .. } => _ = self.owning.insert(thread),
            }
        }
    }
}

fn assert_durations(found: &Durations, counted: &mut [u64]) -> Result<(), TestCaseError> {
    counted.sort_unstable();
    prop_assert_eq!(found.count(), counted.len() as u64);
    prop_assert_eq!(found.sum_ns(), counted.iter().sum::<u64>());
    prop_assert_eq!(found.min_ns(), counted.first().copied().unwrap_or(0));
    prop_assert_eq!(found.max_ns(), counted.last().copied().unwrap_or(0));
    Ok(())
}

/// Checks the figures of a trace, put together from two parts.
pub(crate) fn assert_figures(path: &Path, limits: Limits) -> Result<(), TestCaseError> {
    let mut parts = [Figures::default(), Figures::default()];
    let mut locks = BTreeMap::<LockIndex, Counted>::new();
    let mut threads = BTreeMap::<ThreadIndex, Counted>::new();
    let mut blocked = BTreeMap::<ThreadIndex, BTreeSet<ThreadIndex>>::new();
    let mut analysis = Analysis::new(limits);
    let mut sink = |wait: &Wait, entities: &Entities| {
        parts[wait.id.number as usize % 2].wait(wait, entities);
        locks.entry(wait.lock).or_default().add(wait);
        threads.entry(wait.thread).or_default().add(wait);
        let mut caused = BTreeMap::<ThreadIndex, u64>::new();
        for contention in &wait.contentions {
            if let Some((owner, _)) = contention.owner.thread() {
                *caused.entry(owner).or_default() += contention.duration_ns;
            }
        }
        for (owner, duration_ns) in caused {
            threads
                .entry(owner)
                .or_default()
                .caused_ns
                .push(duration_ns);
            blocked.entry(owner).or_default().insert(wait.thread);
        }
    };
    TraceInput::open(path)
        .and_then(|input| input.analyze(&mut analysis, &mut sink, |_| ControlFlow::Continue(())))
        .expect("readable");
    let [mut figures, rest] = parts;
    figures.merge(rest);
    let entities = analysis.entities();

    let found = figures.locks();
    prop_assert_eq!(found.len(), locks.len());
    let longest_first = found.is_sorted_by_key(|(_, it)| u64::MAX - it.waits.durations.sum_ns());
    prop_assert!(longest_first);
    for (lock, found) in found {
        let counted = locks.get_mut(&lock).expect("a lock");
        assert_durations(&found.waits.durations, &mut counted.durations_ns)?;
        prop_assert_eq!(found.waits.free_ns, counted.free_ns);
        prop_assert_eq!(found.waits.unknown_ns, counted.unknown_ns);
        prop_assert_eq!(found.waiting_threads(entities), counted.waiting.len());
        prop_assert_eq!(found.owning_threads(entities), counted.owning.len());
    }
    let found = figures.threads(entities);
    prop_assert_eq!(found.len(), threads.len());
    for (thread, found) in found {
        let counted = threads.get_mut(&thread).expect("a thread");
        assert_durations(&found.waits.durations, &mut counted.durations_ns)?;
        assert_durations(&found.caused, &mut counted.caused_ns)?;
        prop_assert_eq!(found.waits.free_ns, counted.free_ns);
        prop_assert_eq!(found.waits.unknown_ns, counted.unknown_ns);
        prop_assert_eq!(found.locks(), counted.locks.len());
        prop_assert_eq!(found.owning_threads(entities), counted.owning.len());
        let blocked = blocked.get(&thread).map_or(0, BTreeSet::len);
        prop_assert_eq!(found.blocked_threads(entities), blocked);
    }
    Ok(())
}
