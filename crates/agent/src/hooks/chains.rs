//! Records call chains.

use std::sync::Arc;

use rust_tracer::{ChainKey, interpreted_frame};
use trace_format::{ChainId, Frame};

use crate::ffi::{Env, Frames};
use crate::instrumentation::late::LateClass;
use crate::methods::Place;
use crate::monitors::inner_exits::LiveFrame;
use crate::session::Session;
use crate::threads::Thread;

/// The byte code index, in a key, of a frame without one.
const NO_BCI: u16 = u16::MAX;

/// Stands for the outer frames, in the key of a chain that the budget has cut short.
const CUT_SHORT: u64 = 0;

/// The innermost frames that are not part of a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    /// None: the thread blocks for a monitor.
    None,
    /// The frames of `Object.wait`.
    ObjectWait,
    /// The frames of the helper that instrumented code calls.
    Helper,
    /// Those frames where a synchronizer calls the helper.
    Synchronizer,
    /// The frames of the helper that parks and unparks.
    Parks,
}

impl Skip {
    /// Returns the number of frames that are skipped in any case.
    fn frames(self) -> u16 {
        match self {
            Self::None | Self::ObjectWait => 0,
            // The native method, `find`, and `exit` or `owner`.
            Self::Helper | Self::Synchronizer => 3,
            // The native method, `park` or `unpark`.
            Self::Parks => 2,
        }
    }

    /// Returns the least number of frames that includes the method which a reader would name: the
    /// program's, outside of the frames of synchronizers and of `Object.wait`.
    fn least_frames(self) -> u16 {
        match self {
            Self::None | Self::Helper => 1,
            Self::ObjectWait => 4,
            Self::Synchronizer | Self::Parks => 8,
        }
    }
}

/// A call chain that was recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    /// [`ChainId::NONE`] if memory is short.
    pub(crate) chain: ChainId,
    /// Whether the innermost frame is one of `Object.wait`.
    pub(crate) is_in_wait: bool,
    /// The frames, the outermost first; `None` if outer ones are missing.
    pub(crate) stack: Option<Vec<LiveFrame>>,
    /// The class in whose code the thread blocks for a monitor, if it is one that is changed once
    /// threads wait in it.
    pub(crate) late_class: Option<Arc<LateClass>>,
}

/// Records the call chain of the current thread.
///
/// The key has frames of the interpreter, each a method and a byte code index: the tool interface
/// returns no others.
pub(crate) fn record(env: Env<'_>, session: &Session, thread: &mut Thread, skip: Skip) -> Recorded {
    try_record(env, session, thread, skip).unwrap_or_default()
}

fn try_record(
    env: Env<'_>,
    session: &Session,
    thread: &mut Thread,
    skip: Skip,
) -> Option<Recorded> {
    let is_whole = session.budget.pays_for_chain();
    let max_frames = match is_whole {
        true => session.max_frames,
        false => session.max_frames.min(skip.least_frames()),
    };
    let mut frames = Frames::with_capacity(max_frames.into())?;
    let current = thread.named(env);
    env.stack(current, skip.frames(), &mut frames);
    current.inspect(|&current| env.delete(current));
    let tracer = &mut thread.tracer;
    let (methods, runtime) = (&session.methods, session.runtime());
    let (mut key, mut chain) = (Vec::new(), Vec::new());
    key.try_reserve_exact(frames.len().saturating_add(1)).ok()?;
    chain.try_reserve_exact(frames.len()).ok()?;
    let mut stack = Vec::new();
    stack.try_reserve_exact(frames.len()).ok()?;
    let mut recorded = Recorded::default();
    for frame in env.frames(&frames) {
        let place = match skip {
            Skip::None if chain.is_empty() => Place::MonitorEnter,
            _ => Place::Other,
        };
        let method = methods.get(env, runtime, &session.instrumentation, tracer, frame, place);
        if chain.is_empty() && method.is_object_wait {
            recorded.is_in_wait = true;
            if skip == Skip::ObjectWait {
                continue;
            }
        }
        if place == Place::MonitorEnter && method.may_own_monitors {
            let class = methods.late_class(env, &session.instrumentation, frame.method);
            recorded.late_class = class;
        }
        stack.push(LiveFrame {
            method: method.id,
            may_own_monitors: method.may_own_monitors,
        });
        chain.push(Frame {
            method: method.id,
            bci: method.bci.map_or(-1, i32::from),
            line: method.line,
        });
        key.push(interpreted_frame(method.id, method.bci.unwrap_or(NO_BCI)));
    }
    if !is_whole && frames.is_full() {
        runtime.agent_counts.short_chains.add(1);
        // Distinguishes it from the chain of a thread that has these frames only.
        key.push(CUT_SHORT);
    }
    key.reverse();
    stack.reverse();
    recorded.stack = (!frames.is_full()).then_some(stack);
    let key = ChainKey::new(&key);
    recorded.chain = match tracer.find_chain(key, 0) {
        ChainId::NONE => tracer.add_chain(key, &chain, frames.is_full()),
        known => known,
    };
    Some(recorded)
}
