//! Galloping searches, for items that are usually near one end: threads that began to wait first
//! usually go on first.

use std::collections::VecDeque;

/// Counts the items for which `is_before` holds; they stand at the front, and there are at least
/// `known`. The cost grows with the distance from `known`.
pub(crate) fn count_from_front<T>(
    queue: &VecDeque<T>,
    known: usize,
    is_before: impl Fn(&T) -> bool,
) -> usize {
    let (mut low, mut step) = (known, 1);
    while low + step <= queue.len() && is_before(&queue[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(queue.len());
    count_between(queue, low, high, is_before)
}

/// Counts the same items. The cost grows with the distance from the back.
pub(crate) fn count_from_back<T>(queue: &VecDeque<T>, is_before: impl Fn(&T) -> bool) -> usize {
    count_back_from(queue, queue.len(), is_before)
}

/// Counts the same items. The cost grows with the distance from `near`.
pub(crate) fn count_near<T>(
    queue: &VecDeque<T>,
    near: usize,
    is_before: impl Fn(&T) -> bool,
) -> usize {
    let high = near.min(queue.len());
    if high == 0 || is_before(&queue[high - 1]) {
        return count_from_front(queue, high, is_before);
    }
    count_back_from(queue, high, is_before)
}

/// The same with a known upper bound of the count.
fn count_back_from<T>(
    queue: &VecDeque<T>,
    mut high: usize,
    is_before: impl Fn(&T) -> bool,
) -> usize {
    let mut step = 1;
    while step <= high && !is_before(&queue[high - step]) {
        high -= step;
        step *= 2;
    }
    let low = (high + 1).saturating_sub(step);
    count_between(queue, low, high, is_before)
}

/// Counts the same items, where bounds of their number are known.
pub(crate) fn count_between<T>(
    queue: &VecDeque<T>,
    mut low: usize,
    mut high: usize,
    is_before: impl Fn(&T) -> bool,
) -> usize {
    while low < high {
        let middle = low.midpoint(high);
        if is_before(&queue[middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Inserts an item after all for which `is_before` holds, as [`count_from_back`] counts.
#[inline]
pub(crate) fn insert_from_back<T>(
    queue: &mut VecDeque<T>,
    item: T,
    is_before: impl Fn(&T) -> bool,
) {
    match queue.back().is_none_or(&is_before) {
        true => queue.push_back(item),
        false => queue.insert(count_from_back(queue, is_before), item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_find_the_same() {
        for len in 0..40 {
            let queue: VecDeque<_> = (0..len).collect();
            for before in 0..=len {
                let is_before = |&number: &usize| number < before;
                assert_eq!(count_from_back(&queue, is_before), before);
                for known in 0..=before {
                    assert_eq!(count_from_front(&queue, known, is_before), before);
                }
                for near in 0..=len + 1 {
                    assert_eq!(count_near(&queue, near, is_before), before);
                }
            }
        }
    }
}
