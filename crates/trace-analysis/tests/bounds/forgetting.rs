//! Threads and locks that come and go need no more memory than they may take, and nothing is
//! missing from the sums.

use std::ops::ControlFlow;

use trace_analysis::{
    Aggregation, Analysis, Aspect, Counter, Entities, Limits, RowLimits, TraceInput, TraceSummary,
    Wait, WaitSink,
};
use trace_format::{
    Blocker, Capabilities, ClassId, Event, JavaThreadId, LockDescription, LockId, LockOwner,
    LockRetired, PARK_DOMAINS, ParkBegin, ParkEnd, ParkEndReason, Permit, StackRange, ThreadEnd,
    ThreadId, ThreadStart, Unpark,
};

use crate::events::{CHAIN, CLASS, class, code, enter, entered, lock_description};
use crate::meter::{Cost, Meter};
use crate::trace::Trace;

const REQUESTS: u32 = 200_000;
/// Memory for names: a tenth of what they take.
const NAME_BYTES: usize = 1 << 20;

/// A thread that lives as long as the program.
const SERVER: ThreadId = ThreadId(1);
/// One that waits for something from its first to its last moment.
const PATIENT: ThreadId = ThreadId(2);
const TASK: ClassId = ClassId(2);
const LATCH: ClassId = ClassId(3);

fn start(thread: ThreadId, name: &'static str) -> (ThreadId, Event<'static>) {
    let start = ThreadStart {
        java_id: JavaThreadId(thread.0.into()),
        name,
        time_ns: 0,
        stack: StackRange {
            lowest: u64::from(thread.0 % 100) << 20,
            size: 1 << 20,
        },
    };
    (thread, Event::ThreadStart(start))
}

/// Number and time of the next event in the domain of all blockers here.
struct Clock(u64);

impl Clock {
    const DOMAIN: LockId = LockId(1);

    fn begin(&mut self, thread: ThreadId, class: ClassId, hash: u32) -> (ThreadId, Event<'static>) {
        self.0 += 1;
        let begin = ParkBegin {
            domain: Self::DOMAIN,
            sequence: self.0,
            time_ns: self.0,
            blocker: Blocker {
                class,
                identity_hash: hash,
            },
            chain: CHAIN,
            ..ParkBegin::default()
        };
        (thread, Event::ParkBegin(begin))
    }

    fn unpark(&mut self, target: ThreadId) -> (ThreadId, Event<'static>) {
        self.0 += 1;
        let unpark = Unpark {
            domain: Self::DOMAIN,
            sequence: self.0,
            time_ns: self.0,
            target: JavaThreadId(target.0.into()),
            permit: Permit(target.0),
            chain: CHAIN,
            ..Unpark::default()
        };
        (SERVER, Event::Unpark(unpark))
    }

    fn end(&mut self, thread: ThreadId) -> (ThreadId, Event<'static>) {
        self.0 += 1;
        let end = ParkEnd {
            domain: Self::DOMAIN,
            sequence: self.0,
            time_ns: self.0,
            reason: ParkEndReason::Unparked,
            permit: Permit(thread.0),
            ..ParkEnd::default()
        };
        (thread, Event::ParkEnd(end))
    }

    /// A thread that waits for its own monitor, and then for what the server makes.
    fn request(&mut self, number: u32) -> Vec<(ThreadId, Event<'static>)> {
        let thread = ThreadId(number + 10);
        let monitor = LockId(PARK_DOMAINS + 1 + u64::from(number));
        let Event::LockDescription(description) = lock_description(monitor, CLASS) else {
            unreachable!("it is one");
        };
        let description = LockDescription {
            identity_hash: number,
            ..description
        };
        let retired = LockRetired {
            lock: monitor,
            sequence: 3,
        };
        vec![
            start(thread, "request"),
            (thread, Event::LockDescription(description)),
            (thread, enter(monitor, 1, LockOwner::Thread(SERVER))),
            (thread, entered(monitor, 2)),
            (thread, Event::LockRetired(retired)),
            self.begin(thread, TASK, number),
            self.unpark(thread),
            self.end(thread),
            (thread, Event::ThreadEnd(ThreadEnd { time_ns: self.0 })),
        ]
    }
}

/// Returns the trace of `count` requests.
fn requests(count: u32) -> Trace {
    let mut clock = Clock(0);
    let classes = [
        class(TASK, "com.example.Task"),
        class(LATCH, "com.example.Latch"),
    ];
    let described = code("com.example.Monitor").into_iter().chain(classes);
    let mut first: Vec<_> = [start(SERVER, "server"), start(PATIENT, "patient")].into();
    first.extend(described.map(|event| (SERVER, event)));
    first.push(clock.begin(PATIENT, LATCH, u32::MAX));
    let first = first.into_iter();
    let mut requests = 0..=count;
    let all = std::iter::from_fn(move || {
        Some(match requests.next()? {
            last if last == count => vec![clock.unpark(PATIENT), clock.end(PATIENT)],
            number => clock.request(number),
        })
    });
    Trace::of(Capabilities::default(), first.chain(all.flatten()))
}

/// The sums, and what the patient thread waited for, by whom it was woken.
struct Found {
    sums: Aggregation,
    patient: Vec<String>,
}

impl WaitSink for Found {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.sums.add(wait, entities);
        if &*entities.thread(wait.thread).name == "patient" {
            let owners = wait.blame.iter().filter_map(|blame| blame.owner.thread());
            let owners: Vec<_> = owners
                .map(|(thread, _)| entities.thread_long_label(thread))
                .collect();
            let lock = entities.lock_name(wait.lock);
            let duration_ns = wait.duration_ns;
            self.patient
                .push(format!("{lock} {duration_ns} {owners:?}"));
        }
    }
}

fn analyze(
    meter: &Meter,
    trace: &Trace,
    by: &[Aspect],
    name_bytes: usize,
) -> (Found, String, TraceSummary, Cost) {
    let (cost, (found, rows, summary)) = meter.measure(|| {
        let mut found = Found {
            sums: Aggregation::new(by.to_vec()),
            patient: Vec::new(),
        };
        let mut analysis = Analysis::new(Limits::default()).with_max_name_bytes(name_bytes);
        let go_on = |_| ControlFlow::Continue(());
        let input = TraceInput::open(trace.path()).expect("a trace");
        let summary = input.analyze(&mut analysis, &mut found, go_on);
        let rows = found.sums.rows(RowLimits::default(), analysis.entities());
        (found, format!("{rows:?}"), summary.expect("readable"))
    });
    (found, rows, summary, cost)
}

#[test]
fn threads_and_locks_that_come_and_go_are_forgotten_but_nothing_of_the_sums() {
    let meter = Meter::alone();
    let trace = requests(REQUESTS);
    let by = [Aspect::LockClass, Aspect::Kind, Aspect::OwnerThread];
    let (all, all_rows, summary, _) = analyze(&meter, &trace, &by, usize::MAX);
    for counter in [Counter::LocksForgotten, Counter::ThreadsForgotten] {
        assert_eq!(summary.counters.value(counter), 0, "{}", counter.name());
    }
    let (found, rows, summary, _) = analyze(&meter, &trace, &by, NAME_BYTES);
    assert_eq!(found.sums.totals(), all.sums.totals());
    assert_eq!(rows, all_rows);
    assert_eq!(found.patient, all.patient);
    assert_eq!(found.patient.len(), 1);
    let counters = &summary.counters;
    let requests = u64::from(REQUESTS);
    let forgotten = counters.value(Counter::ThreadsForgotten);
    assert!((requests / 2..requests).contains(&forgotten), "{forgotten}");
    let forgotten = counters.value(Counter::LocksForgotten);
    assert!((requests..2 * requests).contains(&forgotten), "{forgotten}");
    for counter in [
        Counter::ThreadsNotDescribed,
        Counter::LocksNotDescribed,
        Counter::EnteredWithoutEnter,
    ] {
        assert_eq!(counters.value(counter), 0, "{}", counter.name());
    }
}

#[test]
fn the_forgotten_take_little_memory() {
    let meter = Meter::alone();
    let [bytes, bytes_of_half] = [REQUESTS, REQUESTS / 2].map(|count| {
        let (.., cost) = analyze(&meter, &requests(count), &[Aspect::LockClass], NAME_BYTES);
        cost.bytes
    });
    // Two locks and a thread, of which numbers remain: some bits, and spare capacity.
    let more_bytes = bytes.saturating_sub(bytes_of_half);
    assert!(
        more_bytes < REQUESTS as usize / 2 * 16,
        "{bytes} and {bytes_of_half}"
    );
    assert!(bytes < 8 << 20, "{bytes}");
}

/// Rows of what is forgotten are one, whose sums are those of all.
#[test]
fn what_is_forgotten_is_one_row() {
    let meter = Meter::alone();
    let trace = requests(REQUESTS);
    let (found, rows, ..) = analyze(&meter, &trace, &[Aspect::Lock], NAME_BYTES);
    assert_eq!(found.sums.totals().all.waits, u64::from(2 * REQUESTS + 1));
    assert_eq!(rows.matches("<other locks>").count(), 1, "{rows:.1000}");
}
