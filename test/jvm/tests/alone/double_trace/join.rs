//! Two traces of one run, joined wait by wait.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use super::traced_wait::{By, Part, TracedWait};

/// The agent notes a release and the JVM does so next. Either takes some microseconds.
const LONGEST_NOTE_NS: i64 = 100_000;

/// The agent's findings about the waits that the patched JVM reports. All times are in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// Waits in both traces.
    pub(crate) waits: u64,
    /// The time that threads waited, by the patched JVM.
    pub(crate) blocked_ns: i64,
    /// Both name the same thread.
    pub(crate) same_ns: i64,
    /// The part of that with the same method, too.
    pub(crate) same_method_ns: i64,
    /// The part of that where not the same method is named and the agent's calls `Object.wait`: the
    /// agent knows which method has acquired the lock only if that one releases it in the end while
    /// others wait (`docs/agent.md`).
    pub(crate) by_wait_ns: i64,
    /// The rest of that: by the patched JVM's method and the agent's.
    pub(crate) other_methods_ns: BTreeMap<(String, String), i64>,
    /// Both name a thread, and not the same one: by where the agent's may come from.
    pub(crate) differing_ns: BTreeMap<&'static str, i64>,
    /// The patched JVM names a thread, the agent none: by what it says instead, and lock class.
    pub(crate) unknown_ns: BTreeMap<String, i64>,
    /// The part of the same between the two traces' notes of one release, where that is long enough
    /// that the owner must have lost its processor in between.
    pub(crate) between_notes_ns: i64,
    /// The part of this before the agent reported any release: code looks for waiting threads once
    /// some wait (`docs/agent.md`).
    pub(crate) early_ns: i64,
    /// The patched JVM says that nobody had the lock: by whether the agent names a thread.
    pub(crate) free_ns: BTreeMap<&'static str, i64>,
    /// The patched JVM does not know the owner.
    pub(crate) not_known_ns: i64,
    /// Before the agent has noticed the wait, or after it took it to be over.
    pub(crate) outside_ns: i64,
    /// Waits that HotSpot does not report to agents, by lock class: number and duration.
    pub(crate) unreported: BTreeMap<String, (u64, i64)>,
    /// The others that only the patched JVM reports.
    pub(crate) missed: BTreeMap<String, (u64, i64)>,
    /// Those that only the agent reports.
    pub(crate) extra: BTreeMap<String, (u64, i64)>,
}

impl Joined {
    pub(crate) fn of(patched: &[TracedWait], mut agent: Vec<TracedWait>) -> Self {
        // The start of a trace by the wall clock and by the one of its events are read one after
        // the other. What both traces note at the same time is that a wait is over.
        let pairs = pair(patched, &agent);
        let mut offsets: Vec<_> = pairs
            .iter()
            .filter_map(|&(wait, other)| Some(agent[other?].end_ns() - wait.end_ns()))
            .collect();
        offsets.sort_unstable();
        let offset_ns = offsets.get(offsets.len() / 2).copied().unwrap_or(0);
        for part in agent.iter_mut().flat_map(|wait| &mut wait.parts) {
            part.start_ns -= offset_ns;
            part.end_ns -= offset_ns;
        }

        let owned = agent.iter().flat_map(|wait| &wait.parts);
        let owned = owned.filter(|part| is_thread(&part.owner));
        let first_reported_ns = owned.map(|part| part.end_ns).min().unwrap_or(i64::MAX);

        let mut joined = Self::default();
        let mut is_paired = vec![false; agent.len()];
        for (wait, other) in pair(patched, &agent) {
            match other {
                Some(other) => {
                    is_paired[other] = true;
                    joined.add(wait, &agent[other], first_reported_ns);
                }
                None if is_unreported(wait) => note(&mut joined.unreported, wait),
                None => note(&mut joined.missed, wait),
            }
        }
        let unpaired = agent.iter().zip(is_paired).filter(|(_, paired)| !paired);
        unpaired.for_each(|(wait, _)| note(&mut joined.extra, wait));
        joined
    }

    fn add(&mut self, wait: &TracedWait, by_agent: &TracedWait, first_reported_ns: i64) {
        self.waits += 1;
        self.blocked_ns += wait.duration_ns();
        let mut inside_ns = 0;
        for (index, part) in wait.parts.iter().enumerate() {
            let mut released = None;
            for other in &by_agent.parts {
                let from_ns = part.start_ns.max(other.start_ns);
                let length_ns = part.end_ns.min(other.end_ns) - from_ns;
                if length_ns > 0 {
                    inside_ns += length_ns;
                    let is_noted = released.is_some_and(|by| is_same(by, &part.owner));
                    if is_noted && !is_thread(&other.owner) && length_ns > LONGEST_NOTE_NS {
                        self.between_notes_ns += length_ns;
                    } else if is_thread(&part.owner) && other.end_ns < first_reported_ns {
                        self.early_ns += length_ns;
                    } else {
                        self.compare(wait, index, &other.owner, length_ns);
                    }
                }
                released = Some(&other.owner);
            }
        }
        self.outside_ns += wait.duration_ns() - inside_ns;
    }

    fn compare(&mut self, wait: &TracedWait, index: usize, by_agent: &By, length_ns: i64) {
        let parts = &wait.parts;
        match (&parts[index].owner, by_agent) {
            (
                By::Thread { id, method, .. },
                By::Thread {
                    id: other,
                    method: other_method,
                    waits,
                },
            ) => {
                if id != other {
                    *self
                        .differing_ns
                        .entry(origin(parts, index, *other))
                        .or_default() += length_ns;
                    return;
                }
                self.same_ns += length_ns;
                if method == other_method {
                    self.same_method_ns += length_ns;
                } else if *waits {
                    self.by_wait_ns += length_ns;
                } else {
                    let methods = (method.clone(), other_method.clone());
                    *self.other_methods_ns.entry(methods).or_default() += length_ns;
                }
            }
            (By::Thread { .. }, other) => {
                let said = match other {
                    By::NotKnown(reason) => reason.name(),
                    _ => "free",
                };
                let said = format!("{said} of {}", wait.lock_class);
                *self.unknown_ns.entry(said).or_default() += length_ns;
            }
            (By::Nobody, other) => {
                let said = match other {
                    By::Thread { .. } => "named",
                    _ => "not named",
                };
                *self.free_ns.entry(said).or_default() += length_ns;
            }
            (By::NotKnown(_), _) => self.not_known_ns += length_ns,
        }
    }

    pub(crate) fn both_name_ns(&self) -> i64 {
        self.same_ns + self.differing_ns.values().sum::<i64>()
    }

    /// Returns the share of the time in which both name an owner that has the same one.
    pub(crate) fn agreement(&self) -> f64 {
        self.same_ns as f64 / self.both_name_ns() as f64
    }

    /// Returns the share of the time in which both name the same thread that has the same method of
    /// it, except for releases by `Object.wait`.
    pub(crate) fn same_method(&self) -> f64 {
        self.same_method_ns as f64 / (self.same_ns - self.by_wait_ns) as f64
    }

    /// Returns the share of the blocked time between two notes of a release, far from each other.
    pub(crate) fn between_notes(&self) -> f64 {
        self.between_notes_ns as f64 / self.blocked_ns as f64
    }

    /// Returns the share of the blocked time before the agent reported any release.
    pub(crate) fn early(&self) -> f64 {
        self.early_ns as f64 / self.blocked_ns as f64
    }

    /// Returns the share of the blocked time with an owner that the agent does not know, including
    /// waits that it does not know at all.
    pub(crate) fn unknown(&self) -> f64 {
        let missed_ns: i64 = self.missed.values().map(|&(_, ns)| ns).sum();
        let unknown_ns = self.unknown_ns.values().sum::<i64>() + missed_ns;
        unknown_ns as f64 / (self.blocked_ns + missed_ns) as f64
    }
}

fn is_thread(owner: &By) -> bool {
    matches!(owner, By::Thread { .. })
}

fn is_same(owner: &By, other: &By) -> bool {
    matches!((owner, other), (By::Thread { id, .. }, By::Thread { id: other, .. }) if id == other)
}

/// Describes the agent's owner by the patched JVM's list of owners.
fn origin(parts: &[Part], index: usize, thread: u64) -> &'static str {
    let is_owner = |part: &Part| matches!(part.owner, By::Thread { id, .. } if id == thread);
    let before = parts[..index]
        .iter()
        .rev()
        .find(|part| part.owner != By::Nobody);
    let after = parts[index + 1..]
        .iter()
        .find(|part| part.owner != By::Nobody);
    match (before.is_some_and(is_owner), after.is_some_and(is_owner)) {
        (true, _) => "the owner before",
        (_, true) => "the next owner",
        _ if parts.iter().any(is_owner) => "another owner",
        _ => "no owner",
    }
}

/// For a lock of the JVM's own, or for a monitor again after `notify`: `docs/agent.md`.
fn is_unreported(wait: &TracedWait) -> bool {
    wait.lock_class == "[I" || wait.after_wait
}

fn note(waits: &mut BTreeMap<String, (u64, i64)>, wait: &TracedWait) {
    let after_wait = if wait.after_wait { " after a wait" } else { "" };
    let entry = waits
        .entry(format!("{}{after_wait}", wait.lock_class))
        .or_default();
    entry.0 += 1;
    entry.1 += wait.duration_ns();
}

/// For each wait the one of the other trace that overlaps it most, of the same thread and for a
/// lock of the same class: by its index. Each is the partner of one only.
fn pair<'a>(
    waits: &'a [TracedWait],
    others: &[TracedWait],
) -> Vec<(&'a TracedWait, Option<usize>)> {
    let mut by_thread: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, other) in others.iter().enumerate() {
        by_thread.entry(other.thread).or_default().push(index);
    }
    let mut is_taken = vec![false; others.len()];
    let pairs = waits.iter().map(|wait| {
        let of_thread = by_thread.get(&wait.thread).map_or(&[][..], Vec::as_slice);
        // A thread waits for one thing after the other: both ends grow.
        let first = of_thread.partition_point(|&other| others[other].end_ns() <= wait.start_ns());
        let overlapping = of_thread[first..]
            .iter()
            .copied()
            .take_while(|&other| others[other].start_ns() < wait.end_ns())
            .filter(|&other| !is_taken[other] && is_alike(wait, &others[other]));
        let best = overlapping.max_by_key(|&other| overlap_ns(wait, &others[other]));
        best.inspect(|&other| is_taken[other] = true);
        (wait, best)
    });
    pairs.collect()
}

fn is_alike(wait: &TracedWait, other: &TracedWait) -> bool {
    wait.mechanism == other.mechanism && wait.lock_class == other.lock_class
}

fn overlap_ns(wait: &TracedWait, other: &TracedWait) -> i64 {
    wait.end_ns().min(other.end_ns()) - wait.start_ns().max(other.start_ns())
}

impl Display for Joined {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let percent = |ns: i64| 100.0 * ns as f64 / self.blocked_ns as f64;
        writeln!(
            f,
            "{} waits of {:.0} ms in both traces: of the time in which both name an owner it is \
             the same thread for {:.2} %, and of that the same method for {:.2} %",
            self.waits,
            self.blocked_ns as f64 / 1e6,
            100.0 * self.agreement(),
            100.0 * self.same_method(),
        )?;
        writeln!(
            f,
            "  the agent names code that calls Object.wait: {:.3} %",
            percent(self.by_wait_ns)
        )?;
        for ((method, by_agent), &ns) in &self.other_methods_ns {
            writeln!(
                f,
                "  the agent names {by_agent}, not {method}: {:.3} %",
                percent(ns)
            )?;
        }
        for (origin, &ns) in &self.differing_ns {
            writeln!(f, "  the agent names {origin}: {:.3} %", percent(ns))?;
        }
        for (said, &ns) in &self.unknown_ns {
            writeln!(
                f,
                "  the agent says {said}, which is owned: {:.3} %",
                percent(ns)
            )?;
        }
        writeln!(
            f,
            "  the owner lost its processor between two notes of its release: {:.3} %",
            percent(self.between_notes_ns)
        )?;
        writeln!(
            f,
            "  over before the agent reported any release: {:.3} %",
            percent(self.early_ns)
        )?;
        for (said, &ns) in &self.free_ns {
            writeln!(
                f,
                "  of a free lock an owner is {said}: {:.3} %",
                percent(ns)
            )?;
        }
        writeln!(
            f,
            "  the patched JVM does not know: {:.3} %",
            percent(self.not_known_ns)
        )?;
        writeln!(
            f,
            "  outside of the agent's wait: {:.3} %",
            percent(self.outside_ns)
        )?;
        for (what, waits) in [
            ("not reported to agents", &self.unreported),
            ("missed", &self.missed),
            ("only reported by the agent", &self.extra),
        ] {
            for (class, (count, ns)) in waits {
                let ms = *ns as f64 / 1e6;
                writeln!(f, "  {what}: {count} waits for {class}, {ms:.3} ms")?;
            }
        }
        Ok(())
    }
}
