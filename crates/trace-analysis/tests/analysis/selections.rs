//! A selection is what is left if one looks at all contentions and takes those that it
//! selects; sums over some waits and over the others are, merged, the sums over all.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{
    Aggregation, Analysis, Aspect, Chain, ChainIndex, Condition, Contention, Detail, Entities,
    Limits, LockIndex, Mechanism, Owner, PLACEHOLDERS, Pattern, RowLimits, Selection, ThreadIndex,
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
    names: [Names; 4],
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

    /// Class and name of the method in which the program stands, or why it is not known.
    fn of_method(chain: ChainIndex, lock: LockIndex, entities: &Entities) -> Self {
        let Some(position) = entities.code(chain, entities.lock_class(lock)) else {
            return Self::only(match entities.chain(chain) {
                Chain::NotRecorded => PLACEHOLDERS[3].0.to_owned(),
                Chain::Unresolved => PLACEHOLDERS[4].0.to_owned(),
                Chain::NotReleased => "<code unknown: lock not released>".to_owned(),
                Chain::NotDescribed(chain) => format!("<call chain #{chain} not described>"),
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
const OF_WAIT: [Aspect; 4] = [
    Aspect::Thread,
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
                Names::new(entities.lock_label(wait.lock), entities.lock_id(wait.lock)),
                Names::of_method(wait.chain, wait.lock, entities),
                Names::new(mechanism, wait.mechanism.name()),
            ],
            parts: parts.collect(),
        };
        let known = self.waits.insert(wait.id, named);
        assert!(known.is_none(), "two waits of one identifier");
    }
}

/// Patterns of each form that match `name`, and perhaps others.
fn patterns(name: &str, choice: usize) -> Pattern {
    let half: String = name.chars().take(name.chars().count() / 2).collect();
    let last = name.chars().next_back().unwrap_or('x');
    match choice % 4 {
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
            Detail::Contentions,
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
    let of_wait = choice / 2 % OF_WAIT.len();
    let of_owner = choice / 3 % OF_OWNER.len();
    let condition = |aspect, name: &str, choice: usize| Condition {
        aspect,
        patterns: vec![patterns(name, choice)],
        is_negated: choice.is_multiple_of(3),
    };
    let part = &pivot.parts[choice % pivot.parts.len()];
    let conditions = [
        condition(OF_WAIT[of_wait], &pivot.names[of_wait].label, choice),
        condition(OF_OWNER[of_owner], &part.1[of_owner].label, choice / 5),
    ];
    let matches = |condition: &Condition, names: &Names| {
        names.match_pattern(&condition.patterns[0]) != condition.is_negated
    };
    let kinds = [pivot.kind];
    let expected = all.waits.iter().filter_map(|(id, wait)| {
        let mut left = BTreeMap::new();
        let parts = wait.parts.iter();
        let parts = parts.filter(|(_, names)| matches(&conditions[1], &names[of_owner]));
        for (part, _) in parts {
            let owner: &mut (u64, u64) = left.entry(format!("{:?}", part.owner)).or_default();
            owner.0 += part.duration_ns;
            owner.1 += 1;
        }
        let is_selected = wait.kind == pivot.kind
            && matches(&conditions[0], &wait.names[of_wait])
            && !left.is_empty();
        let duration_ns = left.values().map(|&(duration_ns, _)| duration_ns).sum();
        is_selected.then_some((*id, (wait.kind.name(), duration_ns, left)))
    });
    let expected: BTreeMap<WaitId, Left> = expected.collect();
    let selection = conditions
        .iter()
        .cloned()
        .fold(Selection::default(), Selection::with)
        .in_range(range)
        .of_kinds(kinds);
    for detail in [Detail::Owners, Detail::Contentions] {
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
        prop_assert_eq!(&found, &expected, "{:?} {:?}", detail, conditions);
    }
    Ok(())
}
