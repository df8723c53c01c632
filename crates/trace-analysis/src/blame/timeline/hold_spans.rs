//! Spans in which owners held locks that threads waited for, used to find the owners' activity.

use crate::blame::facts::freezes::Freezes;
use crate::blame::facts::safepoints::Safepoints;
use crate::blame::timeline::hold_chunks::HoldRun;
use crate::blame::timeline::sampled_parts::SampledParts;
use crate::model::entity::ThreadIndex;
use crate::model::wait::{Owner, Wait};

/// A span of time of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    pub(crate) thread: ThreadIndex,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// A span in which an owner held a lock, and the number of waits that cover it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HoldSpan {
    pub(crate) time: ThreadTime,
    /// Number of waits; as many threads wait at once.
    pub(crate) waits: u32,
    /// The owner is known not to have waited itself meanwhile.
    pub(crate) is_direct: bool,
}

/// A collector of spans, if they are wanted: one per part of a wait, or one for all waits that
/// share the part.
#[derive(Debug, Default)]
pub(crate) struct HoldSpans {
    pub(crate) are_wanted: bool,
    pub(crate) spans: Vec<HoldSpan>,
    /// Time that threads waited while the lock was free, in nanoseconds.
    pub(crate) free_ns: u64,
    /// Time that threads waited while the owner was not known.
    pub(crate) unknown_ns: u64,
    /// Time that threads waited while the process was frozen, for any owner.
    pub(crate) frozen_ns: u64,
    /// The freezes, which are no owner's time.
    pub(crate) freezes: Freezes,
    /// The safepoints, if root owners are wanted.
    pub(crate) safepoints: Safepoints,
    /// No owner is known to have waited itself during the wait being described.
    pub(crate) is_direct: bool,
    /// The trail of the wait described last.
    pub(crate) trail: Trail,
    /// Whose single contentions are described, if a sample is enough.
    pub(crate) sampled: Option<SampledParts>,
}

/// The facts about a wait, besides its contentions, that are needed to find its root owners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// Each owner is the root owner: no owner waited itself meanwhile, and there was no safepoint.
    pub(crate) is_direct: bool,
    /// Holds among the contentions that the wait shares with others. Only a direct wait has any.
    pub(crate) run: Option<HoldRun>,
}

impl ThreadTime {
    pub(crate) fn of(wait: &Wait) -> Self {
        Self {
            thread: wait.thread,
            start_ns: wait.start_ns,
            end_ns: wait.start_ns.saturating_add(wait.duration_ns),
        }
    }
}

impl HoldSpans {
    /// Begins the description of a wait; `is_direct` if its owners are known not to have waited.
    pub(crate) fn begin_wait(&mut self, is_direct: bool, time: (u64, u64)) {
        self.is_direct = is_direct;
        self.trail = Trail {
            is_direct: is_direct && !self.safepoints.has_any(time),
            run: None,
        };
    }

    /// Returns the collector, if spans are wanted.
    #[inline]
    pub(crate) fn wanted(&mut self) -> Option<&mut Self> {
        self.are_wanted.then_some(self)
    }

    /// Adds a part of the wait being described; `goes_on` if it only extends the last one.
    pub(crate) fn add_part(&mut self, owner: Owner, time: (u64, u64), goes_on: bool) {
        self.add(owner, time, 1, (goes_on, self.is_direct));
    }

    /// Adds a span of an owner that `waits` waits cover; `is_direct` if the owner is known not to
    /// have waited.
    pub(crate) fn add(
        &mut self,
        owner: Owner,
        time: (u64, u64),
        waits: u64,
        (goes_on, is_direct): (bool, bool),
    ) {
        if !self.freezes.has_any(time) {
            return self.add_running(owner, time, waits, (goes_on, is_direct));
        }
        let freezes = std::mem::take(&mut self.freezes);
        freezes.split(time, |part, is_frozen| match is_frozen {
            true => self.add_running(Owner::Frozen, part, waits, (false, is_direct)),
            false => self.add_running(owner, part, waits, (goes_on, is_direct)),
        });
        self.freezes = freezes;
    }

    /// Adds a span in which the process ran, or one without an owner.
    fn add_running(
        &mut self,
        owner: Owner,
        (start_ns, end_ns): (u64, u64),
        waits: u64,
        (goes_on, is_direct): (bool, bool),
    ) {
        let waited_ns = (end_ns - start_ns).saturating_mul(waits);
        match owner {
            Owner::Free => self.free_ns = self.free_ns.saturating_add(waited_ns),
            Owner::Frozen => self.frozen_ns = self.frozen_ns.saturating_add(waited_ns),
            Owner::Unknown(_) => self.unknown_ns = self.unknown_ns.saturating_add(waited_ns),
            Owner::Thread { thread, .. } => {
                let waits = u32::try_from(waits).unwrap_or(u32::MAX);
                if goes_on
                    && let Some(last) = self.spans.last_mut()
                    && (last.time.thread, last.time.end_ns, last.waits) == (thread, start_ns, waits)
                {
                    last.time.end_ns = end_ns;
                    last.is_direct &= is_direct;
                } else if waited_ns > 0 {
                    let time = ThreadTime {
                        thread,
                        start_ns,
                        end_ns,
                    };
                    self.spans.push(HoldSpan {
                        time,
                        waits,
                        is_direct,
                    });
                }
            }
        }
    }

    /// Moves everything from `others` here.
    pub(crate) fn append(&mut self, others: &mut Self) {
        self.spans.append(&mut others.spans);
        self.free_ns = (self.free_ns).saturating_add(std::mem::take(&mut others.free_ns));
        self.unknown_ns = (self.unknown_ns).saturating_add(std::mem::take(&mut others.unknown_ns));
        self.frozen_ns = (self.frozen_ns).saturating_add(std::mem::take(&mut others.frozen_ns));
    }
}
