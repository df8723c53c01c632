//! Calls that park and unpark threads, and owners of synchronizers. `test/jvm` checks that the
//! JDKs' own classes still behave.

use bytecode_instrumentation::{Instrumentation, ParkHooks, Position, Reason, instrument_parks};
use cafebabe::attributes::{AttributeData, CodeData};
use cafebabe::constant_pool::ConstantPoolItem;

const HOOKS: ParkHooks<'static> = ParkHooks {
    class: "java/locktrace/Parks",
    park: "park",
    unpark: "unpark",
    owner: "owner",
    virtual_class: Some("java/locktrace/VirtualParks"),
};

const ALOAD_0: u8 = 0x2a;
const ALOAD_1: u8 = 0x2b;
const RETURN: u8 = 0xb1;
const POP: u8 = 0x57;
const GOTO: u8 = 0xa7;
const IFNULL: u8 = 0xc6;
const PUTFIELD: u8 = 0xb5;
const INVOKEVIRTUAL: u8 = 0xb6;
const INVOKESTATIC: u8 = 0xb8;
const INVOKEINTERFACE: u8 = 0xb9;
const NOP: u8 = 0x00;

const METHOD: u8 = 10;
const INTERFACE_METHOD: u8 = 11;

/// The reference in the code of a class: the tag of the constant, class, name and descriptor.
type Reference<'a> = (u8, &'a str, &'a str, &'a str);

/// A class with one method, whose code refers to `reference` by the index 5.
fn class(name: &str, method: [&str; 2], reference: Reference<'_>, code: &[u8]) -> Vec<u8> {
    let (tag, of_class, called, descriptor) = reference;
    let mut pool = Vec::new();
    let utf8 = |pool: &mut Vec<u8>, text: &str| {
        pool.push(1);
        pool.extend((text.len() as u16).to_be_bytes());
        pool.extend(text.as_bytes());
    };
    utf8(&mut pool, name);
    pool.extend([7, 0, 1]);
    utf8(&mut pool, of_class);
    pool.extend([7, 0, 3]);
    pool.extend([tag, 0, 4, 0, 6]);
    pool.extend([12, 0, 7, 0, 8]);
    for text in [called, descriptor, method[0], method[1], "Code"] {
        utf8(&mut pool, text);
    }
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 12];
    class.extend(pool);
    let numbers: [u16; 9] = [0, 2, 2, 0, 0, 1, 0, 9, 10];
    class.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    class.extend([0, 1, 0, 11]);
    class.extend((12 + code.len() as u32).to_be_bytes());
    class.extend([0, 6, 0, 6]);
    class.extend((code.len() as u32).to_be_bytes());
    class.extend(code);
    // No handlers, no attributes of the code and none of the class.
    class.extend([0; 6]);
    class
}

fn calling(opcode: u8, reference: Reference<'_>) -> Vec<u8> {
    let mut code = vec![NOP, opcode, 0, 5];
    if opcode == INVOKEINTERFACE {
        code.extend([1, 0]);
    }
    code.push(RETURN);
    class("Test", ["m", "()V"], reference, &code)
}

fn instrument(class: &[u8]) -> Instrumentation<'_> {
    instrument_parks(class, &HOOKS).expect("a class file")
}

/// Passes the code of the only method and all methods that the class refers to, read by another
/// reader.
fn with_code<R>(class: &[u8], check: impl FnOnce(&CodeData<'_>, Vec<String>) -> R) -> R {
    let parsed = cafebabe::parse_class(class).expect("what was written can be read");
    let methods = parsed.constantpool_iter().filter_map(|item| match item {
        ConstantPoolItem::MethodRef(method) => {
            let called = method.name_and_type;
            Some(format!(
                "{}.{}{}",
                method.class_name, called.name, called.descriptor
            ))
        }
        _ => None,
    });
    let mut codes = parsed.methods[0].attributes.iter();
    let code = codes.find_map(|attribute| match &attribute.data {
        AttributeData::Code(code) => Some(code),
        _ => None,
    });
    check(code.expect("it has code"), methods.collect())
}

#[test]
fn calls_become_calls_of_the_hooks() {
    const UNSAFE: &str = "jdk/internal/misc/Unsafe";
    const ACCESS: &str = "jdk/internal/access/JavaLangAccess";
    let object = "(Ljava/lang/Object;";
    for (opcode, reference, expected) in [
        (
            INVOKEVIRTUAL,
            (METHOD, "sun/misc/Unsafe", "park", "(ZJ)V"),
            format!("java/locktrace/Parks.park{object}ZJ)V"),
        ),
        (
            INVOKEVIRTUAL,
            (METHOD, UNSAFE, "unpark", "(Ljava/lang/Object;)V"),
            format!("java/locktrace/Parks.unpark{object}Ljava/lang/Object;)V"),
        ),
        (
            INVOKEINTERFACE,
            (INTERFACE_METHOD, ACCESS, "parkVirtualThread", "()V"),
            format!("java/locktrace/VirtualParks.park{object})V"),
        ),
        (
            INVOKEINTERFACE,
            (INTERFACE_METHOD, ACCESS, "parkVirtualThread", "(J)V"),
            format!("java/locktrace/VirtualParks.park{object}J)V"),
        ),
        (
            INVOKEINTERFACE,
            (
                INTERFACE_METHOD,
                ACCESS,
                "unparkVirtualThread",
                "(Ljava/lang/Thread;)V",
            ),
            format!("java/locktrace/VirtualParks.unpark{object}Ljava/lang/Object;)V"),
        ),
    ] {
        let original = calling(opcode, reference);
        let result = instrument(&original);
        let changed = result.class.expect("it is changed");
        // No position has changed.
        assert!(result.methods.is_empty());
        with_code(&changed, |code, called| {
            assert_eq!(called.last(), Some(&expected));
            let (before, call) = (code.code[0], code.code[1]);
            assert_eq!((before, call), (NOP, INVOKESTATIC));
            let rest = &code.code[4..];
            match opcode {
                INVOKEINTERFACE => assert_eq!(rest, [NOP, NOP, RETURN]),
                _ => assert_eq!(rest, [RETURN]),
            }
        });
        assert!(instrument(&changed).class.is_none(), "changed again");
    }
}

/// HotSpot keeps the constants of a class that gets its code back.
#[test]
fn constants_of_an_earlier_change_are_used_again() {
    let unsafe_park = (METHOD, "sun/misc/Unsafe", "park", "(ZJ)V");
    let original = calling(INVOKEVIRTUAL, unsafe_park);
    let first = instrument(&original).class.expect("it is changed");
    // The code is as before, and the constants have stayed.
    let call = first
        .windows(4)
        .position(|bytes| bytes[..2] == [NOP, INVOKESTATIC]);
    let mut restored = first.clone();
    let at = call.expect("the call") + 1;
    restored[at..at + 3].copy_from_slice(&[INVOKEVIRTUAL, 0, 5]);
    let again = instrument(&restored).class.expect("it is changed");
    assert_eq!(again, first);
}

#[test]
fn other_calls_stay() {
    let other = [
        (METHOD, "sun/misc/Unsafe", "park", "(J)V"),
        (METHOD, "Test", "park", "(ZJ)V"),
        (INTERFACE_METHOD, "Test", "parkVirtualThread", "()V"),
    ];
    for reference in other {
        for opcode in [INVOKEVIRTUAL, INVOKESTATIC, INVOKEINTERFACE] {
            let class = calling(opcode, reference);
            let result = instrument(&class);
            assert!(result.class.is_none() && result.left_alone.is_empty());
        }
    }
    // The bytes of such a call, as the operand of another instruction.
    let sipush = [0x11, INVOKEVIRTUAL, 0, 0x57, RETURN];
    let unsafe_park = (METHOD, "sun/misc/Unsafe", "park", "(ZJ)V");
    let class = class("Test", ["m", "()V"], unsafe_park, &sipush);
    assert!(instrument(&class).class.is_none());
}

#[test]
fn virtual_threads_park_as_before_without_hooks() {
    let access = "jdk/internal/access/JavaLangAccess";
    let class = calling(
        INVOKEINTERFACE,
        (INTERFACE_METHOD, access, "parkVirtualThread", "()V"),
    );
    let hooks = ParkHooks {
        virtual_class: None,
        ..HOOKS
    };
    let result = instrument_parks(&class, &hooks).expect("a class file");
    assert!(result.class.is_none());
}

const OWNABLE: &str = "java/util/concurrent/locks/AbstractOwnableSynchronizer";
const SET_OWNER: [&str; 2] = ["setExclusiveOwnerThread", "(Ljava/lang/Thread;)V"];
const FIELD: Reference<'static> = (9, OWNABLE, "exclusiveOwnerThread", "Ljava/lang/Thread;");

/// Sets the field, as in the JDKs.
const SET: [u8; 6] = [ALOAD_0, ALOAD_1, PUTFIELD, 0, 5, RETURN];

#[test]
fn owners_are_reported() {
    let original = class(OWNABLE, SET_OWNER, FIELD, &SET);
    let result = instrument(&original);
    let changed = result.class.as_deref().expect("it is changed");
    let parsed = cafebabe::parse_class(changed).expect("what was written can be read");
    let Some(AttributeData::Code(code)) =
        parsed.methods[0].attributes.first().map(|code| &code.data)
    else {
        panic!("no code");
    };
    assert_eq!(code.code[..3], [ALOAD_0, ALOAD_1, INVOKESTATIC]);
    assert_eq!(code.code[5..11], SET);
    // Back to the body.
    assert_eq!(code.code[11..], [POP, GOTO, 0xff, 0xf9]);
    let handler = &code.exception_table[0];
    let at = (handler.start_pc, handler.end_pc, handler.handler_pc);
    assert_eq!(at, (0, 5, 11));
    let positions = result.methods.into_iter().next().expect("one");
    let positions = positions.into_positions();
    let at = [0, 5, 7].map(|bci| positions.at(bci));
    assert_eq!(at, [Position::Bci(0), Position::Bci(0), Position::Bci(2)]);
}

/// For example where another agent was first.
#[test]
fn whatever_else_the_method_does_stays() {
    let mut code = vec![ALOAD_1, IFNULL, 0, 3];
    code.extend(SET);
    let original = class(OWNABLE, SET_OWNER, FIELD, &code);
    let result = instrument(&original);
    let changed = result.class.as_deref().expect("it is changed");
    let behind = changed.windows(code.len()).filter(|bytes| *bytes == code);
    assert_eq!(behind.count(), 1);
}

/// The padding of a switch depends on where it is.
#[test]
fn a_switch_stays_where_it_is() {
    let code = [
        ALOAD_1, 0xaa, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, RETURN,
    ];
    let original = class(OWNABLE, SET_OWNER, FIELD, &code);
    let result = instrument(&original);
    assert!(result.class.is_none());
    assert_eq!(result.left_alone[0].reason, Reason::MalformedCode);
}

/// Damage anywhere leads to a refusal or to a class file, never to a panic.
#[test]
fn damage_is_survived() {
    let unsafe_park = (METHOD, "sun/misc/Unsafe", "park", "(ZJ)V");
    for original in [
        calling(INVOKEVIRTUAL, unsafe_park),
        class(OWNABLE, SET_OWNER, FIELD, &SET),
    ] {
        for at in 0..original.len() {
            let _ = instrument_parks(&original[..at], &HOOKS);
            for flipped in [0x01, 0x80, 0xff] {
                let mut damaged = original.clone();
                damaged[at] ^= flipped;
                let _ = instrument_parks(&damaged, &HOOKS);
            }
        }
    }
}
