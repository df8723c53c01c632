//! What each thread did, as a list of steps: its own work, in its own order, and the locks that it
//! acquired, as far as a trace shows.
//!
//! Of a trace of which slices are kept, what a thread did in each of them is a program of its own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::blame::park::code::CodeTable;
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::wait::WaitKind;
use crate::what_if::busy::PARTS;
use crate::what_if::clock::Clock;
use crate::what_if::hold::{Hold, Queue};
use crate::what_if::hold_code::{HoldCode, HoldCodes};
use crate::what_if::holds::{Acquired, AllAcquired, Reads, SeenHold, count_permits, holds_of};
use crate::what_if::known_lock::{KnownLock, Sharing};
use crate::what_if::known_thread::{Acquisition, Known, Mark};
use crate::what_if::observed::Observed;
use crate::what_if::succession::successors;

/// The most locks of which holds are assumed that nobody noticed.
const MAX_LOCKS: usize = 16;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// It goes on by itself: how long that took, and how long it would if the thread never had to
    /// wait for a processor.
    Work { wall_ns: u64, cpu_ns: u64 },
    /// It waits for so long for something that is no lock.
    Pause(u64),
    /// It acquires a lock.
    Acquire(Acquisition),
    /// It waits for so long for a lock, and does not get it: the trace ended.
    GiveUp(u64, usize),
    /// It releases a lock.
    Release(usize),
}

/// The steps of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) start_ns: u64,
    /// In the trace.
    pub(super) end_ns: u64,
    /// How much of this time it waited for work, or for other threads to act.
    pub(super) away_ns: u64,
    /// How much of it it waited for locks.
    pub(super) waited_ns: u64,
    pub(super) steps: Vec<Step>,
    /// The parts of the run's time in which it has steps, in order.
    pub(super) parts: Vec<PartOfProgram>,
}

/// The steps of a thread that begin in one part of the time of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PartOfProgram {
    /// The number of the part.
    pub(super) part: usize,
    /// How many steps there are until its end.
    pub(super) until_step: usize,
    /// How much of this time the thread waited for work, or for other threads to act.
    pub(super) away_ns: u64,
}

impl Program {
    /// How long it works or waits for locks.
    pub(super) fn busy_ns(&self) -> u64 {
        (self.end_ns - self.start_ns).saturating_sub(self.away_ns)
    }

    /// How much it counts: which share of that it waits for locks.
    pub(super) fn weight(&self) -> f64 {
        self.waited_ns as f64 / self.busy_ns().max(1) as f64
    }
}

/// The programs of one slice of a trace, or of all of it.
pub(super) type Slice = Vec<Program>;

/// All threads, and the locks that they waited for.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) locks: Vec<KnownLock>,
    /// Those that take each other's place have one number.
    pub(super) lock_numbers: BTreeMap<LockIndex, usize>,
    pub(super) threads: Vec<Known>,
    /// The slice of each thread, in order.
    slices: Vec<u64>,
    /// Of each lock, by begin.
    pub(super) holds: Vec<Vec<Hold>>,
    pub(super) codes: HoldCodes,
    clock: Clock,
}

impl Programs {
    /// What was observed of threads that contend.
    /// `codes` has those of other programs of the same trace.
    pub(super) fn new(
        observed: &Observed,
        processors: Option<u64>,
        entities: &Entities,
        codes: HoldCodes,
        reads: Reads,
    ) -> Self {
        let mut reading = Reading::new(observed, entities, codes);
        let (mut threads, acquired) = reading.blocks();
        let seen = reading.seen_holds(&threads);
        let Reading {
            mut locks,
            lock_numbers,
            threads: numbers,
            mut codes,
            ..
        } = reading;
        set_usual_holds(&mut locks, &seen);
        let of_threads = holds_of(seen, acquired, &threads, &mut locks, &mut codes, reads);
        count_permits(&mut locks, &of_threads, &codes);
        let mut holds = vec![Vec::new(); locks.len()];
        for hold in of_threads {
            holds[hold.lock].push(hold);
            threads[hold.thread].add_hold(hold);
        }
        for holds in &mut holds {
            holds.sort_unstable_by_key(|hold: &Hold| (hold.start_ns, hold.end_ns));
        }
        let queues: Vec<_> = holds.iter().map(|holds| Queue::new(holds)).collect();
        for known in &mut threads {
            known.find_wake_ups(&queues);
        }
        let clock = Clock::new(threads.iter(), processors);
        Self {
            locks,
            lock_numbers,
            slices: numbers.into_keys().map(|(slice, _)| slice).collect(),
            threads,
            holds,
            codes,
            clock,
        }
    }

    /// The time that is divided into parts: of each of several slices all is one part.
    fn run(&self) -> Run {
        let ranges = self.threads.iter().filter_map(Known::range);
        let range = ranges.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)));
        let (from_ns, until_ns) = range.unwrap_or_default();
        let part_ns = match self.slices.first() == self.slices.last() {
            true => (until_ns - from_ns) / PARTS as u64 + 1,
            false => u64::MAX,
        };
        Run { from_ns, part_ns }
    }

    /// Those locks that are wanted and that threads waited for longest.
    pub(super) fn most_waited(&self, is_wanted: impl Fn(&KnownLock) -> bool) -> Vec<usize> {
        let all = 0..self.locks.len();
        let mut locks: Vec<usize> = all.filter(|&it| is_wanted(&self.locks[it])).collect();
        locks.sort_by_key(|&it| Reverse(self.locks[it].waited_ns));
        locks.truncate(MAX_LOCKS);
        locks
    }

    /// The programs of all threads, of each slice; `threads` may have more holds than are known.
    pub(super) fn slices(&self, threads: &[Known]) -> Vec<Slice> {
        let run = self.run();
        let mut slices: Vec<Slice> = Vec::new();
        let mut last = None;
        for (known, &slice) in threads.iter().zip(&self.slices) {
            if last != Some(slice) {
                slices.push(Slice::new());
                last = Some(slice);
            }
            if let Some(programs) = slices.last_mut() {
                programs.push(program(known, run, &self.locks, &self.clock));
            }
        }
        slices
    }
}

/// The begin of a run, and how long each of its parts is.
#[derive(Clone, Copy)]
struct Run {
    from_ns: u64,
    part_ns: u64,
}

impl Run {
    fn part(self, time_ns: u64) -> usize {
        let part = time_ns.saturating_sub(self.from_ns) / self.part_ns;
        (part as usize).min(PARTS - 1)
    }
}

/// Finds out what is what.
struct Reading<'o> {
    observed: &'o Observed,
    entities: &'o Entities,
    code_table: CodeTable,
    /// By number.
    locks: Vec<KnownLock>,
    lock_numbers: BTreeMap<LockIndex, usize>,
    /// The number of a thread in a slice.
    threads: BTreeMap<(u64, ThreadIndex), usize>,
    codes: HoldCodes,
}

impl<'o> Reading<'o> {
    fn new(observed: &'o Observed, entities: &'o Entities, codes: HoldCodes) -> Self {
        let waits = observed.waits.iter();
        let waits = waits.map(|wait| ((wait.slice, wait.thread), wait.lock));
        let spans = observed.spans.iter();
        let spans = spans.map(|span| ((span.slice, span.thread), span.lock));
        let (mut threads, mut lock_numbers) = (BTreeMap::new(), BTreeMap::new());
        for (thread, lock) in waits.chain(spans) {
            threads.insert(thread, 0);
            lock_numbers.insert(lock, 0);
        }
        for (number, (_, thread)) in threads.iter_mut().enumerate() {
            *thread = number;
        }
        let stands_for = successors(observed, entities);
        let mut locks = Vec::new();
        for (&lock, number) in &mut lock_numbers {
            if !stands_for.contains_key(&lock) {
                *number = locks.len();
                locks.push(KnownLock::new(lock, entities));
            }
        }
        for (lock, first) in stands_for {
            let number = lock_numbers[&first];
            lock_numbers.insert(lock, number);
        }
        Self {
            observed,
            entities,
            code_table: CodeTable::default(),
            locks,
            lock_numbers,
            threads,
            codes,
        }
    }

    /// When threads waited, for locks and for other things; and which locks they got.
    fn blocks(&mut self) -> (Vec<Known>, AllAcquired) {
        let mut blocks = Vec::with_capacity(self.observed.waits.len() + self.observed.pauses.len());
        for wait in &self.observed.waits {
            let lock = self.lock_numbers[&wait.lock];
            let known = &mut self.locks[lock];
            known.add_wait(wait.mechanism, wait.end_ns - wait.start_ns, wait.free_ns);
            known.initializes |= loads_class(wait.chain, self.entities);
            let is_shared = known.sharing == Sharing::Readers
                && self.code_table.of_chain(wait.chain, self.entities).shares;
            let mark = match wait.has_ended {
                true => Mark::Wait(Acquisition {
                    lock,
                    wake_ns: wait.free_ns,
                    wake_again_ns: wait.free_ns,
                    unexplained_ns: wait.unexplained_ns,
                    code: self.codes.add(HoldCode {
                        lock: wait.lock,
                        acquired_in: Some(wait.chain),
                        released_in: None,
                    }),
                    is_shared,
                    is_private: false,
                }),
                false => Mark::GiveUp(lock),
            };
            let thread = self.threads[&(wait.slice, wait.thread)];
            blocks.push((thread, wait.start_ns, wait.end_ns, Some(wait), mark));
        }
        for pause in &self.observed.pauses {
            // A thread that does not contend in this slice matters to none that does.
            if let Some(&thread) = self.threads.get(&(pause.slice, pause.thread)) {
                let mark = Mark::Pause(pause.kind);
                blocks.push((thread, pause.start_ns, pause.end_ns, None, mark));
            }
        }
        blocks.sort_by_key(|&(thread, start_ns, end_ns, ..)| (thread, start_ns, end_ns));
        let mut threads = vec![Known::default(); self.threads.len()];
        let mut acquired = AllAcquired::new();
        for (thread, start_ns, end_ns, wait, mark) in blocks {
            let blocks = &mut threads[thread].blocks;
            let before_ns = blocks.last().map_or(0, |&(_, end_ns, _)| end_ns);
            let start_ns = start_ns.max(before_ns);
            // What took no time changes nothing.
            if start_ns >= end_ns {
                continue;
            }
            blocks.push((start_ns, end_ns, mark));
            if let (Mark::Wait(acquisition), Some(wait)) = (mark, wait) {
                let acquired = acquired.entry((thread, acquisition.lock)).or_default();
                acquired.push(Acquired {
                    index: wait.lock,
                    time_ns: end_ns,
                    chain: wait.chain,
                    is_shared: acquisition.is_shared,
                });
            }
        }
        (threads, acquired)
    }

    /// The holds that those saw who waited.
    fn seen_holds(&mut self, threads: &[Known]) -> Vec<SeenHold> {
        let mut holds = Vec::with_capacity(self.observed.spans.len());
        for span in &self.observed.spans {
            let lock = self.lock_numbers[&span.lock];
            let thread = self.threads[&(span.slice, span.thread)];
            let had = threads[thread].had_lock(lock, span.start_ns, span.end_ns);
            let Some((start_ns, end_ns)) = had else {
                continue;
            };
            let is_shared = self.locks[lock].sharing == Sharing::Readers
                && (self.code_table.of_chain(span.chain, self.entities)).releases_shared;
            let hold = (span.lock, span.thread, span.end_ns);
            holds.push(SeenHold {
                thread,
                lock,
                index: span.lock,
                start_ns,
                end_ns,
                chain: span.chain,
                is_shared,
                acquired_ns: self.observed.begins.get(&hold).copied(),
            });
        }
        holds
    }
}

/// Whether a thread waits until another one has loaded a class: `ClassLoader.getClassLoadingLock` has a lock for each.
fn loads_class(chain: ChainIndex, entities: &Entities) -> bool {
    let innermost = entities.chain(chain).frames().first();
    let class = innermost.and_then(|frame| entities.method(frame.method).class);
    class.is_some_and(|class| {
        let class = entities.class_name(class);
        class == "java.lang.ClassLoader" || class.starts_with("jdk.internal.loader.")
    })
}

/// Sets how long holds usually are that are not shared: as long as those are that report when they began.
fn set_usual_holds(locks: &mut [KnownLock], seen: &[SeenHold]) {
    let mut sums = vec![[(0, 0); 2]; locks.len()];
    for hold in seen.iter().filter(|hold| !hold.is_shared) {
        let [held, timed] = &mut sums[hold.lock];
        held.0 += hold.end_ns - hold.start_ns;
        held.1 += 1;
        if let Some(acquired_ns) = hold.acquired_ns {
            timed.0 += hold.end_ns - acquired_ns;
            timed.1 += 1;
        }
    }
    for (lock, [held, timed]) in locks.iter_mut().zip(sums) {
        lock.has_timed_holds = timed.1 > 0;
        let (sum_ns, count) = if lock.has_timed_holds { timed } else { held };
        lock.hold_ns = sum_ns / u64::max(count, 1);
    }
}

/// The steps of one thread.
fn program(known: &Known, run: Run, locks: &[KnownLock], clock: &Clock) -> Program {
    let mut program = Program::default();
    let (start_ns, end_ns) = known.range().unwrap_or_default();
    (program.start_ns, program.end_ns) = (start_ns, end_ns);
    let mut at_ns = start_ns;
    for (start_ns, end_ns, mark) in known.timeline() {
        program.begin_part(run.part(at_ns));
        if start_ns > at_ns {
            program.add(Step::Work {
                wall_ns: start_ns - at_ns,
                cpu_ns: clock.work_ns(at_ns, start_ns),
            });
        }
        let duration_ns = end_ns - start_ns;
        match mark {
            Mark::Pause(WaitKind::Idle | WaitKind::Conditional | WaitKind::Join) => {
                program.be_away(duration_ns);
            }
            Mark::Wait(_) | Mark::GiveUp(_) => program.waited_ns += duration_ns,
            _ => {}
        }
        program.add(match mark {
            Mark::Release(lock) => Step::Release(lock),
            Mark::Take(taken) => {
                let wake_ns = locks[taken.lock].wake_ns();
                Step::Acquire(Acquisition {
                    lock: taken.lock,
                    wake_ns,
                    wake_again_ns: wake_ns,
                    unexplained_ns: 0,
                    code: taken.code,
                    is_shared: taken.is_shared,
                    is_private: taken.is_private,
                })
            }
            Mark::Pause(_) => Step::Pause(duration_ns),
            Mark::GiveUp(lock) => Step::GiveUp(duration_ns, lock),
            Mark::Wait(acquisition) => Step::Acquire(acquisition),
        });
        at_ns = at_ns.max(end_ns);
    }
    program
}

impl Program {
    fn begin_part(&mut self, part: usize) {
        if self.parts.last().is_none_or(|last| last.part != part) {
            self.parts.push(PartOfProgram {
                part,
                until_step: self.steps.len(),
                away_ns: 0,
            });
        }
    }

    fn be_away(&mut self, duration_ns: u64) {
        self.away_ns += duration_ns;
        if let Some(part) = self.parts.last_mut() {
            part.away_ns += duration_ns;
        }
    }

    /// Adds a step. How often a thread pauses between two of its locks makes no difference, but for how
    /// long: so that is one pause.
    fn add(&mut self, step: Step) {
        let part = match self.parts.as_slice() {
            [.., before, _] => before.until_step,
            _ => 0,
        };
        match (&mut self.steps[part..], step) {
            ([.., Step::Pause(ns)], Step::Pause(more_ns)) => *ns += more_ns,
            (
                [.., Step::Work { wall_ns, cpu_ns }, Step::Pause(_)],
                Step::Work {
                    wall_ns: more_ns,
                    cpu_ns: more_cpu_ns,
                },
            ) => {
                *wall_ns += more_ns;
                *cpu_ns += more_cpu_ns;
            }
            _ => self.steps.push(step),
        }
        if let Some(part) = self.parts.last_mut() {
            part.until_step = self.steps.len();
        }
    }
}
