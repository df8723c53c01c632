//! A monitor: its contenders, and the hold of its owner.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rust_tracer::Lock;
use trace_format::Hold;

use crate::ffi::{Env, Object, WeakObject};
use crate::slots::Slots;

/// An object that threads contend for, or have contended for.
#[derive(Debug)]
pub(crate) struct Monitor {
    /// Its identifier in the trace, and the sequence numbers of its events.
    pub(crate) lock: Lock,
    pub(super) object: WeakObject,
    hash: u32,
    contention: Mutex<Contention>,
    /// When its owner acquired it, and that thread's number in the tool interface; 0 if not known.
    /// Only owners access both, so the monitor itself orders the accesses.
    acquired_ns: AtomicU64,
    acquired_by: AtomicUsize,
    /// The last thread known to have owned it, and how often that thread changed. Owners only.
    last_owner: AtomicUsize,
    turn: AtomicU32,
    /// The number of releases that were seen. Owners only.
    exits: AtomicU32,
    /// Whether its owner is to be looked up. Relaxed: guards no other memory.
    wants_owner: AtomicBool,
    /// How often that was wanted. Owners only.
    unseen_exits: AtomicU32,
}

/// The owner of a monitor is looked up at most this often: native code may have released it, for which
/// nothing can be done.
const MAX_LOOK_UPS: u32 = 8;

/// The contenders for a monitor.
#[derive(Debug, Default)]
struct Contention {
    /// The number of threads between contended enter and contended entered.
    contenders: u32,
    /// The place in which instrumented code finds the object.
    slot: Option<u16>,
}

impl Monitor {
    pub(super) fn new(object: WeakObject, hash: u32) -> Self {
        Self {
            lock: Lock::default(),
            object,
            hash,
            contention: Mutex::default(),
            acquired_ns: AtomicU64::new(0),
            acquired_by: AtomicUsize::new(0),
            last_owner: AtomicUsize::new(0),
            turn: AtomicU32::new(0),
            exits: AtomicU32::new(0),
            wants_owner: AtomicBool::new(false),
            unseen_exits: AtomicU32::new(0),
        }
    }

    /// Returns a local reference to the object; `None` once it was collected.
    pub(crate) fn object<'a>(&self, env: Env<'a>) -> Option<Object<'a>> {
        env.strong(&self.object)
    }

    /// Counts a release by its owner.
    pub(crate) fn exit_seen(&self) {
        self.exits.fetch_add(1, Relaxed);
    }

    /// Returns the number of releases that were seen.
    pub(crate) fn exits(&self) -> u32 {
        self.exits.load(Relaxed)
    }

    /// Counts a release that was not seen: the owner during the next wait is to be looked up.
    pub(crate) fn exit_unseen(&self) {
        let is_wanted = self.unseen_exits.fetch_add(1, Relaxed) < MAX_LOOK_UPS;
        self.wants_owner.store(is_wanted, Relaxed);
    }

    /// Returns `true` to the one thread that is to have the owner looked up.
    pub(crate) fn claim_look_up(&self) -> bool {
        self.wants_owner.load(Relaxed) && self.wants_owner.swap(false, Relaxed)
    }

    pub(crate) fn hash(&self) -> u32 {
        self.hash
    }

    fn contention(&self) -> MutexGuard<'_, Contention> {
        self.contention
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether threads wait for it.
    pub(crate) fn is_contended(&self) -> bool {
        self.contention().contenders > 0
    }

    /// Adds the current thread to the contenders and shows the object to its owner. Returns `false`
    /// if no slot is free for that.
    pub(super) fn enter(
        self: &Arc<Self>,
        env: Env<'_>,
        object: Object<'_>,
        slots: &Slots<Self>,
    ) -> bool {
        let slot = {
            let mut contention = self.contention();
            contention.contenders = contention.contenders.saturating_add(1);
            contention.slot = contention.slot.or_else(|| slots.take(self, self.hash));
            contention.slot
        };
        // Even if there are other contenders: they may not have shown it yet.
        if let Some(slot) = slot {
            slots.show(env, slot, Some(object));
        }
        slot.is_some()
    }

    /// Removes the current thread, which owns the monitor now, from the contenders.
    pub(crate) fn leave(&self, env: Env<'_>, object: Object<'_>, slots: &Slots<Self>) {
        let slot = {
            let mut contention = self.contention();
            contention.contenders = contention.contenders.saturating_sub(1);
            contention.slot.filter(|_| contention.contenders == 0)
        };
        let Some(slot) = slot else { return };
        slots.show(env, slot, None);
        let is_free = {
            let mut contention = self.contention();
            let is_free = contention.contenders == 0;
            if is_free {
                contention.slot = None;
                slots.give_back(slot);
            }
            is_free
        };
        // Another thread has begun to contend, and may have shown the object before it was removed.
        // No other thread leaves meanwhile: that takes the monitor.
        let object = (!is_free).then_some(object);
        if object.is_some() {
            slots.show(env, slot, object);
        }
    }

    /// Removes a thread that ends without the monitor from the contenders.
    pub(crate) fn abandon(&self) {
        let mut contention = self.contention();
        contention.contenders = contention.contenders.saturating_sub(1);
    }

    /// Begins the hold of the current thread, which has waited for the monitor.
    pub(crate) fn hold_begins(&self, thread: usize, time_ns: u64) {
        // Relaxed, here and below: see the fields.
        self.acquired_ns.store(time_ns, Relaxed);
        self.acquired_by.store(thread, Relaxed);
        self.turn_of(thread);
    }

    /// Returns the number of the owner's turn, which changes each time that the owner does.
    pub(crate) fn turn_of(&self, thread: usize) -> u32 {
        if self.last_owner.swap(thread, Relaxed) != thread {
            self.turn.fetch_add(1, Relaxed);
        }
        self.turn.load(Relaxed)
    }

    /// Ends the hold of the current thread and returns it, if it is known.
    pub(crate) fn hold_ends(&self, thread: usize, time_ns: u64) -> Hold {
        let acquired_ns = self.acquired_ns.swap(0, Relaxed);
        if acquired_ns == 0 || self.acquired_by.load(Relaxed) != thread {
            return Hold::NotKnown;
        }
        let duration_ns = time_ns.saturating_sub(acquired_ns).min(Hold::MAX_NS);
        Hold::For { duration_ns }
    }
}
