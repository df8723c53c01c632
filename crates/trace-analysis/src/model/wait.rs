//! What the analysis finds: waits, split into contentions.

use std::fmt;

use trace_format::{LockId, ParkEndReason, ParkTimeout};

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::time_range::TimeRange;

/// The mechanism that made a thread wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// A Java object's intrinsic lock.
    Monitor,
    /// A synchronizer of `java.util.concurrent`.
    Park,
}

impl Mechanism {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Monitor, Self::Park];

    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Monitor => "monitor",
            Mechanism::Park => "park",
        }
    }
}

/// What threads wait for. Only contention is lost time by all means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// A lock that another thread holds.
    Contention,
    /// Another thread must do something.
    Conditional,
    /// A worker without work.
    Idle,
    /// Time must pass.
    Sleep,
    /// Another thread, or a process, must end.
    Join,
}

impl WaitKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Contention,
        Self::Conditional,
        Self::Idle,
        Self::Sleep,
        Self::Join,
    ];

    /// Returns the name on the command line and in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contention => "contention",
            Self::Conditional => "conditional",
            Self::Idle => "idle",
            Self::Sleep => "sleep",
            Self::Join => "join",
        }
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitEnd {
    /// The thread acquired the monitor.
    Acquired,
    /// Another thread woke it: it unparked it, or had given the permit before.
    Woken,
    /// It was interrupted.
    Interrupted,
    /// The time was over.
    TimedOut,
    /// `park` returned for no reason, as it may.
    Spurious,
    /// It had not ended when the trace did.
    Open,
}

impl WaitEnd {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Acquired,
        Self::Woken,
        Self::Interrupted,
        Self::TimedOut,
        Self::Spurious,
        Self::Open,
    ];

    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acquired => "acquired",
            Self::Woken => "woken",
            Self::Interrupted => "interrupted",
            Self::TimedOut => "timed-out",
            Self::Spurious => "spurious",
            Self::Open => "open",
        }
    }

    /// Returns the name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Acquired => "lock acquired",
            Self::Woken => "woken by a thread",
            Self::Interrupted => "interrupted",
            Self::TimedOut => "timed out",
            Self::Spurious => "woken by nobody",
            Self::Open => "not ended",
        }
    }
}

impl From<ParkEndReason> for WaitEnd {
    fn from(reason: ParkEndReason) -> Self {
        match reason {
            ParkEndReason::Unparked | ParkEndReason::PermitAvailable => Self::Woken,
            ParkEndReason::Interrupted => Self::Interrupted,
            ParkEndReason::TimedOut => Self::TimedOut,
            ParkEndReason::Spurious => Self::Spurious,
        }
    }
}

/// What a wait is known by: the event that began it. Every analysis of the same traces, in
/// the same order, finds it under the same identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitId {
    /// Position of the trace among those analyzed.
    pub trace: u32,
    /// The number in that trace of the lock, or of the domain of the parks.
    pub lock: LockId,
    /// The number of the contended enter or of the first park, there.
    pub number: u64,
}

impl fmt::Display for WaitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace,
            lock,
            number,
        } = self;
        write!(f, "{trace}.{lock}.{number}")
    }
}

/// The whole time from a contended enter to the contended entered, or from the
/// first park of one logical acquisition to the end of the last; of a wait that had
/// not [`ended`](Self::ended), to the end of the trace.
///
/// Where a [`Selection`](crate::Selection) leaves only a part of a wait, that is what is
/// described here: from the first to the last moment selected, or, if owners are selected, as
/// long as they had the lock.
///
/// The durations in [`blame`](Self::blame) add up to its duration, to the nanosecond, and
/// so do those of its contentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What the wait is known by.
    pub id: WaitId,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// What the wait was for.
    pub kind: WaitKind,
    /// The thread re-acquired the lock after `Object.wait` or `Condition.await`. Often not
    /// critical: of several notified threads, only the first finds work (paper, section 3.2).
    pub after_wait: bool,
    /// The lock waited for.
    pub lock: LockIndex,
    /// The thread that waited.
    pub thread: ThreadIndex,
    /// Where it waited.
    pub chain: ChainIndex,
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// Duration in nanoseconds; 0 if the clock went backwards.
    pub duration_ns: u64,
    /// Begin of the whole wait, whatever is selected of it.
    pub whole_start_ns: u64,
    /// Duration of the whole wait, whatever is selected of it.
    pub whole_duration_ns: u64,
    /// How much of the whole duration the JVM spent in safepoints. Of a wait that had not
    /// ended only what was known before its last park.
    pub safepoint_ns: u64,
    /// How the wait ended; of several parks the last one.
    pub end: WaitEnd,
    /// How long the thread would park at most, as it said when it parked first.
    pub timeout: ParkTimeout,
    /// Of a wait that had not ended: the thread that had the lock when the trace ended,
    /// and where it acquired it ([`ChainIndex::NOT_RELEASED`] if that is not known);
    /// `None` if the events do not show it.
    pub holder: Option<(ThreadIndex, ChainIndex)>,
    /// How often a thread that did not wait acquired the lock during the wait, and
    /// released it again: as far as the events show.
    pub barging_holds: u64,
    /// Who made the thread wait, each owner once, in no order; at least one.
    pub blame: Vec<Blame>,
    /// The parts of the wait, in order and without gaps; at least one. Empty unless the
    /// analysis finds [them](crate::Detail::CONTENTIONS).
    pub contentions: Vec<Contention>,
    /// The same parts, split by their root owners: in order and without gaps. Empty unless
    /// the analysis finds [root owners](crate::Detail::roots). Where it does not find contentions, they
    /// may be sums instead: a part for each owner, all of which begin with the wait.
    pub roots: Vec<RootPart>,
    /// How the threads that the chains of owners end with were scheduled, each with the position in the
    /// [`roots`](Self::roots) of the first part that it is about: of those that follow each other with the
    /// same root, did not wait there as far as events show, and take longer than a clock tick. Empty unless
    /// the analysis finds [samples](crate::Detail::samples).
    pub scheduling: Vec<(usize, Scheduling)>,
}

impl Wait {
    /// Returns whether the thread waited already when the trace began. Of such a wait the
    /// trace has what came afterwards: it begins with the trace, as no other does.
    pub fn begun_before(&self) -> bool {
        self.whole_start_ns == 0
    }

    /// Returns whether the wait was over when the trace ended.
    pub fn ended(&self) -> bool {
        self.end != WaitEnd::Open
    }

    /// A wait to be filled in.
    pub(crate) fn blank() -> Self {
        Self {
            id: WaitId::default(),
            mechanism: Mechanism::Monitor,
            kind: WaitKind::Contention,
            after_wait: false,
            lock: LockIndex(0),
            thread: ThreadIndex(0),
            chain: ChainIndex::NOT_RECORDED,
            start_ns: 0,
            duration_ns: 0,
            whole_start_ns: 0,
            whole_duration_ns: 0,
            safepoint_ns: 0,
            end: WaitEnd::Acquired,
            timeout: ParkTimeout::None,
            holder: None,
            barging_holds: 0,
            blame: Vec::new(),
            contentions: Vec::new(),
            roots: Vec::new(),
            scheduling: Vec::new(),
        }
    }

    /// How much of it the process did not run, in nanoseconds.
    pub fn frozen_ns(&self) -> u64 {
        let frozen = self
            .blame
            .iter()
            .filter(|blame| blame.owner == Owner::Frozen);
        frozen.map(|blame| blame.duration_ns).sum()
    }

    /// How many contentions the wait consists of.
    pub(crate) fn contention_count(&self) -> u64 {
        self.blame.iter().map(|blame| blame.contentions).sum()
    }

    /// Of each owner, what it had of the wait is a part whose root owner it is itself.
    pub(crate) fn root_is_owner(&mut self) {
        let mut roots = std::mem::take(&mut self.roots);
        roots.clear();
        roots.extend(self.blame.iter().map(|blame| RootPart::direct(self, blame)));
        self.roots = roots;
    }

    /// Sets begin and end. Returns begin and end of the part in `range`; if no part is, nobody is
    /// to blame.
    pub(crate) fn set_time(
        &mut self,
        start_ns: u64,
        end_ns: u64,
        range: TimeRange,
    ) -> Option<(u64, u64)> {
        let end_ns = end_ns.max(start_ns);
        (self.whole_start_ns, self.whole_duration_ns) = (start_ns, end_ns - start_ns);
        let inside = range.clip(start_ns, end_ns);
        let (start_ns, end_ns) = inside.unwrap_or((start_ns, start_ns));
        (self.start_ns, self.duration_ns) = (start_ns, end_ns - start_ns);
        self.blame.clear();
        self.contentions.clear();
        self.roots.clear();
        inside
    }
}

/// A wait that has not ended, or had not when the trace did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenWait {
    /// What the wait is known by, also when it has ended.
    pub id: WaitId,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The lock waited for.
    pub lock: LockIndex,
    /// What the lock is to the thread.
    pub resource: Resource,
    /// The thread that waits.
    pub thread: ThreadIndex,
    /// Where it waits.
    pub chain: ChainIndex,
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// Duration until the trace ended, or so far, in nanoseconds.
    pub duration_ns: u64,
    /// What the wait is for, as far as is known before it ends.
    pub kind: WaitKind,
    /// How long the thread waits at most, as it said when it parked first.
    pub timeout: ParkTimeout,
    /// The thread that has the lock, as far as it was seen, and where it acquired it:
    /// [`ChainIndex::NOT_RELEASED`] if it did not have to wait for it. `None` if the events do
    /// not show it, or the wait is no contention.
    pub holder: Option<(ThreadIndex, ChainIndex)>,
    /// More about that thread.
    pub holder_facts: HolderFacts,
    /// How the lock was passed on so far. Of a lock only.
    pub turnover: Turnover,
    /// How often the lock was released since the wait began, as far as events show.
    pub releases: u64,
}

impl OpenWait {
    /// A wait to be filled in.
    #[cfg(test)]
    pub(crate) fn blank() -> Self {
        Self {
            id: WaitId::default(),
            mechanism: Mechanism::Park,
            lock: LockIndex(0),
            resource: Resource::Lock,
            thread: ThreadIndex(0),
            chain: ChainIndex::NOT_RECORDED,
            start_ns: 0,
            duration_ns: 0,
            kind: WaitKind::Contention,
            timeout: ParkTimeout::None,
            holder: None,
            holder_facts: HolderFacts::default(),
            turnover: Turnover::default(),
            releases: 0,
        }
    }

    /// Sets the thread that has the lock, and where it acquired it.
    pub(crate) fn hold_by(&mut self, holder: Option<(ThreadIndex, ChainIndex)>) {
        let is_contention = self.kind == WaitKind::Contention;
        self.holder = holder.filter(|&(holder, _)| is_contention && holder != self.thread);
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A lock that one thread has at a time.
    Lock,
    /// A lock that readers share; this thread wants to share it, or to have it alone.
    ReadWriteLock {
        /// It wants to share it.
        shared: bool,
    },
    /// The same of a `StampedLock`, which no thread may acquire again while it has it.
    StampedLock {
        /// It wants to share it.
        shared: bool,
    },
    /// A permit of a semaphore.
    Permit,
    /// Anything else: a latch, a condition, a future, work, time.
    Event,
}

/// What else is known of a thread that has a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolderFacts {
    /// When the thread ended, if it has, in nanoseconds since the trace's start.
    pub ended_ns: Option<u64>,
    /// Where it was seen last during the wait, and when: a sample.
    pub seen: Option<(u64, ChainIndex)>,
}

/// How a lock was passed on while threads waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turnover {
    /// How often it was released, as far as events show.
    pub releases: u64,
    /// When it was released last, in nanoseconds since the trace's start; `None` if no event shows a release.
    pub released_ns: Option<u64>,
    /// The longest hold that was released, and the longest time that threads waited without a release, in
    /// nanoseconds.
    pub longest_hold_ns: u64,
    /// The longest wait that ended, in nanoseconds.
    pub longest_wait_ns: u64,
}

impl Turnover {
    /// Adds a release. `waited_since_ns` finds out since when the first thread waits that does so then.
    #[inline]
    pub(crate) fn release(&mut self, time_ns: u64, waited_since_ns: impl FnOnce() -> Option<u64>) {
        let released_ns = self.released_ns.unwrap_or(0);
        if time_ns.saturating_sub(released_ns) > self.longest_hold_ns
            && let Some(waited_since_ns) = waited_since_ns()
        {
            let since_ns = waited_since_ns.max(released_ns);
            self.hold(time_ns.saturating_sub(since_ns));
        }
        self.released_ns = Some(released_ns.max(time_ns));
        self.releases += 1;
    }

    /// Adds a hold that was released.
    #[inline]
    pub(crate) fn hold(&mut self, duration_ns: u64) {
        self.longest_hold_ns = self.longest_hold_ns.max(duration_ns);
    }

    /// Adds a wait that ended.
    #[inline]
    pub(crate) fn wait(&mut self, duration_ns: u64) {
        self.longest_wait_ns = self.longest_wait_ns.max(duration_ns);
    }
}

/// What one owner had of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blame {
    /// Who held the lock; of a wait that is no contention: who ended it.
    pub owner: Owner,
    /// How long, in nanoseconds.
    pub duration_ns: u64,
    /// How many contentions that were.
    pub contentions: u64,
}

/// The part of a wait that one owner is to blame for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Who held the lock; of a wait that is no contention: who ended it.
    pub owner: Owner,
}

/// The part of a contention with one root owner, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootPart {
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// Duration in nanoseconds, of all together.
    pub duration_ns: u64,
    /// How many parts this is; one, but where [they are sums](Wait::roots).
    pub contentions: u64,
    /// The direct owner, as of the [`Contention`].
    pub owner: Owner,
    /// What the direct owner waited for itself meanwhile.
    pub own_wait: Option<OwnWait>,
    /// The safepoint that there was meanwhile, if the direct owner did not wait itself.
    pub safepoint: Option<SafepointPhase>,
    /// Where the direct owner stood then, by an estimate of its samples. `None` if it was not sampled,
    /// or the analysis does not find [that](crate::Detail::samples).
    pub sample: Option<ChainIndex>,
    /// What the chain of owners ends with.
    pub root: Root,
}

impl RootPart {
    /// What an owner had of a wait, as a part whose root owner it is itself.
    pub fn direct(wait: &Wait, blame: &Blame) -> Self {
        Self {
            start_ns: wait.start_ns,
            duration_ns: blame.duration_ns,
            contentions: blame.contentions,
            owner: blame.owner,
            own_wait: None,
            safepoint: None,
            sample: None,
            root: Root::at(RootEnd::Owner(blame.owner), wait.lock, 1),
        }
    }

    /// Returns the same part as if its last owner had not waited itself: for something that nobody holds
    /// (see [`Root::held`]). Then the code that held the last lock is at the end of the chain.
    #[must_use]
    pub fn without_last_wait(mut self) -> Self {
        if let (Some(held), RootEnd::Owner(Owner::Thread { thread, .. })) =
            (self.root.held, self.root.end)
        {
            let chain = held.chain;
            let end = RootEnd::Owner(Owner::Thread { thread, chain });
            self.root = Root::at(end, held.lock, self.root.depth - 1);
        }
        self
    }

    /// Returns the direct owner's wait for a lock other than `outer`, with the owner and its call
    /// chain while it owned `outer`. This part belongs to a wait for `outer`.
    pub fn nested_in(&self, outer: LockIndex) -> Option<(OwnWait, ThreadIndex, ChainIndex)> {
        let own = self.own_wait?;
        let (thread, chain) = self.owner.thread()?;
        let is_nested = own.kind == WaitKind::Contention && own.lock != outer;
        is_nested.then_some((own, thread, chain))
    }

    /// Returns what the direct owner did; `None` if there was no owner or it is not known.
    pub fn owner_activity(&self) -> Option<OwnerActivity> {
        let activity = match (self.own_wait, self.safepoint) {
            (Some(own), _) => return Some(OwnerActivity::of_wait(own.kind)),
            (None, None) => OwnerActivity::Running,
            (None, Some(phase)) => OwnerActivity::at_safepoint(phase),
        };
        matches!(self.root.end, RootEnd::Owner(Owner::Thread { .. })).then_some(activity)
    }
}

/// What the owner of a lock did while others waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerActivity {
    /// Nothing that a trace records: it ran, or waited for a processor, for input or output, in
    /// `Thread.sleep` or in `Object.wait`.
    Running,
    /// It waited for another lock.
    Blocked,
    /// It waited for another thread to do something, or for work.
    Waiting,
    /// It was parked for some time to pass.
    Asleep,
    /// The JVM was about to stop all threads for a safepoint: it ran on until it came to a place
    /// where it could be stopped.
    ReachingSafepoint,
    /// All threads were stopped at a safepoint, as for a collection: but for those in native code,
    /// which run on until they return.
    AtSafepoint,
}

/// How far a safepoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SafepointPhase {
    /// The JVM stops its threads.
    Reaching,
    /// All are stopped.
    Reached,
}

impl OwnerActivity {
    pub(crate) fn at_safepoint(phase: SafepointPhase) -> Self {
        match phase {
            SafepointPhase::Reaching => Self::ReachingSafepoint,
            SafepointPhase::Reached => Self::AtSafepoint,
        }
    }

    pub(crate) fn of_wait(kind: WaitKind) -> Self {
        match kind {
            WaitKind::Contention => Self::Blocked,
            WaitKind::Conditional | WaitKind::Idle | WaitKind::Join => Self::Waiting,
            WaitKind::Sleep => Self::Asleep,
        }
    }

    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Asleep => "asleep",
            Self::ReachingSafepoint => "reaching-safepoint",
            Self::AtSafepoint => "safepoint",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Running => "running, or not traced as waiting",
            Self::Blocked => "blocked by another lock",
            Self::Waiting => "waiting for another thread",
            Self::Asleep => "parked for some time",
            Self::ReachingSafepoint => "running to a safepoint",
            Self::AtSafepoint => "stopped at a safepoint",
        }
    }
}

/// What the owner of a lock waits for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnWait {
    /// What for.
    pub kind: WaitKind,
    /// What it is that it waits for.
    pub lock: LockIndex,
    /// Where it waits.
    pub chain: ChainIndex,
    /// Begin of this wait, in nanoseconds since the trace's start.
    pub start_ns: u64,
}

/// The end of a chain of waits: of one for a lock, of its owner's own wait meanwhile, of the wait
/// of the owner of that lock, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    /// Who or what is at the end.
    pub end: RootEnd,
    /// What the last wait of the chain is for.
    pub lock: LockIndex,
    /// How many waits the chain consists of: 1 if the direct owner did not wait. `u32::MAX` of a
    /// cycle.
    pub depth: u32,
    /// What the last owner held while it waited, if that wait is for something that nobody holds.
    pub held: Option<HeldInWait>,
}

/// What a thread held while it waited for something that is no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeldInWait {
    /// What it waited for.
    pub kind: WaitKind,
    /// The lock, for which the thread before it in the chain waited.
    pub lock: LockIndex,
    /// The code that held the lock.
    pub chain: ChainIndex,
}

impl Root {
    /// Returns a root that held `lock`, at the end of a chain of `depth` waits.
    pub(crate) fn at(end: RootEnd, lock: LockIndex, depth: u32) -> Self {
        Self {
            end,
            lock,
            depth,
            held: None,
        }
    }
}

/// What is at the end of a chain of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootEnd {
    /// The last owner. A thread did not wait for a lock, as far as the trace shows: it ran, or
    /// was not scheduled, or slept; or it waited, where its call chain says, for something that
    /// nobody holds. A chain that was too long to be followed, or that led to waits forgotten
    /// for want of memory, ends at [`UnknownOwner::Collapsed`].
    Owner(Owner),
    /// The threads of the chain waited for each other.
    Cycle,
}

/// How a thread was scheduled for some time, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// On a processor.
    pub processor_ns: u64,
    /// Not on a processor.
    pub not_on_processor_ns: u64,
    /// The part of that in which it was ready to run.
    pub run_delay_ns: u64,
}

impl Scheduling {
    /// Adds the same of another time.
    pub fn add(&mut self, other: Self) {
        let add = |sum: &mut u64, ns: u64| *sum = sum.saturating_add(ns);
        add(&mut self.processor_ns, other.processor_ns);
        add(&mut self.not_on_processor_ns, other.not_on_processor_ns);
        add(&mut self.run_delay_ns, other.run_delay_ns);
    }
}

/// One or several holds of a lock that the same thread ended while others waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedHolds {
    /// The lock.
    pub lock: LockIndex,
    /// The thread that had it.
    pub thread: ThreadIndex,
    /// When the last one ended, in nanoseconds since the trace's start.
    pub end_ns: u64,
    /// How long they were.
    pub holds: Holds,
}

/// What a release says about the holds that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// One, of unknown duration.
    NotKnown,
    /// One that began before anybody contended.
    BeforeContention,
    /// How many, and the sum of their durations. They follow each other: no wait has seen
    /// only some of them.
    For {
        /// How many; at least one.
        holds: u16,
        /// All of them together, in nanoseconds.
        held_ns: u64,
    },
}

/// Who held a lock for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A thread.
    Thread {
        /// The thread.
        thread: ThreadIndex,
        /// The code that held the lock.
        chain: ChainIndex,
    },
    /// Nobody: the lock was free. Those who waited for it did not run yet.
    Free,
    /// Nobody is to blame: the process did not run, it was stopped or frozen, or the machine was
    /// suspended.
    Frozen,
    /// The events do not show it.
    Unknown(UnknownOwner),
}

impl Owner {
    /// The thread and its code, if they are known.
    pub fn thread(self) -> Option<(ThreadIndex, ChainIndex)> {
        match self {
            Owner::Thread { thread, chain } => Some((thread, chain)),
            Owner::Free | Owner::Frozen | Owner::Unknown(_) => None,
        }
    }
}

/// Why the owner of a lock is not known for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)] // as wide as what else an `Owner` is made of, so that it is copied at once
pub enum UnknownOwner {
    /// The lock was released, and the next owner was about to acquire it. It is not known
    /// whether others held it in between.
    HandOff,
    /// The owner released the lock without seeing a queued thread, and so wrote no event.
    NoExit,
    /// Events of this time are lost.
    Lost,
    /// The wait had too many owners to keep them all in memory.
    Collapsed,
    /// Readers held the lock. They write no event, but for the last one.
    Readers,
    /// No thread ended the wait: the time was over, or it ended for no reason.
    NotWoken,
    /// The trace ended before an event could show it.
    TraceEnded,
}

impl UnknownOwner {
    /// All reasons.
    pub const ALL: [UnknownOwner; 7] = [
        UnknownOwner::HandOff,
        UnknownOwner::NoExit,
        UnknownOwner::Lost,
        UnknownOwner::Collapsed,
        UnknownOwner::Readers,
        UnknownOwner::NotWoken,
        UnknownOwner::TraceEnded,
    ];

    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            UnknownOwner::HandOff => "handoff",
            UnknownOwner::NoExit => "no-exit",
            UnknownOwner::Lost => "lost",
            UnknownOwner::Collapsed => "collapsed",
            UnknownOwner::Readers => "readers",
            UnknownOwner::NotWoken => "not-woken",
            UnknownOwner::TraceEnded => "trace-ended",
        }
    }
}
