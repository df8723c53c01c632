//! Notices that the process did not run: a signal, a debugger or a freezer had stopped it, or the
//! machine was suspended.
//!
//! The drainer asks to be woken every few milliseconds. If it wakes far too late, it was either ready to
//! run and got no processor, which the system counts as its run delay, or it was stopped. Had it been
//! stopped alone, the others would have gone on: the processor time of the whole process says whether
//! they did.

use std::collections::TryReserveError;
use std::fs::File;
use std::time::Duration;

use trace_format::{Counter, Freeze, SystemRecord};

use crate::drain::thread_times::{self, SystemTimes};
use crate::os;

/// A shorter one could be a late timer on a virtual machine with few processors.
const MIN_FREEZE: Duration = Duration::from_millis(100);
/// Processor time that other threads may use before this one runs again: all together, and each to
/// stop and to go on.
const WAKING_NS: u64 = 20_000_000;
const WAKING_OF_THREAD_NS: u64 = 100_000;
/// Reading the processor time of the process costs the more the more threads it has. The drainer may
/// spend this part of its time on it.
const COST_DIVISOR: u64 = 1000;
/// A shorter time is what passes while two clocks are read.
const MIN_SUSPENDED_NS: u64 = 1_000_000;

/// The system's counts of this thread at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// Since the trace's start.
    now_ns: u64,
    /// How long it was on a processor.
    ran_ns: u64,
    /// How long it waited for one, ready to run.
    run_delay_ns: u64,
    /// How often it waited for a page of memory to be read.
    major_faults: u64,
}

/// The same of the process.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessLook {
    now_ns: u64,
    /// How long all threads together were on a processor.
    ran_ns: u64,
}

/// The time between two looks.
struct Gap {
    before: Look,
    after: Look,
    /// The part that the thread asked for, or spent on files.
    asked_ns: u64,
}

impl Gap {
    /// How long it neither ran nor waited for a processor, beyond what it asked for; `None` if that may
    /// have another cause than a freeze.
    fn stopped_ns(&self) -> Option<u64> {
        let gap_ns = self.after.now_ns.saturating_sub(self.before.now_ns);
        let is_paging = self.after.major_faults != self.before.major_faults;
        let stopped_ns = gap_ns
            .saturating_sub(self.asked_ns)
            .saturating_sub(self.awake_ns());
        (!is_paging).then_some(stopped_ns)
    }

    /// How long it ran or waited for a processor.
    fn awake_ns(&self) -> u64 {
        let ran_ns = self.after.ran_ns.saturating_sub(self.before.ran_ns);
        let delay_ns = (self.after.run_delay_ns).saturating_sub(self.before.run_delay_ns);
        ran_ns.saturating_add(delay_ns)
    }

    /// When the thread should have gone on.
    fn due_ns(&self) -> u64 {
        self.before.now_ns.saturating_add(self.asked_ns)
    }

    /// How long all threads of the process can have run outside of a freeze since the last look at the
    /// process.
    fn most_ran_ns(&self, process: &ProcessLook, processors: u64, threads: u64) -> u64 {
        let before_ns = self.due_ns().saturating_sub(process.now_ns);
        let busy_ns = before_ns.saturating_add(self.awake_ns());
        let waking_ns = WAKING_NS.saturating_add(threads.saturating_mul(WAKING_OF_THREAD_NS));
        busy_ns.saturating_mul(processors).saturating_add(waking_ns)
    }
}

/// Whether the process was frozen while its thread was stopped: it ran no longer than it can have run
/// outside of a freeze. One thread that went on would have run for most of the time.
fn is_frozen(stopped_ns: u64, ran_ns: u64, most_ran_ns: u64) -> bool {
    ran_ns <= most_ran_ns.min(stopped_ns / 2)
}

/// Looks for freezes, in the drainer.
#[derive(Debug)]
pub(crate) struct FreezeWatch {
    /// `None` where the system does not count what waits for a processor.
    watched: Option<Watched>,
    /// Those that are to be written.
    found: Vec<Freeze>,
    freezes: u64,
    frozen_ns: u64,
    /// How long the machine had been suspended when the trace began.
    suspended_before_ns: u64,
}

#[derive(Debug)]
struct Watched {
    schedstat: File,
    processors: u64,
    min_freeze_ns: u64,
    last: Look,
    process: ProcessLook,
    /// Processor time of the thread for the last look at the process.
    process_cost_ns: u64,
}

impl FreezeWatch {
    /// Of the calling thread, from then on, in nanoseconds since the trace's start.
    pub(crate) fn begin(now_ns: u64) -> Self {
        Self {
            watched: Watched::begin(now_ns),
            found: Vec::new(),
            freezes: 0,
            frozen_ns: 0,
            suspended_before_ns: os::suspended_ns(),
        }
    }

    /// Looks at the time since the last look. `asked` is the part that the thread asked for, or spent on
    /// files; `stolen_ns` is what each processor lost to other machines meanwhile.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn look(
        &mut self,
        now_ns: u64,
        asked: Duration,
        stolen_ns: impl FnOnce() -> u64,
    ) -> Result<(), TryReserveError> {
        let watched = self.watched.as_mut();
        let Some(freeze) = watched.and_then(|watched| watched.look(now_ns, asked, stolen_ns))
        else {
            return Ok(());
        };
        self.found.try_reserve(1)?;
        self.found.push(freeze);
        self.freezes = self.freezes.saturating_add(1);
        let duration_ns = freeze.end_ns.saturating_sub(freeze.begin_ns);
        self.frozen_ns = self.frozen_ns.saturating_add(duration_ns);
        Ok(())
    }

    /// Those found since the last time.
    pub(crate) fn take(&mut self) -> impl ExactSizeIterator<Item = SystemRecord> {
        self.found.drain(..).map(SystemRecord::Freeze)
    }

    /// Returns its record in the trace.
    pub(crate) fn counters(&self) -> [(Counter, u64); 3] {
        let suspended_ns = os::suspended_ns().saturating_sub(self.suspended_before_ns);
        let is_known = suspended_ns >= MIN_SUSPENDED_NS;
        [
            (Counter::Freezes, self.freezes),
            (Counter::FrozenNs, self.frozen_ns),
            (
                Counter::SuspendedNs,
                if is_known { suspended_ns } else { 0 },
            ),
        ]
    }
}

impl Watched {
    fn begin(now_ns: u64) -> Option<Self> {
        if !thread_times::is_told() {
            return None;
        }
        let min_freeze_ns = MIN_FREEZE.as_nanos() as u64;
        let mut watched = Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok()?,
            processors: os::processors(),
            min_freeze_ns: min_freeze_ns.saturating_add(os::timer_slack_ns()),
            last: Look::default(),
            process: ProcessLook::default(),
            process_cost_ns: 0,
        };
        watched.last = watched.look_at_thread(now_ns)?;
        watched.look_at_process(now_ns);
        Some(watched)
    }

    fn look(
        &mut self,
        now_ns: u64,
        asked: Duration,
        stolen_ns: impl FnOnce() -> u64,
    ) -> Option<Freeze> {
        let after = self.look_at_thread(now_ns)?;
        let gap = Gap {
            before: std::mem::replace(&mut self.last, after),
            after,
            asked_ns: u64::try_from(asked.as_nanos()).unwrap_or(u64::MAX),
        };
        let process = self.process;
        let stopped_ns = gap.stopped_ns().filter(|&ns| ns >= self.min_freeze_ns);
        let since_ns = now_ns.saturating_sub(process.now_ns);
        if stopped_ns.is_some() || since_ns / COST_DIVISOR >= self.process_cost_ns {
            self.look_at_process(now_ns);
        }
        let stopped_ns = stopped_ns?;
        let ran_ns = self.process.ran_ns.saturating_sub(process.ran_ns);
        let most_ran_ns = gap.most_ran_ns(&process, self.processors, os::threads());
        let is_frozen = is_frozen(stopped_ns, ran_ns, most_ran_ns) && stolen_ns() < stopped_ns / 2;
        is_frozen.then_some(Freeze {
            begin_ns: gap.due_ns(),
            end_ns: gap.due_ns().saturating_add(stopped_ns),
        })
    }

    fn look_at_thread(&self, now_ns: u64) -> Option<Look> {
        let SystemTimes {
            processor_ns,
            run_delay_ns,
            ..
        } = SystemTimes::read(&self.schedstat)?;
        Some(Look {
            now_ns,
            ran_ns: processor_ns,
            run_delay_ns,
            major_faults: os::thread_major_faults(),
        })
    }

    fn look_at_process(&mut self, now_ns: u64) {
        let begin_ns = os::thread_cpu_ns();
        self.process = ProcessLook {
            now_ns,
            ran_ns: os::process_cpu_ns(),
        };
        self.process_cost_ns = os::thread_cpu_ns().saturating_sub(begin_ns);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A gap of a second, of which 15 ms were asked for, in milliseconds.
    fn gap(ran: u64, run_delay: u64, major_faults: u64) -> Gap {
        let before = Look {
            now_ns: 7000 * MS,
            ran_ns: 300 * MS,
            run_delay_ns: 900 * MS,
            major_faults: 5,
        };
        Gap {
            before,
            after: Look {
                now_ns: 8015 * MS,
                ran_ns: before.ran_ns + ran * MS,
                run_delay_ns: before.run_delay_ns + run_delay * MS,
                major_faults: before.major_faults + major_faults,
            },
            asked_ns: 15 * MS,
        }
    }

    #[test]
    fn a_thread_that_did_nothing_was_stopped() {
        assert_eq!(gap(0, 0, 0).stopped_ns(), Some(1000 * MS));
        assert_eq!(gap(20, 100, 0).stopped_ns(), Some(880 * MS));
        // It got no processor, or was busy: nothing is left.
        assert_eq!(gap(0, 1000, 0).stopped_ns(), Some(0));
        assert_eq!(gap(990, 20, 0).stopped_ns(), Some(0));
        // It waited for memory.
        assert_eq!(gap(0, 0, 1).stopped_ns(), None);
    }

    #[test]
    fn a_process_that_ran_was_not_frozen() {
        let gap = gap(0, 0, 0);
        let at = |now_ns| ProcessLook { now_ns, ran_ns: 0 };
        // All processors were busy until the thread was due.
        let just_before = gap.most_ran_ns(&at(7000 * MS), 4, 10);
        assert_eq!(just_before, 4 * 15 * MS + 21 * MS);
        assert!(is_frozen(1000 * MS, 60 * MS, just_before));
        assert!(!is_frozen(1000 * MS, 100 * MS, just_before));
        // The process was not looked at for long: one thread that went on would have run all the time.
        let long_before = gap.most_ran_ns(&at(6000 * MS), 4, 10);
        assert!(is_frozen(1000 * MS, 400 * MS, long_before));
        assert!(!is_frozen(1000 * MS, 990 * MS, long_before));
    }

    #[test]
    fn threads_are_counted() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || ended.recv());
        assert!(os::threads() > 1);
        drop(end);
        drop(other.join());
    }

    /// A thread that sleeps for longer than it asked for, and one that asked for it.
    #[test]
    fn the_time_asked_for_is_no_freeze() {
        let Some(mut watched) = Watched::begin(0) else {
            println!("skipped: the system does not count what waits for a processor");
            return;
        };
        // As the clock is ours, and the other threads of this process are not.
        let mut look = |now_ms, asked| {
            watched.process_cost_ns = 0;
            watched.look(now_ms * MS, Duration::from_millis(asked), || 0)
        };
        assert_eq!(look(15, 15), None);
        assert_eq!(look(100, 15), None);
        let hour_ms = 3_600_000;
        let found = look(100 + hour_ms, 15).unwrap();
        assert_eq!(found.begin_ns, 115 * MS);
        let missing_ns = (100 + hour_ms) * MS - found.end_ns;
        assert!(missing_ns < 10_000 * MS, "{missing_ns}");
        assert_eq!(look(100 + 2 * hour_ms, hour_ms), None);
        // The hypervisor gave the processors to others.
        let stolen = watched.look(300 * hour_ms * MS, Duration::ZERO, || 299 * hour_ms * MS);
        assert_eq!(stolen, None);
    }
}
