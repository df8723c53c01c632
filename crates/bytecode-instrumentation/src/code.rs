//! A code attribute (JVMS 4.7.3), and the role of its instructions in releases.

use crate::bytes::Reader;
use crate::class_file::ClassFile;
use crate::instruction::{Instruction, Kind, decode, for_each_target};
use crate::outcome::Reason;

/// The newest version whose attributes of code are all known here: the version of JDK 27.
const NEWEST_KNOWN_VERSION: u16 = 71;

/// A code attribute.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    /// The instructions.
    pub(crate) bytes: &'a [u8],
    pub(crate) handlers: Vec<Handler>,
    pub(crate) attributes: Vec<Attribute<'a>>,
    /// By bci: whether an instruction begins there.
    starts: Vec<bool>,
    /// By bci: whether a jump goes or a handler begins there.
    targets: Vec<bool>,
    pub(crate) monitor_exits: Vec<MonitorExit>,
    pub(crate) returns: Vec<usize>,
    pub(crate) stores_to_local_0: bool,
    /// The reason why its attributes cannot be brought in line with other code.
    pub(crate) obstacle: Option<Reason>,
}

/// A `monitorexit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MonitorExit {
    pub(crate) pc: usize,
    /// The local variable that the preceding instruction loads, unless jumps lead here.
    pub(crate) loaded: Option<u16>,
}

/// An entry of an exception table: what `start..end` throws is caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handler {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) catch: Catch,
}

/// Where throwables of a type are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Catch {
    pub(crate) handler: usize,
    /// 0: any throwable.
    pub(crate) throwable: u16,
}

/// An attribute of code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'a> {
    /// The index of its name.
    pub(crate) name: u16,
    pub(crate) kind: AttributeKind,
    /// Without name and length.
    pub(crate) bytes: &'a [u8],
}

/// The contents of an attribute of code, as far as it has offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeKind {
    Frames,
    LineNumbers,
    /// Of names, or of generic types.
    LocalVariables,
    TypeAnnotations,
    /// Has no offsets that any JVM looks at.
    Other,
}

impl<'a> Code<'a> {
    pub(crate) fn read(bytes: &'a [u8], class: &ClassFile<'a>) -> Result<Self, Reason> {
        let mut reader = Reader::new(bytes);
        let max_stack = reader.u2()?;
        let max_locals = reader.u2()?;
        let code = reader.slice_with_length()?;
        if code.is_empty() || code.len() > usize::from(u16::MAX) {
            return Err(Reason::MalformedCode);
        }
        let mut handlers = Vec::new();
        for _ in 0..reader.u2()? {
            handlers.push(Handler {
                start: reader.u2()?.into(),
                end: reader.u2()?.into(),
                catch: Catch {
                    handler: reader.u2()?.into(),
                    throwable: reader.u2()?,
                },
            });
        }
        let mut attributes = Vec::new();
        let mut obstacle = None;
        for _ in 0..reader.u2()? {
            let name = reader.u2()?;
            let bytes = reader.slice_with_length()?;
            let kind = class.pool.utf8(name).ok_or(Reason::MalformedCode)?;
            let kind = AttributeKind::of(kind, class.major_version).unwrap_or_else(|reason| {
                obstacle = Some(reason);
                AttributeKind::Other
            });
            attributes.push(Attribute { name, kind, bytes });
        }
        let frames = |attribute: &&Attribute| attribute.kind == AttributeKind::Frames;
        if !reader.is_at_end() || attributes.iter().filter(frames).count() > 1 {
            return Err(Reason::MalformedCode);
        }

        let mut this = Self {
            max_stack,
            max_locals,
            bytes: code,
            handlers,
            attributes,
            starts: vec![false; code.len()],
            targets: vec![false; code.len()],
            monitor_exits: Vec::new(),
            returns: Vec::new(),
            stores_to_local_0: false,
            obstacle,
        };
        this.read_instructions()?;
        this.read_handlers()?;
        Ok(this)
    }

    fn read_instructions(&mut self) -> Result<(), Reason> {
        let mut pc = 0;
        let mut loaded = None;
        let mut falls_through = false;
        while pc < self.bytes.len() {
            let instruction = decode(self.bytes, pc)?;
            match instruction.kind {
                Kind::MonitorExit => self.monitor_exits.push(MonitorExit { pc, loaded }),
                Kind::Return => self.returns.push(pc),
                Kind::Store(0) => self.stores_to_local_0 = true,
                _ => {}
            }
            loaded = match instruction.kind {
                Kind::LoadReference(local) => Some(local),
                _ => None,
            };
            mark(&mut self.starts, pc as i64);
            let bytes = self.bytes.get(pc..).unwrap_or_default();
            let targets = &mut self.targets;
            for_each_target(bytes, instruction.kind, |offset| {
                mark(targets, pc as i64 + i64::from(offset));
            })?;
            falls_through = instruction.falls_through(bytes.first().copied());
            pc += instruction.len;
        }
        // It would run into what is appended.
        if falls_through {
            return Err(Reason::MalformedCode);
        }
        Ok(())
    }

    fn read_handlers(&mut self) -> Result<(), Reason> {
        let is_sound = |handler: &Handler| {
            let is_end = handler.end == self.bytes.len() || self.is_start(handler.end);
            self.is_start(handler.start)
                && handler.start < handler.end
                && is_end
                && self.is_start(handler.catch.handler)
        };
        if !self.handlers.iter().all(is_sound) {
            return Err(Reason::MalformedCode);
        }
        for handler in &self.handlers {
            mark(&mut self.targets, handler.catch.handler as i64);
        }
        for exit in &mut self.monitor_exits {
            let is_target = self.targets.get(exit.pc).copied().unwrap_or_default();
            exit.loaded = exit.loaded.filter(|_| !is_target);
        }
        Ok(())
    }

    /// Returns whether an instruction begins there.
    pub(crate) fn is_start(&self, pc: usize) -> bool {
        self.starts.get(pc).copied().unwrap_or_default()
    }

    /// Returns the instructions with their positions. All of them were read once without an error.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (usize, Instruction)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let pc = next;
            let instruction = decode(self.bytes, pc).ok()?;
            next += instruction.len;
            Some((pc, instruction))
        })
    }

    /// Returns the attribute with the frames.
    pub(crate) fn frames(&self) -> Option<&Attribute<'a>> {
        let mut attributes = self.attributes.iter();
        attributes.find(|attribute| attribute.kind == AttributeKind::Frames)
    }
}

/// Sets the flag at `pc`, if it is inside of the code.
fn mark(flags: &mut [bool], pc: i64) {
    let flag = usize::try_from(pc).ok().and_then(|pc| flags.get_mut(pc));
    if let Some(flag) = flag {
        *flag = true;
    }
}

impl Handler {
    pub(crate) fn covers(&self, pc: usize) -> bool {
        (self.start..self.end).contains(&pc)
    }
}

impl Catch {
    pub(crate) fn is_of_all(self) -> bool {
        self.throwable == 0
    }
}

impl AttributeKind {
    fn of(name: &[u8], major_version: u16) -> Result<Self, Reason> {
        match name {
            b"StackMapTable" if major_version >= 50 => Ok(Self::Frames),
            b"LineNumberTable" => Ok(Self::LineNumbers),
            b"LocalVariableTable" | b"LocalVariableTypeTable" => Ok(Self::LocalVariables),
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                Ok(Self::TypeAnnotations)
            }
            b"StackMap" => Err(Reason::CldcFrames),
            _ if major_version > NEWEST_KNOWN_VERSION => Err(Reason::UnknownAttribute),
            _ => Ok(Self::Other),
        }
    }
}
