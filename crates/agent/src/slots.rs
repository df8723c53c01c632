//! The places in which instrumented code finds the objects that threads wait for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;

use crate::ffi::{Env, Helper, MAX_SLOTS, Object};

/// An object in the table is in one of this number of places from the one that its hash names, as in
/// `Monitors.java`.
const PROBES: usize = 16;

/// The places, and the state of the object in each slot: the code looks at slots one by one. Behind them
/// come those of a table, if the helper class has one: these are looked up by identity hash codes.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    helper: Option<&'static Helper>,
    known: [ArcSwapOption<T>; MAX_SLOTS],
    used: Mutex<Used>,
}

#[derive(Debug)]
struct Used {
    /// A bit for each slot in use.
    slots: u64,
    /// A bit for each place of the table in use.
    table: Box<[u64]>,
    /// The number of places of the table in use.
    in_table: usize,
}

impl<T> Slots<T> {
    /// Returns no slots without the helper class.
    pub(crate) fn new(helper: Option<&'static Helper>) -> Self {
        let words = helper.map_or(0, |helper| helper.table_len().div_ceil(64));
        Self {
            helper,
            known: [const { ArcSwapOption::const_empty() }; MAX_SLOTS],
            used: Mutex::new(Used {
                slots: 0,
                table: vec![0; words].into(),
                in_table: 0,
            }),
        }
    }

    /// Takes the lowest free slot, or a place in the table for an object with this hash.
    pub(crate) fn take(&self, known: &Arc<T>, hash: u32) -> Option<u16> {
        let slots = self.helper?.slots();
        let mut used = self.lock();
        let slot = used.slots.trailing_ones();
        let place = match slot as usize {
            free if free < slots => {
                used.slots |= 1_u64.checked_shl(slot)?;
                self.known.get(free)?.store(Some(Arc::clone(known)));
                free
            }
            _ => slots.checked_add(used.take_from_table(hash)?)?,
        };
        u16::try_from(place).ok()
    }

    /// Frees a place that is empty.
    pub(crate) fn give_back(&self, place: u16) {
        let Some(helper) = self.helper else { return };
        let mut used = self.lock();
        match usize::from(place).checked_sub(helper.slots()) {
            Some(index) => used.give_back_to_table(index),
            None => {
                if let Some(owner) = self.known.get(usize::from(place)) {
                    owner.store(None);
                }
                used.slots &= !1_u64.checked_shl(place.into()).unwrap_or_default();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an object into a place, where instrumented code sees it, or empties the place.
    pub(crate) fn show(&self, env: Env<'_>, place: u16, object: Option<Object<'_>>) {
        let Some(helper) = self.helper else { return };
        helper.set(env, place.into(), object);
        self.refresh(env);
    }

    /// Has instrumented code look at the places in use, and no others.
    pub(crate) fn refresh(&self, env: Env<'_>) {
        let Some(helper) = self.helper else { return };
        // The last thread to change the places sees the changes of all others here, and a thread that
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

    /// Returns the number of slots up to the last one in use, or one more than there are if the table
    /// is.
    fn bound(&self) -> i32 {
        let used = self.lock();
        let bound = match used.in_table {
            0 => u64::BITS.saturating_sub(used.slots.leading_zeros()) as usize,
            _ => self.helper.map_or(0, Helper::slots).saturating_add(1),
        };
        i32::try_from(bound).unwrap_or_default()
    }

    /// Returns the state of the object that its owner has found in a slot. A monitor stays there until
    /// the owner releases it, since only an owner removes objects.
    pub(crate) fn get(&self, slot: usize) -> Option<Arc<T>> {
        self.known.get(slot)?.load_full()
    }

    /// Empties all places.
    pub(crate) fn clear(&self, env: Env<'_>) {
        let Some(helper) = self.helper else { return };
        helper.set_slots_in_use(env, 0);
        for place in 0..helper.slots().saturating_add(helper.table_len()) {
            helper.set(env, place, None);
        }
    }
}

impl Used {
    fn take_from_table(&mut self, hash: u32) -> Option<usize> {
        let len = self.table.len().checked_mul(64)?;
        let mut places = (0..PROBES).map(|probe| (hash as usize).wrapping_add(probe));
        let index = places.find_map(|place| {
            let index = place.checked_rem(len)?;
            let word = self.table.get_mut(index / 64)?;
            let bit = 1 << (index % 64);
            let is_free = *word & bit == 0;
            *word |= bit;
            is_free.then_some(index)
        })?;
        self.in_table = self.in_table.saturating_add(1);
        Some(index)
    }

    fn give_back_to_table(&mut self, index: usize) {
        if let Some(word) = self.table.get_mut(index / 64) {
            *word &= !(1 << (index % 64));
            self.in_table = self.in_table.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_places_for_many_and_takes_them_back() {
        let mut used = Used {
            slots: 0,
            table: vec![0; 128].into(),
            in_table: 0,
        };
        // Hashes are even.
        let hash = |number: u32| number.wrapping_mul(0x9e37_79b9) >> 1;
        let mut places: Vec<_> = (0..2_000)
            .map(|number| used.take_from_table(hash(number)))
            .map(|place| place.expect("a place"))
            .collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 2_000);
        places
            .iter()
            .for_each(|&place| used.give_back_to_table(place));
        assert_eq!(used.in_table, 0);
        assert!(used.table.iter().all(|&word| word == 0));
        for _ in 0..PROBES {
            assert!(used.take_from_table(8_190).is_some());
        }
        assert_eq!(used.take_from_table(8_190), None);
    }
}
