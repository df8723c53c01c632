//! Changes classes so that they report their releases of monitors, parks and synchronizers, and maps
//! their code to the original.

mod constants;
mod filter;
mod jdk;
pub(crate) mod late;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use bytecode_instrumentation::{
    Hooks, InstrumentedMethod, ParkHooks, Positions, instrument_exits, instrument_parks, may_park,
};
use papaya::HashMap;
use rust_tracer::AgentCounts;

use crate::classes::{ClassKey, class_loader_id, internal_name, loader_id};
use crate::ffi::{
    Class, EXITS_CLASS, EXITS_METHOD, Env, Method, Object, PARKS_CLASS, VIRTUAL_PARKS_CLASS,
    WATCHING_EXITS_FILE, WeakObject,
};
use crate::instrumentation::constants::may_be_merged;
use crate::instrumentation::jdk::{is_of_jdk, locks_in_endless_loop};
use crate::instrumentation::late::{LateClass, LateClasses};
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

/// The most classes that are changed in one operation of the JVM, during which all threads are stopped.
pub(crate) const MAX_BATCH: usize = 32;

/// The most changed classes that are known. Frames of forgotten ones have only lines, and they stay as
/// they are when the trace ends.
const MAX_CLASSES: usize = 1 << 16;

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

/// Identifies a method across redefinitions of its class.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct MethodKey {
    pub(crate) class: ClassKey,
    pub(crate) name: Box<[u8]>,
    pub(crate) descriptor: Box<[u8]>,
}

/// The name of a method, its descriptor, and the original positions of its code.
type ChangedMethod = (Box<[u8]>, Box<[u8]>, Arc<Positions>);

/// The classes whose code was changed, with those methods whose positions have changed.
pub(crate) type ChangedClasses = HashMap<ClassKey, Arc<[ChangedMethod]>>;

/// The changes of classes in a trace.
#[derive(Debug, Default)]
pub(crate) struct Instrumentation {
    filter: Filter,
    /// `None` if parks are not traced.
    park_hooks: Option<ParkHooks<'static>>,
    changed: Arc<ChangedClasses>,
    late: LateClasses,
    /// Whether classes that were loaded before are still being changed. Relaxed: guards no other memory.
    changes_loaded: AtomicBool,
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
    /// `left` are changes of an earlier trace that were not undone.
    pub(crate) fn new(
        filter: Filter,
        parks: Option<&Parks>,
        left: Option<Arc<ChangedClasses>>,
    ) -> Self {
        let park_hooks = parks.map(|parks| ParkHooks {
            virtual_class: parks
                .traces_virtual_threads()
                .then_some(VIRTUAL_PARKS_CLASS),
            ..PARK_HOOKS
        });
        Self {
            filter,
            park_hooks,
            changed: left.unwrap_or_default(),
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
        let parks = match self.park_hooks_of(class.name) {
            Some(hooks) if class.loader.is_none() && may_park(class.bytes) => {
                instrument_parks(class.bytes, hooks).ok()?
            }
            _ => Default::default(),
        };
        let loader = loader_id(env, class.loader);
        let bytes = parks.class.as_deref().unwrap_or(class.bytes);
        let exits = match self.changes_exits(env, class.name, class.loader, loader) {
            true => instrument_exits(bytes, &HOOKS, |count| self.allot_sites(count)).ok()?,
            false => Default::default(),
        };
        let left_alone = parks
            .left_alone
            .len()
            .saturating_add(exits.left_alone.len());
        counts.untold_methods.add(left_alone as u64);
        let methods = parks.methods.into_iter().chain(exits.methods);
        let methods = methods.map(changed_method).collect();
        let changed = self.changed.pin();
        let key = (class.name.into(), loader);
        let Some(class) = exits.class.or(parks.class) else {
            changed.remove(&key);
            return None;
        };
        if changed.len() > MAX_CLASSES {
            changed.clear();
        }
        self.late.change(&key);
        changed.insert(key, methods);
        Some(class)
    }

    /// Returns whether the releases in a class are instrumented now.
    fn changes_exits(
        &self,
        env: Env<'_>,
        name: &[u8],
        loader: Option<Object<'_>>,
        loader_id: u64,
    ) -> bool {
        self.is_included(name)
            && (locks_in_endless_loop(name)
                || self.late.is_changed(name, loader_id)
                || !is_of_jdk(env, loader))
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
        let changed = self.changed.pin();
        let mut methods = changed.get(&method.class)?.iter();
        let found = methods
            .find(|(name, descriptor, _)| *name == method.name && *descriptor == method.descriptor);
        found.map(|(_, _, positions)| Arc::clone(positions))
    }

    /// Returns the number of redefinitions so far: each may have given methods other code.
    pub(crate) fn redefinitions(&self) -> u32 {
        self.redefinitions.load(Relaxed)
    }

    /// Returns the loaded classes that are to be changed, those of the JDK first, and counts those that
    /// cannot be.
    pub(crate) fn wanted(&self, env: Env<'_>, counts: &AgentCounts) -> Vec<WeakObject> {
        let (mut of_jdk, mut others) = (Vec::new(), Vec::new());
        for class in env.loaded_classes() {
            if let Some(is_of_jdk) = self.is_wanted(env, class) {
                match env.with_constants(class, may_be_merged) {
                    true if is_of_jdk => of_jdk.extend(env.weak(class)),
                    true => others.extend(env.weak(class)),
                    false => counts.refused_classes.add(1),
                }
            }
            env.delete(class);
        }
        of_jdk.append(&mut others);
        of_jdk
    }

    /// Returns whether a class is of the JDK, if it is to be changed, or changed back.
    fn is_wanted(&self, env: Env<'_>, class: Class<'_>) -> Option<bool> {
        let signature = env.signature(class);
        let name = internal_name(&signature);
        let loader = env.loader(class);
        let is_of_jdk = is_of_jdk(env, loader);
        let key = (name.into(), loader_id(env, loader));
        loader.inspect(|&loader| env.delete(loader));
        let parks = || self.park_hooks_of(name).is_some() && env.with_constants(class, may_park);
        let exits = || match is_of_jdk {
            true => locks_in_endless_loop(name),
            false => releases_monitors(env, class),
        };
        let is_wanted = self.changed.pin().contains_key(&key)
            || is_of_jdk && parks()
            || self.is_included(name) && exits();
        (is_wanted && env.is_modifiable(class)).then_some(is_of_jdk)
    }

    /// Returns the entry of a method's class, if it is one that is changed once threads wait in it.
    pub(crate) fn late_class(&self, env: Env<'_>, method: Method<'_>) -> Option<Arc<LateClass>> {
        let class = env.declaring_class(method)?;
        let late = self.late_class_of(env, class);
        env.delete(class);
        late
    }

    fn late_class_of(&self, env: Env<'_>, class: Class<'_>) -> Option<Arc<LateClass>> {
        let signature = env.signature(class);
        let name = internal_name(&signature);
        if !self.is_included(name) || locks_in_endless_loop(name) {
            return None;
        }
        let loader = env.loader(class);
        let key = (name.into(), loader_id(env, loader));
        // One of the application is changed before its turn.
        let has_turn = self.changes_loaded.load(Relaxed) && !self.changed.pin().contains_key(&key);
        let is_waited_for = has_turn || is_of_jdk(env, loader);
        loader.inspect(|&loader| env.delete(loader));
        let is_late =
            is_waited_for && env.is_modifiable(class) && env.with_constants(class, may_be_merged);
        is_late.then(|| self.late.get(env, key, class))?
    }

    /// Returns those of the loaded classes that were not changed before their turn.
    pub(crate) fn unchanged(&self, env: Env<'_>, classes: Vec<WeakObject>) -> Vec<WeakObject> {
        let is_unchanged = |class: &WeakObject| {
            env.strong(class).is_some_and(|class| {
                let (name, loader) = key_of(env, class);
                env.delete(class);
                !self.late.is_changed(&name, loader)
            })
        };
        let (unchanged, others): (Vec<_>, Vec<_>) = classes.into_iter().partition(is_unchanged);
        others.into_iter().for_each(|class| env.delete_weak(class));
        unchanged
    }

    /// Changes classes in which threads wait, as one operation.
    pub(crate) fn change_late(&self, env: Env<'_>, late: &[Arc<LateClass>], counts: &AgentCounts) {
        let classes: Vec<_> = late.iter().filter_map(|late| late.class(env)).collect();
        let refused = retransform(env, &classes);
        counts.refused_classes.add(refused);
        let changed = (classes.len() as u64).saturating_sub(refused);
        counts.late_classes.add(changed);
        classes.into_iter().for_each(|class| env.delete(class));
    }

    /// Says whether classes that were loaded before are still being changed.
    pub(crate) fn set_changes_loaded(&self, changes: bool) {
        self.changes_loaded.store(changes, Relaxed);
    }

    /// Has releases looked at from now on. Returns `false` if the JVM refuses.
    pub(crate) fn watch(&self, env: Env<'_>, exits: Class<'_>) -> bool {
        self.watches.store(true, Relaxed);
        env.retransform(&[exits])
    }

    /// Returns the class that releases call, if they are looked at.
    fn watching_exits(&self) -> Option<Vec<u8>> {
        self.watches.load(Relaxed).then(|| {
            let key = (EXITS_CLASS.as_bytes().into(), 0);
            self.changed.pin().insert(key, Arc::default());
            WATCHING_EXITS_FILE.to_vec()
        })
    }

    /// Ends the changes: from now on the JVM gives classes their original code back when they are
    /// retransformed. Returns what is to be undone. No hook uses this any more.
    pub(crate) fn end(self, env: Env<'_>) -> Arc<ChangedClasses> {
        self.late.free_all(env);
        self.changed
    }
}

/// Returns the loaded classes whose code was changed, those of the JDK first.
pub(crate) fn loaded_of(env: Env<'_>, changed: &ChangedClasses) -> Vec<WeakObject> {
    let (mut of_jdk, mut others) = (Vec::new(), Vec::new());
    let changed = changed.pin();
    for class in env.loaded_classes() {
        if changed.contains_key(&key_of(env, class)) {
            let loader = env.loader(class);
            match is_of_jdk(env, loader) {
                true => of_jdk.extend(env.weak(class)),
                false => others.extend(env.weak(class)),
            }
            loader.inspect(|&loader| env.delete(loader));
        }
        env.delete(class);
    }
    of_jdk.append(&mut others);
    of_jdk
}

fn key_of(env: Env<'_>, class: Class<'_>) -> ClassKey {
    let signature = env.signature(class);
    (
        internal_name(&signature).into(),
        class_loader_id(env, class),
    )
}

fn changed_method(method: InstrumentedMethod<'_>) -> ChangedMethod {
    let (name, descriptor) = (method.name.into(), method.descriptor.into());
    (name, descriptor, Arc::new(method.into_positions()))
}

/// Has the JVM give classes other code, those that are not unloaded, in as few operations as it takes.
/// Returns how many it refuses. `before` is called with each of them.
pub(crate) fn change(env: Env<'_>, classes: Vec<WeakObject>, before: impl Fn(&ClassKey)) -> u64 {
    let loaded: Vec<_> = classes
        .iter()
        .filter_map(|class| env.strong(class))
        .collect();
    for &class in &loaded {
        before(&key_of(env, class));
    }
    let refused = loaded
        .chunks(MAX_BATCH)
        .map(|batch| retransform(env, batch))
        .sum();
    loaded.into_iter().for_each(|class| env.delete(class));
    classes.into_iter().for_each(|class| env.delete_weak(class));
    refused
}

/// Retransforms classes in one operation. Returns how many the JVM refuses.
fn retransform(env: Env<'_>, classes: &[Class<'_>]) -> u64 {
    if classes.is_empty() || env.retransform(classes) {
        return 0;
    }
    // One of them is refused; others may not be.
    let each = classes.chunks(1);
    each.filter(|class| !env.retransform(class)).count() as u64
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
