//! Gives classes their code back after a trace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::changes::pace::{Batch, Pace};
use crate::changes::{SHARE_OF_LOADED, THREAD};
use crate::ffi::{Environment, WeakObject};
use crate::instrumentation::{self, ChangedClasses};

/// What an ended trace has changed and nobody has undone yet.
static LEFT: Mutex<Option<Arc<ChangedClasses>>> = Mutex::new(None);

fn left() -> MutexGuard<'static, Option<Arc<ChangedClasses>>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes over what an ended trace has changed, so that it is not undone.
pub(crate) fn take_over() -> Option<Arc<ChangedClasses>> {
    left().take()
}

/// Begins to undo the changes of a trace that has ended, a few at a time, unless another trace takes
/// them over. The environment is disposed of afterwards.
pub(crate) fn begin(environment: Environment, changed: Arc<ChangedClasses>, has_one_walk: bool) {
    *left() = Some(Arc::clone(&changed));
    let vm = environment.vm();
    // Without a thread the classes stay as they are: the calls in them do nothing.
    vm.spawn(THREAD, move || undo(&environment, &changed, has_one_walk));
}

fn undo(environment: &Environment, changed: &Arc<ChangedClasses>, has_one_walk: bool) {
    let Some(env) = environment.env() else { return };
    let mut pace = Pace::new(SHARE_OF_LOADED, Duration::ZERO);
    let mut batch = Batch::new(has_one_walk);
    let mut classes = instrumentation::loaded_of(env, changed).into_iter();
    let is_left = || {
        left()
            .as_ref()
            .is_some_and(|left| Arc::ptr_eq(left, changed))
    };
    while is_left() {
        let some: Vec<WeakObject> = classes.by_ref().take(batch.len()).collect();
        let len = some.len();
        if len == 0 {
            left().take_if(|left| Arc::ptr_eq(left, changed));
            break;
        }
        let begin = Instant::now();
        // First: a trace that begins now may change them again.
        instrumentation::change(env, some, |class| {
            changed.pin().remove(class);
        });
        pace.spend(begin.elapsed());
        batch.took(len, begin.elapsed());
        thread::sleep(pace.wait());
    }
    classes.for_each(|class| env.delete_weak(class));
    env.dispose();
}
