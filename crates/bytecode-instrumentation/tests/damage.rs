//! Class files of a compiler, damaged.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use bytecode_instrumentation::{Hooks, Reason, instrument_exits};
use proptest::prelude::*;

/// Returns the seeds of fuzzing: a byte of options, and a class.
fn classes() -> &'static [Vec<u8>] {
    static CLASSES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let corpus =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/instrument_class");
        let entries = fs::read_dir(corpus).expect("the corpus is there");
        let paths = entries.map(|entry| entry.expect("it is readable").path());
        let mut paths: Vec<_> = paths.collect();
        paths.sort();
        let inputs = paths
            .iter()
            .map(|path| fs::read(path).expect("it is readable"));
        inputs.map(|input| input[1..].to_vec()).collect()
    })
}

fn hooks(calls_after: bool) -> Hooks<'static> {
    Hooks {
        class: "java/lang/LockTrace",
        block_exit: "blockExit",
        after_block_exit: calls_after.then_some("afterBlockExit"),
        method_exit: "methodExit",
    }
}

#[derive(Clone, Debug)]
enum Damage {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Copy(prop::sample::Index, prop::sample::Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (index(), 0..8u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        1 => (index(), 1..9usize).prop_map(|(at, len)| Damage::Remove(at, len)),
        1 => (index(), prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (index(), index(), 1..40usize).prop_map(|(from, to, len)| Damage::Copy(from, to, len)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Set(at, byte) => *at.get_mut(bytes) = *byte,
            Self::Flip(at, bit) => *at.get_mut(bytes) ^= 1 << bit,
            Self::Remove(at, len) => {
                let at = at.index(bytes.len());
                bytes.drain(at..bytes.len().min(at + len));
                bytes.push(0);
            }
            Self::Insert(at, new) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Copy(from, to, len) => {
                let from = from.index(bytes.len());
                let part = bytes[from..bytes.len().min(from + len)].to_vec();
                let to = to.index(bytes.len());
                let end = bytes.len().min(to + part.len());
                bytes[to..end].copy_from_slice(&part[..end - to]);
            }
        }
    }
}

#[test]
fn classes_of_the_corpus_are_instrumented() {
    assert!(classes().len() >= 5);
    for class in classes() {
        let result = instrument_exits(class, &hooks(true), |_| Some(1)).expect("a class file");
        assert!(result.class.is_some() && result.left_alone.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_no_harm(
        class in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
        calls_after: bool,
        first_site in 0..100_000u32,
    ) {
        let mut class = class.get(classes()).clone();
        for damage in &damages {
            damage.apply(&mut class);
        }
        let Ok(result) = instrument_exits(&class, &hooks(calls_after), |_| Some(first_site)) else {
            return Ok(());
        };
        let Some(changed) = &result.class else { return Ok(()) };
        prop_assert!(changed.len() < 16 * class.len() + (1 << 16));
        let again = instrument_exits(changed, &hooks(calls_after), |_| Some(first_site));
        let again = again.expect("what was written can be read");
        let malformed = |result: &bytecode_instrumentation::Instrumentation<'_>| {
            let left_alone = result.left_alone.iter();
            left_alone.filter(|left| left.reason == Reason::MalformedCode).count()
        };
        prop_assert_eq!(malformed(&again), malformed(&result));
    }
}
