//! Several threads find what one thread finds.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use trace_analysis::{
    Aggregation, Analysis, Aspect, Condition, Detail, DivisibleSink, Entities, Limits, RowLimits,
    Selection, TraceError, TraceInput, Wait, WaitSink,
};

use crate::inputs::Source;

/// The waits, and what they add up to by several aspects.
#[derive(Clone)]
struct Found {
    waits: Vec<Wait>,
    sums: Vec<Aggregation>,
}

impl Found {
    fn new() -> Self {
        let by = [
            vec![Aspect::LockClass, Aspect::OwnerMethod, Aspect::Method],
            vec![Aspect::OwnerThread, Aspect::Thread, Aspect::Lock],
            vec![Aspect::OwnerChain, Aspect::Chain],
            vec![Aspect::LockClass, Aspect::RootOwnerMethod, Aspect::Depth],
        ];
        Self {
            waits: Vec::new(),
            sums: by.map(Aggregation::new).into(),
        }
    }
}

impl WaitSink for Found {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.waits.push(wait.clone());
        for sums in &mut self.sums {
            sums.add(wait, entities);
        }
    }
}

impl DivisibleSink for Found {
    fn part(&self) -> Self {
        Self::new()
    }

    fn merge(&mut self, part: Self) {
        self.waits.extend(part.waits);
        for (sums, part) in self.sums.iter_mut().zip(&part.sums) {
            sums.merge(part);
        }
    }
}

/// Returns everything that is found with this number of threads, and whether it is found again:
/// the trace is analyzed twice, as two traces.
fn found(
    open: impl Fn() -> Result<TraceInput, TraceError>,
    threads: usize,
    limits: Limits,
    detail: Detail,
    selection: &Selection,
) -> String {
    let mut analysis = Analysis::new(limits)
        .with_detail(detail)
        .with_selection(selection.clone());
    // All locks are with one worker then, where each kind of detail has another way to find them.
    if detail != Detail::CONTENTIONS {
        analysis = analysis.with_owner_times();
    }
    let mut found = Found::new();
    let mut said = String::new();
    let threads = NonZeroUsize::new(threads).expect("not 0");
    for _ in 0..2 {
        let summary = open()
            .and_then(|input| {
                let go_on = |_| ControlFlow::Continue(());
                input.analyze_with(threads, &mut analysis, &mut found, go_on)
            })
            .expect("readable");
        said += &format!(
            "{:?} {} {:?} {:?} {:?} {:?} {:?}\n",
            summary.owner_times,
            summary.duration_ns,
            summary.counters,
            summary.waits,
            summary.still_blocked,
            summary.damage,
            summary.statistics.events,
        );
    }
    found.waits.sort_by_key(|wait| wait.id);
    for wait in &mut found.waits {
        // They are in no order.
        wait.blame.sort_by_key(|blame| format!("{blame:?}"));
        said += &format!("{wait:?}\n");
    }
    let entities = analysis.entities();
    for sums in &found.sums {
        let rows = sums.rows(RowLimits::default(), entities);
        said += &format!("{:?} {rows:?}\n", sums.totals());
    }
    said
}

/// Asserts that all that is found in a trace is the same with 1, 2 and 8 threads, each from one
/// of the sources: which ones, differs from trace to trace.
pub(crate) fn assert_same_with_threads(path: &Path, limits: Limits) -> Result<(), TestCaseError> {
    let all = Selection::default();
    let byte_len = fs::metadata(path).expect("there").len() as usize;
    for detail in [
        Detail::CONTENTIONS,
        Detail::CODE.with_roots(),
        Detail::CONTENTIONS.with_roots(),
    ] {
        let alone = found(|| Source::File.open(path), 1, limits, detail, &all);
        for (turn, threads) in [1, 2, 8].into_iter().enumerate() {
            let source = Source::ALL[(byte_len + turn) % Source::ALL.len()];
            let found = found(|| source.open(path), threads, limits, detail, &all);
            prop_assert_eq!(&found, &alone, "{:?}, {} threads", source, threads);
        }
    }
    Ok(())
}

/// The traces of real programs, of all versions of the format.
fn golden() -> Vec<std::path::PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace-format/tests/golden");
    let files = fs::read_dir(folder).expect("a folder");
    let paths = files.map(|file| file.expect("a file").path());
    let traces: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "lct"))
        .collect();
    assert!(!traces.is_empty());
    traces
}

#[test]
fn golden_traces_say_the_same_with_any_number_of_threads() {
    for path in golden() {
        assert_same_with_threads(&path, Limits::default()).expect("the same");
        assert_same_with_threads(
            &path,
            Limits {
                max_pending_events: 5,
            },
        )
        .expect("the same");
    }
}

#[test]
fn all_sources_say_the_same_with_any_number_of_threads() {
    let all = Selection::default();
    for path in golden() {
        let alone = found(
            || TraceInput::open(&path),
            1,
            Limits::default(),
            Detail::CONTENTIONS,
            &all,
        );
        for threads in [1, 2, 3, 8, 100] {
            for source in Source::ALL {
                let found = found(
                    || source.open(&path),
                    threads,
                    Limits::default(),
                    Detail::CONTENTIONS,
                    &all,
                );
                assert_eq!(found, alone, "{source:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn names_are_selected_as_by_one_thread() {
    let thread = Condition {
        aspect: Aspect::Thread,
        patterns: vec!["*1*".parse().expect("a pattern")],
        is_negated: true,
    };
    let selection = Selection::default().with(thread);
    for path in golden() {
        let found = |threads| {
            found(
                || TraceInput::open(&path),
                threads,
                Limits::default(),
                Detail::CONTENTIONS,
                &selection,
            )
        };
        assert_eq!(found(8), found(1));
    }
}

/// Takes the first waits only.
struct Fails;

impl WaitSink for Fails {
    fn wait(&mut self, _: &Wait, _: &Entities) {
        panic!("enough");
    }
}

impl DivisibleSink for Fails {
    fn part(&self) -> Self {
        Self
    }

    fn merge(&mut self, _: Self) {}
}

#[test]
#[should_panic(expected = "enough")]
fn a_worker_that_panics_ends_the_analysis() {
    let threads = NonZeroUsize::new(2).expect("not 0");
    for path in golden() {
        let input = TraceInput::open(&path).expect("a trace");
        let go_on = |_| ControlFlow::Continue(());
        let _ = input.analyze_with(threads, &mut Analysis::default(), &mut Fails, go_on);
    }
}
