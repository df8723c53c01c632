//! Notifications of threads in `Object.wait`, until all of these are awake.

use std::collections::VecDeque;

use trace_format::Permit;

use crate::order::park::event::Unpark;
use crate::order::park::permits::Waker;

/// Number of notifications remembered: those with lost ends stay until then.
const MAX_NOTIFICATIONS: usize = 1 << 12;

/// The notifications of a domain that threads have yet to wake up of, in the order of their
/// numbers.
#[derive(Debug, Default)]
pub(super) struct Notifications(VecDeque<Notification>);

#[derive(Clone, Copy, Debug)]
struct Notification {
    number: u64,
    waker: Waker,
    /// Threads that have not woken up yet.
    asleep: u32,
}

impl Notifications {
    /// Adds the notification with this number.
    pub(super) fn add(&mut self, number: u64, unpark: &Unpark) {
        if self.0.len() >= MAX_NOTIFICATIONS {
            self.0.pop_front();
        }
        let takes_all = unpark.target.is_none();
        self.0.push_back(Notification {
            number,
            waker: Waker {
                thread: unpark.thread,
                time_ns: unpark.time_ns,
                chain: unpark.chain,
                signalled: None.into(),
            },
            asleep: if takes_all { unpark.waiters } else { 1 },
        });
    }

    /// Returns who gave the permit with which a thread woke up, at this number.
    pub(super) fn take(&mut self, number: u64, permit: Permit) -> Option<Waker> {
        if permit.is_none() {
            return None;
        }
        // Both are of one domain, and less than 2³² apart.
        let distance = (number as u32).wrapping_sub(permit.0);
        let notified = number.checked_sub(distance.into())?;
        let found = self.0.binary_search_by_key(&notified, |entry| entry.number);
        let entry = self.0.get_mut(found.ok()?)?;
        entry.asleep = entry.asleep.saturating_sub(1);
        let waker = entry.waker;
        while self.0.front().is_some_and(|entry| entry.asleep == 0) {
            self.0.pop_front();
        }
        Some(waker)
    }
}
