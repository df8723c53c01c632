//! Candidates for findings: code of owners that may be to blame, and the facts about it.

use trace_analysis::{Aspect, Entities, ThreadIndex, UnknownOwner, Value, WaitKind};

use super::facts::Facts;
use super::finding::{Code, Finding, LISTED_WAITERS, Named, WaitingCode};
use super::{confidence, pattern};
use crate::dimension::{Dimension, Label};
use crate::groups::{Group, Groups, Query};
use crate::hash::SeededSet;
use crate::model::Model;
use crate::names::{NamedFrame, NamedValue};
use crate::selection::{Condition, Kind, QuestionError, WaitSelection};
use crate::sum::Sum;

/// The least share of all waiting that is worth a finding.
const MIN_SHARE: f64 = 0.01;
/// The share of a lock's time without a known owner from which on this is a finding itself.
const MOSTLY: f64 = 0.7;
/// The most candidates.
const MAX_CANDIDATES: usize = 12;
/// The pieces of a trace, of which the first ones are its start.
const PIECES: usize = 20;
const START_PIECES: usize = 2;
const AT_START: f64 = 0.9;
/// A shorter trace is all start-up.
const MIN_RUN_NS: u64 = 5_000_000_000;

/// Code that may be to blame.
pub(crate) struct Candidate {
    facts: Facts,
    lock_class: Named,
    owner: Option<Code>,
    waiters: Vec<WaitingCode>,
    group: Group,
    run_ns: u64,
    is_folded: bool,
    kind: WaitKind,
    owner_key: String,
}

/// The answers about one kind of waits, all grouped by lock class and owner's method first.
pub(crate) struct Answers {
    by_waiter: Groups,
    by_owner_chain: Groups,
    by_lock: Groups,
    by_thread: Groups,
    by_waker: Groups,
    kind: WaitKind,
    is_folded: bool,
}

/// The questions for [`Answers`]: the aspects that follow lock class and owner's method, and the number of
/// pieces of time.
const QUESTIONS: [(&[Aspect], usize); 5] = [
    (&[Aspect::Method, Aspect::Chain], PIECES),
    (&[Aspect::OwnerChain], 0),
    (&[Aspect::Lock], 0),
    (&[Aspect::Thread], 0),
    (&[Aspect::OwnerThread], 0),
];

/// Asks the questions about one kind of waits, one after the other.
pub(crate) struct Asking {
    kind: WaitKind,
    selection: WaitSelection,
    answered: Vec<Groups>,
}

/// Returns whether threads waited longer for a condition than for locks.
pub(crate) fn wants_conditional(model: &Model) -> bool {
    let duration_ns = |kind| model.totals(kind).duration_ns;
    duration_ns(WaitKind::Conditional) > duration_ns(WaitKind::Contention)
}

/// Returns all candidates, in no order. `stuck_ns` is the time waited in deadlocks.
pub(crate) fn candidates(
    model: &Model,
    contention: &Answers,
    stuck_ns: Sum,
    conditional: Option<&Answers>,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut total_ns = contention.duration_ns();
    total_ns.add_sum(stuck_ns);
    contention.add_to(&mut candidates, total_ns);
    let contention_ns = model.contention_ns();
    if let Some(conditional) = conditional
        && conditional.duration_ns() > Sum::from(contention_ns)
    {
        conditional.add_to(&mut candidates, conditional.duration_ns());
    }
    candidates
}

/// Returns the keys of call chains of idle workers, which take from a queue in their loop.
fn worker_loops(model: &Model, entities: &Entities) -> Vec<String> {
    let labels = model.tables.labels();
    let keys = labels.filter_map(|label| match label {
        Label::Value(Value::Chain(chain)) if entities.is_worker_loop(chain) => {
            Some(model.tables.key(label, entities))
        }
        _ => None,
    });
    keys.collect()
}

impl Asking {
    pub(crate) fn new(model: &Model, kind: WaitKind, entities: &Entities) -> Self {
        let mut selection = WaitSelection {
            kinds: vec![Kind(kind)],
            ..WaitSelection::default()
        };
        let workers = match kind {
            WaitKind::Conditional => worker_loops(model, entities),
            _ => Vec::new(),
        };
        if !workers.is_empty() {
            selection.filter.push(Condition {
                aspect: Aspect::Chain.into(),
                not: true,
                keys: workers,
            });
        }
        Self {
            kind,
            selection,
            answered: Vec::new(),
        }
    }

    /// Asks the next question. Returns `false` if there are no more. Waits in which `stuck` threads were
    /// when their traces ended do not count.
    pub(crate) fn ask(
        &mut self,
        model: &mut Model,
        stuck: &SeededSet<ThreadIndex>,
        entities: &Entities,
    ) -> Result<bool, QuestionError> {
        let Some(&(aspects, buckets)) = QUESTIONS.get(self.answered.len()) else {
            return Ok(false);
        };
        let first = [Aspect::LockClass, Aspect::OwnerMethod];
        let aspects = first.iter().chain(aspects);
        let query = Query {
            selection: self.selection.clone(),
            by: aspects.map(|&aspect| Dimension::Aspect(aspect)).collect(),
            limit: 1_000,
            buckets,
        };
        self.answered
            .push(model.query_without(&query, stuck, entities)?);
        Ok(true)
    }

    /// Returns the answers; `None` as long as there are questions.
    pub(crate) fn answers(self, model: &Model) -> Option<Answers> {
        let [by_waiter, by_owner_chain, by_lock, by_thread, by_waker] =
            <[Groups; QUESTIONS.len()]>::try_from(self.answered).ok()?;
        Some(Answers {
            by_waiter,
            by_owner_chain,
            by_lock,
            by_thread,
            by_waker,
            kind: self.kind,
            is_folded: model.folding().is_some(),
        })
    }
}

impl Answers {
    /// Returns how long threads waited while the process ran.
    pub(crate) fn duration_ns(&self) -> Sum {
        let owners = self.by_waiter.groups.iter();
        let frozen = owners.filter(|group| group.path.len() == 2 && self.is_frozen(group));
        let all_ns = self.by_waiter.groups[0].duration_ns;
        all_ns.without(sum(frozen))
    }

    /// Returns how long threads waited for these locks while the process ran.
    fn lock_ns(&self, lock: &Group) -> Sum {
        let owners = children(&self.by_waiter, lock);
        let frozen = owners.filter(|owner| self.is_frozen(owner));
        lock.duration_ns.without(sum(frozen))
    }

    fn is_frozen(&self, owner: &Group) -> bool {
        value(&self.by_waiter, owner).key == FROZEN
    }

    /// Adds the candidates. `total_ns` is the whole of all shares.
    fn add_to(&self, candidates: &mut Vec<Candidate>, total_ns: Sum) {
        let groups = &self.by_waiter.groups;
        let locks = groups.iter().filter(|group| group.path.len() == 1);
        let mut found = Vec::new();
        for lock in locks {
            let owners = children(&self.by_waiter, lock);
            let owners: Vec<&Group> = owners.filter(|owner| !self.is_frozen(owner)).collect();
            let nobody_ns = sum(owners.iter().copied().filter(|owner| self.is_nobody(owner)));
            let is_nobodys =
                nobody_ns > Sum::default() && nobody_ns.of(self.lock_ns(lock)) >= MOSTLY;
            if is_nobodys {
                let largest = owners.iter().copied().filter(|owner| self.is_nobody(owner));
                found.extend(
                    largest
                        .max_by_key(|owner| owner.duration_ns)
                        .map(|owner| (lock, owner)),
                );
            }
            let known = owners
                .iter()
                .copied()
                .filter(|owner| !self.is_nobody(owner));
            found.extend(known.map(|owner| (lock, owner)));
        }
        found.retain(|(_, owner)| {
            total_ns > Sum::default() && owner.duration_ns.of(total_ns) >= MIN_SHARE
        });
        found.sort_by_key(|(_, owner)| std::cmp::Reverse(owner.duration_ns));
        let found = found.into_iter().take(MAX_CANDIDATES);
        candidates.extend(found.map(|(lock, owner)| self.candidate(lock, owner, total_ns)));
    }

    fn is_nobody(&self, owner: &Group) -> bool {
        let key = &value(&self.by_waiter, owner).key;
        is_unknown(key) || key == FREE
    }

    fn candidate(&self, lock: &Group, owner: &Group, total_ns: Sum) -> Candidate {
        let lock_value = value(&self.by_waiter, lock);
        let owner_value = value(&self.by_waiter, owner);
        let has_key = |group: &&Group, wanted: &dyn Fn(&str) -> bool| {
            wanted(&value(&self.by_waiter, group).key)
        };
        let of_lock = |wanted: &dyn Fn(&str) -> bool| {
            sum(children(&self.by_waiter, lock).filter(|group| has_key(group, wanted)))
        };
        let waiters = by_time(children(&self.by_waiter, owner));
        let in_wait = |group: &&Group| has_key(group, &|key| key.starts_with(IN_WAIT));
        let locks = by_time(self.same(&self.by_lock, lock_value, owner_value));
        let threads = self.keys(&self.by_thread, lock_value, owner_value);
        let wakers = self.all_keys(&self.by_waker, lock_value);
        let is_known = !self.is_nobody(owner);
        Candidate {
            facts: Facts {
                lock_class: lock_value.label.clone(),
                owner: match is_known {
                    true if owner_value.key == NOT_RELEASED => {
                        "A thread that had not released it at the end of the trace".to_owned()
                    }
                    true => owner_value.label.clone(),
                    false => String::new(),
                },
                is_conditional: self.kind == WaitKind::Conditional,
                parks_directly: waiters
                    .first()
                    .is_some_and(|waiter| parks_directly(&self.by_waiter, waiter)),
                is_initialization: lock_value.label.starts_with(INITIALIZATION),
                duration_ns: owner.duration_ns,
                waits: owner.waits,
                contentions: owner.contentions,
                share: owner.duration_ns.of(total_ns),
                lock_ns: self.lock_ns(lock),
                free_ns: of_lock(&|key| key == FREE),
                unknown_ns: of_lock(&is_unknown),
                readers_ns: of_lock(&|key| key == READERS),
                hand_off_ns: of_lock(&|key| key == HAND_OFF),
                after_wait_ns: sum(waiters.iter().copied().filter(in_wait)),
                locks: locks.len() as u64,
                largest_lock_ns: locks
                    .first()
                    .map_or(Sum::default(), |lock| lock.duration_ns),
                waiter_sites: waiters.len() as u64,
                waking_waiters: threads.iter().filter(|key| wakers.contains(key)).count() as u64,
                threads: owner.threads,
            },
            lock_class: Named {
                key: lock_value.key.clone(),
                label: lock_value.label.clone(),
            },
            owner: is_known.then(|| {
                let chains = by_time(self.same(&self.by_owner_chain, lock_value, owner_value));
                code(owner_value, &self.by_owner_chain, chains.first().copied())
            }),
            waiters: waiters
                .iter()
                .take(LISTED_WAITERS)
                .map(|&waiter| {
                    let chains = by_time(children(&self.by_waiter, waiter));
                    let chain = chains.first().copied();
                    WaitingCode {
                        code: code(value(&self.by_waiter, waiter), &self.by_waiter, chain),
                        duration_ns: waiter.duration_ns,
                        waits: waiter.waits,
                    }
                })
                .collect(),
            group: owner.clone(),
            run_ns: self.by_waiter.time_ns,
            is_folded: self.is_folded,
            kind: self.kind,
            owner_key: owner_value.key.clone(),
        }
    }

    /// Returns the innermost groups of another answer with the same lock class and owner.
    fn same<'g>(
        &self,
        groups: &'g Groups,
        lock: &NamedValue,
        owner: &NamedValue,
    ) -> impl Iterator<Item = &'g Group> {
        let (lock, owner) = (lock.key.clone(), owner.key.clone());
        groups.groups.iter().filter(move |group| {
            let key = |depth: usize| &groups.names.values[group.path[depth] as usize].key;
            group.path.len() == 3 && *key(0) == lock && *key(1) == owner
        })
    }

    fn keys<'g>(&self, groups: &'g Groups, lock: &NamedValue, owner: &NamedValue) -> Vec<&'g str> {
        let same = self.same(groups, lock, owner);
        same.map(|group| value(groups, group).key.as_str())
            .collect()
    }

    /// Returns the keys of the innermost groups with a lock class.
    fn all_keys<'g>(&self, groups: &'g Groups, lock: &NamedValue) -> Vec<&'g str> {
        let found = groups.groups.iter().filter(|group| {
            group.path.len() == 3 && groups.names.values[group.path[0] as usize].key == lock.key
        });
        found
            .map(|group| value(groups, group).key.as_str())
            .collect()
    }
}

// Keys of values, and prefixes of keys and labels.
const FREE: &str = "<free>";
const FROZEN: &str = "<frozen>";
const NOT_RELEASED: &str = "<code unknown: lock not released>";
const HAND_OFF: &str = "<handoff>";
const READERS: &str = "<readers>";
const IN_WAIT: &str = "java.lang.Object.wait ← ";
const LOCK_SUPPORT: &str = "java.util.concurrent.locks.LockSupport";
const CONCURRENT: &str = "java.util.concurrent.";
const INITIALIZATION: &str = "initialization of class ";

fn is_unknown(key: &str) -> bool {
    let name = key.strip_prefix('<').and_then(|key| key.strip_suffix('>'));
    name.is_some_and(|name| UnknownOwner::ALL.iter().any(|reason| reason.name() == name))
}

/// Returns the groups directly in `parent`.
fn children<'g>(groups: &'g Groups, parent: &'g Group) -> impl Iterator<Item = &'g Group> {
    groups.groups.iter().filter(|group| {
        group.path.len() == parent.path.len() + 1 && group.path.starts_with(&parent.path)
    })
}

fn by_time<'g>(groups: impl Iterator<Item = &'g Group>) -> Vec<&'g Group> {
    let mut groups: Vec<_> = groups.collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.duration_ns));
    groups
}

fn sum<'g>(groups: impl Iterator<Item = &'g Group>) -> Sum {
    let mut sum = Sum::default();
    for group in groups {
        sum.add_sum(group.duration_ns);
    }
    sum
}

/// Returns the innermost value of a group.
fn value<'g>(groups: &'g Groups, group: &Group) -> &'g NamedValue {
    let last = group.path.last().expect("not the root");
    &groups.names.values[*last as usize]
}

/// Returns whether a method that waited calls `park` itself: its chain with the most time has no frames of
/// `java.util.concurrent` in between.
fn parks_directly(groups: &Groups, waiter: &Group) -> bool {
    let chains = by_time(children(groups, waiter));
    let chain = chains
        .first()
        .and_then(|group| value(groups, group).chain.as_ref());
    let inner = chain.and_then(|chain| chain.frames.get(..chain.first as usize));
    let is_own = |&frame: &u32| {
        let class = groups.names.frames[frame as usize].class.as_str();
        class == LOCK_SUPPORT || !class.starts_with(CONCURRENT)
    };
    inner.is_some_and(|inner| !inner.is_empty() && inner.iter().all(is_own))
}

/// Returns a method, and its place in the chain of a group.
fn code(method: &NamedValue, groups: &Groups, chain: Option<&Group>) -> Code {
    let chain = chain.and_then(|group| value(groups, group).chain.as_ref());
    let frames = chain.and_then(|chain| chain.frames.get(chain.first as usize..));
    let mut frames = frames
        .unwrap_or_default()
        .iter()
        .map(|&frame| &groups.names.frames[frame as usize]);
    let own = frames.next();
    let caller = own
        .filter(|own| own.jdk)
        .and_then(|_| frames.find(|frame| !frame.jdk));
    let text = |frame: Option<&NamedFrame>| frame.map_or(String::new(), NamedFrame::in_stack_trace);
    Code {
        key: method.key.clone(),
        label: method.label.clone(),
        frame: text(own),
        called_from: text(caller),
    }
}

impl Candidate {
    pub(crate) fn finding(&self) -> Finding {
        let (facts, group) = (&self.facts, &self.group);
        let pattern = pattern::of(facts);
        let keys = |aspect: Aspect, key: &str| Condition {
            aspect: aspect.into(),
            not: false,
            keys: vec![key.to_owned()],
        };
        let is_contention = self.kind == WaitKind::Contention;
        Finding {
            id: format!(
                "{}:{}:{}",
                pattern.name(),
                self.lock_class.key,
                self.owner_key
            ),
            pattern: pattern.name(),
            title: pattern.sentence(facts),
            remedy: pattern.remedy(),
            lock_class: self.lock_class.clone(),
            owner: self.owner.clone(),
            waiters: self.waiters.clone(),
            waiter_sites: facts.waiter_sites,
            duration_ns: group.duration_ns,
            share: facts.share,
            wall_ns: group.wall_ns,
            wall_exact: false,
            wall_share: group.wall_ns as f64 / self.run_ns.max(1) as f64,
            waits: group.waits,
            p50_ns: group.p50_ns,
            p99_ns: group.p99_ns,
            max_ns: group.max_ns,
            mean_waiters: group.duration_ns.ns() as f64 / group.wall_ns.max(1) as f64,
            threads: group.threads,
            locks: facts.locks,
            confidence: confidence::of(facts, group.safepoint_ns, self.is_folded),
            start_up_only: self.is_start_up_only(),
            saving: None,
            selection: WaitSelection {
                kinds: if is_contention {
                    Vec::new()
                } else {
                    vec![Kind(self.kind)]
                },
                filter: vec![
                    keys(Aspect::LockClass, &self.lock_class.key),
                    keys(Aspect::OwnerMethod, &self.owner_key),
                ],
                ..WaitSelection::default()
            },
        }
    }

    fn is_start_up_only(&self) -> bool {
        let mut at_start_ns = Sum::default();
        for &piece_ns in self.group.series.iter().take(START_PIECES) {
            at_start_ns.add_sum(piece_ns);
        }
        self.run_ns >= MIN_RUN_NS && at_start_ns.of(self.group.duration_ns) >= AT_START
    }
}
