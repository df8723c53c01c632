//! Which waits are considered, and which parts of them.

use std::borrow::Cow;

use crate::aggregate::aspect::Aspect;
use crate::aggregate::method_table::MethodTable;
use crate::aggregate::pattern::Pattern;
use crate::aggregate::value::Value;
use crate::collections::hash::SeededMap;
use crate::model::detail::Detail;
use crate::model::entity::Entities;
use crate::model::time_range::TimeRange;
use crate::model::wait::{Blame, Contention, Owner, Wait, WaitKind};

/// What is considered of the waits of a trace: at first everything.
///
/// All conditions have to hold. A wait that a time range cuts counts with its part inside.
/// A condition on an aspect of owners selects the parts of a wait that those owners had,
/// any other one whole waits.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    range: TimeRange,
    /// All if there are none.
    kinds: Vec<WaitKind>,
    conditions: Vec<Condition>,
    /// Packages and classes that are no callers.
    libraries: Vec<String>,
}

/// What something is called under an aspect.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The aspect.
    pub aspect: Aspect,
    /// One of these has to match the value's label or its [key](crate::Value::key).
    pub patterns: Vec<Pattern>,
    /// None of them may match.
    pub is_negated: bool,
}

impl Selection {
    /// Considers only what happens in this time.
    #[must_use]
    pub fn in_range(self, range: TimeRange) -> Self {
        Self { range, ..self }
    }

    /// Considers only waits of these kinds.
    #[must_use]
    pub fn of_kinds(self, kinds: impl Into<Vec<WaitKind>>) -> Self {
        let kinds = kinds.into();
        Self { kinds, ..self }
    }

    /// Considers only what `condition` selects, too.
    #[must_use]
    pub fn with(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Classes and packages called as one of `libraries`, with all in them, are no callers
    /// ([`Aspect::Caller`], [`Aspect::OwnerCaller`]); the JDK never is.
    #[must_use]
    pub fn with_libraries(self, libraries: Vec<String>) -> Self {
        Self { libraries, ..self }
    }

    /// Returns the time considered.
    pub fn range(&self) -> TimeRange {
        self.range
    }

    /// Whether waits of this kind may be selected.
    pub(crate) fn may_select(&self, kind: WaitKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether something is selected by what it is called, which may change.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Returns how much an analysis has to find out for the conditions.
    pub fn detail(&self) -> Detail {
        let details = self
            .conditions
            .iter()
            .map(|condition| match condition.aspect {
                aspect if aspect.is_of_sample() => Detail::CONTENTIONS.with_samples(),
                aspect if aspect.is_of_root() => Detail::CONTENTIONS.with_roots(),
                Aspect::OwnerThread => Detail::OWNERS,
                _ => Detail::CODE,
            });
        details.fold(Detail::CODE, Detail::and)
    }
}

/// Applies a selection, all of it but the range.
#[derive(Debug)]
pub struct Selector {
    kinds: Vec<WaitKind>,
    of_waits: Vec<Matcher>,
    of_owners: Vec<Matcher>,
    of_roots: Vec<Matcher>,
    methods: MethodTable,
}

/// A condition and what it has been asked.
#[derive(Debug)]
struct Matcher {
    condition: Condition,
    known: SeededMap<Value, bool>,
}

impl Matcher {
    /// The answer is of the names as they are when it is asked for first.
    fn holds(&mut self, value: Value, entities: &Entities) -> bool {
        let Condition {
            patterns,
            is_negated,
            ..
        } = &self.condition;
        *self
            .known
            .entry(value)
            .or_insert_with(|| value.is_called(patterns, entities) != *is_negated)
    }
}

impl Selector {
    /// Applies `selection`, but for its range.
    pub fn new(selection: &Selection) -> Self {
        let matchers = selection.conditions.iter().map(|condition| Matcher {
            condition: condition.clone(),
            known: SeededMap::default(),
        });
        let (of_owners, of_waits): (Vec<_>, Vec<_>) =
            matchers.partition(|matcher| matcher.condition.aspect.is_of_owner());
        let (of_roots, of_owners) = of_owners
            .into_iter()
            .partition(|matcher| matcher.condition.aspect.is_of_root());
        Self {
            kinds: selection.kinds.clone(),
            of_waits,
            of_owners,
            of_roots,
            methods: MethodTable::new(selection.libraries.clone()),
        }
    }

    /// Returns what is selected of `wait`; `None` if that is nothing.
    pub fn selected<'w>(&mut self, wait: &'w Wait, entities: &Entities) -> Option<Cow<'w, Wait>> {
        let is_of_kind = self.kinds.is_empty() || self.kinds.contains(&wait.kind);
        if is_of_kind && self.of_waits.is_empty() && self.of_owners.is_empty() {
            return Some(Cow::Borrowed(wait));
        }
        let mut part = is_of_kind.then(|| wait.clone())?;
        self.select_named(&mut part, entities)
            .then_some(Cow::Owned(part))
    }

    /// Leaves of `wait` what is selected; `false` if that is nothing.
    #[inline]
    pub(crate) fn select(&mut self, wait: &mut Wait, entities: &Entities) -> bool {
        if !self.kinds.is_empty() && !self.kinds.contains(&wait.kind) {
            return false;
        }
        if self.of_waits.is_empty() && self.of_owners.is_empty() && self.of_roots.is_empty() {
            return true;
        }
        self.select_named(wait, entities) && self.select_roots(wait, entities)
    }

    /// Leaves the parts of `wait` whose root owners are selected; `false` if there are none.
    fn select_roots(&mut self, wait: &mut Wait, entities: &Entities) -> bool {
        let Self {
            of_roots, methods, ..
        } = self;
        if of_roots.is_empty() {
            return true;
        }
        wait.roots.retain(|part| {
            of_roots.iter_mut().all(|matcher| {
                let aspect = matcher.condition.aspect;
                let value = aspect.root_value(part, entities, methods);
                matcher.holds(value, entities)
            })
        });
        let parts = wait.roots.iter().map(|part| Contention {
            start_ns: part.start_ns,
            duration_ns: part.duration_ns,
            owner: part.owner,
        });
        wait.contentions = parts.collect();
        let mut sums: SeededMap<Owner, Blame> = SeededMap::default();
        for part in &wait.contentions {
            let blame = sums.entry(part.owner).or_insert(Blame {
                owner: part.owner,
                duration_ns: 0,
                contentions: 0,
            });
            blame.duration_ns = blame.duration_ns.saturating_add(part.duration_ns);
            blame.contentions += 1;
        }
        wait.blame = sums.into_values().collect();
        let durations = wait.blame.iter().map(|blame| blame.duration_ns);
        wait.duration_ns = durations.fold(0, u64::saturating_add);
        !wait.blame.is_empty()
    }

    fn select_named(&mut self, wait: &mut Wait, entities: &Entities) -> bool {
        let Self {
            of_waits,
            of_owners,
            methods,
            ..
        } = self;
        let mut holds = |matcher: &mut Matcher, wait: &Wait, owner| {
            let aspect = matcher.condition.aspect;
            let value = aspect.value(wait, owner, entities, methods);
            matcher.holds(value, entities)
        };
        let Some(first) = wait.blame.first().map(|blame| blame.owner) else {
            return false;
        };
        if !of_waits
            .iter_mut()
            .all(|matcher| holds(matcher, wait, first))
        {
            return false;
        }
        if of_owners.is_empty() {
            return true;
        }
        let (mut blame, mut contentions) = (
            std::mem::take(&mut wait.blame),
            std::mem::take(&mut wait.contentions),
        );
        let mut roots = std::mem::take(&mut wait.roots);
        let mut is_selected = |owner| {
            of_owners
                .iter_mut()
                .all(|matcher| holds(matcher, wait, owner))
        };
        blame.retain(|blame| is_selected(blame.owner));
        contentions.retain(|contention| is_selected(contention.owner));
        roots.retain(|part| is_selected(part.owner));
        (wait.blame, wait.contentions, wait.roots) = (blame, contentions, roots);
        let durations = wait.blame.iter().map(|blame| blame.duration_ns);
        wait.duration_ns = durations.fold(0, u64::saturating_add);
        !wait.blame.is_empty()
    }
}
