//! Labels of the samples of profiles, in addition to call chains.
//!
//! The names are the same in all profiles. `thread.name` and `thread.id` are conventions of OpenTelemetry; the
//! others are in a namespace of their own, as these conventions demand.

use trace_analysis::{Entities, ThreadIndex, Value};

use crate::stacks::StackKey;

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabelValue {
    Text(String),
    Number(i64),
}

/// Returns the labels of a key, each once.
pub(crate) fn labels(key: &StackKey, entities: &Entities) -> Vec<(&'static str, LabelValue)> {
    let text = |name, value: Value| (name, LabelValue::Text(value.name(entities)));
    let mut labels = vec![text("lock.class", key.lock_class)];
    let mut add_thread = |name, id_name, value: Value| {
        labels.push(text(name, value));
        let id = match value {
            Value::Thread(thread) => java_id(thread, entities),
            _ => None,
        };
        labels.extend(id.map(|id| (id_name, LabelValue::Number(id))));
    };
    if let Some(thread) = key.thread() {
        add_thread("thread.name", "thread.id", Value::Thread(thread));
    }
    if let Some(owner) = key.owner_thread {
        add_thread("lock.owner_thread", "lock.owner_thread_id", owner);
    }
    if let Some(thread) = key.waiting_thread {
        let thread = Value::Thread(thread);
        add_thread("lock.waiting_thread", "lock.waiting_thread_id", thread);
    }
    labels.extend(
        key.kind
            .map(|kind| text("lock.wait_kind", Value::Kind(kind))),
    );
    labels
}

/// Returns the `Thread.getId()`. The JVM's own threads have no such number.
fn java_id(thread: ThreadIndex, entities: &Entities) -> Option<i64> {
    let id = i64::try_from(entities.thread(thread).java_id.0).ok();
    id.filter(|&id| id > 0)
}
