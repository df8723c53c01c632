//! The monitors that threads contend for, or have contended for lately.
//!
//! The JVM's own monitors are out of reach, so an object is looked up by its identity hash and
//! compared with the objects of equal hash. The mutexes here are held for a few instructions, never
//! while the JVM is called: a thread may be stopped in any such call.

pub(crate) mod inner_exits;
mod monitor;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rust_tracer::Runtime;

use crate::ffi::{Env, Object, WeakObject};
use crate::slots::Slots;

pub(crate) use monitor::Monitor;

/// Monitors with different hashes are mostly in different shards.
const SHARDS: usize = 64;
/// A shard with more monitors evicts one that nobody waits for.
const MAX_PER_SHARD: usize = 128;
/// The most monitors in a shard, if all are contended.
const MAX_CONTENDED_PER_SHARD: usize = 4096;

/// The monitors with one hash, which two objects rarely share.
type Bucket = Vec<Arc<Monitor>>;

#[derive(Debug, Default)]
struct Shard {
    buckets: HashMap<u32, Bucket>,
    len: usize,
    /// The number of monitors that were added so far.
    additions: u64,
}

/// All monitors of a trace.
#[derive(Debug)]
pub(crate) struct Monitors {
    shards: Box<[Mutex<Shard>]>,
}

impl Default for Monitors {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

/// A thread that begins to contend for a monitor.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) monitor: Arc<Monitor>,
    /// Whether it has given the lock its identifier, and so describes it.
    pub(crate) has_claimed: bool,
    /// A monitor that was evicted for it. Its lock ends.
    pub(crate) evicted: Option<Monitor>,
}

/// Why a monitor was not added, and the reference for it.
enum Refusal {
    /// Another monitor was added meanwhile.
    Changed(WeakObject),
    /// The shard is full of contended monitors.
    Full(WeakObject),
}

impl Monitors {
    /// Begins contention of the current thread for the object. Returns `None`, and counts that, if
    /// the table is full.
    pub(crate) fn contend(
        &self,
        env: Env<'_>,
        object: Object<'_>,
        slots: &Slots<Monitor>,
        runtime: &Runtime,
    ) -> Option<Contender> {
        let counts = &runtime.agent_counts;
        let Some((monitor, evicted)) = self.find_or_add(env, object) else {
            counts.untracked_enters.add(1);
            return None;
        };
        // Claimed first: the owner writes events of the lock as soon as it sees the contention.
        let has_claimed = monitor.lock.claim_in(runtime);
        if !monitor.enter(env, object, slots) {
            counts.unseen_contenders.add(1);
        }
        Some(Contender {
            monitor,
            has_claimed,
            evicted,
        })
    }

    /// Returns the object's monitor, and one that was evicted for it.
    fn find_or_add(
        &self,
        env: Env<'_>,
        object: Object<'_>,
    ) -> Option<(Arc<Monitor>, Option<Monitor>)> {
        let hash = env.hash(object)?;
        let mut weak = None;
        loop {
            let (monitor, additions) = self.find_in_shard(env, object, hash);
            if let Some(monitor) = monitor {
                if let Some(weak) = weak {
                    env.delete_weak(weak);
                }
                return Some((monitor, None));
            }
            // Without the mutex, since it calls the JVM.
            let object = match weak.take() {
                Some(weak) => weak,
                None => env.weak(object)?,
            };
            match self.add(hash, object, additions) {
                Ok(added) => return Some(added),
                Err(Refusal::Changed(object)) => weak = Some(object),
                Err(Refusal::Full(object)) => {
                    env.delete_weak(object);
                    return None;
                }
            }
        }
    }

    /// Returns the monitor of an object, if threads contend for it or have contended for it.
    pub(crate) fn find(&self, env: Env<'_>, object: Object<'_>) -> Option<Arc<Monitor>> {
        let hash = env.hash(object)?;
        self.find_in_shard(env, object, hash).0
    }

    /// Returns the object's monitor, and the number of additions to the shard before the look-up.
    fn find_in_shard(
        &self,
        env: Env<'_>,
        object: Object<'_>,
        hash: u32,
    ) -> (Option<Arc<Monitor>>, u64) {
        let additions = self.shard(hash).map_or(0, |shard| shard.additions);
        for index in 0.. {
            let candidate = self
                .shard(hash)
                .and_then(|shard| shard.buckets.get(&hash)?.get(index).cloned());
            match candidate {
                Some(monitor) if env.is_same(object, &monitor.object) => {
                    return (Some(monitor), additions);
                }
                Some(_) => {}
                None => break,
            }
        }
        (None, additions)
    }

    fn add(
        &self,
        hash: u32,
        object: WeakObject,
        additions: u64,
    ) -> Result<(Arc<Monitor>, Option<Monitor>), Refusal> {
        let Some(mut shard) = self.shard(hash) else {
            return Err(Refusal::Full(object));
        };
        if shard.additions != additions {
            // The new monitor may be of this very object.
            return Err(Refusal::Changed(object));
        }
        let evicted = match shard.len {
            0..MAX_PER_SHARD => None,
            _ => shard.evict(),
        };
        let can_grow = shard.len < MAX_CONTENDED_PER_SHARD && shard.buckets.try_reserve(1).is_ok();
        if !can_grow {
            return Err(Refusal::Full(object));
        }
        let monitor = Arc::new(Monitor::new(object, hash));
        shard.additions = shard.additions.wrapping_add(1);
        shard.len = shard.len.saturating_add(1);
        let bucket = shard.buckets.entry(hash).or_default();
        bucket.push(Arc::clone(&monitor));
        Ok((monitor, evicted))
    }

    /// Returns the shard of a hash.
    fn shard(&self, hash: u32) -> Option<MutexGuard<'_, Shard>> {
        // The lowest bits of a hash are as good as any.
        let shard = self.shards.get(hash as usize % SHARDS)?;
        Some(shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets a monitor that was evicted.
    pub(crate) fn free(&self, env: Env<'_>, monitor: Monitor) {
        env.delete_weak(monitor.object);
    }

    /// Forgets all monitors. No hook uses them any more.
    pub(crate) fn free_all(&self, env: Env<'_>) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let monitors = shard.buckets.drain().flat_map(|(_, bucket)| bucket);
            let monitors: Vec<_> = monitors.filter_map(Arc::into_inner).collect();
            drop(shard);
            for monitor in monitors {
                self.free(env, monitor);
            }
        }
    }
}

impl Shard {
    /// Removes a monitor that nobody waits for or uses.
    fn evict(&mut self) -> Option<Monitor> {
        let is_unused =
            |monitor: &Arc<Monitor>| Arc::strong_count(monitor) == 1 && !monitor.is_contended();
        let hash = self
            .buckets
            .iter()
            .find_map(|(&hash, bucket)| bucket.iter().any(is_unused).then_some(hash))?;
        let bucket = self.buckets.get_mut(&hash)?;
        let index = bucket.iter().position(is_unused)?;
        let monitor = bucket.swap_remove(index);
        if bucket.is_empty() {
            self.buckets.remove(&hash);
        }
        self.len = self.len.saturating_sub(1);
        Arc::into_inner(monitor)
    }
}
