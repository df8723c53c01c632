//! What is kept of a method.

use std::sync::Arc;

use bytecode_instrumentation::{Position, Positions};
use trace_format::MethodId;

use crate::methods::entity::Entity;

/// A method that was on a stack.
#[derive(Debug)]
pub(super) struct MethodEntry {
    pub(super) entity: Entity,
    /// Where which source line begins, by byte code index, in order.
    pub(super) lines: Box<[(u16, i32)]>,
    /// Of which code of the class file its code was made; `None` if it is that itself.
    pub(super) positions: Option<Arc<Positions>>,
    /// How often classes had been redefined before.
    pub(super) redefinitions: u32,
    /// Where its code acquires monitors, by byte code index, in order.
    pub(super) monitor_enters: Box<[u16]>,
    pub(super) is_object_wait: bool,
    pub(super) may_own_monitors: bool,
}

/// What a frame is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the innermost one of a thread that blocks for a monitor.
    MonitorEnter,
    /// Anything else.
    Other,
}

/// A frame, as the trace has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescribedFrame {
    pub(crate) id: MethodId,
    /// The byte code index in the class file; `None` where there is none.
    pub(crate) bci: Option<u16>,
    /// The source line; -1 where it is not known.
    pub(crate) line: i32,
    /// It is a frame of `Object.wait`, or of what that calls.
    pub(crate) is_object_wait: bool,
    /// The method is synchronized, or has synchronized blocks.
    pub(crate) may_own_monitors: bool,
}

impl MethodEntry {
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

    /// The interpreter has already gone on by an instruction when a thread blocks in a
    /// `monitorenter`, compiled code has not.
    fn monitor_enter(&self, bci: u16) -> u16 {
        let is_enter = |bci: &u16| self.monitor_enters.binary_search(bci).is_ok();
        let before = bci.checked_sub(1).filter(|_| !is_enter(&bci));
        before.filter(is_enter).unwrap_or(bci)
    }

    /// The byte code index in the class file of the instruction at `bci`; `None` in code that
    /// is not there.
    fn original_bci(&self, bci: u16) -> Option<u16> {
        match self.positions.as_ref().map(|positions| positions.at(bci)) {
            None => Some(bci),
            Some(Position::Bci(bci)) => Some(bci),
            Some(Position::Unwinding) => None,
        }
    }

    /// The source line of the instruction at `bci`; -1 where it is not known. Of one that is not
    /// in the class file it is the method's first one.
    fn line(&self, bci: u16) -> i32 {
        let is_original = self.original_bci(bci).is_some();
        let behind = self.lines.partition_point(|&(start, _)| start <= bci);
        let index = if is_original { behind } else { 1 };
        let line = index.checked_sub(1).and_then(|last| self.lines.get(last));
        line.map_or(-1, |&(_, line)| line)
    }
}
