//! What the analysis must find, computed wait by wait from the rules of blame
//! alone: slow, and sharing nothing with the analysis.

use std::collections::BTreeMap;

use trace_format::{
    ChainId, ChainRef, ContendedEnter, ContendedEntered, ContendedExit, Event, ForwardRef,
    ForwardResolved, Hold, LockDescription, LockId, ThreadId,
};

use crate::found::{FoundWait, Part};

/// The waits in `events`, which may come in any order and lack some. `has_holds`: exits
/// say for how long the lock was held.
pub(crate) fn waits(events: &[(ThreadId, Event<'_>)], has_holds: bool) -> Vec<FoundWait> {
    let mut locks: BTreeMap<LockId, BTreeMap<u64, (ThreadId, &Event<'_>)>> = BTreeMap::new();
    let mut resolved: BTreeMap<ForwardRef, ChainId> = BTreeMap::new();
    for (thread, event) in events {
        if let Some((lock, sequence)) = event.lock_and_sequence() {
            locks
                .entry(lock)
                .or_default()
                .insert(sequence, (*thread, event));
        } else if let Event::ForwardResolved(ForwardResolved { forward_ref, chain }) = *event {
            resolved.insert(forward_ref, chain);
        }
    }
    let mut waits = Vec::new();
    for (lock, events) in &locks {
        let end = events.last_key_value().map_or(0, |(&last, _)| last + 1);
        let ordered: Vec<_> = (0..end)
            .map(|sequence| events.get(&sequence).copied())
            .collect();
        for at in 0..ordered.len() {
            let lock_events = LockEvents {
                lock: *lock,
                events: &ordered,
                has_holds,
            };
            waits.extend(lock_events.wait_at(at, &resolved));
        }
    }
    waits
}

type Numbered<'a> = Option<(ThreadId, &'a Event<'a>)>;

/// What a wait has seen last.
#[derive(Clone, Copy)]
enum Seen {
    Nothing,
    Exit,
    Entered(ThreadId),
    Loss,
}

/// All events of a lock, by number.
struct LockEvents<'a> {
    lock: LockId,
    events: &'a [Numbered<'a>],
    has_holds: bool,
}

impl LockEvents<'_> {
    /// The wait that begins with the event at `first`.
    fn wait_at(&self, first: usize, resolved: &BTreeMap<ForwardRef, ChainId>) -> Option<FoundWait> {
        let events = &self.events[first..];
        let (
            waiter,
            &Event::ContendedEnter(ContendedEnter {
                time_ns: start_ns,
                chain,
                after_wait,
                ..
            }),
        ) = events[0]?
        else {
            return None;
        };
        let length = 1 + events[1..]
            .iter()
            .position(|numbered| numbered.is_some_and(|(thread, _)| thread == waiter))?;
        let (
            _,
            &Event::ContendedEntered(ContendedEntered {
                time_ns: entered_ns,
                safepoint_ns,
                ..
            }),
        ) = events[length]?
        else {
            return None;
        };
        let end_ns = entered_ns.max(start_ns);

        // If more than one event is lost, nobody knows whose, the thread may have
        // entered with the first and begun to wait again with the last: within the hold
        // that was over next, if an exit says how long that was.
        let mut missing = (1..length).filter(|&at| events[at].is_none());
        let (first_missing, last_missing) = (missing.next(), missing.next_back());
        let is_boundary = |at: &usize| {
            matches!(
                events[*at],
                Some((_, Event::ContendedExit(_) | Event::ContendedEntered(_)))
            )
        };
        let next = last_missing.and_then(|last| (last..=length).find(is_boundary));
        let is_exit = |at: usize| matches!(events[at], Some((_, Event::ContendedExit(_))));
        let last_in_doubt = next.filter(|&next| is_exit(next)).or(last_missing);

        // When parts end, who is to blame for each, by which event, and whether the owner
        // goes on.
        let mut ends = Vec::new();
        let mut barging_holds = 0;
        let mut seen = Seen::Nothing;
        for (at, numbered) in events.iter().enumerate().take(length + 1).skip(1) {
            let (time_ns, owner) = match *numbered {
                Some((_, Event::ContendedEnter(_))) => continue,
                Some((thread, &Event::ContendedExit(exit))) => {
                    let ContendedExit {
                        time_ns,
                        chain,
                        hold,
                        ..
                    } = exit;
                    let owner = Ok((name(thread), method(chain, resolved)));
                    let owner = match (hold, seen) {
                        (Hold::For { duration_ns }, _) => {
                            let acquired_ns = time_ns.saturating_sub(duration_ns);
                            let before = match seen {
                                Seen::Entered(other) if other == thread => owner.clone(),
                                _ => Err(self.nobody(seen, first + at)),
                            };
                            let (has_entered, may_have_entered) = match self.seen_before(first + at)
                            {
                                Seen::Entered(other) => (other == thread, other == thread),
                                state => (false, matches!(state, Seen::Loss)),
                            };
                            // The number of what was seen says that the acquisition came later.
                            let is_later = !matches!(seen, Seen::Nothing);
                            barging_holds += u64::from(
                                !may_have_entered && (is_later || acquired_ns >= start_ns),
                            );
                            ends.push((acquired_ns, before, at, has_entered));
                            owner
                        }
                        (_, Seen::Entered(other)) if other != thread => Err("no-exit"),
                        (_, Seen::Loss) => Err("lost"),
                        _ => owner,
                    };
                    seen = Seen::Exit;
                    (time_ns, owner)
                }
                Some((thread, &Event::ContendedEntered(ContendedEntered { time_ns, .. }))) => {
                    let reason = self.nobody(seen, first + at);
                    seen = Seen::Entered(thread);
                    (time_ns, Err(reason))
                }
                _ => {
                    seen = Seen::Loss;
                    continue;
                }
            };
            ends.push((time_ns, owner, at, false));
        }
        let mut parts: Vec<Part> = Vec::new();
        let last = ends.len() - 1;
        let mut owner_goes_on = false;
        for (position, (time_ns, owner, at, goes_on)) in ends.into_iter().enumerate() {
            let in_doubt = first_missing.is_some_and(|first| at > first)
                && last_in_doubt.is_some_and(|last| at <= last);
            let owner = if in_doubt { Err("lost") } else { owner };
            let part_start_ns = parts.last().map_or(start_ns, |part| part.end_ns);
            let part_end_ns = time_ns.clamp(part_start_ns, end_ns);
            let is_only_part = position == last && parts.is_empty();
            if part_end_ns == part_start_ns && !is_only_part {
                owner_goes_on &= goes_on;
                continue;
            }
            match parts.last_mut() {
                // Since it entered, up to where it says that it acquired the lock.
                Some(before) if owner_goes_on && before.owner == owner => {
                    before.end_ns = part_end_ns;
                }
                _ => parts.push(Part {
                    start_ns: part_start_ns,
                    end_ns: part_end_ns,
                    owner,
                }),
            }
            owner_goes_on = goes_on;
        }
        let lock = match self.events[0] {
            Some((_, Event::LockDescription(LockDescription { identity_hash, .. }))) => {
                format!("Lock@{identity_hash:x}")
            }
            _ => format!("<lock #{} not described>", self.lock),
        };
        let entry = if after_wait {
            "reenter-after-wait"
        } else {
            "enter"
        };
        let method = method(ChainRef::Chain(chain), resolved);
        Some(FoundWait {
            thread: name(waiter),
            entry,
            method,
            lock,
            start_ns,
            end_ns,
            end: "acquired",
            safepoint_ns,
            barging_holds,
            parts,
            holder: None,
        })
    }

    /// Returns what the last boundary before `at` shows.
    fn seen_before(&self, at: usize) -> Seen {
        let before = self.events[..at].iter().rev();
        let mut shown = before.filter_map(|event| match *event {
            Some((_, Event::ContendedEnter(_))) => None,
            Some((_, Event::ContendedExit(_))) => Some(Seen::Exit),
            Some((thread, Event::ContendedEntered(_))) => Some(Seen::Entered(thread)),
            Some((_, Event::LockDescription(_))) => Some(Seen::Nothing),
            _ => Some(Seen::Loss),
        });
        shown.next().unwrap_or(Seen::Nothing)
    }

    /// What stands for an owner before the acquisition at `at`, after what a wait has
    /// `seen` last.
    fn nobody(&self, seen: Seen, at: usize) -> &'static str {
        match seen {
            Seen::Nothing if self.somebody_waited_since_release(at) => "free",
            Seen::Nothing | Seen::Entered(_) => "no-exit",
            Seen::Exit if self.has_holds => "free",
            Seen::Exit => "handoff",
            Seen::Loss => "lost",
        }
    }

    /// The last boundary before `at` is a release, and a thread waits since before that:
    /// it is in the way of every release that would write no event.
    fn somebody_waited_since_release(&self, at: usize) -> bool {
        let before = self.events[..at].iter().enumerate().rev();
        let mut boundaries =
            before.filter(|(_, event)| !matches!(event, Some((_, Event::ContendedEnter(_)))));
        let Some((release, Some((_, Event::ContendedExit(_))))) = boundaries.next() else {
            return false;
        };
        let waits_at = |enter: usize| {
            let Some((thread, Event::ContendedEnter(_))) = self.events[enter] else {
                return false;
            };
            let of_thread = |event: &Numbered<'_>| event.is_some_and(|(other, _)| other == thread);
            let next = self.events[enter + 1..].iter().position(of_thread);
            next.is_none_or(|next| {
                let next = enter + 1 + next;
                let enters = matches!(self.events[next], Some((_, Event::ContendedEntered(_))));
                next > at || next == at && enters
            })
        };
        self.has_holds && (0..release).any(waits_at)
    }
}

fn name(thread: ThreadId) -> String {
    format!("T{thread}")
}

/// The only method of a chain.
fn method(chain: ChainRef, resolved: &BTreeMap<ForwardRef, ChainId>) -> String {
    let chain = match chain {
        ChainRef::Chain(chain) => Some(chain),
        ChainRef::Forward(forward_ref) => resolved.get(&forward_ref).copied(),
    };
    chain.map_or("?".to_owned(), |chain| {
        char::from(chain.0 as u8).to_string()
    })
}
