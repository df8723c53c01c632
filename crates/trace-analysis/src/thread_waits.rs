//! The waits of one thread, by when they began.

use std::collections::{BTreeMap, VecDeque};

use trace_format::LockId;

use crate::contention::Wait;

/// By begin; a damaged trace may have a thread wait twice at once.
pub(crate) type WaitKey = (u64, LockId, u64);

/// The key of a wait.
pub(crate) fn key(wait: &Wait) -> WaitKey {
    (wait.start_ns, wait.id.lock, wait.id.number)
}

/// What is known of the waits of one thread. A thread waits for one thing after the other, and that
/// is nearly always the order in which waits come and are forgotten: so they lie one behind the
/// other. Those that come late are kept apart.
#[derive(Debug)]
pub(crate) struct ThreadWaits<W> {
    /// Of these some in the middle may be forgotten.
    in_order: VecDeque<(WaitKey, Option<W>)>,
    late: BTreeMap<WaitKey, W>,
    /// What the thread did until then is forgotten.
    pub(crate) forgotten_until_ns: u64,
}

impl<W> Default for ThreadWaits<W> {
    fn default() -> Self {
        Self {
            in_order: VecDeque::new(),
            late: BTreeMap::new(),
            forgotten_until_ns: 0,
        }
    }
}

impl<W> ThreadWaits<W> {
    /// Adds a wait that is not there.
    pub(crate) fn add(&mut self, key: WaitKey, wait: W) {
        if self.in_order.back().is_some_and(|(last, _)| *last >= key) {
            self.late.insert(key, wait);
        } else {
            self.in_order.push_back((key, Some(wait)));
        }
    }

    /// The wait with that key.
    pub(crate) fn get_mut(&mut self, key: &WaitKey) -> Option<&mut W> {
        match self.place(key) {
            Some(place) => self.in_order[place].1.as_mut(),
            None => self.late.get_mut(key),
        }
    }

    /// Forgets the wait with that key.
    pub(crate) fn remove(&mut self, key: &WaitKey) -> Option<W> {
        let Some(place) = self.place(key) else {
            return self.late.remove(key);
        };
        let removed = self.in_order[place].1.take();
        while self
            .in_order
            .front()
            .is_some_and(|(_, wait)| wait.is_none())
        {
            self.in_order.pop_front();
        }
        removed
    }

    fn place(&self, key: &WaitKey) -> Option<usize> {
        let place = self.in_order.binary_search_by_key(key, |(key, _)| *key);
        place.ok()
    }

    /// The wait in which the thread may have been at the begin of a time, and those that began
    /// within it, with their begins.
    pub(crate) fn during(&self, start_ns: u64, end_ns: u64) -> impl Iterator<Item = (u64, &W)> {
        let first = self.in_order.partition_point(|(key, _)| key.0 <= start_ns);
        let end = self.in_order.partition_point(|(key, _)| key.0 < end_ns);
        // One that is forgotten at the begin may hide one before it that is not: the thread waited
        // for both at once, as it can in a damaged trace only.
        let in_order = self.in_order.range(first.saturating_sub(1)..end.max(first));
        let in_order = in_order.filter_map(|(key, wait)| Some((*key, wait.as_ref()?)));
        let before = self.late.range(..=last_at(start_ns)).next_back();
        let inside = self
            .late
            .range(first_after(start_ns)..first_at(end_ns).max(first_after(start_ns)));
        let late = before.into_iter().chain(inside);
        merge(in_order, late.map(|(key, wait)| (*key, wait)))
    }
}

/// Two lists in the order of their keys, as one.
fn merge<'w, W: 'w>(
    one: impl Iterator<Item = (WaitKey, &'w W)>,
    other: impl Iterator<Item = (WaitKey, &'w W)>,
) -> impl Iterator<Item = (u64, &'w W)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || {
        let takes_one = match (one.peek(), other.peek()) {
            (Some((key, _)), Some((other, _))) => key <= other,
            (first, _) => first.is_some(),
        };
        let next = if takes_one { one.next() } else { other.next() };
        next.map(|((begin_ns, ..), wait)| (begin_ns, wait))
    })
}

/// Above all waits that begin at that time.
fn last_at(time_ns: u64) -> WaitKey {
    (time_ns, LockId(u64::MAX), u64::MAX)
}

/// Below them.
fn first_at(time_ns: u64) -> WaitKey {
    (time_ns, LockId(0), 0)
}

/// Beyond all of them.
fn first_after(time_ns: u64) -> WaitKey {
    first_at(time_ns.saturating_add(1))
}
