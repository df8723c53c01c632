//! Pools: a thread waits until another one gives something back for which it may have waited itself.
//!
//! What a pool lends is replayed like the permits of a semaphore.

use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{ChainIndex, Entities, LockIndex, MethodIndex, ThreadIndex};
use crate::model::wait::Wait;

/// How a thread got what it waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lending {
    pub(super) condition: LockIndex,
    /// Where it waited.
    pub(super) chain: ChainIndex,
    /// Who ended the wait, where, and when.
    pub(super) giver: ThreadIndex,
    pub(super) given_in: ChainIndex,
    pub(super) given_ns: u64,
}

impl Lending {
    /// `None` if no thread has ended the wait.
    pub(super) fn new(wait: &Wait) -> Option<Self> {
        let mut parts = wait.contentions.iter().rev();
        let (part, (giver, given_in)) =
            parts.find_map(|part| Some((part, part.owner.thread()?)))?;
        wait.ended().then_some(Self {
            condition: wait.lock,
            chain: wait.chain,
            giver,
            given_in,
            given_ns: part.start_ns.saturating_add(part.duration_ns),
        })
    }

    /// Whether the program gave it back, and no collection of the JDK: who adds to a queue gives nothing back.
    pub(super) fn is_of_program(&self, entities: &Entities) -> bool {
        let Some(class) = entities.lock_class(self.condition) else {
            return false;
        };
        let code = self.code(self.given_in, entities);
        let code = code.and_then(|method| entities.method(method).class);
        is_condition(entities.class_name(class)) && code.is_some_and(|code| !entities.is_jdk(code))
    }

    /// The method that uses the pool.
    fn code(&self, chain: ChainIndex, entities: &Entities) -> Option<MethodIndex> {
        let frames = entities.frames_from_code(chain, entities.lock_class(self.condition));
        frames.first().map(|frame| frame.method)
    }
}

/// The code that waits for what pools lend.
pub(super) struct Borrowing(SeededSet<(LockIndex, Option<MethodIndex>)>);

impl Borrowing {
    pub(super) fn new(lendings: impl Iterator<Item = Lending>, entities: &Entities) -> Self {
        Self(
            lendings
                .map(|it| (it.condition, it.code(it.chain, entities)))
                .collect(),
        )
    }

    /// Whether the thread that ended the wait gave something back. One that borrows itself only lets go of the lock for which
    /// the other one waited last.
    pub(super) fn is_return(&self, lending: &Lending, entities: &Entities) -> bool {
        let code = lending.code(lending.given_in, entities);
        !self.0.contains(&(lending.condition, code))
    }
}

/// Whether a lock of the class stands for a condition.
pub(super) fn is_condition(class: &str) -> bool {
    class.ends_with("$ConditionObject")
}

/// The threads that use a condition.
#[derive(Default)]
struct Users {
    waited: SeededSet<ThreadIndex>,
    gave: SeededSet<ThreadIndex>,
    /// Those that have waited and given nothing back since, and how many these were at most.
    have: SeededSet<ThreadIndex>,
    most: usize,
}

impl Users {
    fn add(&mut self, waited: ThreadIndex, giver: ThreadIndex) {
        self.waited.insert(waited);
        self.gave.insert(giver);
        self.have.remove(&giver);
        self.have.insert(waited);
        self.most = self.most.max(self.have.len());
    }

    /// Whether threads that wait also end the waits of others. If one at a time does, they may as well take turns.
    fn share_a_pool(&self) -> bool {
        let both = self.waited.intersection(&self.gave).count();
        self.most > 1 && 2 * both >= self.waited.len()
    }
}

/// The conditions of pools. `lendings` has the thread that waited, and when its wait ended.
pub(super) fn pools(
    lendings: impl Iterator<Item = (ThreadIndex, u64, Lending)>,
) -> SeededSet<LockIndex> {
    let mut lendings: Vec<_> = lendings.collect();
    lendings.sort_unstable_by_key(|&(thread, end_ns, _)| (end_ns, thread));
    let mut users = SeededMap::<LockIndex, Users>::default();
    for (thread, _, lending) in lendings {
        let users = users.entry(lending.condition).or_default();
        users.add(thread, lending.giver);
    }
    let pools = users.into_iter().filter(|(_, users)| users.share_a_pool());
    pools.map(|(condition, _)| condition).collect()
}
