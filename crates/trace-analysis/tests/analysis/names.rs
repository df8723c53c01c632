//! What locks, methods and call chains are called.

use trace_analysis::{
    Aggregation, Analysis, Aspect, Entities, Limits, PLACEHOLDERS, Pattern, RowLimits, Rows, Value,
    Wait,
};
use trace_format::file::VERSION;
use trace_format::{
    Capabilities, ChainDescription, ChainId, ChainRef, ClassDescription, ClassId, ContendedEnter,
    ContendedEntered, ContendedExit, Event, Frame, Hold, JavaThreadId, LoaderId, LockDescription,
    LockId, LockOwner, LockSite, MethodDescription, MethodId, PARK_DOMAINS, StackRange, ThreadId,
    ThreadStart,
};

use crate::{park::script as park_script, script};

type Events = Vec<(ThreadId, Event<'static>)>;

const LOCK: LockId = LockId(PARK_DOMAINS + 1);

/// Two waits of thread 2, for 40 ns and for 10 ns, both because of thread 1.
fn waits(blocked: [u32; 2], owners: [u32; 2]) -> Events {
    let mut events = Vec::new();
    for (at, ((&chain, &owner), duration_ns)) in
        (0..).zip(blocked.iter().zip(&owners).zip([40, 10]))
    {
        let (sequence, time_ns) = (3 * at + 1, 100 * at);
        let enter = Event::ContendedEnter(ContendedEnter {
            lock: LOCK,
            sequence,
            time_ns,
            chain: ChainId(chain),
            after_wait: false,
            owner: LockOwner::NotKnown,
        });
        let exit = Event::ContendedExit(ContendedExit {
            lock: LOCK,
            sequence: sequence + 1,
            time_ns: time_ns + duration_ns,
            hold: Hold::NotKnown,
            chain: ChainRef::Chain(ChainId(owner)),
        });
        let entered = Event::ContendedEntered(ContendedEntered {
            lock: LOCK,
            sequence: sequence + 2,
            time_ns: time_ns + duration_ns,
            safepoint_ns: 0,
        });
        events.extend([
            (ThreadId(2), enter),
            (ThreadId(1), exit),
            (ThreadId(2), entered),
        ]);
    }
    events
}

fn lock(class: u32, mirrored_class: u32) -> (ThreadId, Event<'static>) {
    let description = Event::LockDescription(LockDescription {
        lock: LOCK,
        class: ClassId(class),
        mirrored_class: ClassId(mirrored_class),
        identity_hash: 0xcafe,
        monitor_address: 0,
    });
    (ThreadId(2), description)
}

/// A class of the application's loader, or of the JVM's own if its name says so.
fn class(class: u32, name: &'static str) -> (ThreadId, Event<'static>) {
    let is_jdk = name.starts_with("java.") || name.starts_with('[');
    let event = Event::Class(ClassDescription {
        class: ClassId(class),
        super_class: ClassId::NONE,
        loader: if is_jdk { LoaderId::NONE } else { LoaderId(1) },
        name,
        source_file: "",
        loader_class: if is_jdk {
            ""
        } else {
            "sun.misc.Launcher$AppClassLoader"
        },
    });
    (ThreadId(0), event)
}

fn method(
    method: u32,
    class: u32,
    name: &'static str,
    signature: &'static str,
) -> (ThreadId, Event<'static>) {
    let event = Event::Method(MethodDescription {
        method: MethodId(method),
        class: ClassId(class),
        name,
        signature,
    });
    (ThreadId(0), event)
}

/// A chain of these methods, the innermost first.
fn chain(chain: u32, methods: &[u32]) -> (ThreadId, Event<'static>) {
    let frames = methods.iter().map(|&method| Frame {
        method: MethodId(method),
        bci: 0,
        line: -1,
    });
    let event = Event::Chain(ChainDescription {
        chain: ChainId(chain),
        frames: frames.collect(),
        truncated: false,
    });
    (ThreadId(0), event)
}

/// A chain of methods at lines, the innermost first.
fn chain_at(chain: u32, positions: &[(u32, i32)]) -> (ThreadId, Event<'static>) {
    let frames = positions.iter().map(|&(method, line)| Frame {
        method: MethodId(method),
        bci: 0,
        line,
    });
    let event = Event::Chain(ChainDescription {
        chain: ChainId(chain),
        frames: frames.collect(),
        truncated: false,
    });
    (ThreadId(0), event)
}

/// The chain that allocated what [`lock`] describes.
fn lock_site(class: u32, chain: u32) -> (ThreadId, Event<'static>) {
    let site = Event::LockSite(LockSite {
        class: ClassId(class),
        identity_hash: 0xcafe,
        chain: ChainId(chain),
    });
    (ThreadId(2), site)
}

fn rows_of(aggregation: &mut Aggregation, metadata: &Events, events: &Events) -> Rows {
    let mut analysis = Analysis::new(Limits::default());
    let mut add = |wait: &_, entities: &Entities| aggregation.add(wait, entities);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    for (thread, event) in metadata.iter().chain(events) {
        trace.event(*thread, event, &mut add);
    }
    trace.finish(&mut add);
    aggregation.rows(RowLimits::default(), analysis.entities())
}

fn labels(aspect: Aspect, metadata: &Events, events: &Events) -> Vec<&'static str> {
    labels_with_libraries(aspect, &[], metadata, events)
}

fn labels_with_libraries(
    aspect: Aspect,
    libraries: &[&str],
    metadata: &Events,
    events: &Events,
) -> Vec<&'static str> {
    let libraries = libraries.iter().map(|&library| library.to_owned());
    let mut aggregation = Aggregation::with_libraries([aspect], libraries.collect());
    let rows = rows_of(&mut aggregation, metadata, events);
    let labels = rows.rows.into_iter().map(|row| &*row.label.leak());
    labels.collect()
}

#[test]
fn class_objects_are_named_after_their_class() {
    let metadata = vec![
        class(1, "java.lang.Class"),
        class(2, "avrora.sim.SimPrinter"),
    ];
    let mut events = vec![lock(1, 2)];
    events.extend(waits([9, 9], [9, 9]));
    let of = |aspect| labels(aspect, &metadata, &events);
    assert_eq!(of(Aspect::LockClass), ["Class of avrora.sim.SimPrinter"]);
    assert_eq!(of(Aspect::Lock), ["Class of avrora.sim.SimPrinter@cafe"]);
}

/// The owner stands wherever it used the class first.
#[test]
fn class_initialization_is_named_after_its_class_and_blamed_on_the_thread() {
    let metadata = vec![
        class(1, "[I"),
        class(2, "com.example.Slow"),
        class(3, "com.example.Main"),
        method(1, 3, "run", "()V"),
        chain(1, &[1]),
        (ThreadId(1), start(1, "initializer")),
        (ThreadId(2), start(2, "waiter")),
    ];
    let mut events = vec![lock(1, 2)];
    events.extend(waits([1, 1], [1, 1]));
    let of = |aspect| labels(aspect, &metadata, &events);
    let name = "initialization of class com.example.Slow";
    assert_eq!(of(Aspect::LockClass), [name]);
    assert_eq!(of(Aspect::Lock), [format!("{name}@cafe")]);
    assert_eq!(of(Aspect::OwnerMethod), ["thread initializer"]);
    assert_eq!(of(Aspect::OwnerCaller), ["com.example.Main.run"]);
    assert_eq!(of(Aspect::OwnerThread), ["initializer"]);
    assert_eq!(of(Aspect::Method), ["com.example.Main.run"]);
}

fn start(java_id: u64, name: &'static str) -> Event<'static> {
    Event::ThreadStart(ThreadStart {
        time_ns: 0,
        java_id: JavaThreadId(java_id),
        name,
        stack: StackRange::default(),
    })
}

#[test]
fn overloads_show_their_parameters_wherever_they_are() {
    let metadata = vec![
        class(1, "com.example.Store"),
        method(1, 1, "process", "(Lorg/apache/KahaCommand;)V"),
        method(2, 1, "process", "(Ljava/util/List;[I)V"),
        method(3, 1, "process", "(Lorg/List;[I)V"),
        method(4, 1, "close", "()V"),
        // The compiler's bridge from an interface has the same parameters.
        method(5, 1, "close", "()Ljava/lang/Object;"),
        chain(1, &[1]),
        chain(2, &[2]),
        chain(3, &[3]),
        chain(4, &[4]),
    ];
    let of = |aspect, blocked, owners| {
        let mut events = vec![lock(1, 0)];
        events.extend(waits(blocked, owners));
        labels(aspect, &metadata, &events)
    };
    // Alone or with another one: there is one in the trace.
    let process = "com.example.Store.process(KahaCommand)";
    assert_eq!(of(Aspect::Method, [1, 1], [2, 3]), [process]);
    assert_eq!(
        of(Aspect::OwnerMethod, [2, 3], [1, 4]),
        [process, "com.example.Store.close"]
    );
    assert_eq!(of(Aspect::OwnerCaller, [2, 3], [1, 1]), [process]);
    // Where simple names are not enough, all is said.
    assert_eq!(
        of(Aspect::Method, [2, 3], [1, 1]),
        [
            "com.example.Store.process(java.util.List, int[]): void",
            "com.example.Store.process(org.List, int[]): void"
        ]
    );
    // In a call chain, the line shows which one it is.
    assert_eq!(
        of(Aspect::Chain, [1, 1], [1, 1]),
        ["com.example.Store.process"]
    );
}

#[test]
fn a_thread_back_from_object_wait_stands_in_its_caller() {
    let metadata = vec![
        class(1, "java.lang.Object"),
        class(2, "com.example.Queue"),
        method(1, 1, "wait", "(J)V"),
        method(2, 1, "wait", "()V"),
        method(3, 2, "take", "()V"),
        chain(1, &[1, 2, 3]),
        chain(2, &[3]),
        chain(3, &[1]),
    ];
    let of = |aspect, blocked| {
        let mut events = vec![lock(2, 0)];
        events.extend(waits(blocked, [2, 2]));
        labels(aspect, &metadata, &events)
    };
    assert_eq!(
        of(Aspect::Method, [1, 2]),
        [
            "Object.wait ← com.example.Queue.take",
            "com.example.Queue.take"
        ]
    );
    assert_eq!(
        of(Aspect::Chain, [1, 2]),
        ["com.example.Queue.take", "com.example.Queue.take"],
        "from the caller on"
    );
    // Without a caller there is nobody else to name.
    assert_eq!(of(Aspect::Method, [3, 3]), ["java.lang.Object.wait"]);
}

/// Call chains of parked threads, innermost frame first, of JDK 8, 17 and 21, each with the class of
/// the blocker: the last frame is the caller of the public method.
#[test]
fn parked_threads_stand_in_the_caller_of_the_public_method() {
    const PARK: &str = "java.util.concurrent.locks.LockSupport.park";
    const FUTURE: &str = "java.util.concurrent.CompletableFuture";
    const POOL: &str = "java.util.concurrent.ForkJoinPool";
    const QUEUED: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer";
    let future = |middle: &[&str]| {
        let before = [PARK.to_owned(), format!("{FUTURE}$Signaller.block")];
        let middle = middle.iter().map(|name| format!("{POOL}.{name}"));
        let after = ["waitingGet", "get"].map(|name| format!("{FUTURE}.{name}"));
        let frames = before.into_iter().chain(middle).chain(after);
        (format!("{FUTURE}$Signaller"), frames.collect::<Vec<_>>())
    };
    let owned = |frames: &[&str]| frames.iter().map(|&frame| frame.to_owned()).collect();
    let cases: [(String, Vec<String>); 6] = [
        future(&["managedBlock"]),
        future(&["unmanagedBlock", "managedBlock"]),
        future(&["compensatedBlock", "managedBlock"]),
        (
            "java.util.concurrent.Phaser$QNode".to_owned(),
            owned(&[
                PARK,
                "java.util.concurrent.Phaser$QNode.block",
                "java.util.concurrent.ForkJoinPool.managedBlock",
                "java.util.concurrent.Phaser.internalAwaitAdvance",
                "java.util.concurrent.Phaser.arriveAndAwaitAdvance",
            ]),
        ),
        (
            "java.util.concurrent.FutureTask".to_owned(),
            owned(&[
                PARK,
                "java.util.concurrent.FutureTask.awaitDone",
                "java.util.concurrent.FutureTask.get",
            ]),
        ),
        (
            "java.util.concurrent.CountDownLatch$Sync".to_owned(),
            vec![
                PARK.to_owned(),
                format!("{QUEUED}.acquire"),
                format!("{QUEUED}.acquireSharedInterruptibly"),
                "java.util.concurrent.CountDownLatch.await".to_owned(),
            ],
        ),
    ];
    for (blocker, frames) in cases {
        assert_eq!(
            innermost_code(&blocker, &frames, "com.example.Client.ask"),
            ["com.example.Client.ask"],
            "{frames:?}"
        );
    }
    // A lock that a queue uses is named after the queue's method, also where a condition is waited for.
    let condition = [
        PARK.to_owned(),
        format!("{QUEUED}$ConditionNode.block"),
        format!("{POOL}.unmanagedBlock"),
        format!("{POOL}.managedBlock"),
        format!("{QUEUED}$ConditionObject.await"),
    ];
    let take = "java.util.concurrent.LinkedBlockingQueue.take";
    let blocker = format!("{QUEUED}$ConditionObject");
    assert_eq!(innermost_code(&blocker, &condition, take), [take]);
}

/// The methods in which a thread waits for a lock of the class, by a chain of these frames and
/// their caller.
fn innermost_code(lock_class: &str, frames: &[String], caller: &str) -> Vec<&'static str> {
    let mut metadata = vec![class(1, lock_class.to_owned().leak())];
    let mut methods = Vec::new();
    for (at, frame) in (2..).zip(frames.iter().map(String::as_str).chain([caller])) {
        let (class_name, name) = frame.rsplit_once('.').expect("a class");
        metadata.push(class(at, class_name.to_owned().leak()));
        metadata.push(method(at, at, name.to_owned().leak(), "()V"));
        methods.push(at);
    }
    metadata.push(chain(1, &methods));
    let mut events = vec![lock(1, 0)];
    events.extend(waits([1, 1], [1, 1]));
    labels(Aspect::Method, &metadata, &events)
}

#[test]
fn callers_are_outside_of_the_jdk_and_of_libraries() {
    let metadata = vec![
        class(1, "java.util.concurrent.ConcurrentHashMap"),
        class(2, "org.cache.ReadWriteLockSync"),
        class(3, "com.example.Shop"),
        method(1, 1, "computeIfAbsent", "()V"),
        method(2, 2, "unlock", "()V"),
        method(3, 3, "order", "()V"),
        chain(1, &[1, 2, 3]),
        chain(2, &[1]),
    ];
    let of = |aspect, libraries: &[&str]| {
        let mut events = vec![lock(1, 0)];
        events.extend(waits([1, 2], [1, 2]));
        labels_with_libraries(aspect, libraries, &metadata, &events)
    };
    let nobody = "<only the JDK and libraries>";
    for aspect in [Aspect::Caller, Aspect::OwnerCaller] {
        assert_eq!(
            of(aspect, &[]),
            ["org.cache.ReadWriteLockSync.unlock", nobody]
        );
        for library in ["org.cache", "org", "org.cache.ReadWriteLockSync"] {
            assert_eq!(of(aspect, &[library]), ["com.example.Shop.order", nobody]);
        }
        assert_eq!(of(aspect, &["org", "com.example"]), [nobody]);
    }
}

/// As the agent does while its budget is used up.
#[test]
fn what_was_cut_off_a_chain_is_not_known() {
    let mut metadata = vec![
        class(1, "java.util.Hashtable"),
        class(2, "com.example.Shop"),
        class(3, "java.util.concurrent.locks.LockSupport"),
        class(4, "java.util.concurrent.locks.ReentrantLock$NonfairSync"),
        method(1, 1, "get", "()V"),
        method(2, 2, "order", "()V"),
        method(3, 3, "park", "()V"),
        method(4, 4, "lock", "()V"),
    ];
    let chains: [&[u32]; 4] = [&[1], &[1, 2], &[3, 4], &[3, 4, 2]];
    for (number, methods) in (1..).zip(chains) {
        let (thread, mut event) = chain(number, methods);
        if let Event::Chain(chain) = &mut event {
            chain.truncated = true;
        }
        metadata.push((thread, event));
    }
    let of = |aspect, lock_class, chains| {
        let mut events = vec![lock(lock_class, 0)];
        events.extend(waits(chains, chains));
        labels(aspect, &metadata, &events)
    };
    let (order, cut) = ("com.example.Shop.order", "<call chain cut short>");
    for aspect in [Aspect::Caller, Aspect::OwnerCaller] {
        assert_eq!(of(aspect, 1, [1, 2]), [cut, order]);
        assert_eq!(of(aspect, 4, [3, 4]), [cut, order]);
    }
    for aspect in [Aspect::Method, Aspect::OwnerMethod] {
        assert_eq!(of(aspect, 1, [1, 2]), ["java.util.Hashtable.get"]);
        assert_eq!(of(aspect, 4, [3, 4]), [cut, order]);
    }
}

/// The JDK's class does not have the method: a traced JVM has added it.
#[test]
fn chains_have_no_frames_of_the_tracer() {
    let metadata = [
        class(1, "java.util.concurrent.locks.AbstractOwnableSynchronizer"),
        method(1, 1, "traceOwner", "(Ljava/lang/Thread;)V"),
        method(2, 1, "setExclusiveOwnerThread", "(Ljava/lang/Thread;)V"),
        class(2, "com.example.Lock"),
        method(3, 2, "traceOwner", "(Ljava/lang/Thread;)V"),
        chain(1, &[1, 2, 3]),
        chain(2, &[3]),
        lock(2, 0),
    ];
    let mut chains = Vec::new();
    let mut note = |wait: &Wait, entities: &Entities| {
        let frames = entities.chain(wait.chain).frames().iter();
        let methods = frames.map(|frame| entities.method(frame.method).name.to_string());
        chains.push(methods.collect::<Vec<_>>());
    };
    let mut analysis = Analysis::new(Limits::default());
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    for (thread, event) in metadata.iter().chain(&waits([1, 2], [2, 2])) {
        trace.event(*thread, event, &mut note);
    }
    trace.finish(&mut note);
    let own: &[&str] = &["traceOwner"];
    assert_eq!(chains, [&["setExclusiveOwnerThread", "traceOwner"], own]);
}

/// Those that go ahead are how the lock works.
#[test]
fn chains_of_parked_threads_begin_at_the_caller_of_the_lock() {
    let trace = "
        ReentrantLock
        10 T2 park lock/b owner T1
        50 T1 unpark T2 unlock/a
        50 T2 woken
        60 T2 unpark T3 c
    ";
    let mut metadata = script::metadata_events();
    metadata.extend(park_script::metadata_events());
    for (aspect, expected) in [
        (Aspect::Chain, "Lock.b(Lock.java:1)"),
        (Aspect::OwnerChain, "Lock.a(Lock.java:1)"),
    ] {
        let mut aggregation = Aggregation::new([aspect]);
        let rows = rows_of(&mut aggregation, &metadata, &park_script::parse(trace));
        let row = &rows.rows[0];
        assert_eq!(row.label, expected);
        assert!(row.first_frame > 0, "{row:?}");
    }
}

#[test]
fn workers_that_take_from_a_queue_in_a_loop_of_their_own_are_found() {
    let metadata = vec![
        class(1, "java.util.concurrent.LinkedBlockingQueue"),
        class(2, "java.util.concurrent.SynchronousQueue$TransferStack"),
        class(3, "com.example.Worker"),
        class(4, "java.lang.Thread"),
        class(5, "java.util.concurrent.SynchronousQueue"),
        class(6, "com.example.Pool"),
        method(1, 1, "take", "()V"),
        method(2, 2, "awaitFulfill", "()V"),
        method(3, 3, "run", "()V"),
        method(4, 4, "run", "()V"),
        method(5, 5, "poll", "()V"),
        method(6, 3, "next", "()V"),
        method(7, 1, "put", "()V"),
        method(8, 6, "borrow", "()V"),
    ];
    for (frames, expected) in [
        (&[1, 3, 4][..], true),
        (&[1, 3], true),
        (&[1, 4], true),
        (&[2, 5, 6, 3, 4], true),
        // Somebody needs what it takes.
        (&[5, 8, 6, 3, 4], false),
        (&[1, 6], false),
        (&[1, 3, 3, 4], false),
        // A producer of a full queue.
        (&[7, 3, 4], false),
        (&[3, 4], false),
    ] {
        let mut metadata = metadata.clone();
        metadata.push(chain(1, frames));
        let mut found = None;
        let mut on_wait =
            |wait: &Wait, entities: &Entities| found = Some(entities.is_worker_loop(wait.chain));
        let mut analysis = Analysis::new(Limits::default());
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        let lock = [lock(1, 0)];
        for (thread, event) in metadata.iter().chain(&lock).chain(&waits([1, 1], [1, 1])) {
            trace.event(*thread, event, &mut on_wait);
        }
        trace.finish(&mut on_wait);
        assert_eq!(found, Some(expected), "{frames:?}");
    }
}

/// A class of locks, and the methods of a chain that allocates one: the innermost is the JDK's.
fn allocating_code() -> Events {
    vec![
        class(1, "java.util.concurrent.locks.ReentrantLock$NonfairSync"),
        class(2, "java.util.concurrent.locks.ReentrantLock"),
        class(3, "org.pool.Pool"),
        class(4, "com.example.Account"),
        method(1, 2, "<init>", "()V"),
        method(2, 3, "create", "()V"),
        method(3, 4, "<init>", "()V"),
    ]
}

#[test]
fn locks_are_allocated_by_the_innermost_code_of_the_program() {
    let mut code = allocating_code();
    code.push(chain_at(1, &[(1, 200), (2, 17), (3, 8)]));
    code.push(chain_at(2, &[(1, 200)]));
    let mut events = vec![lock_site(1, 1), lock(1, 0)];
    events.extend(waits([0, 0], [0, 0]));
    let by_site = |libraries: &[&str], code: &Events, events: &Events| {
        labels_with_libraries(Aspect::LockSite, libraries, code, events)
    };
    assert_eq!(
        by_site(&[], &code, &events),
        ["org.pool.Pool.create(line 17)"]
    );
    assert_eq!(
        by_site(&["org.pool"], &code, &events),
        ["com.example.Account.<init>(line 8)"]
    );
    assert_eq!(
        labels(Aspect::LockSiteChain, &code, &events),
        ["java.util.concurrent.locks.ReentrantLock.<init>(line 200) [+2]"]
    );
    // Of the JDK's own locks there is no other code.
    events[0] = lock_site(1, 2);
    assert_eq!(
        by_site(&[], &code, &events),
        ["java.util.concurrent.locks.ReentrantLock.<init>(line 200)"]
    );
    assert_eq!(
        by_site(&[], &code, &events[1..].to_vec()),
        ["<allocation not seen>"]
    );
}

/// The chain is described by the thread that has allocated the lock, which may be later: then the lock
/// waits for that, as any event waits for what it refers to.
#[test]
fn a_lock_waits_for_the_chain_that_allocated_it() {
    let mut events = vec![lock_site(1, 1), lock(1, 0)];
    events.extend(waits([0, 0], [0, 0]));
    events.push(chain_at(1, &[(3, 8)]));
    for aspect in [Aspect::LockSite, Aspect::LockSiteChain] {
        let found = labels(aspect, &allocating_code(), &events);
        assert_eq!(found, ["com.example.Account.<init>(line 8)"]);
    }
    // It may never come.
    events.pop();
    let found = labels(Aspect::LockSite, &allocating_code(), &events);
    assert_eq!(found, ["<call chain #1 not described>"]);
}

/// Two objects with the same class and hash are one lock in a trace.
#[test]
fn locks_that_are_called_the_same_have_no_site() {
    let mut code = allocating_code();
    code.push(chain_at(1, &[(2, 17)]));
    code.push(chain_at(2, &[(3, 8)]));
    code.push(chain_at(3, &[(2, 17)]));
    let labels_of = |sites: &[u32]| {
        let mut events: Events = sites.iter().map(|&chain| lock_site(1, chain)).collect();
        events.push(lock(1, 0));
        events.extend(waits([0, 0], [0, 0]));
        labels(Aspect::LockSite, &code, &events)
    };
    assert_eq!(labels_of(&[1, 3]), ["org.pool.Pool.create(line 17)"]);
    assert_eq!(labels_of(&[1, 2]), ["<allocation not seen>"]);
    assert_eq!(labels_of(&[1, 2, 2]), ["<allocation not seen>"]);
}

/// A plain object, and classes whose methods use it: two of them are nested in the third.
fn using_code() -> Events {
    vec![
        class(1, "java.lang.Object"),
        class(2, "shop.Store$Segment"),
        class(3, "shop.Store$Index"),
        class(4, "shop.Store"),
        class(5, "shop.Cart"),
        method(2, 2, "get", "()V"),
        method(3, 3, "find", "()V"),
        method(4, 4, "size", "()V"),
        method(5, 5, "add", "()V"),
        chain(2, &[2, 5]),
        chain(3, &[3, 5]),
        chain(4, &[4, 5]),
        chain(5, &[5]),
    ]
}

#[test]
fn a_plain_object_is_called_after_the_class_that_uses_it() {
    let of = |blocked, aspect| {
        let mut events = vec![lock(1, 0)];
        events.extend(waits(blocked, [0, 0]));
        labels(aspect, &using_code(), &events)
    };
    let lock = |blocked| of(blocked, Aspect::Lock);
    assert_eq!(lock([2, 2]), ["lock of shop.Store$Segment (Object@cafe)"]);
    // Nobody knows what else uses it.
    assert_eq!(lock([2, 0]), ["lock of shop.Store$Segment (Object@cafe)"]);
    assert_eq!(lock([0, 0]), ["java.lang.Object@cafe"]);
    // The class around both, whatever the order.
    assert_eq!(lock([2, 3]), ["lock of shop.Store (Object@cafe)"]);
    assert_eq!(lock([4, 3]), ["lock of shop.Store (Object@cafe)"]);
    assert_eq!(lock([2, 5]), ["java.lang.Object@cafe"]);
    let class = |blocked| of(blocked, Aspect::LockClass);
    assert_eq!(class([2, 2]), ["lock of shop.Store$Segment (Object)"]);
    assert_eq!(class([2, 5]), ["java.lang.Object"]);
    assert_eq!(class([0, 2]), ["java.lang.Object"]);
}

#[test]
fn a_class_of_locks_is_called_after_the_class_that_uses_all_of_them() {
    let of = |chains: [u32; 2]| {
        let mut events = vec![lock(1, 0)];
        events.extend(waits([chains[0]; 2], [0, 0]));
        // Another object, which comes later.
        let mut other = vec![lock(1, 0)];
        other.extend(waits([chains[1]; 2], [0, 0]));
        for (_, event) in &mut other {
            match event {
                Event::LockDescription(it) => (it.lock, it.identity_hash) = (OTHER, 0xbeef),
                Event::ContendedEnter(it) => it.lock = OTHER,
                Event::ContendedEntered(it) => it.lock = OTHER,
                Event::ContendedExit(it) => it.lock = OTHER,
                _ => {}
            }
        }
        events.extend(other);
        labels(Aspect::LockClass, &using_code(), &events)
    };
    const OTHER: LockId = LockId(LOCK.0 + 1);
    assert_eq!(of([2, 2]), ["lock of shop.Store$Segment (Object)"]);
    assert_eq!(of([2, 3]), ["lock of shop.Store (Object)"]);
    assert_eq!(of([2, 5]), ["java.lang.Object"]);
    assert_eq!(of([2, 0]), ["java.lang.Object"]);
}

/// Also if another class uses it.
#[test]
fn a_synchronizer_is_called_after_the_class_that_constructed_it() {
    let mut code = allocating_code();
    code.push(chain_at(1, &[(1, 200), (3, 8), (2, 17)]));
    code.push(chain(2, &[2, 3]));
    let mut events = vec![lock_site(1, 1), lock(1, 0)];
    events.extend(waits([2, 2], [0, 0]));
    let of = |events: &Events| labels(Aspect::Lock, &code, events);
    let lock = |class| format!("lock of {class} (ReentrantLock$NonfairSync@cafe)");
    assert_eq!(of(&events), [lock("com.example.Account")]);
    assert_eq!(of(&events[1..].to_vec()), [lock("org.pool.Pool")]);
}

#[test]
fn patterns_match_locks_with_and_without_their_packages() {
    let mut analysis = Analysis::new(Limits::default());
    let mut found = Vec::new();
    let mut add = |wait: &Wait, entities: &Entities| {
        let values = [
            Value::Lock(wait.lock),
            Value::of_lock_class(wait.lock, entities),
        ];
        let is_called = |pattern: &str| {
            let patterns = [Pattern::exact(pattern)];
            values.map(|value| value.is_called(&patterns, entities))
        };
        found.extend([
            is_called("java.lang.Object@cafe"),
            is_called("Object@cafe"),
            is_called("java.lang.Object"),
            is_called("Object"),
            is_called("Cart"),
        ]);
    };
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    let mut events = using_code();
    events.push(lock(1, 0));
    events.extend(waits([2, 2], [0, 0]).into_iter().take(3));
    for (thread, event) in &events {
        trace.event(*thread, event, &mut add);
    }
    trace.finish(&mut add);
    let (of_lock, of_class) = ([true, false], [false, true]);
    assert_eq!(found, [of_lock, of_lock, of_class, of_class, [false; 2]]);
}

/// The report's help explains what is listed.
#[test]
fn every_placeholder_is_listed() {
    let mut found = Vec::new();
    let mut add = |labels: Vec<&'static str>| {
        let placeholders = labels.into_iter().filter(|label| label.starts_with('<'));
        found.extend(placeholders.map(|label| {
            // Without the number, and without what a placeholder is only a part of.
            let (label, _) = label.split_once('>').expect("its end");
            let is_number = |c: char| c.is_ascii_digit();
            match label.split_once('#') {
                Some((before, after)) => {
                    format!("{before}#N{}>", after.trim_start_matches(is_number))
                }
                None => format!("{label}>"),
            }
        }));
    };
    let nothing = Vec::new();
    let jdk = vec![
        class(1, "java.util.Vector"),
        method(1, 1, "add", "()V"),
        chain(1, &[1]),
        chain(2, &[77]),
    ];
    let mut events = vec![lock(88, 0)];
    events.extend(waits([1, 2], [0, 3]));
    for aspect in Aspect::ALL {
        add(labels(aspect, &nothing, &waits([0, 1], [0, 1])));
        add(labels(aspect, &jdk, &events));
    }
    found.sort();
    found.dedup();
    found.retain(|label| !label.starts_with("<owner unknown: "));
    for label in &found {
        let listed = PLACEHOLDERS
            .iter()
            .any(|(placeholder, _)| placeholder == label);
        assert!(listed, "{label}");
    }
    assert!(found.len() >= 7, "{found:?}");
}

/// Each of twenty threads waits for five percent of the time.
#[test]
fn small_rows_are_left_out_unless_there_are_no_others() {
    let enters = (1..=20).map(|thread| format!("10 T{thread} enter a\n"));
    let entered = (1..=20).map(|thread| format!("20 T{thread} entered\n"));
    let events = script::parse(&enters.chain(entered).collect::<String>());
    let mut aggregation = Aggregation::new([Aspect::Thread]);
    let mut analysis = Analysis::new(Limits::default());
    let mut add = |wait: &_, entities: &Entities| aggregation.add(wait, entities);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    for (thread, event) in events {
        trace.event(thread, &event, &mut add);
    }
    trace.finish(&mut add);
    let count = |percent: f64, unless_all_are_small| {
        let selection = RowLimits {
            top: Some(3),
            min_share: percent / 100.0,
            unless_all_are_small,
        };
        let rows = aggregation.rows(selection, analysis.entities());
        (rows.rows.len(), rows.omitted, rows.omitted_ns)
    };
    assert_eq!(count(4.0, false), (3, 17, 170));
    assert_eq!(count(6.0, false), (0, 20, 200));
    assert_eq!(count(6.0, true), (3, 17, 170));
    assert_eq!(
        count(11.0, true),
        (0, 20, 200),
        "together not ten times as much"
    );
}
