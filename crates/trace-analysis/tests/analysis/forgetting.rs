//! Where there is no memory for all names, waits are as long and mean the same as with them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{Analysis, Detail, Entities, Limits, TraceInput, Wait, WaitId};

/// A wait, in words that do not depend on which lock and which thread it was.
#[derive(Debug, PartialEq, Eq)]
struct Described {
    what: String,
    lock_class: Option<String>,
    /// How long the code of each chain is to blame.
    known_ns: BTreeMap<String, u64>,
    not_known_ns: u64,
}

impl Described {
    fn new(wait: &Wait, entities: &Entities) -> Self {
        let chain = |chain| format!("{:?}", entities.chain(chain).frames());
        let what = format!(
            "{:?} {:?} {} {} {} {} {}",
            wait.mechanism,
            wait.kind,
            wait.after_wait,
            wait.start_ns,
            wait.duration_ns,
            wait.ended(),
            chain(wait.chain),
        );
        let class = entities.lock_class(wait.lock);
        let mut described = Self {
            what,
            lock_class: class.map(|class| entities.class_name(class).to_owned()),
            known_ns: BTreeMap::new(),
            not_known_ns: 0,
        };
        for blame in &wait.blame {
            match blame.owner.thread() {
                Some((_, owner)) => {
                    *described.known_ns.entry(chain(owner)).or_default() += blame.duration_ns;
                }
                None => described.not_known_ns += blame.duration_ns,
            }
        }
        described
    }
}

/// Returns the waits of the trace, where names may take `name_bytes`.
fn described(trace: &Path, limits: Limits, name_bytes: usize) -> BTreeMap<WaitId, Described> {
    let mut analysis = Analysis::new(limits)
        .with_detail(Detail::OWNERS)
        .with_max_name_bytes(name_bytes);
    let mut waits = BTreeMap::new();
    let mut sink = |wait: &Wait, entities: &Entities| {
        waits.insert(wait.id, Described::new(wait, entities));
    };
    let go_on = |_| ControlFlow::Continue(());
    TraceInput::open(trace)
        .and_then(|input| input.analyze(&mut analysis, &mut sink, go_on))
        .expect("readable");
    waits
}

/// Asserts that waits are the same if after every chunk everything is forgotten that nothing
/// uses.
pub(crate) fn assert_same_without_names(trace: &Path, limits: Limits) -> Result<(), TestCaseError> {
    let all = described(trace, limits, usize::MAX);
    prop_assert_eq!(&described(trace, limits, 0), &all);
    Ok(())
}
