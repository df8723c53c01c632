//! What a prediction says.

use crate::model::entity::LockIndex;

/// Which holds a replay assumes that the trace does not have, since nobody waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnseenHolds {
    /// None.
    None,
    /// Those that follow from how long threads took where others noticed the lock.
    Inferred,
    /// Beside these, as many as are to be expected where as many threads had to wait as the trace says.
    #[default]
    Expected,
    /// Several times as many, but nobody else wants the lock meanwhile.
    Private,
    /// One each time that a thread goes on by itself.
    EachTime,
    /// Threads that only read have a lock no longer than they were seen with it.
    ShortReads,
    /// Threads that only read have a lock as long as the trace allows.
    LongReads,
}

impl UnseenHolds {
    /// The name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Inferred => "inferred",
            Self::Expected => "expected",
            Self::Private => "private",
            Self::EachTime => "each-time",
            Self::ShortReads => "short-reads",
            Self::LongReads => "long-reads",
        }
    }
}

/// What a replay assumes where a trace shows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Of threads that wait for a monitor, the one that came first gets it first, as since JDK 25. Before, HotSpot
    /// serves those that have come in batches, and of each the last one first (`ObjectMonitor::exit`).
    pub by_arrival: bool,
    /// The number of processors, which own work needs. `None`: all threads go on at once, like
    /// threads that wait for input or output.
    pub processors: Option<u64>,
    /// When threads also hold locks where nobody notices.
    pub unseen_holds: UnseenHolds,
}

/// A replay of a trace, as it is and with the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// What it assumes.
    pub assumptions: Assumptions,
    /// How long threads wait in all, in nanoseconds, if nothing is changed: in truth as long
    /// as the trace says.
    pub unchanged_ns: u64,
    /// The same with the change.
    pub changed_ns: u64,
    /// The least and the most that this comes to, as far as the replay of what was not changed
    /// went wrong, and as far as runs differ by chance.
    pub range_ns: (u64, u64),
    /// How many times as long the threads that contend are busy if nothing is changed, as they are in the
    /// trace: in truth once.
    pub unchanged_duration: f64,
    /// How many times as fast the same work is done with the change.
    pub speedup: f64,
    /// The least and the most that this comes to.
    pub speedup_range: (f64, f64),
    /// Without the change it finds nearly what the trace says. Others are not counted.
    pub is_reliable: bool,
    /// How often threads waited for each other in a cycle, and one of them went on without
    /// its lock.
    pub forced: u64,
}

/// What becomes of the waiting for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockOutcome {
    /// The lock.
    pub lock: LockIndex,
    /// It is what is changed.
    pub is_changed: bool,
    /// How long threads waited for it in the trace, in nanoseconds.
    pub before_ns: u64,
    /// How long they would: the least and the most of all replays that count, in nanoseconds. `None` if none
    /// does.
    pub after_ns: Option<(u64, u64)>,
}

/// What a change of a lock would bring, for the same work.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// How many waits for locks there are.
    pub waits: u64,
    /// How long they are, in nanoseconds: without the time in which the process did not run.
    pub before_ns: u64,
    /// What would become of it; or why that cannot be said.
    pub effect: Result<Effect, Unreliable>,
    /// How much of the waiting is for the locks that are changed, in nanoseconds.
    pub for_changed_ns: u64,
    /// How much of the waiting nobody knows the owner of, in nanoseconds: it stays as it is.
    pub unexplained_ns: u64,
    /// How long the same threads waited for others to act, in nanoseconds: it stays as it is,
    /// although they may act earlier.
    pub conditional_ns: u64,
    /// How many holds are expected that the trace does not record.
    pub unseen_holds: u64,
    /// Which share of the time of the trace was replayed: 1, or slices spread evenly over it if there are too
    /// many waits.
    pub replayed_share: f64,
    /// The replays.
    pub replays: Vec<Replay>,
    /// The locks, those first that threads wait for longest in one of them.
    pub locks: Vec<LockOutcome>,
}

impl Prediction {
    /// Scales times from the waits that were replayed to all, of which this is the sum in nanoseconds.
    pub(super) fn scaled_to(mut self, before_ns: u64) -> Self {
        let factor = before_ns as f64 / self.before_ns.max(1) as f64;
        let mut times = vec![
            &mut self.for_changed_ns,
            &mut self.unexplained_ns,
            &mut self.conditional_ns,
        ];
        if let Ok(effect) = &mut self.effect {
            let (least_ns, most_ns) = &mut effect.after_range_ns;
            times.extend([&mut effect.after_ns, least_ns, most_ns]);
            times.extend(&mut effect.after_with_unseen_lock_ns);
        }
        for replay in &mut self.replays {
            let (least_ns, most_ns) = &mut replay.range_ns;
            times.extend([&mut replay.unchanged_ns, &mut replay.changed_ns]);
            times.extend([least_ns, most_ns]);
        }
        for lock in &mut self.locks {
            times.push(&mut lock.before_ns);
            if let Some((least_ns, most_ns)) = &mut lock.after_ns {
                times.extend([least_ns, most_ns]);
            }
        }
        for ns in times {
            *ns = (*ns as f64 * factor) as u64;
        }
        self.before_ns = before_ns;
        self
    }
}

/// What a change would bring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// How long threads would wait, in nanoseconds: the mean of the replays with as many unseen
    /// holds as are expected.
    pub after_ns: u64,
    /// The least and the most that it may be under one of the assumptions, in nanoseconds.
    pub after_range_ns: (u64, u64),
    /// How long they would wait at most if it turns out that threads queue up for a lock that nobody
    /// waited for in the trace. `None` if the change does not only let threads go on earlier.
    pub after_with_unseen_lock_ns: Option<u64>,
    /// How much sooner the same would be done.
    pub speedup: Speedup,
}

/// How much sooner the threads that contend would be done with the same work: the time in which they work or
/// wait for locks, without the change and with it. Each thread counts as much as it waits for locks. What
/// they wait for work, or for other threads to act, does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speedup {
    /// What is sooner.
    pub of: SpeedupOf,
    /// How many times as fast: 2 is in half of the time.
    pub factor: f64,
    /// The least and the most that it may be under one of the assumptions.
    pub range: (f64, f64),
    /// How long a thread that contends is busy in the trace, in nanoseconds: the mean, in which each counts
    /// as much as it waits.
    pub busy_ns: u64,
}

impl Speedup {
    /// How long a thread would be busy with the same work, in nanoseconds.
    pub fn busy_after_ns(&self) -> u64 {
        (self.busy_ns as f64 / self.factor).round() as u64
    }
}

/// What is sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedupOf {
    /// The work of threads that always have some: the program is done sooner, or does more.
    Work,
    /// The answer to a request, of threads that wait for work, or are started for each: then the same number of
    /// requests takes as long as before.
    Latency,
}

impl SpeedupOf {
    /// The name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Latency => "latency",
        }
    }
}

/// Why nothing is predicted: no replay without the change finds what the trace says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unreliable {
    /// How long threads wait in the replay that is nearest, in nanoseconds.
    Waiting(u64),
    /// How many times as long threads are busy in the replay that is nearest.
    Duration(f64),
}

impl Unreliable {
    /// The name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting(_) => "replay-misses-waiting",
            Self::Duration(_) => "replay-misses-duration",
        }
    }
}
