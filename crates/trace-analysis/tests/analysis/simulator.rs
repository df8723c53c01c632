//! A model of threads that contend for monitors: it knows the truth, and it
//! writes the events that the tracer would write.

use trace_format::{ChainId, ChainRef, Event, ForwardRef, LockId, ThreadId};

/// One step of a program: some thread does something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    pub(crate) thread: u8,
    pub(crate) choice: u8,
    pub(crate) monitor: u8,
    pub(crate) duration_ns: u8,
}

/// What the simulated JVM may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) threads: u8,
    pub(crate) monitors: u8,
    /// Between enter and queueing, and between an exit's number and the release,
    /// other threads can act.
    pub(crate) races: bool,
}

/// Some thread held a monitor, without interruption.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) monitor: usize,
    pub(crate) thread: ThreadId,
    pub(crate) chain: ChainId,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// The acquisition wrote an event.
    pub(crate) entered: bool,
}

/// A thread waited for a monitor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrueWait {
    pub(crate) monitor: usize,
    pub(crate) thread: ThreadId,
    pub(crate) chain: ChainId,
    pub(crate) after_wait: bool,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// What happened.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The events of each thread, in the order of writing.
    pub(crate) events: Vec<Vec<Event<'static>>>,
    pub(crate) holds: Vec<Hold>,
    pub(crate) waits: Vec<TrueWait>,
}

/// The chain of code that re-acquires a monitor in `Object.wait`.
const INSIDE_WAIT: ChainId = b'w' as ChainId;

#[derive(Clone, Copy, Debug, Default)]
struct Monitor {
    /// 0 while never contended since inflation.
    lock: LockId,
    last_sequence: u64,
    owner: Option<usize>,
}

/// The acquisition that a thread has to release some time.
#[derive(Clone, Copy, Debug)]
struct Acquisition {
    monitor: usize,
    chain: ChainId,
    forward_ref: Option<ForwardRef>,
    start_ns: u64,
    entered: bool,
}

#[derive(Clone, Copy, Debug)]
enum Activity {
    Running,
    Blocked {
        acquisition: Acquisition,
        chain: ChainId,
        after_wait: bool,
        queued: bool,
        start_ns: u64,
    },
    Releasing {
        acquisition: Acquisition,
        sequence: Option<u64>,
        to_wait: bool,
    },
    Waiting {
        acquisition: Acquisition,
        notified: bool,
    },
}

struct Simulator {
    rules: Rules,
    now_ns: u64,
    monitors: Vec<Monitor>,
    activities: Vec<Activity>,
    /// What each thread holds, outermost first.
    held: Vec<Vec<Acquisition>>,
    next_lock: LockId,
    next_forward_ref: ForwardRef,
    history: History,
}

/// Lets threads act, and returns what happened.
pub(crate) fn simulate(rules: Rules, actions: &[Action]) -> History {
    let threads = usize::from(rules.threads);
    let mut simulator = Simulator {
        rules,
        now_ns: 0,
        monitors: vec![Monitor::default(); rules.monitors.into()],
        activities: vec![Activity::Running; threads],
        held: vec![Vec::new(); threads],
        next_lock: 1,
        next_forward_ref: 1,
        history: History {
            events: vec![Vec::new(); threads],
            ..History::default()
        },
    };
    for action in actions {
        simulator.now_ns += u64::from(action.duration_ns % 8) + 1;
        simulator.act(usize::from(action.thread) % threads, action);
    }
    simulator.finish_releases();
    simulator.history
}

impl Simulator {
    fn act(&mut self, thread: usize, action: &Action) {
        match self.activities[thread] {
            Activity::Running => self.run(thread, action),
            Activity::Blocked {
                acquisition,
                chain,
                after_wait,
                queued,
                start_ns,
            } => {
                let free = self.monitors[acquisition.monitor].owner.is_none();
                if free {
                    self.acquire_contended(thread, acquisition, chain, after_wait, start_ns);
                } else if !queued {
                    self.activities[thread] = Activity::Blocked {
                        acquisition,
                        chain,
                        after_wait,
                        queued: true,
                        start_ns,
                    };
                }
            }
            Activity::Releasing {
                acquisition,
                sequence,
                to_wait,
            } => {
                self.finish_release(thread, acquisition, sequence, to_wait);
            }
            Activity::Waiting {
                acquisition,
                notified: true,
            } => {
                if self.monitors[acquisition.monitor].owner.is_none() {
                    self.acquire(thread, acquisition, false);
                } else {
                    self.enter(thread, acquisition, INSIDE_WAIT, true);
                }
            }
            Activity::Waiting {
                notified: false, ..
            } => {}
        }
    }

    fn run(&mut self, thread: usize, action: &Action) {
        let monitor = usize::from(action.monitor) % self.monitors.len();
        // Monitors are acquired in order, so that nobody deadlocks.
        let may_acquire = self.held[thread].iter().all(|held| held.monitor < monitor);
        match (action.choice % 8, self.held[thread].last().copied()) {
            (0..=3, _) if may_acquire => {
                let chain = ChainId::from(b'a' + action.choice / 8 % 20);
                let acquisition = Acquisition {
                    monitor,
                    chain,
                    forward_ref: None,
                    start_ns: 0,
                    entered: false,
                };
                if self.monitors[monitor].owner.is_none() {
                    self.acquire(thread, acquisition, false);
                } else {
                    self.enter(thread, acquisition, chain, false);
                }
            }
            (0..=4, Some(acquisition)) => self.release(thread, acquisition, false),
            (5, Some(acquisition)) => self.release(thread, acquisition, true),
            (6, Some(acquisition)) => self.notify(acquisition.monitor),
            (7, _) => self.deflate(thread, monitor),
            _ => {}
        }
    }

    fn enter(&mut self, thread: usize, acquisition: Acquisition, chain: ChainId, after_wait: bool) {
        let monitor = acquisition.monitor;
        if self.monitors[monitor].lock == 0 {
            self.monitors[monitor].lock = self.next_lock;
            self.next_lock += 1;
            self.write(
                thread,
                Event::LockDescription {
                    lock: self.monitors[monitor].lock,
                    class: 1,
                    mirrored_class: 0,
                    identity_hash: monitor as u32 + 1,
                    monitor_address: 0,
                },
            );
        }
        let (lock, sequence) = self.next_sequence(monitor);
        let time_ns = self.now_ns;
        self.write(
            thread,
            Event::ContendedEnter {
                lock,
                sequence,
                time_ns,
                chain,
                after_wait,
            },
        );
        let queued = !self.rules.races;
        self.activities[thread] = Activity::Blocked {
            acquisition,
            chain,
            after_wait,
            queued,
            start_ns: time_ns,
        };
    }

    fn acquire(&mut self, thread: usize, acquisition: Acquisition, entered: bool) {
        self.monitors[acquisition.monitor].owner = Some(thread);
        self.held[thread].push(Acquisition {
            start_ns: self.now_ns,
            entered,
            ..acquisition
        });
        self.activities[thread] = Activity::Running;
    }

    fn acquire_contended(
        &mut self,
        thread: usize,
        acquisition: Acquisition,
        chain: ChainId,
        after_wait: bool,
        start_ns: u64,
    ) {
        let monitor = acquisition.monitor;
        self.acquire(thread, acquisition, true);
        let (lock, sequence) = self.next_sequence(monitor);
        let time_ns = self.now_ns;
        self.write(
            thread,
            Event::ContendedEntered {
                lock,
                sequence,
                time_ns,
                safepoint_ns: 0,
            },
        );
        let (thread, end_ns) = (thread as ThreadId, self.now_ns);
        let wait = TrueWait {
            monitor,
            thread,
            chain,
            after_wait,
            start_ns,
            end_ns,
        };
        self.history.waits.push(wait);
    }

    fn release(&mut self, thread: usize, acquisition: Acquisition, to_wait: bool) {
        let monitor = acquisition.monitor;
        let someone_queued = self.activities.iter().any(|activity| {
            matches!(activity, Activity::Blocked { acquisition, queued: true, .. }
                if acquisition.monitor == monitor)
        });
        let sequence = someone_queued.then(|| self.next_sequence(monitor).1);
        if self.rules.races {
            self.activities[thread] = Activity::Releasing {
                acquisition,
                sequence,
                to_wait,
            };
        } else {
            self.finish_release(thread, acquisition, sequence, to_wait);
        }
    }

    fn finish_release(
        &mut self,
        thread: usize,
        mut acquisition: Acquisition,
        sequence: Option<u64>,
        to_wait: bool,
    ) {
        self.held[thread].pop();
        let Acquisition {
            monitor,
            chain,
            start_ns,
            entered,
            ..
        } = acquisition;
        self.monitors[monitor].owner = None;
        self.history.holds.push(Hold {
            monitor,
            thread: thread as ThreadId,
            chain,
            start_ns,
            end_ns: self.now_ns,
            entered,
        });
        if let Some(sequence) = sequence {
            if to_wait && acquisition.forward_ref.is_none() {
                acquisition.forward_ref = Some(self.next_forward_ref);
                self.next_forward_ref += 1;
            }
            let chain = match acquisition.forward_ref {
                Some(forward_ref) if to_wait => ChainRef::Forward(forward_ref),
                _ => ChainRef::Chain(chain),
            };
            let (lock, time_ns) = (self.monitors[monitor].lock, self.now_ns);
            self.write(
                thread,
                Event::ContendedExit {
                    lock,
                    sequence,
                    time_ns,
                    chain,
                },
            );
        }
        self.activities[thread] = if to_wait {
            Activity::Waiting {
                acquisition,
                notified: false,
            }
        } else {
            if let Some(forward_ref) = acquisition.forward_ref {
                self.write(thread, Event::ForwardResolved { forward_ref, chain });
            }
            Activity::Running
        };
    }

    /// Lets every thread write the number that it took.
    fn finish_releases(&mut self) {
        for thread in 0..self.activities.len() {
            if let Activity::Releasing {
                acquisition,
                sequence,
                to_wait,
            } = self.activities[thread]
            {
                self.finish_release(thread, acquisition, sequence, to_wait);
            }
        }
    }

    fn notify(&mut self, monitor: usize) {
        for activity in &mut self.activities {
            if let Activity::Waiting {
                acquisition,
                notified,
            } = activity
                && acquisition.monitor == monitor
            {
                *notified = true;
            }
        }
    }

    /// Deflates the monitor if nobody uses it.
    fn deflate(&mut self, thread: usize, monitor: usize) {
        let used = self.monitors[monitor].owner.is_some()
            || self.activities.iter().any(|activity| match activity {
                Activity::Running => false,
                Activity::Blocked { acquisition, .. }
                | Activity::Releasing { acquisition, .. }
                | Activity::Waiting { acquisition, .. } => acquisition.monitor == monitor,
            });
        if !used && self.monitors[monitor].lock != 0 {
            let (lock, sequence) = self.next_sequence(monitor);
            self.write(thread, Event::LockRetired { lock, sequence });
            self.monitors[monitor] = Monitor::default();
        }
    }

    fn next_sequence(&mut self, monitor: usize) -> (LockId, u64) {
        let monitor = &mut self.monitors[monitor];
        monitor.last_sequence += 1;
        (monitor.lock, monitor.last_sequence)
    }

    fn write(&mut self, thread: usize, event: Event<'static>) {
        self.history.events[thread].push(event);
    }
}
