//! Asks the system for how long owners of contended locks were on a processor, and how long they
//! waited for one.
//!
//! The drainer does so, in its own time: no hook makes a system call. Only threads that were seen
//! to own a contended lock are asked for, less and less often from then on, and no more than the
//! budget allows; what is skipped is counted.

use std::collections::TryReserveError;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use trace_format::{Capabilities, Counter, SystemRecord, ThreadId, ThreadTimes};

use crate::os;
use crate::runtime::Runtime;
use crate::threads::owners_seen::SeenOwner;
use crate::threads::thread_slot::ThreadSlot;

/// Files read at once.
pub(crate) const MAX_FILES: usize = 64;
/// Threads looked after at once. If there are more, those seen first are forgotten.
const MAX_OWNERS: usize = 512;
/// The budget: one nanosecond of a processor in this many.
const BUDGET_DIVISOR: u64 = 100;
/// How much of the budget may be spent ahead of time.
const ADVANCE_NS: u64 = 5_000_000;
/// An owner that was not seen for a time is asked for again when this part of it has passed.
const PATIENCE_DIVISOR: u64 = 32;
/// An owner is forgotten when it was not seen for this long.
const MAX_AGE: Duration = Duration::from_secs(60);
/// How often the steal time is asked for.
const STEAL_INTERVAL: Duration = Duration::from_secs(1);

/// A thread that was seen to own a contended lock.
#[derive(Clone, Copy, Debug)]
struct Owner {
    number: ThreadId,
    slot: &'static ThreadSlot,
    seen_ns: u64,
    asked_ns: u64,
}

/// A part of a processor's time. What is not spent in time is lost: among tens of thousands of
/// threads, a search for an owner takes milliseconds, and many of them would follow a quiet hour.
#[derive(Debug, Default)]
struct Budget {
    /// What was spent ahead of time.
    ahead_ns: u64,
    seen_ns: u64,
}

impl Budget {
    /// Returns whether something may be spent now.
    fn allows_more(&mut self, now_ns: u64) -> bool {
        let earned_ns = now_ns.saturating_sub(self.seen_ns) / BUDGET_DIVISOR;
        self.seen_ns = now_ns;
        self.ahead_ns = self.ahead_ns.saturating_sub(earned_ns);
        self.ahead_ns < ADVANCE_NS
    }

    fn spend(&mut self, spent_ns: u64) {
        self.ahead_ns = self.ahead_ns.saturating_add(spent_ns);
    }
}

/// The owners to ask for, and what that has cost.
#[derive(Debug)]
pub(crate) struct ThreadTimesReader {
    is_told: bool,
    owners: Vec<Owner>,
    /// Owners that are not identified yet.
    strangers: Vec<SeenOwner>,
    /// Position of the owner to begin with.
    next: usize,
    budget: Budget,
    /// Processor time spent.
    spent_ns: u64,
    read: u64,
    skipped: u64,
    steal: Option<Steal>,
}

/// Processor time that the hypervisor gave to others.
#[derive(Clone, Copy, Debug)]
struct Steal {
    start_ns: u64,
    last_ns: u64,
    asked_ns: u64,
}

impl ThreadTimesReader {
    pub(crate) fn new() -> Self {
        let steal = steal_ns();
        Self {
            is_told: is_told(),
            owners: Vec::new(),
            strangers: Vec::new(),
            next: 0,
            budget: Budget::default(),
            spent_ns: 0,
            read: 0,
            skipped: 0,
            steal: steal.map(|start_ns| Steal {
                start_ns,
                last_ns: start_ns,
                asked_ns: 0,
            }),
        }
    }

    /// Appends the system's times of the owners seen lately, at most [`MAX_FILES`].
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn read(
        &mut self,
        runtime: &Runtime,
        records: &mut Vec<SystemRecord>,
    ) -> Result<(), TryReserveError> {
        if !self.is_told {
            return Ok(());
        }
        let now_ns = runtime.clock.now_ns();
        let begin_ns = os::thread_cpu_ns();
        let room = match self.budget.allows_more(now_ns) {
            true => MAX_FILES,
            false => 0,
        };
        self.see_again(runtime, now_ns)?;
        match room {
            0 => self.skip_strangers(),
            _ => self.meet_strangers(runtime, now_ns)?,
        }
        records.try_reserve(MAX_FILES)?;
        self.ask(runtime, now_ns, room, records);
        self.ask_for_steal(now_ns);
        let spent_ns = os::thread_cpu_ns().saturating_sub(begin_ns);
        self.budget.spend(spent_ns);
        self.spent_ns = self.spent_ns.saturating_add(spent_ns);
        Ok(())
    }

    /// Notes the owners seen, and forgets those not seen for long, or gone.
    fn see_again(&mut self, runtime: &Runtime, now_ns: u64) -> Result<(), TryReserveError> {
        let Self {
            owners, strangers, ..
        } = self;
        strangers.clear();
        for seen in runtime.threads.owners_seen.take() {
            let known = owners
                .iter_mut()
                .find(|owner| owner.slot.identity().is(seen));
            match known {
                Some(owner) => owner.seen_ns = now_ns,
                None => {
                    strangers.try_reserve(1)?;
                    strangers.push(seen);
                }
            }
        }
        let max_age_ns = MAX_AGE.as_nanos() as u64;
        owners.retain(|owner| {
            owner.slot.identity().number() == owner.number
                && now_ns.saturating_sub(owner.seen_ns) < max_age_ns
        });
        Ok(())
    }

    /// Strangers are not looked for: there may be thousands of threads among which they are.
    fn skip_strangers(&mut self) {
        let strangers = u64::try_from(self.strangers.len()).unwrap_or(u64::MAX);
        self.skipped = self.skipped.saturating_add(strangers);
    }

    /// Finds the owners among all threads that were seen for the first time.
    fn meet_strangers(&mut self, runtime: &Runtime, now_ns: u64) -> Result<(), TryReserveError> {
        let Self {
            owners, strangers, ..
        } = self;
        if strangers.is_empty() {
            return Ok(());
        }
        for slot in runtime.threads.slots.iter() {
            let identity = slot.identity();
            let number = identity.number();
            let is_one = !number.is_none() && strangers.iter().any(|&seen| identity.is(seen));
            if !is_one || owners.iter().any(|owner| owner.number == number) {
                continue;
            }
            if owners.len() >= MAX_OWNERS {
                let oldest = (0..).zip(&*owners).min_by_key(|(_, owner)| owner.seen_ns);
                let oldest = oldest.map_or(0, |(place, _)| place);
                owners.swap_remove(oldest);
            }
            owners.try_reserve(1)?;
            owners.push(Owner {
                number,
                slot,
                seen_ns: now_ns,
                asked_ns: 0,
            });
        }
        Ok(())
    }

    /// Asks for the owners whose turn it is, at most `room`.
    fn ask(
        &mut self,
        runtime: &Runtime,
        now_ns: u64,
        room: usize,
        records: &mut Vec<SystemRecord>,
    ) {
        let first = self.next.checked_rem(self.owners.len()).unwrap_or(0);
        let (before, from) = self.owners.split_at_mut(first);
        let mut left = room;
        for (place, owner) in (first..).zip(from).chain((0..).zip(before)) {
            let patience_ns = now_ns.saturating_sub(owner.seen_ns) / PATIENCE_DIVISOR;
            if now_ns.saturating_sub(owner.asked_ns) < patience_ns {
                continue;
            }
            if left == 0 {
                self.skipped = self.skipped.saturating_add(1);
                continue;
            }
            left = left.saturating_sub(1);
            self.next = place.saturating_add(1);
            owner.asked_ns = now_ns;
            self.read = self.read.saturating_add(1);
            let Some(os_id) = owner.slot.identity().os_id(owner.number) else {
                continue;
            };
            let before_ns = runtime.clock.now_ns();
            let Some(times) = times_of(os_id) else {
                continue;
            };
            // Between the two the system has said so.
            let time_ns = before_ns.midpoint(runtime.clock.now_ns());
            // Another thread may have got the number of one that has ended.
            if owner.slot.identity().is_still(owner.number) {
                records.push(SystemRecord::ThreadTimes(ThreadTimes {
                    thread: owner.number,
                    time_ns,
                    processor_ns: times.processor_ns,
                    run_delay_ns: times.run_delay_ns,
                    timeslices: times.timeslices,
                }));
            }
        }
    }

    fn ask_for_steal(&mut self, now_ns: u64) {
        let Some(steal) = &mut self.steal else {
            return;
        };
        let since_ns = now_ns.saturating_sub(steal.asked_ns);
        if Duration::from_nanos(since_ns) < STEAL_INTERVAL {
            return;
        }
        steal.asked_ns = now_ns;
        steal.last_ns = steal_ns().unwrap_or(steal.last_ns);
    }

    /// Returns the time that the hypervisor took of each processor since the last reading, in
    /// nanoseconds.
    pub(crate) fn stolen_ns(&self) -> u64 {
        let now_ns = self.steal.and_then(|_| steal_ns());
        let last_ns = self.steal.map_or(0, |steal| steal.last_ns);
        let stolen_ns = now_ns.unwrap_or(0).saturating_sub(last_ns);
        stolen_ns.checked_div(os::processors()).unwrap_or(0)
    }

    /// Returns its record in the trace.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (Counter, u64)> + use<> {
        let asked = [
            (Counter::ThreadTimesRead, self.read),
            (Counter::ThreadTimesSkipped, self.skipped),
            (Counter::ThreadTimesCpuNs, self.spent_ns),
        ];
        let steal = self.steal.into_iter().flat_map(|steal| {
            let stolen_ns = steal.last_ns.saturating_sub(steal.start_ns);
            [
                (Counter::StealNs, stolen_ns),
                (Counter::Processors, os::processors()),
            ]
        });
        let is_told = self.is_told;
        asked.into_iter().filter(move |_| is_told).chain(steal)
    }
}

/// Returns what a trace on this system has of the times of threads.
pub(crate) fn capability() -> Capabilities {
    match is_told() {
        true => Capabilities::THREAD_TIMES,
        false => Capabilities::WITHOUT_RUN_DELAY,
    }
}

/// Returns whether the system counts how long threads wait for a processor. If not, all
/// numbers are 0, or the file is missing.
pub(crate) fn is_told() -> bool {
    let mut text = [0; 128];
    let line = read_start("/proc/thread-self/schedstat", &mut text);
    let mut numbers = numbers(line.unwrap_or_default());
    // This thread runs, so it came to a processor once.
    numbers.nth(2).is_some_and(|times| times > 0)
}

/// The system's counts of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemTimes {
    /// How long it was on a processor.
    pub(crate) processor_ns: u64,
    /// How long it waited for one.
    pub(crate) run_delay_ns: u64,
    /// How often it came to one; the waits before are in the above.
    timeslices: u64,
}

impl SystemTimes {
    /// Reads a thread's file.
    pub(crate) fn read(schedstat: &File) -> Option<Self> {
        let mut text = [0; 128];
        let mut numbers = numbers(read_again(schedstat, &mut text)?);
        Some(Self {
            processor_ns: numbers.next()?,
            run_delay_ns: numbers.next()?,
            timeslices: numbers.next()?,
        })
    }
}

/// `None` if there is no such thread.
fn times_of(os_id: u32) -> Option<SystemTimes> {
    let mut path = [0; 64];
    let path = format_into(&mut path, format_args!("/proc/self/task/{os_id}/schedstat"))?;
    let file = File::open(path).ok()?;
    // The system reads its counts one by one, and adds a wait just before it counts the timeslice
    // (`sched_info_arrive`): read first, that is not ahead of the wait.
    let SystemTimes { timeslices, .. } = SystemTimes::read(&file)?;
    Some(SystemTimes {
        timeslices,
        ..SystemTimes::read(&file)?
    })
}

/// Processor time that the hypervisor gave to others since the system's start, in nanoseconds.
fn steal_ns() -> Option<u64> {
    const STEAL: usize = 7;
    let mut text = [0; 256];
    let line = read_start("/proc/stat", &mut text)?;
    let line = line.split(|&byte| byte == b'\n').next()?;
    let ticks = numbers(line.strip_prefix(b"cpu")?).nth(STEAL)?;
    let tick_ns = 1_000_000_000_u64.checked_div(os::ticks_per_second()?)?;
    Some(ticks.saturating_mul(tick_ns))
}

fn format_into<'a>(room: &'a mut [u8], text: std::fmt::Arguments<'_>) -> Option<&'a str> {
    let len = room.len();
    let mut rest = &mut *room;
    rest.write_fmt(text).ok()?;
    let written = len.saturating_sub(rest.len());
    std::str::from_utf8(room.get(..written)?).ok()
}

/// The beginning of a file.
fn read_start<'a>(path: &str, room: &'a mut [u8]) -> Option<&'a [u8]> {
    read_again(&File::open(path).ok()?, room)
}

/// The beginning as it is now.
fn read_again<'a>(file: &File, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let len = file.read_at(room, 0).ok()?;
    room.get(..len)
}

fn numbers(line: &[u8]) -> impl Iterator<Item = u64> {
    let words = line.split(u8::is_ascii_whitespace);
    words.filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::hint::black_box;
    use std::time::Instant;

    use super::*;

    fn own_id() -> u32 {
        // SAFETY: has no preconditions.
        unsafe { libc::gettid() }.cast_unsigned()
    }

    #[test]
    fn a_thread_that_runs_has_been_on_a_processor() {
        if !is_told() {
            return;
        }
        let before = times_of(own_id()).unwrap();
        let (begin_ns, begin) = (os::thread_cpu_ns(), Instant::now());
        while begin.elapsed() < Duration::from_millis(100) {
            black_box(begin);
        }
        let ran_ns = os::thread_cpu_ns() - begin_ns;
        let counted_ns = times_of(own_id()).unwrap().processor_ns - before.processor_ns;
        // The system adds up when the clock ticks: a hundred times in a second at least.
        let slack_ns = 20_000_000;
        assert!(counted_ns <= ran_ns + slack_ns);
        assert!(counted_ns + slack_ns >= ran_ns);
    }

    #[test]
    fn a_thread_that_slept_came_to_a_processor() {
        if !is_told() {
            return;
        }
        let before = times_of(own_id()).unwrap();
        std::thread::sleep(Duration::from_millis(1));
        assert!(times_of(own_id()).unwrap().timeslices > before.timeslices);
    }

    #[test]
    fn there_is_no_such_thread() {
        assert_eq!(times_of(u32::MAX), None);
    }

    #[test]
    fn a_quiet_hour_is_not_made_up_for() {
        const SEARCH_NS: u64 = 3_000_000;
        let mut budget = Budget::default();
        let hour_ns = 3_600_000_000_000;
        let polls = (0..1000).map(|poll| hour_ns + poll * 10_000_000);
        let searches = polls.filter(|&now_ns| {
            let is_allowed = budget.allows_more(now_ns);
            if is_allowed {
                budget.spend(SEARCH_NS);
            }
            is_allowed
        });
        // In ten seconds a hundred milliseconds, and what may be spent ahead.
        assert_eq!(searches.count(), 35);
    }

    #[test]
    fn numbers_of_a_line() {
        let found: Vec<_> = numbers(b"  12 0 7\n").collect();
        assert_eq!(found, [12, 0, 7]);
    }
}
