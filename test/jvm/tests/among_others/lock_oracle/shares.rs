//! The shares of the blocked time by the trace's blame, and the truth of that.

use std::fmt;

use jvm_tests::{Contention, Wait};

use super::notes::{Hold, Notes};

/// The time that threads were blocked, by the verdict on the blame, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    blocked_ns: i64,
    /// Blamed on a thread and method that had the lock.
    right_ns: i64,
    /// Blamed on a thread that had the lock, without a method.
    right_thread_ns: i64,
    /// The same, though some thread was woken while it had the lock. A release unparks nobody then,
    /// unless the woken thread has run and queued up again; so the next one that does may belong to
    /// a later hold.
    right_thread_at_waking_ns: i64,
    /// Blamed on a thread or method that did not have the lock, while another one
    /// had it.
    wrong_ns: i64,
    /// Blamed on somebody while nobody had the lock. A thread that acquires it
    /// without parking writes no event; it is taken to have it since it was free,
    /// which may be long before if the thread that was woken does not run.
    early_ns: i64,
    /// Blamed on nobody, though one thread had the lock for itself, while some
    /// thread had been woken but did not run yet.
    missed_at_waking_ns: i64,
    /// Blamed on nobody at another time, though one thread had the lock for itself.
    missed_ns: i64,
    /// Blamed on nobody while readers shared the lock.
    readers_ns: i64,
    /// Blamed on nobody, and nobody had the lock.
    free_ns: i64,
}

impl Shares {
    pub(crate) fn of(notes: &Notes, waits: &[Wait]) -> Shares {
        let mut shares = Shares::default();
        for part in waits.iter().flat_map(|wait| &wait.parts) {
            let begin_ns = notes.clock.program_time_ns(part.start_ns);
            let end_ns = notes
                .clock
                .program_time_ns(part.start_ns + part.duration_ns);
            let holds: Vec<_> = notes
                .holds
                .iter()
                .filter(|hold| hold.wanted_ns < end_ns && begin_ns < hold.left_ns)
                .collect();
            shares.blocked_ns += end_ns - begin_ns;
            for slice in slices(&holds, notes, begin_ns, end_ns) {
                *shares.class(part, &holds, slice, notes) += slice.1 - slice.0;
            }
        }
        shares
    }

    /// Returns the verdict on a slice of a part.
    fn class(
        &mut self,
        part: &Contention,
        holds: &[&Hold],
        slice: (i64, i64),
        notes: &Notes,
    ) -> &mut i64 {
        let mut had = holds.iter().filter(|hold| hold.had(slice));
        let Some(owner) = part.owner_name() else {
            return match had.next() {
                None => &mut self.free_ns,
                Some(hold) if hold.shared => &mut self.readers_ns,
                Some(_) if !notes.wakings_between(slice.0, slice.1).is_empty() => {
                    &mut self.missed_at_waking_ns
                }
                Some(_) => &mut self.missed_ns,
            };
        };
        let of_owner = holds.iter().filter(|hold| {
            hold.thread == owner && method(part).is_none_or(|method| method == hold.method)
        });
        // It may have the lock before its note says so, and after, if others let it.
        let may_have = |hold: &&&Hold| {
            hold.had(slice)
                || hold.may_have_had(slice) && had.clone().all(|other| other.shared && hold.shared)
        };
        if let Some(hold) = of_owner.clone().find(may_have) {
            let wakings = notes.wakings_between(hold.acquired_ns, hold.released_ns);
            return match method(part) {
                Some(_) => &mut self.right_ns,
                None if wakings.is_empty() => &mut self.right_thread_ns,
                None => &mut self.right_thread_at_waking_ns,
            };
        }
        match had.next() {
            Some(_) => &mut self.wrong_ns,
            None => &mut self.early_ns,
        }
    }

    /// Returns the share of the time in which the owner can be known that is blamed on the right
    /// thread and method. That is all time in which one thread had the lock for itself, except
    /// where the trace misses it, or has no method, at wakings.
    pub(crate) fn right_share(&self) -> f64 {
        let other_ns = self.right_thread_ns + self.wrong_ns + self.missed_ns;
        self.right_ns as f64 / (self.right_ns + other_ns) as f64
    }

    /// Returns the share of all time that is blamed on a wrong thread or method, or on a thread
    /// before it had the lock.
    pub(crate) fn wrong_share(&self) -> f64 {
        (self.wrong_ns + self.early_ns) as f64 / self.blocked_ns as f64
    }
}

/// Some time, cut where anything begins or ends.
fn slices(holds: &[&Hold], notes: &Notes, begin_ns: i64, end_ns: i64) -> Vec<(i64, i64)> {
    let wakings = notes.wakings_between(begin_ns, end_ns).iter();
    let mut cuts: Vec<_> = holds.iter().flat_map(|hold| hold.times()).collect();
    cuts.extend(wakings.flat_map(|(from_ns, to_ns)| [from_ns, to_ns]));
    cuts.retain(|time_ns| (begin_ns..end_ns).contains(time_ns));
    cuts.extend([begin_ns, end_ns]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The method of the program in which the owner released the lock.
fn method(part: &Contention) -> Option<&str> {
    let mut frames = part.owner_frames().iter();
    let frame = frames.find(|frame| frame.class.starts_with("scenarios."))?;
    Some(&frame.method)
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ms blocked", self.blocked_ns as f64 / 1e6)?;
        for (name, ns) in [
            ("right", self.right_ns),
            ("right without method", self.right_thread_ns),
            (
                "right without method at waking",
                self.right_thread_at_waking_ns,
            ),
            ("wrong", self.wrong_ns),
            ("early", self.early_ns),
            ("missed at waking", self.missed_at_waking_ns),
            ("missed", self.missed_ns),
            ("readers", self.readers_ns),
            ("free", self.free_ns),
        ] {
            let percent = 100.0 * ns as f64 / self.blocked_ns as f64;
            write!(f, ", {percent:.2} % {name}")?;
        }
        Ok(())
    }
}
