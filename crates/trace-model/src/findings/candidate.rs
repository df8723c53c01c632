//! Candidates for findings: causes of waiting, and the facts about them.

use std::collections::BTreeMap;

use trace_analysis::{
    Aspect, ChainIndex, ClassIndex, LockIndex, Owner, ThreadIndex, UnknownOwner, Value, WaitKind,
};

use super::code::{CodeNames, LockMode};
use super::evidence::{Cause, CauseKey, Evidence, KindEvidence, Tally, WaiterSite};
use super::facts::{Condition, Facts, ReaderQueue};
use super::finding::{
    Code, Finding, Kept, LISTED_PLACES, LISTED_WAITERS, Named, OnProcessor, OwnerPlace, Through,
    WaitingCode,
};
use super::run::Run;
use super::{confidence, pattern, quiet};
use crate::hash::{SeededMap, SeededSet};
use crate::selection::{self, Kind, WaitSelection};
use crate::sum::Sum;

/// The least share of all waiting that is worth a finding.
const MIN_SHARE: f64 = 0.01;
/// The share of a lock's time without a known owner from which on this is a finding itself.
const MOSTLY: f64 = 0.7;
/// The most candidates.
const MAX_CANDIDATES: usize = 12;
const AT_START: f64 = 0.9;
/// The least share of the owner's time that has to be sampled to say where it was.
const MIN_SAMPLED: f64 = 0.05;
/// The fewest samples that say where the owner was: the share of a place is known to about a sixth then.
const MIN_SAMPLES: u64 = 10;
/// The largest distance of bounds that are worth a line.
const MAX_UNKNOWN: f64 = 0.5;
/// The share of overlaps up to which threads wait for one lock at a time.
const FEW_OVERLAPS: f64 = 0.05;

/// What candidates are looked for in.
pub(crate) struct Candidates<'a> {
    pub(crate) evidence: &'a Evidence,
    pub(crate) names: &'a CodeNames<'a>,
    pub(crate) run: Run<'a>,
}

/// A cause of a kind of waiting.
struct Candidate<'a> {
    kind: WaitKind,
    key: CauseKey,
    cause: &'a Cause,
    of_kind: &'a KindEvidence,
    /// The whole of all shares.
    total_ns: Sum,
    /// The code that had the locks, if any is known; where they were mostly free, in between.
    owner: Option<(Value, &'a Cause)>,
}

impl Candidates<'_> {
    /// Returns the findings about causes, those with the most time first. `stuck_ns` is the time waited by
    /// threads that are blocked for good. If it `is_quiet`, no lock is worth a finding.
    pub(crate) fn findings(&self, stuck_ns: Sum, is_quiet: bool) -> Vec<Finding> {
        let contention_ns = self.evidence.kind(WaitKind::Contention).running_ns();
        let mut total_ns = contention_ns;
        total_ns.add_sum(stuck_ns);
        let mut candidates = match is_quiet {
            true => Vec::new(),
            false => self.of_kind(WaitKind::Contention, total_ns),
        };
        let conditional = self.evidence.kind(WaitKind::Conditional);
        let conditional_ns = conditional.running_ns().without(conditional.unended_ns);
        if conditional_ns > contention_ns {
            candidates.extend(self.of_kind(WaitKind::Conditional, conditional_ns));
        }
        let mut findings: Vec<Finding> = candidates.iter().map(|it| self.finding(it)).collect();
        // What is over does not come before what lasts.
        findings.sort_by_key(|it| (it.start_up_only, std::cmp::Reverse(it.duration_ns)));
        let is_large = |finding: &Finding| {
            let Finding {
                wall_ns, threads, ..
            } = *finding;
            let run_ns = self.run.duration_ns;
            !quiet::is_small(wall_ns, finding.duration_ns.ns(), threads, run_ns)
        };
        if findings.iter().any(is_large) {
            findings.retain(is_large);
        }
        findings
    }

    fn of_kind(&self, kind: WaitKind, total_ns: Sum) -> Vec<Candidate<'_>> {
        let of_kind = self.evidence.kind(kind);
        let causes = of_kind.causes.iter();
        let is_large = |cause: &Cause| {
            total_ns > Sum::default() && cause.duration_ns.of(total_ns) >= MIN_SHARE
        };
        // Where a lock is mostly free while threads wait, it is one finding, of all its owners together.
        let wanted = causes.filter(|(key, cause)| {
            is_large(cause)
                && match mostly_nobodys(of_kind, key.lock_class) {
                    Some((nobodys, free)) => {
                        let is_in_free =
                            || cause.shares_locks_with(free) && is_mostly_nobodys(of_kind, cause);
                        nobodys == **key || !is_nobody(key.owner) && !is_in_free()
                    }
                    None => !is_nobody(key.owner),
                }
                && !(kind == WaitKind::Conditional && only_lets_go_on(of_kind, key, cause))
        });
        let mut candidates: Vec<_> = wanted
            .map(|(&key, cause)| Candidate {
                kind,
                key,
                cause,
                of_kind,
                total_ns,
                owner: match key.owner {
                    Value::Free => self.largest_owner(of_kind, key.lock_class, cause),
                    owner => (!is_nobody(owner)).then_some((owner, cause)),
                },
            })
            .collect();
        candidates.sort_by_cached_key(|it| {
            let names = [it.key.lock_class, it.key.owner].map(|value| self.names.key(value));
            (std::cmp::Reverse(it.cause.duration_ns), names)
        });
        candidates.truncate(MAX_CANDIDATES);
        candidates
    }

    /// Returns the code behind most of the time in which locks were `free`: of each lock it takes the share of this time
    /// that it has of the waiting for the lock's owners.
    fn largest_owner<'c>(
        &self,
        of_kind: &'c KindEvidence,
        lock_class: Value,
        free: &Cause,
    ) -> Option<(Value, &'c Cause)> {
        let causes = of_kind.causes.iter();
        let owned: Vec<_> = causes
            .filter(|(key, cause)| {
                key.lock_class == lock_class
                    && !is_nobody(key.owner)
                    && cause.shares_locks_with(free)
            })
            .collect();
        let mut owned_ns: SeededMap<LockIndex, u64> = SeededMap::default();
        for (lock, sum) in owned.iter().flat_map(|(_, cause)| cause.locks.iter()) {
            let of_lock = owned_ns.entry(lock).or_default();
            *of_lock = of_lock.saturating_add(sum.duration_ns);
        }
        let free_ns = |cause: &Cause| -> u64 {
            let shares = cause.locks.iter().map(|(lock, sum)| {
                let share = sum.duration_ns as f64 / owned_ns[&lock].max(1) as f64;
                (free.locks.duration_ns(&lock) as f64 * share) as u64
            });
            shares.sum()
        };
        let largest = owned.into_iter().min_by_key(|(key, cause)| {
            (std::cmp::Reverse(free_ns(cause)), self.names.key(key.owner))
        });
        largest.map(|(key, cause)| (key.owner, cause))
    }

    fn finding(&self, candidate: &Candidate<'_>) -> Finding {
        let Candidate { key, cause, .. } = *candidate;
        let facts = self.facts(candidate);
        let pattern = pattern::of(&facts);
        let lock_class = Named {
            key: self.names.key(key.lock_class),
            label: self.lock_label(candidate),
        };
        let owner_key = self.names.key(key.owner);
        let owner = candidate.owner;
        let owner = owner.map(|owner| self.owner_code(key, owner));
        let (wall_ns, wall_exact) = cause.wall_ns();
        let percentile_ns = |percent| cause.histogram.percentile_ns(percent);
        Finding {
            id: format!("{}:{}:{owner_key}", pattern.name(), lock_class.key),
            pattern: pattern.name(),
            hang: false,
            title: pattern.sentence(&facts),
            remedy: pattern.remedy(),
            waiters: self.waiters(cause),
            waiter_sites: facts.waiter_sites,
            through: self.through(cause),
            owner_places: self.owner_places(cause),
            owner_callers: self.owner_callers(candidate, owner.as_ref()),
            kept_by: match pattern.name() {
                pattern::POOL_TOO_SMALL => self.kept_by(candidate),
                _ => Vec::new(),
            },
            owner,
            owner_sampled: sampled_share(cause),
            owner_samples: cause.sample_count.effective(),
            owner_on_processor: on_processor(cause),
            duration_ns: cause.duration_ns,
            share: facts.share,
            wall_ns,
            wall_exact,
            wall_share: wall_ns as f64 / self.run.duration_ns.max(1) as f64,
            waits: cause.waits,
            p50_ns: percentile_ns(50),
            p99_ns: percentile_ns(99),
            max_ns: cause.histogram.max_ns(),
            mean_waiters: cause.duration_ns.ns() as f64 / wall_ns.max(1) as f64,
            threads: facts.threads,
            locks: facts.locks,
            confidence: confidence::of(&facts, cause.safepoint_ns),
            start_up_only: self.is_start_up_only(cause),
            saving: None,
            unreliable: None,
            selection: self.selection(candidate, &owner_key),
            lock_class,
        }
    }

    fn facts(&self, candidate: &Candidate<'_>) -> Facts {
        let Candidate {
            kind,
            key,
            cause,
            of_kind,
            total_ns,
            ..
        } = *candidate;
        let class = self.names.lock_class(key.lock_class);
        let lock_class = key.lock_class.name(self.names.entities);
        let locks = cause.locks.iter();
        let locks: Vec<_> = locks
            .filter_map(|(lock, _)| of_kind.locks.get(&lock))
            .collect();
        let unowned_ns = |wanted: &dyn Fn(Owner) -> bool| {
            total(locks.iter().map(|lock| lock.unowned_ns(wanted)))
        };
        let is_unknown_by = |reason: UnknownOwner| move |owner| owner == Owner::Unknown(reason);
        let largest_site = self.largest_site(cause);
        let site_chain = largest_site.and_then(|site| self.largest_chain(&site.chains));
        let largest_lock = cause
            .locks
            .largest(|lock| self.names.key(Value::Lock(lock)));
        let covered = cause.coverage.covered();
        let is_conditional = kind == WaitKind::Conditional;
        Facts {
            owner: match candidate.owner {
                Some((Value::Chain(ChainIndex::NOT_RELEASED), _)) => {
                    "a thread that had not released it at the end of the trace".to_owned()
                }
                Some((owner, _)) => self.names.label(owner),
                None => String::new(),
            },
            is_free: key.owner == Value::Free,
            is_conditional,
            kept_at_once: {
                let chains = cause.chains.iter();
                let at_once = chains.map(|(chain, _)| of_kind.kept.at_once(chain));
                at_once.max().unwrap_or_default()
            },
            parks_directly: largest_site
                .zip(site_chain)
                .is_some_and(|(site, chain)| self.names.parks_directly(chain, site.lock_class)),
            is_initialization: matches!(key.lock_class, Value::ClassInitialization(_)),
            duration_ns: cause.duration_ns,
            waits: cause.waits,
            contentions: cause.contentions,
            share: cause.duration_ns.of(total_ns),
            lock_ns: total(locks.iter().map(|lock| lock.duration_ns)),
            free_ns: unowned_ns(&|owner| owner == Owner::Free),
            unknown_ns: unowned_ns(&|owner| matches!(owner, Owner::Unknown(_))),
            readers_ns: unowned_ns(&is_unknown_by(UnknownOwner::Readers)),
            hand_off_ns: unowned_ns(&is_unknown_by(UnknownOwner::HandOff)),
            after_wait_ns: cause.after_wait_ns,
            locks: cause.locks.len() as u64,
            largest_lock_ns: Sum::from(largest_lock.map_or(0, |(_, sum)| sum.duration_ns)),
            site_locks: largest_site.map_or(0, |site| site.locks.len() as u64),
            site_waits: largest_site.map_or(0, |site| site.waits),
            site_largest_waits: largest_site.map_or(0, |site| {
                site.locks
                    .iter()
                    .map(|(_, sum)| sum.count)
                    .max()
                    .unwrap_or(0)
            }),
            one_at_a_time: cause.parts_have_places
                && (cause.coverage.mixed_ns() as f64) < FEW_OVERLAPS * covered.duration_ns as f64,
            periods: covered.periods,
            periods_ns: covered.periods_ns,
            run_ns: self.run.duration_ns,
            waiter_sites: cause.waiters.len() as u64,
            direct_sites: cause.direct_sites(),
            waking_waiters: self.waking_waiters(candidate),
            threads: cause.threads.len() as u64,
            is_fair: lock_class.ends_with("$FairSync"),
            readers: (!is_conditional)
                .then(|| self.reader_queue(cause, class))
                .flatten(),
            condition: self.condition(cause),
            map_method: site_chain.and_then(|chain| self.names.map_method(chain)),
            lock: match self.lock_label(candidate) {
                label if label == lock_class => label,
                label => format!("the {label}"),
            },
            lock_class,
        }
    }

    /// Returns what the locks are, for people.
    fn lock_label(&self, candidate: &Candidate<'_>) -> String {
        let Candidate { key, cause, .. } = *candidate;
        match key.lock_class {
            Value::Class(class) if !cause.locks.is_full() => {
                let locks = cause.main_locks().into_iter();
                self.names.entities.locks_label(class, locks)
            }
            class => self.names.label(class),
        }
    }

    /// Returns the method in which threads waited longest.
    fn largest_site<'c>(&self, cause: &'c Cause) -> Option<&'c WaiterSite> {
        let sites = cause.waiters.iter();
        let largest = sites
            .min_by_key(|&(&waiter, site)| (u64::MAX - site.duration_ns, self.names.key(waiter)));
        largest.map(|(_, site)| site)
    }

    fn largest_chain(&self, chains: &Tally<ChainIndex>) -> Option<ChainIndex> {
        let largest = chains.largest(|chain| self.names.key(Value::Chain(chain)));
        largest.map(|(chain, _)| chain)
    }

    /// Returns how many of the threads that waited also woke others that waited for locks of the class.
    fn waking_waiters(&self, candidate: &Candidate<'_>) -> u64 {
        let causes = candidate.of_kind.causes.iter();
        let same = causes.filter(|(key, _)| key.lock_class == candidate.key.lock_class);
        let wakers: SeededSet<ThreadIndex> = same
            .flat_map(|(_, cause)| cause.owner_threads.iter())
            .collect();
        let waiting = candidate.cause.threads.iter();
        waiting.filter(|thread| wakers.contains(thread)).count() as u64
    }

    /// Returns who waits to write while the owner reads, and who waits to read behind them.
    fn reader_queue(&self, cause: &Cause, class: Option<ClassIndex>) -> Option<ReaderQueue> {
        let owner_chain = self.largest_chain(&cause.chains)?;
        if self.names.lock_mode(owner_chain, class) != Some(LockMode::Read) {
            return None;
        }
        let waiting = |mode: LockMode| {
            let sites = cause.waiters.iter().filter(|(_, site)| {
                let chain = self.largest_chain(&site.chains);
                chain
                    .is_some_and(|chain| self.names.lock_mode(chain, site.lock_class) == Some(mode))
            });
            sites.min_by_key(|&(&waiter, site)| {
                (u64::MAX - site.duration_ns, self.names.key(waiter))
            })
        };
        let (&writer, _) = waiting(LockMode::Write)?;
        let reader = waiting(LockMode::Read);
        Some(ReaderQueue {
            writer: self.names.label(writer),
            reader: reader
                .map(|(&reader, site)| (self.names.label(reader), site.threads.len() as u64)),
        })
    }

    /// Returns what the owner waited for while it held the lock, if that is most of the cause: another
    /// thread, or work.
    fn condition(&self, cause: &Cause) -> Option<Condition> {
        let mut waited_ns = 0_u64;
        let mut largest: Option<(u64, String, String)> = None;
        for ((kind, chain, lock), sum) in cause.own_waits.iter() {
            if kind == WaitKind::Sleep {
                continue;
            }
            waited_ns = sum.duration_ns.saturating_add(waited_ns);
            let class = self
                .names
                .label(Value::of_lock_class(lock, self.names.entities));
            let place = self
                .names
                .waiting_method(chain, self.names.entities.lock_class(lock));
            let found = (sum.duration_ns, place, class);
            largest = largest.max(Some(found));
        }
        if Sum::from(waited_ns).of(cause.duration_ns) < MOSTLY {
            return None;
        }
        largest.map(|(_, waits_in, waits_for)| Condition {
            waits_in,
            waits_for,
        })
    }

    fn owner_code(&self, key: CauseKey, (owner, cause): (Value, &Cause)) -> Code {
        let chain = self.largest_chain(&cause.chains);
        self.names
            .code(owner, chain, self.names.lock_class(key.lock_class))
    }

    fn waiters(&self, cause: &Cause) -> Vec<WaitingCode> {
        let mut sites: Vec<_> = cause.waiters.iter().collect();
        sites.sort_by_cached_key(|&(&waiter, site)| {
            (u64::MAX - site.duration_ns, self.names.key(waiter))
        });
        let listed = sites
            .into_iter()
            .take(LISTED_WAITERS)
            .map(|(&waiter, site)| {
                let chain = self.largest_chain(&site.chains);
                WaitingCode {
                    code: self.names.code(waiter, chain, site.lock_class),
                    duration_ns: Sum::from(site.duration_ns),
                    waits: site.waits,
                }
            });
        listed.collect()
    }

    fn through(&self, cause: &Cause) -> Vec<Through> {
        let owners = cause
            .through
            .by_time(|it| self.names.key(it.lock_class) + &self.names.key(it.owner));
        let listed = owners
            .into_iter()
            .take(LISTED_PLACES)
            .map(|(through, sum)| Through {
                lock_class: self.named(through.lock_class),
                owner: self.named(through.owner),
                duration_ns: Sum::from(sum.duration_ns),
            });
        listed.collect()
    }

    /// Returns where the owner was while it held the lock, as far as enough of that time was sampled.
    fn owner_places(&self, cause: &Cause) -> Vec<OwnerPlace> {
        if sampled_share(cause) < MIN_SAMPLED || cause.sample_count.effective() < MIN_SAMPLES {
            return Vec::new();
        }
        let samples = cause.samples.iter();
        let samples = samples.map(|(chain, sum)| (self.names.place(chain), sum.duration_ns));
        listed_places(samples, cause.samples.total_ns())
    }

    /// Returns for whom the code that woke threads did so, as a pool gives back what its caller had borrowed.
    fn owner_callers(&self, candidate: &Candidate<'_>, owner: Option<&Code>) -> Vec<OwnerPlace> {
        // Of code of a library it is known who called it.
        let is_program = owner.is_some_and(|owner| owner.called_from.is_empty());
        if candidate.kind != WaitKind::Conditional || !is_program {
            return Vec::new();
        }
        let class = self.names.lock_class(candidate.key.lock_class);
        let chains = candidate.cause.chains.iter();
        let callers = chains.filter_map(|(chain, sum)| {
            Some((self.names.caller_of_code(chain, class)?, sum.duration_ns))
        });
        listed_places(callers, candidate.cause.duration_ns.ns())
    }

    /// Returns for how long users of a pool kept what they had waited for: first those who kept it longest in all, as often
    /// as they ended a wait.
    fn kept_by(&self, candidate: &Candidate<'_>) -> Vec<Kept> {
        let class = self.names.lock_class(candidate.key.lock_class);
        // For how long in all, how often that is known, how often it ended a wait, and where.
        let mut users = BTreeMap::<String, (u64, u64, u64, Vec<ChainIndex>)>::new();
        for (chain, ended) in candidate.cause.chains.iter() {
            if let Some(by) = self.names.caller_of_code(chain, class) {
                let kept = candidate.of_kind.kept.sum(chain);
                let (kept_ns, times, all_times, given_in) = users.entry(by).or_default();
                *kept_ns = kept_ns.saturating_add(kept.duration_ns);
                *times += kept.count;
                *all_times += ended.count;
                given_in.push(chain);
            }
        }
        let known = users.into_iter().filter(|(_, (_, times, ..))| *times > 0);
        let mut users: Vec<_> = known
            .map(|(by, (kept_ns, times, all_times, given_in))| {
                let mean_ns = kept_ns / times;
                let all_ns = mean_ns.saturating_mul(all_times);
                let kept = Kept {
                    by,
                    mean_ns,
                    times,
                    given_in,
                };
                (all_ns, kept)
            })
            .collect();
        users.sort_by_key(|(all_ns, _)| std::cmp::Reverse(*all_ns));
        let listed = users.into_iter().take(LISTED_PLACES);
        listed.map(|(_, user)| user).collect()
    }

    fn is_start_up_only(&self, cause: &Cause) -> bool {
        self.run.start_ns().is_some_and(|start_ns| {
            let at_start_ns = cause.series.until_ns(start_ns);
            let all_ns = cause.series.until_ns(u64::MAX);
            at_start_ns as f64 >= AT_START * all_ns as f64
        })
    }

    /// Returns the waits that it is about: those for its own locks, and those behind a direct owner that waited
    /// for one of them.
    fn selection(&self, candidate: &Candidate<'_>, owner_key: &str) -> WaitSelection {
        let (mut classes, mut owners) = (Vec::new(), Vec::new());
        if candidate.cause.through.total_ns() < candidate.cause.duration_ns.ns() {
            classes.push(self.names.key(candidate.key.lock_class));
            owners.push(owner_key.to_owned());
        }
        for (through, _) in candidate
            .cause
            .through
            .by_time(|it| self.names.key(it.owner))
        {
            classes.push(self.names.key(through.lock_class));
            owners.push(self.names.key(through.owner));
        }
        for keys in [&mut classes, &mut owners] {
            let mut seen = SeededSet::default();
            keys.retain(|key| seen.insert(key.clone()));
        }
        let condition = |aspect: Aspect, keys| selection::Condition {
            aspect: aspect.into(),
            not: false,
            keys,
        };
        WaitSelection {
            kinds: match candidate.kind {
                WaitKind::Contention => Vec::new(),
                kind => vec![Kind(kind)],
            },
            filter: vec![
                condition(Aspect::LockClass, classes),
                condition(Aspect::OwnerMethod, owners),
            ],
            ..WaitSelection::default()
        }
    }

    fn named(&self, value: Value) -> Named {
        Named {
            key: self.names.key(value),
            label: self.names.label(value),
        }
    }
}

/// Returns the places with the most time, with their shares of the whole.
fn listed_places(times_ns: impl Iterator<Item = (String, u64)>, whole_ns: u64) -> Vec<OwnerPlace> {
    let mut places = BTreeMap::<String, u64>::new();
    for (place, duration_ns) in times_ns {
        let sum_ns = places.entry(place).or_default();
        *sum_ns = duration_ns.saturating_add(*sum_ns);
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|&(_, duration_ns)| std::cmp::Reverse(duration_ns));
    let listed = places.into_iter().take(LISTED_PLACES);
    let listed = listed.map(|(place, duration_ns)| OwnerPlace {
        place,
        share: duration_ns as f64 / whole_ns.max(1) as f64,
    });
    listed.collect()
}

/// Returns the share of the time of direct owners in which it is known where they were, 0 to 1.
fn sampled_share(cause: &Cause) -> f64 {
    let through_ns = cause.through.total_ns();
    let direct_ns = cause.duration_ns.ns().saturating_sub(through_ns);
    cause.samples.total_ns() as f64 / direct_ns.max(1) as f64
}

/// Returns whether the code that ended waits for conditions only let go of the lock of one that other code had signaled: it
/// waits for the condition itself, as what borrows from a pool does.
fn only_lets_go_on(of_kind: &KindEvidence, key: &CauseKey, cause: &Cause) -> bool {
    let waits_itself = |key: &CauseKey, cause: &Cause| cause.waiters.contains_key(&key.owner);
    waits_itself(key, cause)
        && of_kind.causes.iter().any(|(other_key, other)| {
            other_key.lock_class == key.lock_class
                && !is_nobody(other_key.owner)
                && !waits_itself(other_key, other)
                && other.duration_ns > cause.duration_ns
                && other.shares_locks_with(cause)
        })
}

/// Returns for how much of the waiting the owner was on a processor, if the bounds say anything.
fn on_processor(cause: &Cause) -> Option<OnProcessor> {
    let scheduling = cause.scheduling;
    let share = |ns| Sum::from(ns).of(cause.duration_ns);
    let bounds = OnProcessor {
        least: share(scheduling.processor_ns),
        most: 1.0 - share(scheduling.not_on_processor_ns),
        run_delay_least: share(scheduling.run_delay_ns),
    };
    (bounds.most - bounds.least <= MAX_UNKNOWN).then_some(bounds)
}

/// Returns whether no thread is known as the owner.
fn is_nobody(owner: Value) -> bool {
    matches!(owner, Value::Free | Value::UnknownOwner(_) | Value::Cycle)
}

/// Returns whether nobody is known to have had the locks of a cause most of the time, each as far as it is one of
/// the cause's.
fn is_mostly_nobodys(of_kind: &KindEvidence, cause: &Cause) -> bool {
    let (mut nobodys_ns, mut all_ns) = (0.0, 0.0);
    for (lock, sum) in cause.locks.iter() {
        let Some(lock) = of_kind.locks.get(&lock) else {
            continue;
        };
        let unowned_ns = lock.unowned_ns(&|owner| owner != Owner::Frozen);
        nobodys_ns += sum.duration_ns as f64 * unowned_ns.of(lock.duration_ns);
        all_ns += sum.duration_ns as f64;
    }
    nobodys_ns >= MOSTLY * all_ns
}

/// Returns the sum of all.
fn total(times: impl Iterator<Item = Sum>) -> Sum {
    times.fold(Sum::default(), |mut sum, time| {
        sum.add_sum(time);
        sum
    })
}

/// Returns the largest cause of waiting for locks of a class of which nobody is the owner, if nobody is known
/// to have had these locks, or all of the class, most of the time.
fn mostly_nobodys(of_kind: &KindEvidence, lock_class: Value) -> Option<(CauseKey, &Cause)> {
    let same = || {
        let causes = of_kind.causes.iter();
        causes.filter(|(key, _)| key.lock_class == lock_class)
    };
    let nobodys = || same().filter(|(key, _)| is_nobody(key.owner));
    let (&largest, cause) = nobodys().max_by_key(|(_, cause)| cause.duration_ns)?;
    let all_ns = total(same().map(|(_, cause)| cause.duration_ns));
    let nobodys_ns = total(nobodys().map(|(_, cause)| cause.duration_ns));
    let is_so = nobodys_ns.of(all_ns) >= MOSTLY || is_mostly_nobodys(of_kind, cause);
    is_so.then_some((largest, cause))
}
