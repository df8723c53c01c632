//! Parks, and the owners of synchronizers, in the JDK's own classes.
//!
//! A call of `Unsafe.park` or `Unsafe.unpark` becomes a call of a static method with the same
//! arguments, which has the same length: no offset changes. So does a call of the methods of
//! `JavaLangAccess` that park and unpark virtual threads, followed by two `nop`, since calls of
//! interfaces are longer. A call is inserted before the code of
//! `AbstractOwnableSynchronizer.setExclusiveOwnerThread`.

use crate::bytes::Put;
use crate::class_file::{ClassFile, Method};
use crate::code::{AttributeKind, Code};
use crate::constant_pool::NewConstants;
use crate::frames::{HandlerFrame, move_frames};
use crate::instruction::{ALOAD_0, INVOKESTATIC, Kind};
use crate::layout::{Insertion, Layout, to_u2};
use crate::outcome::{
    Instrumentation, InstrumentedMethod, Malformed, Position, Positions, Reason, Span,
};
use crate::splice::{NewCode, splice};
use crate::tables::{Lines, move_lines};

/// The static methods that the JDK's classes call.
#[derive(Clone, Copy, Debug)]
pub struct ParkHooks<'a> {
    /// The class of the methods that are not for virtual threads, by its internal name.
    pub class: &'a str,
    /// Called in place of `Unsafe.park`, and has to call it:
    /// `static void f(Object unsafe, boolean isAbsolute, long time)`.
    pub park: &'a str,
    /// Called in place of `Unsafe.unpark`, and has to call it:
    /// `static void f(Object unsafe, Object thread)`.
    pub unpark: &'a str,
    /// Called before the owner of an `AbstractOwnableSynchronizer` is set:
    /// `static void f(Object synchronizer, Object thread)`. A `StackOverflowError` is caught: the
    /// owner is set all the same.
    pub owner: &'a str,
    /// The class of the methods for virtual threads, with the same names; `None` leaves calls that
    /// park these as they are. They are called in place of those of the interface
    /// `jdk.internal.access.JavaLangAccess`, and have to call these:
    ///
    /// - `static void park(Object access)`;
    /// - `static void park(Object access, long nanos)`;
    /// - `static void unpark(Object access, Object thread)`.
    pub virtual_class: Option<&'a str>,
}

const OWNABLE: &[u8] = b"java/util/concurrent/locks/AbstractOwnableSynchronizer";
const STACK_OVERFLOW: &[u8] = b"java/lang/StackOverflowError";
const OBJECTS: &[u8] = b"(Ljava/lang/Object;Ljava/lang/Object;)V";

const ALOAD_1: u8 = 0x2b;
const INVOKEVIRTUAL: u8 = 0xb6;
const INVOKEINTERFACE: u8 = 0xb9;
const NOP: u8 = 0x00;
const POP: u8 = 0x57;
const GOTO: u8 = 0xa7;

/// Returns whether a class with these constants, as in a class file, may be one that
/// [`instrument_parks`] changes: most only call others that park.
pub fn may_park(constants: &[u8]) -> bool {
    // With their lengths: the descriptor of `Unsafe.park`, the names of the methods for virtual
    // threads, and the field of `AbstractOwnableSynchronizer`.
    let wanted: [&[u8]; 4] = [
        b"\0\x05(ZJ)V",
        b"\0\x11parkVirtualThread",
        b"\0\x13unparkVirtualThread",
        b"\0\x14exclusiveOwnerThread",
    ];
    let is_in = |text: &[u8]| constants.windows(text.len()).any(|bytes| bytes == text);
    wanted.into_iter().any(is_in)
}

/// Makes the class file `class` report its parks to `hooks`, and owners if it is
/// `AbstractOwnableSynchronizer`.
///
/// # Errors
///
/// If `class` does not have the structure of a class file.
pub fn instrument_parks<'a>(
    class: &'a [u8],
    hooks: &ParkHooks<'a>,
) -> Result<Instrumentation<'a>, Malformed> {
    let class = ClassFile::read_with(class, |_| true)?;
    let mut result = Instrumentation::default();
    let mut constants = NewConstants::new(&class.pool, hooks.class);
    let mut changed = Vec::new();
    for method in &class.methods {
        let Some(attribute) = method.code else {
            continue;
        };
        let code = if is_set_owner(&class, method) {
            set_owner(&class, method, hooks, &mut constants)
        } else {
            redirect(&class, method, hooks, &mut constants)
        };
        match code {
            Ok(Some((bytes, spans))) => {
                changed.push(NewCode { attribute, bytes });
                if !spans.is_empty() {
                    result.methods.push(InstrumentedMethod {
                        name: method.name,
                        descriptor: method.descriptor,
                        sites: Vec::new(),
                        positions: Positions(spans),
                    });
                }
            }
            Ok(None) => {}
            Err(reason) => result.left_alone.push(method.left_alone(0, false, reason)),
        }
    }
    if !changed.is_empty() {
        result.class = Some(splice(&class, &constants, &changed));
    }
    Ok(result)
}

/// The new code attribute of a method, and its original positions if they have changed.
type NewMethod = Option<(Vec<u8>, Vec<Span>)>;

/// Returns the method with calls of the hooks in place of parks.
fn redirect<'a>(
    class: &ClassFile<'a>,
    method: &Method<'a>,
    hooks: &ParkHooks<'a>,
    constants: &mut NewConstants<'a>,
) -> Result<NewMethod, Reason> {
    /// Start of the code in the attribute: after `max_stack`, `max_locals` and the length.
    const CODE_AT: usize = 8;
    let attribute = method.code.ok_or(Reason::MalformedCode)?.bytes;
    if !attribute.contains(&INVOKEVIRTUAL) && !attribute.contains(&INVOKEINTERFACE) {
        return Ok(None);
    }
    let code = Code::read(attribute, class)?;
    let mut changed: Option<Vec<u8>> = None;
    for (pc, instruction) in code.instructions() {
        let bytes = code.bytes.get(pc..).unwrap_or_default();
        let &[opcode @ (INVOKEVIRTUAL | INVOKEINTERFACE), high, low, ..] = bytes else {
            continue;
        };
        let called = class.pool.method(u16::from_be_bytes([high, low]));
        let Some(hook) = called.and_then(|called| in_place_of(opcode, called, hooks)) else {
            continue;
        };
        let [high, low] = constants
            .static_method(hook.class, hook.name, hook.descriptor)?
            .to_be_bytes();
        let at = CODE_AT + pc;
        let changed = changed.get_or_insert_with(|| attribute.to_vec());
        let call = changed.get_mut(at..at + instruction.len);
        let call = call.ok_or(Reason::MalformedCode)?;
        call.fill(NOP);
        let shorter = call.get_mut(..3).ok_or(Reason::MalformedCode)?;
        shorter.copy_from_slice(&[INVOKESTATIC, high, low]);
    }
    Ok(changed.map(|bytes| (bytes, Vec::new())))
}

/// A static method that is called.
struct Called<'a> {
    class: &'a str,
    name: &'a str,
    descriptor: &'static [u8],
}

/// Returns the method to call in place of another: its class, name and descriptor.
fn in_place_of<'a>(
    opcode: u8,
    method: (&[u8], &[u8], &[u8]),
    hooks: &ParkHooks<'a>,
) -> Option<Called<'a>> {
    const ACCESS: &[u8] = b"jdk/internal/access/JavaLangAccess";
    let virtual_class = hooks.virtual_class.filter(|_| opcode == INVOKEINTERFACE);
    let (class, name, descriptor): (_, _, &[u8]) = match method {
        (b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe", name, descriptor)
            if opcode == INVOKEVIRTUAL =>
        {
            match (name, descriptor) {
                (b"park", b"(ZJ)V") => (hooks.class, hooks.park, b"(Ljava/lang/Object;ZJ)V"),
                (b"unpark", b"(Ljava/lang/Object;)V") => (hooks.class, hooks.unpark, OBJECTS),
                _ => return None,
            }
        }
        (ACCESS, b"parkVirtualThread", b"()V") => {
            (virtual_class?, hooks.park, b"(Ljava/lang/Object;)V")
        }
        (ACCESS, b"parkVirtualThread", b"(J)V") => {
            (virtual_class?, hooks.park, b"(Ljava/lang/Object;J)V")
        }
        (ACCESS, b"unparkVirtualThread", b"(Ljava/lang/Thread;)V") => {
            (virtual_class?, hooks.unpark, OBJECTS)
        }
        _ => return None,
    };
    Some(Called {
        class,
        name,
        descriptor,
    })
}

fn is_set_owner(class: &ClassFile<'_>, method: &Method<'_>) -> bool {
    class.name() == Some(OWNABLE)
        && method.name == b"setExclusiveOwnerThread"
        && method.descriptor == b"(Ljava/lang/Thread;)V"
}

/// ```text
/// 0  aload_0, aload_1, invokestatic hook
/// 5  what the method does
///    pop, goto 5                              for a StackOverflowError from 0 to 5
/// ```
fn set_owner<'a>(
    class: &ClassFile<'a>,
    method: &Method<'a>,
    hooks: &ParkHooks<'a>,
    constants: &mut NewConstants<'a>,
) -> Result<NewMethod, Reason> {
    const BODY: u16 = 5;
    const HANDLER_LEN: usize = 4;
    let attribute = method.code.ok_or(Reason::MalformedCode)?.bytes;
    let code = Code::read(attribute, class)?;
    let mut instructions = code.instructions();
    // Their padding would not be the same.
    if instructions.any(|(_, instruction)| matches!(instruction.kind, Kind::Switch(_))) {
        return Err(Reason::MalformedCode);
    }
    let layout = Layout::new(
        &code,
        0,
        vec![Insertion {
            pc: 0,
            before: BODY.into(),
            after: 0,
        }],
    );
    let handler = to_u2(layout.len())?;
    let mut out = Vec::new();
    out.put_u2(code.max_stack.max(2));
    out.put_u2(code.max_locals);
    out.put_u4((layout.len() + HANDLER_LEN) as u32);
    out.put(&[ALOAD_0, ALOAD_1, INVOKESTATIC]);
    out.put_u2(constants.static_method(hooks.class, hooks.owner, OBJECTS)?);
    out.put(code.bytes);
    out.put(&[POP, GOTO]);
    let offset = i32::from(BODY) - i32::from(handler) - 1;
    let offset = i16::try_from(offset).map_err(|_| Reason::JumpTooLong)?;
    out.put_u2(offset.cast_unsigned());

    let count = u16::try_from(code.handlers.len() + 1).map_err(|_| Reason::TooLarge)?;
    out.put_u2(count);
    for part in [0, BODY, handler, constants.class(STACK_OVERFLOW)?] {
        out.put_u2(part);
    }
    for original in &code.handlers {
        for pc in [original.start, original.end, original.catch.handler] {
            out.put_u2(to_u2(pc + usize::from(BODY))?);
        }
        out.put_u2(original.catch.throwable);
    }

    let of_overflow = HandlerFrame::with_parameters(class, method, STACK_OVERFLOW)?;
    let appended = [(handler, of_overflow)];
    let frames = move_frames(&code, &layout, Some(BODY), &appended, constants)?;
    let mut attributes = vec![(constants.utf8(b"StackMapTable")?, frames)];
    let mut tables = code.attributes.iter();
    if let Some(lines) = tables.find(|table| table.kind == AttributeKind::LineNumbers) {
        let first = Lines::of(&code).at(0).map(|line| (handler, line));
        let moved = move_lines(lines.bytes, &layout, first.as_slice())?;
        attributes.push((lines.name, moved));
    }
    out.put_u2(attributes.len() as u16);
    for (name, bytes) in attributes {
        out.put_u2(name);
        out.put_u4(bytes.len() as u32);
        out.put(&bytes);
    }
    let span = |start, inserted| Span {
        start,
        original: Position::Bci(0),
        inserted,
    };
    let spans = vec![span(0, true), span(BODY, false), span(handler, true)];
    Ok(Some((out, spans)))
}
