//! Programs whose threads take locks in turn, run in simulated time.

use std::fmt::Write;

/// What a thread does once: it works by itself, and then holds a lock; and in it perhaps another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) think_ns: u64,
    pub(super) lock: usize,
    pub(super) hold_ns: u64,
    /// The other lock, which has a higher number, and how long it is held.
    pub(super) inner: Option<(usize, u64)>,
}

/// The turns of each thread.
pub(super) type Program = Vec<Vec<Turn>>;

/// What one thread does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    /// When it was done.
    pub(super) done_ns: u64,
    /// How long it waited for locks.
    pub(super) waited_ns: u64,
    /// Since when it waits.
    pub(super) since_ns: u64,
}

/// What comes of a program.
pub(super) struct Run {
    /// How long threads waited.
    pub(super) waited_ns: u64,
    pub(super) threads: Vec<Busy>,
    /// The trace.
    pub(super) script: String,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Work(u64),
    Acquire(usize),
    Release(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    WorksUntil(u64),
    WaitsSince(u64),
    Done,
}

/// Where a thread releases locks.
pub(super) fn code(thread: usize) -> &'static str {
    ["b", "c"][thread % 2]
}

fn steps(turns: &[Turn]) -> Vec<Step> {
    let mut steps = Vec::new();
    for turn in turns {
        steps.extend([Step::Work(turn.think_ns), Step::Acquire(turn.lock)]);
        steps.push(Step::Work(turn.hold_ns));
        if let Some((lock, hold_ns)) = turn.inner {
            steps.extend([
                Step::Acquire(lock),
                Step::Work(hold_ns),
                Step::Release(lock),
            ]);
        }
        steps.push(Step::Release(turn.lock));
    }
    steps
}

/// Who waits for a monitor: all that have come are a batch, of which the last one is first, and who comes later waits
/// for the next batch (`ObjectMonitor::exit` of JDK 8).
#[derive(Clone, Debug, Default)]
struct Queue {
    batch: Vec<usize>,
    others: Vec<usize>,
}

impl Queue {
    fn next(&mut self) -> Option<usize> {
        if self.batch.is_empty() {
            std::mem::swap(&mut self.batch, &mut self.others);
        }
        self.batch.pop()
    }
}

struct Machine {
    steps: Vec<Vec<Step>>,
    next: Vec<usize>,
    states: Vec<State>,
    queues: Vec<Queue>,
    /// Who has each lock, and since when.
    owners: Vec<Option<(usize, u64)>>,
    run: Run,
}

/// Runs a program whose locks are monitors.
pub(super) fn run(program: &Program) -> Run {
    let of_turn = |turn: &Turn| turn.lock.max(turn.inner.map_or(0, |(lock, _)| lock)) + 1;
    let locks = program.iter().flatten().map(of_turn).max().unwrap_or(0);
    let mut machine = Machine {
        steps: program.iter().map(|turns| steps(turns)).collect(),
        next: vec![0; program.len()],
        states: vec![State::WorksUntil(0); program.len()],
        queues: vec![Queue::default(); locks],
        owners: vec![None; locks],
        run: Run {
            waited_ns: 0,
            threads: vec![Busy::default(); program.len()],
            script: String::new(),
        },
    };
    while let Some((now_ns, _, thread)) = machine.first() {
        machine.go_on(thread, now_ns);
    }
    machine.run
}

impl Machine {
    /// Who goes on first: of those at the same time, who releases a lock.
    fn first(&self) -> Option<(u64, bool, usize)> {
        let threads = self.states.iter().enumerate();
        let working = threads.filter_map(|(thread, state)| match *state {
            State::WorksUntil(until_ns) => {
                let step = self.steps[thread].get(self.next[thread]);
                let is_release = matches!(step, Some(Step::Release(_)));
                Some((until_ns, !is_release, thread))
            }
            _ => None,
        });
        working.min()
    }

    fn go_on(&mut self, thread: usize, now_ns: u64) {
        let Some(&step) = self.steps[thread].get(self.next[thread]) else {
            self.run.threads[thread].done_ns = now_ns;
            self.states[thread] = State::Done;
            return;
        };
        self.run.threads[thread].done_ns = now_ns;
        self.next[thread] += 1;
        match step {
            Step::Work(ns) => self.states[thread] = State::WorksUntil(now_ns + ns),
            Step::Acquire(lock) if self.owners[lock].is_none() => {
                self.owners[lock] = Some((thread, now_ns));
            }
            Step::Acquire(lock) => {
                self.queues[lock].others.push(thread);
                self.states[thread] = State::WaitsSince(now_ns);
                let line = lock + 1;
                writeln!(self.run.script, "{now_ns} T{thread} enter a on L{line}").expect("text");
            }
            Step::Release(lock) => self.release(thread, lock, now_ns),
        }
    }

    fn release(&mut self, thread: usize, lock: usize, now_ns: u64) {
        let owned = self.owners[lock].take().expect("an owner");
        let Some(next) = self.queues[lock].next() else {
            return;
        };
        let (line, held_ns, code) = (lock + 1, now_ns - owned.1, code(thread));
        let script = &mut self.run.script;
        writeln!(
            script,
            "{now_ns} T{thread} exit {code} held:{held_ns} on L{line}"
        )
        .expect("text");
        writeln!(script, "{now_ns} T{next} entered on L{line}").expect("text");
        self.owners[lock] = Some((next, now_ns));
        if let State::WaitsSince(since_ns) = self.states[next] {
            self.run.waited_ns += now_ns - since_ns;
            self.run.threads[next].waited_ns += now_ns - since_ns;
        }
        self.states[next] = State::WorksUntil(now_ns);
    }
}
