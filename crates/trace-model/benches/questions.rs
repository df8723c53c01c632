//! Measures how long a model takes to answer: `cargo bench -p trace-model -- TRACE [WORD]`, with the
//! questions that have this word in their names.

use std::env;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trace_analysis::{Analysis, Entities, TraceFile, Wait};
use trace_model::{Arrangement, Limits, Model};

const RUNS: usize = 7;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let Some(path) = arguments.first() else {
        println!("no trace is given: cargo bench -p trace-model -- TRACE [WORD]");
        return;
    };
    let word = arguments.get(1).map_or("", String::as_str);
    let (mut model, entities) = load(Path::new(path));
    for (name, topic, question) in questions(model.end_ns()) {
        if !name.contains(word) {
            continue;
        }
        let mut times: Vec<(Duration, usize)> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                let answer = answer(&mut model, &entities, topic, &question);
                (start.elapsed(), answer.len())
            })
            .collect();
        times.sort_unstable();
        let ms = |at: usize| times[at].0.as_secs_f64() * 1e3;
        println!(
            "{:8.1} ms ({:.1} to {:.1}), {:8} bytes: {name}",
            ms(RUNS / 2),
            ms(0),
            ms(RUNS - 1),
            times[0].1
        );
    }
}

fn load(path: &Path) -> (Model, Entities) {
    let start = Instant::now();
    let trace = TraceFile::open(path).expect("a trace");
    let arrangement = Arrangement::OneAfterTheOther;
    let mut model = Model::new(Limits::default(), arrangement, trace.byte_len(), Vec::new());
    let mut analysis = Analysis::default().with_detail(model.detail());
    model.begin_trace(trace.header().start_unix_ns);
    let summary = trace.analyze(
        &mut analysis,
        &mut |wait: &Wait, entities: &Entities| model.add(wait, entities),
        |_progress| ControlFlow::Continue(()),
    );
    model.goes_on_until(summary.expect("a trace that can be read").duration_ns);
    println!("{:8.1} ms: read", start.elapsed().as_secs_f64() * 1e3);
    (model, analysis.into_entities())
}

fn questions(end_ns: u64) -> Vec<(&'static str, &'static str, Value)> {
    let by = |aspects: &[&str], buckets: u32| json!({"by": aspects, "buckets": buckets});
    let tenth = json!({"from_ns": end_ns / 10 * 4, "to_ns": end_ns / 10 * 5});
    let hundredth = json!({"from_ns": end_ns / 100 * 50, "to_ns": end_ns / 100 * 51});
    let lanes = |by: &str, selection: &Value| json!({"by": by, "px": 1_200, "limit": 40, "selection": selection});
    vec![
        ("strip", "query", by(&[], 900)),
        ("owners' colours", "query", by(&["owner-thread"], 0)),
        (
            "tree by lock",
            "query",
            by(&["lock-class", "owner-method", "method"], 60),
        ),
        (
            "tree by lock, a tenth",
            "query",
            json!({"selection": tenth, "by": ["lock-class", "owner-method", "method"], "buckets": 60}),
        ),
        (
            "tree by lock, long waits",
            "query",
            json!({"selection": {"min_ns": 1_000_000}, "by": ["lock-class", "owner-method", "method"], "buckets": 60}),
        ),
        (
            "tree by threads",
            "query",
            by(&["thread", "owner-thread", "lock"], 60),
        ),
        ("flame graph of owners", "query", by(&["owner-chain"], 0)),
        ("flame graph of waiters", "query", by(&["chain"], 0)),
        (
            "flame graph from owner to waiter",
            "query",
            by(&["owner-chain", "lock-class", "chain"], 0),
        ),
        (
            "graph by thread",
            "query",
            by(&["thread", "owner-thread"], 0),
        ),
        ("graph by code", "query", by(&["method", "owner-method"], 0)),
        ("distribution", "histogram", json!({})),
        ("waits", "waits", json!({"sort": "duration"})),
        ("timeline by lock", "lanes", lanes("lock", &json!({}))),
        ("timeline by thread", "lanes", lanes("thread", &json!({}))),
        (
            "timeline by thread, a hundredth",
            "lanes",
            lanes("thread", &hundredth),
        ),
    ]
}

fn answer(model: &mut Model, entities: &Entities, topic: &str, question: &Value) -> String {
    let text = question.to_string();
    let answer = match topic {
        "query" => {
            let question = serde_json::from_str(&text).expect("a query");
            serde_json::to_string(&model.query(&question, entities).expect("groups"))
        }
        "histogram" => {
            let question = serde_json::from_str(&text).expect("a query");
            serde_json::to_string(&model.distribution(&question, entities).expect("buckets"))
        }
        "waits" => {
            let question = serde_json::from_str(&text).expect("a query");
            serde_json::to_string(&model.waits(&question, entities).expect("waits"))
        }
        "lanes" => {
            let question = serde_json::from_str(&text).expect("a query");
            serde_json::to_string(&model.lanes(&question, entities).expect("lanes"))
        }
        _ => unreachable!("no such question"),
    };
    answer.expect("JSON")
}
