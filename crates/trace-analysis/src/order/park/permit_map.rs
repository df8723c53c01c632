//! A map whose keys are the permits of threads.

use std::collections::{BTreeMap, VecDeque};

use trace_format::{JavaThreadId, Permit};

use crate::collections::cached_map::CachedMap;

/// A permit that a thread was given.
pub(super) type Key = (JavaThreadId, Permit);

/// What is known of permits.
///
/// The JVM numbers the permits of each thread one after the other, and events come by the
/// buffer: many in a row for one thread, and in order. So a thread's permits have adjacent places,
/// and the next permit is next in memory. Only permits that lie far apart, or that ended threads
/// have left, are searched for.
#[derive(Debug)]
pub(super) struct PermitMap<V> {
    windows: CachedMap<JavaThreadId, Window<V>>,
    others: BTreeMap<Key, V>,
    len: usize,
    /// Places of a window for each permit in it.
    spread: usize,
    /// The capacity in places, including the overhead of windows. Threads come and go: the window
    /// of an ended thread need not be empty, nor need it fill the memory that it had.
    room: usize,
    /// With so much room, what is not needed is given back.
    max_room: usize,
}

/// Permits of one thread.
#[derive(Debug)]
struct Window<V> {
    /// Number of the first place: the first permit's number, unless the window is empty.
    first: u32,
    places: VecDeque<Option<(Permit, V)>>,
    len: usize,
    /// There may be permits of the thread that are not in the window.
    has_others: bool,
}

/// The last bits of a permit say how it was given; its number is before them.
const PERMIT_STEP: u32 = 8;

/// Places that a window may have in any case.
const SMALL: usize = 16;

/// A window with fewer permits is given up when memory is given back. So much is left of each
/// thread that has gone: in windows it would be everywhere in memory, and most of that be holes.
const MANY: usize = 8;

/// The overhead of a window, in places.
const WINDOW_ROOM: usize = 2;

/// Room that is kept in any case: three megabytes.
const SMALL_ROOM: usize = 1 << 16;

fn number(permit: Permit) -> u32 {
    permit.0 / PERMIT_STEP
}

impl<V> Default for Window<V> {
    fn default() -> Self {
        Self {
            first: 0,
            places: VecDeque::new(),
            len: 0,
            has_others: false,
        }
    }
}

impl<V> Window<V> {
    fn max_places(&self, spread: usize) -> usize {
        self.len * spread + SMALL
    }

    /// Returns the index of a permit's place, which is added if `spread` allows it.
    fn place(&mut self, permit: Permit, spread: usize) -> Option<usize> {
        let number = number(permit);
        let max_places = self.max_places(spread);
        if self.places.is_empty() {
            self.first = number;
        }
        if let Some(before) = self.first.checked_sub(number).filter(|&before| before > 0) {
            if self.places.len() + before as usize > max_places {
                return None;
            }
            for _ in 0..before {
                self.places.push_front(None);
            }
            self.first = number;
        }
        let index = (number - self.first) as usize;
        if index >= self.places.len() {
            if index >= max_places {
                return None;
            }
            self.places.resize_with(index + 1, || None);
        }
        let is_free = self.places[index]
            .as_ref()
            .is_none_or(|&(known, _)| known == permit);
        is_free.then_some(index)
    }

    fn take(&mut self, permit: Permit) -> Option<V> {
        let index = number(permit).checked_sub(self.first)? as usize;
        let place = self.places.get_mut(index)?;
        let (_, value) = place.take_if(|&mut (known, _)| known == permit)?;
        self.len -= 1;
        self.forget_first();
        Some(value)
    }

    /// Gives up the places before the first permit.
    fn forget_first(&mut self) {
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.first += 1;
        }
    }
}

impl<V> PermitMap<V> {
    /// With up to `spread` places for each permit.
    pub(super) fn new(spread: usize) -> Self {
        Self {
            windows: CachedMap::default(),
            others: BTreeMap::new(),
            len: 0,
            spread,
            room: 0,
            max_room: SMALL_ROOM,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, key: Key, value: V) -> Option<V> {
        if self.room >= self.max_room {
            self.give_back();
        }
        let (thread, permit) = key;
        let Self { others, room, .. } = self;
        let window = self.windows.get_or_insert_with(thread, || {
            *room += WINDOW_ROOM;
            Window {
                has_others: has_some(others, thread),
                ..Window::default()
            }
        });
        let mut before = None;
        if window.has_others {
            before = others.remove(&key);
            self.len -= usize::from(before.is_some());
        }
        let room_before = window.places.capacity();
        let place = window.place(permit, self.spread);
        *room += window.places.capacity() - room_before;
        match place {
            Some(index) => match window.places[index].replace((permit, value)) {
                Some((_, same)) => return Some(same),
                None => window.len += 1,
            },
            None => {
                window.has_others = true;
                others.insert(key, value);
            }
        }
        self.len += 1;
        before
    }

    /// Gives the memory back that is not needed. Comes again when there is twice as much.
    #[cold]
    fn give_back(&mut self) {
        let Self { others, room, .. } = self;
        *room = 0;
        self.windows.retain(|&thread, window| {
            if window.len < MANY {
                let places = window.places.drain(..).flatten();
                others.extend(places.map(|(permit, value)| ((thread, permit), value)));
                return false;
            }
            window.places.shrink_to_fit();
            *room += WINDOW_ROOM + window.places.capacity();
            true
        });
        self.windows.shrink_to_fit();
        self.max_room = 2 * self.room + SMALL_ROOM;
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<V> {
        let (thread, permit) = key;
        if let Some(window) = self.windows.get_mut(thread) {
            if let Some(value) = window.take(permit) {
                self.len -= 1;
                // Not before half of the permits that justified this number of places are gone.
                if window.places.len() > 2 * window.max_places(self.spread) {
                    let rest = std::mem::take(window).places.into_iter().flatten();
                    let rest = rest.map(|(permit, value)| ((thread, permit), value));
                    self.others.extend(rest);
                    window.has_others = true;
                }
                return Some(value);
            }
            if !window.has_others {
                return None;
            }
        }
        let value = self.others.remove(&key)?;
        self.len -= 1;
        if let Some(window) = self.windows.get_mut(thread) {
            window.has_others = has_some(&self.others, thread);
        }
        Some(value)
    }

    pub(super) fn clear(&mut self) {
        self.windows.clear();
        self.others.clear();
        self.len = 0;
        self.room = 0;
        self.max_room = SMALL_ROOM;
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        let windows = self.windows.values();
        let near = windows.flat_map(|window| window.places.iter().flatten());
        near.map(|(_, value)| value).chain(self.others.values())
    }

    /// Takes out the values that `is_wanted`, in no order.
    pub(super) fn extract_if(&mut self, is_wanted: impl Fn(&V) -> bool) -> Vec<V> {
        let mut found = Vec::new();
        for window in self.windows.values_mut() {
            for place in &mut window.places {
                if let Some((_, value)) = place.take_if(|(_, value)| is_wanted(value)) {
                    window.len -= 1;
                    found.push(value);
                }
            }
            window.forget_first();
        }
        for (key, value) in std::mem::take(&mut self.others) {
            if is_wanted(&value) {
                found.push(value);
            } else {
                self.others.insert(key, value);
            }
        }
        self.len -= found.len();
        found
    }
}

/// There is a permit of the thread.
fn has_some<V>(permits: &BTreeMap<Key, V>, thread: JavaThreadId) -> bool {
    let all = (thread, Permit(0))..=(thread, Permit(u32::MAX));
    permits.range(all).next().is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(
            operations in prop::collection::vec(
                (0..40_u8, 0..3_u64, prop_oneof![0..200_u32, any::<u32>()]),
                0..300,
            ),
            spread in 1..5_usize,
        ) {
            let mut map = PermitMap::new(spread);
            let mut model = BTreeMap::new();
            for (value, (operation, thread, permit)) in operations.into_iter().enumerate() {
                let key = (JavaThreadId(thread), Permit(permit));
                match operation {
                    0 => map.give_back(),
                    1..20 => prop_assert_eq!(map.remove(key), model.remove(&key)),
                    _ => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                }
                prop_assert_eq!(map.len(), model.len());
                let places = map.windows.values().map(|window| window.places.len());
                prop_assert!(places.sum::<usize>() <= 2 * (spread * model.len() + 3 * SMALL));
            }
            let mut found = map.extract_if(|value| value % 2 == 0);
            found.extend(map.values());
            let odd = model.values().filter(|&value| value % 2 == 1).count();
            prop_assert_eq!(map.extract_if(|_| true).len(), odd);
            prop_assert_eq!(map.len(), 0);
            found.sort_unstable();
            let mut expected: Vec<_> = model.into_values().collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    /// Each thread has many permits at once in its life, and one that it never consumes.
    #[test]
    fn threads_that_are_gone_take_no_memory() {
        const THREADS: u32 = 3_000;
        const PERMITS: u32 = 1_000;
        let mut map = PermitMap::new(8);
        let key = |thread: u32, number| (JavaThreadId(thread.into()), Permit(number * PERMIT_STEP));
        for thread in 0..THREADS {
            for number in 0..PERMITS {
                map.insert(key(thread, number), [0_u64; 4]);
            }
            for number in 0..PERMITS - 1 {
                assert!(map.remove(key(thread, number)).is_some());
            }
            let room: usize = map
                .windows
                .values()
                .map(|window| window.places.capacity())
                .sum();
            assert!(room <= map.room && map.room < map.max_room + 2 * PERMITS as usize);
            assert!(map.max_room <= SMALL_ROOM + 4 * PERMITS as usize);
        }
        assert_eq!(map.len(), THREADS as usize);
        assert_eq!(map.values().count(), THREADS as usize);
    }

    #[test]
    fn runs_stay_in_windows() {
        let mut map = PermitMap::new(2);
        for number in 0..10_000 {
            map.insert((JavaThreadId(1), Permit(number * PERMIT_STEP)), number);
        }
        assert!(map.others.is_empty());
        for number in 0..10_000 {
            let key = (JavaThreadId(1), Permit(number * PERMIT_STEP));
            assert_eq!(map.remove(key), Some(number));
        }
        assert!(map.windows.values().all(|window| window.places.is_empty()));
    }
}
