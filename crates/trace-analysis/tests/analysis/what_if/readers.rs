//! Programs whose threads read and write under one fair `ReentrantReadWriteLock`, run in simulated time.

use std::collections::VecDeque;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use trace_analysis::{LockChange, Prediction};

use super::{Busy, Tally, predict_events, runner};
use crate::park;

/// From an unpark until the thread goes on.
const WAKE_NS: u64 = 5_000;

/// What a thread does once: it works by itself, and then reads or writes.
#[derive(Clone, Copy, Debug)]
struct Turn {
    think_ns: u64,
    hold_ns: u64,
    reads: bool,
    /// The method that holds the lock.
    method: char,
}

type Program = Vec<Vec<Turn>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Thinks(u64),
    Parked,
    /// Was unparked.
    Wakes(u64),
    Holds(u64),
    Done,
}

struct Machine<'p> {
    program: &'p Program,
    at: Vec<usize>,
    states: Vec<State>,
    held_since_ns: Vec<u64>,
    writer: Option<usize>,
    readers: usize,
    queue: VecDeque<usize>,
    waits: Vec<Busy>,
    script: String,
}

/// Runs a program; returns what threads do, and the trace.
fn run(program: &Program) -> (Vec<Busy>, String) {
    let think = program.iter().map(|turns| State::Thinks(turns[0].think_ns));
    let mut machine = Machine {
        program,
        at: vec![0; program.len()],
        states: think.collect(),
        held_since_ns: vec![0; program.len()],
        writer: None,
        readers: 0,
        queue: VecDeque::new(),
        waits: vec![Busy::default(); program.len()],
        script: "ReadWriteLock\n".to_owned(),
    };
    while let Some((now_ns, _, thread)) = machine.first() {
        machine.waits[thread].done_ns = now_ns;
        machine.go_on(thread, now_ns);
    }
    (machine.waits, machine.script)
}

impl Machine<'_> {
    fn first(&self) -> Option<(u64, u8, usize)> {
        let threads = self.states.iter().enumerate();
        let next = threads.filter_map(|(thread, state)| match *state {
            State::Holds(until_ns) => Some((until_ns, 0, thread)),
            State::Wakes(at_ns) => Some((at_ns, 1, thread)),
            State::Thinks(until_ns) => Some((until_ns, 2, thread)),
            State::Parked | State::Done => None,
        });
        next.min()
    }

    fn turn(&self, thread: usize) -> Turn {
        self.program[thread][self.at[thread]]
    }

    fn write(&mut self, now_ns: u64, thread: usize, event: &str) {
        writeln!(self.script, "{now_ns} T{} {event}", thread + 1).expect("text");
    }

    fn is_open(&self, reads: bool) -> bool {
        self.writer.is_none() && (reads || self.readers == 0)
    }

    fn acquire(&mut self, thread: usize, now_ns: u64) {
        let turn = self.turn(thread);
        match turn.reads {
            true => self.readers += 1,
            false => self.writer = Some(thread),
        }
        self.held_since_ns[thread] = now_ns;
        self.states[thread] = State::Holds(now_ns + turn.hold_ns);
    }

    fn go_on(&mut self, thread: usize, now_ns: u64) {
        let turn = self.turn(thread);
        let method = turn.method;
        match self.states[thread] {
            State::Thinks(_) if self.queue.is_empty() && self.is_open(turn.reads) => {
                self.acquire(thread, now_ns);
            }
            State::Thinks(_) => {
                let role = if turn.reads { "share" } else { "lock" };
                let owner = self.writer.map(|owner| format!(" owner T{}", owner + 1));
                let owner = owner.unwrap_or_default();
                self.write(now_ns, thread, &format!("park {role}/{method}{owner}"));
                self.queue.push_back(thread);
                self.waits[thread].since_ns = now_ns;
                self.states[thread] = State::Parked;
            }
            State::Wakes(_) => {
                assert_eq!(self.queue.pop_front(), Some(thread), "a fair lock");
                self.acquire(thread, now_ns);
                let waits = &mut self.waits[thread];
                waits.waited_ns += now_ns - waits.since_ns;
                let owner = if turn.reads {
                    String::new()
                } else {
                    format!(" owner T{}", thread + 1)
                };
                self.write(now_ns, thread, &format!("woken{owner}"));
                if let Some(&next) = self.queue.front()
                    && turn.reads
                    && self.turn(next).reads
                {
                    self.unpark(next, thread, now_ns, &format!("pass/{method}"));
                }
            }
            State::Holds(_) => self.release(thread, now_ns),
            State::Parked | State::Done => unreachable!("who is parked is not next"),
        }
    }

    fn release(&mut self, thread: usize, now_ns: u64) {
        let turn = self.turn(thread);
        match turn.reads {
            true => self.readers -= 1,
            false => self.writer = None,
        }
        if let (Some(&next), 0) = (self.queue.front(), self.readers)
            && self.states[next] == State::Parked
        {
            let method = turn.method;
            if !turn.reads {
                let held_ns = now_ns - self.held_since_ns[thread];
                self.write(now_ns, thread, &format!("release {method} for {held_ns}"));
            }
            let role = if turn.reads { "unshare" } else { "unlock" };
            self.unpark(next, thread, now_ns, &format!("{role}/{method}"));
        }
        self.at[thread] += 1;
        let next = self.program[thread].get(self.at[thread]);
        self.states[thread] =
            next.map_or(State::Done, |turn| State::Thinks(now_ns + turn.think_ns));
    }

    fn unpark(&mut self, next: usize, by: usize, now_ns: u64, code: &str) {
        self.write(now_ns, by, &format!("unpark T{} {code}", next + 1));
        self.states[next] = State::Wakes(now_ns + WAKE_NS);
    }
}

/// Of some threads each turn writes for a time, of the others each reads, for long or for short.
fn programs(turns: usize) -> impl Strategy<Value = Program> {
    let range = |from: u64| (from..from * 20).prop_flat_map(|most| (Just(most), most..most * 2));
    let durations = prop::collection::vec((range(100_000), range(40_000)), 3);
    (1..3_usize, 0..3_usize, 1..5_usize, durations, any::<u64>()).prop_map(
        move |(writers, long, short, durations, seed)| {
            let mut bits = seed;
            let mut between = |(least, most): (u64, u64)| {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                least + (bits >> 33) % (most - least + 1)
            };
            let mut program = Program::new();
            for (of, threads) in [writers, long, short].into_iter().enumerate() {
                let (think, hold) = durations[of];
                for _ in 0..threads {
                    let turns = (0..turns).map(|_| Turn {
                        think_ns: between(think),
                        hold_ns: between(hold) * if of == 1 { 5 } else { 1 },
                        reads: of > 0,
                        method: ['w', 'l', 's'][of],
                    });
                    program.push(turns.collect());
                }
            }
            program
        },
    )
}

fn predict(script: &str, change: LockChange, method: Option<char>) -> Prediction {
    let mut events = park::script::metadata_events();
    events.splice(0..0, crate::script::metadata_events());
    events.extend(park::script::parse(script));
    let is_affected = |label: Option<&str>| {
        method.is_none_or(|it| label.is_some_and(|label| label.ends_with(it)))
    };
    predict_events(&events, &[], |_| true, change, is_affected)
}

fn changed(program: &Program, factor: f64, method: Option<char>) -> Program {
    let mut program = program.clone();
    for turn in program.iter_mut().flatten() {
        if method.is_none_or(|it| it == turn.method) {
            turn.hold_ns = (turn.hold_ns as f64 * factor) as u64;
        }
    }
    program
}

/// The trace shows readers only while a writer waits for the last one of them: of those that never wait themselves, it
/// does not show when they begin to read.
const OUTSIDE: f64 = 0.015;

/// Random programs are really run with shorter holds: of all, of writers, or of one kind of readers.
#[test]
fn programs_that_read_and_write_are_done_as_predicted() {
    const PROGRAMS: usize = 300;
    let mut runner = runner();
    let mut all = Tally::default();
    for (factor, method) in [
        (0.5, None),
        (0.0, Some('w')),
        (0.0, Some('l')),
        (0.5, Some('s')),
    ] {
        let mut tally = Tally::default();
        for _ in 0..PROGRAMS {
            let tree = programs(100).new_tree(&mut runner).expect("a program");
            let program = tree.current();
            let (before, script) = run(&program);
            let change = LockChange::Holds(factor);
            let found = predict(&script, change, method);
            if found.before_ns > 0 {
                let (after, _) = run(&changed(&program, factor, method));
                tally.add(&before, &after, &found);
            }
        }
        all.append(tally);
    }
    all.check("readers", OUTSIDE);
}
