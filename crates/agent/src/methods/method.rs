//! A method that was on a stack, and its frames.

use std::sync::{Arc, OnceLock};

use bytecode_instrumentation::{Position, Positions};
use trace_format::MethodId;

use crate::instrumentation::late::LateClass;
use crate::methods::entity::Entity;

/// A method that was on a stack.
#[derive(Debug)]
pub(super) struct MethodEntry {
    pub(super) entity: Entity,
    /// Where each source line begins, by byte code index, in order.
    pub(super) lines: Box<[(u16, i32)]>,
    /// The original positions of its code; `None` if it was not changed.
    pub(super) positions: Option<Arc<Positions>>,
    /// The number of redefinitions of classes before.
    pub(super) redefinitions: u32,
    /// Where its code acquires monitors, by byte code index, in order.
    pub(super) monitor_enters: Box<[u16]>,
    pub(super) is_object_wait: bool,
    pub(super) may_own_monitors: bool,
    /// Its class, if it is one that is changed once threads wait in it; not set before a thread has.
    pub(super) late_class: OnceLock<Option<Arc<LateClass>>>,
}

/// Where a frame stands in its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a `monitorenter`: it is the innermost frame of a thread that blocks for a monitor.
    MonitorEnter,
    /// Anywhere.
    Other,
}

/// A frame, as the trace has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescribedFrame {
    pub(crate) id: MethodId,
    /// The byte code index in the class file; `None` in native code and in code that was added.
    pub(crate) bci: Option<u16>,
    /// The source line; -1 if it is not known.
    pub(crate) line: i32,
    /// Whether it is a frame of `Object.wait`, or of the native method that this calls.
    pub(crate) is_object_wait: bool,
    /// Whether the method is synchronized or has synchronized blocks.
    pub(crate) may_own_monitors: bool,
}

impl MethodEntry {
    /// Whether the other entry is of the same code, after its class or another one was changed.
    pub(super) fn is_same_code(&self, other: &Self) -> bool {
        self.positions == other.positions
            && self.lines == other.lines
            && self.monitor_enters == other.monitor_enters
    }

    pub(super) fn id(&self) -> MethodId {
        MethodId(self.entity.id)
    }

    pub(super) fn frame(&self, bci: Option<u16>, place: Place) -> DescribedFrame {
        let bci = bci.map(|bci| match place {
            Place::MonitorEnter => self.monitor_enter(bci),
            Place::Other => bci,
        });
        DescribedFrame {
            id: self.id(),
            bci: bci.and_then(|bci| self.original_bci(bci)),
            line: bci.map_or(-1, |bci| self.line(bci)),
            is_object_wait: self.is_object_wait,
            may_own_monitors: self.may_own_monitors,
        }
    }

    /// Returns the index of the `monitorenter` in which a thread blocks: the interpreter has already
    /// advanced to the next instruction, compiled code has not.
    fn monitor_enter(&self, bci: u16) -> u16 {
        let is_enter = |bci: &u16| self.monitor_enters.binary_search(bci).is_ok();
        let before = bci.checked_sub(1).filter(|_| !is_enter(&bci));
        before.filter(is_enter).unwrap_or(bci)
    }

    /// Returns the byte code index, in the class file, of the instruction at `bci`; `None` in code that
    /// was added.
    fn original_bci(&self, bci: u16) -> Option<u16> {
        match self.positions.as_ref().map(|positions| positions.at(bci)) {
            None => Some(bci),
            Some(Position::Bci(bci)) => Some(bci),
            Some(Position::Unwinding) => None,
        }
    }

    /// Returns the source line of the instruction at `bci`; -1 if it is not known. Code that was added
    /// has the first line of the method.
    fn line(&self, bci: u16) -> i32 {
        let is_original = self.original_bci(bci).is_some();
        let following = self.lines.partition_point(|&(start, _)| start <= bci);
        let index = if is_original { following } else { 1 };
        let line = index.checked_sub(1).and_then(|last| self.lines.get(last));
        line.map_or(-1, |&(_, line)| line)
    }
}
