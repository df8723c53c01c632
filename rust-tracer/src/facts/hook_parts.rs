//! When the tracer itself ran in threads: a random sample of hooks, which the drainer has not written yet.

use trace_format::{HookPart, ThreadId};

use crate::facts::ring::FactRing;
use crate::primitive::{AtomicBool, Ordering};

/// One hook in this many is chosen; a power of two.
pub(crate) const WEIGHT: u32 = 64;
const LAST: u64 = WEIGHT as u64 - 1;

/// Returns whether a hook that counts for `hooks` is chosen, by a random number.
pub(crate) fn is_chosen(hooks: u32, random: u64) -> bool {
    random & LAST < hooks.into()
}

/// Parts of hooks on their way from any threads to the drainer.
#[derive(Debug)]
pub(crate) struct HookParts {
    ring: FactRing<3>,
    /// A thread adds a part at this moment.
    busy: AtomicBool,
}

impl Default for HookParts {
    fn default() -> Self {
        Self {
            ring: FactRing::default(),
            busy: AtomicBool::new(false),
        }
    }
}

impl HookParts {
    /// Adds a part. Counts it as lost if the ring is full, or another thread adds one at this
    /// moment, since threads do not wait.
    pub(crate) fn add(&self, thread: ThreadId, end_ns: u64, duration_ns: u64) {
        // Acquire: after the previous thread's part, since the ring takes from one thread at a time.
        if self.busy.swap(true, Ordering::Acquire) {
            return self.ring.lose();
        }
        self.ring.add([thread.into(), end_ns, duration_ns]);
        // Release: the next thread sees this one's part.
        self.busy.store(false, Ordering::Release);
    }

    /// Takes the oldest part. By the drainer alone.
    pub(crate) fn take(&self) -> Option<HookPart> {
        let [thread, end_ns, duration_ns] = self.ring.take()?;
        Some(HookPart {
            // It was one when it was added.
            thread: ThreadId(thread as u32),
            end_ns,
            duration_ns,
            weight: WEIGHT.into(),
        })
    }

    /// Returns how many parts were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.ring.lost()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn parts_of_all_threads_arrive_whole_or_are_counted() {
        const ALL: u32 = 50_000;
        let parts = HookParts::default();
        let taken = thread::scope(|scope| {
            let threads = [1, 2, 3].map(|thread| {
                let parts = &parts;
                scope.spawn(move || {
                    (1..=ALL).for_each(|number| {
                        parts.add(ThreadId(thread), number.into(), u64::from(number * thread));
                    });
                })
            });
            let mut taken = Vec::new();
            while !threads.iter().all(|thread| thread.is_finished()) {
                taken.extend(parts.take());
            }
            taken.extend(std::iter::from_fn(|| parts.take()));
            taken
        });
        assert_eq!(taken.len() as u64 + parts.lost(), 3 * u64::from(ALL));
        for number in 1..=3 {
            let of_thread = taken.iter().filter(|part| part.thread == ThreadId(number));
            assert!(of_thread.clone().is_sorted_by(|a, b| a.end_ns < b.end_ns));
            for part in of_thread {
                assert_eq!(part.duration_ns, part.end_ns * u64::from(number));
                assert_eq!(part.weight, u64::from(WEIGHT));
            }
        }
    }
}
