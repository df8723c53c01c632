//! Replays what threads did, step by step, under other rules.
//!
//! Work takes time of a processor; if there are fewer of them than threads that work, all of these
//! go on equally fast. So work is timed by a clock of its own, which slows down then.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::collections::hash::SeededMap;
use crate::what_if::busy::Busy;
use crate::what_if::known_thread::Acquisition;
use crate::what_if::program::{Program, Slice, Step};

/// What a lock is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LockRule {
    /// Nobody has to acquire it.
    pub(super) is_removed: bool,
    /// Affected code releases it at once.
    pub(super) is_brief: bool,
    /// What affected code does while it holds it takes longer by this factor.
    pub(super) hold_factor: f64,
    /// The same for code that nobody knows.
    pub(super) unknown_hold_factor: f64,
    /// The number of locks it is split into; each acquisition is of one of them, drawn at random.
    pub(super) stripes: u32,
    /// A thread that comes while the lock is free takes it, even if others wait.
    pub(super) is_barging: bool,
    /// How many threads may have it at once that do not only read.
    pub(super) permits: u64,
    /// Affected code only reads, and shares it.
    pub(super) is_shared: bool,
    /// A trace does not contain which of those who wait gets it.
    pub(super) is_monitor: bool,
    /// Who waits gets it in the order of arrival; otherwise as HotSpot's monitors are passed on before JDK 25: all
    /// that have come are a batch, of which the last one is first, and who comes later waits for the next batch.
    pub(super) is_by_arrival: bool,
}

impl LockRule {
    /// How many times as long code takes while it holds the lock.
    pub(super) fn factor(&self, is_affected: bool) -> f64 {
        match is_affected {
            true => self.hold_factor,
            false => 1.0,
        }
    }
}

/// What is replayed.
#[derive(Clone, Copy)]
pub(super) struct Scenario<'a> {
    pub(super) slices: &'a [Slice],
    /// By the number of the lock.
    pub(super) locks: &'a [LockRule],
    /// Whether the change affects code, by its number.
    pub(super) is_affected: &'a [bool],
    /// `None`: a processor for each thread.
    pub(super) processors: Option<u64>,
    /// For what is drawn at random.
    pub(super) seed: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replayed {
    /// How long threads waited, by the number of the lock.
    pub(super) waiting_ns: Vec<u64>,
    pub(super) slices: Vec<ReplayedSlice>,
    /// How often threads waited for each other in a cycle, and one of them went on without
    /// its lock.
    pub(super) forced: u64,
    /// It made a difference which of several threads that waited for a monitor got it.
    pub(super) had_choice: bool,
    /// How many threads worked at once, at most.
    pub(super) most_working: usize,
}

/// What came of one slice, or of all of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReplayedSlice {
    /// How long threads are busy, by part of the time; of several slices each is one part.
    pub(super) parts: Vec<Busy>,
    /// When each wait began, and how long it was.
    pub(super) waits: Vec<(u64, u64)>,
}

impl Replayed {
    /// How long threads are busy, by part of the time.
    pub(super) fn parts(&self) -> Vec<Busy> {
        self.slices
            .iter()
            .flat_map(|slice| slice.parts.iter().copied())
            .collect()
    }

    pub(super) fn total_ns(&self) -> u64 {
        self.waiting_ns
            .iter()
            .fold(0, |sum, &ns| sum.saturating_add(ns))
    }
}

/// Something that happens at a time, ordered by it; of several at once, first come, first served.
type Timed<T> = Reverse<(u64, u64, T)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A thread begins, or a pause is over.
    GoesOn(usize),
    /// A thread comes to the queue of the lock that it wants.
    Queues(usize),
    /// It has been woken because a lock was released that may be taken by others meanwhile.
    Wakes(usize),
    /// It has been woken, and owns the lock already.
    IsGranted(usize),
}

#[derive(Clone, Copy, Debug)]
struct Wish {
    acquisition: Acquisition,
    /// Position among all locks and stripes.
    place: usize,
    since_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    lock: usize,
    /// `None` of a thread that went on without its lock, or that nobody disturbs.
    place: Option<usize>,
    is_reader: bool,
    factor: f64,
}

#[derive(Default)]
struct ThreadState {
    next: usize,
    held: Vec<Held>,
    wish: Option<Wish>,
    acquisitions: u64,
    /// The part that it is in, since when, and how long it has waited for locks since.
    part: usize,
    since_ns: u64,
    waited_ns: u64,
}

/// A lock, or one stripe of it.
#[derive(Clone, Default)]
struct Place {
    /// How many have it that do not only read.
    writers: u64,
    readers: u64,
    queue: VecDeque<usize>,
    /// How many of those at the front are the batch that is served.
    batch: usize,
    /// Somebody was woken who will try to get the lock.
    is_waking: bool,
    /// Who was woken, but found the lock taken.
    awake: Option<usize>,
}

impl Place {
    /// If all of the last batch have had the lock when it is released, all who have come since are the next one.
    fn begin_batch(&mut self) {
        if self.batch == 0 && self.writers == 0 {
            self.queue.make_contiguous().reverse();
            self.batch = self.queue.len();
        }
    }

    /// Whether a thread can have it that only reads, or one that does not.
    fn is_open(&self, is_reader: bool, permits: u64) -> bool {
        match is_reader {
            true => self.writers == 0,
            false => self.writers < permits && self.readers == 0,
        }
    }
}

struct Replay<'a> {
    scenario: Scenario<'a>,
    /// Those of the slice.
    programs: &'a [Program],
    /// First one of each lock; then those of further stripes, as they come.
    places: Vec<Place>,
    /// The places of these, by lock and number.
    stripes: SeededMap<(usize, u64), usize>,
    /// The thread that went on last without its lock.
    forced: usize,
    threads: Vec<ThreadState>,
    now_ns: u64,
    /// How far the clock of work is.
    worked_ns: u64,
    /// When work is done, by that clock.
    work: BinaryHeap<Timed<usize>>,
    happenings: BinaryHeap<Timed<Happening>>,
    /// How many were put into both.
    count: u64,
    replayed: Replayed,
    slice: ReplayedSlice,
}

/// Replays a scenario to its end.
pub(super) fn replay(scenario: Scenario<'_>) -> Replayed {
    let mut replay = Replay {
        places: vec![Place::default(); scenario.locks.len()],
        stripes: SeededMap::default(),
        forced: 0,
        threads: Vec::new(),
        now_ns: 0,
        worked_ns: 0,
        work: BinaryHeap::new(),
        happenings: BinaryHeap::new(),
        count: 0,
        replayed: Replayed {
            waiting_ns: vec![0; scenario.locks.len()],
            slices: Vec::with_capacity(scenario.slices.len()),
            forced: 0,
            had_choice: false,
            most_working: 0,
        },
        programs: &[],
        slice: ReplayedSlice::default(),
        scenario,
    };
    for programs in scenario.slices {
        replay.replay_slice(programs);
    }
    replay.replayed
}

impl<'a> Replay<'a> {
    /// Replays a slice, in which all locks are free at first.
    fn replay_slice(&mut self, programs: &'a [Program]) {
        self.programs = programs;
        (self.now_ns, self.worked_ns, self.forced) = (0, 0, 0);
        self.places.iter_mut().for_each(|place| place.awake = None);
        self.threads.clear();
        for (thread, program) in programs.iter().enumerate() {
            self.threads.push(ThreadState {
                since_ns: program.start_ns,
                ..ThreadState::default()
            });
            self.at(program.start_ns, Happening::GoesOn(thread));
        }
        self.run();
        let slice = std::mem::take(&mut self.slice);
        self.replayed.slices.push(slice);
    }

    fn at(&mut self, time_ns: u64, happening: Happening) {
        self.count += 1;
        self.happenings
            .push(Reverse((time_ns, self.count, happening)));
    }

    fn after(&mut self, duration_ns: u64, happening: Happening) {
        self.at(self.now_ns.saturating_add(duration_ns), happening);
    }

    /// How many threads work for each processor, as a fraction; at least one.
    fn load(&self) -> (u64, u64) {
        let working = self.work.len() as u64;
        match self.scenario.processors {
            Some(processors) if working > processors => (working, processors),
            _ => (1, 1),
        }
    }

    fn run(&mut self) {
        loop {
            let (working, processors) = self.load();
            let work_done = self.work.peek().map(|Reverse((done, ..))| {
                let left_ns = scaled(done.saturating_sub(self.worked_ns), working, processors);
                self.now_ns.saturating_add(left_ns)
            });
            let happens = self
                .happenings
                .peek()
                .map(|Reverse((time_ns, ..))| *time_ns);
            match (work_done, happens) {
                (Some(done_ns), happens) if happens.is_none_or(|time_ns| done_ns <= time_ns) => {
                    if let Some(Reverse((done, _, thread))) = self.work.pop() {
                        self.worked_ns = self.worked_ns.max(done);
                        self.now_ns = done_ns;
                        self.go_on(thread);
                    }
                }
                (_, Some(time_ns)) => {
                    let passed_ns = time_ns.saturating_sub(self.now_ns);
                    self.worked_ns += scaled(passed_ns, processors, working);
                    self.now_ns = time_ns.max(self.now_ns);
                    if let Some(Reverse((.., happening))) = self.happenings.pop() {
                        self.happen(happening);
                    }
                }
                _ => {
                    if !self.force() {
                        break;
                    }
                }
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::GoesOn(thread) => self.go_on(thread),
            Happening::Queues(thread) => self.queue(thread),
            Happening::Wakes(thread) => self.wake(thread),
            Happening::IsGranted(thread) => {
                self.acquired(thread);
                self.go_on(thread);
            }
        }
    }

    /// Lets a thread take its next steps, until one takes time.
    fn go_on(&mut self, thread: usize) {
        let steps = &self.programs[thread].steps;
        while let Some(&step) = steps.get(self.threads[thread].next) {
            self.end_parts(thread);
            self.threads[thread].next += 1;
            match step {
                Step::Work { wall_ns, cpu_ns } => {
                    let own_ns = match self.scenario.processors {
                        Some(_) => cpu_ns,
                        None => wall_ns,
                    };
                    let own_ns = self.in_holds(thread, own_ns);
                    self.count += 1;
                    let done = self.worked_ns.saturating_add(own_ns);
                    self.work.push(Reverse((done, self.count, thread)));
                    let working = self.work.len();
                    self.replayed.most_working = self.replayed.most_working.max(working);
                    return;
                }
                Step::Pause(duration_ns) => {
                    let duration_ns = self.in_holds(thread, duration_ns);
                    return self.after(duration_ns, Happening::GoesOn(thread));
                }
                Step::GiveUp(duration_ns, lock) => {
                    self.add_wait(thread, lock, self.now_ns, duration_ns);
                    return self.after(duration_ns, Happening::GoesOn(thread));
                }
                Step::Release(lock) => self.release(thread, lock),
                Step::Acquire(acquisition) => {
                    if self.acquire(thread, acquisition) {
                        return;
                    }
                }
            }
        }
        self.end_parts(thread);
        for lock in std::mem::take(&mut self.threads[thread].held) {
            self.leave(lock);
        }
    }

    /// Adds up the parts whose steps are done.
    fn end_parts(&mut self, thread: usize) {
        let program = &self.programs[thread];
        let state = &mut self.threads[thread];
        while let Some(part) = program.parts.get(state.part)
            && part.until_step <= state.next
        {
            let busy_ns = (self.now_ns - state.since_ns).saturating_sub(part.away_ns);
            let parts = &mut self.slice.parts;
            if parts.len() <= part.part {
                parts.resize(part.part + 1, Busy::default());
            }
            parts[part.part].add(program.weight(), busy_ns, state.waited_ns);
            state.part += 1;
            (state.since_ns, state.waited_ns) = (self.now_ns, 0);
        }
    }

    /// How long something takes with the locks that a thread holds.
    fn in_holds(&self, thread: usize, duration_ns: u64) -> u64 {
        let factors = self.threads[thread].held.iter().map(|held| held.factor);
        let factor: f64 = factors.product();
        match factor {
            1.0 => duration_ns,
            factor => (duration_ns as f64 * factor) as u64,
        }
    }

    /// Returns whether the thread has to wait.
    fn acquire(&mut self, thread: usize, acquisition: Acquisition) -> bool {
        let rule = self.scenario.locks[acquisition.lock];
        if rule.is_removed {
            return false;
        }
        if acquisition.is_private {
            let factor = self.factor(acquisition);
            self.threads[thread].held.push(Held {
                lock: acquisition.lock,
                place: None,
                is_reader: acquisition.is_shared,
                factor,
            });
            return false;
        }
        let state = &mut self.threads[thread];
        state.acquisitions += 1;
        let place = match u64::from(rule.stripes) {
            0 | 1 => acquisition.lock,
            stripes => {
                let drawn = mixed(self.scenario.seed, thread as u64, state.acquisitions);
                self.stripe(acquisition.lock, drawn % stripes)
            }
        };
        self.threads[thread].wish = Some(Wish {
            acquisition,
            place,
            since_ns: self.now_ns,
        });
        if acquisition.unexplained_ns > 0 {
            let unexplained_ns =
                (acquisition.unexplained_ns as f64 * rule.unknown_hold_factor) as u64;
            self.after(unexplained_ns, Happening::Queues(thread));
            return true;
        }
        if self.try_take(thread, false) {
            self.acquired(thread);
            return false;
        }
        self.enqueue(thread);
        true
    }

    /// The place of a stripe of a lock.
    fn stripe(&mut self, lock: usize, stripe: u64) -> usize {
        let places = &mut self.places;
        *self.stripes.entry((lock, stripe)).or_insert_with(|| {
            places.push(Place::default());
            places.len() - 1
        })
    }

    fn queue(&mut self, thread: usize) {
        if self.try_take(thread, false) {
            self.acquired(thread);
            self.go_on(thread);
        } else {
            self.enqueue(thread);
        }
    }

    fn enqueue(&mut self, thread: usize) {
        if let Some(wish) = self.threads[thread].wish {
            self.places[wish.place].queue.push_back(thread);
        }
    }

    /// Whether a thread that wants a lock would share it.
    fn is_reader(&self, wish: &Wish) -> bool {
        let acquisition = wish.acquisition;
        let is_made_reader = self.scenario.locks[acquisition.lock].is_shared;
        acquisition.is_shared || is_made_reader && acquisition.code.is_in(self.scenario.is_affected)
    }

    /// Takes the lock that a thread wants, if it may.
    fn try_take(&mut self, thread: usize, is_next: bool) -> bool {
        let Some(wish) = self.threads[thread].wish else {
            return false;
        };
        let rule = self.scenario.locks[wish.acquisition.lock];
        let is_reader = self.is_reader(&wish);
        let place = &self.places[wish.place];
        let is_open = place.is_open(is_reader, rule.permits);
        let first = place.queue.front();
        let may_pass = match first {
            None => true,
            // As in AbstractQueuedSynchronizer, a reader lets a writer pass that is first.
            Some(&first) if is_reader && rule.is_barging => {
                let first = self.threads[first].wish;
                first.is_none_or(|first| self.is_reader(&first))
            }
            Some(_) => rule.is_barging,
        };
        if !is_open || !(is_next || may_pass) {
            return false;
        }
        let place = &mut self.places[wish.place];
        match is_reader {
            true => place.readers += 1,
            false => place.writers += 1,
        }
        true
    }

    /// A thread goes on with the lock that it wanted.
    fn acquired(&mut self, thread: usize) {
        let Some(wish) = self.threads[thread].wish.take() else {
            return;
        };
        let is_reader = self.is_reader(&wish);
        let lock = wish.acquisition.lock;
        let factor = self.factor(wish.acquisition);
        self.threads[thread].held.push(Held {
            lock,
            place: Some(wish.place),
            is_reader,
            factor,
        });
        self.add_wait(thread, lock, wish.since_ns, self.now_ns - wish.since_ns);
        let code = wish.acquisition.code;
        if self.scenario.locks[lock].is_brief && code.is_in(self.scenario.is_affected) {
            self.release(thread, lock);
        }
    }

    /// How many times as long the thread takes for what it does with the lock.
    fn factor(&self, acquisition: Acquisition) -> f64 {
        let is_affected = acquisition.code.is_in(self.scenario.is_affected);
        self.scenario.locks[acquisition.lock].factor(is_affected)
    }

    fn add_wait(&mut self, thread: usize, lock: usize, start_ns: u64, duration_ns: u64) {
        let of_thread_ns = &mut self.threads[thread].waited_ns;
        for sum_ns in [&mut self.replayed.waiting_ns[lock], of_thread_ns] {
            *sum_ns = sum_ns.saturating_add(duration_ns);
        }
        if duration_ns > 0 {
            self.slice.waits.push((start_ns, duration_ns));
        }
    }

    fn release(&mut self, thread: usize, lock: usize) {
        let held = &mut self.threads[thread].held;
        if let Some(at) = held.iter().rposition(|held| held.lock == lock) {
            let held = held.remove(at);
            self.leave(held);
        }
    }

    fn leave(&mut self, held: Held) {
        let Some(place) = held.place else {
            return;
        };
        let left = &mut self.places[place];
        match held.is_reader {
            true => left.readers -= 1,
            false => left.writers -= 1,
        }
        self.wake_next(held.lock, place);
    }

    /// A lock may be free: wakes who is next.
    fn wake_next(&mut self, lock: usize, at: usize) {
        let rule = self.scenario.locks[lock];
        loop {
            if !rule.is_by_arrival {
                self.places[at].begin_batch();
            }
            let place = &self.places[at];
            let (Some(&next), false) = (place.queue.front(), place.is_waking) else {
                return;
            };
            self.replayed.had_choice |= place.queue.len() > 1 && rule.is_monitor;
            let Some(wish) = self.threads[next].wish else {
                return;
            };
            let wake_ns = match place.awake == Some(next) {
                true => wish.acquisition.wake_again_ns,
                false => wish.acquisition.wake_ns,
            };
            if rule.is_barging {
                if place.is_open(self.is_reader(&wish), rule.permits) {
                    self.places[at].is_waking = true;
                    self.after(wake_ns, Happening::Wakes(next));
                }
                return;
            }
            if !self.try_take(next, true) {
                return;
            }
            self.unqueue(next, at);
            self.after(wake_ns, Happening::IsGranted(next));
        }
    }

    /// A thread was woken, and takes the lock if nobody else has done so.
    fn wake(&mut self, thread: usize) {
        let Some(wish) = self.threads[thread].wish else {
            return;
        };
        self.places[wish.place].is_waking = false;
        self.places[wish.place].awake = Some(thread);
        if self.try_take(thread, true) {
            self.places[wish.place].awake = None;
            self.unqueue(thread, wish.place);
            self.acquired(thread);
            // Other readers may go on, too.
            self.wake_next(wish.acquisition.lock, wish.place);
            self.go_on(thread);
        }
    }

    fn unqueue(&mut self, thread: usize, place: usize) {
        let Place { queue, batch, .. } = &mut self.places[place];
        // Nearly always the first one.
        if let Some(at) = queue.iter().position(|&queued| queued == thread) {
            queue.remove(at);
            *batch -= usize::from(at < *batch);
        }
    }

    /// Nothing can happen any more. If threads wait for each other, one goes on without its lock.
    fn force(&mut self) -> bool {
        let threads = (self.forced..self.threads.len()).chain(0..self.forced);
        let mut blocked = threads.filter(|&thread| self.threads[thread].wish.is_some());
        let Some(thread) = blocked.next() else {
            return false;
        };
        self.forced = thread;
        if let Some(wish) = self.threads[thread].wish.take() {
            self.replayed.forced += 1;
            self.unqueue(thread, wish.place);
            let lock = wish.acquisition.lock;
            self.add_wait(thread, lock, wish.since_ns, self.now_ns - wish.since_ns);
            let factor = self.factor(wish.acquisition);
            self.threads[thread].held.push(Held {
                lock,
                place: None,
                is_reader: false,
                factor,
            });
            self.go_on(thread);
        }
        true
    }
}

/// `value` times `numerator` by `denominator`, rounded up.
fn scaled(value: u64, numerator: u64, denominator: u64) -> u64 {
    if numerator == denominator {
        return value;
    }
    let scaled = (u128::from(value) * u128::from(numerator)).div_ceil(u128::from(denominator));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A number that looks random, the same for the same arguments (splitmix64).
pub(super) fn mixed(seed: u64, thread: u64, number: u64) -> u64 {
    let mut bits = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(thread.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add(number.wrapping_mul(0x8cb9_2ba7_2f3d_8dd7));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
