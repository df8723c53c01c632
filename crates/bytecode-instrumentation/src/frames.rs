//! Stack map frames (JVMS 4.7.4): moved, and written for handlers that are appended.

use crate::bytes::{Put, Reader};
use crate::class_file::{ClassFile, Method};
use crate::code::Code;
use crate::constant_pool::NewConstants;
use crate::layout::Layout;
use crate::outcome::Reason;

const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;

/// The type of a local variable or of a value on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type<'a> {
    /// A type with a tag alone.
    Tag(u8),
    /// A class, by its constant.
    Class(u16),
    /// A class that may have no constant yet, by its internal name or array descriptor.
    Named(&'a [u8]),
    /// The uninitialized result of the `new` at this bci.
    New(u16),
}

impl<'a> Type<'a> {
    const TOP: Self = Self::Tag(0);
    const UNINITIALIZED_THIS: Self = Self::Tag(6);

    fn read(reader: &mut Reader<'a>) -> Result<Self, Reason> {
        match reader.u1()? {
            tag @ 0..=6 => Ok(Self::Tag(tag)),
            OBJECT => Ok(Self::Class(reader.u2()?)),
            UNINITIALIZED => Ok(Self::New(reader.u2()?)),
            _ => Err(Reason::MalformedCode),
        }
    }

    /// Returns whether it is an initialized object.
    fn is_object(self) -> bool {
        matches!(self, Self::Class(_) | Self::Named(_))
    }

    /// Returns the number of local variables that it takes.
    fn size(self) -> usize {
        match self {
            // Double and long.
            Self::Tag(3 | 4) => 2,
            _ => 1,
        }
    }

    fn write(
        self,
        out: &mut Vec<u8>,
        layout: &Layout,
        constants: &mut NewConstants<'a>,
    ) -> Result<(), Reason> {
        match self {
            Self::Tag(tag) => out.put_u1(tag),
            Self::Class(index) => {
                out.put_u1(OBJECT);
                out.put_u2(index);
            }
            Self::Named(name) => {
                out.put_u1(OBJECT);
                out.put_u2(constants.class(name)?);
            }
            Self::New(pc) => {
                out.put_u1(UNINITIALIZED);
                out.put_u2(layout.instruction_u2(pc.into())?);
            }
        }
        Ok(())
    }
}

/// A frame in the class file: a difference to the one before.
#[derive(Debug)]
struct Difference<'a> {
    /// The position of its instruction.
    pc: usize,
    kind: DifferenceKind<'a>,
}

#[derive(Debug)]
enum DifferenceKind<'a> {
    Same,
    Stack(Type<'a>),
    Chop(u8),
    Append(Vec<Type<'a>>),
    Full {
        locals: Vec<Type<'a>>,
        stack: Vec<Type<'a>>,
    },
}

/// The frames of a table, in order.
struct Differences<'a> {
    reader: Reader<'a>,
    left: u16,
    /// The smallest position of the next one.
    next_pc: usize,
}

impl<'a> Differences<'a> {
    fn new(table: &'a [u8]) -> Result<Self, Reason> {
        let mut reader = Reader::new(table);
        let left = reader.u2()?;
        Ok(Self {
            reader,
            left,
            next_pc: 0,
        })
    }

    fn next(&mut self) -> Result<Option<Difference<'a>>, Reason> {
        let reader = &mut self.reader;
        if self.left == 0 {
            return match reader.is_at_end() {
                true => Ok(None),
                false => Err(Reason::MalformedCode),
            };
        }
        self.left -= 1;
        let tag = reader.u1()?;
        let delta = match tag {
            0..=63 => u16::from(tag),
            64..=127 => u16::from(tag - 64),
            247.. => reader.u2()?,
            128..=246 => return Err(Reason::MalformedCode),
        };
        let kind = match tag {
            64..=127 | 247 => DifferenceKind::Stack(Type::read(reader)?),
            248..=250 => DifferenceKind::Chop(251 - tag),
            252..=254 => DifferenceKind::Append(read_types(reader, u16::from(tag - 251))?),
            255 => {
                let count = reader.u2()?;
                let locals = read_types(reader, count)?;
                let count = reader.u2()?;
                let stack = read_types(reader, count)?;
                DifferenceKind::Full { locals, stack }
            }
            _ => DifferenceKind::Same,
        };
        let pc = self.next_pc + usize::from(delta);
        self.next_pc = pc + 1;
        Ok(Some(Difference { pc, kind }))
    }
}

fn read_types<'a>(reader: &mut Reader<'a>, count: u16) -> Result<Vec<Type<'a>>, Reason> {
    (0..count).map(|_| Type::read(reader)).collect()
}

/// The verifier's knowledge at the begin of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HandlerFrame<'a> {
    locals: Vec<Type<'a>>,
    /// The throwable, the only value on the stack.
    thrown: Type<'a>,
}

impl<'a> HandlerFrame<'a> {
    /// Creates the frame of a handler for everything that needs objects only in these local
    /// variables.
    pub(crate) fn with_objects(needed: impl IntoIterator<Item = u16>) -> Self {
        let mut locals = Vec::new();
        for local in needed {
            let len = locals.len().max(usize::from(local) + 1);
            locals.resize(len, Type::TOP);
            if let Some(local) = locals.get_mut(usize::from(local)) {
                *local = Type::Named(b"java/lang/Object");
            }
        }
        let thrown = Type::Named(b"java/lang/Throwable");
        Self { locals, thrown }
    }

    /// Creates the frame of a handler for a class of throwables that needs the method's parameters.
    pub(crate) fn with_parameters(
        class: &ClassFile<'a>,
        method: &Method<'a>,
        thrown: &'a [u8],
    ) -> Result<Self, Reason> {
        Ok(Self {
            locals: initial_locals(class, method)?,
            thrown: Type::Named(thrown),
        })
    }

    /// Returns whether a local variable has an initialized object.
    pub(crate) fn has_object(&self, local: u16) -> bool {
        let mut index = 0;
        for &entry in &self.locals {
            if index == usize::from(local) {
                return entry.is_object();
            }
            index += entry.size();
        }
        false
    }

    /// Returns whether the object under construction is not initialized yet. Frames that do not
    /// mention it may not follow (JVMS 4.10.1.4).
    pub(crate) fn is_before_super(&self) -> bool {
        self.locals.first() == Some(&Type::UNINITIALIZED_THIS)
    }

    /// Returns an upper bound of the length, in bytes.
    pub(crate) fn max_len(&self) -> usize {
        3 * self.locals.len() + 10
    }
}

/// Facts from the frames of a method about some of its code.
#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    /// The wanted handlers that have a frame, by position.
    handlers: Vec<(usize, HandlerFrame<'a>)>,
    /// Every frame has an initialized object in local variable 0.
    pub(crate) has_object_in_local_0: bool,
}

impl<'a> Facts<'a> {
    /// Reads all frames, and checks that they are about instructions. `wanted` is in order.
    pub(crate) fn read(
        class: &ClassFile<'a>,
        method: &Method<'a>,
        code: &Code<'a>,
        wanted: &[usize],
    ) -> Result<Self, Reason> {
        let mut locals = initial_locals(class, method)?;
        let mut facts = Self {
            handlers: Vec::new(),
            has_object_in_local_0: begin_with_object(&locals),
        };
        let Some(table) = code.frames() else {
            return Ok(facts);
        };
        let mut differences = Differences::new(table.bytes)?;
        let mut kept_len = 0;
        while let Some(Difference { pc, kind }) = differences.next()? {
            if !code.is_start(pc) {
                return Err(Reason::MalformedCode);
            }
            let thrown = apply(kind, &mut locals)?;
            facts.has_object_in_local_0 &= begin_with_object(&locals);
            if let Some(thrown) = thrown
                && wanted.binary_search(&pc).is_ok()
            {
                let locals = locals.clone();
                let frame = HandlerFrame { locals, thrown };
                kept_len += frame.max_len();
                facts.handlers.push((pc, frame));
            }
            if kept_len > MAX_FRAMES_LEN {
                return Err(Reason::TooLarge);
            }
        }
        Ok(facts)
    }

    /// Returns the frame of a wanted handler.
    pub(crate) fn handler(&self, pc: usize) -> Option<&HandlerFrame<'a>> {
        let index = self.handlers.binary_search_by_key(&pc, |&(pc, _)| pc);
        let entry = index.ok().and_then(|i| self.handlers.get(i));
        entry.map(|(_, frame)| frame)
    }
}

/// Limit of the frames of a method that are kept or added, in bytes. A longer one means a class
/// made to exhaust memory: many handlers with many local variables.
pub(crate) const MAX_FRAMES_LEN: usize = 1 << 15;

fn begin_with_object(locals: &[Type<'_>]) -> bool {
    locals.first().is_some_and(|first| first.is_object())
}

/// Applies a frame to `locals`. Returns the value on the stack, if it is one.
fn apply<'a>(
    kind: DifferenceKind<'a>,
    locals: &mut Vec<Type<'a>>,
) -> Result<Option<Type<'a>>, Reason> {
    match kind {
        DifferenceKind::Same => {}
        DifferenceKind::Stack(value) => return Ok(Some(value)),
        DifferenceKind::Chop(count) => {
            let left = locals.len().checked_sub(count.into());
            locals.truncate(left.ok_or(Reason::MalformedCode)?);
        }
        DifferenceKind::Append(types) => locals.extend(types),
        DifferenceKind::Full { locals: all, stack } => {
            *locals = all;
            if let [value] = stack.as_slice() {
                return Ok(Some(*value));
            }
        }
    }
    Ok(None)
}

/// Returns the local variables at the begin of a method, according to its descriptor (JVMS
/// 4.10.1.6).
fn initial_locals<'a>(class: &ClassFile<'a>, method: &Method<'a>) -> Result<Vec<Type<'a>>, Reason> {
    let mut locals = Vec::new();
    if !method.is_static {
        locals.push(match method.name {
            b"<init>" => Type::UNINITIALIZED_THIS,
            _ => Type::Class(class.this_class),
        });
    }
    let mut rest = method.descriptor.strip_prefix(b"(").unwrap_or_default();
    while let Some(&first) = rest.first() {
        let simple = |tag| (Type::Tag(tag), 1);
        let (local, len) = match first {
            b')' => return Ok(locals),
            b'B' | b'C' | b'I' | b'S' | b'Z' => simple(1),
            b'F' => simple(2),
            b'D' => simple(3),
            b'J' => simple(4),
            b'L' | b'[' => reference(rest).ok_or(Reason::MalformedCode)?,
            _ => return Err(Reason::MalformedCode),
        };
        locals.push(local);
        rest = rest.get(len..).unwrap_or_default();
    }
    Err(Reason::MalformedCode)
}

/// Returns the reference type at the start of `descriptor`, and its length there.
fn reference(descriptor: &[u8]) -> Option<(Type<'_>, usize)> {
    let dimensions = descriptor.iter().position(|&byte| byte != b'[')?;
    let len = match descriptor.get(dimensions)? {
        b'L' => descriptor.iter().position(|&byte| byte == b';')? + 1,
        _ => dimensions + 1,
    };
    let descriptor = descriptor.get(..len)?;
    // A class that is no array is named without `L` and `;`.
    let name = match dimensions {
        0 => descriptor.get(1..len.checked_sub(1)?)?,
        _ => descriptor,
    };
    Some((Type::Named(name), len))
}

/// Writes a table of frames.
struct FrameWriter {
    bytes: Vec<u8>,
    count: u16,
    next_pc: u16,
}

impl FrameWriter {
    fn new() -> Self {
        Self {
            // The number of frames, set later.
            bytes: vec![0; 2],
            count: 0,
            next_pc: 0,
        }
    }

    /// Counts a frame and returns its distance to the one before.
    fn delta(&mut self, pc: u16) -> Result<u16, Reason> {
        self.count = self.count.checked_add(1).ok_or(Reason::TooLarge)?;
        let delta = pc.checked_sub(self.next_pc);
        self.next_pc = pc.saturating_add(1);
        delta.ok_or(Reason::MalformedCode)
    }

    fn finish(mut self) -> Vec<u8> {
        if let Some(count) = self.bytes.first_chunk_mut() {
            *count = self.count.to_be_bytes();
        }
        self.bytes
    }
}

/// Writes the frames of `code` at their new positions, and those of handlers that were appended,
/// which begin at the given positions. At `begin` is one with the method's parameters.
pub(crate) fn move_frames<'a>(
    code: &Code<'a>,
    layout: &Layout,
    begin: Option<u16>,
    appended: &[(u16, HandlerFrame<'a>)],
    constants: &mut NewConstants<'a>,
) -> Result<Vec<u8>, Reason> {
    let mut writer = FrameWriter::new();
    if let Some(pc) = begin {
        let delta = writer.delta(pc)?;
        let out = &mut writer.bytes;
        put_difference(out, delta, &DifferenceKind::Same, layout, constants)?;
    }
    if let Some(table) = code.frames() {
        let mut differences = Differences::new(table.bytes)?;
        while let Some(difference) = differences.next()? {
            let delta = writer.delta(layout.target_u2(difference.pc)?)?;
            let out = &mut writer.bytes;
            put_difference(out, delta, &difference.kind, layout, constants)?;
        }
    }
    for (pc, frame) in appended {
        let delta = writer.delta(*pc)?;
        let out = &mut writer.bytes;
        put_full(
            out,
            delta,
            &frame.locals,
            &[frame.thrown],
            layout,
            constants,
        )?;
    }
    Ok(writer.finish())
}

fn put_difference<'a>(
    out: &mut Vec<u8>,
    delta: u16,
    kind: &DifferenceKind<'a>,
    layout: &Layout,
    constants: &mut NewConstants<'a>,
) -> Result<(), Reason> {
    let short = u8::try_from(delta).ok().filter(|&delta| delta < 64);
    match kind {
        DifferenceKind::Same => match short {
            Some(delta) => out.put_u1(delta),
            None => put_tag(out, 251, delta),
        },
        DifferenceKind::Stack(value) => {
            match short {
                Some(delta) => out.put_u1(64 + delta),
                None => put_tag(out, 247, delta),
            }
            value.write(out, layout, constants)?;
        }
        DifferenceKind::Chop(count) => put_tag(out, 251 - count, delta),
        DifferenceKind::Append(types) => {
            put_tag(out, 251 + types.len() as u8, delta);
            for local in types {
                local.write(out, layout, constants)?;
            }
        }
        DifferenceKind::Full { locals, stack } => {
            put_full(out, delta, locals, stack, layout, constants)?;
        }
    }
    Ok(())
}

fn put_tag(out: &mut Vec<u8>, tag: u8, delta: u16) {
    out.put_u1(tag);
    out.put_u2(delta);
}

fn put_full<'a>(
    out: &mut Vec<u8>,
    delta: u16,
    locals: &[Type<'a>],
    stack: &[Type<'a>],
    layout: &Layout,
    constants: &mut NewConstants<'a>,
) -> Result<(), Reason> {
    put_tag(out, 255, delta);
    for types in [locals, stack] {
        out.put_u2(u16::try_from(types.len()).map_err(|_| Reason::TooLarge)?);
        for value in types {
            value.write(out, layout, constants)?;
        }
    }
    Ok(())
}
