//! Parks, and the owners of synchronizers, in the JDK's own classes.
//!
//! A call of `Unsafe.park` or `Unsafe.unpark` becomes one of a static method with the same arguments,
//! which is as long: no offset changes. `AbstractOwnableSynchronizer.setExclusiveOwnerThread` has
//! the same four instructions in each JDK, and gets new code.

use crate::bytes::{Put, Reader};
use crate::class_file::{ClassFile, Method};
use crate::code::Code;
use crate::constant_pool::NewConstants;
use crate::instruction::{ALOAD_0, INVOKESTATIC};
use crate::outcome::{
    Instrumentation, InstrumentedMethod, Malformed, Position, Positions, Reason, Span,
};
use crate::splice::{NewCode, splice};

/// The static methods that the JDK's classes call, all of one class.
#[derive(Clone, Copy, Debug)]
pub struct ParkHooks<'a> {
    /// The class, by its internal name.
    pub class: &'a str,
    /// Called in the place of `Unsafe.park`, and has to call it:
    /// `static void f(Object unsafe, boolean isAbsolute, long time)`.
    pub park: &'a str,
    /// Called in the place of `Unsafe.unpark`, and has to call it:
    /// `static void f(Object unsafe, Object thread)`.
    pub unpark: &'a str,
    /// Called before the owner of an `AbstractOwnableSynchronizer` is set:
    /// `static void f(Object synchronizer, Object thread)`. A `StackOverflowError` is caught: the
    /// owner is set all the same.
    pub owner: &'a str,
}

const OWNABLE: &[u8] = b"java/util/concurrent/locks/AbstractOwnableSynchronizer";
const STACK_OVERFLOW: &[u8] = b"java/lang/StackOverflowError";
const OBJECTS: &[u8] = b"(Ljava/lang/Object;Ljava/lang/Object;)V";

const ALOAD_1: u8 = 0x2b;
const INVOKEVIRTUAL: u8 = 0xb6;
const POP: u8 = 0x57;
const PUTFIELD: u8 = 0xb5;
const RETURN: u8 = 0xb1;

/// Lets the class file `class` tell `hooks` of its parks, and of owners if it is
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
    let mut constants = NewConstants::new(&class.pool);
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

/// The new code attribute of a method, and what of it stands for what, if positions have changed.
type NewMethod = Option<(Vec<u8>, Vec<Span>)>;

/// The method with calls of the hooks in the place of parks.
fn redirect<'a>(
    class: &ClassFile<'a>,
    method: &Method<'a>,
    hooks: &ParkHooks<'a>,
    constants: &mut NewConstants<'a>,
) -> Result<NewMethod, Reason> {
    /// Of the code in the attribute: behind `max_stack`, `max_locals` and the length.
    const CODE_AT: usize = 8;
    let attribute = method.code.ok_or(Reason::MalformedCode)?.bytes;
    if !attribute.contains(&INVOKEVIRTUAL) {
        return Ok(None);
    }
    let code = Code::read(attribute, class)?;
    let mut changed: Option<Vec<u8>> = None;
    for (pc, _) in code.instructions() {
        let instruction = code.bytes.get(pc..).unwrap_or_default();
        let [INVOKEVIRTUAL, high, low, ..] = *instruction else {
            continue;
        };
        let Some(called) = class.pool.method(u16::from_be_bytes([high, low])) else {
            continue;
        };
        let (hook, descriptor) = match called {
            (b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe", b"park", b"(ZJ)V") => {
                (hooks.park, b"(Ljava/lang/Object;ZJ)V".as_slice())
            }
            (
                b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe",
                b"unpark",
                b"(Ljava/lang/Object;)V",
            ) => (hooks.unpark, OBJECTS),
            _ => continue,
        };
        let hook = constants.static_method(hooks.class, hook, descriptor)?;
        let [high, low] = hook.to_be_bytes();
        let at = CODE_AT + pc;
        let changed = changed.get_or_insert_with(|| attribute.to_vec());
        let call = changed.get_mut(at..at + 3).ok_or(Reason::MalformedCode)?;
        call.copy_from_slice(&[INVOKESTATIC, high, low]);
    }
    Ok(changed.map(|bytes| (bytes, Vec::new())))
}

fn is_set_owner(class: &ClassFile<'_>, method: &Method<'_>) -> bool {
    class.name() == Some(OWNABLE)
        && method.name == b"setExclusiveOwnerThread"
        && method.descriptor == b"(Ljava/lang/Thread;)V"
}

/// ```text
///  0  aload_0, aload_1, invokestatic hook
///  5  aload_0, aload_1, putfield, return
/// 11  pop, aload_0, aload_1, putfield, return     for a StackOverflowError from 0 to 5
/// ```
fn set_owner<'a>(
    class: &ClassFile<'a>,
    method: &Method<'a>,
    hooks: &ParkHooks<'a>,
    constants: &mut NewConstants<'a>,
) -> Result<NewMethod, Reason> {
    const BODY: u16 = 5;
    const HANDLER: u16 = 11;
    /// JVMS 4.7.4: the local variables are the same, and the stack has one item.
    const SAME_LOCALS_1_STACK_ITEM: u8 = 64;
    const OBJECT: u8 = 7;
    let attribute = method.code.ok_or(Reason::MalformedCode)?.bytes;
    let code = Code::read(attribute, class)?;
    let &[ALOAD_0, ALOAD_1, PUTFIELD, _, _, RETURN] = code.bytes else {
        return Err(Reason::MalformedCode);
    };
    let mut out = Vec::new();
    out.put_u2(2);
    out.put_u2(2);
    out.put_u4(u32::from(HANDLER) + 1 + code.bytes.len() as u32);
    out.put(&[ALOAD_0, ALOAD_1, INVOKESTATIC]);
    out.put_u2(constants.static_method(hooks.class, hooks.owner, OBJECTS)?);
    out.put(code.bytes);
    out.put_u1(POP);
    out.put(code.bytes);
    let overflow = constants.class(STACK_OVERFLOW)?;
    out.put_u2(1);
    for part in [0, BODY, HANDLER, overflow] {
        out.put_u2(part);
    }

    let lines = code
        .attributes
        .iter()
        .find(|attribute| attribute.is_lines());
    out.put_u2(1 + u16::from(lines.is_some()));
    out.put_u2(constants.utf8(b"StackMapTable")?);
    out.put_u4(6);
    out.put_u2(1);
    out.put(&[SAME_LOCALS_1_STACK_ITEM + HANDLER as u8, OBJECT]);
    out.put_u2(overflow);
    if let Some(lines) = lines {
        out.put_u2(lines.name);
        put_lines(&mut out, lines.bytes, BODY, HANDLER)?;
    }
    let span = |start, inserted| Span {
        start,
        original: Position::Bci(0),
        inserted,
    };
    let spans = vec![span(0, true), span(BODY, false), span(HANDLER, true)];
    Ok(Some((out, spans)))
}

/// The lines of the body, which is `moved` bytes further on, and the first of them for the handler.
fn put_lines(out: &mut Vec<u8>, lines: &[u8], moved: u16, handler: u16) -> Result<(), Reason> {
    let mut reader = Reader::new(lines);
    let count = reader.u2()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (start, line) = (reader.u2()?, reader.u2()?);
        let start = if start == 0 {
            0
        } else {
            start.saturating_add(moved)
        };
        entries.push((start, line));
    }
    if let Some(&(_, first)) = entries.first() {
        entries.push((handler, first));
    }
    let count = u16::try_from(entries.len()).map_err(|_| Reason::TooLarge)?;
    out.put_u4(2 + 4 * u32::from(count));
    out.put_u2(count);
    for (start, line) in entries {
        out.put_u2(start);
        out.put_u2(line);
    }
    Ok(())
}
