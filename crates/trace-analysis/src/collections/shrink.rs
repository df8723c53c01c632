//! Returns capacity that is no longer needed: thousands of threads can wait for one lock, and later
//! for another one.

use std::collections::VecDeque;
use std::hash::Hash;

use crate::collections::hash::{SeededMap, SeededSet};

/// Room that is kept in any case.
const SMALL: usize = 64;

/// Capacity beyond this multiple of the length is returned. That many items have come and gone since, so
/// the cost for each is small.
const SPARE: usize = 8;

/// Returns excess capacity of a queue. `true` if there was some.
#[inline]
pub(crate) fn shrink_queue<T>(queue: &mut VecDeque<T>) -> bool {
    let is_too_large = is_too_large(queue.capacity(), queue.len());
    if is_too_large {
        queue.shrink_to(queue.len() * 2);
    }
    is_too_large
}

/// Returns excess capacity of a map.
#[inline]
pub(crate) fn shrink_map<K: Eq + Hash, V>(map: &mut SeededMap<K, V>) {
    if is_too_large(map.capacity(), map.len()) {
        map.shrink_to(map.len() * 2);
    }
}

/// Returns excess capacity of a set.
#[inline]
pub(crate) fn shrink_set<T: Eq + Hash>(set: &mut SeededSet<T>) {
    if is_too_large(set.capacity(), set.len()) {
        set.shrink_to(set.len() * 2);
    }
}

fn is_too_large(capacity: usize, len: usize) -> bool {
    capacity > SMALL.max(len * SPARE)
}
