//! What the analysis may say about a simulated program, judged by what happened
//! and not by the events.

use std::collections::BTreeSet;

use proptest::prelude::*;
use trace_format::{
    ChainId, Event, ForwardRef, ForwardResolved, LockDescription, LockId, ThreadId,
};

use crate::found::{Analyzed, FoundWait, Part};
use crate::history::{History, Hold, OpenWait, TrueWait};

/// Numbers and references of the events that arrived.
pub(crate) struct Known {
    numbers: BTreeSet<(LockId, u64)>,
    /// Numbers that are known to be lost, and by whom.
    listed: BTreeSet<(LockId, u64)>,
    resolved: BTreeSet<ForwardRef>,
    described: BTreeSet<LockId>,
    /// The analysis had the memory to wait for all of them.
    pub(crate) all_considered: bool,
}

impl Known {
    pub(crate) fn new(events: &[(ThreadId, Event<'_>)]) -> Self {
        let mut known = Self {
            numbers: BTreeSet::new(),
            listed: BTreeSet::new(),
            resolved: BTreeSet::new(),
            described: BTreeSet::new(),
            all_considered: true,
        };
        for (_, event) in events {
            match (event, event.lock_and_sequence()) {
                (Event::LostNumbers(_), Some(number)) => {
                    known.listed.insert(number);
                }
                (Event::ForwardResolved(ForwardResolved { forward_ref, .. }), _) => {
                    known.resolved.insert(*forward_ref);
                }
                (_, Some(number)) => {
                    known.numbers.insert(number);
                    if let Event::LockDescription(LockDescription { lock, .. }) = *event {
                        known.described.insert(lock);
                    }
                }
                _ => {}
            }
        }
        known
    }

    fn has(&self, lock: LockId, number: u64) -> bool {
        self.numbers.contains(&(lock, number))
    }

    /// The thread may have been between two waits within a hold that ended with `number`,
    /// after all that is known `since`: the end of one wait and the start of the other are lost.
    fn may_not_wait(&self, first: &TrueWait, last: &TrueWait, since: u64, number: u64) -> bool {
        let lost = |number: &u64| {
            let number = (first.lock, *number);
            !self.numbers.contains(&number) && !self.listed.contains(&number)
        };
        let ended = (first.enter..number).find(lost);
        ended.is_some_and(|ended| (since.max(ended + 1)..last.entered).any(|at| lost(&at)))
    }

    fn lacks_one_of(&self, lock: LockId, mut numbers: std::ops::Range<u64>) -> bool {
        numbers.any(|number| !self.has(lock, number))
    }
}

/// The waits and who is to blame for them, where nobody can act within a step:
/// then every release of a monitor that somebody waits for is seen. Where exits say
/// for how long the monitor was held, the parts are the holds, and nothing else.
pub(crate) fn waits(history: &History, known: &Known) -> Vec<FoundWait> {
    let nobody = match history.reports_holds {
        true => "free",
        false => "handoff",
    };
    let found = history.waits.iter().map(|wait| {
        let mut parts: Vec<Part> = Vec::new();
        let mut at_ns = wait.start_ns;
        let mut end_part = |end_ns: u64, owner| {
            if end_ns > at_ns {
                let start_ns = at_ns;
                parts.push(Part {
                    start_ns,
                    end_ns,
                    owner,
                });
                at_ns = end_ns;
            }
        };
        for hold in holds_during(history, wait.object, wait.start_ns, wait.end_ns) {
            // A thread that does not block says nothing when it acquires the
            // monitor: without its hold, it is taken to have had it since the last
            // release.
            if history.reports_holds || hold.entered.is_some() {
                end_part(hold.start_ns, Err(nobody));
            }
            end_part(
                hold.end_ns,
                Ok((name(hold.thread), owner_method(hold, known))),
            );
        }
        end_part(wait.end_ns, Err(nobody));
        FoundWait {
            thread: name(wait.thread),
            entry: entry(wait),
            method: method(wait.chain),
            lock: lock(wait, known),
            start_ns: wait.start_ns,
            end_ns: wait.end_ns,
            end: "acquired",
            safepoint_ns: wait.safepoint_ns,
            barging_holds: barging_holds(history, wait),
            parts,
            holder: None,
        }
    });
    found.collect()
}

/// Whatever the JVM's races hide and whatever gets lost: each wait happened, who
/// is blamed held the lock, and who is not blamed could not be known.
pub(crate) fn assert_true(
    analyzed: &Analyzed,
    history: &History,
    known: &Known,
) -> Result<(), TestCaseError> {
    let mut found = BTreeSet::new();
    for wait in &analyzed.waits {
        let truth = Truth::of(wait, history)
            .ok_or_else(|| TestCaseError::fail(format!("did not happen: {wait}")))?;
        truth.assert_wait(wait, known)?;
        for part in &wait.parts {
            truth.assert_part(part, wait, known)?;
        }
        truth.assert_owners_named(wait, known)?;
        found.insert((truth.last.lock, truth.last.entered));
    }
    for wait in &history.waits {
        let determined = known.has(wait.lock, wait.enter) && known.has(wait.lock, wait.entered);
        if determined && known.all_considered {
            prop_assert!(
                found.contains(&(wait.lock, wait.entered)),
                "not found: {:?}",
                wait
            );
        }
    }
    Ok(())
}

/// What happened during a wait that the analysis found.
struct Truth<'a> {
    history: &'a History,
    first: &'a TrueWait,
    /// The same wait, or a later one whose start is lost like the end of the
    /// first.
    last: &'a TrueWait,
}

impl<'a> Truth<'a> {
    fn of(wait: &FoundWait, history: &'a History) -> Option<Self> {
        let mut waits = history
            .waits
            .iter()
            .filter(|truth| name(truth.thread) == wait.thread);
        let first = waits
            .clone()
            .find(|truth| truth.start_ns == wait.start_ns)?;
        let last = waits.find(|truth| truth.end_ns == wait.end_ns)?;
        (first.lock == last.lock).then_some(Self {
            history,
            first,
            last,
        })
    }

    fn assert_wait(&self, wait: &FoundWait, known: &Known) -> Result<(), TestCaseError> {
        prop_assert_eq!(&wait.method, &method(self.first.chain), "{}", wait);
        prop_assert_eq!(wait.entry, entry(self.first), "{}", wait);
        if known.all_considered {
            prop_assert_eq!(&wait.lock, &lock(self.first, known), "{}", wait);
        }
        prop_assert_eq!(wait.safepoint_ns, self.last.safepoint_ns, "{}", wait);
        let during = TrueWait {
            end_ns: self.last.end_ns,
            ..*self.first
        };
        let barging_holds = barging_holds(self.history, &during);
        prop_assert!(wait.barging_holds <= barging_holds, "barging: {}", wait);
        if self.first.enter == self.last.enter || !known.all_considered {
            return Ok(());
        }
        // Two waits look like one only if nothing says that the thread went on,
        // and the time between them has no owner.
        for number in [self.first.entered, self.last.enter] {
            let number = (self.first.lock, number);
            prop_assert!(!known.numbers.contains(&number), "two waits: {}", wait);
            prop_assert!(!known.listed.contains(&number), "two waits: {}", wait);
        }
        // An acquisition takes its time before its number.
        let later = self
            .history
            .waits
            .iter()
            .filter(|other| other.lock == self.last.lock && other.entered > self.last.enter);
        let acquired_ns = later.map(|other| other.end_ns).min();
        let to_ns = acquired_ns.map_or(self.last.start_ns, |ns| ns.min(self.last.start_ns));
        let from_ns = self.first.end_ns;
        let mut between = wait
            .parts
            .iter()
            .filter(|part| part.start_ns < to_ns && part.end_ns > from_ns);
        prop_assert!(
            between.all(|part| part.owner == Err("lost")),
            "two waits: {}",
            wait
        );
        Ok(())
    }

    fn assert_part(
        &self,
        part: &Part,
        wait: &FoundWait,
        known: &Known,
    ) -> Result<(), TestCaseError> {
        let mut holds = holds_during(self.history, self.first.object, part.start_ns, part.end_ns)
            .filter(|hold| name(hold.thread) != wait.thread || hold.end_ns <= self.first.end_ns);
        match &part.owner {
            Ok((thread, method)) => {
                let blamed = self
                    .exits_during(wait)
                    .find(|hold| hold.seen_end_ns() == part.end_ns && name(hold.thread) == *thread);
                let Some(blamed) = blamed else {
                    return Err(TestCaseError::fail(format!(
                        "{thread} released nothing: {wait}"
                    )));
                };
                prop_assert_ne!(thread, &wait.thread, "blamed on itself: {}", wait);
                prop_assert_eq!(method, &owner_method(blamed, known), "{}", wait);
                if blamed
                    .entered
                    .is_some_and(|entered| entered > self.first.enter)
                {
                    prop_assert!(part.start_ns >= blamed.start_ns, "too early: {}", wait);
                }
                // With its hold, nobody is blamed for a moment more.
                prop_assert!(
                    !self.history.reports_holds || part.start_ns >= blamed.start_ns,
                    "it did not have the lock yet: {}",
                    wait
                );
                // Others held it only if their release said nothing.
                let mut others = holds.filter(|hold| hold.thread != blamed.thread);
                prop_assert!(
                    others.all(|hold| hold.exit.is_none()),
                    "held by others: {}",
                    wait
                );
            }
            Err("free") => {
                prop_assert!(self.history.reports_holds, "no exit reports it: {}", wait);
                prop_assert!(holds.next().is_none(), "it was held: {}", wait);
            }
            Err("handoff") => {
                prop_assert!(
                    holds.all(|hold| hold.exit.is_none()),
                    "it was held: {}",
                    wait
                );
            }
            Err("no-exit") => {
                // Or the lock was released already, but for the last step, when
                // the wait began: a thread that released it since had it later, if only briefly.
                let is_later =
                    |hold: &Hold| hold.seen_end_ns() > part.end_ns || hold.start_ns >= part.end_ns;
                let unseen = holds.any(|hold| hold.exit.is_none());
                let released_before =
                    part.start_ns == wait.start_ns && self.exits_during(wait).all(is_later);
                prop_assert!(unseen || released_before, "an exit was seen: {}", wait);
            }
            Err("lost") => {
                let numbers = self.first.enter..self.last.entered;
                let lost = known.lacks_one_of(self.first.lock, numbers);
                prop_assert!(lost || !known.all_considered, "nothing is lost: {}", wait);
            }
            Err(reason) => return Err(TestCaseError::fail(format!("{reason}: {wait}"))),
        }
        Ok(())
    }

    /// Asserts that the threads known to have held the lock are blamed.
    fn assert_owners_named(&self, wait: &FoundWait, known: &Known) -> Result<(), TestCaseError> {
        let lock = self.first.lock;
        for hold in self.exits_during(wait) {
            let Some(exit) = hold.exit.filter(|exit| known.has(lock, exit.sequence)) else {
                continue;
            };
            // The last thing known before.
            let boundary = self.boundary_before(exit.sequence, known);
            let continues = match boundary {
                Some(Boundary {
                    entered_by: Some(thread),
                    ..
                }) => thread == hold.thread,
                _ => true,
            };
            let since = boundary.map_or(self.first.enter, |boundary| boundary.number);
            let determined = continues && !known.lacks_one_of(lock, since..exit.sequence);
            // The hold says by itself who had the lock.
            let reports_since = matches!(exit.hold, trace_format::Hold::For { .. });
            let determined = (determined || reports_since)
                && !known.may_not_wait(self.first, self.last, since, exit.sequence);
            let since_ns = match reports_since {
                true => hold.start_ns,
                false => boundary.map_or(0, |boundary| boundary.time_ns),
            };
            let since_ns = since_ns.max(wait.start_ns);
            if determined && known.all_considered && exit.time_ns > since_ns {
                let owner = Ok((name(hold.thread), owner_method(hold, known)));
                let part = Part {
                    start_ns: since_ns,
                    end_ns: exit.time_ns,
                    owner,
                };
                prop_assert!(
                    wait.parts.contains(&part),
                    "{:?} is not blamed: {}",
                    part,
                    wait
                );
            }
        }
        Ok(())
    }

    /// Holds whose end was written, with a number of the wait's.
    fn exits_during(&self, wait: &FoundWait) -> impl Iterator<Item = &'a Hold> {
        let (lock, numbers, end_ns) = (
            self.first.lock,
            self.first.enter..self.last.entered,
            wait.end_ns,
        );
        self.history.holds.iter().filter(move |hold| {
            hold.exit.is_some_and(|exit| {
                exit.lock == lock && numbers.contains(&exit.sequence) && exit.time_ns <= end_ns
            })
        })
    }

    /// The last known acquisition or release of the wait before `number`.
    fn boundary_before(&self, number: u64, known: &Known) -> Option<Boundary> {
        let exits = self.history.holds.iter().filter_map(|hold| {
            let exit = hold.exit.filter(|exit| exit.lock == self.first.lock)?;
            let (number, time_ns) = (exit.sequence, exit.time_ns);
            Some(Boundary {
                number,
                time_ns,
                entered_by: None,
            })
        });
        let acquisitions = self.history.waits.iter().filter_map(|wait| {
            let (number, time_ns) = (wait.entered, wait.end_ns);
            let entered_by = Some(wait.thread);
            (wait.lock == self.first.lock).then_some(Boundary {
                number,
                time_ns,
                entered_by,
            })
        });
        exits
            .chain(acquisitions)
            .filter(|boundary| (self.first.enter..number).contains(&boundary.number))
            .filter(|boundary| known.has(self.first.lock, boundary.number))
            .max_by_key(|boundary| boundary.number)
    }
}

/// A release, or the acquisition by a thread.
#[derive(Clone, Copy)]
struct Boundary {
    number: u64,
    time_ns: u64,
    entered_by: Option<ThreadId>,
}

/// Returns how often the monitor was acquired during the wait by threads that did not wait
/// for it, where exits report it.
fn barging_holds(history: &History, wait: &TrueWait) -> u64 {
    let barging = history.holds.iter().filter(|hold| {
        hold.object == wait.object
            && hold.entered.is_none()
            && hold.start_ns >= wait.start_ns
            && hold.seen_end_ns() <= wait.end_ns
    });
    match history.reports_holds {
        true => barging.count() as u64,
        false => 0,
    }
}

/// Holds of the object's monitor within a time, in their order.
fn holds_during(
    history: &History,
    object: usize,
    start_ns: u64,
    end_ns: u64,
) -> impl Iterator<Item = &Hold> {
    history.holds.iter().filter(move |hold| {
        hold.object == object && hold.start_ns < end_ns && hold.seen_end_ns() > start_ns
    })
}

fn name(thread: ThreadId) -> String {
    format!("T{thread}")
}

fn method(chain: ChainId) -> String {
    char::from(chain.0 as u8).to_string()
}

/// Of an owner that is still inside its method nothing more than the thread is
/// known.
fn owner_method(hold: &Hold, known: &Known) -> String {
    match hold.exit.and_then(|exit| exit.forward_ref) {
        Some(forward_ref) if !known.resolved.contains(&forward_ref) => "?".to_owned(),
        _ => method(hold.chain),
    }
}

fn entry(wait: &TrueWait) -> &'static str {
    if wait.after_wait {
        "reenter-after-wait"
    } else {
        "enter"
    }
}

fn lock(wait: &TrueWait, known: &Known) -> String {
    if known.described.contains(&wait.lock) {
        format!("Lock@{:x}", wait.object + 1)
    } else {
        format!("<lock #{} not described>", wait.lock)
    }
}

/// A thread that is still blocked: name, lock, begin, and who holds the lock, if known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blocked(String, String, u64, Option<String>);

impl Blocked {
    pub(crate) fn found(wait: &FoundWait) -> Self {
        Self(
            wait.thread.clone(),
            wait.lock.clone(),
            wait.start_ns,
            wait.holder.clone(),
        )
    }

    fn of(wait: &OpenWait, holder: Option<ThreadId>) -> Self {
        Self(
            name(wait.thread),
            format!("Lock@{:x}", wait.object + 1),
            wait.start_ns,
            holder.map(name),
        )
    }
}

/// The threads that are still blocked, where nothing is lost.
pub(crate) fn blocked(history: &History) -> Vec<Blocked> {
    let seen = |wait: &OpenWait| wait.holder.filter(|_| wait.holder_seen);
    let open = history.open.iter();
    let mut blocked: Vec<_> = open.map(|wait| Blocked::of(wait, seen(wait))).collect();
    blocked.sort();
    blocked
}

/// The threads of each cycle whose holders were seen.
pub(crate) fn deadlocks(history: &History) -> Vec<Vec<String>> {
    let next = |thread: ThreadId| {
        let wait = history.open.iter().find(|wait| wait.thread == thread)?;
        wait.holder.filter(|_| wait.holder_seen)
    };
    let mut cycles = BTreeSet::new();
    for wait in &history.open {
        let path = std::iter::successors(next(wait.thread), |&thread| next(thread));
        let mut path: Vec<_> = path.take(history.open.len()).collect();
        if let Some(end) = path.iter().position(|&thread| thread == wait.thread) {
            path.truncate(end + 1);
            let mut names: Vec<_> = path.into_iter().map(name).collect();
            names.sort();
            cycles.insert(names);
        }
    }
    cycles.into_iter().collect()
}

/// The thread holds what another one waits for, or was releasing it when that looked:
/// the event of that release has an earlier number, or was not written.
fn holds(history: &History, wait: &OpenWait, thread: &str) -> bool {
    wait.holder.is_some_and(|holder| name(holder) == thread)
        || was_releasing(history, wait.object, wait.start_ns, thread)
}

fn was_releasing(history: &History, object: usize, time_ns: u64, thread: &str) -> bool {
    history.races
        && history.holds.iter().any(|hold| {
            hold.object == object && name(hold.thread) == thread && hold.end_ns >= time_ns
        })
}

/// Every cycle that was found is one. Where the events of a thread are cut off, its wait
/// may have ended in truth, but only if it saw an owner that was just releasing the lock.
pub(crate) fn assert_deadlocked(
    analyzed: &Analyzed,
    history: &History,
) -> Result<(), TestCaseError> {
    for cycle in &analyzed.deadlocks {
        for (thread, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            let mut found = analyzed.open.iter();
            let found = found.find(|wait| wait.thread == *thread);
            let start_ns = found.expect("the wait of a deadlocked thread").start_ns;
            let mut open = history.open.iter();
            let open = open.find(|wait| name(wait.thread) == *thread && wait.start_ns == start_ns);
            let mut ended = history.waits.iter();
            let ended =
                ended.find(|wait| name(wait.thread) == *thread && wait.start_ns == start_ns);
            let is_true = match (open, ended) {
                (Some(wait), _) => holds(history, wait, next),
                (None, Some(wait)) => was_releasing(history, wait.object, start_ns, next),
                (None, None) => false,
            };
            prop_assert!(is_true, "{} in {:?}", thread, cycle);
        }
    }
    Ok(())
}

/// Asserts of a complete trace that each thread reported as blocked is blocked, by the thread
/// reported as the owner.
pub(crate) fn assert_holders(analyzed: &Analyzed, history: &History) -> Result<(), TestCaseError> {
    for wait in &analyzed.open {
        let Blocked(thread, _, start_ns, claimed) = Blocked::found(wait);
        let mut open = history.open.iter();
        let truth = open.find(|open| name(open.thread) == thread && open.start_ns == start_ns);
        let truth = truth.ok_or_else(|| TestCaseError::fail(format!("not blocked: {wait}")))?;
        let is_true = claimed.is_none_or(|claimed| holds(history, truth, &claimed));
        prop_assert!(is_true, "wrong holder: {}", wait);
    }
    Ok(())
}
