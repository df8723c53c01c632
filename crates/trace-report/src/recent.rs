//! The last waits, one by one, within limited memory.

use std::collections::VecDeque;

use trace_analysis::{
    Blame, ChainIndex, Entities, LockIndex, Mechanism, ParkTimeout, ThreadIndex, Wait, WaitEnd,
    WaitId, WaitKind, WaitSink,
};

/// The waits that ended last, as many as fit. The aspects to group them by need not be known in
/// advance.
#[derive(Debug)]
pub(crate) struct RecentWaits {
    waits: VecDeque<Kept>,
    /// Their blame, one wait after the other.
    blame: VecDeque<Blame>,
    max_waits: usize,
    /// The end of the last forgotten wait; `None` if none was forgotten.
    forgotten_until_ns: Option<u64>,
}

/// A wait without its blame.
#[derive(Clone, Copy, Debug)]
struct Kept {
    id: WaitId,
    mechanism: Mechanism,
    kind: WaitKind,
    after_wait: bool,
    end: WaitEnd,
    lock: LockIndex,
    thread: ThreadIndex,
    chain: ChainIndex,
    start_ns: u64,
    duration_ns: u64,
    whole_start_ns: u64,
    safepoint_ns: u64,
    owners: usize,
}

impl Kept {
    fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }
}

/// The average number of owners of a wait that memory is reserved for.
const OWNERS: usize = 3;

impl RecentWaits {
    /// Keeps as many waits as fit into `bytes`. Takes the memory as it is needed.
    pub(crate) fn within(bytes: usize) -> Self {
        let max_waits = bytes / (size_of::<Kept>() + OWNERS * size_of::<Blame>());
        Self {
            waits: VecDeque::with_capacity(max_waits),
            blame: VecDeque::with_capacity(OWNERS * max_waits),
            max_waits,
            forgotten_until_ns: None,
        }
    }

    /// Returns the time after which all waits are kept; `None` if all that ever ended are.
    pub(crate) fn forgotten_until_ns(&self) -> Option<u64> {
        self.forgotten_until_ns
    }

    fn forget(&mut self, kept: Kept) {
        let until_ns = self.forgotten_until_ns.unwrap_or(0).max(kept.end_ns());
        self.forgotten_until_ns = Some(until_ns);
    }

    /// Passes on the waits that ended after `from_ns`, the first one first.
    pub(crate) fn pass_to(&self, sink: &mut impl WaitSink, from_ns: u64, entities: &Entities) {
        let mut first = 0;
        for kept in &self.waits {
            let owners = first..first + kept.owners;
            first = owners.end;
            if kept.end_ns() <= from_ns {
                continue;
            }
            let wait = Wait {
                id: kept.id,
                mechanism: kept.mechanism,
                kind: kept.kind,
                after_wait: kept.after_wait,
                lock: kept.lock,
                thread: kept.thread,
                chain: kept.chain,
                start_ns: kept.start_ns,
                duration_ns: kept.duration_ns,
                whole_start_ns: kept.whole_start_ns,
                whole_duration_ns: kept.duration_ns,
                safepoint_ns: kept.safepoint_ns,
                end: kept.end,
                timeout: ParkTimeout::None,
                holder: None,
                barging_holds: 0,
                blame: self.blame.range(owners).copied().collect(),
                roots: Vec::new(),
                scheduling: Vec::new(),
                contentions: Vec::new(),
            };
            sink.wait(&wait, entities);
        }
    }
}

impl WaitSink for RecentWaits {
    fn wait(&mut self, wait: &Wait, _entities: &Entities) {
        let kept = Kept {
            id: wait.id,
            mechanism: wait.mechanism,
            kind: wait.kind,
            after_wait: wait.after_wait,
            end: wait.end,
            lock: wait.lock,
            thread: wait.thread,
            chain: wait.chain,
            start_ns: wait.start_ns,
            duration_ns: wait.duration_ns,
            whole_start_ns: wait.whole_start_ns,
            safepoint_ns: wait.safepoint_ns,
            owners: wait.blame.len(),
        };
        let max_owners = OWNERS * self.max_waits;
        while self.waits.len() >= self.max_waits || self.blame.len() + kept.owners > max_owners {
            let Some(oldest) = self.waits.pop_front() else {
                return self.forget(kept);
            };
            self.blame.drain(..oldest.owners);
            self.forget(oldest);
        }
        self.waits.push_back(kept);
        self.blame.extend(&wait.blame);
    }
}
