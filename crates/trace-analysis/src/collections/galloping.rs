//! Searches of what is mostly near one end: those who began to wait first mostly go on first.

use std::collections::VecDeque;

/// How many there are at the front that `is_before` finds, which are all those that it finds; at
/// least `known`. Costs the more the further behind `known` that is.
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

/// The same. Costs the more the further from the back that is.
pub(crate) fn count_from_back<T>(queue: &VecDeque<T>, is_before: impl Fn(&T) -> bool) -> usize {
    count_back_from(queue, queue.len(), is_before)
}

/// The same. Costs the more the further from `near` that is.
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

/// The same where it is known that there are no more than so many.
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

/// The same where it is known between which numbers it is.
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

/// Puts an item behind all that `is_before` finds, as [`count_from_back`] counts.
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
