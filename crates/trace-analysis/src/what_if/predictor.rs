//! Predicts what a change would bring, from replays with it and without.

use std::collections::BTreeMap;

use crate::model::entity::{ChainIndex, Entities, LockIndex};
use crate::model::wait::{Mechanism, WaitKind};
use crate::what_if::assumed::with_unseen_holds;
use crate::what_if::bounds::{
    STANDARD_ERRORS, Truth, busy_in_trace, has_duration, is_exact, waiting_error,
};
use crate::what_if::busy::Busy;
use crate::what_if::change::LockChange;
use crate::what_if::demand::needs_no_processor;
use crate::what_if::hold_code::HoldCodes;
use crate::what_if::holds::Reads;
use crate::what_if::known_lock::{KnownLock, Sharing};
use crate::what_if::observed::Observed;
use crate::what_if::prediction::{
    Assumptions, Effect, LockOutcome, Prediction, Replay, Speedup, SpeedupOf, Unreliable,
    UnseenHolds,
};
use crate::what_if::program::{Programs, Slice, Step};
use crate::what_if::replay::{LockRule, Replayed, Scenario, replay};

/// How often stripes are drawn at random.
const DRAWS: u64 = 3;

/// How far off factors may be where locks nest or readers share them: of random programs whose locks nest, one in fifty is
/// off by more.
const UNSEEN_ORDER: f64 = 0.15;

/// The same where a lock is replaced by one that readers share, which takes time itself.
const READ_WRITE: f64 = 0.06;

/// Locks nest if this share of acquisitions is within another lock.
const NESTED: f64 = 0.01;

/// Threads that wait for work, or for others, for this share of their time serve requests.
const AWAY: f64 = 0.25;

/// And so do threads that are there for less than this share of the trace.
const PRESENT: f64 = 0.5;

/// What all questions about a trace have in common.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    processors: Option<u64>,
    /// What only changes of holds need is there, too.
    for_holds: bool,
    /// `None` if there is one for each thread, or they need none.
    limited_to: Option<u64>,
    locks: Vec<KnownLock>,
    /// Those that take each other's place have one number.
    lock_numbers: BTreeMap<LockIndex, usize>,
    codes: HoldCodes,
    /// With unseen holds or without.
    slices: Vec<(UnseenHolds, Vec<Slice>)>,
    unseen_holds: u64,
    busy: Busy,
    /// What is sooner, if anything is, and how long a thread is busy.
    speedup_of: SpeedupOf,
    busy_ns: u64,
    waits: u64,
    /// Of all waits, and of those that are replayed.
    before_ns: u64,
    replayed_ns: u64,
    waiting_error: f64,
    /// Locks nest, or readers share them.
    has_unseen_order: bool,
    replayed_share: f64,
    unexplained_ns: u64,
    conditional_ns: u64,
    /// The replays without a change, so far.
    unchanged: Vec<(Assumptions, Replayed)>,
}

/// The change of some locks.
pub(super) struct Changed {
    change: LockChange,
    /// By the number of the lock.
    is_changed: Vec<bool>,
    /// By the number of the code.
    is_affected: Vec<bool>,
    /// By the number of the lock: the change affects code that nobody knows.
    affects_unknown: Vec<bool>,
}

impl Predictor {
    /// Returns one for questions that change how long locks are held, or only for others, which takes less time.
    pub(super) fn new(
        all: &Observed,
        processors: Option<u64>,
        for_holds: bool,
        entities: &Entities,
    ) -> Self {
        let observed = all.of_contending(entities);
        let new = |codes, reads| Programs::new(&observed, processors, entities, codes, reads);
        let mut programs = new(HoldCodes::default(), Reads::AsSeen);
        let as_seen = programs.slices(&programs.threads);
        let mut slices = Vec::new();
        let inferred = programs.infer_holds();
        let mut unseen_holds = inferred;
        let assumed = [
            UnseenHolds::Expected,
            UnseenHolds::Private,
            UnseenHolds::EachTime,
        ];
        for which in assumed
            .into_iter()
            .filter(|it| for_holds || !is_of_holds(*it))
        {
            let (threads, count) = with_unseen_holds(&mut programs, which);
            if count > 0 {
                slices.push((which, programs.slices(&threads)));
            }
            if which == UnseenHolds::Expected {
                unseen_holds += count;
            }
        }
        if inferred > 0 {
            let slice = (UnseenHolds::Inferred, programs.slices(&programs.threads));
            slices.push(slice);
        }
        let (speedup_of, busy_ns) = speedup_of(&as_seen, &observed);
        let threads = as_seen.iter().map(|slice| slice.len() as u64).max();
        let busy = busy_in_trace(&as_seen);
        let nested_share = nested_share(&as_seen);
        let limited_to = processors.filter(|it| (1..threads.unwrap_or(0)).contains(it));
        let limited_to = limited_to.filter(|_| !needs_no_processor(&as_seen));
        slices.push((UnseenHolds::None, as_seen));
        // First what is most likely.
        let likely = slices
            .iter()
            .position(|&(which, _)| which == likely_holds(&slices));
        slices[..=likely.unwrap_or(0)].rotate_right(1);
        let Programs {
            locks,
            lock_numbers,
            mut codes,
            ..
        } = programs;
        if locks.iter().any(|lock| lock.sharing == Sharing::Readers) {
            for (which, reads) in [
                (UnseenHolds::ShortReads, Reads::Short),
                (UnseenHolds::LongReads, Reads::Long),
            ] {
                let programs = new(codes, reads);
                slices.push((which, programs.slices(&programs.threads)));
                codes = programs.codes;
            }
        }
        let waits = by_slice(&observed);
        Self {
            processors,
            for_holds,
            limited_to,
            busy,
            speedup_of,
            busy_ns,
            codes,
            slices,
            unseen_holds,
            waits: observed.count,
            before_ns: observed.waited_ns,
            replayed_ns: waits
                .iter()
                .flatten()
                .map(|&(_, duration_ns)| duration_ns)
                .sum(),
            waiting_error: waiting_error(waits.iter().map(Vec::as_slice)),
            has_unseen_order: nested_share > NESTED
                || locks.iter().any(|lock| lock.sharing == Sharing::Readers),
            locks,
            lock_numbers,
            replayed_share: observed.kept_share(),
            unexplained_ns: observed.waits.iter().map(|wait| wait.unexplained_ns).sum(),
            conditional_ns: conditional_ns(&observed),
            unchanged: Vec::new(),
        }
    }

    /// Returns whether it answers questions about this number of processors, and of this kind.
    pub(super) fn answers(&self, processors: Option<u64>, about_holds: bool) -> bool {
        self.processors == processors && (self.for_holds || !about_holds)
    }

    pub(super) fn busy_share(&self, duration_ns: u64) -> f64 {
        let of_waiting = duration_ns as f64 / self.before_ns.max(1) as f64;
        self.busy.waiting_share() * of_waiting.min(1.0)
    }

    pub(super) fn changed(
        &self,
        change: LockChange,
        is_changed: impl Fn(LockIndex) -> bool,
        is_affected: impl Fn(Option<ChainIndex>, LockIndex) -> bool,
    ) -> Changed {
        let any = |of: &dyn Fn(LockIndex) -> bool| {
            let mut of_numbers = vec![false; self.locks.len()];
            for (&lock, &number) in &self.lock_numbers {
                of_numbers[number] |= of(lock);
            }
            of_numbers
        };
        let codes = self.codes.all().iter();
        Changed {
            change,
            is_changed: any(&is_changed),
            is_affected: codes.map(|code| code.is_affected(&is_affected)).collect(),
            affects_unknown: any(&|lock| is_affected(None, lock)),
        }
    }

    pub(super) fn predict(&mut self, changed: &Changed) -> Prediction {
        let mut outcomes: Vec<_> = self
            .locks
            .iter()
            .zip(&changed.is_changed)
            .map(|(lock, &is_changed)| LockOutcome {
                lock: lock.index,
                is_changed,
                before_ns: lock.waited_ns,
                after_ns: None,
            })
            .collect();
        let mut replays: Vec<Replay> = Vec::new();
        let mut matters = Matters::default();
        let limited_to = self.limited_to;
        let likely = self.likely();
        for assumptions in self.assumptions(likely) {
            let is_of_holds = is_of_holds(assumptions.unseen_holds);
            if !matters.has(assumptions, likely) || is_of_holds && !changed.change.changes_holds() {
                continue;
            }
            let unchanged = self.unchanged(assumptions);
            for seed in 0..changed.draws() {
                let after = self.replay(assumptions, Some(changed), seed);
                let unchanged = &self.unchanged[unchanged].1;
                matters.add(unchanged, limited_to);
                matters.add(&after, limited_to);
                let mut replay = self.truth(changed.change).compare(
                    assumptions,
                    changed.change.lets_go_on_earlier(),
                    unchanged,
                    &after,
                );
                let has_likely_order = assumptions.by_arrival == likely.by_arrival;
                replay.is_reliable &= has_likely_order || is_exact(replay.unchanged_duration);
                // If readers had the lock as long as the trace allows, some have it too long: nobody knows which.
                let is_limit = assumptions.unseen_holds == UnseenHolds::LongReads;
                replay.is_reliable |= is_limit && replays.iter().any(|it| it.is_reliable);
                replays.push(replay);
                if replay.is_reliable {
                    for (lock, &after_ns) in outcomes.iter_mut().zip(&after.waiting_ns) {
                        let (least_ns, most_ns) = lock.after_ns.unwrap_or((u64::MAX, 0));
                        lock.after_ns = Some((least_ns.min(after_ns), most_ns.max(after_ns)));
                    }
                }
            }
        }
        outcomes.sort_by_key(|lock| {
            let after_ns = lock.after_ns.map_or(0, |(_, most_ns)| most_ns);
            (u64::MAX - lock.before_ns.max(after_ns), lock.lock)
        });
        let for_changed = self.locks.iter().zip(&changed.is_changed);
        let for_changed = for_changed.filter(|(_, is_changed)| **is_changed);
        let prediction = Prediction {
            waits: self.waits,
            before_ns: self.replayed_ns,
            effect: self.effect(changed.change, &replays),
            for_changed_ns: for_changed.map(|(lock, _)| lock.waited_ns).sum(),
            unexplained_ns: self.unexplained_ns,
            conditional_ns: self.conditional_ns,
            unseen_holds: self.unseen_holds,
            replayed_share: self.replayed_share,
            replays,
            locks: outcomes,
        };
        match self.replayed_share < 1.0 {
            true => prediction.scaled_to(self.before_ns),
            false => prediction,
        }
    }

    fn truth(&self, change: LockChange) -> Truth {
        let unseen_order = match (self.has_unseen_order, change) {
            (true, _) => UNSEEN_ORDER,
            (false, LockChange::ReadWrite) => READ_WRITE,
            (false, _) => 0.0,
        };
        Truth {
            busy: self.busy,
            waited_ns: self.replayed_ns,
            waiting_error: self.waiting_error,
            unseen_order: unseen_order.min(self.busy.waiting_share() / 2.0),
        }
    }

    /// What those replays find that count.
    fn effect(&self, change: LockChange, replays: &[Replay]) -> Result<Effect, Unreliable> {
        let reliable = || replays.iter().filter(|replay| replay.is_reliable);
        if reliable().next().is_none() {
            return Err(self.unreliable(replays));
        }
        let is_at_most_before = matches!(
            change,
            LockChange::Removed
                | LockChange::Split(_)
                | LockChange::ReadWrite
                | LockChange::Permits(_)
        );
        // No thread is done later than in the trace, and it has as much to do. Of shorter holds nobody
        // knows how much less there is to do: the trace has those only that others waited for.
        let with_unseen_lock_ns = is_at_most_before.then_some(self.replayed_ns);
        // Replays with others in front may find more than can be.
        let limit_ns = with_unseen_lock_ns.map_or(u64::MAX, |limit_ns| {
            (limit_ns as f64 * (1.0 + STANDARD_ERRORS * self.waiting_error)) as u64
        });
        let least_ns = reliable().map(|replay| replay.range_ns.0).min();
        let most_ns = reliable().map(|replay| replay.range_ns.1).max();
        // Those with what is most likely, if there are any.
        let first = reliable()
            .map(|replay| replay.assumptions.unseen_holds)
            .next();
        let is_likely = |replay: &&Replay| Some(replay.assumptions.unseen_holds) == first;
        let expected = || reliable().filter(is_likely);
        let after = expected().map(|it| {
            self.truth(change)
                .in_proportion(it.unchanged_ns, it.changed_ns)
        });
        // The mean of durations, not of factors.
        let slowdown = expected().map(|replay| 1.0 / replay.speedup);
        let least = reliable().map(|replay| replay.speedup_range.0);
        let most = reliable().map(|replay| replay.speedup_range.1);
        Ok(Effect {
            after_ns: mean(after).round() as u64,
            after_range_ns: (
                least_ns.unwrap_or(0).min(limit_ns),
                most_ns.unwrap_or(0).min(limit_ns),
            ),
            after_with_unseen_lock_ns: with_unseen_lock_ns,
            speedup: Speedup {
                of: self.speedup_of,
                factor: 1.0 / mean(slowdown),
                range: (
                    least.fold(f64::INFINITY, f64::min),
                    most.fold(0.0, f64::max),
                ),
                busy_ns: self.busy_ns,
            },
        })
    }

    /// Why no replay counts.
    fn unreliable(&self, replays: &[Replay]) -> Unreliable {
        let off = |replay: &&Replay| (replay.unchanged_duration - 1.0).abs();
        let nearest = replays.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        match nearest {
            Some(nearest) if !has_duration(nearest.unchanged_duration) => {
                Unreliable::Duration(nearest.unchanged_duration)
            }
            _ => {
                let off_ns = |replay: &Replay| replay.unchanged_ns.abs_diff(self.replayed_ns);
                let nearest = replays.iter().min_by_key(|replay| off_ns(replay));
                Unreliable::Waiting(nearest.map_or(0, |replay| replay.unchanged_ns))
            }
        }
    }

    fn slices(&self, with: UnseenHolds) -> Option<&[Slice]> {
        let mut slices = self.slices.iter();
        let found = slices.find(|(which, _)| *which == with);
        found.map(|(_, slices)| slices.as_slice())
    }

    /// What is most likely. Monitors are passed on as in the replay whose duration is nearer to the trace's.
    fn likely(&mut self) -> Assumptions {
        let unseen_holds = self.slices.first().map(|&(which, _)| which);
        let in_batches = Assumptions {
            unseen_holds: unseen_holds.unwrap_or_default(),
            ..Assumptions::default()
        };
        let by_arrival = Assumptions {
            by_arrival: true,
            ..in_batches
        };
        let mut replayed = |assumptions| {
            let at = self.unchanged(assumptions);
            let replayed = &self.unchanged[at].1;
            let off_ns = (Busy::sum(&replayed.parts()).all_ns - self.busy.all_ns).abs();
            (replayed.had_choice, off_ns)
        };
        match replayed(in_batches) {
            (true, off_ns) if replayed(by_arrival).1 < off_ns => by_arrival,
            _ => in_batches,
        }
    }

    /// What is most likely, and one after the other assumed otherwise.
    fn assumptions(&self, likely: Assumptions) -> Vec<Assumptions> {
        let unseen_holds = self.slices.iter().map(|&(which, _)| which);
        let mut assumptions: Vec<_> = unseen_holds
            .map(|unseen_holds| Assumptions {
                unseen_holds,
                ..likely
            })
            .collect();
        assumptions.push(Assumptions {
            by_arrival: !likely.by_arrival,
            ..likely
        });
        if self.limited_to.is_some() {
            assumptions.push(Assumptions {
                processors: self.limited_to,
                ..likely
            });
        }
        assumptions
    }

    /// The position of the replay without a change.
    fn unchanged(&mut self, assumptions: Assumptions) -> usize {
        let known = self.unchanged.iter();
        let known = known.map(|(it, _)| it).position(|&it| it == assumptions);
        known.unwrap_or_else(|| {
            let unchanged = self.replay(assumptions, None, 0);
            self.unchanged.push((assumptions, unchanged));
            self.unchanged.len() - 1
        })
    }

    fn replay(&self, assumptions: Assumptions, changed: Option<&Changed>, seed: u64) -> Replayed {
        let locks = self.locks.iter().enumerate();
        let rules: Vec<_> = locks
            .map(|(at, lock)| {
                let mut rule = rule(lock, assumptions);
                if let Some(changed) = changed
                    && changed.is_changed[at]
                {
                    changed.apply(&mut rule, changed.affects_unknown[at], seed);
                }
                rule
            })
            .collect();
        replay(Scenario {
            slices: self.slices(assumptions.unseen_holds).unwrap_or_default(),
            locks: &rules,
            is_affected: changed.map_or(&[], |changed| &changed.is_affected),
            processors: assumptions.processors,
            seed,
        })
    }
}

impl Changed {
    fn draws(&self) -> u64 {
        match self.change {
            LockChange::Split(stripes) if stripes > 1 => DRAWS,
            // Who comes may take the lock, or may be too late.
            LockChange::Unfair => 2,
            _ => 1,
        }
    }

    fn apply(&self, rule: &mut LockRule, affects_unknown: bool, draw: u64) {
        match self.change {
            LockChange::Removed => rule.is_removed = true,
            LockChange::Holds(factor) => {
                rule.hold_factor = factor;
                rule.unknown_hold_factor = if affects_unknown { factor } else { 1.0 };
            }
            LockChange::MovedOut => rule.is_brief = true,
            LockChange::Split(stripes) => rule.stripes = stripes,
            LockChange::Permits(permits) => {
                rule.permits = permits.into();
                rule.is_by_arrival = true;
            }
            LockChange::Fair => {
                rule.is_barging = false;
                rule.is_by_arrival = true;
            }
            LockChange::Unfair => rule.is_barging |= draw == 0,
            LockChange::ReadWrite => {
                rule.is_shared = true;
                rule.is_by_arrival |= self.is_affected.contains(&true);
            }
        }
    }
}

/// What a lock is like that is not changed.
fn rule(lock: &KnownLock, assumptions: Assumptions) -> LockRule {
    let is_monitor = lock.mechanism == Mechanism::Monitor;
    LockRule {
        is_removed: false,
        is_brief: false,
        hold_factor: 1.0,
        unknown_hold_factor: 1.0,
        stripes: 1,
        is_barging: !lock.is_fair,
        permits: lock.permits,
        is_shared: false,
        is_monitor,
        is_by_arrival: assumptions.by_arrival || !is_monitor,
    }
}

/// Which assumptions made a difference in replays so far.
#[derive(Clone, Copy, Debug, Default)]
struct Matters {
    order: bool,
    processors: bool,
}

impl Matters {
    fn add(&mut self, replayed: &Replayed, processors: Option<u64>) {
        self.order |= replayed.had_choice;
        let working = replayed.most_working as u64;
        self.processors |= processors.is_some_and(|processors| working > processors);
    }

    /// Whether a replay with other assumptions may find something new.
    fn has(self, assumptions: Assumptions, likely: Assumptions) -> bool {
        (assumptions.by_arrival == likely.by_arrival || self.order)
            && (assumptions.processors.is_none() || self.processors)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / f64::max(count, 1.0)
}

/// Returns whether these holds matter only where a change is about how long holds are.
fn is_of_holds(unseen_holds: UnseenHolds) -> bool {
    unseen_holds == UnseenHolds::Private
}

/// Which holds that nobody noticed are most likely.
fn likely_holds(slices: &[(UnseenHolds, Vec<Slice>)]) -> UnseenHolds {
    let is_known = |wanted| slices.iter().any(|&(which, _)| which == wanted);
    let likely = [UnseenHolds::Expected, UnseenHolds::Inferred];
    let likely = likely.into_iter().find(|&which| is_known(which));
    likely.unwrap_or(UnseenHolds::None)
}

/// Which share of the acquisitions of locks is within another lock.
fn nested_share(slices: &[Slice]) -> f64 {
    let (mut acquired, mut nested) = (0_u64, 0_u64);
    for program in slices.iter().flatten() {
        let mut held = 0_u64;
        for step in &program.steps {
            match step {
                Step::Acquire(_) => {
                    acquired += 1;
                    nested += u64::from(held > 0);
                    held += 1;
                }
                Step::Release(_) => held = held.saturating_sub(1),
                _ => {}
            }
        }
    }
    nested as f64 / acquired.max(1) as f64
}

/// When waits for locks began and how long they were, by slice.
fn by_slice(observed: &Observed) -> Vec<Vec<(u64, u64)>> {
    let mut slices = BTreeMap::<u64, Vec<(u64, u64)>>::new();
    for wait in &observed.waits {
        let of_slice = slices.entry(wait.slice).or_default();
        of_slice.push((wait.start_ns, wait.end_ns - wait.start_ns));
    }
    slices.into_values().collect()
}

fn conditional_ns(observed: &Observed) -> u64 {
    let pauses = observed.pauses.iter();
    let conditional = pauses.filter(|pause| pause.kind == WaitKind::Conditional);
    conditional.map(|pause| pause.end_ns - pause.start_ns).sum()
}

/// What is sooner, if anything is, and how long a thread is busy: each counts as much as it waits.
fn speedup_of(slices: &[Slice], observed: &Observed) -> (SpeedupOf, u64) {
    let slice_ns = |slice: &Slice| match observed.kept_share() < 1.0 {
        true => {
            let begin_ns = slice.iter().map(|program| program.start_ns).min();
            let end_ns = slice.iter().map(|program| program.end_ns).max();
            end_ns.unwrap_or(0) - begin_ns.unwrap_or(0)
        }
        false => observed.duration_ns(),
    };
    let (mut waited, mut present, mut away, mut busy) = (0.0, 0.0, 0.0, 0.0);
    for slice in slices {
        let slice_ns = slice_ns(slice).max(1) as f64;
        for program in slice {
            let weight = program.waited_ns as f64;
            let there_ns = program.end_ns - program.start_ns;
            waited += weight;
            present += weight * there_ns as f64 / slice_ns;
            away += weight * program.away_ns as f64 / there_ns.max(1) as f64;
            busy += weight * program.busy_ns() as f64;
        }
    }
    let waited = f64::max(waited, 1.0);
    let of = match away / waited > AWAY || present / waited < PRESENT {
        true => SpeedupOf::Latency,
        false => SpeedupOf::Work,
    };
    let slices = slices.len().max(1) as f64;
    let busy_ns = busy / waited * slices / observed.kept_share();
    (of, busy_ns as u64)
}
