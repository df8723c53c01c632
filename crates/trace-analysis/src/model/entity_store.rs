//! Entities that other threads may look at while more of them are found.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::collections::hash::SeededSet;
use crate::model::entity::lock_user::{User, class_around};
use crate::model::entity::{
    Chain, ChainIndex, ClassIndex, Entities, Lock, LockIndex, Method, MethodIndex, Thread,
    ThreadIndex,
};

/// All entities found so far.
///
/// They can be [lent](Self::lend) to other threads. What is new then waits until these have
/// given them back: after the first moments of a trace hardly anything is new, so that nobody
/// has to wait and nothing is copied.
#[derive(Debug)]
pub(crate) struct EntityStore {
    entities: Arc<Entities>,
    /// Memory of call chains, in bytes, and the most that they may take.
    chain_bytes: usize,
    max_chain_bytes: usize,
    /// How many call chains were not kept for lack of memory.
    chains_not_kept: u64,
    /// Memory that threads, locks, classes and methods may take, in bytes.
    max_name_bytes: usize,
    /// The locks that something has referred to since locks were forgotten last; `None` if none
    /// ever are.
    used_locks: Option<SeededSet<LockIndex>>,
    /// How often they are lent.
    lent: Cell<usize>,
    /// Says that they were given back.
    returned: Receiver<()>,
    receipt: Sender<()>,
}

/// What cannot be forgotten.
#[derive(Debug, Default)]
pub(crate) struct InUse {
    pub(crate) locks: SeededSet<LockIndex>,
    pub(crate) threads: SeededSet<ThreadIndex>,
}

/// Entities that are given back when this is dropped.
pub(crate) struct Loan {
    // Dropped in this order.
    entities: Arc<Entities>,
    _receipt: Receipt,
}

/// Says that entities were given back.
struct Receipt(Sender<()>);

impl Drop for Receipt {
    fn drop(&mut self) {
        // Without the store, nobody waits for it.
        let _ = self.0.send(());
    }
}

impl Deref for Loan {
    type Target = Entities;

    fn deref(&self) -> &Entities {
        &self.entities
    }
}

impl Default for EntityStore {
    fn default() -> Self {
        let (receipt, returned) = channel();
        Self {
            entities: Arc::default(),
            chain_bytes: 0,
            max_chain_bytes: usize::MAX,
            chains_not_kept: 0,
            max_name_bytes: usize::MAX,
            used_locks: None,
            lent: Cell::new(0),
            returned,
            receipt,
        }
    }
}

impl Deref for EntityStore {
    type Target = Entities;

    fn deref(&self) -> &Entities {
        &self.entities
    }
}

impl EntityStore {
    /// The entities as they are now.
    pub(crate) fn lend(&self) -> Loan {
        let given_back = self.returned.try_iter().count();
        self.lent.set(self.lent.get() - given_back + 1);
        Loan {
            entities: Arc::clone(&self.entities),
            _receipt: Receipt(self.receipt.clone()),
        }
    }

    /// Waits until nobody looks at them.
    fn edit(&mut self) -> &mut Entities {
        while self.lent.get() > 0 && self.returned.recv().is_ok() {
            self.lent.set(self.lent.get() - 1);
        }
        Arc::make_mut(&mut self.entities)
    }

    /// The entities, when all others have given them back.
    pub(crate) fn into_entities(self) -> Entities {
        Arc::unwrap_or_clone(self.entities)
    }

    /// What is known already, or what `add` adds.
    fn find_or_add<I>(&mut self, known: Option<I>, add: impl FnOnce(&mut Entities) -> I) -> I {
        known.unwrap_or_else(|| add(self.edit()))
    }

    pub(crate) fn add_class(
        &mut self,
        name: Box<str>,
        source_file: &str,
        is_jdk: bool,
    ) -> ClassIndex {
        let known = self.find_class(&name, source_file);
        self.find_or_add(known, |all| all.add_class(name, source_file, is_jdk))
    }

    pub(crate) fn add_method(&mut self, method: Method) -> MethodIndex {
        self.find_or_add(self.find_method(&method), |all| all.add_method(method))
    }

    /// Keeps new call chains only as long as all together take no more than that.
    pub(crate) fn set_max_chain_bytes(&mut self, bytes: usize) {
        self.max_chain_bytes = bytes;
    }

    /// How many call chains were not kept for lack of memory.
    pub(crate) fn chains_not_kept(&self) -> u64 {
        self.chains_not_kept
    }

    pub(crate) fn add_chain(&mut self, chain: Chain) -> ChainIndex {
        if let Some(known) = self.find_chain(&chain) {
            return known;
        }
        let bytes = self.chain_bytes.saturating_add(chain.memory_bytes());
        if bytes > self.max_chain_bytes {
            self.chains_not_kept += 1;
            return ChainIndex::NOT_KEPT;
        }
        self.chain_bytes = bytes;
        self.edit().add_chain(chain)
    }

    pub(crate) fn add_thread(&mut self, thread: Thread) -> ThreadIndex {
        self.find_or_add(self.find_thread(&thread), |all| all.add_thread(thread))
    }

    pub(crate) fn add_lock(&mut self, lock: Lock) -> LockIndex {
        let index = self.find_or_add(self.find_lock(&lock), |all| all.add_lock(lock));
        if let Some(used) = &mut self.used_locks {
            used.insert(index);
        }
        index
    }

    /// The chain has allocated the lock. Before that changes what is known, `settle` is called.
    pub(crate) fn add_lock_site(
        &mut self,
        lock: LockIndex,
        chain: ChainIndex,
        settle: impl FnOnce(&Self),
    ) {
        let site = self.joint_site(lock, chain);
        if !self.has_lock_site(lock, site) {
            settle(self);
            self.edit().set_lock_site(lock, site);
        }
    }

    /// Code of the class `user` uses the lock, or code of a class that is not known.
    pub(crate) fn add_lock_user(&mut self, lock: LockIndex, user: Option<ClassIndex>) {
        let Some(class) = self.lock_class(lock) else {
            return;
        };
        let users = self.lock_users();
        let (known, of_class) = (users.of_lock(lock), users.of_class(class));
        let of_lock = match (known, user) {
            (Some(_), None) => known,
            (_, None) => None,
            (_, Some(user)) => Some(self.joint_user(known, User::Only(user))),
        };
        if known.is_some() && known == of_lock {
            return;
        }
        // A lock of unknown use can be used by others.
        let of_class = self.joint_user(of_class, of_lock.unwrap_or(User::Several));
        let users = self.edit().lock_users_mut();
        users.set_of_class(class, of_class);
        if let Some(of_lock) = of_lock {
            users.set_of_lock(lock, of_lock);
        }
    }

    fn joint_user(
        &mut self,
        known: Option<User<ClassIndex>>,
        user: User<ClassIndex>,
    ) -> User<ClassIndex> {
        let (one, other) = match (known, user) {
            (None, user) => return user,
            (Some(known), user) if known == user => return user,
            (Some(User::Only(one)), User::Only(other)) => (one, other),
            _ => return User::Several,
        };
        match class_around(self.class_name(one), self.class_name(other)) {
            Some(around) => User::Only(self.add_class(around.into(), "", self.is_jdk(one))),
            None => User::Several,
        }
    }

    /// Forgets locks and threads now and then, so that they take no more memory than that
    /// together with classes and methods.
    pub(crate) fn set_max_name_bytes(&mut self, bytes: usize) {
        self.max_name_bytes = bytes;
        self.used_locks = Some(SeededSet::default());
    }

    /// Threads, locks, classes and methods take more memory than they may.
    pub(crate) fn are_names_too_many(&self) -> bool {
        self.memory_bytes() > self.max_name_bytes
    }

    /// Forgets threads, and locks that nothing has referred to since the last time, but none that
    /// are `in_use`: about half of them, if that goes.
    pub(crate) fn forget(&mut self, in_use: &InUse) {
        let (lock_bytes, thread_bytes) = (self.lock_bytes(), self.thread_bytes());
        let code_bytes = self.memory_bytes() - lock_bytes - thread_bytes;
        let half = self.max_name_bytes.saturating_sub(code_bytes) / 2;
        // Each in proportion: both terms are bytes of memory that there is.
        let of_half = |bytes: usize| {
            let share = half as u128 * bytes as u128 / (lock_bytes + thread_bytes).max(1) as u128;
            share as usize
        };
        let used = self
            .used_locks
            .replace(SeededSet::default())
            .unwrap_or_default();
        let entities = self.edit();
        entities.forget_locks(of_half(lock_bytes), |lock| {
            used.contains(&lock) || in_use.locks.contains(&lock)
        });
        entities.forget_threads(of_half(thread_bytes), |thread| {
            in_use.threads.contains(&thread)
        });
    }

    /// A thread is called otherwise than was known.
    pub(crate) fn rename_thread(&mut self, index: ThreadIndex, name: &str, of_trace: u32) {
        if *self.thread(index).name != *name {
            self.edit().rename_thread(index, name, of_trace);
        }
    }
}
