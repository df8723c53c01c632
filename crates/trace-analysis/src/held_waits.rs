//! Waits that are held back, in the order of their ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::contention::{Wait, WaitId};

/// Waits that are taken in the order in which they ended. They are large, so they stay in their
/// places until then, and only these are put in order.
#[derive(Debug, Default)]
pub(crate) struct HeldWaits {
    /// By end and begin.
    order: BinaryHeap<Reverse<(u64, u64, WaitId, usize)>>,
    places: Vec<Option<Wait>>,
    free: Vec<usize>,
}

impl HeldWaits {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Adds a wait, and says in which place it is until it is taken.
    pub(crate) fn add(&mut self, wait: Wait) -> usize {
        let end_ns = wait.start_ns + wait.duration_ns;
        let (start_ns, id) = (wait.start_ns, wait.id);
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place] = Some(wait);
                place
            }
            None => {
                self.places.push(Some(wait));
                self.places.len() - 1
            }
        };
        self.order.push(Reverse((end_ns, start_ns, id, place)));
        place
    }

    /// The wait in a place.
    pub(crate) fn get(&self, place: usize) -> Option<&Wait> {
        self.places.get(place)?.as_ref()
    }

    /// The wait that ended first.
    pub(crate) fn take_first(&mut self) -> Option<Wait> {
        let Reverse((.., place)) = self.order.pop()?;
        self.free.push(place);
        self.places[place].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(number: u64, end_ns: u64) -> Wait {
        let mut wait = Wait::blank();
        wait.id.number = number;
        wait.duration_ns = end_ns;
        wait
    }

    #[test]
    fn who_ended_first_comes_first_and_leaves_a_place() {
        let mut held = HeldWaits::default();
        let places = [(1, 30), (2, 10), (3, 20)].map(|(number, end)| held.add(wait(number, end)));
        assert_eq!(places, [0, 1, 2]);
        assert_eq!(held.take_first().map(|wait| wait.id.number), Some(2));
        assert!(held.get(1).is_none());

        assert_eq!(held.add(wait(4, 5)), 1);
        assert_eq!(held.get(1).map(|wait| wait.id.number), Some(4));
        let left = std::iter::from_fn(|| held.take_first());
        let left: Vec<_> = left.map(|wait| wait.id.number).collect();
        assert_eq!(left, [4, 3, 1]);
        assert_eq!(held.len(), 0);
    }
}
