//! The methods and classes that call chains and locks refer to, each described once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bytecode_instrumentation::{Position, Positions};
use papaya::HashMap;
use rust_tracer::{Runtime, ThreadTracer, text};
use trace_format::{ClassDescription, ClassId, LoaderId, MethodDescription, MethodId};

use crate::code;
use crate::ffi::{Class, Env, Frame, JvmText, Method};
use crate::instrumentation::{self, MethodKey, loader_id};
use crate::session::Session;

/// More methods or classes than this are forgotten, and get new numbers when they come again. So
/// a JVM that loads and unloads classes for years does not fill the memory with them.
const MAX_ENTRIES: usize = 1 << 18;

/// An identifier, and the epoch of metadata in which it was described last, 0 at first.
#[derive(Debug)]
struct Entity {
    id: u32,
    described_in: AtomicU32,
}

impl Entity {
    fn new(runtime: &Runtime) -> Self {
        Self {
            id: runtime.new_entity_id(),
            described_in: AtomicU32::new(0),
        }
    }

    /// True to the one caller that has to describe it in this epoch.
    fn claim(&self, runtime: &Runtime) -> bool {
        // Relaxed: guards no other memory, and descriptions may come in any order.
        let epoch = runtime.metadata_epoch();
        self.described_in.load(Relaxed) != epoch && self.described_in.swap(epoch, Relaxed) != epoch
    }
}

/// A method that was on a stack.
#[derive(Debug)]
struct MethodEntry {
    entity: Entity,
    /// Where which source line begins, by byte code index, in order.
    lines: Box<[(u16, i32)]>,
    /// Of which code of the class file its code was made; `None` if it is that itself.
    positions: Option<Arc<Positions>>,
    /// How often classes had been redefined before.
    redefinitions: u32,
    /// Where its code acquires monitors, by byte code index, in order.
    monitor_enters: Box<[u16]>,
    is_object_wait: bool,
    may_own_monitors: bool,
}

/// What a frame is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the innermost one of a thread that blocks for a monitor.
    MonitorEnter,
    /// Anything else.
    Other,
}

/// A frame, as the trace has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescribedFrame {
    pub(crate) id: MethodId,
    /// The byte code index in the class file; `None` where there is none.
    pub(crate) bci: Option<u16>,
    /// The source line; -1 where it is not known.
    pub(crate) line: i32,
    /// It is a frame of `Object.wait`, or of what that calls.
    pub(crate) is_object_wait: bool,
    /// The method is synchronized, or has synchronized blocks.
    pub(crate) may_own_monitors: bool,
}

impl MethodEntry {
    fn id(&self) -> MethodId {
        MethodId(self.entity.id)
    }

    fn frame(&self, bci: Option<u16>, place: Place) -> DescribedFrame {
        let bci = bci.map(|bci| match place {
            Place::MonitorEnter => self.monitor_enter(bci),
            Place::Other => bci,
        });
        DescribedFrame {
            id: self.id(),
            bci: bci.and_then(|bci| self.original_bci(bci)),
            line: bci.map_or(-1, |bci| self.line(bci)),
            is_object_wait: self.is_object_wait,
            may_own_monitors: self.may_own_monitors,
        }
    }

    /// The interpreter has already gone on by an instruction when a thread blocks in a
    /// `monitorenter`, compiled code has not.
    fn monitor_enter(&self, bci: u16) -> u16 {
        let is_enter = |bci: &u16| self.monitor_enters.binary_search(bci).is_ok();
        let before = bci.checked_sub(1).filter(|_| !is_enter(&bci));
        before.filter(is_enter).unwrap_or(bci)
    }

    /// The byte code index in the class file of the instruction at `bci`; `None` in code that
    /// is not there.
    fn original_bci(&self, bci: u16) -> Option<u16> {
        match self.positions.as_ref().map(|positions| positions.at(bci)) {
            None => Some(bci),
            Some(Position::Bci(bci)) => Some(bci),
            Some(Position::Unwinding) => None,
        }
    }

    /// The source line of the instruction at `bci`; -1 where it is not known. Of one that is not
    /// in the class file it is the method's first one.
    fn line(&self, bci: u16) -> i32 {
        let is_original = self.original_bci(bci).is_some();
        let behind = self.lines.partition_point(|&(start, _)| start <= bci);
        let index = if is_original { behind } else { 1 };
        let line = index.checked_sub(1).and_then(|last| self.lines.get(last));
        line.map_or(-1, |&(_, line)| line)
    }
}

/// What the JVM says of a method.
struct Description<'a> {
    class: Option<Class<'a>>,
    name: JvmText<'a>,
    descriptor: JvmText<'a>,
}

impl<'a> Description<'a> {
    fn of(env: Env<'a>, method: Method<'_>) -> Self {
        let (name, descriptor) = env.method_name(method);
        Self {
            class: env.declaring_class(method),
            name,
            descriptor,
        }
    }

    fn entry(
        &self,
        env: Env<'_>,
        session: &Session,
        method: Method<'_>,
        redefinitions: u32,
    ) -> MethodEntry {
        let signature = self.class.map(|class| env.signature(class));
        let signature = signature.as_deref().unwrap_or_default();
        let positions = session.instrumentation.positions(&MethodKey {
            class: instrumentation::internal_name(signature).into(),
            loader: self
                .class
                .map_or(0, |class| instrumentation::class_loader_id(env, class)),
            name: (*self.name).into(),
            descriptor: (*self.descriptor).into(),
        });
        let entry = MethodEntry {
            entity: Entity::new(session.runtime()),
            lines: sorted(env.lines(method)),
            positions,
            redefinitions,
            is_object_wait: signature == OBJECT && matches!(&*self.name, b"wait" | b"wait0"),
            may_own_monitors: env.may_own_monitors(method),
            monitor_enters: env
                .with_code(method, code::monitor_enters)
                .into_boxed_slice(),
        };
        entry.entity.claim(session.runtime());
        entry
    }
}

/// A class is known by its descriptor and its loader.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ClassKey {
    signature: Box<[u8]>,
    loader: u64,
}

/// All that were met in a trace.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    methods: HashMap<usize, MethodEntry>,
    classes: HashMap<ClassKey, Arc<Entity>>,
}

impl Methods {
    /// What the trace has for a frame. Its method is described if it was not.
    pub(crate) fn get(
        &self,
        env: Env<'_>,
        session: &Session,
        tracer: &mut ThreadTracer,
        frame: Frame<'_>,
        place: Place,
    ) -> DescribedFrame {
        let key = frame.method.key();
        let redefinitions = session.instrumentation.redefinitions();
        let methods = self.methods.pin();
        // With other code it is another method, as it is to the JVM.
        let known = methods.get(&key);
        let known = known.filter(|entry| entry.redefinitions == redefinitions);
        if let Some(entry) = known {
            if entry.entity.claim(session.runtime()) {
                let description = Description::of(env, frame.method);
                self.describe_method(env, session, tracer, entry.id(), &description);
            }
            return entry.frame(frame.bci, place);
        }
        let description = Description::of(env, frame.method);
        let entry = description.entry(env, session, frame.method, redefinitions);
        self.describe_method(env, session, tracer, entry.id(), &description);
        if methods.len() > MAX_ENTRIES {
            methods.clear();
        }
        let described = entry.frame(frame.bci, place);
        methods.insert(key, entry);
        described
    }

    fn describe_method(
        &self,
        env: Env<'_>,
        session: &Session,
        tracer: &mut ThreadTracer,
        id: MethodId,
        description: &Description<'_>,
    ) {
        let class = description.class.map_or(ClassId::NONE, |class| {
            let class_id = self.class(env, session.runtime(), tracer, class);
            env.delete(class);
            class_id
        });
        tracer.describe_method(MethodDescription {
            method: id,
            class,
            name: &text::from_jvm(&description.name),
            signature: &text::from_jvm(&description.descriptor),
        });
    }

    /// The number of a class. It is described if it was not, and so are its superclasses.
    pub(crate) fn class(
        &self,
        env: Env<'_>,
        runtime: &Runtime,
        tracer: &mut ThreadTracer,
        class: Class<'_>,
    ) -> ClassId {
        let entity = self.class_entity(env, runtime, class);
        let mut next = entity.claim(runtime).then_some((class, entity.id));
        while let Some((class, id)) = next {
            let superclass = env.superclass(class);
            let superclass = superclass.filter(|&class| &*env.signature(class) != OBJECT);
            let superclass =
                superclass.map(|class| (class, self.class_entity(env, runtime, class)));
            let super_id = superclass.as_ref().map_or(0, |(_, entity)| entity.id);
            describe_class(env, tracer, class, ClassId(id), ClassId(super_id));
            next = superclass
                .filter(|(_, entity)| entity.claim(runtime))
                .map(|(class, entity)| (class, entity.id));
        }
        ClassId(entity.id)
    }

    fn class_entity(&self, env: Env<'_>, runtime: &Runtime, class: Class<'_>) -> Arc<Entity> {
        let loader = env.loader(class);
        let key = ClassKey {
            signature: env.signature(class).to_vec().into_boxed_slice(),
            loader: loader_id(env, loader),
        };
        loader.inspect(|&loader| env.delete(loader));
        let classes = self.classes.pin();
        if classes.len() > MAX_ENTRIES {
            classes.clear();
        }
        Arc::clone(classes.get_or_insert_with(key, || Arc::new(Entity::new(runtime))))
    }
}

fn describe_class(
    env: Env<'_>,
    tracer: &mut ThreadTracer,
    class: Class<'_>,
    id: ClassId,
    super_class: ClassId,
) {
    let loader = env.loader(class);
    let loader_class = loader.and_then(|loader| env.class_of(loader));
    let loader_name = loader_class.map(|class| external_name(&env.signature(class)));
    tracer.describe_class(ClassDescription {
        class: id,
        super_class,
        loader: LoaderId(loader_id(env, loader)),
        name: &external_name(&env.signature(class)),
        source_file: &text::from_jvm(&env.source_file(class)),
        loader_class: &loader_name.unwrap_or_default(),
    });
    loader_class.inspect(|&class| env.delete(class));
    loader.inspect(|&loader| env.delete(loader));
}

const OBJECT: &[u8] = b"Ljava/lang/Object;";

fn sorted(mut lines: Vec<(u16, i32)>) -> Box<[(u16, i32)]> {
    lines.sort_unstable();
    lines.into_boxed_slice()
}

/// The name of a class as `Class.getTypeName` gives it, by its descriptor: `java.lang.String`,
/// `int[]`.
fn external_name(signature: &[u8]) -> String {
    let element = signature.trim_ascii_start();
    let dimensions = element.iter().take_while(|&&byte| byte == b'[').count();
    let element = element.get(dimensions..).unwrap_or_default();
    let mut name = match element {
        [b'L', name @ .., b';'] => text::from_jvm(name).replace('/', "."),
        b"Z" => "boolean".to_owned(),
        b"B" => "byte".to_owned(),
        b"C" => "char".to_owned(),
        b"S" => "short".to_owned(),
        b"I" => "int".to_owned(),
        b"J" => "long".to_owned(),
        b"F" => "float".to_owned(),
        b"D" => "double".to_owned(),
        other => text::from_jvm(other).into_owned(),
    };
    for _ in 0..dimensions {
        name.push_str("[]");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_as_in_java() {
        for (signature, name) in [
            ("Ljava/util/Map$Entry;", "java.util.Map$Entry"),
            ("[[I", "int[][]"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("LMain;", "Main"),
            ("", ""),
        ] {
            assert_eq!(external_name(signature.as_bytes()), name);
        }
    }
}
