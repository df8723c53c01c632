//! Describes the methods and classes that call chains and locks refer to, each once.

mod entity;
mod method;
mod monitor_enters;

use std::sync::{Arc, OnceLock};

use papaya::HashMap;
use rust_tracer::{Runtime, ThreadTracer, text};
use trace_format::{ClassDescription, ClassId, LoaderId, MethodDescription, MethodId};

use crate::classes::{class_loader_id, external_name, internal_name, loader_id};
use crate::ffi::{Class, Env, Frame, JvmText, Method};
use crate::instrumentation::late::LateClass;
use crate::instrumentation::{Instrumentation, MethodKey};
use crate::methods::entity::Entity;
use crate::methods::method::MethodEntry;
use crate::methods::monitor_enters::monitor_enters;

pub(crate) use method::{DescribedFrame, Place};

/// Beyond this number methods or classes are forgotten, and get new identifiers when they return: a JVM
/// may load and unload classes for years.
const MAX_ENTRIES: usize = 1 << 18;

/// A method as the JVM describes it.
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
        runtime: &Runtime,
        instrumentation: &Instrumentation,
        method: Method<'_>,
        redefinitions: u32,
    ) -> MethodEntry {
        let signature = self.class.map(|class| env.signature(class));
        let signature = signature.as_deref().unwrap_or_default();
        let loader = self.class.map_or(0, |class| class_loader_id(env, class));
        let positions = instrumentation.positions(&MethodKey {
            class: (internal_name(signature).into(), loader),
            name: (*self.name).into(),
            descriptor: (*self.descriptor).into(),
        });
        MethodEntry {
            entity: Entity::new(runtime),
            lines: sorted(env.lines(method)),
            // A call that began before its class was changed runs the code as it was.
            positions: positions.filter(|_| !env.is_obsolete(method)),
            redefinitions,
            is_object_wait: signature == OBJECT && matches!(&*self.name, b"wait" | b"wait0"),
            may_own_monitors: env.may_own_monitors(method),
            monitor_enters: env.with_code(method, monitor_enters).into_boxed_slice(),
            late_class: OnceLock::new(),
        }
    }
}

/// Identifies a class.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ClassKey {
    signature: Box<[u8]>,
    loader: u64,
}

/// The methods and classes of a trace.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    methods: HashMap<usize, MethodEntry>,
    classes: HashMap<ClassKey, Arc<Entity>>,
}

impl Methods {
    /// Returns a frame as the trace has it. Describes its method first if that was not done.
    pub(crate) fn get(
        &self,
        env: Env<'_>,
        runtime: &Runtime,
        instrumentation: &Instrumentation,
        tracer: &mut ThreadTracer,
        frame: Frame<'_>,
        place: Place,
    ) -> DescribedFrame {
        let key = frame.method.key();
        let redefinitions = instrumentation.redefinitions();
        let methods = self.methods.pin();
        // With other code it is another method, as for the JVM.
        let known = methods.get(&key);
        let current = known.filter(|entry| entry.redefinitions == redefinitions);
        if let Some(entry) = current {
            if entry.entity.claim(runtime) {
                let description = Description::of(env, frame.method);
                self.describe_method(env, runtime, tracer, entry.id(), &description);
            }
            return entry.frame(frame.bci, place);
        }
        let description = Description::of(env, frame.method);
        let mut entry =
            description.entry(env, runtime, instrumentation, frame.method, redefinitions);
        if let Some(known) = known.filter(|known| known.is_same_code(&entry)) {
            entry.entity = known.entity.again();
            entry.late_class = known.late_class.clone();
        }
        if entry.entity.claim(runtime) {
            self.describe_method(env, runtime, tracer, entry.id(), &description);
        }
        if methods.len() > MAX_ENTRIES {
            methods.clear();
        }
        let described = entry.frame(frame.bci, place);
        methods.insert(key, entry);
        described
    }

    /// Returns the class of a known method, if it is one that is changed once threads wait in it.
    pub(crate) fn late_class(
        &self,
        env: Env<'_>,
        instrumentation: &Instrumentation,
        method: Method<'_>,
    ) -> Option<Arc<LateClass>> {
        let methods = self.methods.pin();
        let class = &methods.get(&method.key())?.late_class;
        let class = class.get_or_init(|| instrumentation.late_class(env, method));
        class.clone()
    }

    fn describe_method(
        &self,
        env: Env<'_>,
        runtime: &Runtime,
        tracer: &mut ThreadTracer,
        id: MethodId,
        description: &Description<'_>,
    ) {
        let class = description.class.map_or(ClassId::NONE, |class| {
            let class_id = self.class(env, runtime, tracer, class);
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

    /// Returns the identifier of a class. Describes it and its superclasses first if that was not done.
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
