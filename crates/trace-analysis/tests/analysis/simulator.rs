//! A model of a JVM whose threads contend for monitors. It knows the truth, and
//! it writes the events that the tracer writes.
//!
//! Each monitor has an owner, a queue and a wait set, as in HotSpot's
//! `objectMonitor.cpp`, and the events are written where the hooks are. What
//! HotSpot does in one go happens in one step, unless other threads can act
//! within it: then, if [`Rules::races`] is set, it takes several.

mod enter;
mod release;

use trace_format::{ChainId, Event, ForwardRef, Hold, LockId, LockRetired, PARK_DOMAINS, ThreadId};

use crate::history::{Exit, History, OpenWait, Written};

/// One step of a program: a thread is scheduled, and does what it can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    pub(crate) thread: u8,
    pub(crate) choice: u8,
    pub(crate) object: u8,
    pub(crate) duration_ns: u8,
}

/// What the simulated JVM may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) threads: u8,
    pub(crate) objects: u8,
    /// Other threads can act between enter and queueing, between an exit's
    /// number and the release, after a release that saw nobody queued, and
    /// between an acquisition and its number.
    pub(crate) races: bool,
    /// Threads enter monitors in any order.
    pub(crate) deadlocks: bool,
    /// Exits say for how long the monitor was held.
    pub(crate) reports_holds: bool,
    /// How long it takes at least until a thread in a monitor's queue runs after a
    /// release. Others barge in meanwhile.
    pub(crate) wakeup_ns: u64,
}

/// The chain of code that re-acquires a monitor in `Object.wait`.
const INSIDE_WAIT: ChainId = ChainId(b'w' as u32);

/// The monitor of an object.
#[derive(Clone, Debug, Default)]
struct Monitor {
    /// 0 while not contended since inflation.
    lock: LockId,
    last_sequence: u64,
    owner: Option<Owner>,
    /// When the threads in the queue run that the last release woke.
    queue_runs_ns: u64,
    /// Threads that will be woken when the monitor is released.
    queue: Vec<usize>,
    /// Threads in `Object.wait` that are not notified.
    wait_set: Vec<usize>,
    /// What the next release that is not for `Object.wait` resolves, or 0.
    forward_ref: ForwardRef,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    thread: usize,
    /// Some thread that failed to enter has written who owns the monitor.
    seen: bool,
    since_ns: u64,
    /// Number of the entered event.
    entered: Option<u64>,
}

/// An acquisition that a thread is after.
#[derive(Clone, Copy, Debug)]
struct Wish {
    object: usize,
    chain: ChainId,
    /// It goes on with `Object.wait`; the monitor's forward reference then.
    after_wait: Option<ForwardRef>,
}

/// A contended enter that was written.
#[derive(Clone, Copy, Debug)]
struct Enter {
    sequence: u64,
    time_ns: u64,
    /// Time spent in safepoints until then.
    safepoint_ns: u64,
}

/// A release on its way.
#[derive(Clone, Copy, Debug)]
struct Release {
    object: usize,
    chain: ChainId,
    /// Of a release by `Object.wait`: the forward reference so far.
    to_wait: Option<ForwardRef>,
    resolves: ForwardRef,
    exit: Option<Exit>,
    released: bool,
}

#[derive(Clone, Copy, Debug)]
enum Activity {
    Running,
    /// Wants a monitor, and has not written anything yet.
    Spinning {
        wish: Wish,
        tries_left: u8,
    },
    /// Has written a contended enter.
    Blocked {
        wish: Wish,
        enter: Enter,
    },
    /// Owns the monitor that it was blocked on, but has not written so.
    Acquired {
        wish: Wish,
        enter: Enter,
        safepoint_ns: u64,
    },
    Releasing(Release),
    /// In `Object.wait`, still in the wait set or not.
    Waiting(Wish),
}

struct Simulator {
    rules: Rules,
    step: usize,
    now_ns: u64,
    /// Time spent in safepoints.
    safepoint_ns: u64,
    monitors: Vec<Monitor>,
    activities: Vec<Activity>,
    /// The synchronized regions that each thread is in, outermost first.
    regions: Vec<Vec<(usize, ChainId)>>,
    next_lock: LockId,
    next_forward_ref: ForwardRef,
    history: History,
}

/// Lets threads act, and returns what happened.
pub(crate) fn simulate(rules: Rules, actions: &[Action]) -> History {
    let threads = usize::from(rules.threads);
    let mut simulator = Simulator {
        rules,
        step: 0,
        now_ns: 0,
        safepoint_ns: 0,
        monitors: vec![Monitor::default(); rules.objects.into()],
        activities: vec![Activity::Running; threads],
        regions: vec![Vec::new(); threads],
        next_lock: LockId(PARK_DOMAINS + 1),
        next_forward_ref: ForwardRef(1),
        history: History {
            events: vec![Vec::new(); threads + 1],
            races: rules.races,
            reports_holds: rules.reports_holds,
            ..History::default()
        },
    };
    for (step, action) in actions.iter().enumerate() {
        simulator.step = step;
        simulator.now_ns += u64::from(action.duration_ns % 8) + 1;
        simulator.act(action);
    }
    simulator.write_what_has_a_number();
    simulator.note_open_waits();
    simulator.history
}

impl Simulator {
    fn act(&mut self, action: &Action) {
        let thread = usize::from(action.thread) % self.activities.len();
        let object = usize::from(action.object) % self.monitors.len();
        match action.choice % 32 {
            30 => return self.deflate(object),
            31 => {
                let pause_ns = u64::from(action.duration_ns / 8);
                self.now_ns += pause_ns;
                self.safepoint_ns += pause_ns;
                return;
            }
            _ => {}
        }
        match self.activities[thread] {
            Activity::Running => self.run(thread, object, action.choice),
            Activity::Spinning { wish, tries_left } => self.spin(thread, wish, tries_left),
            Activity::Blocked { wish, enter } => self.try_to_enter(thread, wish, enter),
            Activity::Acquired {
                wish,
                enter,
                safepoint_ns,
            } => {
                self.write_entered(thread, wish, enter, safepoint_ns);
            }
            Activity::Releasing(release) => self.go_on_releasing(thread, release),
            Activity::Waiting(wish) => self.go_on_waiting(thread, wish, action.choice),
        }
    }

    /// Does what the program of a running thread says.
    fn run(&mut self, thread: usize, object: usize, choice: u8) {
        let innermost = self.regions[thread].last().copied();
        match (choice % 32, innermost) {
            (0..=13, _) if self.may_enter(thread, object) => {
                let chain = ChainId((b'a' + choice / 32 + choice % 2 * 8).into());
                if self.holds(thread, object) {
                    self.regions[thread].push((object, chain));
                } else {
                    let wish = Wish {
                        object,
                        chain,
                        after_wait: None,
                    };
                    self.spin(thread, wish, choice % 3);
                }
            }
            (0..=20, Some((object, chain))) => {
                self.regions[thread].pop();
                if !self.holds(thread, object) {
                    self.begin_release(thread, object, chain, false);
                }
            }
            (21..=24, Some((object, _))) => {
                let outermost = self.regions[thread]
                    .iter()
                    .find(|region| region.0 == object);
                let &(_, chain) = outermost.expect("there is an innermost one");
                self.begin_release(thread, object, chain, true);
            }
            (25..=26, Some((object, _))) => self.notify(object, 1),
            (27, Some((object, _))) => self.notify(object, usize::MAX),
            (28..=29, _) => self.interrupt(object),
            _ => {}
        }
    }

    fn holds(&self, thread: usize, object: usize) -> bool {
        self.regions[thread].iter().any(|region| region.0 == object)
    }

    /// Monitors are entered in order, so that nobody deadlocks if that is not wanted,
    /// or recursively.
    fn may_enter(&self, thread: usize, object: usize) -> bool {
        let regions = &self.regions[thread];
        let recursions = regions.iter().filter(|region| region.0 == object).count();
        let in_order = regions.iter().all(|region| region.0 <= object);
        (in_order || self.rules.deadlocks) && recursions < 3
    }

    /// Moves the threads that wait longest from the wait set to the queue.
    fn notify(&mut self, object: usize, count: usize) {
        let monitor = &mut self.monitors[object];
        let count = count.min(monitor.wait_set.len());
        monitor.queue.extend(monitor.wait_set.drain(..count));
    }

    /// Interrupts the thread that waits longest. It wakes by itself.
    fn interrupt(&mut self, object: usize) {
        let wait_set = &mut self.monitors[object].wait_set;
        if !wait_set.is_empty() {
            wait_set.remove(0);
        }
    }

    /// Deflates the monitor of an object that nobody uses. A thread that has
    /// released it may still have to write its exit event.
    fn deflate(&mut self, object: usize) {
        let used = |activity: &Activity| match activity {
            Activity::Running
            | Activity::Releasing(Release {
                released: true,
                to_wait: None,
                ..
            }) => false,
            Activity::Spinning { wish, .. }
            | Activity::Blocked { wish, .. }
            | Activity::Acquired { wish, .. }
            | Activity::Waiting(wish) => wish.object == object,
            Activity::Releasing(release) => release.object == object,
        };
        let monitor = &self.monitors[object];
        if monitor.owner.is_some() || self.activities.iter().any(used) {
            return;
        }
        if monitor.lock != LockId::NONE {
            let (lock, sequence) = self.next_sequence(object);
            let jvm = self.activities.len();
            self.write(jvm, Event::LockRetired(LockRetired { lock, sequence }));
        }
        self.monitors[object] = Monitor::default();
    }

    fn note_open_waits(&mut self) {
        for (thread, activity) in (0..).map(ThreadId).zip(&self.activities) {
            let Activity::Blocked { wish, enter } = *activity else {
                continue;
            };
            let monitor = &self.monitors[wish.object];
            self.history.open.push(OpenWait {
                object: wish.object,
                thread,
                start_ns: enter.time_ns,
                holder: monitor.owner.map(|owner| ThreadId(owner.thread as u32)),
                holder_seen: monitor
                    .owner
                    .is_some_and(|owner| owner.seen || owner.entered.is_some()),
            });
        }
    }

    /// A thread has written that it waits for the monitor.
    fn has_contenders(&self, object: usize) -> bool {
        let contends = |activity: &Activity| matches!(activity, Activity::Blocked { wish, .. } if wish.object == object);
        self.activities.iter().any(contends)
    }

    /// What an exit that the owner of the monitor is about to write says about its hold.
    fn hold(&self, object: usize) -> Hold {
        let owner = self.monitors[object]
            .owner
            .expect("it releases the monitor");
        let open = self
            .activities
            .iter()
            .filter_map(|activity| match activity {
                Activity::Blocked { wish, enter } if wish.object == object => Some(enter.time_ns),
                _ => None,
            });
        let before_all = open
            .min()
            .is_none_or(|oldest_ns| owner.since_ns < oldest_ns);
        match (self.rules.reports_holds, before_all) {
            (false, _) => Hold::NotKnown,
            (true, true) => Hold::BeforeContention,
            (true, false) => Hold::For {
                duration_ns: self.now_ns - owner.since_ns,
            },
        }
    }

    fn next_sequence(&mut self, object: usize) -> (LockId, u64) {
        let monitor = &mut self.monitors[object];
        monitor.last_sequence += 1;
        (monitor.lock, monitor.last_sequence)
    }

    fn write(&mut self, thread: usize, event: Event<'static>) {
        let step = self.step;
        self.history.events[thread].push(Written { step, event });
    }
}
