//! Models of the sample traces.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use trace_analysis::{Analysis, Detail, Entities, TraceFile, TraceSummary, Wait, WaitSink};
use trace_model::{
    Arrangement, Evidence, Finding, Groups, Limits, Model, Query, Run, WaitSelection,
};

/// A model and its entities.
pub(crate) struct Loaded {
    pub(crate) model: Model,
    pub(crate) evidence: Evidence,
    pub(crate) entities: Entities,
    pub(crate) summary: TraceSummary,
}

/// Traces with contention of all sorts.
pub(crate) fn traces() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = root.join("../trace-format/tests/golden");
    vec![
        demo(),
        golden.join("v3.lct"),
        golden.join("v4.lct"),
        golden.join("v4-compressed.lct"),
    ]
}

/// Returns the trace of the demo.
pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer/test/fixtures/demo.lct")
}

/// Analyzes a trace.
pub(crate) fn analyze(
    path: &Path,
    detail: Detail,
    mut on_wait: impl FnMut(&Wait, &Entities),
) -> (TraceSummary, Entities) {
    let mut analysis = Analysis::default().with_detail(detail);
    let trace = TraceFile::open(path).expect("a trace");
    let summary = trace.analyze(&mut analysis, &mut on_wait, |_| ControlFlow::Continue(()));
    (summary.expect("a trace"), analysis.into_entities())
}

/// Returns the model of a trace.
pub(crate) fn load(path: &Path, limits: Limits) -> Loaded {
    let bytes = std::fs::metadata(path).expect("a file").len();
    let mut model = Model::new(limits, Arrangement::OneAfterTheOther, bytes, Vec::new());
    model.begin_trace(0);
    let mut evidence = Evidence::new(Vec::new());
    let detail = model.detail();
    let detail = detail.and(Evidence::detail(detail.has_contentions()));
    let (summary, entities) = analyze(path, detail, |wait, entities| {
        model.add(wait, entities);
        evidence.wait(wait, entities);
    });
    model.goes_on_until(summary.duration_ns);
    Loaded {
        model,
        evidence,
        entities,
        summary,
    }
}

/// All waits, without their parts.
pub(crate) fn without_parts() -> Limits {
    Limits {
        parts: 0,
        ..Limits::default()
    }
}

impl Loaded {
    /// Returns what to fix first.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let still_blocked = std::iter::once(&self.summary.still_blocked);
        let run = Run {
            traces: 1,
            duration_ns: self.model.end_ns(),
            lives: &self.summary.lives,
        };
        self.evidence
            .conclude(still_blocked, run, &self.entities)
            .findings
    }

    pub(crate) fn query(&mut self, selection: &WaitSelection, by: &[&str]) -> Groups {
        let query = Query {
            selection: selection.clone(),
            by: by
                .iter()
                .map(|name| name.parse().expect("an aspect"))
                .collect(),
            limit: 50_000,
            buckets: 16,
        };
        self.model
            .query(&query, &self.entities)
            .expect("a question")
    }
}

/// The numbers of a group that tests compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupNumbers {
    pub(crate) duration_ns: u64,
    pub(crate) waits: u64,
    pub(crate) contentions: u64,
    pub(crate) max_ns: u64,
}

/// Returns the groups by the keys of their values.
pub(crate) fn by_path(groups: &Groups) -> BTreeMap<Vec<String>, GroupNumbers> {
    let groups_by_path = groups.groups.iter().map(|group| {
        let key = |&value: &u32| groups.names.values[value as usize].key.clone();
        let sums = GroupNumbers {
            duration_ns: group.duration_ns.ns(),
            waits: group.waits,
            contentions: group.contentions,
            max_ns: group.max_ns,
        };
        (group.path.iter().map(key).collect(), sums)
    });
    groups_by_path.collect()
}

/// Some orders of aspects.
pub(crate) const ORDERS: [&[&str]; 8] = [
    &[],
    &["lock-class", "owner-method", "method"],
    &["thread", "owner-thread"],
    &["owner-chain", "lock", "chain"],
    &["owner-caller", "caller"],
    &["owner-thread", "thread", "lock-class", "mechanism"],
    &["kind", "lock", "owner-method"],
    &["method", "owner-chain"],
];

/// All kinds of waits.
pub(crate) fn all_kinds() -> WaitSelection {
    let json = r#"{"kinds": ["contention", "conditional", "idle", "sleep"]}"#;
    serde_json::from_str(json).expect("a selection")
}
