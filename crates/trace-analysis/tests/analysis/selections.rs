//! A selection is what is left if one looks at all contentions and takes those that it
//! selects; sums over some waits and over the others are, merged, the sums over all.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{
    Aggregation, Analysis, Aspect, Chain, ChainIndex, Condition, Contention, Detail, Entities,
    Limits, LockIndex, Owner, PLACEHOLDERS, Pattern, RowLimits, Selection, TimeRange, TraceFile,
    Wait, WaitId, WaitKind,
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
    names: [String; 4],
    parts: Vec<(Contention, [String; 2])>,
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
        let thread = |thread| entities.thread(thread).name.to_string();
        let parts = wait.contentions.iter().map(|contention| {
            let names = match contention.owner {
                Owner::Thread {
                    thread: owner,
                    chain,
                } => [thread(owner), method(chain, wait.lock, entities)],
                Owner::Free => ["<lock was free>".to_owned(), "<lock was free>".to_owned()],
                Owner::Unknown(reason) => {
                    let text = format!("<owner unknown: {}>", reason.label());
                    [text.clone(), text]
                }
            };
            (*contention, names)
        });
        let mechanism = match wait.mechanism {
            trace_analysis::Mechanism::Monitor => "intrinsic locks",
            trace_analysis::Mechanism::Park => "java.util.concurrent",
        };
        let wait = (
            wait.id,
            NamedWait {
                kind: wait.kind,
                names: [
                    thread(wait.thread),
                    entities.lock_label(wait.lock),
                    method(wait.chain, wait.lock, entities),
                    mechanism.to_owned(),
                ],
                parts: parts.collect(),
            },
        );
        let known = self.waits.insert(wait.0, wait.1);
        assert!(known.is_none(), "two waits of one identifier");
    }
}

/// Class and name of the method in which the program stands, or why it is not known.
fn method(chain: ChainIndex, lock: LockIndex, entities: &Entities) -> String {
    match entities.code(chain, entities.lock_class(lock)) {
        Some(position) => {
            let frames = entities.chain(chain).frames();
            let waits = |name: &str| position > 0 && name == "wait";
            let label = entities.method_label(frames[position].method);
            if waits(&entities.method(frames[0].method).name) {
                format!("Object.wait ← {label}")
            } else {
                label
            }
        }
        None => match entities.chain(chain) {
            Chain::NotRecorded => PLACEHOLDERS[3].0.to_owned(),
            Chain::Unresolved => PLACEHOLDERS[4].0.to_owned(),
            Chain::NotReleased => "<code unknown: lock not released>".to_owned(),
            Chain::NotDescribed(chain) => format!("<call chain #{chain} not described>"),
            Chain::Known { .. } => unreachable!("it has no frames"),
        },
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
        condition(OF_WAIT[of_wait], &pivot.names[of_wait], choice),
        condition(OF_OWNER[of_owner], &part.1[of_owner], choice / 5),
    ];
    let matches = |condition: &Condition, name: &str| {
        condition.patterns[0].matches(name) != condition.is_negated
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
