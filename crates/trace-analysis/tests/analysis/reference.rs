//! What the analysis must find, computed wait by wait from the rules of blame
//! alone: slow, and sharing nothing with the analysis.

use std::collections::BTreeMap;

use trace_format::{
    ChainId, ChainRef, ContendedEnter, ContendedEntered, ContendedExit, Event, ForwardRef,
    ForwardResolved, LockDescription, LockId, ThreadId,
};

use crate::found::{FoundWait, Part};

/// The waits in `events`, which may come in any order and lack some.
pub(crate) fn waits(events: &[(ThreadId, Event<'_>)]) -> Vec<FoundWait> {
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
            waits.extend(wait_at(*lock, &ordered[at..], ordered[0], &resolved));
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

/// The wait that begins with the first of `events`.
fn wait_at(
    lock: LockId,
    events: &[Numbered<'_>],
    description: Numbered<'_>,
    resolved: &BTreeMap<ForwardRef, ChainId>,
) -> Option<FoundWait> {
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
    // entered with the first and begun to wait again with the last.
    let mut missing = (1..length).filter(|&at| events[at].is_none());
    let (first_missing, last_missing) = (missing.next(), missing.next_back());

    let mut parts: Vec<Part> = Vec::new();
    let mut seen = Seen::Nothing;
    for (at, numbered) in events.iter().enumerate().take(length + 1).skip(1) {
        let (time_ns, owner) = match *numbered {
            Some((_, Event::ContendedEnter(_))) => continue,
            Some((thread, &Event::ContendedExit(ContendedExit { time_ns, chain, .. }))) => {
                let owner = match seen {
                    Seen::Entered(other) if other != thread => Err("no-exit"),
                    Seen::Loss => Err("lost"),
                    _ => Ok((name(thread), method(chain, resolved))),
                };
                seen = Seen::Exit;
                (time_ns, owner)
            }
            Some((thread, &Event::ContendedEntered(ContendedEntered { time_ns, .. }))) => {
                let reason = match seen {
                    Seen::Nothing | Seen::Entered(_) => "no-exit",
                    Seen::Exit => "handoff",
                    Seen::Loss => "lost",
                };
                seen = Seen::Entered(thread);
                (time_ns, Err(reason))
            }
            _ => {
                seen = Seen::Loss;
                continue;
            }
        };
        let in_doubt = first_missing.is_some_and(|first| at > first)
            && last_missing.is_some_and(|last| at < last);
        let owner = if in_doubt { Err("lost") } else { owner };
        let part_start_ns = parts.last().map_or(start_ns, |part| part.end_ns);
        let part_end_ns = time_ns.clamp(part_start_ns, end_ns);
        let is_only_part = at == length && parts.is_empty();
        if part_end_ns > part_start_ns || is_only_part {
            parts.push(Part {
                start_ns: part_start_ns,
                end_ns: part_end_ns,
                owner,
            });
        }
    }
    let lock = match description {
        Some((_, Event::LockDescription(LockDescription { identity_hash, .. }))) => {
            format!("Lock@{identity_hash:x}")
        }
        _ => format!("<lock #{lock} not described>"),
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
        safepoint_ns,
        parts,
        holder: None,
    })
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
