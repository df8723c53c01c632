//! Spans in which owners held locks that threads waited for, from which their activity is found.

use crate::blame::facts::freezes::Freezes;
use crate::blame::facts::safepoints::Safepoints;
use crate::blame::timeline::hold_chunks::HoldRun;
use crate::model::entity::ThreadIndex;
use crate::model::wait::{Owner, Wait};

/// A span of time of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    pub(crate) thread: ThreadIndex,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// An owner held a lock in this span, which this number of waits covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HoldSpan {
    pub(crate) time: ThreadTime,
    /// As many threads wait at once.
    pub(crate) waits: u32,
    /// It did not wait itself meanwhile; else that is not known.
    pub(crate) is_direct: bool,
}

/// Collects spans, if they are wanted: one for each part of a wait, or one for all waits that share it.
#[derive(Debug, Default)]
pub(crate) struct HoldSpans {
    pub(crate) are_wanted: bool,
    pub(crate) spans: Vec<HoldSpan>,
    /// What threads waited while nobody had the lock, in nanoseconds.
    pub(crate) free_ns: u64,
    /// The same while it is not known who had it.
    pub(crate) unknown_ns: u64,
    /// The same while the process did not run, whoever had it.
    pub(crate) frozen_ns: u64,
    /// When the process did not run: that is no owner's time.
    pub(crate) freezes: Freezes,
    /// When all threads were stopped, if root owners are looked for.
    pub(crate) safepoints: Safepoints,
    /// No owner waited itself during the wait that is described; else that is not known.
    pub(crate) is_direct: bool,
    /// Of the wait that was described last.
    pub(crate) trail: Trail,
}

/// What has to be known of a wait, besides its contentions, to find its root owners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// Each owner is the root owner: none waited itself meanwhile, and there was no safepoint.
    pub(crate) is_direct: bool,
    /// Holds among its contentions that it shares with other waits. Only a direct wait has them.
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
    /// A wait from begin to end is described next, whose owners waited themselves or did not.
    pub(crate) fn begin_wait(&mut self, is_direct: bool, time: (u64, u64)) {
        self.is_direct = is_direct;
        self.trail = Trail {
            is_direct: is_direct && !self.safepoints.has_any(time),
            run: None,
        };
    }

    /// If they are wanted, what collects them.
    #[inline]
    pub(crate) fn wanted(&mut self) -> Option<&mut Self> {
        self.are_wanted.then_some(self)
    }

    /// The wait described goes through that time of an owner; `goes_on` if it only makes the last one
    /// longer.
    pub(crate) fn add_part(&mut self, owner: Owner, time: (u64, u64), goes_on: bool) {
        self.add(owner, time, 1, (goes_on, self.is_direct));
    }

    /// So many waits go through that time of an owner, who waited itself or did not.
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

    /// The same of a time in which the process ran, or of the time of nobody in which it did not.
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

    /// Takes all from others.
    pub(crate) fn append(&mut self, others: &mut Self) {
        self.spans.append(&mut others.spans);
        self.free_ns = (self.free_ns).saturating_add(std::mem::take(&mut others.free_ns));
        self.unknown_ns = (self.unknown_ns).saturating_add(std::mem::take(&mut others.unknown_ns));
        self.frozen_ns = (self.frozen_ns).saturating_add(std::mem::take(&mut others.frozen_ns));
    }
}
