//! Changes classes so that they report their releases of monitors, parks and synchronizers, and maps
//! their code to the original.

mod constants;
mod filter;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use bytecode_instrumentation::{Hooks, ParkHooks, Positions, instrument_exits, instrument_parks};
use papaya::{HashMap, HashSet};
use rust_tracer::AgentCounts;

use crate::classes::{class_loader_id, internal_name, loader_id};
use crate::ffi::{
    Class, EXITS_CLASS, EXITS_METHOD, Env, Object, PARKS_CLASS, VIRTUAL_PARKS_CLASS,
    WATCHING_EXITS_FILE,
};
use crate::instrumentation::constants::may_be_merged;
use crate::parks::Parks;

pub(crate) use filter::Filter;

const HOOKS: Hooks<'static> = Hooks {
    class: EXITS_CLASS,
    block_exit: EXITS_METHOD,
    after_block_exit: None,
    method_exit: EXITS_METHOD,
};

const PARK_HOOKS: ParkHooks<'static> = ParkHooks {
    class: PARKS_CLASS,
    park: "park",
    unpark: "unpark",
    owner: "owner",
    virtual_class: None,
};

/// A class that acquires monitors while a virtual thread is mounted or unmounted. The JVM sends no
/// events then, and a call of the tool interface would wait until that is over.
const VIRTUAL_THREAD: &[u8] = b"java/lang/VirtualThread";

/// Classes that are changed in one operation of the JVM, during which all threads are stopped.
const BATCH: usize = 32;

/// The most methods whose positions are known. Frames of forgotten ones have only lines.
const MAX_METHODS: usize = 1 << 18;

/// A class that the JVM is about to define, or to define again.
#[derive(Debug)]
pub(crate) struct LoadedClass<'a> {
    /// Its internal name; empty for one without a name.
    pub(crate) name: &'a [u8],
    /// `None` for the boot loader.
    pub(crate) loader: Option<Object<'a>>,
    /// Whether it is being redefined or retransformed.
    pub(crate) is_loaded_already: bool,
    pub(crate) bytes: &'a [u8],
}

/// The internal name of a class, and the identifier of its loader.
type ClassKey = (Box<[u8]>, u64);

/// Identifies a method across redefinitions of its class.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct MethodKey {
    pub(crate) class: Box<[u8]>,
    pub(crate) loader: u64,
    pub(crate) name: Box<[u8]>,
    pub(crate) descriptor: Box<[u8]>,
}

/// The changes of classes in a trace.
#[derive(Debug, Default)]
pub(crate) struct Instrumentation {
    filter: Filter,
    /// `None` if parks are not traced.
    park_hooks: Option<ParkHooks<'static>>,
    classes: HashSet<ClassKey>,
    methods: HashMap<MethodKey, Arc<Positions>>,
    /// Relaxed: guards no other memory.
    last_site: AtomicU32,
    /// Whether releases are looked at. Relaxed: only the thread that sets it, which then retransforms
    /// the class, depends on it.
    watches: AtomicBool,
    /// The number of redefinitions of classes. Relaxed: the JVM installs new code in a safepoint, after
    /// it was counted.
    redefinitions: AtomicU32,
}

impl Instrumentation {
    pub(crate) fn new(filter: Filter, parks: Option<&Parks>) -> Self {
        let park_hooks = parks.map(|parks| ParkHooks {
            virtual_class: parks
                .traces_virtual_threads()
                .then_some(VIRTUAL_PARKS_CLASS),
            ..PARK_HOOKS
        });
        Self {
            filter,
            park_hooks,
            ..Self::default()
        }
    }

    /// Returns the changed class file; `None` if the class stays as it is.
    pub(crate) fn change(
        &self,
        env: Env<'_>,
        class: &LoadedClass<'_>,
        counts: &AgentCounts,
    ) -> Option<Vec<u8>> {
        if class.loader.is_none() && class.name == EXITS_CLASS.as_bytes() {
            return self.watching_exits();
        }
        if class.is_loaded_already {
            self.redefinitions.fetch_add(1, Relaxed);
        }
        // Classes without a name are the JVM's own, such as lambda forms.
        if class.name.is_empty() {
            return None;
        }
        let park_hooks = self.park_hooks_of(class.name);
        let parks = match park_hooks.filter(|_| class.loader.is_none()) {
            Some(hooks) => instrument_parks(class.bytes, hooks).ok()?,
            None => Default::default(),
        };
        let bytes = parks.class.as_deref().unwrap_or(class.bytes);
        let exits = match self.is_included(class.name) {
            true => instrument_exits(bytes, &HOOKS, |count| self.allot_sites(count)).ok()?,
            false => Default::default(),
        };
        let left_alone = parks
            .left_alone
            .len()
            .saturating_add(exits.left_alone.len());
        counts.untold_methods.add(left_alone as u64);
        let loader = loader_id(env, class.loader);
        let methods = self.methods.pin();
        if methods.len() > MAX_METHODS {
            methods.clear();
        }
        for method in parks.methods.into_iter().chain(exits.methods) {
            let key = MethodKey {
                class: class.name.into(),
                loader,
                name: method.name.into(),
                descriptor: method.descriptor.into(),
            };
            methods.insert(key, Arc::new(method.into_positions()));
        }
        let changed = exits.class.or(parks.class)?;
        self.classes.pin().insert((class.name.into(), loader));
        Some(changed)
    }

    /// Returns the hooks for a class that may park threads or be a synchronizer, even if it is not
    /// included.
    fn park_hooks_of(&self, class: &[u8]) -> Option<&ParkHooks<'static>> {
        // From JDK 9 on `sun.misc.Unsafe` calls the internal one. `LockSupport` of some versions calls
        // `VirtualThreads`.
        let others: [&[u8]; 2] = [b"sun/misc/Unsafe", b"jdk/internal/misc/VirtualThreads"];
        let is_one = class.starts_with(b"java/util/concurrent/") || others.contains(&class);
        let hooks = self.park_hooks.as_ref();
        hooks.filter(|_| is_one && !self.filter.excludes(class))
    }

    /// Returns whether the releases in a class may be instrumented.
    fn is_included(&self, class: &[u8]) -> bool {
        self.filter.includes(class) && class != VIRTUAL_THREAD
    }

    /// Allots `count` numbers of sites, and returns the first one.
    fn allot_sites(&self, count: u32) -> Option<u32> {
        let allot = |last: u32| last.checked_add(count).filter(|&last| last < 1 << 31);
        self.last_site.fetch_update(Relaxed, Relaxed, allot).ok()
    }

    /// Returns the original positions of a method's code; `None` if it was not changed.
    pub(crate) fn positions(&self, method: &MethodKey) -> Option<Arc<Positions>> {
        self.methods.pin().get(method).cloned()
    }

    /// Returns the number of redefinitions so far: each may have given methods other code.
    pub(crate) fn redefinitions(&self) -> u32 {
        self.redefinitions.load(Relaxed)
    }

    /// Changes the classes that are loaded already.
    pub(crate) fn change_loaded(&self, env: Env<'_>, counts: &AgentCounts) {
        let is_wanted = |&class: &Class<'_>| {
            let signature = env.signature(class);
            let name = internal_name(&signature);
            env.is_modifiable(class)
                && (self.park_hooks_of(name).is_some()
                    || self.is_included(name) && releases_monitors(env, class))
        };
        let wanted = env.loaded_classes().into_iter().filter(is_wanted);
        let may_be_changed = |&class: &Class<'_>| env.with_constants(class, may_be_merged);
        let (classes, refused): (Vec<_>, Vec<_>) = wanted.partition(may_be_changed);
        counts.refused_classes.add(refused.len() as u64);
        counts.refused_classes.add(retransform(env, &classes));
    }

    /// Has releases looked at from now on. Returns `false` if the JVM refuses.
    pub(crate) fn watch(&self, env: Env<'_>, exits: Class<'_>) -> bool {
        self.watches.store(true, Relaxed);
        env.retransform(&[exits])
    }

    /// Returns the class that releases call, if they are looked at.
    fn watching_exits(&self) -> Option<Vec<u8>> {
        self.watches.load(Relaxed).then(|| {
            self.classes
                .pin()
                .insert((EXITS_CLASS.as_bytes().into(), 0));
            WATCHING_EXITS_FILE.to_vec()
        })
    }

    /// Gives all classes their original code back. No class is changed afterwards.
    pub(crate) fn restore(&self, env: Env<'_>) {
        let changed = self.classes.pin();
        let classes = env.loaded_classes().into_iter().filter(|&class| {
            let signature = env.signature(class);
            let key = (
                internal_name(&signature).into(),
                class_loader_id(env, class),
            );
            changed.contains(&key)
        });
        let classes: Vec<_> = classes.collect();
        retransform(env, &classes);
    }
}

/// Retransforms classes. Returns how many the JVM refuses.
fn retransform(env: Env<'_>, classes: &[Class<'_>]) -> u64 {
    let mut refused = 0;
    for batch in classes.chunks(BATCH) {
        if env.retransform(batch) {
            continue;
        }
        // One of them is refused; others may not be.
        let each = batch.chunks(1);
        refused += each.filter(|class| !env.retransform(class)).count() as u64;
    }
    refused
}

/// Returns whether code of the class may release monitors.
fn releases_monitors(env: Env<'_>, class: Class<'_>) -> bool {
    // The methods of a class that is not linked are unknown.
    let Some(methods) = env.class_methods(class) else {
        return true;
    };
    let mut methods = methods.into_iter();
    methods.any(|method| env.may_own_monitors(method))
}
