//! Samples: the waits that threads caused, added up over short slots of time.

use foldhash::fast::RandomState;
use fxprof_processed_profile::ThreadHandle;
use indexmap::IndexMap;
use trace_analysis::Value;

/// The key of a stack's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SampleKey {
    /// The owner.
    pub(super) thread: ThreadHandle,
    /// Its call chain, or its placeholder.
    pub(super) code: Value,
    pub(super) lock_class: Value,
}

/// Sums by stack and slot of time, in nanoseconds.
#[derive(Debug)]
pub(super) struct Samples {
    sums: IndexMap<(SampleKey, u64), u64, RandomState>,
    slot_ns: u64,
    /// The limit; beyond it slots become longer.
    max_sums: usize,
}

impl Default for Samples {
    fn default() -> Self {
        Self::new(1_000_000)
    }
}

impl Samples {
    fn new(max_sums: usize) -> Self {
        Self {
            sums: IndexMap::default(),
            slot_ns: 1_000_000,
            max_sums,
        }
    }

    /// Adds a part of a wait that began at `start_ns`.
    pub(super) fn add(&mut self, key: SampleKey, start_ns: u64, duration_ns: u64) {
        let sum = self.sums.entry((key, start_ns / self.slot_ns)).or_default();
        *sum = sum.saturating_add(duration_ns);
        if self.sums.len() > self.max_sums {
            self.make_room();
        }
    }

    /// Makes slots longer until at most half of the sums are left.
    fn make_room(&mut self) {
        while self.sums.len() > self.max_sums / 2 {
            if self.sums.keys().all(|&(_, slot)| slot == 0) {
                // The stacks alone are that many.
                self.max_sums = self.max_sums.saturating_mul(2);
                return;
            }
            self.slot_ns = self.slot_ns.saturating_mul(2);
            for ((key, slot), added) in std::mem::take(&mut self.sums) {
                let sum = self.sums.entry((key, slot / 2)).or_default();
                *sum = sum.saturating_add(added);
            }
        }
    }

    /// Returns the sums in microseconds, with the starts of their slots in nanoseconds, ordered by
    /// time. The fraction of a microsecond counts for the next sample of the thread.
    pub(super) fn into_weights(self) -> Vec<(SampleKey, u64, i32)> {
        let slot_ns = self.slot_ns;
        let mut sums: Vec<_> = self.sums.into_iter().collect();
        sums.sort_by_key(|((_, slot), _)| *slot);
        let mut carried = IndexMap::<ThreadHandle, u64, RandomState>::default();
        let mut weights = Vec::with_capacity(sums.len());
        for ((key, slot), sum) in sums {
            let carried = carried.entry(key.thread).or_default();
            let all_ns = carried.saturating_add(sum);
            *carried = all_ns % 1_000;
            let mut left = all_ns / 1_000;
            while left > 0 {
                let weight = i32::try_from(left).unwrap_or(i32::MAX);
                weights.push((key, slot.saturating_mul(slot_ns), weight));
                left -= u64::from(weight.unsigned_abs());
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use fxprof_processed_profile::{Profile, ReferenceTimestamp, SamplingInterval, Timestamp};

    use super::*;

    #[test]
    fn nothing_is_lost_by_rounding_nor_by_longer_slots() {
        let start = ReferenceTimestamp::from_millis_since_unix_epoch(0.0);
        let mut profile = Profile::new("", start, SamplingInterval::from_nanos(1_000));
        let start = Timestamp::from_nanos_since_reference(0);
        let process = profile.add_process("", 1, start);
        let threads = [1, 2].map(|tid| profile.add_thread(process, tid, start, false));
        let mut samples = Samples::new(100);
        for number in 0..10_000 {
            let key = SampleKey {
                thread: threads[number as usize % 2],
                code: Value::Depth(number % 7),
                lock_class: Value::Free,
            };
            samples.add(key, u64::from(number) * 300_000, 1_700);
        }
        let longest = SampleKey {
            thread: threads[0],
            code: Value::Free,
            lock_class: Value::Free,
        };
        samples.add(longest, 0, 5_000_000_000_000);
        assert!(samples.sums.len() <= 100);
        let weights = samples.into_weights();
        assert!(weights.is_sorted_by_key(|&(_, start_ns, _)| start_ns));
        for (thread, expected) in threads.into_iter().zip([5_000_008_500, 8_500]) {
            let of_thread = weights.iter().filter(|(key, ..)| key.thread == thread);
            let sum: i64 = of_thread.map(|&(_, _, weight)| i64::from(weight)).sum();
            assert_eq!(sum, expected);
        }
    }
}
