//! A model of threads that use `java.util.concurrent`, built on parking. It knows
//! the truth, and it writes the events that the tracer writes.
//!
//! The synchronizers are those of `AbstractQueuedSynchronizer` (JDK 8): a state, a
//! queue whose head is the node that acquired last, and nodes that say whether
//! their successor needs a signal. Parking works like HotSpot's `Parker`: with a permit
//! and the interrupt status. Events are written where the hooks are.
//!
//! Each thread has a stack of what it is doing. One step of it is one access to
//! what threads share: with [`Rules::races`] other threads act, and time passes,
//! between every two of them. Without, a thread goes on until it runs, is blocked
//! or has just woken up.

mod acquire;
mod park;
mod release;

use trace_format::{Blocker, Event, LockId, Permit, ThreadId};

use crate::history::Written;
use crate::park::history::{Hold, Kind, Meaning, Object, ParkHistory, Role};
use crate::park::script as park_script;
use crate::simulator::Action;

use acquire::{Acquire, Cancel};
use park::Parking;
use release::{Release, ShareRelease, Unparking};

/// What the simulated program may do.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) threads: u8,
    pub(crate) objects: Vec<Kind>,
    pub(crate) races: bool,
}

/// A blocker and the state of the synchronizer that it is.
#[derive(Clone, Debug)]
struct Synchronizer {
    object: Object,
    domain: LockId,
    /// 1 while an exclusive lock is held; permits that are left; counts to go.
    state: u32,
    /// Who has the exclusive lock.
    hold: Option<usize>,
    /// The same, as `exclusiveOwnerThread` says.
    owner: Option<usize>,
    /// The first is the head.
    queue: Vec<Node>,
    /// Whether acquisitions are noted and releases reported.
    interest: bool,
    /// When the owner acquired it, if it noted that.
    noted_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// As its identity hash code.
    id: u32,
    thread: usize,
    status: Status,
    shared: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Initial,
    Signal,
    Cancelled,
    Propagate,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// What it is doing, innermost last.
    frames: Vec<Frame>,
    permit: Option<Given>,
    last_permit: Permit,
    interrupted: bool,
    /// `Thread.parkBlocker`: an object's index.
    blocker: Option<usize>,
    /// Its node in the queue when its last park ended.
    last_place: Option<u32>,
    /// What it has acquired and has to release: objects.
    acquired: Vec<usize>,
}

/// A permit.
#[derive(Clone, Copy, Debug)]
struct Given {
    permit: Permit,
    interrupt: bool,
    /// Its event is numbered in the target's own domain.
    unseen: bool,
    /// Index of its event's meaning.
    meaning: usize,
}

/// A method that a thread is in.
#[derive(Clone, Copy, Debug)]
enum Frame {
    Acquire(Acquire),
    Cancel(Cancel),
    Park(Parking),
    Release(Release),
    ShareRelease(ShareRelease),
    Unpark(Unparking),
}

struct Simulator {
    rules: Rules,
    step: usize,
    now_ns: u64,
    /// Time spent in safepoints.
    safepoint_ns: u64,
    objects: Vec<Synchronizer>,
    /// There is no thread 0.
    threads: Vec<Thread>,
    next_hash: u32,
    next_node: u32,
    sequences: Vec<u64>,
    history: ParkHistory,
}

/// Lets threads act, and returns what happened.
pub(crate) fn simulate(rules: &Rules, actions: &[Action]) -> ParkHistory {
    let threads = usize::from(rules.threads) + 1;
    let mut simulator = Simulator {
        rules: rules.clone(),
        step: 0,
        now_ns: 0,
        safepoint_ns: 0,
        objects: Vec::new(),
        threads: vec![Thread::default(); threads],
        next_hash: 1,
        next_node: 1,
        sequences: vec![0; 32],
        history: ParkHistory {
            events: vec![Vec::new(); threads],
            ..ParkHistory::default()
        },
    };
    for (at, &kind) in rules.objects.iter().enumerate() {
        let new = simulator.new_synchronizer(at, kind);
        simulator.objects.push(new);
    }
    for (step, action) in actions.iter().enumerate() {
        simulator.step = step;
        simulator.now_ns += u64::from(action.duration_ns % 8) + 1;
        simulator.act(action);
    }
    simulator.write_what_has_a_number();
    simulator.history
}

/// What running threads do, by the action's choice.
const SAFEPOINT: u8 = 31;

impl Simulator {
    fn act(&mut self, action: &Action) {
        let thread = usize::from(action.thread) % (self.threads.len() - 1) + 1;
        if action.choice % 32 == SAFEPOINT {
            let pause_ns = u64::from(action.duration_ns / 8);
            self.now_ns += pause_ns;
            self.safepoint_ns += pause_ns;
            return;
        }
        if self.threads[thread].frames.is_empty() {
            self.run(thread, action);
        } else {
            self.go_on(thread, action.choice);
        }
        while !self.rules.races && !self.is_at_rest(thread) {
            self.go_on(thread, 0);
        }
    }

    /// Does what the program of a running thread says.
    fn run(&mut self, thread: usize, action: &Action) {
        let at = usize::from(action.object) % self.objects.len();
        let kind = self.objects[at].object.kind;
        let variant = action.choice / 32;
        // Parks are in methods a to m, unparks in n to z.
        let parks_in = b'a' + variant;
        let unparks_in = b'n' + variant;
        match action.choice % 32 {
            0..=13 if kind.is_bare() => self.begin_bare_park(thread, at, parks_in, variant),
            0..=13 if self.may_acquire(thread, at) => {
                self.begin_acquire(thread, at, parks_in, variant);
            }
            14..=20 => {
                if let Some(at) = self.threads[thread].acquired.pop() {
                    self.begin_release(thread, at, unparks_in);
                }
            }
            21..=25 => match kind {
                Kind::Latch { .. } => self.count_down(thread, at, unparks_in),
                Kind::Thing | Kind::Nothing => self.wake(thread, action, unparks_in),
                _ => {}
            },
            26 => {
                let target = usize::from(action.duration_ns) % (self.threads.len() - 1) + 1;
                self.interrupt(thread, target);
            }
            27 => self.threads[thread].interrupted = false,
            _ => {}
        }
    }

    /// Locks are acquired in order, so that nobody deadlocks.
    fn may_acquire(&self, thread: usize, at: usize) -> bool {
        let mut acquired = self.threads[thread].acquired.iter();
        acquired.all(|&other| other < at)
    }

    /// Takes one step in the innermost method.
    fn go_on(&mut self, thread: usize, choice: u8) {
        match self.threads[thread].frames.pop() {
            Some(Frame::Acquire(acquire)) => self.acquire(thread, acquire),
            Some(Frame::Cancel(cancel)) => self.cancel(thread, cancel),
            Some(Frame::Park(parking)) => self.park(thread, parking, choice),
            Some(Frame::Release(release)) => self.release(thread, release),
            Some(Frame::ShareRelease(release)) => self.release_shared(thread, release),
            Some(Frame::Unpark(unparking)) => self.unpark(thread, unparking),
            None => {}
        }
    }

    fn call(&mut self, thread: usize, frame: Frame) {
        self.threads[thread].frames.push(frame);
    }

    /// The thread runs, is blocked, or has just woken up.
    fn is_at_rest(&self, thread: usize) -> bool {
        match self.threads[thread].frames.last() {
            None => true,
            Some(Frame::Acquire(acquire)) => acquire.has_just_woken_up(),
            Some(Frame::Park(parking)) => parking.is_blocked(),
            Some(_) => false,
        }
    }

    /// Lets every thread write the numbers that it has taken.
    fn write_what_has_a_number(&mut self) {
        for thread in 1..self.threads.len() {
            while !self.is_at_rest(thread) {
                self.go_on(thread, 0);
            }
        }
    }

    fn new_synchronizer(&mut self, at: usize, kind: Kind) -> Synchronizer {
        let hash = self.next_hash;
        self.next_hash += 1;
        Synchronizer {
            object: Object { kind, hash },
            // The first two share a domain.
            domain: LockId(1 + at as u64 / 2),
            state: match kind {
                Kind::Semaphore { permits } => permits,
                Kind::Latch { count } => count,
                _ => 0,
            },
            hold: None,
            owner: None,
            queue: Vec::new(),
            interest: false,
            noted_ns: None,
        }
    }

    fn new_node(&mut self, thread: usize, shared: bool) -> Node {
        let id = self.next_node;
        self.next_node += 1;
        Node {
            id,
            thread,
            status: Status::Initial,
            shared,
        }
    }

    /// The place in the order of the events of `object`, or of those of `parked`.
    fn next_number(&mut self, object: Option<usize>, parked: usize) -> (LockId, u64) {
        let domain = object.map_or(own_domain(parked), |at| self.objects[at].domain);
        let sequence = &mut self.sequences[domain.0 as usize];
        *sequence += 1;
        (domain, *sequence)
    }

    /// The hold that the object's owner field belongs to, and the time.
    fn owner(&self, object: Option<usize>) -> Option<(usize, u64)> {
        let hold = self.objects[object?].owner?;
        Some((hold, self.now_ns))
    }

    fn owner_id(&self, shown: Option<(usize, u64)>) -> u64 {
        shown.map_or(0, |(hold, _)| self.history.holds[hold].thread.into())
    }

    fn push_meaning(&mut self, meaning: Meaning) -> usize {
        self.history.meanings.push(meaning);
        self.history.meanings.len() - 1
    }

    fn write(&mut self, thread: usize, event: Event<'static>) {
        let step = self.step;
        self.history.events[thread].push(Written { step, event });
    }

    /// As unparks and interrupts see a thread that is not parked.
    fn nothing(&self) -> Object {
        Object {
            kind: Kind::Nothing,
            hash: 0,
        }
    }
}

/// Returns the thread's own domain. Objects share the first thread's.
fn own_domain(thread: usize) -> LockId {
    if thread == 1 {
        LockId(1)
    } else {
        LockId(10 + thread as u64)
    }
}

fn blocker(object: Object) -> Blocker {
    Blocker {
        identity_hash: object.hash,
        ..park_script::blocker(object.kind.class())
    }
}

fn thread_id(thread: usize) -> ThreadId {
    ThreadId(thread as u32)
}
