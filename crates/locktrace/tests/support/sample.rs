//! Writes small traces.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use trace_format::{
    Blocker, Capabilities, ChainDescription, ChainId, ChainRef, ChainRetired, ChunkWriter,
    ClassDescription, ClassId, ContendedEnter, ContendedEntered, ContendedExit, Counter, Event,
    FileHeader, ForwardRef, ForwardResolved, Frame, Freeze, Hold, JavaThreadId, LoaderId,
    LockDescription, LockId, LockOwner, LostNumbers, MethodDescription, MethodId, PARK_DOMAINS,
    ParkBegin, ParkEnd, ParkEndReason, Permit, SegmentEncoder, StackRange, SystemRecord, ThreadId,
    ThreadStart, Unpark,
};

/// A trace under construction.
pub(crate) struct Sample {
    /// The events of each thread: thread *n* is at *n* - 1.
    threads: Vec<Vec<Event<'static>>>,
    sequences: Vec<u64>,
    counters: Vec<(Counter, u64)>,
    pid: u32,
    start_unix_ns: u64,
    capabilities: Capabilities,
    /// How often a thread has waited for a latch.
    conditions: u64,
    /// When the process did not run.
    freezes: Vec<Freeze>,
    /// How many events threads have at times when they are written.
    writes: Vec<Vec<usize>>,
}

/// Java frames of the samples: class, source file, method, descriptor, line.
type JavaFrame = (&'static str, &'static str, &'static str, &'static str, i32);

/// Call chains by number minus one, innermost frame first.
const CHAINS: &[&[JavaFrame]] = &[
    &[
        (
            "java.util.Hashtable",
            "Hashtable.java",
            "get",
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            362,
        ),
        (
            "org.apache.xml.dtm.DTMManager",
            "DTMManager.java",
            "getDTM",
            "(I)V",
            118,
        ),
        (
            "org.apache.xalan.transformer.TransformerImpl",
            "TransformerImpl.java",
            "run",
            "()V",
            3434,
        ),
        ("java.lang.Thread", "Thread.java", "run", "()V", 745),
    ],
    &[
        (
            "java.util.Hashtable",
            "Hashtable.java",
            "put",
            "(Ljava/lang/Object;Ljava/lang/Object;)V",
            459,
        ),
        (
            "org.apache.xml.dtm.DTMManager",
            "DTMManager.java",
            "addDTM",
            "(I)V",
            97,
        ),
        (
            "org.apache.xalan.transformer.TransformerImpl",
            "TransformerImpl.java",
            "run",
            "()V",
            3441,
        ),
        ("java.lang.Thread", "Thread.java", "run", "()V", 745),
    ],
    &[
        (
            "avrora.sim.SimPrinter",
            "SimPrinter.java",
            "printBuffer",
            "(Ljava/lang/StringBuffer;)V",
            54,
        ),
        (
            "avrora.sim.Node",
            "Node.java",
            "fireAfterReceiveEnd",
            "(I)V",
            208,
        ),
        ("java.lang.Thread", "Thread.java", "run", "()V", 745),
    ],
    &[
        ("Queue", "Queue.java", "dequeue", "()Ljava/lang/Object;", 17),
        ("java.lang.Thread", "Thread.java", "run", "()V", 745),
    ],
    &[
        ("java.lang.Object", "Object.java", "wait", "(J)V", -1),
        ("Queue", "Queue.java", "awaitNotEmpty", "()V", 24),
        ("Queue", "Queue.java", "dequeue", "()Ljava/lang/Object;", 18),
        ("java.lang.Thread", "Thread.java", "run", "()V", 745),
    ],
];

/// Call chains of the samples.
pub(crate) const HASHTABLE_GET: ChainId = ChainId(1);
pub(crate) const HASHTABLE_PUT: ChainId = ChainId(2);
pub(crate) const PRINT: ChainId = ChainId(3);
pub(crate) const DEQUEUE: ChainId = ChainId(4);
pub(crate) const INSIDE_WAIT: ChainId = ChainId(5);

const MICROSECOND: u64 = 1_000;

impl Sample {
    /// A trace of some threads, which describes `CHAINS` and three locks: a
    /// `Hashtable`, the class `Terminal`, and a `Queue`.
    pub(crate) fn new(names: &[&'static str]) -> Self {
        let mut sample = Self {
            threads: vec![Vec::new(); names.len()],
            sequences: vec![0; 3],
            counters: Vec::new(),
            pid: 4711,
            start_unix_ns: 1_456_789_012_345_678_901,
            capabilities: Capabilities::default(),
            conditions: 0,
            freezes: Vec::new(),
            writes: Vec::new(),
        };
        for (at, name) in names.iter().enumerate() {
            let java_id = JavaThreadId(at as u64 + 10);
            sample.threads[at].push(Event::ThreadStart(ThreadStart {
                time_ns: 0,
                java_id,
                name,
                stack: StackRange::default(),
            }));
        }
        let mut classes: Vec<&str> = vec!["java.lang.Class", "avrora.util.Terminal"];
        let mut methods: Vec<(&str, &str, &str)> = Vec::new();
        sample.write(1, class(1, "java.lang.Class", "Class.java"));
        sample.write(1, class(2, "avrora.util.Terminal", "Terminal.java"));
        for (at, chain) in CHAINS.iter().enumerate() {
            let mut frames = Vec::new();
            for &(class_name, source_file, name, signature, line) in *chain {
                if !classes.contains(&class_name) {
                    classes.push(class_name);
                    sample.write(1, class(classes.len() as u32, class_name, source_file));
                }
                if !methods.contains(&(class_name, name, signature)) {
                    methods.push((class_name, name, signature));
                    let method = MethodId(methods.len() as u32);
                    let class = ClassId(id(&classes, &class_name));
                    sample.write(
                        1,
                        Event::Method(MethodDescription {
                            method,
                            class,
                            name,
                            signature,
                        }),
                    );
                }
                let method = MethodId(id(&methods, &(class_name, name, signature)));
                frames.push(Frame {
                    method,
                    bci: 1,
                    line,
                });
            }
            let chain = ChainId(at as u32 + 1);
            sample.write(
                1,
                Event::Chain(ChainDescription {
                    chain,
                    frames,
                    truncated: false,
                }),
            );
        }
        for (lock, class, mirrored_class, identity_hash) in [
            (1, id(&classes, &"java.util.Hashtable"), 0, 0x49ab_f544),
            (2, 1, 2, 0x1b2c_6ec2),
            (3, id(&classes, &"Queue"), 0, 0x4edd_e6e5),
        ] {
            let monitor_address = 0x7f00_0000_1000 + lock * 0x100;
            sample.write(
                1,
                Event::LockDescription(LockDescription {
                    lock: LockId(PARK_DOMAINS + lock),
                    class: ClassId(class),
                    mirrored_class: ClassId(mirrored_class),
                    identity_hash,
                    monitor_address,
                }),
            );
        }
        sample
    }

    /// Makes all stacks deeper than what was recorded of them.
    pub(crate) fn cut_off_chains(&mut self) {
        for event in self.threads.iter_mut().flatten() {
            if let Event::Chain(ChainDescription { truncated, .. }) = event {
                *truncated = true;
            }
        }
    }

    /// Adds a lock whose class is called `class_name`, and returns its number.
    pub(crate) fn add_lock(&mut self, class_name: &'static str) -> u64 {
        self.sequences.push(0);
        let lock = self.sequences.len() as u64;
        let id = 500 + lock as u32;
        self.write(1, class(id, class_name, ""));
        self.write(
            1,
            Event::LockDescription(LockDescription {
                lock: LockId(PARK_DOMAINS + lock),
                class: ClassId(id),
                mirrored_class: ClassId::NONE,
                identity_hash: id,
                monitor_address: 0,
            }),
        );
        lock
    }

    /// Calls a class otherwise than it is called.
    pub(crate) fn rename_class(&mut self, from: &str, to: &'static str) {
        for event in self.threads.iter_mut().flatten() {
            if let Event::Class(ClassDescription { name, .. }) = event
                && *name == from
            {
                *name = to;
            }
        }
    }

    /// Calls a method otherwise than it is called.
    pub(crate) fn rename_method(&mut self, from: &str, to: &'static str) {
        for event in self.threads.iter_mut().flatten() {
            if let Event::Method(MethodDescription { name, .. }) = event
                && *name == from
            {
                *name = to;
            }
        }
    }

    /// A little of everything.
    pub(crate) fn demo() -> Self {
        let mut sample = Self::new(&["main", "worker-1", "worker-2", "worker-3"]);
        for round in 0..40 {
            let start_us = 1_000 * round;
            sample.enter(2, 1, start_us + 10, HASHTABLE_GET);
            sample.enter(3, 1, start_us + 20, HASHTABLE_GET);
            sample.exit(1, 1, start_us + 310, HASHTABLE_PUT);
            sample.entered(2, 1, start_us + 315, 0);
            sample.exit(2, 1, start_us + 365, HASHTABLE_GET);
            sample.entered(3, 1, start_us + 371, 5);
            if round % 4 == 0 {
                sample.enter(4, 2, start_us + 400, PRINT);
                sample.exit(2, 2, start_us + 640, PRINT);
                sample.entered(4, 2, start_us + 644, 0);
            }
            if round % 10 == 0 {
                sample.enter(1, 3, start_us + 700, DEQUEUE);
                sample.exit_forward(3, 3, start_us + 710, round + 1);
                sample.entered(1, 3, start_us + 712, 0);
                sample.enter_after_wait(3, 3, start_us + 730, INSIDE_WAIT);
                sample.exit(1, 3, start_us + 760, DEQUEUE);
                sample.entered(3, 3, start_us + 763, 0);
                sample.write(
                    3,
                    Event::ForwardResolved(ForwardResolved {
                        forward_ref: ForwardRef(round + 1),
                        chain: DEQUEUE,
                    }),
                );
                sample.enter(2, 3, start_us + 800, DEQUEUE);
                sample.entered(2, 3, start_us + 802, 0);
            }
        }
        sample.counters = vec![
            (Counter::LostEvents, 0),
            (Counter::PeakBuffers, 5),
            (Counter::PeakBufferBytes, 81_920),
            (Counter::PeakThreadBytes, 14_336),
            (Counter::DrainerCpuNs, 412_000),
        ];
        sample
    }

    /// The process does not run from then on, for that duration.
    pub(crate) fn freeze(&mut self, start_us: u64, duration_us: u64) {
        let begin_ns = start_us * MICROSECOND;
        self.freezes.push(Freeze {
            begin_ns,
            end_ns: begin_ns + duration_us * MICROSECOND,
        });
        let frozen_ns = duration_us * MICROSECOND;
        self.counters
            .extend([(Counter::Freezes, 1), (Counter::FrozenNs, frozen_ns)]);
    }

    /// A nester owns the first lock while it waits, for 80 microseconds, for the second one, which the first thread
    /// has. A waiter waits for the first lock meanwhile.
    pub(crate) fn nest(
        &mut self,
        [nester, waiter]: [u32; 2],
        [outer, inner]: [u64; 2],
        start_us: u64,
        [owning, waiting]: [ChainId; 2],
    ) {
        self.enter(nester, inner, start_us + 10, waiting);
        self.enter(waiter, outer, start_us + 20, HASHTABLE_GET);
        self.exit(1, inner, start_us + 90, DEQUEUE);
        self.entered(nester, inner, start_us + 91, 0);
        self.exit(nester, outer, start_us + 120, owning);
        self.entered(waiter, outer, start_us + 125, 0);
    }

    /// One thread waits for another one this number of times, between a microsecond and half a
    /// millisecond as a fixed sequence of random numbers says.
    pub(crate) fn with_many_waits(waits: u64) -> Self {
        let mut sample = Self::new(&["main", "worker-1"]);
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut time_us = 0;
        for _ in 0..waits {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            time_us += 1 + random % 200;
            sample.enter(2, 1, time_us, HASHTABLE_GET);
            time_us += 1 + (random >> 20) % 500;
            sample.exit(1, 1, time_us, HASHTABLE_PUT);
            sample.entered(2, 1, time_us, 0);
        }
        sample
    }

    /// Threads that hand over two locks this number of times, half of them at each, to whomever a fixed sequence of random
    /// numbers says: who releases one wants it again. Their waits have many parts, which begin and end at the same
    /// times, as all wait for the same owners. Every 100 microseconds the trace is written, so that the waits for both
    /// locks are found by turns.
    pub(crate) fn crowd(threads: u32, handoffs: u64) -> Self {
        let names: Vec<_> = (1..=threads).map(|at| &*format!("t{at}").leak()).collect();
        let mut sample = Self::new(&names);
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut locks = [1, 2].map(|lock| {
            let of_lock = (1..=threads).filter(|at| u64::from(at % 2) + 1 == lock);
            let mut waiting: Vec<_> = of_lock.collect();
            let owner = waiting.pop();
            for &thread in &waiting {
                sample.enter(thread, lock, 1, HASHTABLE_GET);
            }
            (lock, owner, waiting, 1)
        });
        for slice in 1..=handoffs {
            for (lock, owner, waiting, time_us) in &mut locks {
                while let Some(releasing) = *owner
                    && *time_us < 100 * slice
                {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    *time_us += 1 + random % 10;
                    sample.exit(releasing, *lock, *time_us, HASHTABLE_PUT);
                    *owner = (!waiting.is_empty())
                        .then(|| waiting.swap_remove((random >> 20) as usize % waiting.len()));
                    if let Some(next) = *owner {
                        *time_us += (random >> 40) % 3;
                        sample.entered(next, *lock, *time_us, 0);
                    }
                    if *time_us < 5 * handoffs {
                        sample.enter(releasing, *lock, *time_us, HASHTABLE_GET);
                        waiting.push(releasing);
                    }
                }
            }
            sample
                .writes
                .push(sample.threads.iter().map(Vec::len).collect());
        }
        sample
    }

    /// A wait in each of a number of classes, whose names are as long as a class file allows
    /// and no text that could be packed.
    pub(crate) fn with_long_names(classes: u32) -> Self {
        const FIRST: u32 = 1_000;
        let mut sample = Self::new(&["main", "worker-1"]);
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut name = || {
            let mut name = String::from("generated.");
            while name.len() < 65_000 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                write!(name, "{random:016x}").expect("a string takes all text");
            }
            &*name.leak()
        };
        for at in FIRST..FIRST + classes {
            sample.write(1, class(at, name(), "Generated.java"));
            sample.write(
                1,
                Event::Method(MethodDescription {
                    method: MethodId(at),
                    class: ClassId(at),
                    name: "run",
                    signature: "()V",
                }),
            );
            let frames = vec![Frame {
                method: MethodId(at),
                bci: 1,
                line: 7,
            }];
            sample.write(
                1,
                Event::Chain(ChainDescription {
                    chain: ChainId(at),
                    frames,
                    truncated: false,
                }),
            );
            let time_us = u64::from(at) * 100;
            sample.enter(2, 1, time_us, ChainId(at));
            sample.exit(1, 1, time_us + 20, HASHTABLE_PUT);
            sample.entered(2, 1, time_us + 30, 0);
        }
        sample
    }

    /// `thread` waits until `waker` counts down a latch.
    pub(crate) fn wait_for_condition(&mut self, thread: u32, waker: u32, duration_us: u64) {
        const LATCH: u32 = 90;
        let latch = "java.util.concurrent.CountDownLatch";
        let queue = "java.util.concurrent.locks.AbstractQueuedSynchronizer";
        for (id, name) in [
            (LATCH, "java.util.concurrent.CountDownLatch$Sync"),
            (91, queue),
            (92, latch),
            (93, "avrora.sim.Simulation"),
        ] {
            self.write(waker, class(id, name, ""));
        }
        for (method, class, name) in [
            (90, 91, "parkAndCheckInterrupt"),
            (91, 92, "await"),
            (92, 93, "join"),
            (93, 91, "doReleaseShared"),
            (94, 92, "countDown"),
            (95, 93, "end"),
        ] {
            let signature = "()V";
            self.write(
                waker,
                Event::Method(MethodDescription {
                    method: MethodId(method),
                    class: ClassId(class),
                    name,
                    signature,
                }),
            );
        }
        for (chain, methods) in [(90, [90, 91, 92]), (91, [93, 94, 95])] {
            let frames = methods.map(|method| Frame {
                method: MethodId(method),
                bci: 1,
                line: -1,
            });
            self.write(
                waker,
                Event::Chain(ChainDescription {
                    chain: ChainId(chain),
                    frames: frames.into(),
                    truncated: false,
                }),
            );
        }
        let blocker = Blocker {
            class: ClassId(LATCH),
            identity_hash: 1,
        };
        let domain = 1;
        let sequence = 1 + 3 * self.conditions;
        let permit = Permit(8 * (1 + self.conditions as u32));
        self.conditions += 1;
        let end_ns = duration_us * MICROSECOND;
        self.write(
            thread,
            Event::ParkBegin(ParkBegin {
                domain: LockId(domain),
                sequence,
                // At 0 it would have begun before the trace.
                time_ns: 1,
                blocker,
                chain: ChainId(90),
                ..ParkBegin::default()
            }),
        );
        self.write(
            waker,
            Event::Unpark(Unpark {
                domain: LockId(domain),
                sequence: sequence + 1,
                time_ns: end_ns - 1_000,
                target: JavaThreadId(u64::from(thread) + 9),
                permit,
                blocker,
                chain: ChainId(91),
                ..Unpark::default()
            }),
        );
        self.write(
            thread,
            Event::ParkEnd(ParkEnd {
                domain: LockId(domain),
                sequence: sequence + 2,
                time_ns: end_ns,
                reason: ParkEndReason::Unparked,
                permit,
                ..ParkEnd::default()
            }),
        );
    }

    /// Adds what the tracer counted of its own cost: the processor runs at
    /// 2 GHz.
    pub(crate) fn count_costs(&mut self) {
        self.counters.extend([
            (Counter::Chains, 5),
            (Counter::ChainsRecorded, 204),
            (Counter::ChainsFound, 198),
            (Counter::ChainsPurged, 2),
            (Counter::FramesVisited, 1_200),
            (Counter::FramesSaved, 800),
            (Counter::ElapsedCycles, 100_000_000),
            (Counter::EnterHooks, 101),
            (Counter::EnterCycles, 61_000),
            (Counter::EnteredHooks, 102),
            (Counter::EnteredCycles, 15_000),
            (Counter::ExitHooks, 98),
            (Counter::ExitCycles, 73_000),
            (Counter::ParkEndHooks, 0),
            (Counter::ParkEndCycles, 0),
            (Counter::InterruptedHooks, 1),
            (Counter::InterruptedCycles, 20_000_000),
        ]);
    }

    fn write(&mut self, thread: u32, event: Event<'static>) {
        self.threads[thread as usize - 1].push(event);
    }

    /// The lock's number in the trace, and the number of its next event.
    fn next_number(&mut self, lock: u64) -> (LockId, u64) {
        let sequence = &mut self.sequences[lock as usize - 1];
        *sequence += 1;
        (LockId(PARK_DOMAINS + lock), *sequence)
    }

    pub(crate) fn enter(&mut self, thread: u32, lock: u64, time_us: u64, chain: ChainId) {
        self.write_enter(thread, lock, time_us, chain, false, LockOwner::NotKnown);
    }

    /// `thread` sees who owns the lock.
    pub(crate) fn enter_after_owner(
        &mut self,
        thread: u32,
        lock: u64,
        time_us: u64,
        chain: ChainId,
        owner: u32,
    ) {
        let owner = LockOwner::Thread(ThreadId(owner));
        self.write_enter(thread, lock, time_us, chain, false, owner);
    }

    pub(crate) fn enter_after_wait(
        &mut self,
        thread: u32,
        lock: u64,
        time_us: u64,
        chain: ChainId,
    ) {
        self.write_enter(thread, lock, time_us, chain, true, LockOwner::NotKnown);
    }

    fn write_enter(
        &mut self,
        thread: u32,
        lock: u64,
        time_us: u64,
        chain: ChainId,
        after_wait: bool,
        owner: LockOwner,
    ) {
        let (lock, sequence) = self.next_number(lock);
        let time_ns = time_us * MICROSECOND;
        self.write(
            thread,
            Event::ContendedEnter(ContendedEnter {
                lock,
                sequence,
                time_ns,
                chain,
                after_wait,
                owner,
            }),
        );
    }

    pub(crate) fn entered(&mut self, thread: u32, lock: u64, time_us: u64, safepoint_us: u64) {
        let (lock, sequence) = self.next_number(lock);
        let time_ns = time_us * MICROSECOND;
        let safepoint_ns = safepoint_us * MICROSECOND;
        self.write(
            thread,
            Event::ContendedEntered(ContendedEntered {
                lock,
                sequence,
                time_ns,
                safepoint_ns,
            }),
        );
    }

    pub(crate) fn exit(&mut self, thread: u32, lock: u64, time_us: u64, chain: ChainId) {
        let hold = Hold::NotKnown;
        self.write_exit(thread, lock, time_us, ChainRef::Chain(chain), hold);
    }

    /// As [`exit`](Self::exit), by a thread that acquired the lock while others waited.
    pub(crate) fn exit_after(
        &mut self,
        thread: u32,
        lock: u64,
        time_us: u64,
        chain: ChainId,
        hold_us: u64,
    ) {
        self.capabilities = Capabilities::HOLDS;
        let duration_ns = hold_us * MICROSECOND;
        let hold = Hold::For { duration_ns };
        self.write_exit(thread, lock, time_us, ChainRef::Chain(chain), hold);
    }

    pub(crate) fn exit_forward(&mut self, thread: u32, lock: u64, time_us: u64, forward_ref: u64) {
        let chain = ChainRef::Forward(ForwardRef(forward_ref));
        self.write_exit(thread, lock, time_us, chain, Hold::NotKnown);
    }

    /// Loses an event of a lock; `thread` lists it.
    pub(crate) fn lose(&mut self, thread: u32, lock: u64) {
        let (lock, sequence) = self.next_number(lock);
        self.write(
            thread,
            Event::LostNumbers(LostNumbers {
                lock,
                first: sequence,
                count: 1,
            }),
        );
    }

    /// Loses an event of a lock without a trace.
    pub(crate) fn skip(&mut self, lock: u64) {
        self.next_number(lock);
    }

    /// The tracer counts events that it lost.
    pub(crate) fn count_lost(&mut self, events: u64) {
        self.counters.push((Counter::LostEvents, events));
    }

    /// A call chain ends; `thread` says so.
    pub(crate) fn retire(&mut self, thread: u32, chain: ChainId) {
        self.write(thread, Event::ChainRetired(ChainRetired { chain }));
    }

    fn write_exit(&mut self, thread: u32, lock: u64, time_us: u64, chain: ChainRef, hold: Hold) {
        let (lock, sequence) = self.next_number(lock);
        let time_ns = time_us * MICROSECOND;
        self.write(
            thread,
            Event::ContendedExit(ContendedExit {
                lock,
                sequence,
                time_ns,
                hold,
                chain,
            }),
        );
    }

    /// The trace begins so much later.
    pub(crate) fn begin_later(&mut self, duration_us: u64) {
        self.start_unix_ns += duration_us * MICROSECOND;
    }

    /// The trace of a process that is there, and has written everything until then.
    pub(crate) fn written_until(&mut self, pid: u32, time_us: u64) {
        self.pid = pid;
        let complete_until = (Counter::CompleteUntilNs, time_us * MICROSECOND);
        self.counters.push(complete_until);
    }

    /// The bytes of the trace: of each time when it is written a chunk for each thread, the last thread first, or
    /// several where it has too many events for one.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (mut bytes, end) = self.bytes_and_end();
        bytes.extend_from_slice(&end);
        bytes
    }

    /// The same as long as it is being written, and its last chunk.
    pub(crate) fn bytes_and_end(&self) -> (Vec<u8>, Vec<u8>) {
        let header = FileHeader {
            compressed: true,
            capabilities: self.capabilities,
            start_unix_ns: self.start_unix_ns,
            pid: self.pid,
            jvm: "OpenJDK 64-Bit Server VM (25.45-b02)".to_owned(),
        };
        let mut bytes = header.encode();
        let mut writer = ChunkWriter::new(true);
        let mut chunks = 1;
        if !self.freezes.is_empty() {
            let records = self.freezes.iter().copied().map(SystemRecord::Freeze);
            bytes.extend_from_slice(writer.system(records));
            chunks += 1;
        }
        let all = self.threads.iter().map(Vec::len).collect();
        let mut written = vec![0; self.threads.len()];
        let mut numbers = vec![0; self.threads.len()];
        for until in self.writes.iter().chain([&all]) {
            while written.iter().zip(until).any(|(from, until)| from < until) {
                for (thread, &until) in until.iter().enumerate().rev() {
                    let from = &mut written[thread];
                    if *from == until {
                        continue;
                    }
                    let mut buffer = vec![0; 64 << 10];
                    let mut encoder = SegmentEncoder::new();
                    while let Some(event) = self.threads[thread][..until].get(*from)
                        && encoder.encode(&mut buffer, event).is_ok()
                    {
                        *from += 1;
                    }
                    let segment = &buffer[..encoder.len()];
                    let number = &mut numbers[thread];
                    let of_thread = ThreadId(thread as u32 + 1);
                    writer
                        .push_segment(of_thread, *number, segment, encoder.contains_metadata())
                        .expect("a segment fits into a chunk");
                    *number += 1;
                    bytes.extend_from_slice(writer.events());
                    chunks += 1;
                }
            }
        }
        bytes.extend_from_slice(writer.counters(self.counters.iter().copied()));
        let end = writer.end(50_000 * MICROSECOND, chunks).to_vec();
        (bytes, end)
    }

    /// Writes the trace to a file in `directory`.
    pub(crate) fn save(&self, directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, self.bytes()).expect("a temporary directory can be written");
        path
    }
}

fn class(class: u32, name: &'static str, source_file: &'static str) -> Event<'static> {
    Event::Class(ClassDescription {
        class: ClassId(class),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name,
        source_file,
        loader_class: "",
    })
}

/// Position of `wanted` among `known`, counted from one.
fn id<T: PartialEq>(known: &[T], wanted: &T) -> u32 {
    known
        .iter()
        .position(|candidate| candidate == wanted)
        .expect("described before") as u32
        + 1
}
