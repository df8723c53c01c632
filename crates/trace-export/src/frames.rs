//! Call chains as the frames of other tools.

use trace_analysis::{ChainIndex, Entities, Frame, Value};

use crate::stacks::StackKey;

/// A frame of a stack as other tools know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StackFrame {
    /// A method that was executed.
    Java(Frame),
    /// The lock between owner and waiter.
    Lock(Value),
    /// The placeholder of a call chain.
    Instead(Value),
    /// Frames that the tracer cut off.
    CutOff,
}

impl StackFrame {
    /// Returns the name: for a method with its class, for a lock in brackets.
    pub(crate) fn name(self, entities: &Entities) -> String {
        match self {
            Self::Java(frame) => entities.method_label(frame.method),
            Self::Lock(class) => format!("[{}]", class.name(entities)),
            Self::Instead(value) => value.name(entities),
            Self::CutOff => "...".to_owned(),
        }
    }
}

/// Returns the frames of a key, outermost first. In a chain graph the waiter's stand on the lock,
/// upside down.
pub(crate) fn stack(key: &StackKey, entities: &Entities) -> Vec<StackFrame> {
    let mut frames = Vec::new();
    match (key.owner, key.waiter) {
        (Some(owner), Some(waiter)) => {
            push_outermost_first(&mut frames, owner, entities);
            frames.push(StackFrame::Lock(key.lock_class));
            let on_top = frames.len();
            push_outermost_first(&mut frames, waiter, entities);
            frames[on_top..].reverse();
        }
        (Some(only), None) | (None, Some(only)) => {
            push_outermost_first(&mut frames, only, entities);
        }
        (None, None) => {}
    }
    frames
}

fn push_outermost_first(frames: &mut Vec<StackFrame>, value: Value, entities: &Entities) {
    match value {
        Value::Chain(chain) if is_known(chain, entities) => {
            let chain = entities.chain(chain);
            if chain.is_truncated() {
                frames.push(StackFrame::CutOff);
            }
            let outermost_first = chain.frames().iter().rev();
            frames.extend(outermost_first.copied().map(StackFrame::Java));
        }
        instead => frames.push(StackFrame::Instead(instead)),
    }
}

fn is_known(chain: ChainIndex, entities: &Entities) -> bool {
    !entities.chain(chain).frames().is_empty()
}
