//! Items that are sent to another thread together.

use std::sync::mpsc::{Receiver, Sender, channel};

/// Collects items, in memory that the other thread returns after use.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    items: Vec<T>,
    /// Batches to be filled again.
    empty: Receiver<Vec<T>>,
}

/// The number of items in a batch. With fewer, threads wake each other more often than they work.
const SIZE: usize = 8192;

/// Batches that may wait for a thread.
pub(crate) const MAX_WAITING: usize = 4;

impl<T> Batch<T> {
    /// An empty one, and where those go that the other thread is done with.
    pub(crate) fn new() -> (Self, Sender<Vec<T>>) {
        let (done, empty) = channel();
        let items = Vec::with_capacity(SIZE);
        (Self { items, empty }, done)
    }

    /// Adds an item. Returns whether the batch is to be taken.
    #[inline]
    pub(crate) fn push(&mut self, item: T) -> bool {
        self.items.push(item);
        self.items.len() >= SIZE
    }

    /// Takes the items, if there are any.
    pub(crate) fn take(&mut self) -> Option<Vec<T>> {
        if self.items.is_empty() {
            return None;
        }
        let empty = self.empty.try_recv();
        let empty = empty.unwrap_or_else(|_| Vec::with_capacity(SIZE));
        Some(std::mem::replace(&mut self.items, empty))
    }
}
