//! Code that compilers seldom write: jumps that become long, switches, full tables, and code that
//! is left alone. `test/jvm` compares code that compilers do write with ASM, and runs it.

mod support;

use bytecode_instrumentation::{
    Hooks, Instrumentation, Position, Reason, SiteKind, instrument_exits,
};
use cafebabe::attributes::{AttributeData, CodeData};
use support::{NATIVE, STATIC, SYNCHRONIZED, TestClass, op};

const HOOKS: Hooks<'static> = Hooks {
    class: "java/lang/LockTrace",
    block_exit: "blockExit",
    after_block_exit: None,
    method_exit: "methodExit",
};

fn instrument(class: &[u8]) -> Instrumentation<'_> {
    instrument_exits(class, &HOOKS, |_| Some(1)).expect("a class file")
}

/// The code of the only method, read by another reader.
fn with_code<R>(class: &[u8], check: impl FnOnce(&CodeData<'_>) -> R) -> R {
    let class = cafebabe::parse_class(class).expect("what was written can be read");
    let attributes = class.methods[0].attributes.iter();
    let mut codes = attributes.filter_map(|attribute| match &attribute.data {
        AttributeData::Code(code) => Some(code),
        _ => None,
    });
    check(codes.next().expect("it has code"))
}

/// Returns the reason why the only method was left alone.
#[track_caller]
fn reason(class: &TestClass) -> Reason {
    let bytes = class.bytes();
    let result = instrument(&bytes);
    assert!(result.class.is_none() && result.methods.is_empty());
    assert_eq!(result.left_alone.len(), 1);
    result.left_alone[0].reason
}

#[test]
fn a_block_calls_the_hook_and_is_protected() {
    let class = TestClass::block(&[op::NOP]).bytes();
    let result = instrument(&class);
    let method = &result.methods[0];
    let sites: Vec<_> = method
        .sites
        .iter()
        .map(|site| (site.number, site.kind, site.bci))
        .collect();
    assert_eq!(
        sites,
        [
            (1, SiteKind::Block, Some(6)),
            (2, SiteKind::Block, Some(10))
        ]
    );
    let class = result.class.as_ref().expect("it has changed");
    with_code(class, |code| {
        let ranges = code.exception_table.iter();
        let ranges: Vec<_> = ranges
            .map(|e| (e.start_pc, e.end_pc, e.handler_pc))
            .collect();
        // Both calls to the stub; then the original handlers, with the calls in their ranges.
        let expected = [(6, 13, 27), (17, 24, 27), (4, 14, 15), (15, 25, 15)];
        assert_eq!(ranges, expected);
        let stub = [op::ALOAD_1, op::MONITOREXIT, op::ATHROW];
        assert_eq!(code.code[27..], stub);
        assert_eq!(code.code[6..10], [op::DUP, 0x11, 0, 1]);
    });
    // The call and the release stand for the release; the code after them stands for the original.
    for (new, original) in [(5, 5), (6, 6), (10, 6), (13, 6), (14, 7), (16, 9), (26, 12)] {
        assert_eq!(method.position(new), Position::Bci(original), "{new}");
    }
    assert_eq!(
        method.position(28),
        Position::Bci(6),
        "the stub is the first release's"
    );
}

/// A JVM before 21 hands out classes that it does not verify without their frames.
#[test]
fn forgotten_frames_are_not_missed() {
    let changed = |version| {
        let mut class = TestClass::block(&[op::NOP]);
        class.version = version;
        let class = class.bytes();
        let result = instrument(&class);
        assert!(result.left_alone.is_empty(), "{version}");
        with_code(&result.class.expect("it has changed"), |code| {
            let ranges = code.exception_table.iter();
            let ranges: Vec<_> = ranges
                .map(|e| (e.start_pc, e.end_pc, e.handler_pc))
                .collect();
            (code.code.to_vec(), ranges)
        })
    };
    for version in [50, 51, 52, 61] {
        assert_eq!(changed(version), changed(49), "{version}");
    }
}

#[test]
fn nothing_is_handled_by_the_released_monitor_after_a_release() {
    let hooks = Hooks {
        after_block_exit: Some("afterBlockExit"),
        ..HOOKS
    };
    // A range that goes on after the release, as no compiler writes it.
    let mut class = TestClass::block(&[]);
    class.handlers[0][1] += 1;
    let class = class.bytes();
    let result = instrument_exits(&class, &hooks, |_| Some(1)).expect("a class file");
    with_code(&result.class.expect("it has changed"), |code| {
        let ranges = code.exception_table.iter();
        let ranges: Vec<_> = ranges
            .map(|e| (e.start_pc, e.end_pc, e.handler_pc))
            .collect();
        // `monitorexit` at 12, the call after it up to 19.
        assert_eq!(ranges[2..4], [(4, 13, 20), (19, 20, 20)]);
    });
}

#[test]
fn switches_are_aligned_anew() {
    for nops in 0..4 {
        for opcode in [op::TABLESWITCH, op::LOOKUPSWITCH] {
            // After a release, so that the switch moves.
            let mut class = TestClass::block(&[]);
            let code = class.code.as_mut().expect("it has code");
            code.truncate(6);
            code.extend(vec![op::NOP; nops]);
            let switch = code.len();
            code.extend([op::ICONST_0, opcode]);
            code.resize(code.len().next_multiple_of(4), 0);
            let operands = match opcode {
                op::TABLESWITCH => [0, 0, 0, 0].as_slice(),
                _ => &[0, 1, 77, 0],
            };
            let base = code.len();
            code.extend(
                operands
                    .iter()
                    .flat_map(|operand: &i32| operand.to_be_bytes()),
            );
            let end = code.len();
            // Default and the only entry go to the return; back by one from `iconst_0`.
            let offset = ((end - switch - 1) as i32).to_be_bytes();
            code[base..base + 4].copy_from_slice(&offset);
            code[end - 4..].copy_from_slice(&(-1i32).to_be_bytes());
            code.push(op::RETURN);
            let handler = code.len() as u16;
            code.extend([
                op::ASTORE_2,
                op::ALOAD_1,
                op::MONITOREXIT,
                op::ALOAD_2,
                op::ATHROW,
            ]);
            class.handlers = vec![[4, 6, handler]];
            let bytes = class.bytes();
            let result = instrument(&bytes);
            let new = result.class.as_ref().expect("it has changed");
            with_code(new, |code| {
                let at = switch + 1 + 7;
                assert_eq!(code.code[at], opcode);
                let operands = (at + 4) & !3;
                let number = |i: usize| {
                    let bytes = &code.code[operands + 4 * i..][..4];
                    i32::from_be_bytes(bytes.try_into().expect("four bytes"))
                };
                assert_eq!(
                    code.code[at.wrapping_add_signed(number(0) as isize)],
                    op::RETURN
                );
                assert_eq!(number(3), -1);
            });
        }
    }
}

#[test]
fn jumps_become_as_long_as_they_can() {
    // Over a block, from before it to the return.
    let far = |distance: usize, opcode: u8| {
        let offset = match opcode {
            op::GOTO_W => (distance as u32).to_be_bytes().to_vec(),
            _ => (distance as u16).to_be_bytes().to_vec(),
        };
        let jump = [&[opcode], offset.as_slice()].concat();
        let mut class = TestClass::block(&vec![op::NOP; distance - jump.len() - 6]);
        let over = 3 + jump.len() as u8;
        let block = class.code.take().expect("it has code");
        class.code = Some([&[op::ALOAD_0, op::IFNULL, 0, over], &*jump, &*block].concat());
        let moved = 1 + u16::from(over);
        class.handlers = class
            .handlers
            .iter()
            .map(|range| range.map(|pc| pc + moved))
            .collect();
        class
    };
    let longest = usize::from(i16::MAX.unsigned_abs()) - 7;
    for opcode in [op::GOTO, op::GOTO_W] {
        assert!(instrument(&far(longest, opcode).bytes()).class.is_some());
    }
    assert_eq!(reason(&far(longest + 1, op::GOTO)), Reason::JumpTooLong);
    assert!(
        instrument(&far(longest + 1, op::GOTO_W).bytes())
            .class
            .is_some()
    );
}

#[test]
fn a_jump_to_a_release_comes_to_the_call() {
    let class = TestClass::block(&[op::ICONST_0, op::IFEQ, 0, 4, op::NOP]);
    with_code(
        &instrument(&class.bytes()).class.expect("it has changed"),
        |code| {
            assert_eq!(code.code[5..8], [op::IFEQ, 0, 4]);
        },
    );
    // The object is on the stack already, and put into a variable of its own.
    let class = TestClass::block(&[op::ALOAD_1, op::ICONST_0, op::IFEQ, 0, 4]);
    with_code(
        &instrument(&class.bytes()).class.expect("it has changed"),
        |code| {
            assert_eq!(code.code[6..9], [op::IFEQ, 0, 4]);
            assert_eq!(code.code[10..13], [op::DUP, op::ASTORE_3, op::DUP]);
            assert_eq!(code.max_locals, 4);
            // The call alone is protected: the variable is set by then.
            let first = &code.exception_table[0];
            assert_eq!((first.start_pc, first.end_pc), (12, 19));
            let stub = usize::from(first.handler_pc);
            assert_eq!(
                code.code[stub..stub + 3],
                [op::ALOAD_3, op::MONITOREXIT, op::ATHROW]
            );
        },
    );

    let synchronized = TestClass::new(SYNCHRONIZED, vec![op::ICONST_0, op::IFEQ, 0, 3, op::RETURN]);
    with_code(
        &instrument(&synchronized.bytes())
            .class
            .expect("it has changed"),
        |code| {
            assert_eq!(code.code[1..5], [op::IFEQ, 0, 3, op::ALOAD_0]);
            assert_eq!(code.exception_table.len(), 1);
            assert_eq!(code.max_stack, 4);
        },
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    let method = |access, code: &[u8]| TestClass::new(access, code.to_vec());
    let mut native = method(SYNCHRONIZED | NATIVE, &[]);
    native.code = None;
    assert_eq!(reason(&native), Reason::Native);

    let mut literal = method(SYNCHRONIZED | STATIC, &[op::RETURN]);
    literal.version = 48;
    assert_eq!(reason(&literal), Reason::NoClassLiterals);
    literal.version = 49;
    assert!(instrument(&literal.bytes()).class.is_some());

    // Once around the loop one monitor more is owned; a return with a monitor.
    let more = [
        op::ALOAD_0,
        op::MONITORENTER,
        op::ICONST_0,
        op::IFEQ,
        0xff,
        0xfd,
    ];
    let unbalanced = [more.as_slice(), &[op::ALOAD_0, op::MONITOREXIT, op::RETURN]].concat();
    assert_eq!(reason(&method(0, &unbalanced)), Reason::Unstructured);
    let kept = [op::ALOAD_0, op::MONITOREXIT, op::RETURN];
    assert_eq!(reason(&method(0, &kept)), Reason::Unstructured);

    let large = vec![op::NOP; 65_520];
    assert_eq!(reason(&TestClass::block(&large)), Reason::TooLarge);

    let mut full = TestClass::block(&[]);
    // Five constants and index 0 are there, and six are needed.
    full.fillers = 65_535 - 6 - 6 + 1;
    assert_eq!(reason(&full), Reason::PoolFull);
    full.fillers -= 1;
    assert!(instrument(&full.bytes()).class.is_some());

    let cldc = TestClass::block(&[]).with_attribute("StackMap", vec![0, 0]);
    assert_eq!(reason(&cldc), Reason::CldcFrames);

    let mut unknown = TestClass::block(&[]).with_attribute("Unheard", vec![]);
    assert!(instrument(&unknown.bytes()).class.is_some());
    unknown.version = 99;
    assert_eq!(reason(&unknown), Reason::UnknownAttribute);

    for code in [
        &[0xca, op::MONITOREXIT][..],
        &[op::MONITOREXIT, op::GOTO, 0],
        &[0xc4, op::MONITOREXIT],
    ] {
        assert_eq!(reason(&method(0, code)), Reason::MalformedCode);
    }
    // It runs off its end, and would run into what is appended.
    let endless = method(
        SYNCHRONIZED,
        &[op::ICONST_0, op::IFEQ, 0, 4, op::RETURN, op::NOP],
    );
    assert_eq!(reason(&endless), Reason::MalformedCode);
    let class = TestClass::block(&[]).bytes();
    let result = instrument_exits(&class, &HOOKS, |count| {
        assert_eq!(count, 2);
        None
    });
    let left_alone = result.expect("a class file").left_alone;
    assert_eq!(
        (left_alone[0].blocks, left_alone[0].reason),
        (2, Reason::NoSites)
    );
}

/// As compilers of Kotlin and Clojure write it: without a handler for the release itself.
#[test]
fn releases_without_a_handler_are_protected_too() {
    let code = [
        &[op::ALOAD_0, op::ASTORE_1, op::ALOAD_1, op::MONITORENTER][..],
        // The variable is cleared before the release.
        &[op::ALOAD_1, op::ACONST_NULL, op::ASTORE_1, op::MONITOREXIT],
        &[op::RETURN],
    ]
    .concat();
    let class = TestClass::new(0, code).bytes();
    let result = instrument(&class);
    assert!(result.left_alone.is_empty());
    with_code(result.class.as_ref().expect("it has changed"), |code| {
        let ranges = code.exception_table.iter();
        let ranges: Vec<_> = ranges
            .map(|e| (e.start_pc, e.end_pc, e.handler_pc))
            .collect();
        assert_eq!(ranges, [(9, 16, 18)]);
        assert_eq!(code.code[7..10], [op::DUP, op::ASTORE_3, op::DUP]);
    });
}

/// What no way leads to is never released.
#[test]
fn unreachable_releases_are_none() {
    let class = TestClass::block(&[op::RETURN]);
    assert_eq!(reason(&class), Reason::Unstructured);
    let mut class = TestClass::block(&[]);
    class.handlers.clear();
    let class = class.bytes();
    let result = instrument(&class);
    assert!(result.left_alone.is_empty());
    assert_eq!(result.methods[0].sites.len(), 1);
}

/// As ProGuard writes it: variables are used again once `this` is no longer needed.
#[test]
fn this_is_copied_where_its_variable_is_overwritten() {
    // A loop to the very begin, which copies nothing again.
    let code = [op::ICONST_0, op::IFEQ, 0xff, 0xff];
    let code = [&code[..], &[op::ACONST_NULL, op::ASTORE_0, op::RETURN]].concat();
    let mut class = TestClass::new(SYNCHRONIZED, code);
    for frames in [None, Some(vec![0, 1, 0])] {
        if let Some(frames) = frames {
            class.version = 50;
            class = class.with_attribute("StackMapTable", frames);
        }
        let bytes = class.bytes();
        let result = instrument(&bytes);
        assert!(result.left_alone.is_empty());
        let method = &result.methods[0];
        for (new, original) in [(0, 0), (1, 0), (2, 0), (3, 1), (8, 6), (15, 6)] {
            assert_eq!(method.position(new), Position::Bci(original), "{new}");
        }
        with_code(result.class.as_ref().expect("it has changed"), |code| {
            assert_eq!(code.max_locals, 4);
            assert_eq!(
                code.code[..8],
                [
                    op::ALOAD_0,
                    op::ASTORE_3,
                    op::ICONST_0,
                    op::IFEQ,
                    0xff,
                    0xff,
                    1,
                    op::ASTORE_0
                ]
            );
            assert_eq!(code.code[8], op::ALOAD_3);
            let range = &code.exception_table[0];
            assert_eq!(
                (range.start_pc, range.end_pc, range.handler_pc),
                (2, 16, 16)
            );
            assert_eq!(code.code[16], op::ALOAD_3);
        });
    }
}

#[test]
fn the_last_number_of_a_site_is_the_greatest_int() {
    let class = TestClass::block(&[]).bytes();
    let last = i32::MAX.unsigned_abs();
    for (first, fits) in [(last - 1, true), (last, false), (u32::MAX, false)] {
        let result = instrument_exits(&class, &HOOKS, |_| Some(first)).expect("a class file");
        assert_eq!(result.class.is_some(), fits, "{first}");
    }
}

#[test]
fn a_class_without_monitors_asks_for_no_sites() {
    let class = TestClass::new(0, vec![op::RETURN]).bytes();
    let result = instrument_exits(&class, &HOOKS, |_| unreachable!()).expect("a class file");
    assert!(result.class.is_none() && result.left_alone.is_empty());
    // A byte that looks like a release: the operand of `bipush`.
    let class = TestClass::new(0, vec![0x10, op::MONITOREXIT, 0x57, op::RETURN]).bytes();
    let result = instrument_exits(&class, &HOOKS, |_| unreachable!()).expect("a class file");
    assert!(result.class.is_none() && result.left_alone.is_empty());
}

#[test]
fn the_class_of_the_hooks_is_left_as_it_is() {
    let class = TestClass::block(&[]).bytes();
    let hooks = Hooks {
        class: "Test",
        ..HOOKS
    };
    let result = instrument_exits(&class, &hooks, |_| unreachable!()).expect("a class file");
    assert!(result.class.is_none());
}

#[test]
fn what_is_no_class_file_is_an_error() {
    let class = TestClass::block(&[]).bytes();
    for len in 0..class.len() {
        let error =
            instrument_exits(&class[..len], &HOOKS, |_| Some(1)).expect_err("it is cut off");
        assert!(error.offset <= len);
    }
    let longer = [class.as_slice(), &[0]].concat();
    let error = instrument_exits(&longer, &HOOKS, |_| Some(1)).expect_err("it is too long");
    let text = format!(
        "malformed class file: something behind the class at byte {}",
        class.len()
    );
    assert_eq!(error.to_string(), text);
}
