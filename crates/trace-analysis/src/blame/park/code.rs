//! The meaning of a park or an unpark, by the methods on the thread's stack.

use crate::model::entity::{ChainIndex, ClassIndex, Entities, Frame};
use crate::model::jdk_wait::jdk_wait;
use crate::model::wait::WaitKind;

/// Properties of a call chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    /// The thread acquires something that several threads can share.
    pub(crate) shares: bool,
    /// The thread acquires a lock again after it waited for a condition.
    pub(crate) after_await: bool,
    /// The thread is a worker and waits for work.
    pub(crate) idles: bool,
    /// Of a wait in `Object.wait`: what the method of the JDK that calls it waits for, if it is known.
    pub(crate) waits_for: Option<WaitKind>,
    /// The unpark passes on a release to the next thread in the queue: the writer
    /// was just woken itself.
    pub(crate) passes_on: bool,
    /// The unpark is no release: the thread gives up waiting, or moves another thread within a
    /// queue.
    pub(crate) no_release: bool,
    /// The unpark is part of the release of a synchronizer.
    pub(crate) releases: bool,
    /// The unpark releases something that several threads could share.
    pub(crate) releases_shared: bool,
    /// The class that releases its synchronizer, if the chain shows it.
    releaser: Option<ClassIndex>,
}

impl Code {
    fn of(frames: &[Frame], entities: &Entities) -> Self {
        let mut code = Self::default();
        let mut passed_release = false;
        let caller = frames.iter().find(|frame| !entities.is_object_wait(frame));
        code.waits_for = caller.and_then(|frame| {
            let method = entities.method(frame.method);
            jdk_wait(entities.class_name(method.class?), &method.name)
        });
        for frame in frames {
            let method = entities.method(frame.method);
            let Some(class) = method.class else { continue };
            let name = entities.class_name(class);
            if passed_release != code.releases {
                passed_release = true;
                // To wait for a condition, it releases itself.
                code.releaser = Some(class).filter(|_| !name.contains(".AbstractQueued"));
            }
            code.add(name, &method.name);
        }
        code
    }

    /// Returns whether the unpark is a release by the thread itself.
    pub(crate) fn is_release(self) -> bool {
        self.releases && !self.no_release && !self.passes_on
    }

    /// Returns whether the released synchronizer may be of this class: its releaser, if known,
    /// belongs to the same top-level class, as `Semaphore` and `Semaphore$FairSync`.
    pub(crate) fn may_release(&self, class: ClassIndex, entities: &Entities) -> bool {
        let top_level = |class| {
            let name = entities.class_name(class);
            name.split_once('$').map_or(name, |(outer, _)| outer)
        };
        self.releases
            && self
                .releaser
                .is_none_or(|releaser| top_level(releaser) == top_level(class))
    }

    /// Adds a method of the chain. Applications bring copies of `java.util.concurrent` in packages
    /// of their own.
    fn add(&mut self, class: &str, method: &str) {
        let class = class.rsplit('.').next().unwrap_or(class);
        let queued = matches!(
            class,
            "AbstractQueuedSynchronizer" | "AbstractQueuedLongSynchronizer" | "StampedLock"
        );
        if queued && matches!(method, "release" | "releaseShared") {
            self.releases = true;
        }
        match (class, method) {
            (
                "AbstractQueuedSynchronizer" | "AbstractQueuedLongSynchronizer",
                // Until JDK 13, and since then.
                "doAcquireShared"
                | "doAcquireSharedInterruptibly"
                | "doAcquireSharedNanos"
                | "acquireShared"
                | "acquireSharedInterruptibly"
                | "tryAcquireSharedNanos",
            ) => self.shares = true,
            (
                "AbstractQueuedSynchronizer" | "AbstractQueuedLongSynchronizer",
                "setHeadAndPropagate" | "signalNextIfShared",
            ) => self.passes_on = true,
            ("AbstractQueuedSynchronizer" | "AbstractQueuedLongSynchronizer", "releaseShared") => {
                self.releases_shared = true
            }
            (
                "AbstractQueuedSynchronizer" | "AbstractQueuedLongSynchronizer",
                "cancelAcquire" | "transferForSignal" | "enqueue",
            ) => self.no_release = true,
            ("StampedLock", "acquireRead") => {
                self.shares = true;
                self.passes_on = true;
            }
            ("StampedLock", "cancelWaiter") => self.no_release = true,
            ("StampedLock", "unlockRead" | "tryUnlockRead") => self.releases_shared = true,
            (
                "AbstractQueuedSynchronizer$ConditionObject"
                | "AbstractQueuedLongSynchronizer$ConditionObject",
                method,
            ) if method.starts_with("await") => self.after_await = true,
            ("ForkJoinPool", "awaitWork" | "scan" | "idleAwaitWork")
            | ("SingleThreadEventExecutor" | "GlobalEventExecutor", "takeTask") => {
                self.idles = true;
            }
            (class, "getTask") if class.ends_with("ThreadPoolExecutor") => self.idles = true,
            (class, "idleJobPoll" | "reservedWait") if class.contains("ThreadPool") => {
                self.idles = true;
            }
            _ => {}
        }
    }
}

/// The properties of call chains, cached.
#[derive(Debug, Default)]
pub(crate) struct CodeTable {
    /// By chain.
    known: Vec<Option<Code>>,
}

impl CodeTable {
    #[inline]
    pub(crate) fn of_chain(&mut self, chain: ChainIndex, entities: &Entities) -> Code {
        match self.known.get(chain.0 as usize) {
            Some(&Some(code)) => code,
            _ => self.find(chain, entities),
        }
    }

    #[cold]
    fn find(&mut self, chain: ChainIndex, entities: &Entities) -> Code {
        let index = chain.0 as usize;
        if index >= self.known.len() {
            self.known.resize(index + 1, None);
        }
        let code = Code::of(entities.chain(chain).frames(), entities);
        self.known[index] = Some(code);
        code
    }
}
