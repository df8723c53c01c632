//! Finds the number in the trace of a thread of the JVM by its address.
//!
//! A thread that contends for a monitor finds the address of the owner in it, but the owner can
//! release the monitor and end at any time, so nothing may be read there. This table
//! can be read and changed by all threads at the same time, without a lock.

use trace_format::ThreadId;

use crate::counters::Serial;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// Places for threads that live at the same time; half a megabyte.
const ENTRIES: usize = 1 << INDEX_BITS;
/// A model of all interleavings makes the table anew for each.
const INDEX_BITS: u32 = if cfg!(loom) { 4 } else { 15 };
/// The lower bits of a hash, which do not choose the entry.
const UNUSED_BITS: u32 = u64::BITS - INDEX_BITS;

/// The entries, from the one that its address hashes to, in which a thread may stand: four
/// cache lines. A thread for which all are taken has no known number.
const PROBES: usize = 16;

/// No thread.
const FREE: u64 = 0;
/// An entry that is being filled. No thread has this address.
const BUSY: u64 = 1;

#[derive(Debug, Default)]
struct Entry {
    /// A thread that reads it twice with the same result has read the number of a thread
    /// with this address in between.
    address: AtomicU64,
    number: AtomicU32,
    /// Of its slot.
    slot: AtomicU32,
}

/// The numbers of the threads that are alive.
#[derive(Debug)]
pub(crate) struct ThreadNumbers {
    entries: Vec<Entry>,
    /// Threads without an entry.
    left_out: Serial,
}

impl ThreadNumbers {
    /// An empty table; one without entries if memory is short.
    pub(crate) fn new() -> Self {
        let mut entries = Vec::new();
        if entries.try_reserve_exact(ENTRIES).is_ok() {
            entries.resize_with(ENTRIES, Entry::default);
        }
        Self {
            entries,
            left_out: Serial::default(),
        }
    }

    /// Adds the thread at `address`, with its number and the number of its slot.
    pub(crate) fn add(&self, address: u64, number: ThreadId, slot: u32) {
        if address <= BUSY {
            return;
        }
        // Acquire: does not write the number before the entry is its own.
        let claimed = self.probe(address).find(|entry| {
            let claim = |from, to| {
                entry
                    .address
                    .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
            };
            entry.address.load(Ordering::Relaxed) == FREE && claim(FREE, BUSY).is_ok()
        });
        let Some(entry) = claimed else {
            self.left_out.next();
            return;
        };
        // Release: who reads one of them sees that the entry is no longer another thread's.
        entry.number.store(number.0, Ordering::Release);
        entry.slot.store(slot, Ordering::Release);
        // Release: who finds the address sees both numbers.
        entry.address.store(address, Ordering::Release);
    }

    /// Every thread that was added was found until it was removed.
    pub(crate) fn are_complete(&self) -> bool {
        self.left_out.count() == 0
    }

    /// The thread at `address`, which has this number, is no more.
    pub(crate) fn remove(&self, address: u64, number: ThreadId) {
        let of_thread = |entry: &&Entry| {
            entry.address.load(Ordering::Relaxed) == address
                && entry.number.load(Ordering::Relaxed) == number.0
        };
        if let Some(entry) = self.probe(address).find(of_thread) {
            entry.address.store(FREE, Ordering::Release);
        }
    }

    /// Returns the number of the thread at `address`; [`ThreadId::NONE`] without one, or if it is not
    /// known.
    pub(crate) fn find(&self, address: u64) -> ThreadId {
        let number = self.read(address, |entry| &entry.number);
        number.map_or(ThreadId::NONE, ThreadId)
    }

    /// Returns the number of the slot of the thread at `address`; `None` without one, or if it is not
    /// known.
    pub(crate) fn find_slot(&self, address: u64) -> Option<u32> {
        self.read(address, |entry| &entry.slot)
    }

    fn read(&self, address: u64, number: impl Fn(&Entry) -> &AtomicU32) -> Option<u32> {
        if address <= BUSY {
            return None;
        }
        // Acquire: sees the numbers that came with the address.
        let at_address = |entry: &&Entry| entry.address.load(Ordering::Acquire) == address;
        let entry = self.probe(address).find(at_address)?;
        // Acquire: a number that came later comes with a later address.
        let number = number(entry).load(Ordering::Acquire);
        (entry.address.load(Ordering::Relaxed) == address).then_some(number)
    }

    fn probe(&self, address: u64) -> impl Iterator<Item = &Entry> {
        let hash = (address >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> UNUSED_BITS) as usize;
        let (before, from) = self.entries.split_at_checked(first).unwrap_or_default();
        from.iter().chain(before).take(PROBES)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn numbers_of_threads_that_live() {
        let numbers = ThreadNumbers::new();
        let address = |thread: u32| 0x7f00_1234_0000 + u64::from(thread) * 0x800;
        for thread in 1..=10_000 {
            numbers.add(address(thread), ThreadId(thread), thread + 1);
        }
        let known =
            (1..=10_000).filter(|&thread| numbers.find(address(thread)) == ThreadId(thread));
        assert_eq!(known.count(), 10_000);
        assert_eq!(numbers.find_slot(address(3)), Some(4));
        assert_eq!(numbers.find_slot(address(3) + 8), None);
        assert_eq!(numbers.find(address(3) + 8), ThreadId::NONE);

        numbers.remove(address(3), ThreadId(3));
        assert_eq!(numbers.find(address(3)), ThreadId::NONE);
        numbers.add(address(3), ThreadId(10_001), 4);
        // The end of an older thread at that address comes late.
        numbers.remove(address(3), ThreadId(3));
        assert_eq!(numbers.find(address(3)), ThreadId(10_001));
    }

    #[test]
    fn no_thread_has_no_number() {
        let numbers = ThreadNumbers::new();
        numbers.add(0, ThreadId(1), 1);
        numbers.add(1, ThreadId(1), 1);
        assert_eq!(numbers.find(0), ThreadId::NONE);
        assert_eq!(numbers.find(1), ThreadId::NONE);
    }

    /// Each thread's numbers have its name in their lower bits: no lookup finds the number of
    /// another thread.
    #[test]
    fn numbers_are_never_those_of_other_addresses() {
        let numbers = ThreadNumbers::new();
        // They all begin in a few neighbouring entries, and displace each other.
        let addresses: Vec<u64> = (1..=24).map(|name| name << 36).collect();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for (name, &address) in (0u32..).zip(&addresses) {
                let numbers = &numbers;
                scope.spawn(move || {
                    for round in 1..3_000 {
                        numbers.add(address, ThreadId(round << 8 | name), 1);
                        numbers.remove(address, ThreadId(round << 8 | name));
                    }
                });
            }
            let (numbers, addresses, done) = (&numbers, &addresses, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    for (name, &address) in (0u32..).zip(addresses) {
                        let found = numbers.find(address).0;
                        assert!(found == 0 || found & 0xff == name, "{found:x}, not {name}");
                    }
                }
            });
            scope.spawn(move || {
                thread::sleep(std::time::Duration::from_millis(50));
                done.store(true, Ordering::Relaxed);
            });
        });
    }
}
