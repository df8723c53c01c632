//! The evidence of real traces adds up.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use trace_analysis::{Analysis, TraceFile};

use super::*;

fn traces() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let applications = ["deadlock", "h2", "log4j", "park-storm", "tomcat"];
    let applications = applications.map(|name| root.join(format!("tests/traces/{name}.lct")));
    let demo = root.join("../../viewer/test/fixtures/demo.lct");
    applications.into_iter().chain([demo]).collect()
}

fn evidence(path: &Path, has_contentions: bool) -> (Evidence, Entities) {
    let mut evidence = Evidence::new(Vec::new());
    let detail = Evidence::detail(has_contentions);
    let mut analysis = Analysis::default().with_detail(detail);
    let trace = TraceFile::open(path).expect("a trace");
    let read = trace.analyze(&mut analysis, &mut evidence, |_| ControlFlow::Continue(()));
    read.expect("a trace that can be read");
    let entities = analysis.into_entities();
    (
        evidence.with_open(&SeededSet::default(), &entities),
        entities,
    )
}

#[test]
fn causes_add_up_to_the_time_waited() {
    for path in traces() {
        for has_contentions in [true, false] {
            let (evidence, _) = evidence(&path, has_contentions);
            for kind in [WaitKind::Contention, WaitKind::Conditional] {
                let of_kind = evidence.kind(kind);
                let mut sum = Sum::default();
                for cause in of_kind.causes.values() {
                    sum.add_sum(cause.duration_ns);
                    let sites = cause.waiters.values().map(|site| site.duration_ns);
                    assert_eq!(Sum::from(sites.sum::<u64>()), cause.duration_ns);
                    let locks_ns = Sum::from(cause.locks.total_ns());
                    assert_eq!(locks_ns, cause.duration_ns);
                    let (wall_ns, _) = cause.wall_ns();
                    assert!(Sum::from(wall_ns) <= cause.duration_ns);
                }
                assert_eq!(sum, of_kind.running_ns(), "{}: {kind:?}", path.display());
            }
        }
    }
}

/// Single contentions and sums over them have the same causes.
#[test]
fn sums_have_the_same_causes() {
    for path in traces() {
        let causes = |has_contentions| {
            let (evidence, entities) = evidence(&path, has_contentions);
            let causes = evidence.kind(WaitKind::Contention).causes.iter();
            let named = causes.filter(|(_, cause)| cause.duration_ns > Sum::default());
            let named = named.map(|(key, cause)| {
                let names = [key.lock_class, key.owner].map(|value| value.key(&entities));
                (names, (cause.duration_ns, cause.waits))
            });
            named.collect::<std::collections::BTreeMap<_, _>>()
        };
        assert_eq!(causes(true), causes(false), "{}", path.display());
    }
}
