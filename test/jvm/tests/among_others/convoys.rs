//! A planned convoy and a planned stampede, in a program that says how long each hold was and how
//! many threads it woke for nothing.

use std::collections::BTreeMap;

use jvm_tests::{Run, check_program, locktrace};
use serde_json::Value;

const THREADS: u64 = 12;
const ROUNDS: u64 = 3;
/// The trace's clock and the program's differ a little.
const CLOCKS: f64 = 0.001;

#[test]
fn what_was_planned_is_found() {
    let numbers = [THREADS, ROUNDS].map(|number| number.to_string());
    let program = ["scenarios.Convoys", &numbers[0], &numbers[1]];
    check_program(&program, &[], |mode, run| {
        let found = json(run, "convoys");
        let convoy = only(&found["convoys"], |row| &row["lock"]);
        println!("{mode:?}: {found:#}");
        assert_eq!(convoy["convoys"], ROUNDS, "one in each round");
        assert_eq!(convoy["waits"], THREADS * ROUNDS);
        assert_eq!(convoy["largest"]["waits"], THREADS);
        assert_eq!(convoy["largest"]["threads"], THREADS);

        let words = run.lines_of("woken").next().expect("a count");
        let [woken, for_nothing] = [0, 1].map(|at| words[at].parse::<u64>().expect("a number"));
        assert_eq!(for_nothing, ROUNDS * (THREADS - 1), "one had work");
        let rows = found["wake_ups"].as_array().expect("wake-ups");
        let of_workers: Vec<_> = rows.iter().filter(|row| row["for_nothing"] != 0).collect();
        let [row] = of_workers[..] else {
            panic!("{mode:?}: not one condition: {rows:#?}");
        };
        assert_eq!(row["woken"], woken);
        // The last one in each round woke nobody.
        assert_eq!(row["for_nothing"], for_nothing - ROUNDS, "{mode:?}");
        assert_eq!(row["stampedes"], ROUNDS);
        assert_eq!(row["largest"], THREADS - 2);

        let locks = json(run, "locks");
        let figures = only(&locks["rows"], |row| row);
        check_holds(figures, run);
    });
}

fn json(run: &Run, command: &str) -> Value {
    let trace = run.trace();
    let arguments = [command, "--format", "json"].map(AsRef::as_ref);
    let found = locktrace(arguments.into_iter().chain([trace.as_os_str()]));
    assert_eq!(found.code, 0, "{}", found.stderr);
    serde_json::from_str(&found.stdout).expect("JSON")
}

/// The row of the lock that threads queue up for.
fn only(rows: &Value, lock: impl Fn(&Value) -> &Value) -> &Value {
    let rows = rows.as_array().expect("rows").iter();
    let mut rows = rows.filter(|row| lock(row)["lock_class"] == "scenarios.Convoys$Queue");
    let row = rows.next().expect("threads waited for it");
    assert!(rows.next().is_none(), "one lock");
    row
}

/// In each round, the first hold began before anybody waited, and of the last one nobody sees the
/// end.
fn check_holds(figures: &Value, run: &Run) {
    let mut rounds = BTreeMap::<String, Vec<[u64; 3]>>::new();
    for words in run.lines_of("hold") {
        let times = [1, 2, 3].map(|at| words[at].parse().expect("a time"));
        rounds.entry(words[0].to_owned()).or_default().push(times);
    }
    let (mut least_ns, mut most_ns) = (Vec::new(), Vec::new());
    for holds in rounds.values_mut() {
        holds.sort_unstable();
        for pair in holds[..holds.len() - 1].windows(2) {
            let [[_, before_ns, _], [acquired_ns, released_ns, left_ns]] = pair else {
                unreachable!("pairs");
            };
            least_ns.push(released_ns - acquired_ns);
            most_ns.push(left_ns - before_ns);
        }
    }
    let timed = ROUNDS * (THREADS - 1);
    assert_eq!(least_ns.len() as u64, timed);
    assert_eq!(figures["holds_untimed"], ROUNDS);
    assert_eq!(figures["holds"], ROUNDS + timed);
    assert_eq!(figures["holds_averaged"], 0);
    let check = |key: &str, least_ns: u64, most_ns: u64| {
        let found_ns = figures[key].as_u64().expect("a number") as f64;
        let least_ns = least_ns as f64 * (1.0 - CLOCKS);
        let most_ns = most_ns as f64 * (1.0 + CLOCKS);
        let is_right = (least_ns..=most_ns).contains(&found_ns);
        assert!(is_right, "{key}: {found_ns}, not {least_ns} to {most_ns}");
    };
    check("held_ns", least_ns.iter().sum(), most_ns.iter().sum());
    let mean = |durations: &[u64]| durations.iter().sum::<u64>() / timed;
    check("hold_mean_ns", mean(&least_ns), mean(&most_ns) + 1);
    for durations in [&mut least_ns, &mut most_ns] {
        durations.sort_unstable();
    }
    let last = timed as usize - 1;
    for (key, rank) in [("hold_min_ns", 0), ("hold_max_ns", last)] {
        check(key, least_ns[rank], most_ns[rank]);
    }
    // To 3 percent.
    let median = (timed as usize).div_ceil(2) - 1;
    let (least_ns, most_ns) = (least_ns[median], most_ns[median]);
    check(
        "hold_p50_ns",
        least_ns - least_ns / 32,
        most_ns + most_ns / 32,
    );
}
