//! What the analysis may say about a simulated program whose threads park, judged
//! by what happened.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use trace_format::{Event, LockId, ParkEndReason, ThreadId};

use crate::found::{FoundWait, Part};
use crate::park::history::{Hold, Kind, Meaning, Object, Park, ParkEnded, ParkHistory, Role, What};

/// What happened, and which events of it arrived.
pub(crate) struct Truth<'a> {
    history: &'a ParkHistory,
    arrived: BTreeSet<(LockId, u64)>,
    all_considered: bool,
    /// All events are known.
    is_complete: bool,
    waits: Vec<TrueWait>,
    /// By the identity hash code of each lock, the events that show something of its owner.
    boundaries: BTreeMap<u32, Vec<Boundary>>,
}

/// A thread waited: the parks of one call.
struct TrueWait {
    thread: ThreadId,
    object: Object,
    /// At least one.
    parks: Vec<usize>,
    start_ns: u64,
    /// When its last park but an open one ended.
    end_ns: u64,
    /// Its last park has not ended.
    is_open: bool,
}

/// An event that shows something of a lock's owner.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    place: Place,
    /// Index of the event's meaning.
    meaning: usize,
    time_ns: u64,
    thread: ThreadId,
    evidence: Evidence,
    /// The hold that the event shows.
    shows: Option<usize>,
    /// The park that ends there.
    ended: Option<usize>,
    /// An unpark ended it.
    was_woken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// The thread releases the lock; of an exclusive one, this hold.
    Release(Option<usize>, u8),
    /// The lock had an owner, or the lock never says so.
    Shown,
}

/// In the order of a lock's events. A permit given by a thread that did not see the
/// lock comes just before the end of the park that consumes it.
type Place = (u64, bool);

impl<'a> Truth<'a> {
    /// `events` arrived, and the analysis had the memory to wait for all of them or
    /// not.
    pub(crate) fn new(
        history: &'a ParkHistory,
        events: &[(ThreadId, Event<'_>)],
        all_considered: bool,
    ) -> Self {
        let events = events.iter().map(|(_, event)| event);
        let arrived = events.filter(|event| !matches!(event, Event::LostNumbers(_)));
        let arrived: BTreeSet<_> = arrived.filter_map(Event::lock_and_sequence).collect();
        let is_complete = all_considered && arrived.len() == history.meanings.len();
        Self {
            history,
            arrived,
            all_considered,
            is_complete,
            waits: waits(history),
            boundaries: boundaries(history),
        }
    }

    /// All waits for something else than a lock.
    pub(crate) fn waits_for_wakers(&self) -> Vec<FoundWait> {
        let parks = self.history.parks.iter();
        let others = parks.filter(|park| !park.object.kind.is_lock());
        let ended = others.filter_map(|park| Some((park, park.end?)));
        let found = ended.map(|(park, end)| {
            let start_ns = self.time_ns(park.begin);
            let end_ns = self.time_ns(end.meaning);
            let is_bare = !matches!(park.object.kind, Kind::Latch { .. });
            let sleeps = is_bare && park.timed && end.reason == ParkEndReason::TimedOut;
            FoundWait {
                thread: name(park.thread),
                entry: if sleeps { "sleep" } else { "conditional" },
                method: method(park.method),
                lock: String::new(),
                start_ns,
                end_ns,
                end: end_of(end.reason),
                barging_holds: 0,
                safepoint_ns: end.safepoint_ns,
                parts: self.parts_until_woken(park.object, start_ns, end_ns, &end),
                holder: None,
            }
        });
        found.collect()
    }

    /// Who waits for something else than a lock to the end, for what kind of thing, and since when.
    pub(crate) fn open_waits_for_wakers(&self) -> BTreeSet<(String, &'static str, u64)> {
        let parks = self.history.parks.iter();
        let open = parks.filter(|park| !park.object.kind.is_lock() && park.end.is_none());
        let found = open.map(|park| {
            let is_bare = !matches!(park.object.kind, Kind::Latch { .. });
            let entry = match is_bare && park.timed {
                true => "sleep",
                false => "conditional",
            };
            (name(park.thread), entry, self.time_ns(park.begin))
        });
        found.collect()
    }

    /// The waker has the time until it unparked the thread.
    fn parts_until_woken(
        &self,
        object: Object,
        start_ns: u64,
        end_ns: u64,
        end: &ParkEnded,
    ) -> Vec<Part> {
        let (until_ns, owner) = match (end.unpark, end.reason) {
            (Some(unpark), _) => {
                let first = self.wakers(unpark, object).pop().expect("at least one");
                let meaning = &self.history.meanings[first];
                (
                    meaning.time_ns,
                    Ok((name(meaning.thread), meaning.method())),
                )
            }
            (None, ParkEndReason::Interrupted) => (end_ns, Err("no-exit")),
            (None, _) => (end_ns, Err("not-woken")),
        };
        let until_ns = until_ns.clamp(start_ns, end_ns);
        let parts = [
            (start_ns, until_ns, owner),
            (until_ns, end_ns, Err("handoff")),
        ];
        let parts = parts.map(|(start_ns, end_ns, owner)| Part {
            start_ns,
            end_ns,
            owner,
        });
        let is_empty = |part: &Part| part.start_ns == part.end_ns;
        if start_ns == end_ns {
            return parts.into_iter().take(1).collect();
        }
        parts.into_iter().filter(|part| !is_empty(part)).collect()
    }

    /// The given unpark, the one that it passes on if it sees that its target is parked
    /// on `object`, and so on.
    fn wakers(&self, unpark: usize, object: Object) -> Vec<usize> {
        let mut wakers = vec![unpark];
        while let Some(before) = self.passed_on(wakers[wakers.len() - 1], object) {
            wakers.push(before);
        }
        wakers
    }

    fn passed_on(&self, unpark: usize, object: Object) -> Option<usize> {
        let meaning = &self.history.meanings[unpark];
        if meaning.object != object {
            return None;
        }
        let What::Unpark {
            role: Role::PassOn, ..
        } = meaning.what
        else {
            return None;
        };
        let before = |end: &ParkEnded| {
            let end = &self.history.meanings[end.meaning];
            end.domain == meaning.domain && end.sequence < meaning.sequence
        };
        let ended = self.history.parks.iter().filter_map(|park| {
            let own = park.thread == meaning.thread;
            Some((park, park.end.filter(|end| own && before(end))?))
        });
        let last = ended.max_by_key(|(_, end)| self.history.meanings[end.meaning].sequence);
        let (_, end) = last.filter(|(park, _)| park.object == object)?;
        end.unpark
    }

    /// Each wait is one that happened. If all events are known, each that happened is
    /// there.
    pub(crate) fn assert_waits(&self, found: &[&FoundWait]) -> Result<(), TestCaseError> {
        let mut seen = BTreeSet::new();
        for wait in found {
            let (first, last) = self.find(wait)?;
            let mut waits = self.waits.iter();
            let same = waits.find(|wait| wait.parks.contains(&last));
            let last = same.map_or(last, |wait| wait.parks[0]);
            let last = &self.history.parks[last];
            prop_assert_eq!(wait.entry, "enter", "{}", wait);
            let park = &self.history.parks[first.parks[0]];
            prop_assert_eq!(&wait.method, &method(park.method), "{}", wait);
            if self.is_complete {
                let ends = first.parks.iter().map(|&park| self.history.parks[park].end);
                let safepoint_ns: u64 = ends.flatten().map(|end| end.safepoint_ns).sum();
                prop_assert_eq!(wait.safepoint_ns, safepoint_ns, "{}", wait);
                let last_of = first.parks.last().map(|&park| self.history.parks[park].end);
                let reason = last_of.flatten().map(|end| end.reason);
                prop_assert_eq!(Some(wait.end), reason.map(end_of), "{}", wait);
            }
            let is_same = |&park: &usize| self.history.parks[park].begin == last.begin;
            if !first.parks.iter().any(is_same) {
                // Two waits look like one only if nobody knows who lost the end of
                // the one and the start of the other. A release may still report who
                // had the lock meanwhile.
                let between = (first.end_ns, self.time_ns(last.begin));
                let reports = first.object.kind.reports();
                let unknown = wait.parts.iter().all(|part| {
                    part.end_ns <= between.0
                        || part.start_ns >= between.1
                        || part.owner == Err("lost")
                        || reports && (part.owner.is_ok() || part.owner == Err("free"))
                });
                prop_assert!(unknown && !self.is_complete, "two waits: {}", wait);
            }
            prop_assert!(
                seen.insert((first.parks[0], wait.start_ns)),
                "twice: {}",
                wait
            );
        }
        for wait in self.waits.iter().filter(|_| self.is_complete) {
            let is_found = seen.contains(&(wait.parks[0], wait.start_ns));
            let (thread, start_ns) = (wait.thread, wait.start_ns);
            prop_assert_eq!(is_found, !wait.is_open, "T{} {}", thread, start_ns);
        }
        Ok(())
    }

    /// The wait that begins when `wait` begins, and the park that ends when it ends.
    /// Where events are lost a wait can begin with a later park, and end with an
    /// earlier one.
    fn find(&self, wait: &FoundWait) -> Result<(&TrueWait, usize), TestCaseError> {
        let of_lock =
            |truth: &&TrueWait| name(truth.thread) == wait.thread && lock_of(truth.object, wait);
        let begins = |park: &usize| self.time_ns(self.history.parks[*park].begin);
        let ends = |park: &usize| {
            self.history.parks[*park]
                .end
                .map(|end| self.time_ns(end.meaning))
        };
        let mut waits = self.waits.iter().filter(of_lock);
        let begins = |park: &usize| begins(park) == wait.start_ns;
        let first = waits.find(|truth| truth.parks.iter().any(begins));
        let last = (0..self.history.parks.len()).find(|park| {
            let is_own = name(self.history.parks[*park].thread) == wait.thread;
            is_own && ends(park) == Some(wait.end_ns)
        });
        match (first, last) {
            (Some(first), Some(last)) => Ok((first, last)),
            _ => Err(TestCaseError::fail(format!("did not happen: {wait}"))),
        }
    }

    /// Asserts that each thread that is blamed had the lock.
    pub(crate) fn assert_blame_is_true(&self, wait: &FoundWait) -> Result<(), TestCaseError> {
        let (first, _) = self.find(wait)?;
        let boundaries = &self.boundaries[&first.object.hash];
        for part in &wait.parts {
            let (thread, method) = match &part.owner {
                Ok(owner) => owner,
                Err("handoff" | "no-exit") => continue,
                Err("free") if first.object.kind.reports() => continue,
                Err("lost") if !self.is_complete => continue,
                Err(reason) => return Err(TestCaseError::fail(format!("{reason}: {wait}"))),
            };
            prop_assert_ne!(thread, &wait.thread, "blamed on itself: {}", wait);
            let released = boundaries.iter().find(|boundary| {
                let by = matches!(boundary.evidence, Evidence::Release(_, at) if *method == self::method(at));
                by && name(boundary.thread) == *thread && boundary.time_ns >= part.end_ns
            });
            let mut holds = self.history.holds.iter();
            let is_reported = holds.any(|hold| {
                let by = hold
                    .reported
                    .is_some_and(|(_, at)| *method == self::method(at));
                by && hold.object == first.object && name(hold.thread) == *thread
            });
            // Of a lock that is not released any more, it is known where the thread had
            // to wait for it.
            let acquired = self.waits.iter().any(|wait| {
                let park = &self.history.parks[wait.parks[0]];
                wait.object.hash == first.object.hash
                    && name(park.thread) == *thread
                    && self::method(park.method) == *method
            });
            prop_assert!(
                method == "?" || released.is_some() || acquired || is_reported,
                "{} {} does not release the lock: {}",
                thread,
                method,
                wait
            );
            if first.object.kind.knows_owner() {
                let mut seen = self.seen(first.object, thread);
                seen.sort_unstable();
                let rest = subtract((part.start_ns, part.end_ns), &seen);
                prop_assert_eq!(rest, None, "{} did not have the lock: {}", thread, wait);
            } else {
                prop_assert!(
                    released
                        .is_some_and(|released| released.time_ns == part.end_ns
                            || part.end_ns == wait.end_ns),
                    "{} did not release the lock then: {}",
                    thread,
                    wait
                );
            }
        }
        Ok(())
    }

    /// From when to when `thread` is seen to have the lock.
    ///
    /// While it had it, and when it was free before, and until the unpark that follows
    /// the release. An event is a
    /// little older than what it shows, a thread that was woken up may have acquired
    /// the lock at once, and between two events that show the same owner it can have
    /// released and acquired the lock again.
    fn seen(&self, object: Object, thread: &str) -> Vec<(u64, u64)> {
        let boundaries = &self.boundaries[&object.hash];
        let holds = || {
            self.history
                .holds
                .iter()
                .filter(|hold| hold.object == object)
        };
        let own = holds().filter(|hold| name(hold.thread) == thread);
        let mut seen: Vec<(u64, u64)> = own
            .map(|hold| {
                let before = holds().filter_map(|other| other.end_ns);
                let before = before.filter(|&end_ns| end_ns <= hold.start_ns);
                let since_ns = if hold.reported.is_some() {
                    hold.start_ns
                } else {
                    before.max().unwrap_or(0)
                };
                (since_ns, hold.end_ns.unwrap_or(u64::MAX))
            })
            .collect();
        // Since when it is seen, and until when if nobody is seen any more.
        let mut current: Option<(u64, u64)> = None;
        for boundary in boundaries {
            let is_unseen = !boundary.place.1;
            let mine = |hold: usize| name(self.history.holds[hold].thread) == thread;
            let shows = boundary.shows.filter(|&hold| mine(hold));
            let releases =
                matches!(boundary.evidence, Evidence::Release(Some(hold), _) if mine(hold));
            if let Some((since_ns, until_ns)) = current
                && (releases || shows.is_some())
            {
                seen.push((since_ns, until_ns.min(boundary.time_ns)));
            }
            // The owner is looked at later.
            if let Some(hold) = shows {
                seen.push((boundary.time_ns, self.history.holds[hold].start_ns));
            }
            // The unpark comes after the release.
            if let Evidence::Release(Some(hold), _) = boundary.evidence
                && mine(hold)
            {
                let end_ns = self.history.holds[hold].end_ns.expect("released");
                seen.push((end_ns, boundary.time_ns));
            }
            let got_lock = boundary.ended.is_some_and(|park| {
                let mut holds = self.history.holds.iter();
                let got_lock = holds.any(|hold| hold.park == Some(park));
                // Or it was interrupted, and came back.
                let gave_up = self.history.parks[park].gave_up;
                name(boundary.thread) == thread && (got_lock || gave_up)
            });
            current = match (boundary.evidence, boundary.shows) {
                _ if shows.is_some() || got_lock => Some((boundary.time_ns, u64::MAX)),
                // It may belong to another lock.
                _ if is_unseen => current,
                // It may not have unparked anybody yet.
                (Evidence::Shown, None) if self.is_complete => {
                    current.map(|(since, until)| (since, until.min(boundary.time_ns)))
                }
                _ if !self.is_used(boundary) => current,
                _ => None,
            };
        }
        seen
    }

    /// The analysis knows of the event. The end of a park whose start is lost is not
    /// used.
    fn is_used(&self, boundary: &Boundary) -> bool {
        let has_arrived = |meaning: usize| {
            let meaning = &self.history.meanings[meaning];
            self.arrived.contains(&(meaning.domain, meaning.sequence))
        };
        let begin = boundary.ended.map(|park| self.history.parks[park].begin);
        self.all_considered && has_arrived(boundary.meaning) && begin.is_none_or(has_arrived)
    }

    /// Asserts that the threads seen with the lock are blamed, with the methods of their releases.
    pub(crate) fn assert_seen_is_blamed(&self, wait: &FoundWait) -> Result<(), TestCaseError> {
        let (truth, _) = self.find(wait)?;
        if truth.object.kind.reports() {
            return Ok(());
        }
        let boundaries = &self.boundaries[&truth.object.hash];
        let begin = &self.history.meanings[self.history.parks[truth.parks[0]].begin];
        let last = self.history.parks[*truth.parks.last().expect("one")].end;
        let end_place = (
            self.history.meanings[last.expect("ended").meaning].sequence,
            true,
        );
        let first_begin = boundaries
            .first()
            .map_or(begin.sequence, |first| first.place.0);
        let knows_owner = truth.object.kind.knows_owner();
        let mut at_ns = wait.start_ns;
        let mut released = false;
        let mut waking = BTreeSet::new();
        let mut meaning = self.meanings_of(truth.object).into_iter().peekable();
        for (at, pair) in boundaries.windows(2).enumerate() {
            let (from, to) = (&pair[0], &pair[1]);
            while let Some(meaning) = meaning.next_if(|meaning| (meaning.sequence, true) < to.place)
            {
                meaning.follow_waking(&mut waking);
            }
            released = match from.evidence {
                Evidence::Release(..) => true,
                // A thread that was woken can have acquired it.
                Evidence::Shown if from.ended.is_some() => false,
                // A thread that shares it can queue up all the same.
                Evidence::Shown => released && !truth.object.kind.is_exclusive(),
            };
            // From a release until the thread woken runs nobody can be seen to have
            // the lock all the time.
            let hidden = !waking.is_empty() && to.evidence == Evidence::Shown;
            if hidden || released && !knows_owner {
                continue;
            }
            if from.place > (begin.sequence, true) {
                at_ns = at_ns.max(from.time_ns);
            }
            if to.place <= (begin.sequence, true) || to.place > end_place {
                continue;
            }
            if from.place.0 < first_begin {
                continue;
            }
            let Some((thread, hold)) = self.seen_between(from, to) else {
                continue;
            };
            let until_ns = to.time_ns.min(wait.end_ns);
            if thread == truth.thread || until_ns <= at_ns {
                continue;
            }
            let mut parts = wait.parts.iter();
            let part = parts.find(|part| part.start_ns <= at_ns && part.end_ns >= until_ns);
            let Some((found, in_method)) = part.and_then(|part| part.owner.as_ref().ok()) else {
                return Err(TestCaseError::fail(format!(
                    "T{thread} is not blamed for {at_ns}-{until_ns}: {wait}"
                )));
            };
            prop_assert_eq!(found, &name(thread), "{}-{}: {}", at_ns, until_ns, wait);
            if let Some(at) = self.release_seen(&boundaries[at + 1..], hold, end_place) {
                prop_assert_eq!(in_method, &method(at), "{}", wait);
            }
        }
        Ok(())
    }

    /// Asserts of a lock that reports its releases that each owner is blamed for its hold as far as
    /// events show it, and nobody for the time between.
    pub(crate) fn assert_reported_is_blamed(&self, wait: &FoundWait) -> Result<(), TestCaseError> {
        let (truth, _) = self.find(wait)?;
        // Before the first one, it is not known that the lock reports releases.
        let is_reported = |hold: &Hold| {
            let of_lock = hold.object == truth.object;
            of_lock
                && hold
                    .reported
                    .is_some_and(|(reported_ns, _)| reported_ns < wait.end_ns)
        };
        if !self.history.holds.iter().any(is_reported) {
            return Ok(());
        }
        for (index, hold) in self.history.holds.iter().enumerate() {
            let is_others = hold.object == truth.object && hold.thread != truth.thread;
            let Some((reported_ns, at)) = hold.reported.filter(|_| is_others) else {
                continue;
            };
            let from_ns = self.shown_since_ns(index).max(wait.start_ns);
            let until_ns = reported_ns.min(wait.end_ns);
            let owner = Ok((name(hold.thread), method(at)));
            let parts = wait.parts.iter().filter(|part| part.owner == owner);
            let mut parts: Vec<_> = parts.map(|part| (part.start_ns, part.end_ns)).collect();
            parts.sort_unstable();
            let rest = (from_ns < until_ns).then(|| subtract((from_ns, until_ns), &parts));
            prop_assert_eq!(rest.flatten(), None, "{:?} is not blamed: {}", hold, wait);
        }
        for part in &wait.parts {
            let Ok((thread, _)) = &part.owner else {
                continue;
            };
            let is_own = |hold: &&Hold| hold.object == truth.object && name(hold.thread) == *thread;
            let own = || self.history.holds.iter().filter(is_own);
            // Other holds are known by a later unpark, or by a thread that saw the owner.
            if own().any(|hold| hold.reported.is_none()) {
                continue;
            }
            let held = own().map(|hold| (hold.start_ns, hold.end_ns.unwrap_or(u64::MAX)));
            let mut held: Vec<_> = held.collect();
            held.sort_unstable();
            let rest = subtract((part.start_ns, part.end_ns), &held);
            prop_assert_eq!(rest, None, "{} did not have it: {}", thread, wait);
        }
        Ok(())
    }

    /// Returns since when the events show this hold, whose end was reported: since its thread noted
    /// that it has the lock. A thread that did not note it was the owner before the first of the
    /// threads in the queue at the end parked, and, further back, as long as each event shows it.
    ///
    /// Before that it is not known to be the same hold. While the queue is empty, as after a thread
    /// gave up, a release is not reported and an acquisition is not noted.
    fn shown_since_ns(&self, hold: usize) -> u64 {
        let Hold {
            object,
            start_ns,
            noted_ns,
            ..
        } = self.history.holds[hold];
        if let Some(noted_ns) = noted_ns {
            return noted_ns;
        }
        let is_end = |meaning: &&Meaning| matches!(meaning.what, What::Release { hold: ended } if ended == hold);
        let end = self
            .history
            .meanings
            .iter()
            .find(is_end)
            .expect("a reported release");
        let sequence = |meaning: usize| self.history.meanings[meaning].sequence;
        let is_parked = |park: &&Park| {
            park.object == object
                && sequence(park.begin) < end.sequence
                && park
                    .end
                    .is_none_or(|ended| sequence(ended.meaning) > end.sequence)
        };
        let parked = self.history.parks.iter().filter(is_parked);
        let queued = parked
            .map(|park| sequence(self.history.parks[park.first].begin))
            .min();
        let boundaries = &self.boundaries[&object.hash];
        let count = boundaries.partition_point(|boundary| match queued {
            Some(queued) => boundary.place <= (queued, true),
            None => boundary.place < (end.sequence, true),
        });
        let before = boundaries[..count].iter().rev();
        let shown = before
            .clone()
            .take_while(|boundary| boundary.shows == Some(hold));
        let first = shown.last().or(before.clone().next());
        first.map_or(start_ns, |first| first.time_ns.max(start_ns))
    }

    /// The events that see the object, in their order.
    fn meanings_of(&self, object: Object) -> Vec<&Meaning> {
        let meanings = self.history.meanings.iter();
        let mut meaning: Vec<_> = meanings
            .filter(|meaning| meaning.object == object)
            .collect();
        meaning.sort_by_key(|meaning| meaning.sequence);
        meaning
    }

    /// Who has the lock from one event to the next, if they show it.
    fn seen_between(&self, from: &Boundary, to: &Boundary) -> Option<(ThreadId, Option<usize>)> {
        let hold = match to.evidence {
            // Of a lock without an owner only the release counts.
            Evidence::Release(None, _) => return Some((to.thread, None)),
            Evidence::Release(hold, _) => hold?,
            Evidence::Shown => to.shows?,
        };
        let thread = self.history.holds[hold].thread;
        let woken = from.ended.filter(|_| from.was_woken);
        let got_lock = woken.is_some() && self.history.holds[hold].park == woken;
        let knows_owner = self.history.holds[hold].object.kind.knows_owner();
        let seen = !knows_owner || from.shows == Some(hold) || got_lock;
        seen.then_some((thread, Some(hold)))
    }

    /// The method of the release of `hold`, if the events up to it show nothing else.
    fn release_seen(&self, from: &[Boundary], hold: Option<usize>, end: Place) -> Option<u8> {
        let mut same = from.iter().take_while(|boundary| boundary.place <= end);
        for boundary in &mut same {
            match boundary.evidence {
                Evidence::Release(released, method) => {
                    return (released == hold).then_some(method);
                }
                Evidence::Shown if boundary.shows != hold || hold.is_none() => return None,
                Evidence::Shown => {}
            }
        }
        None
    }

    /// A wait for something else whose events are known in part: it happened, and
    /// if somebody is to blame, then the waker, or who passed that on.
    pub(crate) fn assert_waker_is_true(&self, wait: &FoundWait) -> Result<(), TestCaseError> {
        let is_own = |park: &&Park| name(park.thread) == wait.thread;
        let mut parks = self.history.parks.iter().filter(is_own);
        let begins = parks
            .clone()
            .find(|park| self.time_ns(park.begin) == wait.start_ns);
        let ends = parks.find_map(|park| {
            let end = park.end?;
            (self.time_ns(end.meaning) == wait.end_ns).then_some((park, end))
        });
        let (Some(begins), Some((ends, end))) = (begins, ends) else {
            return Err(TestCaseError::fail(format!("did not happen: {wait}")));
        };
        prop_assert_eq!(&wait.method, &method(begins.method), "{}", wait);
        for part in &wait.parts {
            let Ok((thread, in_method)) = &part.owner else {
                continue;
            };
            prop_assert_eq!(begins.begin, ends.begin, "two waits: {}", wait);
            let wakers = end
                .unpark
                .map(|unpark| self.wakers(unpark, ends.object))
                .unwrap_or_default();
            let blamed = wakers.iter().any(|&unpark| {
                let meaning = &self.history.meanings[unpark];
                name(meaning.thread) == *thread && meaning.method() == *in_method
            });
            prop_assert!(blamed, "not woken by {} {}: {}", thread, in_method, wait);
        }
        Ok(())
    }

    /// The waker of a wait for something else is known if the event of its unpark
    /// arrived.
    pub(crate) fn assert_waker_is_known(&self, wait: &FoundWait) -> Result<(), TestCaseError> {
        let of_wait = |end: &ParkEnded| self.time_ns(end.meaning) == wait.end_ns;
        let parks = self.history.parks.iter();
        let mut own = parks.filter(|park| name(park.thread) == wait.thread);
        let end = own.find_map(|park| park.end.filter(of_wait));
        let unpark = end.and_then(|end| end.unpark);
        let has_arrived = unpark.is_some_and(|unpark| {
            let meaning = &self.history.meanings[unpark];
            self.arrived.contains(&(meaning.domain, meaning.sequence))
        });
        let is_lost = wait.parts.iter().any(|part| part.owner == Err("lost"));
        prop_assert!(!(has_arrived && is_lost), "the waker is known: {}", wait);
        Ok(())
    }

    fn time_ns(&self, meaning: usize) -> u64 {
        self.history.meanings[meaning].time_ns
    }
}

impl Meaning {
    /// Follows which threads a release has unparked that have not run since.
    fn follow_waking(&self, waking: &mut BTreeSet<ThreadId>) {
        match self.what {
            What::Unpark {
                target,
                role: Role::Release(_),
                ..
            } => _ = waking.insert(target),
            // The next one in the queue has to run in its place.
            What::Unpark {
                target,
                role: Role::Cancel,
                ..
            } if waking.remove(&self.thread) => _ = waking.insert(target),
            What::End { .. } => _ = waking.remove(&self.thread),
            What::Unpark { .. } | What::Begin | What::Release { .. } => {}
        }
    }

    /// The method that unparks.
    fn method(&self) -> String {
        match self.what {
            What::Unpark { method, .. } => self::method(method),
            _ => panic!("not an unpark"),
        }
    }
}

impl Kind {
    fn knows_owner(self) -> bool {
        matches!(self, Kind::ReentrantLock { .. })
    }

    fn reports(self) -> bool {
        matches!(self, Kind::ReentrantLock { reports: true, .. })
    }
}

/// What is said of how a wait ended whose last park ended for this reason.
fn end_of(reason: ParkEndReason) -> &'static str {
    match reason {
        ParkEndReason::Unparked | ParkEndReason::PermitAvailable => "woken",
        ParkEndReason::Interrupted => "interrupted",
        ParkEndReason::TimedOut => "timed-out",
        ParkEndReason::Spurious => "spurious",
    }
}

fn waits(history: &ParkHistory) -> Vec<TrueWait> {
    let mut waits: Vec<TrueWait> = Vec::new();
    for (at, park) in history.parks.iter().enumerate() {
        if !park.object.kind.is_lock() {
            continue;
        }
        let mut of_thread = (0..waits.len()).rev();
        let last = of_thread.find(|&wait| waits[wait].thread == park.thread);
        let same = last.filter(|&last| waits[last].parks[0] == park.first);
        let end_ns = park.end.map(|end| history.meanings[end.meaning].time_ns);
        match (same, end_ns) {
            (Some(same), Some(end_ns)) => {
                waits[same].parks.push(at);
                waits[same].end_ns = end_ns;
            }
            (Some(same), None) => waits[same].is_open = true,
            (None, None) => {}
            (None, Some(end_ns)) => waits.push(TrueWait {
                thread: park.thread,
                object: park.object,
                parks: vec![at],
                start_ns: history.meanings[park.begin].time_ns,
                end_ns,
                is_open: false,
            }),
        }
    }
    waits
}

fn boundaries(history: &ParkHistory) -> BTreeMap<u32, Vec<Boundary>> {
    let mut boundaries: BTreeMap<u32, Vec<Boundary>> = BTreeMap::new();
    for (at, meaning) in history.meanings.iter().enumerate() {
        if meaning.object.kind.is_lock() {
            let of_lock = boundaries.entry(meaning.object.hash).or_default();
            of_lock.extend(Boundary::of(at, meaning, (meaning.sequence, true), history));
        }
    }
    for park in history
        .parks
        .iter()
        .filter(|park| park.object.kind.is_lock())
    {
        let ended = park.end.and_then(|end| Some((end.meaning, end.unpark?)));
        let Some((end, unpark)) = ended else { continue };
        let (place, meaning) = (
            (history.meanings[end].sequence, false),
            &history.meanings[unpark],
        );
        if meaning.object.kind == Kind::Nothing {
            let of_lock = boundaries.entry(park.object.hash).or_default();
            of_lock.extend(Boundary::of(unpark, meaning, place, history));
        }
    }
    for boundaries in boundaries.values_mut() {
        boundaries.sort_by_key(|boundary| boundary.place);
    }
    boundaries
}

impl Boundary {
    fn of(at: usize, meaning: &Meaning, place: Place, history: &ParkHistory) -> Option<Self> {
        let shows = meaning.shows.map(|(hold, _)| hold);
        let mut ended = None;
        let evidence = match meaning.what {
            What::Begin => Evidence::Shown,
            What::End { park } => {
                ended = Some(park);
                Evidence::Shown
            }
            What::Unpark {
                role: Role::Release(hold),
                method,
                ..
            } => Evidence::Release(hold, method),
            What::Unpark { .. } => Evidence::Shown,
            What::Release { .. } => return None,
        };
        let was_woken = ended.is_some_and(|park| {
            let end = history.parks[park].end.expect("ended");
            matches!(
                end.reason,
                ParkEndReason::Unparked | ParkEndReason::PermitAvailable
            )
        });
        let parks = !matches!(meaning.what, What::Unpark { .. });
        let shows_owner = if meaning.object.kind.knows_owner() {
            parks || shows.is_some()
        } else {
            // A thread that queues up shows that another one has the lock.
            was_woken || matches!(meaning.what, What::Begin)
        };
        let is_boundary = shows_owner || evidence != Evidence::Shown;
        is_boundary.then_some(Self {
            place,
            meaning: at,
            time_ns: meaning.time_ns,
            thread: meaning.thread,
            evidence,
            shows,
            ended,
            was_woken,
        })
    }
}

/// What `parts`, sorted, do not cover of `whole`: its first part.
fn subtract(whole: (u64, u64), parts: &[(u64, u64)]) -> Option<(u64, u64)> {
    let (mut from_ns, to_ns) = whole;
    for &(start_ns, end_ns) in parts {
        if start_ns <= from_ns {
            from_ns = from_ns.max(end_ns);
        }
    }
    (from_ns < to_ns).then_some((from_ns, to_ns))
}

fn name(thread: ThreadId) -> String {
    format!("T{thread}")
}

fn method(letter: u8) -> String {
    char::from(letter).to_string()
}

/// Identity hash codes are all different.
fn lock_of(object: Object, wait: &FoundWait) -> bool {
    wait.lock.ends_with(&format!("@{:x}", object.hash))
}
