//! The owner of a lock of `java.util.concurrent` over time.
//!
//! # Who is to blame
//!
//! An unpark by X shows that X held the lock until then. Where the lock records its owner, every
//! event shows the owner at that time. The time between two boundaries, events that show something
//! about the owner, is blamed
//!
//! * on X, if X may have held the lock at both ends: at the start because the event showed X as the
//!   owner, or because X was woken there and got the lock; at the end because the event shows X as
//!   the owner or is its release;
//! * on nobody ([`UnknownOwner::HandOff`]) from a release until the woken thread runs: several
//!   owners may come and go meanwhile without an event, even if the same one is seen twice;
//! * on nobody ([`UnknownOwner::NoExit`]) where the two ends contradict each other.
//!
//! Where the lock does not record its owner, only the release counts, as in the paper: the thread
//! that releases the lock next has held it since the previous boundary. The time until a woken
//! thread parks again is on nobody, for the same reason as above.
//!
//! Some locks report every release of an exclusive hold, and when that hold began. Then nothing has
//! to be inferred: between two such holds the lock is free ([`Owner::Free`]), and the conclusions
//! from other events are corrected. Other events count only until the next reported release, and
//! for readers.
//!
//! Of the readers that share a lock, only the last to release it writes an event. It has held the
//! lock at least since a writer was first in the queue, because later readers have to queue after
//! that writer. The writer only waits: those readers, too, wait for the ones inside.

use trace_format::{Hold, JavaThreadId};

use crate::blame::park::code::Code;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::blame::timeline::interval::{self, Access, Interval as _, Start, View};
use crate::blame::timeline::owner_timeline::Timeline;
use crate::collections::hash::SeededSet;
use crate::collections::shrink::shrink_set;
use crate::collections::small_map::SmallMap;
use crate::model::counter::{Counter, Counters};
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, ThreadIndex};
use crate::model::packed_owner::PackedOwner;
use crate::model::synchronizer::Synchronizer;
use crate::model::wait::{Owner, UnknownOwner, Wait};
use crate::order::park::event::{Begin, End, Release, Unpark};
use crate::order::park::permits::Waker;

#[derive(Clone, Copy, Debug)]
struct Interval {
    end_ns: u64,
    /// The owner that kept out threads that want exclusive access.
    owner: PackedOwner,
    /// The owner that kept out threads that want shared access.
    owner_for_readers: PackedOwner,
    is_gap: bool,
    /// The owner did not release the lock at the end.
    goes_on: bool,
    /// The owner had the lock at both ends, but others may have had it meanwhile. Nobody is blamed
    /// until a release shows that there were no others.
    are_others_hidden: bool,
}

impl Interval {
    fn unknown(end_ns: u64, reason: UnknownOwner, is_gap: bool) -> Self {
        let owner = PackedOwner::unknown(reason);
        Self {
            end_ns,
            owner,
            owner_for_readers: owner,
            is_gap,
            goes_on: false,
            are_others_hidden: false,
        }
    }

    fn blame(&mut self, owner: impl Into<PackedOwner>) {
        self.owner = owner.into();
        self.owner_for_readers = self.owner;
        self.are_others_hidden = false;
    }

    /// Returns whether the owner is certain, not inferred: it released the lock at the end, or
    /// events are lost.
    fn is_sure(&self) -> bool {
        match self.owner.get() {
            Owner::Thread { .. } => !self.goes_on,
            Owner::Free | Owner::Frozen => false,
            Owner::Unknown(reason) => {
                matches!(reason, UnknownOwner::Lost | UnknownOwner::Collapsed)
            }
        }
    }

    /// Blames an owner that had the lock meanwhile and kept it.
    fn take(&mut self, owner: Owner) {
        if !self.is_sure() {
            self.blame(owner);
            self.goes_on = true;
        }
    }

    /// Notes that nobody held the lock exclusively meanwhile; if it `is_free`, no readers held it
    /// either.
    fn leave(&mut self, is_free: bool) {
        if self.is_sure() {
            return;
        }
        if is_free {
            self.blame(Owner::Free);
        } else if self.owner != PackedOwner::unknown(UnknownOwner::Readers) {
            self.blame(PackedOwner::unknown(UnknownOwner::HandOff));
        }
    }
}

impl interval::Interval for Interval {
    const HAS_OWN: bool = true;

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn is_gap(&self) -> bool {
        self.is_gap
    }

    fn owner(&self, access: Access) -> PackedOwner {
        match access {
            _ if self.are_others_hidden => PackedOwner::unknown(UnknownOwner::HandOff),
            Access::Exclusive => self.owner,
            Access::Shared => self.owner_for_readers,
        }
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn collapsed(end_ns: u64) -> Self {
        Self::unknown(end_ns, UnknownOwner::Collapsed, true)
    }
}

/// The owner after the last boundary, as far as that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// Nothing is known.
    Unseen,
    /// Somebody has the lock.
    Held {
        /// The owner, if the lock records it.
        by: Option<ThreadIndex>,
        /// The thread that was woken there, and may have got the lock instead.
        woken: Option<Woken>,
    },
    /// Nobody has the lock, or somebody just got it.
    Free {
        /// The thread that had the lock just after.
        next: Option<ThreadIndex>,
    },
    /// Events are lost.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Woken {
    thread: ThreadIndex,
    /// It wants shared access.
    reader: bool,
}

/// The evidence of a boundary about the owner until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// The thread releases the lock.
    Release {
        thread: ThreadIndex,
        chain: ChainIndex,
        /// The lock was shared.
        shared: bool,
    },
    /// The lock records the thread as its owner.
    Owner(ThreadIndex),
    /// No evidence.
    None,
}

/// An owner that has yet to release the lock, and the intervals to blame on it then.
#[derive(Clone, Copy, Debug)]
struct Unreleased {
    thread: ThreadIndex,
    /// Position of the first interval.
    first: u64,
    /// Position after the last interval, if the lock has been seen free since: the owner is between
    /// its release and its unpark.
    until: Option<u64>,
}

/// The reports of a lock that reports every release of an exclusive hold.
#[derive(Debug, Default)]
struct Reported {
    /// The threads that released the lock. The unpark of a release, if any, comes later.
    released_by: SmallMap<ThreadIndex, ()>,
    /// Readers may have had the lock since.
    readers: bool,
}

/// The state of the queue at an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWaits {
    /// Some thread waits.
    pub(super) some: bool,
    /// Some thread waits for exclusive access: later readers have to queue after it.
    pub(super) writer: bool,
}

/// The owners of a lock over time, as far back as a waiting thread has seen it.
#[derive(Debug)]
pub(super) struct Ownership {
    synchronizer: Synchronizer,
    /// The lock records its owner.
    knows_owner: bool,
    owner_state: OwnerState,
    /// Time at which an owner was last seen.
    seen_ns: u64,
    unreleased: Option<Unreleased>,
    /// The threads unparked by a release that have done nothing since: until they do, others can
    /// acquire and release the lock without an event.
    waking: SeededSet<JavaThreadId>,
    /// The reports of releases; `None` if the lock is not known to report them.
    reported: Option<Reported>,
    /// Position after the last reported hold, or the last loss: the next reported release corrects
    /// the intervals from there on.
    reported_until: u64,
    /// Empty while no thread waits.
    timeline: Timeline<Interval>,
}

impl Ownership {
    pub(super) fn new(synchronizer: Synchronizer) -> Self {
        Self {
            synchronizer,
            knows_owner: synchronizer.knows_owner(),
            owner_state: OwnerState::Unseen,
            seen_ns: 0,
            unreleased: None,
            waking: SeededSet::default(),
            reported: None,
            reported_until: 0,
            timeline: Timeline::default(),
        }
    }

    /// Returns whether the lock is known to have an owner.
    pub(super) fn is_known_by_lock(&self) -> bool {
        self.knows_owner
    }

    /// Returns the position before which waits that ended are settled: nothing more will be learned
    /// about their owners.
    pub(super) fn settled_ends(&self) -> u64 {
        match (&self.reported, self.unreleased) {
            (Some(_), _) => self.reported_until,
            (None, None) => u64::MAX,
            (None, Some(_)) => 0,
        }
    }

    /// Returns whether the thread has reported a release whose unpark, if any, is yet to come.
    fn has_reported_release(&self, thread: ThreadIndex) -> bool {
        let reported = self.reported.as_ref();
        reported.is_some_and(|reported| reported.released_by.get(thread).is_some())
    }

    /// Returns whether the lock reports every release of an exclusive hold.
    pub(super) fn reports_releases(&self) -> bool {
        self.reported.is_some()
    }

    /// Returns the position of the current interval.
    pub(super) fn position(&self) -> u64 {
        self.timeline.end()
    }

    pub(super) fn start_wait(&self, time_ns: u64) -> Start {
        self.timeline.start_wait(time_ns)
    }

    /// Returns whether enough events were lost since for the wait to have ended and another to have
    /// begun.
    pub(super) fn may_be_two_waits(&self, wait: Start) -> bool {
        self.timeline.may_be_two_waits(wait)
    }

    pub(super) fn forget_before(&mut self, position: u64, spans: &mut HoldSpans) {
        self.timeline.forget_before(position, spans);
    }

    /// Returns how many intervals are kept.
    pub(super) fn remembered(&self) -> usize {
        self.timeline.len()
    }

    /// Releases memory that is not needed any more.
    pub(super) fn shrink(&mut self) {
        shrink_set(&mut self.waking);
    }

    /// Notes that events are lost, `of_nobody` of them by unknown threads.
    pub(super) fn lose(&mut self, of_nobody: u64, open_waits: OpenWaits, counters: &mut Counters) {
        if of_nobody > 0 {
            self.timeline.lose(of_nobody);
        }
        // The empty interval only marks who began to wait before the loss.
        let interval = Interval::unknown(0, UnknownOwner::Lost, of_nobody > 0);
        self.push(interval, open_waits, counters);
        self.owner_state = OwnerState::Lost;
        self.unreleased = None;
        self.waking.clear();
        self.reported_until = self.timeline.end();
        if let Some(reported) = &mut self.reported {
            reported.released_by = SmallMap::default();
        }
    }

    /// Handles the park of a thread that did not get the lock.
    pub(super) fn begin(
        &mut self,
        begin: &Begin,
        code: Code,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        if let Some(reported) = &mut self.reported {
            reported.released_by.remove(begin.thread);
        }
        if let Some(owner) = begin.owner.get() {
            self.knows_owner = true;
            let held = OwnerState::Held {
                by: Some(owner),
                woken: None,
            };
            let evidence = Evidence::Owner(owner);
            self.boundary(begin.time_ns, evidence, held, open_waits, counters);
            return;
        }
        let held = OwnerState::Held {
            by: None,
            woken: None,
        };
        let next = if self.knows_owner && !self.is_shareable() {
            OwnerState::Free { next: None }
        } else {
            held
        };
        let parks_again = |woken: Option<Woken>| {
            begin.continued && woken.is_some_and(|woken| woken.thread == begin.thread)
        };
        let is_boundary = match self.owner_state {
            OwnerState::Unseen => {
                self.owner_state = next;
                false
            }
            OwnerState::Lost => true,
            // A reader can only queue after a writer that was woken.
            OwnerState::Free { .. } => next == held && !code.shares,
            OwnerState::Held { by: None, woken } if next == held => {
                // Until it parks again, others could release the lock without an event.
                let is_blind = parks_again(woken) && !self.knows_owner;
                // From here on the last reader that releases the lock has had it.
                let is_writer = !code.shares && !open_waits.writer;
                is_blind || is_writer && self.is_shareable()
            }
            // The owner has released the lock.
            OwnerState::Held { .. } => self.knows_owner,
        };
        if is_boundary {
            self.boundary(begin.time_ns, Evidence::None, next, open_waits, counters);
        }
    }

    /// Handles the end of a park. `unseen_waker` unparked the thread, if [`unpark`](Self::unpark)
    /// has not seen that because the waker did not know the blocker.
    pub(super) fn end(
        &mut self,
        end: &End,
        reader: bool,
        unseen_waker: Option<Waker>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        // Later evidence and reported releases count more than an older release.
        let is_news = |waker: &Waker| {
            !self.has_reported_release(waker.thread) && waker.time_ns >= self.seen_ns
        };
        if let Some(waker) = unseen_waker.filter(is_news) {
            let release = Evidence::Release {
                thread: waker.thread,
                chain: waker.chain,
                shared: false,
            };
            let free = OwnerState::Free { next: None };
            self.boundary(waker.time_ns, release, free, open_waits, counters);
        }
        if let Some(reported) = &mut self.reported
            && reader
            && end.is_unparked()
        {
            reported.readers = true;
        }
        let woken = Woken {
            thread: end.thread,
            reader,
        };
        // A thread that nobody woke may have given up.
        let held = OwnerState::Held {
            by: end.owner.get(),
            woken: end.is_unparked().then_some(woken),
        };
        if let Some(owner) = end.owner.get() {
            self.knows_owner = true;
            let evidence = Evidence::Owner(owner);
            self.boundary(end.time_ns, evidence, held, open_waits, counters);
        } else if end.is_unparked() || self.knows_owner {
            self.boundary(end.time_ns, Evidence::None, held, open_waits, counters);
        }
    }

    /// Returns whether some thread was woken and is not known to be awake yet.
    pub(super) fn wakes_some(&self) -> bool {
        !self.waking.is_empty()
    }

    /// Notes that the thread is awake. Comes after the boundary of the event that shows it.
    pub(super) fn is_awake(&mut self, thread: JavaThreadId) {
        self.waking.remove(&thread);
    }

    /// Notes that a thread may not be parked any more.
    pub(super) fn doubt(&mut self, time_ns: u64, open_waits: OpenWaits, counters: &mut Counters) {
        self.boundary(
            time_ns,
            Evidence::None,
            OwnerState::Lost,
            open_waits,
            counters,
        );
    }

    /// Handles an unpark by a thread, `writer`, of another one that is parked here.
    pub(super) fn unpark(
        &mut self,
        unpark: &Unpark,
        writer: JavaThreadId,
        code: Code,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        if code.passes_on {
            return;
        }
        if let Some(reported) = &mut self.reported {
            reported.readers |= code.releases_shared;
            let is_release = !code.no_release && !code.releases_shared;
            if is_release && reported.released_by.remove(unpark.thread).is_some() {
                return self.see(unpark, open_waits, counters);
            }
        }
        if code.no_release {
            self.leave_waking_to(unpark.target, writer);
        }
        self.knows_owner |= unpark.owner.get().is_some();
        if let OwnerState::Held { woken, .. } = &mut self.owner_state
            && code.no_release
        {
            // The thread gives up.
            *woken = woken.filter(|woken| woken.thread != unpark.thread);
        }
        let free = OwnerState::Free {
            next: unpark.owner.get(),
        };
        let had_it_before = |owner| match self.owner_state {
            // The woken thread has had the lock since.
            OwnerState::Held { woken, .. } if is_woken(woken, unpark.thread) => false,
            // It was the owner there.
            OwnerState::Held { by, .. } if by == Some(unpark.thread) => false,
            OwnerState::Held { by, woken } => by == Some(owner) || is_woken(woken, owner),
            _ => false,
        };
        let (evidence, next) = match unpark.owner.get() {
            Some(owner) if code.no_release || owner == unpark.thread => {
                let by = Some(owner);
                (Evidence::Owner(owner), OwnerState::Held { by, woken: None })
            }
            None if code.no_release => return,
            // It released the lock before the last boundary, and was delayed.
            Some(owner) if had_it_before(owner) => (Evidence::Owner(owner), free),
            _ => {
                let shared = code.releases_shared && self.synchronizer != Synchronizer::Semaphore;
                let release = Evidence::Release {
                    thread: unpark.thread,
                    chain: unpark.chain,
                    shared,
                };
                (release, free)
            }
        };
        let ends_waking = code.releases && self.was_seen_last(evidence);
        self.boundary(unpark.time_ns, evidence, next, open_waits, counters);
        if next != free {
            return;
        }
        if ends_waking {
            self.waking.clear();
        }
        self.is_awake(writer);
        self.waking.insert(unpark.target);
    }

    /// Handles an unpark that belongs to a reported release, and shows that the release is over. A
    /// thread woken before may have found the lock taken until then.
    fn see(&mut self, unpark: &Unpark, open_waits: OpenWaits, counters: &mut Counters) {
        let next = match unpark.owner.get() {
            Some(owner) => OwnerState::Held {
                by: Some(owner),
                woken: None,
            },
            None => OwnerState::Free { next: None },
        };
        let evidence = Evidence::None;
        self.boundary(unpark.time_ns, evidence, next, open_waits, counters);
    }

    /// Handles a release of an exclusive hold; `has_waited` if the thread waited for that hold. The
    /// first parked thread began to wait in the interval at `first_queued`; `None` if no thread is
    /// parked.
    pub(super) fn release(
        &mut self,
        release: &Release,
        has_waited: bool,
        first_queued: Option<u64>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        // A StampedLock reports its writers' releases, but events do not show its writer.
        self.knows_owner |= release.synchronizer != Synchronizer::StampedLock;
        match release.hold {
            Hold::For { duration_ns } => {
                let acquired_ns = release.time_ns.saturating_sub(duration_ns);
                let barged = !has_waited && self.owner_state != OwnerState::Lost;
                self.add_reported_hold(release, acquired_ns, barged, open_waits, counters);
            }
            Hold::BeforeContention => {
                self.add_reported_old_hold(release, first_queued, open_waits, counters)
            }
            // Producers aggregate only holds of monitors.
            Hold::NotKnown | Hold::Several { .. } => {
                let evidence = Evidence::Release {
                    thread: release.thread,
                    chain: release.chain,
                    shared: false,
                };
                let free = OwnerState::Free { next: None };
                self.boundary(release.time_ns, evidence, free, open_waits, counters);
            }
        }
        self.reported_until = self.timeline.end();
        let reported = self.reported.get_or_insert_with(Reported::default);
        reported.readers = false;
        reported.released_by.insert(release.thread, ());
        // It may keep the lock as a reader.
        let next = Some(release.thread).filter(|_| self.is_shareable());
        self.owner_state = OwnerState::Free { next };
        self.seen_ns = self.seen_ns.max(release.time_ns);
        self.unreleased = None;
        self.waking.clear();
    }

    /// Adds a reported hold from `acquired_ns` to the release. Since the previous reported hold, no
    /// other thread held the lock exclusively.
    fn add_reported_hold(
        &mut self,
        release: &Release,
        acquired_ns: u64,
        barged: bool,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        let owner = release.owner();
        let is_free = self.has_no_readers();
        let mut is_acquired = false;
        for interval in self.timeline.seen_from_mut(self.reported_until) {
            if is_acquired {
                interval.take(owner);
            } else {
                is_acquired = interval.end_ns > acquired_ns;
                interval.end_ns = interval.end_ns.min(acquired_ns);
                interval.leave(is_free);
            }
        }
        if !is_acquired {
            let mut interval = Interval::unknown(acquired_ns, self.why_unknown(), false);
            interval.leave(is_free);
            self.push(interval, open_waits, counters);
        }
        let barged_ns = barged.then_some(acquired_ns);
        self.push_reported(release, barged_ns, open_waits, counters);
    }

    /// Adds a reported hold that began before the first queued thread parked. Threads that waited
    /// before may have held the lock since.
    fn add_reported_old_hold(
        &mut self,
        release: &Release,
        first_queued: Option<u64>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        let first_queued = first_queued.unwrap_or_else(|| self.timeline.end());
        // Intervals of reported holds are final.
        let first_queued = first_queued.max(self.reported_until);
        let unreported = (first_queued - self.reported_until) as usize;
        let seen_before = self.timeline.seen_before(first_queued).take(unreported);
        let same_owner =
            seen_before.take_while(|interval| interval.owner.thread() == Some(release.thread));
        let first = first_queued - same_owner.count() as u64;
        for interval in self.timeline.seen_from_mut(first) {
            interval.take(release.owner());
        }
        self.push_reported(release, None, open_waits, counters);
    }

    /// Adds the interval that a reported hold ends.
    fn push_reported(
        &mut self,
        release: &Release,
        barged_ns: Option<u64>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        if self.owner_state == OwnerState::Lost {
            // It may have begun before the loss.
            self.timeline.doubt_next();
        }
        let mut interval = Interval::unknown(release.time_ns, UnknownOwner::HandOff, false);
        interval.blame(release.owner());
        if let Some(acquired_ns) = barged_ns
            && open_waits.some
        {
            self.timeline.note_barging(acquired_ns, 1);
        }
        self.push(interval, open_waits, counters);
    }

    /// Returns whether the lock reports its releases, and no reader has had it since the last one.
    fn has_no_readers(&self) -> bool {
        use Synchronizer::{ReadWriteLock, StampedLock};
        let is_shared = matches!(self.synchronizer, ReadWriteLock | StampedLock);
        self.reported
            .as_ref()
            .map_or(!is_shared, |reported| !reported.readers)
    }

    /// Handles a writer that was unparked, but gives up and unparks the next thread in the queue
    /// instead.
    fn leave_waking_to(&mut self, target: JavaThreadId, writer: JavaThreadId) {
        if self.waking.contains(&writer) {
            self.is_awake(writer);
            self.waking.insert(target);
        }
    }

    /// Returns whether the evidence is a release by a thread that may have had the lock at the last
    /// boundary.
    ///
    /// A release unparks a thread only if the queue has requested that since the last release that
    /// did. So if a thread had the lock after all unparks so far, and its release unparks again,
    /// every release since was an event, whatever the threads unparked before do: one that timed
    /// out may have given up without an event.
    fn was_seen_last(&self, evidence: Evidence) -> bool {
        let Evidence::Release { thread, .. } = evidence else {
            return false;
        };
        match self.owner_state {
            OwnerState::Held { by, woken } => by == Some(thread) || is_woken(woken, thread),
            OwnerState::Free { next } => next == Some(thread),
            OwnerState::Unseen | OwnerState::Lost => false,
        }
    }

    /// Fills in the blame for `wait`, which began at `start`, with `rest` as the owner since the
    /// last boundary.
    pub(super) fn blame(
        &mut self,
        start: Start,
        access: Access,
        rest: Owner,
        detail: Detail,
        spans: &mut HoldSpans,
        wait: &mut Wait,
    ) {
        let thread = wait.thread;
        let end_ns = wait.start_ns + wait.duration_ns;
        wait.barging_holds = self.timeline.barging_holds_until(start, end_ns);
        let view = View {
            start,
            end_ns,
            access,
            own: Some(thread),
            owner_of: move |_, interval: &Interval| match interval.owner(access) {
                // A thread's own holds in between did not keep it waiting.
                owner if owner.is_thread(thread) => PackedOwner::unknown(UnknownOwner::HandOff),
                owner => owner,
            },
            rest: rest.into(),
            is_direct: false,
        };
        let settled = self.settled();
        self.timeline.describe(&view, settled, detail, spans, wait);
    }

    /// Returns the position from which on the owners may still be corrected.
    fn settled(&self) -> u64 {
        let reported_until = self
            .reported
            .as_ref()
            .map_or(u64::MAX, |_| self.reported_until);
        let first = self
            .unreleased
            .map_or(u64::MAX, |unreleased| unreleased.first);
        reported_until.min(first)
    }

    /// Returns the time until which the owners are known, for a wait that has not ended.
    pub(super) fn known_until_ns(&mut self, wait: Start) -> u64 {
        self.timeline.known_until_ns(wait)
    }

    /// Returns whether events of unknown threads were lost since: the wait may have ended.
    pub(super) fn loses_since(&self, wait: Start) -> bool {
        self.timeline.loses_since(wait)
    }

    /// Returns the thread that has the lock when there are no more events, as far as they show.
    pub(super) fn holder(&self) -> Option<ThreadIndex> {
        if !self.waking.is_empty() {
            return None;
        }
        match self.owner_state {
            OwnerState::Held {
                by: Some(by),
                woken,
            } => Some(by).filter(|&by| woken.is_none_or(|woken| woken.thread == by)),
            // The woken thread does not wait any more, and nobody else was seen with the lock.
            OwnerState::Held {
                by: None,
                woken: Some(woken),
            } => Some(woken.thread).filter(|_| self.knows_owner && !woken.reader),
            OwnerState::Free { next } => next,
            _ => None,
        }
    }

    /// Returns why the owner since the last boundary is not known, for a wait that has not ended.
    pub(super) fn why_holder_unknown(&self) -> UnknownOwner {
        match self.why_unknown() {
            reason @ (UnknownOwner::Lost | UnknownOwner::Readers) => reason,
            _ => UnknownOwner::TraceEnded,
        }
    }

    /// Blames the holder, which will not release the lock any more.
    pub(super) fn never_released(&mut self, holder: Owner) {
        if let Some(unreleased) = self.unreleased
            && unreleased.until.is_none()
            && is_by(holder, unreleased.thread)
        {
            self.correct(unreleased.first, self.timeline.end(), Some(holder));
        }
    }

    /// Ends an interval, and begins the next one.
    fn boundary(
        &mut self,
        time_ns: u64,
        evidence: Evidence,
        next: OwnerState,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        let owner = self.owner_until(evidence);
        self.follow_owner_state(owner, evidence, time_ns);
        let owner_for_readers = match evidence {
            // Without a writer in between, readers do not keep out readers.
            Evidence::Release { shared: true, .. } if !open_waits.writer => {
                Owner::Unknown(UnknownOwner::Readers)
            }
            // Readers are being woken one after another.
            Evidence::None if owner == Owner::Unknown(UnknownOwner::Readers) => {
                Owner::Unknown(UnknownOwner::HandOff)
            }
            _ => owner,
        };
        let mut interval = Interval {
            end_ns: time_ns,
            owner: owner.into(),
            owner_for_readers: owner_for_readers.into(),
            is_gap: false,
            goes_on: !matches!(
                (owner, evidence),
                (Owner::Thread { .. }, Evidence::Release { .. })
            ),
            are_others_hidden: false,
        };
        if self.are_others_hidden(evidence)
            && let owner @ Owner::Thread { .. } = self.owner_at_both(evidence)
        {
            interval.blame(owner);
            interval.are_others_hidden = true;
        }
        self.push(interval, open_waits, counters);
        self.owner_state = next;
        if evidence != Evidence::None {
            self.seen_ns = self.seen_ns.max(time_ns);
        }
    }

    /// Returns who had the lock from the last boundary until one that shows `evidence`.
    fn owner_until(&self, evidence: Evidence) -> Owner {
        match self.are_others_hidden(evidence) {
            true => Owner::Unknown(UnknownOwner::HandOff),
            false => self.owner_at_both(evidence),
        }
    }

    /// Returns whether others may have had the lock meanwhile, even if the owner at the boundary
    /// also had it at the last one.
    fn are_others_hidden(&self, evidence: Evidence) -> bool {
        matches!(evidence, Evidence::Owner(_)) && !self.waking.is_empty()
    }

    /// Returns who had the lock at the last boundary and at one that shows `evidence`.
    fn owner_at_both(&self, evidence: Evidence) -> Owner {
        let (thread, chain) = match evidence {
            Evidence::Release { thread, chain, .. } => (thread, chain),
            Evidence::Owner(thread) => (thread, ChainIndex::NOT_RECORDED),
            // Any owner since the last reported release would have reported its own.
            Evidence::None
                if self.reports_releases() && self.is_free() && self.has_no_readers() =>
            {
                return Owner::Free;
            }
            Evidence::None => return Owner::Unknown(self.why_unknown()),
        };
        let is_release = matches!(evidence, Evidence::Release { .. });
        let is_shared = matches!(evidence, Evidence::Release { shared: true, .. });
        let had_it = match self.owner_state {
            OwnerState::Held { by, woken } => {
                let is_woken = woken.filter(|woken| woken.thread == thread);
                let was_reader = is_woken.is_some_and(|woken| woken.reader);
                by == Some(thread)
                    || is_woken.is_some() && was_reader <= is_shared
                    // Nobody owned the lock, so readers had it.
                    || by.is_none() && is_shared
                    // A reader has to release the lock before it can own it.
                    || is_release && !self.knows_owner && was_reader <= is_shared
            }
            OwnerState::Free { next } => next == Some(thread),
            OwnerState::Unseen | OwnerState::Lost => false,
        };
        if had_it {
            Owner::Thread { thread, chain }
        } else {
            Owner::Unknown(self.why_unknown())
        }
    }

    fn is_free(&self) -> bool {
        matches!(self.owner_state, OwnerState::Free { .. })
    }

    /// Returns why the owner since the last boundary is not known.
    pub(super) fn why_unknown(&self) -> UnknownOwner {
        match self.owner_state {
            OwnerState::Lost => UnknownOwner::Lost,
            OwnerState::Free { .. } => UnknownOwner::HandOff,
            OwnerState::Held { by: None, .. } if self.is_shareable() => UnknownOwner::Readers,
            // A thread was woken, but another one was faster.
            OwnerState::Held {
                by: None,
                woken: Some(_),
            } => UnknownOwner::HandOff,
            OwnerState::Held { .. } | OwnerState::Unseen => UnknownOwner::NoExit,
        }
    }

    /// Corrects the intervals of an owner when its release shows its call chain.
    fn follow_owner_state(&mut self, owner: Owner, evidence: Evidence, time_ns: u64) {
        let released = match evidence {
            Evidence::Release { thread, chain, .. } => Some(Owner::Thread { thread, chain }),
            _ => None,
        };
        let position = self.timeline.end();
        match (self.unreleased, owner) {
            // The unpark comes after the lock was seen free.
            (
                Some(Unreleased {
                    thread,
                    first,
                    until: Some(until),
                }),
                _,
            ) if released.is_some_and(|release| is_by(release, thread)) => {
                self.correct(first, until, released);
                self.shorten(until.saturating_sub(1), time_ns);
                self.unreleased = None;
            }
            (Some(Unreleased { first, until, .. }), Owner::Thread { thread, .. })
                if until.is_none() && self.unreleased.is_some_and(|u| u.thread == thread) =>
            {
                if released.is_some() {
                    self.correct(first, position, released);
                    self.unreleased = None;
                }
            }
            (_, Owner::Thread { thread, .. }) if released.is_none() => {
                self.unreleased = Some(Unreleased {
                    thread,
                    first: position,
                    until: None,
                });
            }
            _ => self.unreleased = self.freed(evidence),
        }
    }

    /// Returns the owner before the last boundary, if the lock is seen free now.
    fn freed(&self, evidence: Evidence) -> Option<Unreleased> {
        let position = self.timeline.end();
        match (self.owner_state, self.unreleased) {
            // The unpark is yet to come.
            (OwnerState::Free { .. }, Some(unreleased)) if unreleased.until.is_some() => {
                Some(unreleased).filter(|_| evidence == Evidence::None)
            }
            (OwnerState::Held { by: Some(by), .. }, unreleased)
                if evidence == Evidence::None && self.knows_owner =>
            {
                let first = unreleased.filter(|u| u.thread == by && u.until.is_none());
                Some(Unreleased {
                    thread: by,
                    first: first.map_or(position, |unreleased| unreleased.first),
                    until: Some(position + 1),
                })
            }
            _ => None,
        }
    }

    /// Blames the intervals from `first` to before `until` on `owner`.
    fn correct(&mut self, first: u64, until: u64, owner: Option<Owner>) {
        let Some(owner) = owner else { return };
        let count = until.saturating_sub(first) as usize;
        for interval in self.timeline.seen_from_mut(first).take(count) {
            interval.blame(owner);
        }
    }

    /// Moves the end of the interval at `position` to `end_ns`, if that is earlier.
    fn shorten(&mut self, position: u64, end_ns: u64) {
        if let Some(interval) = self.timeline.seen_from_mut(position).next() {
            interval.end_ns = interval.end_ns.min(end_ns);
        }
    }

    /// Returns whether several threads can share the lock, and the lock records whether they do.
    pub(super) fn is_shareable(&self) -> bool {
        self.synchronizer == Synchronizer::ReadWriteLock
    }

    fn push(&mut self, interval: Interval, open_waits: OpenWaits, counters: &mut Counters) {
        if open_waits.some {
            counters.add(Counter::IntervalsCollapsed, self.timeline.push(interval));
        }
    }
}

fn is_woken(woken: Option<Woken>, wanted: ThreadIndex) -> bool {
    woken.is_some_and(|woken| woken.thread == wanted)
}

fn is_by(owner: Owner, wanted: ThreadIndex) -> bool {
    matches!(owner, Owner::Thread { thread, .. } if thread == wanted)
}
