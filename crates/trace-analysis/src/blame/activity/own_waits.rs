//! The owners' own waits while others waited for them.

use std::collections::VecDeque;

use crate::blame::timeline::hold_spans::ThreadTime;
use crate::collections::galloping::{count_from_back, count_near};
use crate::collections::hash::SeededMap;
use crate::collections::shrink::{shrink_map, shrink_queue};
use crate::model::entity::ThreadIndex;
use crate::model::wait::OwnerActivity;

/// The latest waits of all threads.
#[derive(Debug)]
pub(crate) struct OwnWaits {
    threads: SeededMap<ThreadIndex, OfThread>,
    /// The thread of each wait, in order of arrival.
    order: VecDeque<ThreadIndex>,
    max: usize,
    /// Before this time, nothing is known of threads without waits.
    forgotten_until_ns: u64,
}

/// The waits of one thread.
pub(crate) enum WaitsOf<'w> {
    Known(&'w mut OfThread),
    /// No waits are known. Those before this time may be forgotten.
    ForgottenUntil(u64),
}

/// Waits that do not overlap, ordered by time.
#[derive(Debug, Default)]
pub(crate) struct OfThread {
    waits: VecDeque<OwnWait>,
    /// An index near the last one looked up.
    near: usize,
    /// Waits before this time are forgotten.
    forgotten_until_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct OwnWait {
    start_ns: u64,
    end_ns: u64,
    activity: OwnerActivity,
}

/// The activity of a thread in a part of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// The thread did not wait.
    Ran,
    Waited(OwnerActivity),
    Forgotten,
}

/// Maximum number of threads kept that have no waits left.
const MAX_THREADS_WITHOUT: usize = 1 << 12;

impl OwnWaits {
    /// Keeps at most `max` waits.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            threads: SeededMap::default(),
            order: VecDeque::new(),
            max,
            forgotten_until_ns: 0,
        }
    }

    /// Adds a wait of a thread, which ended at about the same time as the last ones. Where waits
    /// overlap in a damaged trace, the time counts once.
    pub(crate) fn add(&mut self, time: ThreadTime, activity: OwnerActivity) {
        let mut added = OwnWait {
            start_ns: time.start_ns,
            end_ns: time.end_ns,
            activity,
        };
        let of_thread = self.threads.entry(time.thread).or_default();
        let waits = &mut of_thread.waits;
        let place = count_from_back(waits, |known| known.start_ns <= added.start_ns);
        if let Some(before) = place.checked_sub(1).and_then(|before| waits.get(before)) {
            added.start_ns = added.start_ns.max(before.end_ns);
        }
        if let Some(after) = waits.get(place) {
            added.end_ns = added.end_ns.min(after.start_ns);
        }
        added.start_ns = added.start_ns.max(of_thread.forgotten_until_ns);
        if added.start_ns >= added.end_ns {
            return;
        }
        waits.insert(place, added);
        self.order.push_back(time.thread);
        if self.order.len() > self.max {
            self.forget();
        }
    }

    /// Forgets the wait that arrived first.
    fn forget(&mut self) {
        let Some(thread) = self.order.pop_front() else {
            return;
        };
        if let Some(of_thread) = self.threads.get_mut(&thread)
            && let Some(first) = of_thread.waits.pop_front()
        {
            of_thread.forgotten_until_ns = of_thread.forgotten_until_ns.max(first.end_ns);
            of_thread.near = of_thread.near.saturating_sub(1);
            shrink_queue(&mut of_thread.waits);
            if self.threads.len() > self.order.len() + MAX_THREADS_WITHOUT {
                self.forget_threads();
            }
        }
    }

    #[cold]
    fn forget_threads(&mut self) {
        let until_ns = &mut self.forgotten_until_ns;
        self.threads.retain(|_, of_thread| {
            let is_kept = !of_thread.waits.is_empty();
            if !is_kept {
                *until_ns = (*until_ns).max(of_thread.forgotten_until_ns);
            }
            is_kept
        });
        shrink_map(&mut self.threads);
    }

    /// Returns the waits of a thread.
    pub(crate) fn of(&mut self, thread: ThreadIndex) -> WaitsOf<'_> {
        match self.threads.get_mut(&thread) {
            Some(of_thread) => WaitsOf::Known(of_thread),
            None => WaitsOf::ForgottenUntil(self.forgotten_until_ns),
        }
    }
}

impl WaitsOf<'_> {
    /// Calls `on_part` with each part of the span, and the thread's activity in it. The closer the
    /// span is to the last one split, the less this costs.
    pub(crate) fn split(
        &mut self,
        start_ns: u64,
        end_ns: u64,
        mut on_part: impl FnMut(u64, u64, Did),
    ) {
        let mut at_ns = start_ns;
        let mut part_until = |until_ns: u64, did| {
            let until_ns = until_ns.clamp(at_ns, end_ns);
            if until_ns > at_ns {
                on_part(at_ns, until_ns, did);
            }
            at_ns = until_ns;
        };
        match self {
            Self::Known(of_thread) => {
                part_until(of_thread.forgotten_until_ns, Did::Forgotten);
                let waits = &of_thread.waits;
                let first = count_near(waits, of_thread.near, |wait| wait.end_ns <= start_ns);
                of_thread.near = first;
                let waits = waits.range(first..);
                for wait in waits.take_while(|wait| wait.start_ns < end_ns) {
                    part_until(wait.start_ns, Did::Ran);
                    part_until(wait.end_ns, Did::Waited(wait.activity));
                }
            }
            Self::ForgottenUntil(until_ns) => part_until(*until_ns, Did::Forgotten),
        }
        part_until(end_ns, Did::Ran);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ThreadIndex = ThreadIndex(1);

    fn time(thread: ThreadIndex, start_ns: u64, end_ns: u64) -> ThreadTime {
        ThreadTime {
            thread,
            start_ns,
            end_ns,
        }
    }

    fn parts(waits: &mut OwnWaits, start_ns: u64, end_ns: u64) -> Vec<(u64, u64, Did)> {
        let mut parts = Vec::new();
        let mut of_thread = waits.of(THREAD);
        of_thread.split(start_ns, end_ns, |start_ns, end_ns, did| {
            parts.push((start_ns, end_ns, did));
        });
        parts
    }

    const BLOCKED: Did = Did::Waited(OwnerActivity::Blocked);
    const WAITING: Did = Did::Waited(OwnerActivity::Waiting);

    #[test]
    fn time_is_split_by_waits_in_any_order() {
        let mut waits = OwnWaits::new(10);
        waits.add(time(THREAD, 40, 50), OwnerActivity::Waiting);
        waits.add(time(THREAD, 10, 20), OwnerActivity::Blocked);
        // Overlaps other waits.
        waits.add(time(THREAD, 15, 45), OwnerActivity::Blocked);
        waits.add(time(THREAD, 42, 48), OwnerActivity::Blocked);
        waits.add(time(ThreadIndex(2), 0, 100), OwnerActivity::Blocked);
        let all = [
            (5, 10, Did::Ran),
            (10, 20, BLOCKED),
            (20, 40, BLOCKED),
            (40, 50, WAITING),
            (50, 60, Did::Ran),
        ];
        assert_eq!(parts(&mut waits, 5, 60), all);
        assert_eq!(parts(&mut waits, 12, 18), [(12, 18, BLOCKED)]);
        assert_eq!(parts(&mut waits, 50, 60), [(50, 60, Did::Ran)]);
        assert_eq!(parts(&mut waits, 7, 7), []);
    }

    #[test]
    fn what_is_forgotten_is_not_known() {
        let mut waits = OwnWaits::new(2);
        for start_ns in [10, 30, 50] {
            waits.add(
                time(THREAD, start_ns, start_ns + 10),
                OwnerActivity::Blocked,
            );
        }
        let all = [
            (5, 20, Did::Forgotten),
            (20, 30, Did::Ran),
            (30, 40, BLOCKED),
            (40, 45, Did::Ran),
        ];
        assert_eq!(parts(&mut waits, 5, 45), all);
    }

    #[test]
    fn memory_is_bounded_however_many_threads_there_are() {
        let mut waits = OwnWaits::new(10);
        for number in 0..3 * MAX_THREADS_WITHOUT as u32 {
            let start_ns = u64::from(number) * 10;
            let thread = ThreadIndex(number + 2);
            waits.add(
                time(thread, start_ns, start_ns + 10),
                OwnerActivity::Blocked,
            );
        }
        assert!(waits.threads.len() <= 10 + MAX_THREADS_WITHOUT + 1);
        assert!(waits.forgotten_until_ns > 0);
        let until_ns = waits.forgotten_until_ns;
        assert_eq!(
            parts(&mut waits, 0, until_ns + 1),
            [
                (0, until_ns, Did::Forgotten),
                (until_ns, until_ns + 1, Did::Ran)
            ]
        );
    }
}
