//! The slots in which instrumented code finds the objects that threads wait for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;

use crate::ffi::{Env, ExitHelper, Object, SLOTS};
use crate::monitors::Monitor;

/// The slots, and which monitor has which.
#[derive(Debug)]
pub(crate) struct Slots {
    helper: Option<&'static ExitHelper>,
    monitors: [ArcSwapOption<Monitor>; SLOTS],
    /// A bit for each slot that is in use.
    in_use: Mutex<u64>,
}

impl Slots {
    /// Without the class there are no slots.
    pub(crate) fn new(helper: Option<&'static ExitHelper>) -> Self {
        Self {
            helper,
            monitors: [const { ArcSwapOption::const_empty() }; SLOTS],
            in_use: Mutex::new(0),
        }
    }

    /// The lowest free slot, for a monitor.
    pub(crate) fn take(&self, monitor: &Arc<Monitor>) -> Option<u8> {
        self.helper?;
        let mut in_use = self.lock();
        let slot = in_use.trailing_ones();
        let owner = self.monitors.get(slot as usize)?;
        *in_use |= 1_u64.checked_shl(slot)?;
        owner.store(Some(Arc::clone(monitor)));
        u8::try_from(slot).ok()
    }

    /// The slot is free again. Its object was taken out before.
    pub(crate) fn give_back(&self, slot: u8) {
        let mut in_use = self.lock();
        if let Some(owner) = self.monitors.get(usize::from(slot)) {
            owner.store(None);
        }
        *in_use &= !1_u64.checked_shl(slot.into()).unwrap_or_default();
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets instrumented code see the object in a slot, or not any more.
    pub(crate) fn show(&self, env: Env<'_>, slot: u8, object: Option<Object<'_>>) {
        let Some(helper) = self.helper else { return };
        helper.set(env, slot, object);
        // Who has changed the slots last sees here what all others did, and whoever stores an
        // older bound looks again afterwards. It is stored only if it changes, since all code
        // that releases monitors reads it.
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

    /// All slots in use are below this one.
    fn bound(&self) -> i32 {
        let unused = self.lock().leading_zeros();
        u64::BITS.saturating_sub(unused).cast_signed()
    }

    /// The monitor of a slot in which its owner has found its object: it stays there until the
    /// owner releases the monitor, since only an owner takes objects out.
    pub(crate) fn monitor(&self, slot: usize) -> Option<Arc<Monitor>> {
        self.monitors.get(slot)?.load_full()
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
