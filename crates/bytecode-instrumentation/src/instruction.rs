//! Instructions of the Java virtual machine (JVMS 6.5): their length and role.

use crate::bytes::{Put, Reader};
use crate::outcome::Reason;

pub(crate) const ALOAD: u8 = 0x19;
pub(crate) const ALOAD_0: u8 = 0x2a;
pub(crate) const ASTORE: u8 = 0x3a;
pub(crate) const ASTORE_0: u8 = 0x4b;
pub(crate) const ATHROW: u8 = 0xbf;
pub(crate) const DUP: u8 = 0x59;
const GOTO: u8 = 0xa7;
const GOTO_W: u8 = 0xc8;
pub(crate) const INVOKESTATIC: u8 = 0xb8;
pub(crate) const LDC_W: u8 = 0x13;
pub(crate) const MONITOREXIT: u8 = 0xc3;
pub(crate) const SIPUSH: u8 = 0x11;
pub(crate) const WIDE: u8 = 0xc4;

/// An instruction in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// In bytes, with operands and padding.
    pub(crate) len: usize,
    pub(crate) kind: Kind,
}

/// The role of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    MonitorEnter,
    MonitorExit,
    Return,
    Throw,
    /// From a subroutine.
    Ret,
    New,
    /// Of the method with this constant.
    InvokeSpecial(u16),
    /// To a target at this offset from the instruction, in 16 bits: a jump, or a `jsr`.
    Jump(i16),
    /// The same in 32 bits.
    LongJump(i32),
    /// After its padding: the default, then `before_targets` bytes, then `targets` entries of
    /// `entry_len` bytes that end in the offset of a target.
    Switch(Switch),
    /// Of a reference, from a local variable.
    LoadReference(u16),
    /// To a local variable.
    Store(u16),
    /// Moves values, and does nothing else: constants, loads, the stack, and
    /// elements of arrays of booleans, which is how coverage tools count.
    Move,
    Other,
}

/// A `tableswitch` or `lookupswitch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    /// The bytes after the instruction's byte.
    pub(crate) padding: usize,
    /// Of `low` and `high`, or of the number of pairs.
    pub(crate) header_len: usize,
    pub(crate) entries: usize,
    /// 4, or 8 with a key.
    pub(crate) entry_len: usize,
}

/// Decodes the instruction of `code` at `pc`.
///
/// # Errors
///
/// If the code has no instruction there, or an incomplete one, or one that Java compilers may not
/// write.
pub(crate) fn decode(code: &[u8], pc: usize) -> Result<Instruction, Reason> {
    let rest = code.get(pc..).unwrap_or_default();
    let mut reader = Reader::new(rest);
    let opcode = reader.u1()?;
    let (len, kind) = match opcode {
        // Constants.
        0x00..=0x0f => (1, Kind::Move),
        0x10 => (2, Kind::Move),
        SIPUSH => (3, Kind::Move),
        0x12 => (2, Kind::Other),
        0x13 | 0x14 => (3, Kind::Other),
        // Loads of local variables, then of array elements.
        0x15..=0x18 => (2, Kind::Move),
        ALOAD => (2, Kind::LoadReference(reader.u1()?.into())),
        0x1a..=0x29 => (1, Kind::Move),
        ALOAD_0..=0x2d => (1, Kind::LoadReference(u16::from(opcode - ALOAD_0))),
        0x2e..=0x35 => (1, Kind::Other),
        0x36..=0x3a => (2, Kind::Store(reader.u1()?.into())),
        // Stores for each type of variable: 0 to 3.
        0x3b..=0x4e => (1, Kind::Store(u16::from(opcode - 0x3b) % 4)),
        // `bastore`, then dup, pop, swap.
        0x54 => (1, Kind::Move),
        0x4f..=0x56 => (1, Kind::Other),
        0x57..=0x5f => (1, Kind::Move),
        0x60..=0x83 => (1, Kind::Other),
        0x84 => (3, Kind::Store(reader.u1()?.into())),
        0x85..=0x98 => (1, Kind::Other),
        0x99..=0xa8 | 0xc6 | 0xc7 => (3, Kind::Jump(reader.u2()?.cast_signed())),
        0xa9 => (2, Kind::Ret),
        0xaa => switch(&mut reader, pc, true)?,
        0xab => switch(&mut reader, pc, false)?,
        0xac..=0xb1 => (1, Kind::Return),
        0xb7 => (3, Kind::InvokeSpecial(reader.u2()?)),
        0xb2..=0xb8 => (3, Kind::Other),
        0xb9 | 0xba => (5, Kind::Other),
        0xbb => (3, Kind::New),
        0xbd | 0xc0 | 0xc1 => (3, Kind::Other),
        0xbc => (2, Kind::Other),
        0xbe => (1, Kind::Other),
        ATHROW => (1, Kind::Throw),
        0xc2 => (1, Kind::MonitorEnter),
        MONITOREXIT => (1, Kind::MonitorExit),
        WIDE => match reader.u1()? {
            0x15..=0x18 => (4, Kind::Move),
            ALOAD => (4, Kind::LoadReference(reader.u2()?)),
            0x36..=0x3a => (4, Kind::Store(reader.u2()?)),
            0x84 => (6, Kind::Store(reader.u2()?)),
            0xa9 => (4, Kind::Ret),
            _ => return Err(Reason::MalformedCode),
        },
        0xc5 => (4, Kind::Other),
        0xc8 | 0xc9 => (5, Kind::LongJump(reader.u4()?.cast_signed())),
        0xca.. => return Err(Reason::MalformedCode),
    };
    if len > rest.len() {
        return Err(Reason::MalformedCode);
    }
    Ok(Instruction { len, kind })
}

impl Instruction {
    /// Returns whether the instruction after this one can be executed next; `opcode` is its first byte.
    pub(crate) fn falls_through(self, opcode: Option<u8>) -> bool {
        match self.kind {
            Kind::Return | Kind::Ret | Kind::Throw | Kind::Switch(_) => false,
            Kind::Jump(_) | Kind::LongJump(_) => !matches!(opcode, Some(GOTO | GOTO_W)),
            _ => true,
        }
    }
}

/// Writes a load (`ALOAD`, `ALOAD_0`) or store (`ASTORE`, `ASTORE_0`) of a reference.
pub(crate) fn put_local(out: &mut Vec<u8>, opcode: u8, opcode_0: u8, local: u16) {
    match local {
        0..=3 => out.put_u1(opcode_0 + local as u8),
        4..=0xff => out.put(&[opcode, local as u8]),
        0x100.. => {
            out.put(&[WIDE, opcode]);
            out.put_u2(local);
        }
    }
}

/// Returns the length of such a load or store.
pub(crate) fn local_len(local: u16) -> usize {
    match local {
        0..=3 => 1,
        4..=0xff => 2,
        0x100.. => 4,
    }
}

/// Returns the number of bytes between the byte of a switch at `pc` and its operands.
pub(crate) fn switch_padding(pc: usize) -> usize {
    3 - pc % 4
}

fn switch(reader: &mut Reader<'_>, pc: usize, is_table: bool) -> Result<(usize, Kind), Reason> {
    let padding = switch_padding(pc);
    reader.slice(padding)?;
    let _default = reader.u4()?;
    let (header_len, entry_len, entries) = if is_table {
        let low = i64::from(reader.u4()?.cast_signed());
        let high = i64::from(reader.u4()?.cast_signed());
        (8, 4, high - low + 1)
    } else {
        (4, 8, i64::from(reader.u4()?.cast_signed()))
    };
    let entries = usize::try_from(entries).map_err(|_| Reason::MalformedCode)?;
    let entries_len = entries
        .checked_mul(entry_len)
        .ok_or(Reason::MalformedCode)?;
    reader.slice(entries_len)?;
    let switch = Switch {
        padding,
        header_len,
        entries,
        entry_len,
    };
    Ok((reader.offset(), Kind::Switch(switch)))
}

/// Calls `visit` with the offset of each target of a jump or switch.
pub(crate) fn for_each_target(
    bytes: &[u8],
    kind: Kind,
    mut visit: impl FnMut(i32),
) -> Result<(), Reason> {
    match kind {
        Kind::Jump(offset) => visit(offset.into()),
        Kind::LongJump(offset) => visit(offset),
        Kind::Switch(switch) => {
            let mut reader = Reader::new(bytes);
            reader.slice(1 + switch.padding)?;
            visit(reader.u4()?.cast_signed());
            reader.slice(switch.header_len)?;
            for _ in 0..switch.entries {
                reader.slice(switch.entry_len - 4)?;
                visit(reader.u4()?.cast_signed());
            }
        }
        _ => {}
    }
    Ok(())
}
