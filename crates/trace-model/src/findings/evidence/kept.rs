//! For how long threads keep what others wait for, as what a pool lends.

use trace_analysis::{ChainIndex, Entities, LockIndex, Mechanism, ThreadIndex, Wait};

use super::tally::{Tally, TallySum};
use crate::hash::SeededMap;

/// The most call chains.
const MAX_CHAINS: usize = 4_096;
/// The most threads and conditions of which it is known when the thread's wait ended.
const MAX_GOT: usize = 1 << 16;

/// The time between the end of a thread's wait for a condition, and when it ended the wait of another thread for the same
/// one: as between borrowing something and giving it back. Depends on the order of waits: those for one condition come in the
/// order in which they end.
#[derive(Clone, Debug)]
pub(crate) struct KeptTimes {
    /// By where the thread ended the other wait.
    sums: Tally<ChainIndex>,
    /// When the last wait of a thread ended, if it has ended no other since.
    got_ns: SeededMap<(u32, LockIndex, ThreadIndex), u64>,
    /// Since when somebody has waited for a condition all the time, and until when at least.
    waiting_ns: SeededMap<(u32, LockIndex), (u64, u64)>,
}

impl Default for KeptTimes {
    fn default() -> Self {
        Self {
            sums: Tally::new(MAX_CHAINS),
            got_ns: SeededMap::default(),
            waiting_ns: SeededMap::default(),
        }
    }
}

impl KeptTimes {
    /// Adds a wait that has ended. If nobody waited for some time since the other thread got something, it may have given that
    /// back and got something else meanwhile, without a trace: then nothing is known.
    pub(super) fn add(&mut self, wait: &Wait, entities: &Entities) {
        let class = entities.lock_class(wait.lock);
        let is_condition = wait.mechanism == Mechanism::Monitor
            || class.is_some_and(|class| entities.class_name(class).ends_with("$ConditionObject"));
        // Others are waited for once.
        if !is_condition {
            return;
        }
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        let condition = (wait.id.trace, wait.lock);
        let since_ns = self.waiting_since_ns(condition, wait.start_ns, end_ns);
        let of = |thread| (wait.id.trace, wait.lock, thread);
        if let Some((thread, chain)) = waker(wait)
            && let Some(got_ns) = self.got_ns.remove(&of(thread))
            && since_ns <= got_ns
        {
            self.sums.add(chain, end_ns.saturating_sub(got_ns), 1);
        }
        let got = of(wait.thread);
        if self.got_ns.len() < MAX_GOT || self.got_ns.contains_key(&got) {
            self.got_ns.insert(got, end_ns);
        }
    }

    /// Returns since when somebody has waited for a condition all the time, with one more wait.
    fn waiting_since_ns(&mut self, condition: (u32, LockIndex), start_ns: u64, end_ns: u64) -> u64 {
        if self.waiting_ns.len() >= MAX_GOT && !self.waiting_ns.contains_key(&condition) {
            return start_ns;
        }
        let waiting = self.waiting_ns.entry(condition);
        let (since_ns, until_ns) = waiting.or_insert((start_ns, start_ns));
        if start_ns > *until_ns {
            *since_ns = start_ns;
        }
        *since_ns = start_ns.min(*since_ns);
        *until_ns = end_ns.max(*until_ns);
        *since_ns
    }

    /// Returns for how long in all, and how often, threads kept something that they gave back there.
    pub(crate) fn sum(&self, chain: ChainIndex) -> TallySum {
        self.sums.sum(&chain)
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.sums.merge(&other.sums);
        self.got_ns.extend(other.got_ns);
        self.waiting_ns.extend(other.waiting_ns);
    }
}

/// Returns the thread that ended a wait, and where it did so.
fn waker(wait: &Wait) -> Option<(ThreadIndex, ChainIndex)> {
    let mut parts = wait.contentions.iter().rev();
    match wait.blame.as_slice() {
        [only] => only.owner.thread(),
        // Without single contentions nobody knows which one came last.
        _ => parts.find_map(|part| part.owner.thread()),
    }
}
