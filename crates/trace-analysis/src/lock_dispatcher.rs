//! The intrinsic lock dispatcher (paper, section 4.1): one analyzer per lock.

use trace_format::{Hold, LockId};

use crate::contention::{Detail, Wait};
use crate::counter::{Counter, Counters};
use crate::entity::{ChainIndex, Entities, Lock, LockIndex, ThreadIndex};
use crate::hash::SeededMap;
use crate::last_events::TraceEnd;
use crate::lock_analyzer::LockAnalyzer;
use crate::rearranger::{Ordered, Step};

/// An event of an intrinsic lock, its references resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LockEvent {
    Description {
        lock: LockIndex,
    },
    Enter {
        thread: ThreadIndex,
        time_ns: u64,
        chain: ChainIndex,
        after_wait: bool,
        /// Who the thread saw having the lock.
        owner: MaybeThread,
    },
    Entered {
        thread: ThreadIndex,
        time_ns: u64,
        safepoint_ns: u64,
    },
    Exit {
        thread: ThreadIndex,
        time_ns: u64,
        holds: PackedHolds,
        chain: ChainIndex,
    },
    Retired,
    /// What the thread wrote, with so many numbers, will never be known.
    Lost {
        thread: ThreadIndex,
        numbers: u64,
    },
}

/// An optional thread in four bytes: many events are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaybeThread(u32);

impl MaybeThread {
    const NONE: u32 = u32::MAX;

    pub(crate) fn get(self) -> Option<ThreadIndex> {
        (self.0 != Self::NONE).then_some(ThreadIndex(self.0))
    }
}

impl From<Option<ThreadIndex>> for MaybeThread {
    fn from(thread: Option<ThreadIndex>) -> Self {
        Self(thread.map_or(Self::NONE, |thread| thread.0))
    }
}

/// What an exit says about the holds that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    NotKnown,
    BeforeContention,
    /// How many, and the sum of their durations. They follow each other: no wait has seen
    /// only some of them.
    For {
        holds: u16,
        held_ns: u64,
    },
}

/// The same in eight bytes, because many events are held back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedHolds(u64);

impl PackedHolds {
    const NOT_KNOWN: u64 = u64::MAX;
    const BEFORE_CONTENTION: u64 = u64::MAX - 1;
    const SEVERAL: u64 = 1 << 63;
    /// The longest single hold: beyond is something else.
    const MAX_NS: u64 = Self::SEVERAL - 1;
    /// Where the number of several holds stands, above their sum.
    const HOLDS_SHIFT: u32 = 47;

    fn get(self) -> Holds {
        match self.0 {
            Self::NOT_KNOWN => Holds::NotKnown,
            Self::BEFORE_CONTENTION => Holds::BeforeContention,
            held_ns @ ..Self::SEVERAL => Holds::For { holds: 1, held_ns },
            several => Holds::For {
                holds: (several >> Self::HOLDS_SHIFT) as u16,
                held_ns: several & Hold::MAX_SUM_NS,
            },
        }
    }

    fn numbers(self) -> u64 {
        match self.get() {
            Holds::For { holds, .. } => holds.into(),
            _ => 1,
        }
    }
}

impl From<Hold> for PackedHolds {
    fn from(hold: Hold) -> Self {
        Self(match hold {
            Hold::NotKnown => Self::NOT_KNOWN,
            Hold::BeforeContention => Self::BEFORE_CONTENTION,
            Hold::For { duration_ns } => duration_ns.min(Self::MAX_NS),
            Hold::Several { holds, held_ns, .. } => {
                let held_ns = held_ns.min(Hold::MAX_SUM_NS);
                Self::SEVERAL | u64::from(holds) << Self::HOLDS_SHIFT | held_ns
            }
        })
    }
}

impl Ordered for LockEvent {
    fn numbers(&self) -> u64 {
        match *self {
            Self::Lost { numbers, .. } => numbers,
            Self::Exit { holds, .. } => holds.numbers(),
            _ => 1,
        }
    }

    fn is_last(&self) -> bool {
        matches!(self, Self::Retired)
    }
}

/// Passes the ordered events of each lock to its analyzer.
#[derive(Debug)]
pub(crate) struct LockDispatcher {
    /// Position of the trace among those analyzed.
    trace: u32,
    /// Exits say for how long the lock was held.
    has_holds: bool,
    /// What is asked for about owners.
    detail: Detail,
    analyzers: SeededMap<LockId, LockAnalyzer>,
}

impl LockDispatcher {
    pub(crate) fn new(trace: u32, has_holds: bool, detail: Detail) -> Self {
        Self {
            trace,
            has_holds,
            detail,
            analyzers: SeededMap::default(),
        }
    }

    /// Replays the next step of `lock`. `true` if it ends a wait, which `wait`
    /// then describes but for its number.
    pub(crate) fn dispatch(
        &mut self,
        lock: LockId,
        step: Step<LockEvent>,
        wait: &mut Wait,
        entities: &mut Entities,
        counters: &mut Counters,
    ) -> bool {
        let event = match step {
            Step::Event(event) => event,
            Step::Gap { numbers } => {
                self.analyzer(lock, entities, counters)
                    .gap(numbers, counters);
                return false;
            }
        };
        match event {
            LockEvent::Description { lock: described } => {
                let detail = entities.detail_of(described, self.detail);
                let analyzer = LockAnalyzer::new(described, self.has_holds, detail);
                self.analyzers.insert(lock, analyzer);
            }
            LockEvent::Enter {
                thread,
                time_ns,
                chain,
                after_wait,
                owner,
            } => {
                let analyzer = self.analyzer(lock, entities, counters);
                analyzer.enter(thread, time_ns, chain, after_wait, counters);
                analyzer.see_owner(thread, owner.get());
            }
            LockEvent::Entered {
                thread,
                time_ns,
                safepoint_ns,
            } => {
                wait.safepoint_ns = safepoint_ns;
                let analyzer = self.analyzer(lock, entities, counters);
                return analyzer.entered(thread, time_ns, wait, counters);
            }
            LockEvent::Exit {
                thread,
                time_ns,
                holds,
                chain,
            } => {
                let analyzer = self.analyzer(lock, entities, counters);
                analyzer.exit(thread, time_ns, holds.get(), chain, counters);
            }
            LockEvent::Lost { thread, .. } => {
                self.analyzer(lock, entities, counters)
                    .lost(thread, counters);
            }
            LockEvent::Retired => {
                if let Some(analyzer) = self.analyzers.remove(&lock) {
                    let abandoned = analyzer.open_waits().count() as u64;
                    counters.add(Counter::WaitsWithoutEntered, abandoned);
                }
            }
        }
        false
    }

    /// Passes the waits that have not ended to `on_wait`, all but their numbers, in
    /// the order in which they began.
    pub(crate) fn finish(
        mut self,
        end: &TraceEnd,
        wait: &mut Wait,
        counters: &mut Counters,
        mut on_wait: impl FnMut(&mut Wait, &mut Counters),
    ) {
        let analyzers = self.analyzers.iter();
        let open = analyzers.flat_map(|(&lock, analyzer)| {
            let waits = analyzer.open_waits();
            waits.map(move |open_wait| (open_wait, lock))
        });
        let mut open: Vec<_> = open.collect();
        open.sort_unstable();
        for (open_wait, lock) in open {
            if let Some(analyzer) = self.analyzers.get_mut(&lock)
                && analyzer.describe_open(&open_wait, end, wait, counters)
            {
                on_wait(wait, counters);
            }
        }
    }

    fn analyzer(
        &mut self,
        lock: LockId,
        entities: &mut Entities,
        counters: &mut Counters,
    ) -> &mut LockAnalyzer {
        self.analyzers.entry(lock).or_insert_with(|| {
            counters.add(Counter::LocksNotDescribed, 1);
            let not_described = Lock::NotDescribed {
                trace: self.trace,
                lock,
            };
            LockAnalyzer::new(
                entities.add_lock(not_described),
                self.has_holds,
                self.detail,
            )
        })
    }
}
