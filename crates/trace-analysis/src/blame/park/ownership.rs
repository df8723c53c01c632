//! Who owned a lock of `java.util.concurrent`, and when.
//!
//! # Who is to blame
//!
//! An unpark by X says that X held the lock until then. Where the lock says who
//! owns it, every event shows the owner at its time. So the time between two
//! events that tell about the owner, the boundaries, is blamed
//!
//! * on X, if X may have held the lock at both ends: at the start because the
//!   event showed it as the owner, or because it was woken there and got the
//!   lock; at the end because the event shows it as the owner or is its release;
//! * on nobody ([`UnknownOwner::HandOff`]) from a release until the thread woken
//!   runs: several owners may come and go meanwhile without an event, even if the
//!   same one is seen twice;
//! * on nobody ([`UnknownOwner::NoExit`]) where both ends contradict each other.
//!
//! Where the lock does not say who owns it, what counts is the release alone, as
//! in the paper: who releases it next has held it since the boundary before. The
//! time until a thread that was woken parks again is on nobody, for the reason
//! above.
//!
//! A lock may tell of every release by a thread that has it alone, and since when that
//! had it. Then nothing has to be concluded: the time between two such holds is nobody's
//! ([`Owner::Free`]), and what other events showed meanwhile is corrected. They
//! count for what no release tells yet, and for readers.
//!
//! Of readers that share a lock, only the last one to release it writes an event.
//! It has held the lock at least since a writer was first in the queue, as later
//! readers have to queue up behind. What these readers wait for is not the other
//! readers, but the writer.

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
    /// Who kept out threads that want the lock for themselves.
    owner: PackedOwner,
    /// Who kept out threads that would share it.
    owner_for_readers: PackedOwner,
    is_gap: bool,
    /// The owner did not release the lock at the end.
    goes_on: bool,
    /// The owner had the lock at both ends, but there may have been others meanwhile. Nobody is
    /// blamed, until a release tells that there were none.
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

    /// What it says is not a conclusion: its owner released the lock at its end, or
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

    /// The owner had the lock meanwhile, and went on.
    fn take(&mut self, owner: Owner) {
        if !self.is_sure() {
            self.blame(owner);
            self.goes_on = true;
        }
    }

    /// Nobody had the lock alone meanwhile; if it `is_free`, no readers had it either.
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

/// What the last boundary says about the owner from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// Nothing.
    Unseen,
    /// Somebody has the lock.
    Held {
        /// Who, if the lock says it.
        by: Option<ThreadIndex>,
        /// This thread was woken there, and may have got the lock instead.
        woken: Option<Woken>,
    },
    /// Nobody has the lock, or somebody just got it.
    Free {
        /// This thread had it just after.
        next: Option<ThreadIndex>,
    },
    /// Events are lost.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Woken {
    thread: ThreadIndex,
    /// It would share the lock.
    reader: bool,
}

/// What a boundary says about the owner until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// The thread releases the lock.
    Release {
        thread: ThreadIndex,
        chain: ChainIndex,
        /// The lock was shared.
        shared: bool,
    },
    /// The lock says that the thread owns it.
    Owner(ThreadIndex),
    /// Nothing.
    None,
}

/// An owner whose release is still to come, and the intervals that are blamed on
/// it then.
#[derive(Clone, Copy, Debug)]
struct Unreleased {
    thread: ThreadIndex,
    /// Position of the first one.
    first: u64,
    /// Position behind the last one, if the lock has been seen free since: the
    /// owner is between its release and its unpark.
    until: Option<u64>,
}

/// What a lock has told of that tells of every release by a thread that has it alone.
#[derive(Debug, Default)]
struct Told {
    /// Who released the lock so. If an unpark comes with it, it comes later.
    released_by: SmallMap<ThreadIndex, ()>,
    /// Readers may have had the lock since.
    readers: bool,
}

/// Who looks at the lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWaits {
    /// Some thread waits.
    pub(super) some: bool,
    /// The writer that readers have to queue up behind, where there may be readers.
    pub(super) first_writer: Option<(ThreadIndex, ChainIndex)>,
}

/// Who owned the lock as long as some thread waits that has seen it.
#[derive(Debug)]
pub(super) struct Ownership {
    synchronizer: Synchronizer,
    /// The lock says who owns it.
    knows_owner: bool,
    owner_state: OwnerState,
    /// When somebody was seen to have the lock last.
    seen_ns: u64,
    unreleased: Option<Unreleased>,
    /// The threads that were unparked by a release and have done nothing since: until
    /// they do, others can acquire and release the lock without an event.
    waking: SeededSet<JavaThreadId>,
    /// `None` if the lock is not known to tell of its releases.
    told: Option<Told>,
    /// Position behind the last hold that was told, or the last loss: a release that is told
    /// corrects what the intervals from there on say.
    told_until: u64,
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
            told: None,
            told_until: 0,
            timeline: Timeline::default(),
        }
    }

    /// It has been seen that the lock can have an owner.
    pub(super) fn is_known_by_lock(&self) -> bool {
        self.knows_owner
    }

    /// Before this position, waits that ended are over: their owners will not be known
    /// better.
    pub(super) fn settled_ends(&self) -> u64 {
        match (&self.told, self.unreleased) {
            (Some(_), _) => self.told_until,
            (None, None) => u64::MAX,
            (None, Some(_)) => 0,
        }
    }

    /// The thread has told of a release, and no unpark that came with it is known.
    fn has_told_release(&self, thread: ThreadIndex) -> bool {
        let told = self.told.as_ref();
        told.is_some_and(|told| told.released_by.get(thread).is_some())
    }

    /// The lock tells of every release by a thread that has it alone.
    pub(super) fn is_told(&self) -> bool {
        self.told.is_some()
    }

    /// Position of the interval that is not over.
    pub(super) fn position(&self) -> u64 {
        self.timeline.end()
    }

    pub(super) fn start_wait(&self, time_ns: u64) -> Start {
        self.timeline.start_wait(time_ns)
    }

    /// Enough events were lost since for it to have ended and another one to have begun.
    pub(super) fn may_be_two_waits(&self, wait: Start) -> bool {
        self.timeline.may_be_two_waits(wait)
    }

    pub(super) fn forget_before(&mut self, position: u64, spans: &mut HoldSpans) {
        self.timeline.forget_before(position, spans);
    }

    /// How many intervals are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.timeline.len()
    }

    /// Gives back room that is not needed any more.
    pub(super) fn shrink(&mut self) {
        shrink_set(&mut self.waking);
    }

    /// Events are lost; of some of them it is not known whose they were.
    pub(super) fn lose(&mut self, of_nobody: u64, open_waits: OpenWaits, counters: &mut Counters) {
        if of_nobody > 0 {
            self.timeline.lose(of_nobody);
        }
        // Without a duration: it only tells who began to wait before the loss.
        let interval = Interval::unknown(0, UnknownOwner::Lost, of_nobody > 0);
        self.push(interval, open_waits, counters);
        self.owner_state = OwnerState::Lost;
        self.unreleased = None;
        self.waking.clear();
        self.told_until = self.timeline.end();
        if let Some(told) = &mut self.told {
            told.released_by = SmallMap::default();
        }
    }

    /// A thread did not get the lock, and parks.
    pub(super) fn begin(
        &mut self,
        begin: &Begin,
        code: Code,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        if let Some(told) = &mut self.told {
            told.released_by.remove(begin.thread);
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
            // A reader may only queue up behind a writer that was woken.
            OwnerState::Free { .. } => next == held && !code.shares,
            OwnerState::Held { by: None, woken } if next == held => {
                // Until it parks again, others could release the lock without an event.
                let is_blind = parks_again(woken) && !self.knows_owner;
                // Readers wait for the writer from here on.
                let is_writer = !code.shares && open_waits.first_writer.is_none();
                is_blind || is_writer && self.is_shareable()
            }
            // The owner has gone.
            OwnerState::Held { .. } => self.knows_owner,
        };
        if is_boundary {
            self.boundary(begin.time_ns, Evidence::None, next, open_waits, counters);
        }
    }

    /// A thread parks no longer. `unseen_waker` unparked it, if that has not been
    /// [`unpark`](Self::unpark)ed: it did not see what the thread waited for.
    pub(super) fn end(
        &mut self,
        end: &End,
        reader: bool,
        unseen_waker: Option<Waker>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        // What has been seen since, or told, tells more than an older release.
        let is_news =
            |waker: &Waker| !self.has_told_release(waker.thread) && waker.time_ns >= self.seen_ns;
        if let Some(waker) = unseen_waker.filter(is_news) {
            let release = Evidence::Release {
                thread: waker.thread,
                chain: waker.chain,
                shared: false,
            };
            let free = OwnerState::Free { next: None };
            self.boundary(waker.time_ns, release, free, open_waits, counters);
        }
        if let Some(told) = &mut self.told
            && reader
            && end.is_unparked()
        {
            told.readers = true;
        }
        let woken = Woken {
            thread: end.thread,
            reader,
        };
        // If nobody woke it up, it may have given up.
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

    /// Some thread has been woken, and is not known to be awake.
    pub(super) fn wakes_some(&self) -> bool {
        !self.waking.is_empty()
    }

    /// What the thread did shows that it does not have to be woken any more. Comes
    /// after the boundary there.
    pub(super) fn is_awake(&mut self, thread: JavaThreadId) {
        self.waking.remove(&thread);
    }

    /// Perhaps a thread parks no longer.
    pub(super) fn doubt(&mut self, time_ns: u64, open_waits: OpenWaits, counters: &mut Counters) {
        self.boundary(
            time_ns,
            Evidence::None,
            OwnerState::Lost,
            open_waits,
            counters,
        );
    }

    /// A thread, `writer`, unparks another one that is parked here.
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
        if let Some(told) = &mut self.told {
            told.readers |= code.releases_shared;
            let is_release = !code.no_release && !code.releases_shared;
            if is_release && told.released_by.remove(unpark.thread).is_some() {
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
            // It gives up.
            *woken = woken.filter(|woken| woken.thread != unpark.thread);
        }
        let free = OwnerState::Free {
            next: unpark.owner.get(),
        };
        let had_it_before = |owner| match self.owner_state {
            // The thread that was woken has had the lock since.
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
            // It released the lock before the last boundary, and lost time.
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

    /// The unpark comes with a release that has been told, and shows that this is over. Who
    /// was woken before may have found the lock taken until then.
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

    /// A thread releases the lock, which it had alone; `has_waited` if it waited for that.
    /// The first of the threads that are parked began to wait in the interval at
    /// `first_queued`, or nobody is.
    pub(super) fn release(
        &mut self,
        release: &Release,
        has_waited: bool,
        first_queued: Option<u64>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        // A StampedLock tells of its writers' releases, but events do not show its writer.
        self.knows_owner |= release.synchronizer != Synchronizer::StampedLock;
        match release.hold {
            Hold::For { duration_ns } => {
                let acquired_ns = release.time_ns.saturating_sub(duration_ns);
                let barged = !has_waited && self.owner_state != OwnerState::Lost;
                self.told_hold(release, acquired_ns, barged, open_waits, counters);
            }
            Hold::BeforeContention => {
                self.told_old_hold(release, first_queued, open_waits, counters)
            }
            // Producers fold only holds of monitors.
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
        self.told_until = self.timeline.end();
        let told = self.told.get_or_insert_with(Told::default);
        told.readers = false;
        told.released_by.insert(release.thread, ());
        // It may go on as a reader.
        let next = Some(release.thread).filter(|_| self.is_shareable());
        self.owner_state = OwnerState::Free { next };
        self.seen_ns = self.seen_ns.max(release.time_ns);
        self.unreleased = None;
        self.waking.clear();
    }

    /// A hold from `acquired_ns` to the release. Before it, since the last one that was
    /// told, no other thread had the lock alone.
    fn told_hold(
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
        for interval in self.timeline.seen_from_mut(self.told_until) {
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
        self.push_told(release, barged_ns, open_waits, counters);
    }

    /// A hold that began before the first of those who are queued was parked. Threads that
    /// waited before them may have had the lock since.
    fn told_old_hold(
        &mut self,
        release: &Release,
        first_queued: Option<u64>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        let first_queued = first_queued.unwrap_or_else(|| self.timeline.end());
        // What has been told is not looked at again.
        let first_queued = first_queued.max(self.told_until);
        let untold = (first_queued - self.told_until) as usize;
        let seen_before = self.timeline.seen_before(first_queued).take(untold);
        let same_owner =
            seen_before.take_while(|interval| interval.owner.thread() == Some(release.thread));
        let first = first_queued - same_owner.count() as u64;
        for interval in self.timeline.seen_from_mut(first) {
            interval.take(release.owner());
        }
        self.push_told(release, None, open_waits, counters);
    }

    /// The end of a hold that was told.
    fn push_told(
        &mut self,
        release: &Release,
        barged_ns: Option<u64>,
        open_waits: OpenWaits,
        counters: &mut Counters,
    ) {
        if self.owner_state == OwnerState::Lost {
            // It may have begun before what is lost.
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

    /// It tells, and no reader has had it since the last release that was told.
    fn has_no_readers(&self) -> bool {
        use Synchronizer::{ReadWriteLock, StampedLock};
        let is_shared = matches!(self.synchronizer, ReadWriteLock | StampedLock);
        self.told.as_ref().map_or(!is_shared, |told| !told.readers)
    }

    /// The writer was unparked, but gives up, and unparks the next thread in the queue
    /// in its place.
    fn leave_waking_to(&mut self, target: JavaThreadId, writer: JavaThreadId) {
        if self.waking.contains(&writer) {
            self.is_awake(writer);
            self.waking.insert(target);
        }
    }

    /// It is the release of a thread that may have had the lock at the last boundary.
    ///
    /// A release unparks a thread only if the queue has asked for that since the last
    /// release that did. So if a thread had the lock after all unparks so far, and its
    /// release unparks again, releases have been events since, whatever the threads
    /// unparked before do: one whose time was over may have given up without an event.
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

    /// Fills in who made the thread of `wait` wait, which began at `start`, with `rest` as the
    /// owner since the last boundary.
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
                // What it did itself in between did not keep it waiting.
                owner if owner.is_thread(thread) => PackedOwner::unknown(UnknownOwner::HandOff),
                owner => owner,
            },
            rest: rest.into(),
            is_direct: false,
        };
        let settled = self.settled();
        self.timeline.describe(&view, settled, detail, spans, wait);
    }

    /// Position from which on the owners may still be known better.
    fn settled(&self) -> u64 {
        let told_until = self.told.as_ref().map_or(u64::MAX, |_| self.told_until);
        let first = self
            .unreleased
            .map_or(u64::MAX, |unreleased| unreleased.first);
        told_until.min(first)
    }

    /// Up to when the owners are known, for a wait that has not ended.
    pub(super) fn known_until_ns(&mut self, wait: Start) -> u64 {
        self.timeline.known_until_ns(wait)
    }

    /// Events are lost since, it is not known whose: the wait may have ended.
    pub(super) fn loses_since(&self, wait: Start) -> bool {
        self.timeline.loses_since(wait)
    }

    /// The thread that has the lock when there are no more events, if they tell.
    pub(super) fn holder(&self) -> Option<ThreadIndex> {
        if !self.waking.is_empty() {
            return None;
        }
        match self.owner_state {
            OwnerState::Held {
                by: Some(by),
                woken,
            } => Some(by).filter(|&by| woken.is_none_or(|woken| woken.thread == by)),
            // It does not wait any more, and nobody else was seen to have it.
            OwnerState::Held {
                by: None,
                woken: Some(woken),
            } => Some(woken.thread).filter(|_| self.knows_owner && !woken.reader),
            OwnerState::Free { next } => next,
            _ => None,
        }
    }

    /// Why the owner since the last boundary is not known, for a wait that has not
    /// ended.
    pub(super) fn why_holder_unknown(&self) -> UnknownOwner {
        match self.why_unknown() {
            reason @ (UnknownOwner::Lost | UnknownOwner::Readers) => reason,
            _ => UnknownOwner::TraceEnded,
        }
    }

    /// The thread that has the lock will not release it any more.
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
        let owner_for_readers = match (evidence, open_waits.first_writer) {
            (Evidence::Release { shared: true, .. }, Some((thread, chain))) => {
                Owner::Thread { thread, chain }
            }
            (Evidence::Release { shared: true, .. }, None) => Owner::Unknown(UnknownOwner::Readers),
            // Reader after reader is being woken.
            (Evidence::None, _) if owner == Owner::Unknown(UnknownOwner::Readers) => {
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

    /// Who had the lock from the last boundary until one that shows `evidence`.
    fn owner_until(&self, evidence: Evidence) -> Owner {
        match self.are_others_hidden(evidence) {
            true => Owner::Unknown(UnknownOwner::HandOff),
            false => self.owner_at_both(evidence),
        }
    }

    /// Even if the owner that a boundary shows had the lock at the last one, there may have been
    /// others meanwhile.
    fn are_others_hidden(&self, evidence: Evidence) -> bool {
        matches!(evidence, Evidence::Owner(_)) && !self.waking.is_empty()
    }

    /// Who had the lock at the last boundary and at one that shows `evidence`.
    fn owner_at_both(&self, evidence: Evidence) -> Owner {
        let (thread, chain) = match evidence {
            Evidence::Release { thread, chain, .. } => (thread, chain),
            Evidence::Owner(thread) => (thread, ChainIndex::NOT_RECORDED),
            // Whoever has had it since the last release that was told would have told.
            Evidence::None if self.is_told() && self.is_free() && self.has_no_readers() => {
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

    /// Why the owner since the last boundary is not known.
    pub(super) fn why_unknown(&self) -> UnknownOwner {
        match self.owner_state {
            OwnerState::Lost => UnknownOwner::Lost,
            OwnerState::Free { .. } => UnknownOwner::HandOff,
            OwnerState::Held { by: None, .. } if self.is_shareable() => UnknownOwner::Readers,
            // A thread was woken, and another one was quicker.
            OwnerState::Held {
                by: None,
                woken: Some(_),
            } => UnknownOwner::HandOff,
            OwnerState::Held { .. } | OwnerState::Unseen => UnknownOwner::NoExit,
        }
    }

    /// The release tells the call chain of an owner that was only seen before.
    fn follow_owner_state(&mut self, owner: Owner, evidence: Evidence, time_ns: u64) {
        let released = match evidence {
            Evidence::Release { thread, chain, .. } => Some(Owner::Thread { thread, chain }),
            _ => None,
        };
        let position = self.timeline.end();
        match (self.unreleased, owner) {
            // Its unpark comes after the lock was seen free.
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

    /// The owner before the last boundary, if the lock is seen free now.
    fn freed(&self, evidence: Evidence) -> Option<Unreleased> {
        let position = self.timeline.end();
        match (self.owner_state, self.unreleased) {
            // It is still on its way.
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

    /// The interval at `position` ended at this time already.
    fn shorten(&mut self, position: u64, end_ns: u64) {
        if let Some(interval) = self.timeline.seen_from_mut(position).next() {
            interval.end_ns = interval.end_ns.min(end_ns);
        }
    }

    /// Several threads can have the lock at the same time, and it says whether they
    /// have.
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
