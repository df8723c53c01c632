//! Grouping of items by thread.

use std::ops::Range;

use crate::model::entity::ThreadIndex;

/// A grouping of items by thread that reuses its memory.
#[derive(Debug)]
pub(crate) struct PerThread<T> {
    items: Vec<T>,
    /// The place of each thread's next item.
    places: Vec<u32>,
    /// The threads that have items, and where their items end.
    threads: Vec<(ThreadIndex, u32)>,
}

impl<T> Default for PerThread<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            places: Vec::new(),
            threads: Vec::new(),
        }
    }
}

/// Place of a thread without items.
const NONE: u32 = u32::MAX;

impl<T: Copy> PerThread<T> {
    /// Groups the items by thread, and keeps their order within each thread.
    pub(crate) fn group<'i>(
        &'i mut self,
        items: &[T],
        thread: impl Fn(&T) -> ThreadIndex,
    ) -> impl Iterator<Item = (ThreadIndex, &'i [T])> {
        let Self {
            items: grouped,
            places,
            threads,
        } = self;
        threads.clear();
        for item in items {
            let of_item = thread(item);
            let index = of_item.0 as usize;
            if places.len() <= index {
                places.resize(index + 1, NONE);
            }
            let count = &mut places[index];
            if *count == NONE {
                *count = 0;
                threads.push((of_item, 0));
            }
            *count += 1;
        }
        let mut end = 0;
        for (of_items, end_of_items) in threads.iter_mut() {
            let place = &mut places[of_items.0 as usize];
            let start = end;
            end += *place;
            (*place, *end_of_items) = (start, end);
        }
        grouped.clear();
        grouped.extend_from_slice(items);
        for item in items {
            let place = &mut places[thread(item).0 as usize];
            grouped[*place as usize] = *item;
            *place += 1;
        }
        for (of_items, _) in threads.iter() {
            places[of_items.0 as usize] = NONE;
        }
        let grouped: &[T] = grouped;
        let mut start = 0;
        threads.iter().map(move |&(thread, end)| {
            let of_thread: Range<usize> = start..end as usize;
            start = end as usize;
            (thread, &grouped[of_thread])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_items_as_they_came() {
        let mut by_thread = PerThread::default();
        for items in [
            &[(7, 'a'), (2, 'b'), (7, 'c'), (0, 'd'), (2, 'e')][..],
            &[(2, 'f')],
            &[],
        ] {
            let groups = by_thread.group(items, |&(thread, _)| ThreadIndex(thread));
            let mut count = 0;
            let mut seen = Vec::new();
            for (thread, group) in groups {
                let of_thread = items.iter().filter(|item| ThreadIndex(item.0) == thread);
                assert!(group.iter().eq(of_thread));
                assert!(!seen.contains(&thread));
                seen.push(thread);
                count += group.len();
            }
            assert_eq!(count, items.len());
        }
    }
}
