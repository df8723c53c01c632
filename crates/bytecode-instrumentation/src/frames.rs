//! Stack map frames (JVMS 4.7.4): moved, and written for handlers that are appended.

use std::collections::HashMap;

use crate::bytes::{Put, Reader};
use crate::class_file::{ClassFile, Method};
use crate::code::Code;
use crate::constant_pool::{ConstantPool, NewConstants};
use crate::layout::Layout;
use crate::outcome::Reason;

/// The tag of a frame with all local variables and the whole stack.
const FULL: u8 = 255;
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
    const OBJECT: Self = Self::Named(b"java/lang/Object");
    const NULL: Self = Self::Tag(5);
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

    /// Returns the type of a value that has both types, as far as no class hierarchy is needed.
    fn and(self, other: Self, pool: &ConstantPool<'a>) -> Option<Self> {
        let (name, other_name) = (self.name(pool), other.name(pool));
        let is_any = |name| name == Self::OBJECT.name(pool);
        match (self, other) {
            (known, same) if known == same || name.is_some() && name == other_name => Some(known),
            (Self::TOP, known) | (known, Self::TOP) => Some(known),
            (Self::NULL, object) | (object, Self::NULL) => object.is_object().then_some(Self::NULL),
            (known, _) if known.is_object() && is_any(other_name) => Some(known),
            (_, known) if known.is_object() && is_any(name) => Some(known),
            _ => None,
        }
    }

    fn name(self, pool: &ConstantPool<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Class(index) => pool.class_name(index),
            Self::Named(name) => Some(name),
            _ => None,
        }
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
    /// By index; after a double or long, the one that it takes as well is `TOP`.
    locals: Vec<Type<'a>>,
    /// The throwable, the only value on the stack.
    thrown: Type<'a>,
}

impl<'a> HandlerFrame<'a> {
    fn new(locals: &[Type<'a>], thrown: Type<'a>) -> Self {
        let mut by_index = Vec::new();
        for &local in locals {
            by_index.push(local);
            by_index.resize(by_index.len() + local.size() - 1, Type::TOP);
        }
        Self {
            locals: by_index,
            thrown,
        }
    }

    /// Creates the frame of a handler for everything that needs no local variable.
    pub(crate) fn of_any_throwable() -> Self {
        Self::new(&[], Type::Named(b"java/lang/Throwable"))
    }

    /// Creates the frame of a handler for a class of throwables that needs the method's parameters.
    pub(crate) fn with_parameters(
        class: &ClassFile<'a>,
        method: &Method<'a>,
        thrown: &'a [u8],
    ) -> Result<Self, Reason> {
        let locals = initial_locals(class, method)?;
        Ok(Self::new(&locals, Type::Named(thrown)))
    }

    /// Adds what another frame says of the same local variables. Returns `None` if they contradict
    /// each other.
    pub(crate) fn add(&mut self, other: &Self, pool: &ConstantPool<'a>) -> Option<()> {
        let len = self.locals.len().max(other.locals.len());
        self.locals.resize(len, Type::TOP);
        for (local, &added) in self.locals.iter_mut().zip(&other.locals) {
            *local = local.and(added, pool)?;
        }
        Some(())
    }

    /// Adds that a local variable has an object. Returns `None` if the frame says something else.
    pub(crate) fn add_object(&mut self, local: u16) -> Option<()> {
        let index = usize::from(local);
        let len = self.locals.len().max(index + 1);
        self.locals.resize(len, Type::TOP);
        let before = index.checked_sub(1).and_then(|i| self.locals.get(i));
        let is_second_half = before.is_some_and(|before| before.size() > 1);
        match self.locals.get_mut(index)? {
            known if known.is_object() || *known == Type::NULL => Some(()),
            unknown if *unknown == Type::TOP && !is_second_half => {
                *unknown = Type::OBJECT;
                Some(())
            }
            _ => None,
        }
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
                let frame = HandlerFrame::new(&locals, thrown);
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

/// Returns, for each frame of a constructor, whether the object under construction is not
/// initialized yet.
pub(crate) fn frames_before_super<'a>(
    class: &ClassFile<'a>,
    method: &Method<'a>,
    code: &Code<'a>,
) -> Result<HashMap<usize, bool>, Reason> {
    let mut locals = initial_locals(class, method)?;
    let mut frames = HashMap::new();
    if let Some(table) = code.frames() {
        let mut differences = Differences::new(table.bytes)?;
        while let Some(Difference { pc, kind }) = differences.next()? {
            apply(kind, &mut locals)?;
            frames.insert(pc, locals.contains(&Type::UNINITIALIZED_THIS));
        }
    }
    Ok(frames)
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
    put_appended(&mut writer, layout, appended, constants)?;
    Ok(writer.finish())
}

/// Writes frames as [`move_frames`] does, with `this` in one more local variable, which the method's
/// own code does not have.
pub(crate) fn move_frames_with_this<'a>(
    class: &ClassFile<'a>,
    method: &Method<'a>,
    code: &Code<'a>,
    layout: &Layout,
    copy: u16,
    appended: &[(u16, HandlerFrame<'a>)],
    constants: &mut NewConstants<'a>,
) -> Result<Vec<u8>, Reason> {
    /// A longer table means a class made to exhaust memory.
    const MAX_LEN: usize = 1 << 20;
    let mut writer = FrameWriter::new();
    let mut locals = initial_locals(class, method)?;
    if let Some(table) = code.frames() {
        let mut differences = Differences::new(table.bytes)?;
        while let Some(Difference { pc, kind }) = differences.next()? {
            let stack = match &kind {
                DifferenceKind::Stack(value) => vec![*value],
                DifferenceKind::Full { stack, .. } => stack.clone(),
                _ => Vec::new(),
            };
            apply(kind, &mut locals)?;
            let mut frame = HandlerFrame::new(&locals, Type::TOP);
            frame.locals.resize(copy.into(), Type::TOP);
            frame.locals.push(Type::OBJECT);
            let delta = writer.delta(layout.target_u2(pc)?)?;
            let out = &mut writer.bytes;
            put_full(out, delta, &frame.locals, &stack, layout, constants)?;
            if out.len() > MAX_LEN {
                return Err(Reason::TooLarge);
            }
        }
    }
    put_appended(&mut writer, layout, appended, constants)?;
    Ok(writer.finish())
}

fn put_appended<'a>(
    writer: &mut FrameWriter,
    layout: &Layout,
    appended: &[(u16, HandlerFrame<'a>)],
    constants: &mut NewConstants<'a>,
) -> Result<(), Reason> {
    for (pc, frame) in appended {
        let delta = writer.delta(*pc)?;
        let (out, stack) = (&mut writer.bytes, &[frame.thrown]);
        put_full(out, delta, &frame.locals, stack, layout, constants)?;
    }
    Ok(())
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
            put_tag(out, FULL, delta);
            put_types(out, locals, layout, constants)?;
            put_types(out, stack, layout, constants)?;
        }
    }
    Ok(())
}

fn put_tag(out: &mut Vec<u8>, tag: u8, delta: u16) {
    out.put_u1(tag);
    out.put_u2(delta);
}

/// Writes a frame with local variables by index.
fn put_full<'a>(
    out: &mut Vec<u8>,
    delta: u16,
    locals: &[Type<'a>],
    stack: &[Type<'a>],
    layout: &Layout,
    constants: &mut NewConstants<'a>,
) -> Result<(), Reason> {
    let mut entries = Vec::with_capacity(locals.len());
    let mut rest = locals;
    while let Some(&local) = rest.first() {
        entries.push(local);
        rest = rest.get(local.size()..).unwrap_or_default();
    }
    put_tag(out, FULL, delta);
    put_types(out, &entries, layout, constants)?;
    put_types(out, stack, layout, constants)
}

fn put_types<'a>(
    out: &mut Vec<u8>,
    types: &[Type<'a>],
    layout: &Layout,
    constants: &mut NewConstants<'a>,
) -> Result<(), Reason> {
    out.put_u2(u16::try_from(types.len()).map_err(|_| Reason::TooLarge)?);
    types
        .iter()
        .try_for_each(|value| value.write(out, layout, constants))
}
