//! Events of intrinsic locks, their references resolved.

use trace_format::Hold;

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::wait::Holds;
use crate::order::rearranger::Ordered;
use crate::resolve::seen_owner::SeenOwner;

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
        owner: SeenOwner,
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
        /// For so long the thread had not waited; 0 if that is not known.
        since_wait_ns: u32,
    },
    Retired,
    /// A lost event of the thread that stands for `numbers` numbers.
    Lost {
        thread: ThreadIndex,
        numbers: u64,
    },
}

// Many are held back: half a line of a processor's cache each.
const _: () = assert!(size_of::<LockEvent>() <= 32);

/// [`Holds`] in eight bytes, because many events are held back.
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

    pub(crate) fn get(self) -> Holds {
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
    const ANY: Self = Self::Retired;

    #[inline]
    fn numbers(&self) -> u64 {
        match *self {
            Self::Lost { numbers, .. } => numbers,
            Self::Exit { holds, .. } => holds.numbers(),
            _ => 1,
        }
    }

    #[inline]
    fn is_last(&self) -> bool {
        matches!(self, Self::Retired)
    }
}
