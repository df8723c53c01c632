//! A selection is what is left if one looks at all contentions and takes those that it
//! selects; sums over some waits and over the others are, merged, the sums over all.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{
    Aggregation, Analysis, Aspect, Chain, ChainIndex, Condition, Contention, Detail, Entities,
    Limits, Lock, LockIndex, Mechanism, Owner, Pattern, RowLimits, Selection, ThreadIndex,
    TimeRange, TraceFile, Wait, WaitId, WaitKind,
};

/// What is left of a wait: its kind, and what each owner had, with its time if contentions
/// are listed.
type Left = (&'static str, u64, BTreeMap<String, (u64, u64)>);

/// The waits with the names that conditions are about.
#[derive(Default)]
struct Named {
    waits: BTreeMap<WaitId, NamedWait>,
}

struct NamedWait {
    kind: WaitKind,
    names: [Names; OF_WAIT.len()],
    parts: Vec<(Contention, [Names; 2])>,
}

/// What a pattern may match.
#[derive(Clone)]
struct Names {
    label: String,
    key: String,
}

impl Names {
    fn new(label: impl Into<String>, key: impl Into<String>) -> Self {
        let (label, key) = (label.into(), key.into());
        Self { label, key }
    }

    /// What is called the same everywhere.
    fn only(label: impl Into<String>) -> Self {
        let label = label.into();
        Self::new(label.clone(), label)
    }

    fn of_thread(thread: ThreadIndex, entities: &Entities) -> Self {
        let thread = entities.thread(thread);
        let key = match thread.ordinal {
            0 => format!("{}:{}", thread.java_id, thread.name),
            ordinal => format!("{}:{}:{ordinal}", thread.java_id, thread.name),
        };
        Self::new(&*thread.name, key)
    }

    /// What a lock is called without its identity hash.
    fn of_lock_class(lock: LockIndex, entities: &Entities) -> Self {
        let label = entities.lock_name(lock);
        match entities.lock(lock) {
            Lock::Object { .. } => {
                let (class, _) = label.rsplit_once('@').expect("a hash");
                Self::only(class)
            }
            Lock::NotDescribed { .. } | Lock::NoBlocker | Lock::Forgotten => {
                Self::new(label, entities.lock_id(lock))
            }
        }
    }

    /// Class and name of the method in which the program stands, or why it is not known.
    fn of_method(chain: ChainIndex, lock: LockIndex, entities: &Entities) -> Self {
        let Some(position) = entities.code(chain, entities.lock_class(lock)) else {
            return Self::only(match entities.chain(chain) {
                Chain::NotRecorded => "<call chain not recorded>".to_owned(),
                Chain::Unresolved => "<call chain still to come when the trace ended>".to_owned(),
                Chain::NotReleased => "<code unknown: lock not released>".to_owned(),
                Chain::NotDescribed(chain) => format!("<call chain #{chain} not described>"),
                Chain::NotKept => "<other call chains>".to_owned(),
                Chain::Known { .. } => unreachable!("it has no frames"),
            });
        };
        let frames = entities.chain(chain).frames();
        let method = frames[position].method;
        let label = entities.method_label(method);
        let key = format!("{label}{}", entities.method(method).signature);
        if position > 0 && *entities.method(frames[0].method).name == *"wait" {
            return Self::new(
                format!("Object.wait ← {label}"),
                format!("java.lang.Object.wait ← {key}"),
            );
        }
        Self::new(label, key)
    }

    fn match_pattern(&self, pattern: &Pattern) -> bool {
        pattern.matches(&self.label) || pattern.matches(&self.key)
    }
}

/// The aspects of [`NamedWait::names`].
const OF_WAIT: [Aspect; 5] = [
    Aspect::Thread,
    Aspect::LockClass,
    Aspect::Lock,
    Aspect::Method,
    Aspect::Mechanism,
];
/// The aspects of the names of a part.
const OF_OWNER: [Aspect; 2] = [Aspect::OwnerThread, Aspect::OwnerMethod];

impl Named {
    fn add(&mut self, wait: &Wait, entities: &Entities) {
        let parts = wait.contentions.iter().map(|contention| {
            let names = match contention.owner {
                Owner::Thread { thread, chain } => [
                    Names::of_thread(thread, entities),
                    Names::of_method(chain, wait.lock, entities),
                ],
                Owner::Free => [(); 2].map(|()| Names::new("<lock was free>", "<free>")),
                Owner::Frozen => [(); 2].map(|()| Names::new("<process did not run>", "<frozen>")),
                Owner::Unknown(reason) => [(); 2].map(|()| {
                    let label = format!("<owner unknown: {}>", reason.label());
                    Names::new(label, format!("<{}>", reason.name()))
                }),
            };
            (*contention, names)
        });
        let mechanism = match wait.mechanism {
            Mechanism::Monitor => "intrinsic locks",
            Mechanism::Park => "java.util.concurrent",
        };
        let named = NamedWait {
            kind: wait.kind,
            names: [
                Names::of_thread(wait.thread, entities),
                Names::of_lock_class(wait.lock, entities),
                Names::new(entities.lock_name(wait.lock), entities.lock_id(wait.lock)),
                Names::of_method(wait.chain, wait.lock, entities),
                Names::new(mechanism, wait.mechanism.name()),
            ],
            parts: parts.collect(),
        };
        let known = self.waits.insert(wait.id, named);
        assert!(known.is_none(), "two waits of one identifier");
    }
}

/// Numbers without a pattern, the same ones for the same trace.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

/// A pattern of any form that matches `name`, and perhaps others.
fn pattern(name: &str, choices: &mut Choices) -> Pattern {
    let half: String = name.chars().take(name.chars().count() / 2).collect();
    let last = name.chars().next_back().unwrap_or('x');
    match choices.below(4) {
        0 => Pattern::exact(name),
        1 => format!("{half}*").parse().expect("a prefix"),
        2 => format!("?*{last}").parse().expect("a glob"),
        _ => format!("/{last}$/")
            .replace('>', r"\x3e")
            .parse()
            .expect("a regex"),
    }
}

fn analyze(
    path: &Path,
    limits: Limits,
    detail: Detail,
    selection: Selection,
    mut sink: impl FnMut(&Wait, &Entities),
) {
    let mut analysis = Analysis::new(limits)
        .with_detail(detail)
        .with_selection(selection);
    TraceFile::open(path)
        .expect("a trace")
        .analyze(
            &mut analysis,
            &mut |wait: &Wait, entities: &Entities| sink(wait, entities),
            |_| ControlFlow::Continue(()),
        )
        .expect("readable");
}

/// Checks a selection in `range`, which `choice` chooses among many.
pub(crate) fn assert_selected(
    path: &Path,
    limits: Limits,
    range: TimeRange,
    choice: usize,
) -> Result<(), TestCaseError> {
    let mut all = Named::default();
    let in_range = Selection::default().in_range(range);
    let mut sums =
        [(); 3].map(|()| Aggregation::new([Aspect::Lock, Aspect::OwnerThread, Aspect::Thread]));
    let mut rows = Vec::new();
    {
        let mut entities_of = None;
        analyze(
            path,
            limits,
            Detail::CONTENTIONS,
            in_range,
            |wait, entities| {
                all.add(wait, entities);
                sums[0].add(wait, entities);
                sums[1 + (wait.id.number % 2) as usize].add(wait, entities);
                entities_of = Some(entities.clone());
            },
        );
        let [whole, mut odd, even] = sums;
        odd.merge(&even);
        prop_assert_eq!(odd.totals(), whole.totals());
        if let Some(entities) = entities_of {
            for sum in [odd, whole] {
                rows.push(format!("{:?}", sum.rows(RowLimits::default(), &entities)));
            }
            prop_assert_eq!(&rows[0], &rows[1]);
        }
    }
    let Some(pivot) = all.waits.values().nth(choice % all.waits.len().max(1)) else {
        return Ok(());
    };
    let named: Vec<_> = all.waits.values().collect();
    let mut choices = Choices(choice as u64 + all.waits.len() as u64);
    // Names of the wait or of others, so that most of the time something is left.
    let mut condition = |aspect, names: &dyn Fn(&NamedWait) -> Names| Condition {
        aspect,
        patterns: (0..=choices.below(2))
            .map(|turn| {
                let other = choices.below(named.len());
                let wait = if turn == 0 { pivot } else { named[other] };
                pattern(&names(wait).label, &mut choices)
            })
            .collect(),
        is_negated: choices.below(4) == 0,
    };
    let is_wanted = |choices: usize, aspect: usize| choices >> aspect & 1 == 1;
    let mut of_wait = Vec::new();
    let mut of_owner = Vec::new();
    for (index, aspect) in OF_WAIT.into_iter().enumerate() {
        if is_wanted(choice / 3, index) {
            of_wait.push((index, condition(aspect, &|wait| wait.names[index].clone())));
        }
    }
    for (index, aspect) in OF_OWNER.into_iter().enumerate() {
        if is_wanted(choice / 7, index) {
            let names = |wait: &NamedWait| wait.parts[choice % wait.parts.len()].1[index].clone();
            of_owner.push((index, condition(aspect, &names)));
        }
    }
    let all_hold = |conditions: &[(usize, Condition)], names: &[Names]| {
        conditions.iter().all(|(index, condition)| {
            let mut patterns = condition.patterns.iter();
            patterns.any(|pattern| names[*index].match_pattern(pattern)) != condition.is_negated
        })
    };
    let kinds = match choice % 3 {
        0 => vec![pivot.kind],
        _ => vec![pivot.kind, named[choice / 2 % named.len()].kind],
    };
    let expected = all.waits.iter().filter_map(|(id, wait)| {
        let mut left = BTreeMap::new();
        let parts = wait.parts.iter();
        for (part, _) in parts.filter(|(_, names)| all_hold(&of_owner, names)) {
            let owner: &mut (u64, u64) = left.entry(format!("{:?}", part.owner)).or_default();
            owner.0 += part.duration_ns;
            owner.1 += 1;
        }
        let is_selected =
            kinds.contains(&wait.kind) && all_hold(&of_wait, &wait.names) && !left.is_empty();
        let duration_ns = left.values().map(|&(duration_ns, _)| duration_ns).sum();
        is_selected.then_some((*id, (wait.kind.name(), duration_ns, left)))
    });
    let expected: BTreeMap<WaitId, Left> = expected.collect();
    let conditions = of_wait.iter().chain(&of_owner);
    let conditions: Vec<_> = conditions.map(|(_, condition)| condition).collect();
    let selection = conditions
        .iter()
        .map(|&condition| condition.clone())
        .fold(Selection::default(), Selection::with)
        .in_range(range)
        .of_kinds(kinds.clone());
    for detail in [Detail::OWNERS, Detail::CONTENTIONS] {
        let mut found: BTreeMap<WaitId, Left> = BTreeMap::new();
        analyze(path, limits, detail, selection.clone(), |wait, _| {
            let mut left: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for blame in &wait.blame {
                let owner = left.entry(format!("{:?}", blame.owner)).or_default();
                owner.0 += blame.duration_ns;
                owner.1 += blame.contentions;
            }
            found.insert(wait.id, (wait.kind.name(), wait.duration_ns, left));
        });
        prop_assert_eq!(
            &found,
            &expected,
            "{:?} {:?} {:?}",
            detail,
            kinds,
            conditions
        );
    }
    Ok(())
}
