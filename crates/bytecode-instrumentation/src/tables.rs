//! Attributes of code that have offsets but for the frames: lines, local variables, annotations.

use crate::bytes::{Put, Reader};
use crate::code::{AttributeKind, Code};
use crate::layout::{Layout, to_u2};
use crate::outcome::Reason;

/// The lines of a method, by the position at which each begins.
#[derive(Debug)]
pub(crate) struct Lines(Vec<(u16, u16)>);

impl Lines {
    pub(crate) fn of(code: &Code<'_>) -> Self {
        let tables = code.attributes.iter();
        let tables = tables.filter(|attribute| attribute.kind == AttributeKind::LineNumbers);
        let entries = tables.flat_map(|table| table.bytes.get(2..).unwrap_or_default().chunks(4));
        let entries = entries.filter_map(|entry| match *entry {
            [a, b, c, d] => Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))),
            _ => None,
        });
        let mut lines: Vec<_> = entries.collect();
        lines.sort_by_key(|&(start, _)| start);
        Self(lines)
    }

    /// Returns the line of an instruction of the original code.
    pub(crate) fn at(&self, pc: usize) -> Option<u16> {
        let after = self
            .0
            .partition_point(|&(start, _)| usize::from(start) <= pc);
        let line = self.0.get(after.checked_sub(1)?);
        line.map(|&(_, line)| line)
    }
}

/// Moves a table of lines to the new positions, and adds lines of code that was appended.
pub(crate) fn move_lines(
    table: &[u8],
    layout: &Layout,
    appended: &[(u16, u16)],
) -> Result<Vec<u8>, Reason> {
    let mut reader = Reader::new(table);
    let count = reader.u2()?;
    let mut out = Vec::with_capacity(table.len() + 4 * appended.len());
    let new_count = usize::from(count) + appended.len();
    out.put_u2(u16::try_from(new_count).map_err(|_| Reason::TooLarge)?);
    for _ in 0..count {
        let start = reader.u2()?;
        out.put_u2(layout.target_u2(start.into())?);
        out.put_u2(reader.u2()?);
    }
    for &(start, line) in appended {
        out.put_u2(start);
        out.put_u2(line);
    }
    at_end(&reader, out)
}

/// Moves a table of local variables, of names or of generic types, to the new positions.
pub(crate) fn move_local_variables(table: &[u8], layout: &Layout) -> Result<Vec<u8>, Reason> {
    let mut reader = Reader::new(table);
    let mut out = Vec::with_capacity(table.len());
    let count = reader.u2()?;
    out.put_u2(count);
    for _ in 0..count {
        move_range(&mut reader, layout, &mut out)?;
        // Name, descriptor or signature, index.
        out.put(reader.slice(6)?);
    }
    at_end(&reader, out)
}

/// Moves a position and a length.
fn move_range(reader: &mut Reader<'_>, layout: &Layout, out: &mut Vec<u8>) -> Result<(), Reason> {
    let start = usize::from(reader.u2()?);
    let end = start + usize::from(reader.u2()?);
    let new_start = layout.target(start)?;
    out.put_u2(to_u2(new_start)?);
    out.put_u2(to_u2(layout.target(end)? - new_start)?);
    Ok(())
}

/// Moves type annotations (JVMS 4.7.20) to the new positions. `handlers` has the new index of each
/// entry of the exception table.
pub(crate) fn move_type_annotations(
    annotations: &[u8],
    layout: &Layout,
    handlers: &[usize],
) -> Result<Vec<u8>, Reason> {
    let mut reader = Reader::new(annotations);
    let mut out = Vec::with_capacity(annotations.len());
    let count = reader.u2()?;
    out.put_u2(count);
    for _ in 0..count {
        move_target(&mut reader, layout, handlers, &mut out)?;
        let rest = reader.offset();
        let path_len = reader.u1()?;
        reader.slice(2 * usize::from(path_len))?;
        skip_annotation(&mut reader)?;
        out.put(reader.since(rest));
    }
    at_end(&reader, out)
}

/// Moves the type and the description of the annotated element.
fn move_target(
    reader: &mut Reader<'_>,
    layout: &Layout,
    handlers: &[usize],
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let target = reader.u1()?;
    out.put_u1(target);
    match target {
        // Local variables.
        0x40 | 0x41 => {
            let count = reader.u2()?;
            out.put_u2(count);
            for _ in 0..count {
                move_range(reader, layout, out)?;
                out.put_u2(reader.u2()?);
            }
        }
        // The parameter of a handler.
        0x42 => {
            let index = usize::from(reader.u2()?);
            let index = handlers.get(index).ok_or(Reason::MalformedCode)?;
            out.put_u2(u16::try_from(*index).map_err(|_| Reason::TooLarge)?);
        }
        // `instanceof`, `new`, references to methods; then casts and arguments for type
        // parameters, which have an index, too.
        0x43..=0x4b => {
            let pc = usize::from(reader.u2()?);
            out.put_u2(layout.instruction_u2(pc)?);
            if target >= 0x47 {
                out.put_u1(reader.u1()?);
            }
        }
        // All others are not about code.
        _ => return Err(Reason::MalformedCode),
    }
    Ok(())
}

/// The next item of an annotation.
#[derive(Clone, Copy)]
enum Next {
    /// This number of pairs of a name and a value.
    Pairs(u16),
    /// This number of values.
    Values(u16),
}

/// Skips an annotation (JVMS 4.7.16), which may contain others.
fn skip_annotation(reader: &mut Reader<'_>) -> Result<(), Reason> {
    let _type = reader.u2()?;
    let mut open = vec![Next::Pairs(reader.u2()?)];
    while let Some(next) = open.pop() {
        match next {
            Next::Pairs(0) | Next::Values(0) => continue,
            Next::Pairs(left) => {
                open.push(Next::Pairs(left - 1));
                let _name = reader.u2()?;
            }
            Next::Values(left) => open.push(Next::Values(left - 1)),
        }
        match reader.u1()? {
            b'e' => {
                reader.slice(4)?;
            }
            b'@' => {
                let _type = reader.u2()?;
                open.push(Next::Pairs(reader.u2()?));
            }
            b'[' => open.push(Next::Values(reader.u2()?)),
            _ => {
                reader.slice(2)?;
            }
        }
    }
    Ok(())
}

fn at_end(reader: &Reader<'_>, out: Vec<u8>) -> Result<Vec<u8>, Reason> {
    match reader.is_at_end() {
        true => Ok(out),
        false => Err(Reason::MalformedCode),
    }
}
