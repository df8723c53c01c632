//! The slots in which instrumented code finds the objects that threads wait for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;

use crate::ffi::{Env, Helper, Object, SLOTS};

/// The slots, and the state of the object in each.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    helper: Option<&'static Helper>,
    known: [ArcSwapOption<T>; SLOTS],
    /// A bit for each slot in use.
    in_use: Mutex<u64>,
}

impl<T> Slots<T> {
    /// Returns no slots without the helper class.
    pub(crate) fn new(helper: Option<&'static Helper>) -> Self {
        Self {
            helper,
            known: [const { ArcSwapOption::const_empty() }; SLOTS],
            in_use: Mutex::new(0),
        }
    }

    /// Takes the lowest free slot.
    pub(crate) fn take(&self, known: &Arc<T>) -> Option<u8> {
        self.helper?;
        let mut in_use = self.lock();
        let slot = in_use.trailing_ones();
        let owner = self.known.get(slot as usize)?;
        *in_use |= 1_u64.checked_shl(slot)?;
        owner.store(Some(Arc::clone(known)));
        u8::try_from(slot).ok()
    }

    /// Frees a slot that is empty.
    pub(crate) fn give_back(&self, slot: u8) {
        let mut in_use = self.lock();
        if let Some(owner) = self.known.get(usize::from(slot)) {
            owner.store(None);
        }
        *in_use &= !1_u64.checked_shl(slot.into()).unwrap_or_default();
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an object into a slot, where instrumented code sees it, or empties the slot.
    pub(crate) fn show(&self, env: Env<'_>, slot: u8, object: Option<Object<'_>>) {
        let Some(helper) = self.helper else { return };
        helper.set(env, slot, object);
        self.refresh(env);
    }

    /// Has instrumented code look at the slots in use, and no others.
    pub(crate) fn refresh(&self, env: Env<'_>) {
        let Some(helper) = self.helper else { return };
        // The last thread to change the slots sees the changes of all others here, and a thread that
        // stores an older bound looks again afterwards. The bound is stored only if it changes, since
        // all code that releases monitors reads it.
        loop {
            let bound = self.bound();
            if helper.slots_in_use(env) != bound {
                helper.set_slots_in_use(env, bound);
            }
            if self.bound() == bound && helper.slots_in_use(env) == bound {
                return;
            }
        }
    }

    /// Returns whether a thread waits for an object in one of them.
    pub(crate) fn are_used(&self) -> bool {
        self.bound() > 0
    }

    /// Returns the number of slots up to the last one in use.
    fn bound(&self) -> i32 {
        let unused = self.lock().leading_zeros();
        u64::BITS.saturating_sub(unused).cast_signed()
    }

    /// Returns the state of the object that its owner has found in a slot. A monitor stays there until
    /// the owner releases it, since only an owner removes objects.
    pub(crate) fn get(&self, slot: usize) -> Option<Arc<T>> {
        self.known.get(slot)?.load_full()
    }

    /// Empties all slots.
    pub(crate) fn clear(&self, env: Env<'_>) {
        let Some(helper) = self.helper else { return };
        helper.set_slots_in_use(env, 0);
        for slot in (0_u8..).take(SLOTS) {
            helper.set(env, slot, None);
        }
    }
}
