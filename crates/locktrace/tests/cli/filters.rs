//! What options select is what is left if one looks at all contentions and takes those that they
//! name.

use serde_json::Value;
use trace_analysis::UnknownOwner;

use crate::sample::Sample;
use crate::{directory_with, succeed_with};

/// How many selections to try.
const SELECTIONS: usize = 120;

/// Numbers without a pattern, the same ones in each run.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn of<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// One contention as `contentions` lists it.
#[derive(Clone, Debug, PartialEq)]
struct Contention {
    wait: String,
    kind: String,
    names: [Vec<String>; ASPECTS.len()],
    start_ns: u64,
    end_ns: u64,
}

/// Options, and the aspects that they are about, in `--exclude`.
const ASPECTS: [&str; 4] = ["thread", "lock-class", "method", "owner-method"];

impl Contention {
    fn of(line: &str) -> Self {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let text = |value: &Value| value.as_str().map(str::to_owned).expect("text");
        let number = |field: &str| record[field].as_u64().expect("a number");
        let class = match record["mirrored_class"].as_str() {
            Some(class) => format!("Class of {class}"),
            None => text(&record["lock_class"]),
        };
        let owner = match record["unknown_reason"].as_str() {
            Some(name) => {
                let reason = UnknownOwner::ALL
                    .iter()
                    .find(|reason| reason.name() == name);
                let label = reason.expect("known").label();
                vec![format!("<{name}>"), format!("<owner unknown: {label}>")]
            }
            None if record["free"] == true => {
                vec!["<free>".to_owned(), "<lock was free>".to_owned()]
            }
            None => method(&record["owner_chain"]),
        };
        Self {
            wait: text(&record["wait_id"]),
            kind: text(&record["kind"]),
            names: [
                vec![text(&record["thread"]["name"])],
                vec![class],
                method(&record["chain"]),
                owner,
            ],
            start_ns: number("start_ns"),
            end_ns: number("start_ns") + number("duration_ns"),
        }
    }

    /// What is left of it in a range of time.
    fn inside(mut self, from_ns: u64, until_ns: u64) -> Option<Self> {
        self.start_ns = self.start_ns.max(from_ns);
        self.end_ns = self.end_ns.min(until_ns);
        (self.start_ns < self.end_ns).then_some(self)
    }
}

/// What the method in which a thread stands is called, with its signature and without.
fn method(chain: &Value) -> Vec<String> {
    let frame = |frame: &Value| {
        let part = |name: &str| frame[name].as_str().expect("text").to_owned();
        let label = format!("{}.{}", part("class"), part("method"));
        (label, part("signature"))
    };
    let frames: Vec<_> = chain.as_array().into_iter().flatten().map(frame).collect();
    let (waits, code) = match frames.as_slice() {
        [(innermost, _), caller, ..] if innermost == "java.lang.Object.wait" => (true, caller),
        [innermost, ..] => (false, innermost),
        [] => return vec!["<code unknown>".to_owned()],
    };
    let (label, signature) = code;
    match waits {
        true => vec![
            format!("Object.wait ← {label}"),
            format!("java.lang.Object.wait ← {label}{signature}"),
        ],
        false => vec![label.clone(), format!("{label}{signature}")],
    }
}

type Matcher = Box<dyn Fn(&str) -> bool>;

/// A pattern that matches `name`, in one of its forms, and which texts it matches.
fn pattern(name: &str, choices: &mut Choices) -> (String, Matcher) {
    let name = name.to_owned();
    let chars: Vec<_> = name.chars().collect();
    let half: String = chars[..chars.len() / 2].iter().collect();
    let rest: String = chars[chars.len() / 2 + 1..].iter().collect();
    match choices.below(4) {
        0 => (name.clone(), Box::new(move |text| text == name)),
        1 => (
            format!("{half}*"),
            Box::new(move |text| text.starts_with(&half)),
        ),
        2 => (
            format!("*?{rest}"),
            Box::new(move |text| text.ends_with(&rest) && text.len() > rest.len()),
        ),
        _ => {
            // A letter, so that nothing has a meaning of its own.
            let letters: Vec<_> = chars
                .iter()
                .filter(|found| found.is_ascii_lowercase())
                .collect();
            let letter = **choices.of(&letters);
            (
                format!("/{letter}[^a-z]/"),
                Box::new(move |text| {
                    let chars: Vec<_> = text.chars().collect();
                    let mut pairs = chars.windows(2);
                    pairs.any(|pair| pair[0] == letter && !pair[1].is_ascii_lowercase())
                }),
            )
        }
    }
}

type Condition = Box<dyn Fn(&Contention) -> bool>;

/// Options of one aspect: what they are, and what they select.
fn options(aspect: usize, all: &[Contention], choices: &mut Choices) -> (Vec<String>, Condition) {
    let mut options = Vec::new();
    let mut matchers = Vec::new();
    let option = *choices.of(&["--exclude", "--of", "--"]);
    let excludes = option == "--exclude";
    for _ in 0..1 + choices.below(2) {
        let names = &choices.of(all).names[aspect];
        let (text, matches) = pattern(&names[0], choices);
        let name = ASPECTS[aspect];
        match option {
            "--" => options.extend([format!("--{name}"), text]),
            _ => options.extend([option.to_owned(), format!("{name}={text}")]),
        }
        matchers.push(matches);
    }
    let condition = move |contention: &Contention| {
        let names = &contention.names[aspect];
        let mut matchers = matchers.iter();
        matchers.any(|matches| names.iter().any(|name| matches(name))) != excludes
    };
    (options, Box::new(condition))
}

#[test]
fn options_are_a_filter_over_contentions() {
    let mut sample = Sample::demo();
    sample.wait_for_condition(2, 3, 700);
    let directory = directory_with(&sample, "demo.lct");
    let contentions = |arguments: &[String]| {
        let printed = succeed_with(directory.path(), "contentions demo.lct", arguments);
        printed.lines().map(Contention::of).collect::<Vec<_>>()
    };
    let kind = |kinds: &str| vec!["--kind".to_owned(), kinds.to_owned()];
    let all = contentions(&kind("all"));
    assert!(all.iter().any(|found| found.kind != "contention"));
    let end_ns = all.iter().map(|found| found.end_ns).max().expect("some") as usize;
    let mut choices = Choices(1);
    let mut selected = 0;
    for _ in 0..SELECTIONS {
        let kinds = *choices.of(&["all", "contention", "conditional", "contention,idle"]);
        let mut arguments = kind(kinds);
        let mut expected = all.clone();
        expected.retain(|found| kinds == "all" || kinds.split(',').any(|kind| kind == found.kind));
        if choices.below(2) == 0 {
            let mut times = [choices.below(end_ns), choices.below(end_ns)];
            times.sort_unstable();
            let [from, until] = times;
            arguments.extend(["--from", &format!("{from}ns"), "--to"].map(str::to_owned));
            arguments.push(format!("{until}ns"));
            let inside = |found: Contention| found.inside(from as u64, until as u64);
            expected = expected.into_iter().filter_map(inside).collect();
        }
        for aspect in 0..ASPECTS.len() {
            if choices.below(3) == 0 {
                let (options, condition) = options(aspect, &all, &mut choices);
                arguments.extend(options);
                expected.retain(|found| condition(found));
            }
        }
        assert_eq!(contentions(&arguments), expected, "{arguments:?}");
        selected += usize::from(!expected.is_empty());

        arguments.extend(["--format", "json"].map(str::to_owned));
        let report = succeed_with(directory.path(), "report demo.lct", &arguments);
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let durations_ns = expected.iter().map(|found| found.end_ns - found.start_ns);
        let totals = &report["totals"];
        let sum_ns = durations_ns.sum::<u64>();
        assert_eq!(
            totals["duration_ns"].as_u64(),
            Some(sum_ns),
            "{arguments:?}"
        );
        let count = expected.len() as u64;
        assert_eq!(totals["contentions"].as_u64(), Some(count), "{arguments:?}");
        let mut waits: Vec<_> = expected.iter().map(|found| &found.wait).collect();
        waits.dedup();
        let count = waits.len() as u64;
        assert_eq!(totals["waits"].as_u64(), Some(count), "{arguments:?}");
    }
    assert!(selected > SELECTIONS / 4, "{selected}");
}
