//! Figures of locks and threads are those of the single contentions.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{
    Analysis, DivisibleSink, Durations, Entities, Figures, HoldFigures, Limits, LockIndex, Owner,
    Selection, ThreadIndex, TimeRange, TraceInput, Wait, WaitSink,
};
use trace_format::Hold;

use crate::history::History;

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
                Owner::Frozen => {}
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

/// Holds as they were.
#[derive(Debug, Default)]
pub(crate) struct TrueHolds {
    /// Durations of those whose release reports it.
    durations_ns: Vec<u64>,
    untimed: u64,
}

impl TrueHolds {
    /// A hold that ended while others waited; its duration if the release reports it.
    pub(crate) fn add(&mut self, duration_ns: Option<u64>) {
        match duration_ns {
            Some(duration_ns) => self.durations_ns.push(duration_ns),
            None => self.untimed += 1,
        }
    }

    fn assert_found(&mut self, found: &HoldFigures) -> Result<(), TestCaseError> {
        let durations = &found.durations;
        prop_assert_eq!(found.untimed, self.untimed);
        self.durations_ns.sort_unstable();
        if found.averaged == 0 {
            assert_durations(durations, &mut self.durations_ns)?;
            for percent in [50, 95, 99] {
                let rank = (self.durations_ns.len() as u64 * percent).div_ceil(100);
                let place = rank.saturating_sub(1) as usize;
                let exact_ns = self.durations_ns.get(place).copied().unwrap_or(0);
                let found_ns = durations.percentile_ns(percent);
                prop_assert!(found_ns.abs_diff(exact_ns) <= exact_ns / 16);
            }
            return Ok(());
        }
        prop_assert!(found.averaged <= durations.count());
        prop_assert_eq!(durations.count(), self.durations_ns.len() as u64);
        prop_assert_eq!(durations.sum_ns(), self.durations_ns.iter().sum::<u64>());
        prop_assert!(durations.min_ns() >= self.durations_ns[0]);
        prop_assert!(Some(&durations.max_ns()) <= self.durations_ns.last());
        Ok(())
    }
}

/// The true holds of each lock and of each thread, by name.
pub(crate) type TrueHoldsByName = [BTreeMap<String, TrueHolds>; 2];

/// The holds of monitors whose end in the range was seen by threads that waited.
pub(crate) fn true_holds(history: &History, range: TimeRange) -> TrueHoldsByName {
    let mut by_name = TrueHoldsByName::default();
    for hold in &history.holds {
        let Some(exit) = hold.exit.filter(|exit| range.contains(exit.time_ns)) else {
            continue;
        };
        let is_reported = matches!(exit.hold, Hold::For { .. });
        let duration_ns = is_reported.then(|| exit.time_ns - hold.start_ns);
        let names = [
            format!("Lock@{:x}", hold.object + 1),
            format!("T{}", hold.thread),
        ];
        for (by_name, name) in by_name.iter_mut().zip(names) {
            by_name.entry(name).or_default().add(duration_ns);
        }
    }
    by_name
}

/// Checks what is found of the holds in a trace, by two threads.
pub(crate) fn assert_holds(
    path: &Path,
    limits: Limits,
    range: TimeRange,
    [mut locks, mut threads]: TrueHoldsByName,
) -> Result<(), TestCaseError> {
    let mut analysis = Analysis::new(limits);
    analysis.select(Selection::default().in_range(range));
    let mut figures = Figures::default();
    let two = NonZeroUsize::MIN.saturating_add(1);
    TraceInput::open(path)
        .and_then(|input| {
            let go_on = |_| ControlFlow::Continue(());
            input.analyze_with(two, &mut analysis, &mut figures, go_on)
        })
        .expect("readable");
    let entities = analysis.entities();
    for (lock, found) in figures.locks() {
        let mut truth = locks.remove(&entities.lock_name(lock)).unwrap_or_default();
        truth.assert_found(&found.holds)?;
    }
    prop_assert!(locks.is_empty(), "not found: {:?}", locks);
    for (thread, found) in figures.threads(entities) {
        let name = entities.thread(thread).name.to_string();
        let mut truth = threads.remove(&name).unwrap_or_default();
        truth.assert_found(&found.holds)?;
    }
    Ok(())
}
