//! How much of the blocked time the trace blames on whom, and how much of that is
//! true.

use std::fmt;

use jvm_tests::{Contention, Wait};

use crate::notes::{Notes, Tenure};

/// What becomes of the time that threads were blocked, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) blocked_ns: i64,
    /// Blamed on the thread and method that had the lock.
    pub(crate) right_ns: i64,
    /// Blamed on the thread that had the lock, without a method.
    pub(crate) right_thread_ns: i64,
    /// Blamed on a thread or method that did not have the lock.
    pub(crate) wrong_ns: i64,
    /// Blamed on nobody, while some thread had been woken but did not run yet. The
    /// trace cannot tell who took the lock before that thread.
    pub(crate) missed_at_waking_ns: i64,
    /// Blamed on nobody at another time, though a thread had the lock.
    pub(crate) missed_ns: i64,
    /// Blamed on nobody, and nobody had the lock.
    pub(crate) free_ns: i64,
}

impl Shares {
    pub(crate) fn of(notes: &Notes, waits: &[Wait]) -> Shares {
        let mut shares = Shares::default();
        for part in waits.iter().flat_map(|wait| &wait.parts) {
            shares.add(part, notes);
        }
        shares
    }

    fn add(&mut self, part: &Contention, notes: &Notes) {
        let begin_ns = notes.clock.program_time_ns(part.start_ns);
        let end_ns = begin_ns + i64::try_from(part.duration_ns).expect("less than 292 years");
        self.blocked_ns += end_ns - begin_ns;
        let mut had_ns = 0;
        for (tenure, free_ns, next_ns) in overlapping(&notes.tenures, begin_ns, end_ns) {
            let from_ns = tenure.acquired_ns.clamp(begin_ns, end_ns);
            let to_ns = tenure.released_ns.clamp(from_ns, end_ns);
            if part.owner_name().is_none() {
                had_ns += to_ns - from_ns;
                let at_waking_ns = shared_ns(&notes.wakings, from_ns, to_ns);
                self.missed_at_waking_ns += at_waking_ns;
                self.missed_ns += to_ns - from_ns - at_waking_ns;
            } else if is_owner(part, tenure) {
                // It may have had the lock before its note says so, and after.
                let from_ns = tenure.wanted_ns.max(free_ns).clamp(begin_ns, from_ns);
                let to_ns = tenure.left_ns.min(next_ns).clamp(to_ns, end_ns);
                had_ns += to_ns - from_ns;
                *match method(part) {
                    Some(_) => &mut self.right_ns,
                    None => &mut self.right_thread_ns,
                } += to_ns - from_ns;
            }
        }
        *match part.owner_name() {
            None => &mut self.free_ns,
            Some(_) => &mut self.wrong_ns,
        } += end_ns - begin_ns - had_ns;
    }

    /// How much of the time that the trace could know of is blamed on the right
    /// thread and method.
    pub(crate) fn right_share(&self) -> f64 {
        let known_ns = self.blocked_ns - self.free_ns - self.missed_at_waking_ns;
        self.right_ns as f64 / known_ns as f64
    }

    /// How much of all time is blamed on a wrong thread or method.
    pub(crate) fn wrong_share(&self) -> f64 {
        self.wrong_ns as f64 / self.blocked_ns as f64
    }
}

/// The tenures that may overlap with some time, with the end of the one before and
/// the begin of the one after.
fn overlapping(
    tenures: &[Tenure],
    begin_ns: i64,
    end_ns: i64,
) -> impl Iterator<Item = (&Tenure, i64, i64)> {
    let first = tenures.partition_point(|tenure| tenure.released_ns <= begin_ns);
    // The thread before may not have left yet.
    let numbers = first.saturating_sub(1)..tenures.len();
    numbers
        .map(move |number| {
            let before = number.checked_sub(1).map(|before| &tenures[before]);
            let next = tenures.get(number + 1);
            let free_ns = before.map_or(i64::MIN, |tenure| tenure.released_ns);
            let next_ns = next.map_or(i64::MAX, |tenure| tenure.acquired_ns);
            (&tenures[number], free_ns, next_ns)
        })
        .take_while(move |(_, free_ns, _)| *free_ns < end_ns)
}

fn is_owner(part: &Contention, tenure: &Tenure) -> bool {
    part.owner_name() == Some(&tenure.thread)
        && method(part).is_none_or(|method| method == tenure.method)
}

/// The method of the program in which the owner released the lock.
fn method(part: &Contention) -> Option<&str> {
    let mut frames = part.owner_frames().iter();
    let frame = frames.find(|frame| frame.class.starts_with("scenarios."))?;
    Some(&frame.method)
}

/// How much of some time lies in spans.
fn shared_ns(spans: &[(i64, i64)], begin_ns: i64, end_ns: i64) -> i64 {
    let first = spans.partition_point(|(_, to_ns)| *to_ns <= begin_ns);
    spans[first..]
        .iter()
        .take_while(|(from_ns, _)| *from_ns < end_ns)
        .map(|(from_ns, to_ns)| to_ns.min(&end_ns) - from_ns.max(&begin_ns))
        .sum()
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ms blocked", self.blocked_ns as f64 / 1e6)?;
        for (name, ns) in [
            ("right", self.right_ns),
            ("right without method", self.right_thread_ns),
            ("wrong", self.wrong_ns),
            ("missed at waking", self.missed_at_waking_ns),
            ("missed", self.missed_ns),
            ("free", self.free_ns),
        ] {
            let percent = 100.0 * ns as f64 / self.blocked_ns as f64;
            write!(f, ", {percent:.2} % {name}")?;
        }
        write!(
            f,
            "; {:.2} % right of what can be known",
            100.0 * self.right_share()
        )
    }
}
