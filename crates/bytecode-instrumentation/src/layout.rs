//! Positions of the instructions of a method after calls were inserted.

use crate::code::Code;
use crate::instruction::{Kind, switch_padding};
use crate::outcome::Reason;

/// The insertions around one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    /// Position of the instruction in the original code.
    pub(crate) pc: usize,
    /// In bytes. A jump to the instruction leads here.
    pub(crate) before: usize,
    /// In bytes. A jump to the next instruction does not lead here.
    pub(crate) after: usize,
}

/// Maps positions in the original code to those in the new one.
#[derive(Debug)]
pub(crate) struct Layout {
    /// By original position: the target of a jump to it. Inside of an instruction, at the same
    /// distance from its start as in the original.
    targets: Vec<usize>,
    /// In order.
    insertions: Vec<Insertion>,
}

impl Layout {
    /// Creates the layout; the insertions are in order of their positions. No jump leads to the
    /// `start` bytes before the code.
    pub(crate) fn new(code: &Code<'_>, start: usize, insertions: Vec<Insertion>) -> Self {
        let mut targets = Vec::with_capacity(code.bytes.len() + 1);
        let mut pending = insertions.iter().peekable();
        let mut new_pc = start;
        for (pc, instruction) in code.instructions() {
            let insertion = pending.next_if(|insertion| insertion.pc == pc);
            let (before, after) = insertion.map_or((0, 0), |i| (i.before, i.after));
            targets.extend(new_pc..new_pc + instruction.len);
            new_pc += before;
            new_pc += match instruction.kind {
                Kind::Switch(switch) => instruction.len - switch.padding + switch_padding(new_pc),
                _ => instruction.len,
            };
            new_pc += after;
        }
        targets.push(new_pc);
        Self {
            targets,
            insertions,
        }
    }

    /// Returns the length of the code, without what is appended.
    pub(crate) fn len(&self) -> usize {
        self.targets.last().copied().unwrap_or_default()
    }

    /// Returns the target of a jump to an instruction; for the end of the code, its end.
    pub(crate) fn target(&self, pc: usize) -> Result<usize, Reason> {
        self.targets.get(pc).copied().ok_or(Reason::MalformedCode)
    }

    pub(crate) fn target_u2(&self, pc: usize) -> Result<u16, Reason> {
        to_u2(self.target(pc)?)
    }

    /// Returns the position of the instruction itself.
    pub(crate) fn instruction(&self, pc: usize) -> Result<usize, Reason> {
        let before = self.insertion(pc).map_or(0, |insertion| insertion.before);
        Ok(self.target(pc)? + before)
    }

    pub(crate) fn instruction_u2(&self, pc: usize) -> Result<u16, Reason> {
        to_u2(self.instruction(pc)?)
    }

    /// Returns the end of the instruction before `pc`, without insertions after it.
    pub(crate) fn end(&self, pc: usize) -> Result<usize, Reason> {
        // An instruction with insertions after it has a length of one byte.
        let before = pc.checked_sub(1).and_then(|pc| self.insertion(pc));
        let after = before.map_or(0, |insertion| insertion.after);
        Ok(self.target(pc)? - after)
    }

    pub(crate) fn insertion(&self, pc: usize) -> Option<&Insertion> {
        let index = self.insertions.binary_search_by_key(&pc, |i| i.pc).ok()?;
        self.insertions.get(index)
    }
}

/// Converts a position in code, which must not be beyond 64 KiB.
pub(crate) fn to_u2(pc: usize) -> Result<u16, Reason> {
    u16::try_from(pc).map_err(|_| Reason::TooLarge)
}
