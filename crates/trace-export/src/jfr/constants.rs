//! The constants of a chunk: the threads, classes, methods, stack traces and texts that its events
//! refer to.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use trace_analysis::{
    ChainIndex, ClassIndex, Entities, MethodIndex, ThreadIndex, is_method_descriptor,
    is_type_descriptor,
};

use super::encoding::Encoder;
use super::types::{CLASS, METHOD, STACK_TRACE, STRING, SYMBOL, THREAD};

/// Number of the type of the event that holds the constants, which is not described.
const CHECKPOINT: u64 = 1;

/// Stands for no constant.
pub(super) const NONE: u64 = 0;

/// The constants of a chunk. Their numbers follow `before`: the JDK takes constants with the same
/// number in the chunks of a file for the same constant, whatever they are.
#[derive(Debug, Default)]
pub(super) struct Constants {
    before: u64,
    texts: Pool<String>,
    symbols: Pool<String>,
    threads: Pool<ThreadIndex>,
    /// `None` stands for the class of methods without a description.
    classes: Pool<Option<ClassIndex>>,
    methods: Pool<MethodIndex>,
    stacks: Pool<ChainIndex>,
}

/// The constants of one type, by the entities that they stand for.
#[derive(Debug)]
struct Pool<T> {
    before: u64,
    numbers: HashMap<T, u64, RandomState>,
    encoded: Encoder,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> Pool<T> {
    fn new(before: u64) -> Self {
        Self {
            before,
            numbers: HashMap::default(),
            encoded: Encoder::default(),
        }
    }
}

impl<T: Hash + Eq> Pool<T> {
    fn find(&self, wanted: &T) -> Option<u64> {
        self.numbers.get(wanted).copied()
    }

    /// Adds a constant unless the pool has it.
    fn add(&mut self, of: T, write: impl FnOnce(&mut Encoder)) -> u64 {
        let number = self.before + self.numbers.len() as u64 + 1;
        self.numbers.insert(of, number);
        self.encoded.number(number);
        write(&mut self.encoded);
        number
    }
}

impl Pool<String> {
    fn text(&mut self, text: &str) -> u64 {
        let known = self.numbers.get(text).copied();
        known.unwrap_or_else(|| self.add(text.to_owned(), |value| value.text(text)))
    }
}

impl Constants {
    pub(super) fn new(before: u64) -> Self {
        Self {
            before,
            texts: Pool::new(before),
            symbols: Pool::new(before),
            threads: Pool::new(before),
            classes: Pool::new(before),
            methods: Pool::new(before),
            stacks: Pool::new(before),
        }
    }

    /// Returns the number that those of other constants may follow.
    pub(super) fn last_number(&self) -> u64 {
        let counts = [
            self.texts.numbers.len(),
            self.symbols.numbers.len(),
            self.threads.numbers.len(),
            self.classes.numbers.len(),
            self.methods.numbers.len(),
            self.stacks.numbers.len(),
        ];
        self.before + counts.into_iter().max().unwrap_or_default() as u64
    }

    /// Returns the size in the recording, in bytes.
    pub(super) fn byte_len(&self) -> usize {
        let pools = [
            &self.texts.encoded,
            &self.symbols.encoded,
            &self.threads.encoded,
            &self.classes.encoded,
            &self.methods.encoded,
            &self.stacks.encoded,
        ];
        pools.iter().map(|pool| pool.bytes.len()).sum()
    }

    pub(super) fn text(&mut self, text: &str) -> u64 {
        self.texts.text(text)
    }

    /// Adds a thread, with the number by which tools distinguish threads.
    pub(super) fn thread(
        &mut self,
        index: ThreadIndex,
        entities: &Entities,
        number: impl FnOnce() -> u64,
    ) -> u64 {
        if let Some(known) = self.threads.find(&index) {
            return known;
        }
        let thread = entities.thread(index);
        // Threads of the JVM itself have no number in Java.
        let java_name = (thread.java_id.0 != 0).then_some(&*thread.name);
        self.threads.add(index, |value| {
            value.text(&thread.name);
            value.number(number());
            value.optional_text(java_name);
            value.number(thread.java_id.0);
            value.number(NONE); // its group
        })
    }

    /// Adds the class of a lock, if it is known.
    pub(super) fn lock_class(&mut self, index: Option<ClassIndex>, entities: &Entities) -> u64 {
        match index {
            Some(_) => self.class(index, entities),
            None => NONE,
        }
    }

    fn class(&mut self, index: Option<ClassIndex>, entities: &Entities) -> u64 {
        if let Some(known) = self.classes.find(&index) {
            return known;
        }
        let name = index.map_or(NOT_DESCRIBED, |index| entities.class_name(index));
        let name = self.symbols.text(&internal(name));
        self.classes.add(index, |value| {
            value.number(NONE); // its loader
            value.number(name);
            value.number(NONE); // its package
            value.int(0); // its modifiers
            value.flag(false);
        })
    }

    fn method(&mut self, index: MethodIndex, entities: &Entities) -> u64 {
        if let Some(known) = self.methods.find(&index) {
            return known;
        }
        let method = entities.method(index);
        let class = self.class(method.class, entities);
        let name = self.symbols.text(&method.name);
        let descriptor = self.symbols.text(descriptor(&method.signature));
        self.methods.add(index, |value| {
            value.number(class);
            value.number(name);
            value.number(descriptor);
            value.int(0); // its modifiers
            value.flag(false);
        })
    }

    /// Adds a call chain, if its frames are known.
    pub(super) fn stack(&mut self, index: ChainIndex, entities: &Entities) -> u64 {
        if let Some(known) = self.stacks.find(&index) {
            return known;
        }
        let chain = entities.chain(index);
        if chain.frames().is_empty() {
            return NONE;
        }
        let methods: Vec<_> = chain
            .frames()
            .iter()
            .map(|frame| self.method(frame.method, entities))
            .collect();
        self.stacks.add(index, |value| {
            value.flag(chain.is_truncated());
            value.number(methods.len() as u64);
            for (method, frame) in methods.into_iter().zip(chain.frames()) {
                value.number(method);
                value.int(frame.line);
                value.int(frame.bci);
                value.number(NONE); // whether it was compiled
            }
        })
    }

    /// Writes the event with all constants, at a time in ticks.
    pub(super) fn write(&self, time: u64, encoder: &mut Encoder) {
        let pools = [
            (STRING, self.texts.parts()),
            (SYMBOL, self.symbols.parts()),
            (THREAD, self.threads.parts()),
            (CLASS, self.classes.parts()),
            (METHOD, self.methods.parts()),
            (STACK_TRACE, self.stacks.parts()),
        ];
        // Readers take an empty pool for damage.
        let pools = pools.into_iter().filter(|(_, (count, _))| *count > 0);
        let pools: Vec<_> = pools.collect();
        encoder.event(CHECKPOINT, |event| {
            event.number(time);
            event.number(0); // its duration
            event.signed(0); // no event of constants before it
            event.bytes.push(0); // nor is it a special one
            event.number(pools.len() as u64);
            for (of, (count, bytes)) in pools {
                event.number(of);
                event.number(count);
                event.bytes.extend_from_slice(bytes);
            }
        });
    }
}

impl<T> Pool<T> {
    /// Returns the number of constants, and their bytes.
    fn parts(&self) -> (u64, &[u8]) {
        (self.numbers.len() as u64, &self.encoded.bytes)
    }
}

/// The class of a method without a description: readers expect that a method has a class.
const NOT_DESCRIBED: &str = "<class not described>";

/// Returns the name of a class as in class files and in the JDK's recordings. Readers parse a name
/// that begins like the name of an array, and fail if it is not one. Some look at the first letter
/// without checking that it exists.
fn internal(name: &str) -> String {
    let name = name.replace('.', "/");
    match name.strip_prefix('[') {
        None if name.is_empty() => "\u{fffd}".to_owned(),
        Some(rest) if !is_type_descriptor(&name) => format!("\u{fffd}{rest}"),
        _ => name,
    }
}

/// Returns the descriptor of a method, which readers parse, too.
fn descriptor(signature: &str) -> &str {
    if is_method_descriptor(signature) {
        signature
    } else {
        "()V"
    }
}
