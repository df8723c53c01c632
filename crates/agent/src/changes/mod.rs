//! Changes of loaded classes while the application runs, which a thread of the agent makes.
//!
//! Each change stops all threads for a moment: on JDK 8 and 11 for up to 60 ms in a JVM with thousands
//! of classes. So changes are spread over time. There are three reasons for one:
//!
//! - the agent was attached, and the class was loaded before;
//! - threads wait in code of a class of the JDK;
//! - a wait has ended without a release that was seen: the next owner of that monitor is looked up, to
//!   find out in which code of the JDK it is.

mod pace;
pub(crate) mod undo;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::changes::pace::{Batch, Pace};
use crate::ffi::{Env, WeakObject};
use crate::instrumentation::late::LateClass;
use crate::monitors::Monitor;

/// Changes of loaded classes may take one part in this number of the time.
const SHARE_OF_LOADED: u32 = 20;
/// The same of changes because threads wait.
const SHARE_OF_LATE: u32 = 200;
/// The first of these need not wait for each other, 100 ms in all.
const CREDIT_OF_LATE: Duration = Duration::from_secs(20);

/// The name of the thread that changes classes, or gives them their code back.
pub(crate) const THREAD: &str = "locktrace-classes";

/// The changes that are still to be made.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Whether the JVM changes many classes in the time that it takes for one.
    pub(crate) has_one_walk: bool,
    /// Relaxed: what it guards is read and written under the mutex afterwards and before.
    is_claimed: AtomicBool,
    /// Held for a few instructions, never while the JVM is called.
    queue: Mutex<Queue>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    /// Classes that were loaded before.
    pub(crate) loaded: VecDeque<WeakObject>,
    pub(crate) pace: Pace,
    pub(crate) batch: Batch,
    /// Classes of which it is to be found out whether waits are many or long.
    pub(crate) doubtful: Vec<Arc<LateClass>>,
    /// Classes in which threads wait.
    pub(crate) late: Vec<Arc<LateClass>>,
    /// Monitors whose owners are to be looked up.
    pub(crate) unseen: Vec<Arc<Monitor>>,
    pub(crate) late_pace: Pace,
    /// The number of late changes so far.
    pub(crate) late_changes: usize,
}

impl Queue {
    /// Returns how long to wait for the next change; `None` without one.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let is_late = !self.late.is_empty() || !self.unseen.is_empty();
        let late = is_late.then(|| self.late_pace.wait());
        let loaded = (!self.loaded.is_empty()).then(|| self.pace.wait());
        let doubtful = (!self.doubtful.is_empty()).then_some(Duration::ZERO);
        [late, loaded, doubtful].into_iter().flatten().min()
    }
}

/// The most monitors whose owners are to be looked up.
const MAX_UNSEEN: usize = 64;

impl Changes {
    /// `has_one_walk`: see [`Batch::new`].
    pub(crate) fn new(has_one_walk: bool) -> Self {
        Self {
            has_one_walk,
            is_claimed: AtomicBool::new(false),
            queue: Mutex::new(Queue {
                loaded: VecDeque::new(),
                pace: Pace::new(SHARE_OF_LOADED, Duration::ZERO),
                batch: Batch::new(has_one_walk),
                doubtful: Vec::new(),
                late: Vec::new(),
                unseen: Vec::new(),
                late_pace: Pace::new(SHARE_OF_LATE, CREDIT_OF_LATE),
                late_changes: 0,
            }),
        }
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds classes that were loaded before.
    pub(crate) fn add_loaded(&self, classes: Vec<WeakObject>) {
        self.queue().loaded.extend(classes);
    }

    /// Adds a class in which threads wait, perhaps many or for long.
    pub(crate) fn add_doubtful(&self, class: &Arc<LateClass>) {
        let mut queue = self.queue();
        if queue.doubtful.try_reserve(1).is_ok() {
            queue.doubtful.push(Arc::clone(class));
        }
    }

    /// Adds a monitor whose last release was not seen, and which a thread waits for.
    pub(crate) fn add_unseen(&self, monitor: &Arc<Monitor>) {
        let mut queue = self.queue();
        if queue.unseen.len() < MAX_UNSEEN && queue.unseen.try_reserve(1).is_ok() {
            queue.unseen.push(Arc::clone(monitor));
        }
    }

    /// Returns `true` to the one thread that is to make the changes from now on.
    pub(crate) fn claim(&self) -> bool {
        !self.is_claimed.swap(true, Relaxed)
    }

    /// Nobody makes the changes any more.
    pub(crate) fn release(&self) {
        self.is_claimed.store(false, Relaxed);
    }

    /// Forgets all changes. No hook uses them any more.
    pub(crate) fn free_all(&self, env: Env<'_>) {
        let loaded = std::mem::take(&mut self.queue().loaded);
        loaded.into_iter().for_each(|class| env.delete_weak(class));
    }
}
