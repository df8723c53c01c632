//! Reads the blockers of threads, and the owners and queues of synchronizers, from the fields of the
//! class library.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use jvmti_bindings::sys::jni::JNI_TRUE;

use crate::ffi::env::Env;
use crate::ffi::helper::global;
use crate::ffi::reference::Object;

const THREAD: &CStr = c"Ljava/lang/Thread;";

/// The fields of a synchronizer's queue: a list of nodes from the head, in which no thread waits, to
/// the tail.
#[derive(Debug)]
struct Queue {
    class: NonNull<c_void>,
    head: Field,
    tail: Field,
    previous: Field,
    next: Field,
    waiter: Field,
}

#[derive(Clone, Copy, Debug)]
struct Field(NonNull<c_void>);

/// The fields. Global references to their classes are never deleted.
#[derive(Debug)]
pub(crate) struct ParkFields {
    /// `Thread.parkBlocker`.
    blocker: Field,
    /// `AbstractOwnableSynchronizer`.
    ownable: NonNull<c_void>,
    /// Its `exclusiveOwnerThread`.
    owner: Field,
    queues: Vec<Queue>,
}

// SAFETY: global references and identifiers of fields may be used by any thread.
unsafe impl Send for ParkFields {}
// SAFETY: as above.
unsafe impl Sync for ParkFields {}

/// The most nodes that are searched for a thread.
const MAX_NODES: usize = 64;

impl ParkFields {
    /// Finds the fields; `None` if this class library has others.
    pub(crate) fn find(env: Env<'_>) -> Option<Self> {
        let found = Self::try_find(env);
        env.clear_exception();
        found
    }

    fn try_find(env: Env<'_>) -> Option<Self> {
        let thread = class(env, c"java/lang/Thread")?;
        let ownable = class(
            env,
            c"java/util/concurrent/locks/AbstractOwnableSynchronizer",
        )?;
        let queues = [
            Queue::find(
                env,
                c"java/util/concurrent/locks/AbstractQueuedSynchronizer",
                c"java/util/concurrent/locks/AbstractQueuedSynchronizer$Node",
                c"Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$Node;",
            ),
            Queue::find(
                env,
                c"java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
                c"java/util/concurrent/locks/AbstractQueuedLongSynchronizer$Node",
                c"Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer$Node;",
            ),
        ];
        env.clear_exception();
        Some(Self {
            blocker: field(env, thread, c"parkBlocker", c"Ljava/lang/Object;")?,
            owner: field(env, ownable, c"exclusiveOwnerThread", THREAD)?,
            ownable,
            queues: queues.into_iter().flatten().collect(),
        })
    }

    /// Returns the object that a thread parks on.
    pub(crate) fn blocker<'a>(&self, env: Env<'a>, thread: Object<'_>) -> Option<Object<'a>> {
        get(env, thread, self.blocker)
    }

    /// Returns whether the blocker can have an owner.
    pub(crate) fn is_ownable(&self, env: Env<'_>, blocker: Object<'_>) -> bool {
        is_instance(env, blocker, self.ownable)
    }

    /// Returns the thread that owns a synchronizer, which must be ownable.
    pub(crate) fn owner<'a>(&self, env: Env<'a>, synchronizer: Object<'_>) -> Option<Object<'a>> {
        get(env, synchronizer, self.owner)
    }

    /// Returns whether a thread is parked on a synchronizer that has an owner.
    pub(crate) fn has_owner(&self, env: Env<'_>, parked: Object<'_>) -> bool {
        let Some(blocker) = self.blocker(env, parked) else {
            return false;
        };
        let ownable = Some(blocker).filter(|&blocker| self.is_ownable(env, blocker));
        let owner = ownable.and_then(|synchronizer| self.owner(env, synchronizer));
        owner.inspect(|&owner| env.delete(owner));
        env.delete(blocker);
        owner.is_some()
    }

    /// Returns whether threads are queued for the synchronizer; `None` if its queue is not known.
    pub(crate) fn has_queued(&self, env: Env<'_>, synchronizer: Object<'_>) -> Option<bool> {
        let queue = self.queue(env, synchronizer)?;
        let head = get(env, synchronizer, queue.head);
        let tail = get(env, synchronizer, queue.tail);
        let is_empty = match (head, tail) {
            (Some(head), Some(tail)) => env.are_same(head, tail),
            (head, tail) => head.is_none() && tail.is_none(),
        };
        head.into_iter()
            .chain(tail)
            .for_each(|node| env.delete(node));
        Some(!is_empty)
    }

    /// Returns the identity hash of the node in which a thread waits, which differs for each call that
    /// waits; 0 if it is not found.
    pub(crate) fn place(&self, env: Env<'_>, synchronizer: Object<'_>, thread: Object<'_>) -> u32 {
        let Some(queue) = self.queue(env, synchronizer) else {
            return 0;
        };
        let Some(head) = get(env, synchronizer, queue.head) else {
            return 0;
        };
        let first = get(env, head, queue.next);
        env.delete(head);
        // A thread that was woken is nearly always the first.
        if let Some(first) = first {
            let place = queue.place_in(env, first, thread);
            env.delete(first);
            if place != 0 {
                return place;
            }
        }
        let mut node = get(env, synchronizer, queue.tail);
        for _ in 0..MAX_NODES {
            let Some(current) = node else { break };
            let place = queue.place_in(env, current, thread);
            node = get(env, current, queue.previous);
            env.delete(current);
            if place != 0 {
                node.inspect(|&node| env.delete(node));
                return place;
            }
        }
        node.inspect(|&node| env.delete(node));
        0
    }

    fn queue(&self, env: Env<'_>, synchronizer: Object<'_>) -> Option<&Queue> {
        let mut queues = self.queues.iter();
        queues.find(|queue| is_instance(env, synchronizer, queue.class))
    }
}

impl Queue {
    fn find(env: Env<'_>, name: &CStr, node: &CStr, node_type: &CStr) -> Option<Self> {
        let (class, node) = (class(env, name)?, class(env, node)?);
        // The name from JDK 14 on; before, it is `thread`.
        let waiter = field(env, node, c"waiter", THREAD);
        env.clear_exception();
        Some(Self {
            head: field(env, class, c"head", node_type)?,
            tail: field(env, class, c"tail", node_type)?,
            previous: field(env, node, c"prev", node_type)?,
            next: field(env, node, c"next", node_type)?,
            waiter: waiter.or_else(|| field(env, node, c"thread", THREAD))?,
            class,
        })
    }

    /// Returns the node's hash if the thread waits in it, else 0.
    fn place_in(&self, env: Env<'_>, node: Object<'_>, thread: Object<'_>) -> u32 {
        let Some(waiter) = get(env, node, self.waiter) else {
            return 0;
        };
        let is_here = env.are_same(waiter, thread);
        env.delete(waiter);
        if is_here {
            env.hash(node).unwrap_or_default()
        } else {
            0
        }
    }
}

fn class(env: Env<'_>, name: &CStr) -> Option<NonNull<c_void>> {
    let (native, jni) = env.jni()?;
    // SAFETY: the text is NUL-terminated; the result is a local reference or null.
    unsafe {
        let class = Object::new((native.FindClass)(jni, name.as_ptr()))?;
        let kept = global(env, class.raw());
        env.delete(class);
        kept
    }
}

fn field(env: Env<'_>, class: NonNull<c_void>, name: &CStr, signature: &CStr) -> Option<Field> {
    let (native, jni) = env.jni()?;
    // SAFETY: the texts are NUL-terminated, the reference is to a class.
    let field =
        unsafe { (native.GetFieldID)(jni, class.as_ptr(), name.as_ptr(), signature.as_ptr()) };
    NonNull::new(field).map(Field)
}

fn is_instance(env: Env<'_>, object: Object<'_>, class: NonNull<c_void>) -> bool {
    env.jni().is_some_and(|(native, jni)| {
        // SAFETY: both references are valid.
        unsafe { (native.IsInstanceOf)(jni, object.raw(), class.as_ptr()) == JNI_TRUE }
    })
}

/// Returns the value of a field of an object, which is of the field's class.
fn get<'a>(env: Env<'a>, object: Object<'_>, field: Field) -> Option<Object<'a>> {
    let (native, jni) = env.jni()?;
    // SAFETY: the field is one of the object's class, as the callers see to; the result is a local
    // reference or null.
    unsafe { Object::new((native.GetObjectField)(jni, object.raw(), field.0.as_ptr())) }
}
