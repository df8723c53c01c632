//! The things that events refer to: classes, methods, call chains, threads,
//! and lock objects.
//!
//! Identifiers in a trace are serial numbers of one run of one JVM. The
//! analysis replaces them with indices into [`Entities`], where equal things
//! exist once, also when they come from several traces.

pub(crate) mod lock_user;
pub(crate) mod renamed;

use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::collections::cached_map::NumberKey;
use crate::collections::hash::{Seed, SeededMap};
use crate::collections::interner::Interner;
use crate::model::placeholder::FORGOTTEN_THREAD;
use lock_user::{LockUsers, User, purpose};

/// A class in [`Entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassIndex(pub(crate) u32);

/// A method in [`Entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodIndex(pub(crate) u32);

/// A call chain in [`Entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainIndex(pub(crate) u32);

/// A thread in [`Entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIndex(pub(crate) u32);

/// A lock object in [`Entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockIndex(pub(crate) u32);

impl NumberKey for ThreadIndex {
    #[inline]
    fn number(self) -> u64 {
        self.0.into()
    }
}

impl NumberKey for LockIndex {
    #[inline]
    fn number(self) -> u64 {
        self.0.into()
    }
}

impl ChainIndex {
    /// [`Chain::NotRecorded`].
    pub const NOT_RECORDED: Self = Self(0);
    /// [`Chain::Unresolved`].
    pub const UNRESOLVED: Self = Self(1);
    /// [`Chain::NotReleased`].
    pub const NOT_RELEASED: Self = Self(2);
    /// [`Chain::NotKept`].
    pub const NOT_KEPT: Self = Self(3);

    /// Set in those that stand for a chain that is still to come: none of [`Entities`].
    const PENDING: u32 = 1 << 31;

    /// Stands for the chain of a forward reference until that comes.
    pub(crate) fn pending(slot: u64) -> Self {
        Self(slot as u32 | Self::PENDING)
    }

    /// A chain that is still to come.
    #[inline]
    pub(crate) fn is_pending(self) -> bool {
        self.0 & Self::PENDING != 0
    }

    /// Returns how far the slot of a pending chain is after another one: at most half of the
    /// range of numbers.
    pub(crate) fn distance_from(self, first: u64) -> usize {
        (self.0.wrapping_sub(first as u32) & !Self::PENDING) as usize
    }
}

impl ThreadIndex {
    /// Stands for all threads that were forgotten. The greatest number stands for none.
    pub(crate) const FORGOTTEN: Self = Self(u32::MAX - 1);
}

impl LockIndex {
    /// Stands for all locks that were forgotten.
    pub(crate) const FORGOTTEN: Self = Self(u32::MAX - 1);
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// The class that declares it; `None` where the trace does not describe the
    /// method.
    pub class: Option<ClassIndex>,
    /// Its name; `<method #17 not described>` where the trace lacks it.
    pub name: Box<str>,
    /// Its descriptor, as in the class file; empty where not known.
    pub signature: Box<str>,
}

/// One frame of a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The method executed.
    pub method: MethodIndex,
    /// Byte code index, -1 if unknown.
    pub bci: i32,
    /// Source line, -1 where not known.
    pub line: i32,
}

/// A call chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Chain {
    /// The tracer could not record it.
    NotRecorded,
    /// A forward reference names it that the trace never resolves: the thread
    /// was still inside the method that acquired the lock when tracing ended,
    /// or the event was lost.
    Unresolved,
    /// A lock was still held when the trace ended, and the code that holds it is
    /// known from its release.
    NotReleased,
    /// There was no memory left for more chains.
    NotKept,
    /// The trace does not describe the chain of this number.
    NotDescribed(trace_format::ChainId),
    /// The chain is known.
    Known {
        /// The frames, innermost first, at least one.
        frames: Box<[Frame]>,
        /// Frames are missing at the outer end.
        truncated: bool,
    },
}

impl Chain {
    /// Returns the frames, innermost first; none where the chain is not known.
    pub fn frames(&self) -> &[Frame] {
        match self {
            Chain::Known { frames, .. } => frames,
            _ => &[],
        }
    }

    /// About how much memory it takes in [`Entities`], in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(self.frames()) + INTERNED_BYTES + size_of::<Self>()
    }

    /// Returns whether frames are missing at the outer end: the stack was
    /// deeper than the tracer's limit.
    pub fn is_truncated(&self) -> bool {
        matches!(
            self,
            Chain::Known {
                truncated: true,
                ..
            }
        )
    }
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// `Thread.getId()`; 0 for threads of the JVM itself and where not known.
    pub java_id: trace_format::JavaThreadId,
    /// Its last name; `<thread #17 not described>` where the trace lacks it.
    pub name: Box<str>,
    /// Distinguishes threads of one trace that have the same number and name.
    pub ordinal: u32,
}

/// A lock object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lock {
    /// The object of this class with this identity hash code. Both stay the
    /// same when the object's monitor is deflated and inflated again.
    Object {
        /// Class of the object.
        class: ClassIndex,
        /// Where the object is a `java.lang.Class`: the class that it stands for. Where
        /// the JVM locks it to link or initialize a class: that class.
        mirrored_class: Option<ClassIndex>,
        /// Identity hash code of the object.
        identity_hash: u32,
    },
    /// The trace lacks the description of this lock.
    NotDescribed {
        /// Position of the trace among those analyzed.
        trace: u32,
        /// The lock's number in that trace.
        lock: trace_format::LockId,
    },
    /// What threads wait for that park without a blocker.
    NoBlocker,
    /// There was no memory left for all locks, and nothing has referred to this one for long.
    Forgotten,
}

/// The overhead of an entity, in bytes: its hash and its place in the index, with spare capacity
/// for growth.
const INTERNED_BYTES: usize = 32;

/// Names and signatures of usual length, in bytes.
const TEXT_BYTES: usize = 64;

/// Memory of a lock, in bytes.
const LOCK_BYTES: usize = size_of::<Lock>() + INTERNED_BYTES;

/// Memory of what is known of where a lock was allocated, in bytes.
const LOCK_SITE_BYTES: usize = size_of::<(LockIndex, ChainIndex)>() + INTERNED_BYTES;

/// Memory of what is known of who uses a lock, in bytes.
const LOCK_USER_BYTES: usize = size_of::<(LockIndex, User<ClassIndex>)>() + INTERNED_BYTES;

/// Memory of a thread, in bytes; what the numbers of a trace stand for included.
const THREAD_BYTES: usize = size_of::<Thread>() + TEXT_BYTES + 4 * INTERNED_BYTES;

/// What is known of a class but its name.
#[derive(Clone, Debug)]
struct Class {
    source_file: Box<str>,
    /// Its methods are how a synchronizer parks, not why.
    parks: bool,
    is_jdk: bool,
    /// What its objects are, if they are called after their users.
    purpose: Option<&'static str>,
    /// Hash of the name of the top-level class around it.
    top_level: u64,
}

impl Class {
    fn new(name: &str, is_jdk: bool) -> Self {
        let top_level = name.split('$').next().unwrap_or(name);
        Self {
            source_file: Box::default(),
            is_jdk,
            parks: matches!(name, "sun.misc.Unsafe" | "jdk.internal.misc.VirtualThreads")
                || name.starts_with("java.util.concurrent.locks."),
            purpose: purpose(name),
            top_level: xxh3_64(top_level.as_bytes()),
        }
    }
}

/// A set whose members keep the index of their insertion.
type Interned<T> = IndexSet<T, Seed>;

/// All entities of the traces analyzed. Grows with the number of distinct
/// entities, not with the number of events.
#[derive(Clone, Debug)]
pub struct Entities {
    /// By name. Classes of one name are one entity, whichever loader defined them.
    classes: IndexMap<Box<str>, Class, Seed>,
    methods: Interned<Method>,
    chains: Interned<Chain>,
    threads: Interner<Thread>,
    /// What is said of threads that were forgotten.
    forgotten_thread: Thread,
    /// Threads of a trace that turned out to be called as those of traces before.
    same_threads: SeededMap<ThreadIndex, ThreadIndex>,
    locks: Interner<Lock>,
    /// Which chains have allocated locks, as far as it is known.
    lock_sites: SeededMap<LockIndex, ChainIndex>,
    lock_users: LockUsers<LockIndex, ClassIndex>,
}

impl Default for Entities {
    fn default() -> Self {
        Self::new()
    }
}

impl Entities {
    /// Creates a collection of no entities but the four chains that every trace can refer to.
    pub fn new() -> Self {
        let chains = [
            Chain::NotRecorded,
            Chain::Unresolved,
            Chain::NotReleased,
            Chain::NotKept,
        ];
        Self {
            classes: IndexMap::default(),
            methods: Interned::default(),
            chains: chains.into_iter().collect(),
            threads: Interner::default(),
            forgotten_thread: Thread {
                java_id: trace_format::JavaThreadId::NONE,
                name: FORGOTTEN_THREAD.into(),
                ordinal: 0,
            },
            same_threads: SeededMap::default(),
            locks: Interner::default(),
            lock_sites: SeededMap::default(),
            lock_users: LockUsers::default(),
        }
    }

    /// Returns the binary name with dots of the class at `index`; `<class #17
    /// not described>` where the trace lacks it.
    pub fn class_name(&self, index: ClassIndex) -> &str {
        self.class(index).0
    }

    /// Returns the source file of the class at `index`; empty where not known.
    pub fn source_file(&self, index: ClassIndex) -> &str {
        &self.class(index).1.source_file
    }

    fn class(&self, index: ClassIndex) -> (&str, &Class) {
        let class = self.classes.get_index(index.0 as usize);
        let (name, class) = class.expect("interned here");
        (name, class)
    }

    /// Returns where the program stands in `chain` when it waits for a lock of
    /// the class `lock_class`, or releases it: the position of the innermost
    /// frame that is not the lock's own. That is the caller of `Object.wait` or
    /// `Object.notify`, if the thread is there, else the innermost frame of all for
    /// intrinsic locks, and if there is no other. The public method of a lock can
    /// wait by way of other classes, as `CompletableFuture.get` does by
    /// `ForkJoinPool.managedBlock`: the search begins outside of it. `None` if the
    /// chain is not known, or was cut off before that frame.
    pub fn code(&self, chain: ChainIndex, lock_class: Option<ClassIndex>) -> Option<usize> {
        let chain = self.chain(chain);
        let frames = chain.frames();
        let innermost = frames.first()?;
        let otherwise = (!chain.is_truncated()).then_some(0);
        // An intrinsic lock has no frames of its own, and one that guards a
        // synchronizer's state shows where the synchronizer is used.
        let (true, Some(synchronizer)) = (self.parks(innermost), lock_class) else {
            let position = frames
                .iter()
                .position(|frame| !self.parks(frame) && !self.waits_or_notifies(frame));
            return position.or(otherwise);
        };
        let class_of = |frame: &Frame| self.method(frame.method).class;
        let top_level = |class| self.class(class).1.top_level;
        let first = self.after_release(frames);
        let first = first.max(self.after_own(frames, |frame| {
            class_of(frame).is_some_and(|class| top_level(class) == top_level(synchronizer))
        }));
        let find = |is_wanted: &dyn Fn(&Frame) -> bool| {
            let mut frames = frames[first..].iter();
            let position = frames.position(|frame| !self.parks(frame) && is_wanted(frame));
            position.map(|position| first + position)
        };
        let outside = find(&|frame| {
            class_of(frame).is_none_or(|class| top_level(class) != top_level(synchronizer))
        });
        // A program's own synchronizer can be nested in the class that uses it. One that parks by
        // itself has no wrapper around it, as a `Sync` of `java.util.concurrent` has.
        let is_code = |&position: &usize| {
            if !frames[..position]
                .iter()
                .any(|frame| self.is_concurrent(frame))
            {
                return false;
            }
            let class = class_of(&frames[position]);
            class.is_none_or(|class| self.class_name(class) != "java.lang.Thread")
        };
        let apart = || find(&|frame| class_of(frame) != Some(synchronizer));
        outside.filter(is_code).or_else(apart).or(otherwise)
    }

    /// Returns the frames from [the code](Self::code) on outwards: none if that is not known.
    pub fn frames_from_code(&self, chain: ChainIndex, lock_class: Option<ClassIndex>) -> &[Frame] {
        let frames = self.chain(chain).frames();
        let position = self.code(chain, lock_class);
        position
            .and_then(|position| frames.get(position..))
            .unwrap_or_default()
    }

    /// Returns the innermost frame that is not the JDK's, or the innermost one if all are.
    pub fn frame_outside_of_jdk(&self, chain: ChainIndex) -> Option<&Frame> {
        let frames = self.chain(chain).frames();
        let class = |frame: &Frame| self.method(frame.method).class;
        let is_jdk = |frame: &Frame| class(frame).is_some_and(|class| self.is_jdk(class));
        let own = frames.iter().find(|&frame| !is_jdk(frame));
        own.or(frames.first())
    }

    /// Returns the position after the outermost of the lock's own frames among the innermost frames
    /// of `java.util.concurrent`, 0 if none of these is its own.
    fn after_own(&self, frames: &[Frame], is_own: impl Fn(&Frame) -> bool) -> usize {
        let is_inner = |frame: &&Frame| self.parks(frame) || self.is_concurrent(frame);
        let inner = frames.iter().take_while(is_inner).count();
        let own = frames[..inner].iter().rposition(is_own);
        own.map_or(0, |position| position + 1)
    }

    /// The frame is of `java.util.concurrent`, and not only of `LockSupport`.
    fn is_concurrent(&self, frame: &Frame) -> bool {
        let class = self.method(frame.method).class;
        let class = class.map_or("", |class| self.class_name(class));
        class.starts_with("java.util.concurrent.") && !self.parks(frame)
    }

    /// Returns the position after the methods by which a synchronizer reports its release, 0
    /// elsewhere. The synchronizer's own methods are between frames of `java.util.concurrent`:
    /// `release` calls `tryRelease`.
    fn after_release(&self, frames: &[Frame]) -> usize {
        let is = |frame: &Frame, class: &str, method: Option<&str>| {
            let found = self.method(frame.method);
            let name = found.class.map_or("", |class| self.class_name(class));
            let name = name.strip_prefix("java.util.concurrent.locks.Abstract");
            name.is_some_and(|name| name.strip_suffix("Synchronizer") == Some(class))
                && method.is_none_or(|method| *found.name == *method)
        };
        if !frames
            .first()
            .is_some_and(|frame| is(frame, "Ownable", None))
        {
            return 0;
        }
        let releases = |frame: &Frame| {
            is(frame, "Queued", Some("release")) || is(frame, "QueuedLong", Some("release"))
        };
        let position = frames.iter().position(releases);
        position.map_or(0, |position| position + 1)
    }

    /// Returns whether a thread with this chain waits in `Object.wait`, or returns from it.
    pub fn is_in_object_wait(&self, chain: ChainIndex) -> bool {
        let innermost = self.chain(chain).frames().first();
        innermost.is_some_and(|frame| self.is_object_wait(frame))
    }

    /// The class is the JDK's.
    pub fn is_jdk(&self, class: ClassIndex) -> bool {
        self.class(class).1.is_jdk
    }

    pub(crate) fn is_object_wait(&self, frame: &Frame) -> bool {
        self.is_object_method(frame, |name| name == "wait")
    }

    /// The frame is of `Object.wait`, `Object.notify` or `Object.notifyAll`.
    fn waits_or_notifies(&self, frame: &Frame) -> bool {
        self.is_object_method(frame, |name| {
            matches!(name, "wait" | "notify" | "notifyAll")
        })
    }

    fn is_object_method(&self, frame: &Frame, is_named: impl Fn(&str) -> bool) -> bool {
        let method = self.method(frame.method);
        let is_object = |class| self.class_name(class) == "java.lang.Object";
        is_named(&method.name) && method.class.is_some_and(is_object)
    }

    fn parks(&self, frame: &Frame) -> bool {
        let class = self.method(frame.method).class;
        class.is_some_and(|class| self.class(class).1.parks)
    }

    /// The method is not of the JDK: a traced JVM adds it to the class.
    pub(crate) fn is_tracer(&self, method: MethodIndex) -> bool {
        let method = self.method(method);
        let class = method.class.map_or("", |class| self.class_name(class));
        let own = match class.strip_prefix("java.util.concurrent.locks.") {
            Some("AbstractOwnableSynchronizer") => "traceOwner",
            Some("StampedLock") => "traceWriter",
            _ => return false,
        };
        *method.name == *own
    }

    /// Returns the method at `index`.
    pub fn method(&self, index: MethodIndex) -> &Method {
        &self.methods[index.0 as usize]
    }

    /// Returns the call chain at `index`.
    pub fn chain(&self, index: ChainIndex) -> &Chain {
        &self.chains[index.0 as usize]
    }

    /// Returns the thread at `index`.
    pub fn thread(&self, index: ThreadIndex) -> &Thread {
        let thread = self.threads.get(index.0);
        thread.unwrap_or(&self.forgotten_thread)
    }

    /// Returns the lock object at `index`.
    pub fn lock(&self, index: LockIndex) -> Lock {
        let lock = self.locks.get(index.0);
        lock.copied().unwrap_or(Lock::Forgotten)
    }

    /// The methods of all call chains.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter()
    }

    /// Returns the class whose initialization the lock at `index` guards, if it
    /// is such a lock. The JVM's own: an `int[]` that no program sees, but of
    /// which the trace says what it stands for.
    pub fn initialized_class(&self, index: LockIndex) -> Option<ClassIndex> {
        match self.lock(index) {
            Lock::Object {
                class,
                mirrored_class: Some(mirrored),
                ..
            } if self.class_name(class) != "java.lang.Class" => Some(mirrored),
            _ => None,
        }
    }

    /// Returns the class of the lock object at `index`, unless the trace lacks
    /// its description.
    pub fn lock_class(&self, index: LockIndex) -> Option<ClassIndex> {
        match self.lock(index) {
            Lock::Object { class, .. } => Some(class),
            Lock::NotDescribed { .. } | Lock::NoBlocker | Lock::Forgotten => None,
        }
    }

    /// Returns the call chain that allocated the lock object at `index`, if it was recorded.
    pub fn lock_site(&self, index: LockIndex) -> Option<ChainIndex> {
        let site = self.lock_sites.get(&index).copied();
        site.filter(|&site| site != ChainIndex::NOT_RECORDED)
    }

    /// Returns whether locks of the class at `index` are called after their users, where these are known.
    pub(crate) fn has_user(&self, index: ClassIndex) -> bool {
        self.class(index).1.purpose.is_some()
    }

    /// Returns what locks of the class at `index` are, and the class whose code alone uses the lock at `lock`, or,
    /// without one, all locks of the class that threads waited for: as far as it is known. Nothing of classes whose
    /// locks are called after themselves.
    pub(crate) fn user(
        &self,
        index: ClassIndex,
        lock: Option<LockIndex>,
    ) -> Option<(&'static str, ClassIndex)> {
        let purpose = self.class(index).1.purpose?;
        let user = match lock {
            Some(lock) => self.lock_users.of_lock(lock),
            None => self.lock_users.of_class(index),
        };
        match user {
            Some(User::Only(user)) => Some((purpose, user)),
            Some(User::Several) | None => None,
        }
    }

    /// Returns the class whose code constructed the lock at `index`, if its site is known: of the innermost
    /// frame that is not the lock's own.
    pub(crate) fn constructing_class(&self, index: LockIndex) -> Option<ClassIndex> {
        let chain = self.lock_site(index)?;
        let lock_class = self.lock_class(index)?;
        let top_level = |class| self.class(class).1.top_level;
        let mut classes = self.chain(chain).frames().iter();
        classes.find_map(|frame| {
            let class = self.method(frame.method).class;
            class.filter(|&class| !self.parks(frame) && top_level(class) != top_level(lock_class))
        })
    }

    /// Returns how many lock objects were found; one that was forgotten counts again.
    pub fn lock_count(&self) -> usize {
        self.locks.inserted()
    }

    /// Returns how many threads were found; one that was forgotten counts again.
    pub fn thread_count(&self) -> usize {
        self.threads.inserted()
    }

    /// Returns how many lock objects were forgotten for want of memory.
    pub(crate) fn locks_forgotten(&self) -> usize {
        self.locks.inserted() - self.locks.len()
    }

    /// Returns how many threads were forgotten for want of memory.
    pub(crate) fn threads_forgotten(&self) -> usize {
        self.threads.inserted() - self.threads.len()
    }

    /// About how much memory locks, threads, methods and classes take, in bytes: all
    /// that grows but call chains.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of = |count: usize, size: usize| count * (size + INTERNED_BYTES);
        self.lock_bytes()
            + self.thread_bytes()
            + of(self.methods.len(), size_of::<Method>() + TEXT_BYTES)
            + of(self.classes.len(), size_of::<Class>() + TEXT_BYTES)
    }

    /// About how much memory locks take, in bytes.
    pub(crate) fn lock_bytes(&self) -> usize {
        self.locks.len() * LOCK_BYTES
            + self.lock_sites.len() * LOCK_SITE_BYTES
            + self.lock_users.len() * LOCK_USER_BYTES
    }

    /// About how much memory threads take, in bytes.
    pub(crate) fn thread_bytes(&self) -> usize {
        self.threads.len() * THREAD_BYTES
    }

    /// Forgets the locks that were found first, until the locks take no more than `bytes`
    /// or `is_used` is true of all others.
    pub(crate) fn forget_locks(&mut self, bytes: usize, is_used: impl Fn(LockIndex) -> bool) {
        let is_used = |number, lock: &_| *lock == Lock::NoBlocker || is_used(LockIndex(number));
        self.locks.forget(bytes / LOCK_BYTES, is_used);
        self.lock_sites
            .retain(|lock, _| self.locks.get(lock.0).is_some());
        self.lock_users
            .retain(|lock| self.locks.get(lock.0).is_some());
    }

    /// Forgets the threads that were found first, until the threads take no more than `bytes`
    /// or `is_used` is true of all others.
    pub(crate) fn forget_threads(&mut self, bytes: usize, is_used: impl Fn(ThreadIndex) -> bool) {
        let is_used = |number, _: &_| is_used(ThreadIndex(number));
        self.threads.forget(bytes / THREAD_BYTES, is_used);
        let is_kept = |thread: &ThreadIndex| self.threads.get(thread.0).is_some();
        self.same_threads
            .retain(|thread, same| is_kept(thread) && is_kept(same));
    }

    /// The thread was not forgotten.
    pub(crate) fn has_thread(&self, thread: ThreadIndex) -> bool {
        self.threads.get(thread.0).is_some()
    }

    // Indices fit 32 bits: more entities would not fit into memory.

    /// The class, if nothing new is said about it.
    pub(crate) fn find_class(&self, name: &str, source_file: &str) -> Option<ClassIndex> {
        let (index, _, class) = self.classes.get_full(name)?;
        let is_news = class.source_file.is_empty() && !source_file.is_empty();
        (!is_news).then_some(ClassIndex(index as u32))
    }

    pub(crate) fn find_method(&self, method: &Method) -> Option<MethodIndex> {
        let index = self.methods.get_index_of(method)?;
        Some(MethodIndex(index as u32))
    }

    pub(crate) fn find_chain(&self, chain: &Chain) -> Option<ChainIndex> {
        let index = self.chains.get_index_of(chain)?;
        Some(ChainIndex(index as u32))
    }

    pub(crate) fn find_thread(&self, thread: &Thread) -> Option<ThreadIndex> {
        self.threads.find(thread).map(ThreadIndex)
    }

    pub(crate) fn find_lock(&self, lock: &Lock) -> Option<LockIndex> {
        self.locks.find(lock).map(LockIndex)
    }

    pub(crate) fn add_class(
        &mut self,
        name: Box<str>,
        source_file: &str,
        is_jdk: bool,
    ) -> ClassIndex {
        let entry = self.classes.entry(name);
        let index = entry.index() as u32;
        let class = Class::new(entry.key(), is_jdk);
        let known = &mut entry.or_insert(class).source_file;
        if known.is_empty() {
            *known = source_file.into();
        }
        ClassIndex(index)
    }

    pub(crate) fn add_method(&mut self, method: Method) -> MethodIndex {
        MethodIndex(self.methods.insert_full(method).0 as u32)
    }

    pub(crate) fn add_chain(&mut self, chain: Chain) -> ChainIndex {
        ChainIndex(self.chains.insert_full(chain).0 as u32)
    }

    pub(crate) fn add_thread(&mut self, thread: Thread) -> ThreadIndex {
        ThreadIndex(self.threads.insert(thread))
    }

    /// A thread is called otherwise than was known.
    pub(crate) fn rename_thread(&mut self, index: ThreadIndex, name: &str, of_trace: u32) {
        let mut renamed = self.thread(index).clone();
        renamed.name = name.into();
        if let Err(same) = self.threads.replace(index.0, renamed.clone()) {
            // An ordinal that no other thread has.
            renamed.ordinal = u32::MAX - index.0;
            let replaced = self.threads.replace(index.0, renamed);
            debug_assert!(replaced.is_ok(), "it is the only one");
            if same < of_trace {
                self.same_threads.insert(index, ThreadIndex(same));
            }
        }
    }

    /// Returns the thread that stands for `thread` and those of other traces that have its
    /// number and name, or were forgotten as well.
    pub(crate) fn canonical_thread(&self, thread: ThreadIndex) -> ThreadIndex {
        if !self.has_thread(thread) {
            return ThreadIndex::FORGOTTEN;
        }
        self.same_threads.get(&thread).copied().unwrap_or(thread)
    }

    /// Returns the lock that stands for `lock`, and for all that were forgotten as well.
    pub(crate) fn canonical_lock(&self, lock: LockIndex) -> LockIndex {
        match self.locks.get(lock.0) {
            Some(_) => lock,
            None => LockIndex::FORGOTTEN,
        }
    }

    /// Some threads or locks have another one that stands for them.
    pub(crate) fn has_canonical(&self) -> bool {
        !self.same_threads.is_empty() || self.locks_forgotten() + self.threads_forgotten() > 0
    }

    pub(crate) fn add_lock(&mut self, lock: Lock) -> LockIndex {
        LockIndex(self.locks.insert(lock))
    }

    /// What is known of a lock's site once this is known, too: nothing if two chains have
    /// allocated locks that are called the same.
    pub(crate) fn joint_site(&self, lock: LockIndex, chain: ChainIndex) -> ChainIndex {
        match self.lock_sites.get(&lock) {
            Some(&known) if known != chain => ChainIndex::NOT_RECORDED,
            _ => chain,
        }
    }

    pub(crate) fn lock_users(&self) -> &LockUsers<LockIndex, ClassIndex> {
        &self.lock_users
    }

    pub(crate) fn lock_users_mut(&mut self) -> &mut LockUsers<LockIndex, ClassIndex> {
        &mut self.lock_users
    }

    pub(crate) fn set_lock_site(&mut self, lock: LockIndex, chain: ChainIndex) {
        self.lock_sites.insert(lock, chain);
    }

    /// Exactly this is known of the lock's site.
    pub(crate) fn has_lock_site(&self, lock: LockIndex, chain: ChainIndex) -> bool {
        self.lock_sites.get(&lock) == Some(&chain)
    }
}
