//! The synchronizers of `java.util.concurrent` that threads are parked on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rust_tracer::AgentCounts;
use trace_format::{ClassId, Hold};

use crate::ffi::{Env, Helper, Object, ParkFields};
use crate::slots::Slots;

/// A synchronizer whose acquisitions and releases are traced, since a thread has parked on it.
///
/// Like the blocker of a park event, it is identified by its identity hash.
#[derive(Debug)]
pub(crate) struct Synchronizer {
    hash: u32,
    /// The number of threads between park begin and park end.
    parked: AtomicU32,
    /// When its owner acquired it; 0 if that was before a thread parked. Only owners access it, so
    /// the synchronizer itself orders the accesses.
    acquired_ns: AtomicU64,
}

impl Synchronizer {
    pub(crate) fn hash(&self) -> u32 {
        self.hash
    }

    /// Begins the hold of the current thread, its new owner.
    pub(crate) fn acquired(&self, time_ns: u64) {
        self.acquired_ns.store(time_ns, Relaxed);
    }

    /// Ends the hold of the current thread, its owner, and returns it.
    pub(crate) fn hold_ends(&self, time_ns: u64) -> Hold {
        match self.acquired_ns.swap(0, Relaxed) {
            0 => Hold::BeforeContention,
            acquired_ns => Hold::For {
                duration_ns: time_ns.saturating_sub(acquired_ns).min(Hold::MAX_NS),
            },
        }
    }

    /// Removes a thread that is no longer parked on it.
    pub(crate) fn park_ends(&self) {
        // Relaxed, as everywhere here: it is read under the mutex of `Synchronizers`, and an update
        // that arrives late only keeps the slot for longer.
        self.parked.fetch_sub(1, Relaxed);
    }
}

/// The synchronizers with a slot, by identity hash.
type WithSlots = HashMap<u32, (u16, Arc<Synchronizer>)>;

/// The synchronizers that threads are parked on.
#[derive(Debug)]
pub(crate) struct Synchronizers {
    pub(crate) slots: Slots<Synchronizer>,
    /// Held for a few instructions, never while the JVM is called.
    with_slots: Mutex<WithSlots>,
    /// Classes of objects that were seen with an owner. Latches and semaphores never have one, and
    /// need no slots.
    owned_classes: papaya::HashSet<u32>,
}

impl Synchronizers {
    pub(crate) fn new(helper: &'static Helper) -> Self {
        Self {
            slots: Slots::new(Some(helper)),
            with_slots: Mutex::default(),
            owned_classes: papaya::HashSet::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, WithSlots> {
        self.with_slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether an object of the class was ever seen with an owner.
    pub(crate) fn is_owned_class(&self, class: ClassId, has_owner: bool) -> bool {
        let owned = self.owned_classes.pin();
        owned.contains(&class.0) || has_owner && owned.insert(class.0)
    }

    /// Adds the current thread, which is queued for an ownable synchronizer and about to park. From
    /// now on its owners are traced. Returns `None`, and counts that, if no slot is free.
    pub(crate) fn park_begins(
        &self,
        env: Env<'_>,
        object: Object<'_>,
        hash: u32,
        counts: &AgentCounts,
    ) -> Option<Arc<Synchronizer>> {
        let found = self.find_or_add(hash);
        let Some((slot, synchronizer)) = found else {
            counts.unseen_contenders.add(1);
            return None;
        };
        // Even if another thread is parked on it: it may not have shown the object yet.
        self.slots.show(env, slot, Some(object));
        Some(synchronizer)
    }

    fn find_or_add(&self, hash: u32) -> Option<(u16, Arc<Synchronizer>)> {
        let mut with_slots = self.lock();
        if let Some((slot, synchronizer)) = with_slots.get(&hash) {
            synchronizer.parked.fetch_add(1, Relaxed);
            return Some((*slot, Arc::clone(synchronizer)));
        }
        let synchronizer = Arc::new(Synchronizer {
            hash,
            parked: AtomicU32::new(1),
            acquired_ns: AtomicU64::new(0),
        });
        let slot = self.slots.take(&synchronizer, hash).or_else(|| {
            // Takes the slot of one that nobody is parked on and whose owner has not released it.
            let mut all = with_slots.iter();
            let unused = all.find(|(_, (_, other))| other.parked.load(Relaxed) == 0);
            let (&unused, &(slot, _)) = unused?;
            with_slots.remove(&unused);
            self.slots.give_back(slot);
            self.slots.take(&synchronizer, hash)
        })?;
        with_slots.insert(hash, (slot, Arc::clone(&synchronizer)));
        Some((slot, synchronizer))
    }

    /// Returns whether threads wait for the synchronizer, which the current thread is about to
    /// release. If none does, its owners are no longer traced.
    pub(crate) fn is_waited_for(
        &self,
        env: Env<'_>,
        fields: &ParkFields,
        object: Object<'_>,
        synchronizer: &Synchronizer,
    ) -> bool {
        if synchronizer.parked.load(Relaxed) > 0 || fields.has_queued(env, object) == Some(true) {
            return true;
        }
        let mut with_slots = self.lock();
        // A thread that has parked meanwhile keeps the slot.
        let is_parked_on = synchronizer.parked.load(Relaxed) > 0;
        let slot_of = with_slots.get(&synchronizer.hash);
        let is_its_own = slot_of.is_some_and(|(_, other)| std::ptr::eq(&**other, synchronizer));
        let removed = match is_parked_on || !is_its_own {
            true => None,
            false => with_slots.remove(&synchronizer.hash),
        };
        if let Some((slot, _)) = removed {
            // The slot is emptied before another object can take it.
            drop(with_slots);
            self.slots.show(env, slot, None);
            self.slots.give_back(slot);
            self.slots.refresh(env);
        }
        is_parked_on
    }
}
