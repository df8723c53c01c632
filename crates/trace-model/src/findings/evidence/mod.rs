//! What findings are made of: who caused how much waiting, of each kind of wait.
//!
//! A wait is counted for the code at the end of its chain of owners. Code that only stood in `lock()` itself
//! while others waited for it causes nothing.

mod cause;
mod coverage;
mod kept;
mod sample_count;
mod tally;
#[cfg(test)]
mod tests;
mod thread_set;
mod time_series;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use trace_analysis::{
    Aspect, ChainIndex, Contention, Detail, DivisibleSink, Entities, LockIndex, MethodTable, Owner,
    RootEnd, RootPart, ThreadIndex, Value, Wait, WaitKind, WaitSink,
};

use crate::hash::{SeededMap, SeededSet};
use crate::sum::Sum;
use coverage::Coverage;
use kept::KeptTimes;

pub(crate) use cause::{Cause, CauseKey, MAX_LOCKS, Through, WaiterSite};
pub(crate) use tally::Tally;
use thread_set::ThreadSet;
use time_series::TimeSeries;

/// The most causes of a kind that are kept apart.
const MAX_CAUSES: usize = 4_096;
/// The most parts of a wait whose places are kept.
const MAX_PLACES: usize = 256;
/// The most threads of which it is known how long they waited.
const MAX_THREADS: usize = 1 << 16;
/// The most waits without an end that are kept.
const MAX_OPEN: usize = 1 << 14;

/// Takes the waits of an analysis, and keeps what findings are made of.
#[derive(Clone, Debug)]
pub struct Evidence {
    kinds: [KindEvidence; WaitKind::ALL.len()],
    methods: MethodTable,
    /// Whether a thread with a call chain waits for work.
    worker_loops: SeededMap<ChainIndex, bool>,
    /// How long each thread waited, for whatever it was.
    waited: Tally<ThreadIndex>,
    /// Waits that had not ended: who is blocked for good is no other code's fault.
    open: Vec<Wait>,
    /// The causes of the wait at hand.
    touched: Vec<usize>,
}

/// The waits of a kind.
#[derive(Clone, Debug)]
pub(crate) struct KindEvidence {
    pub(crate) waits: u64,
    pub(crate) duration_ns: Sum,
    /// While the process did not run.
    pub(crate) frozen_ns: Sum,
    /// In waits for another thread that had not ended: nobody is known to be to blame.
    pub(crate) unended_ns: Sum,
    /// The time in which anybody waited.
    pub(crate) coverage: Coverage,
    /// When they waited.
    pub(crate) series: TimeSeries,
    pub(crate) threads: ThreadSet,
    /// Where threads waited, and for which class of locks.
    pub(crate) places: Tally<(Value, ChainIndex)>,
    /// By the lock that threads waited for.
    pub(crate) locks: SeededMap<LockIndex, LockEvidence>,
    pub(crate) causes: IndexMap<CauseKey, Cause, RandomState>,
    /// For how long threads kept what others waited for.
    pub(crate) kept: KeptTimes,
    /// The position of the cause that was added to last.
    recent_cause: usize,
}

/// The waits for a lock, of all causes.
#[derive(Clone, Debug)]
pub(crate) struct LockEvidence {
    /// While the process ran.
    pub(crate) duration_ns: Sum,
    /// By direct owner, if that is no thread.
    pub(crate) without_owner: Tally<Owner>,
}

impl Default for KindEvidence {
    fn default() -> Self {
        Self {
            waits: 0,
            duration_ns: Sum::default(),
            frozen_ns: Sum::default(),
            unended_ns: Sum::default(),
            coverage: Coverage::default(),
            series: TimeSeries::default(),
            threads: ThreadSet::default(),
            places: Tally::new(MAX_CAUSES),
            locks: SeededMap::default(),
            causes: IndexMap::default(),
            kept: KeptTimes::default(),
            recent_cause: 0,
        }
    }
}

impl Default for LockEvidence {
    fn default() -> Self {
        Self {
            duration_ns: Sum::default(),
            without_owner: Tally::new(usize::MAX),
        }
    }
}

impl LockEvidence {
    /// Returns the time with one of the owners that are `wanted` and no thread.
    pub(crate) fn unowned_ns(&self, wanted: &dyn Fn(Owner) -> bool) -> Sum {
        let owners = self.without_owner.iter();
        let wanted = owners.filter(|&(owner, _)| wanted(owner));
        Sum::from(wanted.fold(0, |sum_ns: u64, (_, sum)| {
            sum_ns.saturating_add(sum.duration_ns)
        }))
    }
}

impl Evidence {
    /// Creates an empty collection. Classes and packages called as one of `libraries` are not the program's.
    pub fn new(libraries: Vec<String>) -> Self {
        Self {
            kinds: Default::default(),
            methods: MethodTable::new(libraries),
            worker_loops: SeededMap::default(),
            waited: Tally::new(MAX_THREADS),
            open: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Returns what an analysis has to find out for it. Where it finds single contentions, the time in which
    /// anybody waited because of a cause is exact.
    pub fn detail(has_contentions: bool) -> Detail {
        match has_contentions {
            true => Detail::CONTENTIONS.with_samples(),
            false => Detail::CODE.with_roots(),
        }
    }

    pub(crate) fn kind(&self, kind: WaitKind) -> &KindEvidence {
        &self.kinds[kind as usize]
    }

    /// Returns how long a thread waited, in nanoseconds.
    pub(crate) fn waited_ns(&self, thread: ThreadIndex) -> u64 {
        self.waited.duration_ns(&thread)
    }

    /// Returns whether that is known of all of them.
    pub(crate) fn knows_all_threads(&self) -> bool {
        !self.waited.is_full()
    }

    pub(crate) fn methods(&self) -> &MethodTable {
        &self.methods
    }

    /// Returns the same with the waits that had not ended, but for those of `stuck` threads.
    pub(crate) fn with_open(&self, stuck: &SeededSet<ThreadIndex>, entities: &Entities) -> Self {
        let mut whole = self.clone();
        for wait in std::mem::take(&mut whole.open) {
            match stuck.contains(&wait.thread) {
                false => whole.add(&wait, entities),
                true => whole.waited.add(wait.thread, wait.duration_ns, 1),
            }
        }
        whole
    }

    fn add(&mut self, wait: &Wait, entities: &Entities) {
        self.waited.add(wait.thread, wait.duration_ns, 1);
        if wait.kind == WaitKind::Conditional && self.is_worker_loop(wait.chain, entities) {
            return self.kinds[WaitKind::Idle as usize].add_total(wait, entities);
        }
        let kind = &mut self.kinds[wait.kind as usize];
        kind.add_total(wait, entities);
        match wait.kind {
            WaitKind::Conditional if !wait.ended() => {
                return kind.unended_ns.add(wait.duration_ns);
            }
            WaitKind::Contention | WaitKind::Conditional => {}
            WaitKind::Idle | WaitKind::Sleep | WaitKind::Join => return,
        }
        kind.add_lock(wait);
        if wait.kind == WaitKind::Conditional {
            kind.kept.add(wait, entities);
        }
        let mut direct = Vec::new();
        let roots = match wait.roots.is_empty() {
            true => {
                direct.extend(wait.blame.iter().map(|blame| RootPart::direct(wait, blame)));
                &direct
            }
            false => &wait.roots,
        };
        let follow_each_other = |pair: &[RootPart]| {
            pair[0].start_ns.checked_add(pair[0].duration_ns) == Some(pair[1].start_ns)
        };
        let have_places = roots.len() <= MAX_PLACES && roots.windows(2).all(follow_each_other);
        let mut sums = Vec::new();
        let roots = match roots.len() <= MAX_PLACES {
            true => roots,
            false => {
                sums.extend(added_up(roots));
                &sums
            }
        };
        let mut contentions = Contentions::new(wait);
        let mut scheduling = wait.scheduling.iter().peekable();
        for (at, part) in roots.iter().enumerate() {
            let contention = contentions.number_at(part.start_ns);
            let place = have_places.then_some(contention);
            let names = (&mut self.methods, entities);
            let cause = kind.add_part(wait, part, place, &mut self.touched, names);
            if let Some((_, scheduling)) = scheduling.next_if(|(first, _)| *first == at)
                && let Some(cause) = cause
            {
                cause.scheduling.add(*scheduling);
            }
        }
        let waiter = self.methods.value(wait.chain, wait.lock, entities);
        let lock_class = entities.lock_class(wait.lock);
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        for at in self.touched.drain(..) {
            let cause = &mut kind.causes[at];
            cause.end_wait(wait, waiter, lock_class);
            if !have_places {
                cause.parts_have_places = false;
                cause.add_place(wait, wait.lock, (wait.start_ns, end_ns));
            }
        }
    }
}

/// Returns the sums of the parts of a wait that have the same owner and the same root.
fn added_up(parts: &[RootPart]) -> impl Iterator<Item = RootPart> {
    let mut sums = IndexMap::<_, RootPart, RandomState>::default();
    for part in parts {
        let key = (part.owner, part.root, part.sample, part.safepoint);
        let sum = sums.entry(key).or_insert(RootPart {
            duration_ns: 0,
            contentions: 0,
            ..*part
        });
        sum.duration_ns = sum.duration_ns.saturating_add(part.duration_ns);
        sum.contentions = sum.contentions.saturating_add(part.contentions);
    }
    sums.into_values()
}

/// Numbers the contentions of a wait. One that goes on after the process did not run is the same one.
struct Contentions<'w> {
    rest: &'w [Contention],
    number: usize,
    owner: Option<Owner>,
    is_after_frozen: bool,
}

impl<'w> Contentions<'w> {
    fn new(wait: &'w Wait) -> Self {
        Self {
            rest: &wait.contentions,
            number: 0,
            owner: None,
            is_after_frozen: false,
        }
    }

    /// Returns the number of the contention that goes on then. Times come in order.
    fn number_at(&mut self, time_ns: u64) -> usize {
        while let [first, rest @ ..] = self.rest
            && first.start_ns <= time_ns
        {
            let is_same = self.is_after_frozen && self.owner == Some(first.owner);
            self.is_after_frozen = first.owner == Owner::Frozen;
            if !self.is_after_frozen {
                self.number += usize::from(!is_same);
                self.owner = Some(first.owner);
            }
            self.rest = rest;
        }
        self.number
    }
}

impl Evidence {
    fn is_worker_loop(&mut self, chain: ChainIndex, entities: &Entities) -> bool {
        let known = self.worker_loops.entry(chain);
        *known.or_insert_with(|| entities.is_worker_loop(chain))
    }
}

impl KindEvidence {
    fn add_total(&mut self, wait: &Wait, entities: &Entities) {
        let class = Value::of_lock_class(wait.lock, entities);
        self.places.add((class, wait.chain), wait.duration_ns, 1);
        self.waits += 1;
        self.duration_ns.add(wait.duration_ns);
        self.frozen_ns.add(wait.frozen_ns());
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        self.coverage
            .add(wait.id.trace, wait.lock, wait.start_ns, end_ns);
        self.series.add(wait.start_ns, end_ns, wait.duration_ns);
        self.threads.add(wait.thread);
    }

    fn add_lock(&mut self, wait: &Wait) {
        if self.locks.len() >= MAX_LOCKS && !self.locks.contains_key(&wait.lock) {
            return;
        }
        let lock = self.locks.entry(wait.lock).or_default();
        lock.duration_ns
            .add(wait.duration_ns - wait.frozen_ns().min(wait.duration_ns));
        for blame in wait
            .blame
            .iter()
            .filter(|blame| blame.owner.thread().is_none())
        {
            lock.without_owner.add(blame.owner, blame.duration_ns, 1);
        }
    }

    /// Returns the cause that the part was added to, if it was.
    fn add_part(
        &mut self,
        wait: &Wait,
        part: &RootPart,
        place: Option<usize>,
        touched: &mut Vec<usize>,
        (methods, entities): (&mut MethodTable, &Entities),
    ) -> Option<&mut Cause> {
        if part.root.end == RootEnd::Owner(Owner::Frozen) {
            return None;
        }
        let held = part.without_last_wait();
        let key = CauseKey {
            lock_class: Aspect::RootLockClass.root_value(&held, entities, methods),
            owner: Aspect::RootOwnerMethod.root_value(&held, entities, methods),
        };
        let at = self.cause_at(key)?;
        let through = (held.root.depth > 1).then(|| Through {
            lock_class: Value::of_lock_class(wait.lock, entities),
            owner: Aspect::OwnerMethod.value(wait, part.owner, entities, methods),
        });
        let cause = &mut self.causes[at];
        if cause.add_part(wait.thread, &held, through, place) {
            touched.push(at);
        }
        if let Some(waits) = part.root.held
            && let RootEnd::Owner(Owner::Thread { chain, .. }) = part.root.end
        {
            cause.add_own_wait(waits.kind, chain, part.root.lock, part.duration_ns);
        }
        if place.is_some() {
            let end_ns = part.start_ns.saturating_add(part.duration_ns);
            cause.add_place(wait, held.root.lock, (part.start_ns, end_ns));
        }
        Some(cause)
    }

    /// Returns the position of a cause; `None` if there are too many.
    fn cause_at(&mut self, key: CauseKey) -> Option<usize> {
        let recent = self.causes.get_index(self.recent_cause);
        if recent.is_none_or(|(recent, _)| *recent != key) {
            if self.causes.len() >= MAX_CAUSES && !self.causes.contains_key(&key) {
                return None;
            }
            let entry = self.causes.entry(key);
            self.recent_cause = entry.index();
            entry.or_default();
        }
        Some(self.recent_cause)
    }

    /// Returns how long threads waited while the process ran.
    pub(crate) fn running_ns(&self) -> Sum {
        self.duration_ns.without(self.frozen_ns)
    }
}

impl WaitSink for Evidence {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        if !wait.ended() && self.open.len() < MAX_OPEN {
            self.open.push(wait.clone());
        } else {
            self.add(wait, entities);
        }
    }
}

impl DivisibleSink for Evidence {
    fn part(&self) -> Self {
        Self::new(self.methods.libraries().to_vec())
    }

    fn merge(&mut self, mut part: Self) {
        for (kind, other) in self.kinds.iter_mut().zip(part.kinds) {
            kind.merge(other);
        }
        self.waited.merge(&part.waited);
        self.methods.merge(&part.methods);
        self.open.append(&mut part.open);
    }
}

impl KindEvidence {
    fn merge(&mut self, other: Self) {
        self.waits += other.waits;
        self.duration_ns.add_sum(other.duration_ns);
        self.frozen_ns.add_sum(other.frozen_ns);
        self.unended_ns.add_sum(other.unended_ns);
        self.coverage.merge(&other.coverage);
        self.series.merge(&other.series);
        self.threads.merge(&other.threads);
        self.places.merge(&other.places);
        for (lock, other) in other.locks {
            let lock = self.locks.entry(lock).or_default();
            lock.duration_ns.add_sum(other.duration_ns);
            lock.without_owner.merge(&other.without_owner);
        }
        for (key, cause) in other.causes {
            self.causes.entry(key).or_default().merge(&cause);
        }
        self.kept.merge(other.kept);
    }
}
