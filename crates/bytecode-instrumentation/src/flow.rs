//! The monitors that a method's own blocks have acquired, at each instruction.
//!
//! HotSpot does the like before it compiles a method. Compilers of all languages release the
//! monitors of a block on each way out, so their number does not depend on the way to an instruction.

use crate::code::Code;
use crate::instruction::{Kind, decode, for_each_target};
use crate::outcome::Reason;

/// The monitors of a method.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The index of the innermost monitor, by bci; `None` where no way leads to.
    owned: Vec<Option<usize>>,
    /// The first one stands for none.
    monitors: Vec<Monitor>,
    /// Instructions whose successors have yet to be looked at.
    pending: Vec<usize>,
}

/// A monitor that an instruction acquires.
#[derive(Debug)]
struct Monitor {
    /// The index of the one that was acquired before.
    outer: usize,
    /// The number of monitors, with this one.
    number: u16,
}

impl Flow {
    /// Limit of the work on one method, in bytes of code times handlers: more means a class made to
    /// take time.
    const MAX_WORK: usize = 1 << 24;

    const NONE: usize = 0;

    /// # Errors
    ///
    /// [`Reason::Unstructured`] if the number of monitors depends on the way, or is not 0 at a
    /// return.
    pub(crate) fn of(code: &Code<'_>) -> Result<Self, Reason> {
        if code.bytes.len().saturating_mul(code.handlers.len()) > Self::MAX_WORK {
            return Err(Reason::TooLarge);
        }
        let mut flow = Self {
            owned: vec![None; code.bytes.len()],
            monitors: vec![Monitor {
                outer: Self::NONE,
                number: 0,
            }],
            pending: Vec::new(),
        };
        flow.reach(0, Self::NONE)?;
        loop {
            while let Some(pc) = flow.pending.pop() {
                flow.follow(code, pc)?;
            }
            // A handler of code that throws nothing, as an empty block has, which is to have the
            // monitors of this code.
            let mut unreached = code.handlers.iter().filter_map(|handler| {
                let owned = flow.innermost(handler.start)?;
                let is_reached = flow.innermost(handler.catch.handler).is_some();
                (!is_reached).then_some((handler.catch.handler, owned))
            });
            match unreached.next() {
                Some((handler, owned)) => flow.reach(handler, owned)?,
                None => return Ok(flow),
            }
        }
    }

    /// Returns the index of the monitor that was acquired last before an instruction, by the first
    /// way that was found; `None` if no way leads to it.
    pub(crate) fn innermost(&self, pc: usize) -> Option<usize> {
        self.owned.get(pc).copied().flatten()
    }

    /// Returns the number of monitors before an instruction; `None` if no way leads to it.
    pub(crate) fn owned(&self, pc: usize) -> Option<u16> {
        self.number(self.innermost(pc)?)
    }

    fn reach(&mut self, pc: usize, owned: usize) -> Result<(), Reason> {
        let before = self.owned.get_mut(pc).ok_or(Reason::MalformedCode)?;
        let before = *before.get_or_insert_with(|| {
            self.pending.push(pc);
            owned
        });
        let is_same = self.number(before) == self.number(owned);
        is_same.then_some(()).ok_or(Reason::Unstructured)
    }

    fn number(&self, monitor: usize) -> Option<u16> {
        let monitor = self.monitors.get(monitor)?;
        Some(monitor.number)
    }

    /// Returns the innermost monitor once one more is acquired.
    fn enter(&mut self, outer: usize) -> Result<usize, Reason> {
        let number = self.number(outer).and_then(|number| number.checked_add(1));
        let number = number.ok_or(Reason::Unstructured)?;
        self.monitors.push(Monitor { outer, number });
        Ok(self.monitors.len() - 1)
    }

    /// Returns the innermost monitor once this one is released.
    fn exit(&self, owned: usize) -> Result<usize, Reason> {
        let monitor = self.monitors.get(owned).filter(|_| owned != Self::NONE);
        Ok(monitor.ok_or(Reason::Unstructured)?.outer)
    }

    /// Reaches the successors of an instruction.
    fn follow(&mut self, code: &Code<'_>, pc: usize) -> Result<(), Reason> {
        let instruction = decode(code.bytes, pc)?;
        let owned = self.innermost(pc).unwrap_or(Self::NONE);
        let mut after = owned;
        match instruction.kind {
            Kind::MonitorEnter => after = self.enter(owned)?,
            Kind::MonitorExit => after = self.exit(owned)?,
            Kind::Return if owned != Self::NONE => return Err(Reason::Unstructured),
            Kind::Throw | Kind::Other | Kind::New | Kind::InvokeSpecial(_) => {
                self.throw(code, pc, owned)?;
            }
            // A subroutine is taken to release what it acquires, and nothing else.
            Kind::Jump(_) | Kind::LongJump(_) => {}
            Kind::Return | Kind::Ret | Kind::Switch(_) => {}
            Kind::LoadReference(_) | Kind::Store(_) | Kind::Move => {}
        }
        if instruction.falls_through(code.bytes.get(pc).copied()) {
            self.reach(pc + instruction.len, after)?;
        }
        let mut targets = Vec::new();
        let bytes = code.bytes.get(pc..).unwrap_or_default();
        for_each_target(bytes, instruction.kind, |offset| {
            targets.push(pc as i64 + i64::from(offset));
        })?;
        for target in targets {
            let target = usize::try_from(target).ok().filter(|&pc| code.is_start(pc));
            self.reach(target.ok_or(Reason::MalformedCode)?, after)?;
        }
        Ok(())
    }

    /// Reaches the handlers of an instruction that may throw anything.
    fn throw(&mut self, code: &Code<'_>, pc: usize, owned: usize) -> Result<(), Reason> {
        for handler in code.handlers.iter().filter(|handler| handler.covers(pc)) {
            self.reach(handler.catch.handler, owned)?;
            if handler.catch.is_of_all() {
                break;
            }
        }
        Ok(())
    }
}
