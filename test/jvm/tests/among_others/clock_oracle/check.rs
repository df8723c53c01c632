//! The comparison of a trace with the notes of the program.

use std::collections::{BTreeMap, BTreeSet};

use jvm_tests::Wait;

use super::notes::{Hold, Notes, blame, bounds};

/// The tolerance of the blame of a pair of threads, besides a step of the clock at each end of each
/// part of a wait.
///
/// The program reads its clock some microseconds before and after the tracer
/// does, where a thread has a lock for 1 to 4 milliseconds.
const TOLERANCE: f64 = 0.02;

/// A thread that blocked another one for less cannot be compared.
const SHORTEST_BLAME_NS: i64 = 50_000_000;

/// Each of eight workers blocks each other one.
const PAIRS: usize = 8 * 7;

/// Compares waits, ordered by their start, with the notes; says how they differ.
pub(crate) fn check(notes: &Notes, waits: &[Wait]) -> Result<(), String> {
    let led_to = match_holds(notes, waits)?;
    check_presence(notes, &led_to)?;
    check_times(&led_to)?;
    for wait in &led_to {
        check_owners(wait)?;
    }
    check_pairs(notes, waits)
}

/// A wait, and the hold that it led to.
struct LedTo<'a> {
    wait: &'a Wait,
    /// All holds of the lock.
    holds: &'a [Hold],
    number: usize,
}

impl<'a> LedTo<'a> {
    fn hold(&self) -> &'a Hold {
        &self.holds[self.number]
    }

    fn start_ns(&self) -> i64 {
        signed(self.wait.start_ns)
    }

    fn end_ns(&self) -> i64 {
        signed(self.wait.start_ns + self.wait.duration_ns)
    }
}

/// Finds the hold that each wait led to: the thread's first one on this lock
/// that began after the wait did. The one before began a millisecond earlier.
fn match_holds<'a>(notes: &'a Notes, waits: &'a [Wait]) -> Result<Vec<LedTo<'a>>, String> {
    let trace_start_ns = first_wanted_at_zero(notes, waits).ok_or("no waits")?;
    let led_to = |wait: &'a Wait| {
        let start_ns = trace_start_ns + signed(wait.start_ns);
        let holds = notes.holds.get(&wait.common().lock_id)?;
        let mut later = (0..holds.len()).filter(|&number| {
            let hold = &holds[number];
            hold.thread == wait.thread() && hold.acquired_ns >= start_ns
        });
        Some(LedTo {
            wait,
            holds,
            number: later.next()?,
        })
    };
    waits
        .iter()
        .map(|wait| led_to(wait).ok_or_else(|| format!("no hold: {wait}")))
        .collect()
}

/// Returns the trace's start on the program's clock, or a little before that: each thread's first
/// wait led to its first hold, and began soon after the thread wanted it.
fn first_wanted_at_zero(notes: &Notes, waits: &[Wait]) -> Option<i64> {
    let mut wanted_ns: BTreeMap<&str, i64> = BTreeMap::new();
    for hold in notes.holds.values().flatten() {
        let first = wanted_ns.entry(&hold.thread).or_insert(i64::MAX);
        *first = hold.wanted_ns.min(*first);
    }
    let mut firsts = BTreeMap::new();
    for wait in waits {
        firsts.entry(wait.thread()).or_insert(signed(wait.start_ns));
    }
    let starts = firsts.iter();
    starts
        .filter_map(|(thread, start_ns)| Some(wanted_ns.get(thread)? - start_ns))
        .max()
}

/// One wait at most led to each hold, and one did where the JVM was seen to
/// call the thread blocked.
fn check_presence(notes: &Notes, led_to: &[LedTo]) -> Result<(), String> {
    let mut traced = BTreeSet::new();
    for LedTo { wait, number, .. } in led_to {
        if !traced.insert((&wait.common().lock_id, number)) {
            return Err(format!("a second wait for the same hold: {wait}"));
        }
    }
    for (lock, holds) in &notes.holds {
        for (number, hold) in holds.iter().enumerate() {
            if hold.blocked_by_ns.is_some() && !traced.contains(&(lock, &number)) {
                return Err(format!("was blocked, but not in the trace: {hold:?}"));
            }
        }
    }
    Ok(())
}

/// A wait begins after the thread wanted the lock, and before it was seen
/// blocked; it ends after the owner before was about to release the lock, and
/// before the thread had it. There is a time at which the trace can have
/// started so that this is true of all waits.
fn check_times(led_to: &[LedTo]) -> Result<(), String> {
    let earliest = led_to.iter().map(|wait| {
        let wanted_ns = wait.hold().wanted_ns;
        let before = wait.number.checked_sub(1).map(|number| &wait.holds[number]);
        let free_ns = before.map_or(wanted_ns, |owner| owner.released_ns);
        (wanted_ns - wait.start_ns()).max(free_ns - wait.end_ns())
    });
    let latest = led_to.iter().map(|wait| {
        let Hold {
            acquired_ns,
            blocked_by_ns,
            ..
        } = *wait.hold();
        (acquired_ns - wait.end_ns()).min(blocked_by_ns.unwrap_or(acquired_ns) - wait.start_ns())
    });
    let earliest_ns = earliest.max().ok_or("no waits")?;
    let latest_ns = latest.min().ok_or("no waits")?;
    if earliest_ns > latest_ns {
        return Err(format!(
            "the trace would have started after {earliest_ns} and before {latest_ns}"
        ));
    }
    Ok(())
}

/// Each owner is blamed for as long as the notes allow.
fn check_owners(led_to: &LedTo) -> Result<(), String> {
    let mut blamed: BTreeMap<&str, i64> = BTreeMap::new();
    for part in &led_to.wait.parts {
        if let Some(owner) = part.owner_name() {
            *blamed.entry(owner).or_default() += signed(part.duration_ns);
        }
    }
    let bounds = bounds(led_to.holds, led_to.number);
    let owners: BTreeSet<_> = blamed.keys().chain(bounds.keys()).collect();
    for owner in owners {
        let blamed_ns = blamed.get(owner).copied().unwrap_or(0);
        let bounds = bounds.get(owner).copied().unwrap_or_default();
        if !(bounds.least_ns..=bounds.most_ns).contains(&blamed_ns) {
            let wait = led_to.wait;
            return Err(format!("{owner} {blamed_ns} ns, not {bounds:?}: {wait}"));
        }
    }
    Ok(())
}

/// Over the whole run each worker is blamed for each other one as the notes say.
/// The main thread only holds up their start.
fn check_pairs(notes: &Notes, waits: &[Wait]) -> Result<(), String> {
    let mut traced: BTreeMap<[&str; 2], (i64, i64)> = BTreeMap::new();
    for part in waits.iter().flat_map(|wait| &wait.parts) {
        if let Some(owner) = part.owner_name() {
            let (parts, blamed_ns) = traced.entry([&part.thread.name, owner]).or_default();
            *parts += 1;
            *blamed_ns += signed(part.duration_ns);
        }
    }
    let mut truth = blame(notes);
    truth.retain(|[blocked, owner], _| blocked != owner && *owner != "main");
    assert_eq!(truth.len(), PAIRS, "{truth:?}");
    for (pair, blame) in truth {
        let (parts, blamed_ns) = traced.get(&pair).copied().unwrap_or_default();
        let tolerance_ns = (TOLERANCE * blame.held_ns as f64) as i64;
        let grain_ns = 2 * parts * notes.clock_step_ns;
        let least_ns = blame.held_ns - blame.perhaps_less_ns - tolerance_ns - grain_ns;
        let most_ns = blame.held_ns + blame.perhaps_more_ns + tolerance_ns + grain_ns;
        if !(least_ns..=most_ns).contains(&blamed_ns) {
            let [blocked, owner] = pair;
            return Err(format!(
                "{owner} blocked {blocked} for {blamed_ns} ns, not {blame:?}"
            ));
        }
        let is_short = blame.held_ns < SHORTEST_BLAME_NS;
        assert!(!is_short, "too short to compare: {pair:?}: {blame:?}");
    }
    Ok(())
}

fn signed(time_ns: u64) -> i64 {
    time_ns
        .try_into()
        .expect("a trace is shorter than 292 years")
}
