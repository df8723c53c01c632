//! The result of an instrumentation.

use std::fmt;

/// The result for a class.
#[derive(Clone, Debug, Default)]
pub struct Instrumentation<'a> {
    /// The new class file, or `None` if the class is to be used as it is.
    pub class: Option<Vec<u8>>,
    /// The methods that now call the hooks.
    pub methods: Vec<InstrumentedMethod<'a>>,
    /// Releases of monitors that call no hook.
    pub left_alone: Vec<LeftAlone<'a>>,
}

/// A method that calls the hooks.
#[derive(Clone, Debug)]
pub struct InstrumentedMethod<'a> {
    /// Its name, in the modified UTF-8 of the class file.
    pub name: &'a [u8],
    /// Its descriptor, in the modified UTF-8 of the class file.
    pub descriptor: &'a [u8],
    /// The places of the calls, by number.
    pub sites: Vec<Site>,
    pub(crate) positions: Positions,
}

impl InstrumentedMethod<'_> {
    /// Returns the original position of the instruction at `bci` of the new code, which is the
    /// position that `javap` shows of the class.
    pub fn position(&self, bci: u16) -> Position {
        self.positions.at(bci)
    }

    /// Returns the positions alone, without the class file.
    pub fn into_positions(self) -> Positions {
        self.positions
    }
}

/// The original positions of the code of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions(pub(crate) Vec<Span>);

impl Positions {
    /// Returns the original position of the instruction at `bci` of the new code.
    pub fn at(&self, bci: u16) -> Position {
        let after = self.0.partition_point(|span| span.start <= bci);
        match after.checked_sub(1).and_then(|i| self.0.get(i)) {
            Some(span) => span.position(bci),
            None => Position::Unwinding,
        }
    }
}

/// An original position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// An instruction of the original code, by its bci; for an inserted call, the release that it
    /// belongs to.
    Bci(u16),
    /// In the handler that was appended to a synchronized method: an exception leaves it. Its
    /// origin in the method is unknown.
    Unwinding,
}

/// A span of new code, and its original position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first bci in the new code.
    pub(crate) start: u16,
    /// The original position of its start.
    pub(crate) original: Position,
    /// All of the span stands for `original`, or its rest for the original code that follows.
    pub(crate) inserted: bool,
}

impl Span {
    pub(crate) fn position(&self, bci: u16) -> Position {
        match self.original {
            Position::Bci(original) if !self.inserted => {
                Position::Bci(original.saturating_add(bci.saturating_sub(self.start)))
            }
            original => original,
        }
    }
}

/// A place that calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The number that the hook gets.
    pub number: u32,
    /// The way of the release.
    pub kind: SiteKind,
    /// The position of the `monitorexit` or return instruction in the original code; `None` for
    /// [`SiteKind::MethodUnwind`].
    pub bci: Option<u16>,
    /// The line of that instruction, or the first one of a method that is unwound; `None` if the
    /// class file has no lines.
    pub line: Option<u16>,
}

/// The ways to release a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// By `monitorexit`.
    Block,
    /// By the return from a synchronized method.
    MethodReturn,
    /// By an exception that leaves a synchronized method.
    MethodUnwind,
}

/// Releases of monitors in one method that call no hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftAlone<'a> {
    /// The method's name, in the modified UTF-8 of the class file.
    pub name: &'a [u8],
    /// The method's descriptor, in the modified UTF-8 of the class file.
    pub descriptor: &'a [u8],
    /// The number of `monitorexit` instructions; 0 if its code could not be read.
    pub blocks: u32,
    /// Whether the method is synchronized, and its own monitor is one of these.
    pub method: bool,
    /// The reason.
    pub reason: Reason,
}

/// The reason why releases are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A synchronized method is native.
    Native,
    /// A static synchronized method, in a class of a version before 49: it has no class literals.
    NoClassLiterals,
    /// The number of monitors that a method's blocks own depends on the way to an instruction, or is
    /// not 0 at a return.
    Unstructured,
    /// A `monitorexit` whose throwables go on to handlers with contradictory frames, or which is in a
    /// constructor, perhaps before the call of the superclass's.
    UnknownFrame,
    /// A jump would become longer than 32 KiB.
    JumpTooLong,
    /// The code, or one of its tables, would become longer than 64 KiB or have too many entries.
    TooLarge,
    /// The constant pool is too full for the constants.
    PoolFull,
    /// The code has frames in the format of CLDC, an attribute `StackMap`.
    CldcFrames,
    /// The code has an attribute that this crate does not know, and the class a version that it
    /// does not know either: the attribute may have offsets.
    UnknownAttribute,
    /// The code does not have the structure of byte code.
    MalformedCode,
    /// `allot_sites` had no numbers.
    NoSites,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native method",
            Self::NoClassLiterals => "class file version without class literals",
            Self::Unstructured => "acquisitions and releases do not match",
            Self::UnknownFrame => "frame of a handler unknown",
            Self::JumpTooLong => "jump of more than 32 KiB",
            Self::TooLarge => "code or table too large",
            Self::PoolFull => "constant pool full",
            Self::CldcFrames => "frames of CLDC",
            Self::UnknownAttribute => "unknown attribute in a class file of an unknown version",
            Self::MalformedCode => "malformed code",
            Self::NoSites => "no site numbers left",
        })
    }
}

impl From<Malformed> for Reason {
    fn from(_: Malformed) -> Self {
        Self::MalformedCode
    }
}

/// The class file is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed class file: {what} at byte {offset}")]
pub struct Malformed {
    /// What was expected.
    pub what: &'static str,
    /// The position, in bytes from the start of the class file.
    pub offset: usize,
}
