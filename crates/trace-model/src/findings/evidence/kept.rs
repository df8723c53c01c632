//! For how long threads keep what others wait for, as what a pool lends.

use trace_analysis::{
    ChainIndex, Entities, LockIndex, Mechanism, ThreadIndex, WAITS_AGAIN_NS, Wait,
};

use super::tally::{Tally, TallySum};
use crate::hash::SeededMap;

/// The most call chains.
const MAX_CHAINS: usize = 4_096;
/// The most threads and conditions of which it is known when the thread's wait ended.
const MAX_GOT: usize = 1 << 16;
/// The most recent times of one condition among which those at once are counted.
const MAX_RECENT: usize = 32;

/// From when until when a thread kept something.
#[derive(Clone, Copy, Debug)]
struct Kept {
    got_ns: u64,
    gave_ns: u64,
    /// The number of threads that kept something when it began, this one included.
    at_once: u32,
}

impl Kept {
    fn contains(&self, time_ns: u64) -> bool {
        (self.got_ns..self.gave_ns).contains(&time_ns)
    }
}

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
    /// The last times in which something of a condition was kept.
    recent: SeededMap<(u32, LockIndex), RecentTimes>,
    /// The most threads that kept something at once, by where one of them gave it back.
    at_once: SeededMap<ChainIndex, u32>,
}

/// The last times in which something was kept.
#[derive(Clone, Debug, Default)]
struct RecentTimes(Vec<Kept>);

impl RecentTimes {
    /// Adds a time. Returns the most times, this one among them, that have a moment in common: it is
    /// the begin of one of them.
    fn add(&mut self, got_ns: u64, gave_ns: u64) -> u32 {
        let mut kept = Kept {
            got_ns,
            gave_ns,
            at_once: 1,
        };
        let mut most = 1;
        for other in &mut self.0 {
            kept.at_once += u32::from(other.contains(got_ns));
            if kept.contains(other.got_ns) {
                other.at_once += 1;
                most = most.max(other.at_once);
            }
        }
        most = most.max(kept.at_once);
        if self.0.len() >= MAX_RECENT {
            self.0.remove(0);
        }
        self.0.push(kept);
        most
    }
}

impl Default for KeptTimes {
    fn default() -> Self {
        Self {
            sums: Tally::new(MAX_CHAINS),
            got_ns: SeededMap::default(),
            waiting_ns: SeededMap::default(),
            recent: SeededMap::default(),
            at_once: SeededMap::default(),
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
            self.count_at_once(condition, chain, (got_ns, end_ns));
        }
        let got = of(wait.thread);
        if self.got_ns.len() < MAX_GOT || self.got_ns.contains_key(&got) {
            self.got_ns.insert(got, end_ns);
        }
    }

    /// Counts how many threads keep something of a condition at once, with one more time.
    fn count_at_once(
        &mut self,
        condition: (u32, LockIndex),
        chain: ChainIndex,
        (got_ns, gave_ns): (u64, u64),
    ) {
        let is_known = self.recent.contains_key(&condition);
        if self.recent.len() >= MAX_GOT && !is_known || self.at_once.len() >= MAX_CHAINS {
            return;
        }
        let most = self
            .recent
            .entry(condition)
            .or_default()
            .add(got_ns, gave_ns);
        let known = self.at_once.entry(chain).or_default();
        *known = most.max(*known);
    }

    /// Returns the most threads that kept something at once, one of which gave it back there; 0 if
    /// that is not known. Those that had not waited for it do not count.
    pub(crate) fn at_once(&self, chain: ChainIndex) -> u32 {
        self.at_once.get(&chain).copied().unwrap_or_default()
    }

    /// Returns since when somebody has waited for a condition all the time, with one more wait.
    fn waiting_since_ns(&mut self, condition: (u32, LockIndex), start_ns: u64, end_ns: u64) -> u64 {
        if self.waiting_ns.len() >= MAX_GOT && !self.waiting_ns.contains_key(&condition) {
            return start_ns;
        }
        let waiting = self.waiting_ns.entry(condition);
        let (since_ns, until_ns) = waiting.or_insert((start_ns, start_ns));
        // All that were notified are awake for a moment, and most of them wait again.
        if start_ns > until_ns.saturating_add(WAITS_AGAIN_NS) {
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
        self.recent.extend(other.recent);
        for (chain, at_once) in other.at_once {
            let known = self.at_once.entry(chain).or_default();
            *known = at_once.max(*known);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_at_once_is_counted() {
        // In the order in which it is given back; three meet at 12, and at 25.
        let times_ns = [(0, 10), (10, 20), (12, 30), (25, 40), (5, 50), (40, 60)];
        let mut recent = RecentTimes::default();
        let most = times_ns.map(|(got_ns, gave_ns)| recent.add(got_ns, gave_ns));
        assert_eq!(most, [1, 1, 2, 2, 3, 2]);
    }
}
