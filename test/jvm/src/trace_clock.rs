//! Conversion of a trace's times to the clock of the traced program.

use std::path::Path;

use trace_format::Event;

use crate::jvm::Run;
use crate::summary::for_each_event;

/// The findings of `scenarios/TraceClock.java`.
#[derive(Clone, Copy, Debug)]
pub struct TraceClock {
    /// The trace's start, by `System.nanoTime()`, no earlier than this.
    earliest_ns: i64,
    /// No later than this.
    latest_ns: i64,
}

impl TraceClock {
    /// Reads what a run printed and traced.
    pub fn of(run: &Run) -> Self {
        let mut clock = Self {
            earliest_ns: i64::MIN,
            latest_ns: i64::MAX,
        };
        let parks = parks_of_clock(&run.trace());
        let readings: Vec<_> = run.lines_of("clock").collect();
        assert_eq!(parks.len(), readings.len(), "one park between two readings");
        for ((begin_ns, end_ns), times) in parks.into_iter().zip(readings) {
            let time = |text: &str| text.parse::<i64>().expect("a time in nanoseconds");
            let [before_ns, after_ns] = times[..] else {
                panic!("not two readings: {times:?}");
            };
            let earliest_ns = time(before_ns) - signed(begin_ns);
            let latest_ns = time(after_ns) - signed(end_ns);
            clock.earliest_ns = clock.earliest_ns.max(earliest_ns);
            clock.latest_ns = clock.latest_ns.min(latest_ns);
        }
        assert!(clock.earliest_ns <= clock.latest_ns, "{clock:?}");
        clock
    }

    /// A time of the trace on the program's clock, give or take the uncertainty.
    pub fn program_time_ns(self, time_ns: u64) -> i64 {
        self.earliest_ns + self.uncertainty_ns() + signed(time_ns)
    }

    /// Returns the uncertainty of such a time.
    pub fn uncertainty_ns(self) -> i64 {
        (self.latest_ns - self.earliest_ns) / 2
    }
}

/// Returns the begins and ends of the parks of the thread "clock".
fn parks_of_clock(trace: &Path) -> Vec<(u64, u64)> {
    let mut clock = None;
    let mut parks = Vec::new();
    let mut begin_ns = None;
    for_each_event(trace, |thread, event| match event {
        Event::ThreadStart(start) if start.name == "clock" => clock = Some(thread),
        Event::ParkBegin(begin) if clock == Some(thread) => begin_ns = Some(begin.time_ns),
        Event::ParkEnd(end) if clock == Some(thread) => {
            parks.push((begin_ns.take().expect("it began to park"), end.time_ns));
        }
        _ => {}
    });
    parks
}

fn signed(time_ns: u64) -> i64 {
    time_ns
        .try_into()
        .expect("a trace is shorter than 292 years")
}
