//! Cycles in the hooks: how they are distributed, and how they grow with the number of processors that contend.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use jvm_tests::{Jvm, ReturnBarriers};
use serde::Serialize;
use trace_analysis::TraceFile;
use trace_format::{Chunk, Counter, Event, HookPart, SystemRecord, ThreadId};

use crate::statistics::quantile;
use crate::survey::Setup;
use crate::survey::plan::Budget;
use crate::survey::processors;
use crate::survey::section::Section;

/// The locks, whose hooks have nothing in common.
const LOCKS: [&str; 2] = ["monitor", "nonfair"];

/// The hooks of one kind while some processors contend.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HookCosts {
    pub(crate) hook: &'static str,
    /// The number of processors that contend, with two threads for each.
    pub(crate) processors: usize,
    /// Hooks of the sample.
    pub(crate) sampled: usize,
    pub(crate) p50_cycles: f64,
    pub(crate) p90_cycles: f64,
    pub(crate) p99_cycles: f64,
}

/// Measures the hooks with 1, 2, 4 and more processors.
pub(crate) fn run(setup: &Setup, mut budget: Budget) -> Section<Vec<HookCosts>> {
    let counts = processor_counts(setup.processors.len());
    let duration_ms = duration_ms(budget.all(), counts.len() * LOCKS.len());
    let mut section = Section::<Vec<HookCosts>>::new();
    for lock in LOCKS {
        for &count in &counts {
            let place = format!("hooks of {lock} on {count} processors");
            let costs = section.step(&mut budget, &place, || {
                processors::on(&setup.processors[..count], || {
                    costs(lock, count, duration_ms)
                })
            });
            section.figures.extend(costs.into_iter().flatten());
        }
    }
    section
}

/// Powers of two up to the number of processors, and that number.
fn processor_counts(all: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |count| Some(2 * count));
    let mut counts: Vec<usize> = powers.take_while(|&count| count < all).collect();
    counts.push(all);
    counts
}

/// The duration of a program, if this number is to end in time. To read its trace takes as long.
fn duration_ms(time: Duration, runs: usize) -> u64 {
    let each = time / 2 / runs.max(1) as u32;
    (each.as_millis() as u64).clamp(500, 5_000)
}

/// Lets some processors contend; panics if the program fails.
fn costs(lock: &str, processors: usize, duration_ms: u64) -> Vec<HookCosts> {
    let threads = (2 * processors).to_string();
    let program = [
        "scenarios.LockTurns",
        lock,
        &threads,
        &duration_ms.to_string(),
    ];
    let run = Jvm::traced(&program)
        .flags(ReturnBarriers::On.flags())
        .run();
    let hooks = Hooks::read(&run.trace()).unwrap_or_else(|error| panic!("{error:#}"));
    let cycles_per_ns = hooks.cycles_per_ns;
    let costs = hooks.durations_ns().into_iter().map(|(hook, mut ns)| {
        ns.sort_unstable();
        let cycles = |ns: u64| ns as f64 * cycles_per_ns;
        let cycles: Vec<f64> = ns.into_iter().map(cycles).collect();
        HookCosts {
            hook,
            processors,
            sampled: cycles.len(),
            p50_cycles: quantile(&cycles, 0.5),
            p90_cycles: quantile(&cycles, 0.9),
            p99_cycles: quantile(&cycles, 0.99),
        }
    });
    costs.collect()
}

/// The sample of hooks in a trace.
struct Hooks {
    /// By thread, in the order of their ends.
    parts: BTreeMap<ThreadId, Vec<HookPart>>,
    /// Time and kind of the events of each thread, in order.
    events: BTreeMap<ThreadId, Vec<(u64, &'static str)>>,
    cycles_per_ns: f64,
}

const EXIT: &str = "exit";
/// It leaves no event.
const ACQUIRE: &str = "acquire";

/// Clocks are read some nanoseconds apart.
const SLACK_NS: u64 = 100;

/// Both parts of an exit are at most this far apart: the release is in between.
const RELEASE_NS: u64 = 20_000;

impl Hooks {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let trace = TraceFile::open(path)?;
        let mut hooks = Self {
            parts: BTreeMap::new(),
            events: BTreeMap::new(),
            cycles_per_ns: 0.0,
        };
        let (mut elapsed_cycles, mut end_ns) = (0, 0);
        let mut reader = trace.read()?;
        while let Some(chunk) = trace.next_chunk(&mut reader)? {
            match chunk {
                Chunk::Events(events) => {
                    for segment in events.segments() {
                        let segment = segment?;
                        for event in segment.events() {
                            hooks.add_event(segment.thread, &event?);
                        }
                    }
                }
                Chunk::System(records) => {
                    for record in records {
                        if let SystemRecord::HookPart(part) = record? {
                            hooks.parts.entry(part.thread).or_default().push(part);
                        }
                    }
                }
                Chunk::Counters(values) => {
                    let values: Vec<_> = values.flatten().collect();
                    let cycles = values
                        .iter()
                        .find(|(counter, _)| *counter == Counter::ElapsedCycles);
                    elapsed_cycles = cycles.map_or(elapsed_cycles, |&(_, cycles)| cycles);
                }
                Chunk::End { time_ns, .. } => end_ns = time_ns,
            }
        }
        hooks.cycles_per_ns = (end_ns > 0)
            .then(|| elapsed_cycles as f64 / end_ns as f64)
            .context("the trace has no end")?;
        for parts in hooks.parts.values_mut() {
            parts.sort_by_key(|part| part.end_ns);
        }
        for events in hooks.events.values_mut() {
            events.sort_unstable();
        }
        Ok(hooks)
    }

    fn add_event(&mut self, thread: ThreadId, event: &Event<'_>) {
        let hook = match event {
            Event::ContendedEnter(_) => "enter",
            Event::ContendedEntered(_) => "entered",
            Event::ContendedExit(_) => EXIT,
            Event::ParkBegin(park) if park.monitor => "wait begin",
            Event::ParkEnd(park) if park.monitor => "wait end",
            Event::Unpark(unpark) if unpark.waiters > 0 => "notify",
            Event::ParkBegin(_) => "park begin",
            Event::ParkEnd(_) => "park end",
            Event::Unpark(_) => "unpark",
            _ => return,
        };
        let time_ns = event.time_ns().map(|time_ns| (time_ns, hook));
        self.events.entry(thread).or_default().extend(time_ns);
    }

    /// The durations by hook. A part is of the hook whose event lies in it; an exit has a second part after the
    /// release.
    fn durations_ns(&self) -> BTreeMap<&'static str, Vec<u64>> {
        let mut durations: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for (thread, parts) in &self.parts {
            let events = self.events.get(thread).map_or(&[][..], Vec::as_slice);
            let mut parts = parts.iter().peekable();
            while let Some(part) = parts.next() {
                let hook = hook_of(part, events);
                let is_rest = |next: &&HookPart| {
                    matches!(hook, None | Some(EXIT))
                        && hook_of(next, events).is_none()
                        && begin_ns(next).saturating_sub(part.end_ns) < RELEASE_NS
                };
                let rest = parts.next_if(is_rest);
                let hook = match rest {
                    Some(_) => EXIT,
                    None => hook.unwrap_or(ACQUIRE),
                };
                let rest_ns = rest.map_or(0, |rest| rest.duration_ns);
                let all_ns = part.duration_ns + rest_ns;
                durations.entry(hook).or_default().push(all_ns);
            }
        }
        durations
    }
}

/// Returns the hook whose event lies in a part, if one does.
fn hook_of(part: &HookPart, events: &[(u64, &'static str)]) -> Option<&'static str> {
    let until = events.partition_point(|&(time_ns, _)| time_ns <= part.end_ns);
    let &(time_ns, hook) = events[..until].last()?;
    (time_ns + SLACK_NS >= begin_ns(part)).then_some(hook)
}

fn begin_ns(part: &HookPart) -> u64 {
    part.end_ns.saturating_sub(part.duration_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_up_to_all_processors() {
        assert_eq!(processor_counts(1), [1]);
        assert_eq!(processor_counts(8), [1, 2, 4, 8]);
        assert_eq!(processor_counts(12), [1, 2, 4, 8, 12]);
    }

    fn part(begin_ns: u64, end_ns: u64) -> HookPart {
        HookPart {
            thread: ThreadId(1),
            end_ns,
            duration_ns: end_ns - begin_ns,
            weight: 64,
        }
    }

    #[test]
    fn parts_are_of_the_hooks_whose_events_they_have() {
        let parts = vec![
            part(1_000, 1_200),
            part(100_000, 100_300),
            // The same exit before and after the release.
            part(200_000, 200_100),
            part(201_000, 201_250),
            part(300_000, 300_050),
        ];
        let events = vec![(1_150, "enter"), (100_200, "entered"), (200_050, EXIT)];
        let hooks = Hooks {
            parts: BTreeMap::from([(ThreadId(1), parts)]),
            events: BTreeMap::from([(ThreadId(1), events)]),
            cycles_per_ns: 2.0,
        };
        let expected = [
            ("enter", vec![200]),
            ("entered", vec![300]),
            (EXIT, vec![350]),
            (ACQUIRE, vec![50]),
        ];
        assert_eq!(hooks.durations_ns(), BTreeMap::from(expected));
    }
}
