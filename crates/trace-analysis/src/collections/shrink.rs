//! Room that was needed once, and is given back: thousands of threads can wait for one lock, and
//! later for another one.

use std::collections::VecDeque;
use std::hash::Hash;

use crate::collections::hash::{SeededMap, SeededSet};

/// Room that is kept in any case.
const SMALL: usize = 64;

/// Room for so many times what there is, is given back. As much has come and gone since then, so
/// that it costs little for each.
const SPARE: usize = 8;

/// Gives back what the queue does not need any more. `true` if there was something.
#[inline]
pub(crate) fn shrink_queue<T>(queue: &mut VecDeque<T>) -> bool {
    let is_too_large = is_too_large(queue.capacity(), queue.len());
    if is_too_large {
        queue.shrink_to(queue.len() * 2);
    }
    is_too_large
}

/// The same of a map.
#[inline]
pub(crate) fn shrink_map<K: Eq + Hash, V>(map: &mut SeededMap<K, V>) {
    if is_too_large(map.capacity(), map.len()) {
        map.shrink_to(map.len() * 2);
    }
}

/// The same of a set.
#[inline]
pub(crate) fn shrink_set<T: Eq + Hash>(set: &mut SeededSet<T>) {
    if is_too_large(set.capacity(), set.len()) {
        set.shrink_to(set.len() * 2);
    }
}

fn is_too_large(capacity: usize, len: usize) -> bool {
    capacity > SMALL.max(len * SPARE)
}
