//! Aggregation of small traces.

use proptest::prelude::*;
use trace_analysis::{Aggregation, Analysis, Aspect, Entities, Limits, RowLimits, Rows, Totals};

use trace_format::Capabilities;
use trace_format::file::VERSION;

use crate::script;

/// Lock 1 is blocked by T1 in a (40 ns of T2, 30 ns of T3) and by T2 in b (25 ns
/// of T3), lock 2 by T4 in d (10 ns of T5). Hand-offs take 5 ns, 5 + 10 ns and
/// 4 ns.
const TRACE: &str = "
    10 T2 enter b on L1
    20 T3 enter c on L1
    50 T1 exit a on L1
    55 T2 entered 2 on L1
    60 T5 enter e on L2
    70 T4 exit d on L2
    74 T5 entered on L2
    80 T2 exit b on L1
    90 T3 entered on L1
";

/// The tree as text, one row a line, and the totals.
fn aggregate(aspects: &str, selection: RowLimits, traces: &[&str]) -> (String, Totals) {
    let aspects: Vec<Aspect> = aspects
        .split(',')
        .map(|name| name.parse().expect("an aspect"))
        .collect();
    let mut aggregation = Aggregation::new(aspects);
    let mut analysis = Analysis::new(Limits::default());
    for trace in traces {
        let mut add = |wait: &_, entities: &Entities| aggregation.add(wait, entities);
        let mut trace_analysis = analysis.begin_trace(VERSION, Capabilities::default());
        let events = script::metadata_events().into_iter();
        for (thread, event) in events.chain(script::parse(trace)) {
            trace_analysis.event(thread, &event, &mut add);
        }
        trace_analysis.finish(&mut add);
    }
    let mut text = String::new();
    describe(
        &aggregation.rows(selection, analysis.entities()),
        0,
        &mut text,
    );
    (text, aggregation.totals())
}

fn describe(rows: &Rows, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for row in &rows.rows {
        let sums = row.sums;
        *text += &format!(
            "{indent}{}: {} ns, {} contentions, {} waits, at most {} ns\n",
            row.label, sums.duration_ns, sums.contentions, sums.waits, sums.max_wait_ns
        );
        describe(&row.children, depth + 1, text);
    }
    if rows.omitted > 0 {
        *text += &format!("{indent}{} more: {} ns\n", rows.omitted, rows.omitted_ns);
    }
}

#[test]
fn sums_up_by_lock_and_owner() {
    let (text, totals) = aggregate("lock,owner-method", RowLimits::default(), &[TRACE]);
    assert_eq!(
        text,
        "\
Lock@1: 115 ns, 6 contentions, 2 waits, at most 70 ns
  Lock.a: 70 ns, 2 contentions, 2 waits, at most 40 ns
  Lock.b: 25 ns, 1 contentions, 1 waits, at most 25 ns
  <owner unknown: hand-off>: 20 ns, 3 contentions, 2 waits, at most 15 ns
Lock@2: 14 ns, 2 contentions, 1 waits, at most 14 ns
  Lock.d: 10 ns, 1 contentions, 1 waits, at most 10 ns
  <owner unknown: hand-off>: 4 ns, 1 contentions, 1 waits, at most 4 ns
"
    );
    assert_eq!(totals.all.duration_ns, 115 + 14);
    assert_eq!(totals.all.waits, 3);
    assert_eq!(totals.unknown_owner_ns, [24, 0, 0, 0, 0, 0, 0]);
    assert_eq!(totals.safepoint_ns, 2);
}

#[test]
fn every_aspect_distinguishes_contentions() {
    let labels = |aspect| aggregate(aspect, RowLimits::default(), &[TRACE]).0;
    for (aspect, expected) in [
        ("mechanism", "intrinsic locks: 129 ns, 8"),
        ("lock-class", "Lock: 129 ns, 8"),
        ("lock", "Lock@2: 14 ns, 2"),
        ("thread", "T3: 70 ns, 4"),
        ("method", "Lock.c: 70 ns, 4"),
        ("chain", "Lock.c(Lock.java:1): 70 ns, 4"),
        ("owner-thread", "T1: 70 ns, 2"),
        ("owner-method", "Lock.a: 70 ns, 2"),
        ("owner-chain", "Lock.a(Lock.java:1): 70 ns, 2"),
    ] {
        let text = labels(aspect);
        assert!(text.contains(expected), "{aspect}:\n{text}");
    }
}

#[test]
fn leaves_out_rows_but_not_their_time() {
    let top = RowLimits {
        unless_all_are_small: false,
        top: Some(1),
        min_share: 0.0,
    };
    assert_eq!(
        aggregate("owner-method", top, &[TRACE]).0,
        "Lock.a: 70 ns, 2 contentions, 2 waits, at most 40 ns\n3 more: 59 ns\n"
    );
    let large = RowLimits {
        unless_all_are_small: false,
        top: None,
        min_share: 0.5,
    };
    assert_eq!(
        aggregate("owner-method", large, &[TRACE]).0,
        aggregate("owner-method", top, &[TRACE]).0
    );
}

#[test]
fn same_names_in_several_traces_are_one() {
    let one = aggregate("lock,thread,owner-chain", RowLimits::default(), &[TRACE]).0;
    let two = aggregate(
        "lock,thread,owner-chain",
        RowLimits::default(),
        &[TRACE, TRACE],
    );
    assert_eq!(one.lines().count(), two.0.lines().count());
    assert_eq!(two.1.all.duration_ns, 2 * (115 + 14));
    assert_eq!(two.1.all.waits, 2 * 3);
}

#[test]
fn what_is_not_described_says_so() {
    let mut aggregation = Aggregation::new([Aspect::LockClass, Aspect::Thread, Aspect::Method]);
    let mut analysis = Analysis::new(Limits::default());
    let mut add = |wait: &_, entities: &Entities| aggregation.add(wait, entities);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    for (thread, event) in script::parse("10 T2 enter b \n 20 T2 entered") {
        trace.event(thread, &event, &mut add);
    }
    let counters = trace.finish(&mut add).counters;
    let mut text = String::new();
    describe(
        &aggregation.rows(RowLimits::default(), analysis.entities()),
        0,
        &mut text,
    );
    let labels: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().split(':').next())
        .collect();
    assert_eq!(
        labels,
        [
            "<class #1 not described>",
            "<thread #2 not described>",
            "<call chain #98 not described>"
        ]
    );
    let missing: Vec<_> = counters
        .iter()
        .filter(|&(_, n)| n > 0)
        .map(|(counter, n)| (counter.name(), n))
        .collect();
    assert_eq!(
        missing,
        [
            ("classes_not_described", 1),
            ("chains_not_described", 1),
            ("threads_not_described", 1)
        ]
    );
}

/// A wait of thread `2 + at` for lock `lock`, in the method `method`, which is held in `owner`.
fn one_wait(at: usize, (lock, method, owner): (usize, char, char)) -> String {
    let (begin, waiter) = (100 * at + 1, 2 + at % 3);
    let (exit, end) = (begin + 7 + at % 11, begin + 40);
    format!(
        "{begin} T{waiter} enter {method} on L{lock}
         {exit} T1 exit {owner} on L{lock}
         {end} T{waiter} entered on L{lock}\n"
    )
}

/// Duration and contentions of the rows, those that are left out included; each has what is
/// below it.
fn check_sums(
    rows: &Rows,
    is_innermost: impl Fn(usize) -> bool + Copy,
    depth: usize,
) -> (u64, u64) {
    let mut sum = (0, 0);
    for row in &rows.rows {
        let of_row = (row.sums.duration_ns, row.sums.contentions);
        if !is_innermost(depth) {
            assert_eq!(check_sums(&row.children, is_innermost, depth + 1), of_row);
        }
        sum = (sum.0 + of_row.0, sum.1 + of_row.1);
    }
    sum
}

fn count(rows: &Rows) -> usize {
    rows.rows.iter().map(|row| 1 + count(&row.children)).sum()
}

proptest! {
    /// However little memory there is, sums are those of all waits.
    #[test]
    fn what_does_not_fit_counts_all_the_same(
        waits in prop::collection::vec((1..30usize, prop::sample::select(vec!['a', 'b', 'c', 'd', 'e']),
            prop::sample::select(vec!['a', 'b', 'c', 'd', 'e'])), 1..60),
        bytes in 0..60_000usize,
    ) {
        let aspects = [Aspect::Lock, Aspect::OwnerMethod, Aspect::Method];
        let mut all = Aggregation::new(aspects);
        let mut bounded = Aggregation::new(aspects).within(bytes);
        let mut add = |wait: &_, entities: &Entities| {
            all.add(wait, entities);
            bounded.add(wait, entities);
        };
        let mut analysis = Analysis::new(Limits::default());
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        let script: String = waits.iter().enumerate().map(|(at, &wait)| one_wait(at, wait)).collect();
        let events = script::metadata_events().into_iter();
        for (thread, event) in events.chain(script::parse(&script)) {
            trace.event(thread, &event, &mut add);
        }
        trace.finish(&mut add);

        prop_assert_eq!(bounded.totals(), all.totals());
        prop_assert_eq!(all.totals().all.waits, waits.len() as u64);
        let rows = |aggregation: &Aggregation| aggregation.rows(RowLimits::default(), analysis.entities());
        let total = (all.totals().all.duration_ns, all.totals().all.contentions);
        let (all, bounded) = (rows(&all), rows(&bounded));
        prop_assert_eq!(check_sums(&bounded, |depth| depth == 2, 0), total);
        // A row takes at least 100 bytes; below each there may be three for what does not fit.
        prop_assert!(count(&bounded) <= bytes / 100 + 3);
        let (mut text, mut expected) = (String::new(), String::new());
        describe(&bounded, 0, &mut text);
        describe(&all, 0, &mut expected);
        prop_assert!(text == expected || text.contains("<other>"));
    }
}

/// Chains for which there is no memory left are one.
#[test]
fn chains_that_do_not_fit_are_one() {
    let aspects = [Aspect::Chain];
    let mut aggregation = Aggregation::new(aspects);
    let mut analysis = Analysis::new(Limits::default()).with_max_chain_bytes(0);
    let mut add = |wait: &_, entities: &Entities| aggregation.add(wait, entities);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    let events = script::metadata_events().into_iter();
    for (thread, event) in events.chain(script::parse(TRACE)) {
        trace.event(thread, &event, &mut add);
    }
    let counters = trace.finish(&mut add).counters;
    let mut text = String::new();
    let rows = aggregation.rows(RowLimits::default(), analysis.entities());
    describe(&rows, 0, &mut text);
    assert_eq!(
        text,
        "<other call chains>: 129 ns, 8 contentions, 3 waits, at most 70 ns\n"
    );
    let not_kept = counters.value(trace_analysis::Counter::ChainsNotKept);
    assert_eq!(not_kept, 5, "a, b, c, d and e");
}
