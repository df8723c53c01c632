//! Events in a few words.

use trace_format::{
    ChainDescription, ChainId, ChainRef, ClassDescription, ClassId, ContendedEnter,
    ContendedEntered, ContendedExit, Event, Frame, Hold, JavaThreadId, LoaderId, LockDescription,
    LockId, LockOwner, MethodDescription, MethodId, PARK_DOMAINS, StackRange, ThreadId,
    ThreadStart,
};

/// The first lock that is no domain of parks.
pub(crate) const LOCK: LockId = LockId(PARK_DOMAINS + 1);
/// The class and the chain that other events refer to.
pub(crate) const CLASS: ClassId = ClassId(1);
pub(crate) const CHAIN: ChainId = ChainId(1);

/// Returns the start of a thread with the same number in Java as in the trace.
pub(crate) fn thread_start(thread: u32) -> (ThreadId, Event<'static>) {
    let start = ThreadStart {
        java_id: JavaThreadId(thread.into()),
        name: "",
        time_ns: 0,
        stack: StackRange::default(),
    };
    (ThreadId(thread), Event::ThreadStart(start))
}

pub(crate) fn class(class: ClassId, name: &'static str) -> Event<'static> {
    Event::Class(ClassDescription {
        class,
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name,
        source_file: "",
        loader_class: "",
    })
}

pub(crate) fn method(method: MethodId, class: ClassId, name: &'static str) -> Event<'static> {
    Event::Method(MethodDescription {
        method,
        class,
        name,
        signature: "()V",
    })
}

pub(crate) fn chain(chain: ChainId, methods: impl Iterator<Item = u32>) -> Event<'static> {
    let frame = |method| Frame {
        method: MethodId(method),
        bci: 1,
        line: 1,
    };
    Event::Chain(ChainDescription {
        chain,
        frames: methods.map(frame).collect(),
        truncated: false,
    })
}

/// What [`CLASS`] and [`CHAIN`] are: a chain of no frames.
pub(crate) fn code(class_name: &'static str) -> [Event<'static>; 2] {
    [class(CLASS, class_name), chain(CHAIN, [].into_iter())]
}

pub(crate) fn lock_description(lock: LockId, class: ClassId) -> Event<'static> {
    Event::LockDescription(LockDescription {
        lock,
        class,
        mirrored_class: ClassId::NONE,
        identity_hash: 1,
        monitor_address: 0,
    })
}

/// An event of a lock, at the time that has its number.
pub(crate) fn enter(lock: LockId, sequence: u64, owner: LockOwner) -> Event<'static> {
    Event::ContendedEnter(ContendedEnter {
        lock,
        sequence,
        time_ns: sequence,
        chain: CHAIN,
        after_wait: false,
        owner,
    })
}

pub(crate) fn entered(lock: LockId, sequence: u64) -> Event<'static> {
    Event::ContendedEntered(ContendedEntered {
        lock,
        sequence,
        time_ns: sequence,
        safepoint_ns: 0,
    })
}

pub(crate) fn exit(lock: LockId, sequence: u64, chain: ChainRef) -> Event<'static> {
    Event::ContendedExit(ContendedExit {
        lock,
        sequence,
        time_ns: sequence,
        hold: Hold::NotKnown,
        chain,
    })
}
