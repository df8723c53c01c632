//! Finds where a method's byte code acquires monitors.

/// JVMS 6.5.
const MONITORENTER: u8 = 0xc2;
const TABLESWITCH: u8 = 0xaa;
const LOOKUPSWITCH: u8 = 0xab;
const WIDE: u8 = 0xc4;
const IINC: u8 = 0x84;

/// Returns the positions of all `monitorenter` instructions, in order. Stops at code that is not
/// valid.
pub(crate) fn monitor_enters(code: &[u8]) -> Vec<u16> {
    let mut enters = Vec::new();
    let mut at = 0;
    while let Some(&opcode) = code.get(at) {
        if opcode == MONITORENTER
            && let Ok(bci) = u16::try_from(at)
        {
            enters.push(bci);
        }
        match instruction_len(code, at, opcode) {
            Some(len) => at = at.saturating_add(len),
            None => break,
        }
    }
    enters
}

/// Returns the length of the instruction at a position, at least 1 (JVMS 6.5).
fn instruction_len(code: &[u8], at: usize, opcode: u8) -> Option<usize> {
    Some(match opcode {
        // bipush, ldc, loads and stores, ret, newarray
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
        // sipush, ldc_w, iinc, jumps, fields, calls, classes
        0x11
        | 0x13
        | 0x14
        | IINC
        | 0x99..=0xa8
        | 0xb2..=0xb8
        | 0xbb
        | 0xbd
        | 0xc0
        | 0xc1
        | 0xc6
        | 0xc7 => 3,
        // multianewarray
        0xc5 => 4,
        // invokeinterface, invokedynamic, goto_w, jsr_w
        0xb9 | 0xba | 0xc8 | 0xc9 => 5,
        WIDE if code.get(at.checked_add(1)?) == Some(&IINC) => 6,
        WIDE => 4,
        TABLESWITCH => {
            let operands = switch_operands(at)?;
            let low = number_at(code, operands.checked_add(4)?)?;
            let high = number_at(code, operands.checked_add(8)?)?;
            let targets = usize::try_from(high.checked_sub(low)?.checked_add(1)?).ok()?;
            let end = operands.checked_add(12)?;
            end.checked_add(targets.checked_mul(4)?)?.checked_sub(at)?
        }
        LOOKUPSWITCH => {
            let operands = switch_operands(at)?;
            let pairs = usize::try_from(number_at(code, operands.checked_add(4)?)?).ok()?;
            let end = operands.checked_add(8)?;
            end.checked_add(pairs.checked_mul(8)?)?.checked_sub(at)?
        }
        _ => 1,
    })
}

/// Returns where the operands of a switch begin: at a multiple of four bytes.
fn switch_operands(at: usize) -> Option<usize> {
    at.checked_add(1)?.checked_next_multiple_of(4)
}

fn number_at(code: &[u8], at: usize) -> Option<i64> {
    let bytes = code.get(at..)?.first_chunk()?;
    Some(i32::from_be_bytes(*bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_no_instructions() {
        // aload_0, dup, astore_1, monitorenter, sipush 0xc2c2, pop, wide iinc, monitorenter
        let code = [
            0x2a, 0x59, 0x4c, 0xc2, 0x11, 0xc2, 0xc2, 0x57, 0xc4, 0x84, 0, 0xc2, 0, 0xc2, 0xc2,
        ];
        assert_eq!(monitor_enters(&code), [3, 14]);
    }

    #[test]
    fn switches_are_passed_over() {
        let number = |number: i32| number.to_be_bytes();
        // nop, tableswitch with two targets, monitorenter
        let mut code = vec![0, 0xaa, 0, 0];
        for operand in [0xc2, 5, 6, 0xc2c2, 0xc2] {
            code.extend(number(operand));
        }
        code.push(0xc2);
        assert_eq!(monitor_enters(&code), [24]);
        // lookupswitch with one pair, monitorenter
        let mut code = vec![0xab, 0, 0, 0];
        for operand in [0xc2, 1, 0xc2, 0xc2] {
            code.extend(number(operand));
        }
        code.push(0xc2);
        assert_eq!(monitor_enters(&code), [20]);
    }

    #[test]
    fn nonsense_ends_somewhere() {
        // A switch with fewer than no targets, and one that is cut off.
        for code in [
            &[0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0xc2][..],
            &[0xc2, 0xab, 0],
            &[0xab, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xc2],
        ] {
            assert!(monitor_enters(code).len() <= 1);
        }
    }
}
