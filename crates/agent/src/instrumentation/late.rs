//! Classes that are changed once threads wait in their code: those of the JDK, and those of an
//! application whose turn has not come yet.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use papaya::HashMap;

use crate::classes::ClassKey;
use crate::ffi::{Class, Env, WeakObject};

/// The most classes that are changed late in one trace, as each stops all threads.
pub(crate) const MAX_LATE: u32 = 64;

/// A class is changed after this number of waits in its code, or once one of them is long.
const FEW: u32 = 8;

/// Nobody has to look at the class.
const IDLE: u8 = 0;
/// A thread of the agent looks whether waits are many or long.
const IN_DOUBT: u8 = 1;
/// It is to be changed, or was.
const CHANGED: u8 = 2;

/// A class in whose code threads have waited, and that was not changed then.
///
/// Relaxed throughout: guards no other memory. An update that is seen late only delays the change.
#[derive(Debug)]
pub(crate) struct LateClass {
    /// `None` once the trace has ended. Only threads of the agent access it.
    class: Mutex<Option<WeakObject>>,
    state: AtomicU8,
    /// The number of waits that have begun.
    begun: AtomicU32,
    /// The number of threads that wait now.
    waiting: AtomicU32,
}

impl LateClass {
    /// Counts a wait that begins. Returns whether it has to be found out now if the class is to be
    /// changed.
    pub(crate) fn wait_begins(&self) -> bool {
        self.begun.fetch_add(1, Relaxed);
        self.waiting.fetch_add(1, Relaxed);
        self.begin_doubt()
    }

    pub(crate) fn wait_ends(&self) {
        self.waiting.fetch_sub(1, Relaxed);
    }

    fn begin_doubt(&self) -> bool {
        let begun = self
            .state
            .compare_exchange(IDLE, IN_DOUBT, Relaxed, Relaxed);
        begun.is_ok()
    }

    /// Returns the number of waits that have begun.
    pub(crate) fn waits(&self) -> u32 {
        self.begun.load(Relaxed)
    }

    /// Ends the doubt a while after `waits` had begun. Returns whether the class is to be changed.
    pub(crate) fn decide(&self, waits: u32) -> bool {
        let is_many = self.waits() >= FEW || self.waits() > waits;
        let is_wanted = is_many || self.waiting.load(Relaxed) > 0;
        self.state
            .store(if is_wanted { CHANGED } else { IDLE }, Relaxed);
        is_wanted
    }

    /// Returns `true` to the one caller that is to change the class at once.
    pub(crate) fn claim(&self) -> bool {
        let is_free = |state| (state == IDLE).then_some(CHANGED);
        self.state.fetch_update(Relaxed, Relaxed, is_free).is_ok()
    }

    /// Returns a local reference to the class.
    pub(super) fn class<'a>(&self, env: Env<'a>) -> Option<Class<'a>> {
        env.strong(self.lock().as_ref()?)
    }

    fn free(&self, env: Env<'_>) {
        let class = self.lock().take();
        if let Some(class) = class {
            env.delete_weak(class);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<WeakObject>> {
        self.class.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_changed(&self) -> bool {
        self.state.load(Relaxed) == CHANGED
    }
}

/// The classes of a trace in which threads have waited.
#[derive(Debug, Default)]
pub(super) struct LateClasses(HashMap<ClassKey, Arc<LateClass>>);

impl LateClasses {
    /// Returns the entry of a class, by its name and loader.
    pub(super) fn get(
        &self,
        env: Env<'_>,
        key: ClassKey,
        class: Class<'_>,
    ) -> Option<Arc<LateClass>> {
        let classes = self.0.pin();
        if let Some(known) = classes.get(&key) {
            return Some(Arc::clone(known));
        }
        let new = Arc::new(LateClass {
            class: Mutex::new(Some(env.weak(class)?)),
            state: AtomicU8::new(IDLE),
            begun: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
        });
        let kept = classes.get_or_insert(key, Arc::clone(&new));
        if !Arc::ptr_eq(kept, &new) {
            new.free(env);
        }
        Some(Arc::clone(kept))
    }

    /// Returns whether the code of a class is to be changed.
    pub(super) fn is_changed(&self, name: &[u8], loader: u64) -> bool {
        let classes = self.0.pin();
        if classes.is_empty() {
            return false;
        }
        let known = classes.get(&(name.into(), loader));
        known.is_some_and(|class| class.is_changed())
    }

    /// Notes that a class was changed.
    pub(super) fn change(&self, key: &ClassKey) {
        if let Some(class) = self.0.pin().get(key) {
            class.state.store(CHANGED, Relaxed);
        }
    }

    /// Forgets all classes. No hook uses them any more.
    pub(super) fn free_all(&self, env: Env<'_>) {
        let classes = self.0.pin();
        for class in classes.values() {
            class.free(env);
        }
        classes.clear();
    }
}
