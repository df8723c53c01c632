//! Where objects were allocated that may become contended locks.
//!
//! Objects move and die unnoticed, so the table knows them by class and identity hash code, and
//! forgets those that were added long ago. An object that never becomes a contended lock is in
//! no trace.

use std::collections::TryReserveError;

use trace_format::{ChainId, ClassId};

use crate::fallible::try_collect;
use crate::primitive::{AtomicU32, AtomicU64, Ordering, fence};

/// Places that an object may have: a cache line.
const PLACES: usize = 4;

const BUCKET_BITS: u32 = 14;

/// An object, by what stays the same while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectId {
    pub(crate) class: ClassId,
    pub(crate) identity_hash: u32,
}

impl ObjectId {
    /// Never 0, since there is no class 0, and never [`Place::BUSY`], since there are fewer classes.
    fn word(self) -> u64 {
        u64::from(self.class) << 32 | u64::from(self.identity_hash)
    }
}

/// Where an object was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// None if objects were allocated in several places that are called the same.
    pub(crate) chain: ChainId,
    /// The chain was described in this epoch.
    pub(crate) epoch: u32,
}

impl Site {
    /// The site is in the trace.
    const WRITTEN: u64 = 1 << 31;

    fn word(self) -> u64 {
        u64::from(self.chain) << 32 | u64::from(self.epoch) & !Self::WRITTEN
    }
}

#[derive(Debug, Default)]
struct Place {
    /// The object here; 0 for none.
    object: AtomicU64,
    site: AtomicU64,
}

impl Place {
    /// In the place of an object while a thread writes.
    const BUSY: u64 = u64::MAX;

    /// Puts an object in place of `old`. Fails if another thread was faster.
    fn put(&self, old: u64, object: u64, site: u64) -> bool {
        // Acquire: the site is written after others have read the old one. Relaxed on
        // failure: nothing is done then.
        let is_mine = self
            .object
            .compare_exchange(old, Self::BUSY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
        if is_mine {
            // Release: a thread that finds this site finds that the old object is gone.
            self.site.store(site, Ordering::Release);
            // Release: a thread that finds the object finds its site.
            self.object.store(object, Ordering::Release);
        }
        is_mine
    }

    /// The site of an object, if that is here.
    fn get(&self, object: u64) -> Option<u64> {
        // Acquire: see `put`.
        if self.object.load(Ordering::Acquire) != object {
            return None;
        }
        let site = self.site.load(Ordering::Acquire);
        // Orders the two loads of the object around the load of the site: if a thread has put another
        // object here meanwhile, it is seen.
        fence(Ordering::Acquire);
        (self.object.load(Ordering::Relaxed) == object).then_some(site)
    }
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket([Place; PLACES]);

/// The sites of the objects that were added last.
#[derive(Debug)]
pub(crate) struct SiteTable {
    buckets: Vec<Bucket>,
    /// How often all were forgotten. Sites have it in their epoch.
    forgotten: AtomicU32,
}

impl SiteTable {
    /// Returns a table of one mebibyte.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn new() -> Result<Self, TryReserveError> {
        let buckets = (0..1 << BUCKET_BITS).map(|_| Bucket::default());
        Ok(Self {
            buckets: try_collect(buckets)?,
            forgotten: AtomicU32::new(0),
        })
    }

    /// Forgets all: a method is gone, to which the trace must not refer any more. At a safepoint.
    pub(crate) fn forget(&self) {
        // Relaxed: the safepoint orders it with all that threads add and ask for.
        self.forgotten.fetch_add(1, Ordering::Relaxed);
    }

    fn epoch(&self, of_metadata: u32) -> u32 {
        of_metadata.wrapping_add(self.forgotten.load(Ordering::Relaxed))
    }

    fn bucket(&self, object: u64) -> Option<&Bucket> {
        let hash = object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BUCKET_BITS);
        self.buckets.get(usize::try_from(hash).ok()?)
    }

    /// Adds an object that was just allocated. Another one that is called the same, alive or not,
    /// makes its site unknown.
    pub(crate) fn add(&self, object: ObjectId, site: Site) {
        let object = object.word();
        let epoch = self.epoch(site.epoch);
        let site = Site { epoch, ..site };
        let Some(Bucket(places)) = self.bucket(object) else {
            return;
        };
        for place in places {
            if let Some(known) = place.get(object) {
                if known & !Site::WRITTEN != site.word() {
                    let chain = ChainId::NONE;
                    place.put(object, object, Site { chain, ..site }.word());
                }
                return;
            }
        }
        // Of equal ones, the object says which is replaced: that spreads them.
        let first = object as usize % PLACES;
        let candidates = places.iter().cycle().skip(first).take(PLACES);
        let victim = candidates
            .filter_map(|place| {
                // Relaxed: decides only what is replaced.
                let old = place.object.load(Ordering::Relaxed);
                let site = place.site.load(Ordering::Relaxed);
                (old != Place::BUSY).then_some((worth(old, site), place, old))
            })
            .min_by_key(|(worth, ..)| *worth);
        if let Some((_, place, old)) = victim {
            // Another thread may have been faster: then it is not known where this object was
            // allocated.
            place.put(old, object, site.word());
        }
    }

    /// Returns the chain of an object's site, if it is known in this epoch. Without `again`, only if
    /// the trace does not have it yet.
    pub(crate) fn chain_to_write(
        &self,
        object: ObjectId,
        epoch: u32,
        again: bool,
    ) -> Option<ChainId> {
        let object = object.word();
        let Bucket(places) = self.bucket(object)?;
        let (place, site) = places
            .iter()
            .find_map(|place| Some((place, place.get(object)?)))?;
        let chain = ChainId(u32::try_from(site >> 32).ok()?);
        let epoch = self.epoch(epoch);
        let is_described = site as u32 & !(Site::WRITTEN as u32) == epoch & !(Site::WRITTEN as u32);
        if chain.is_none() || !is_described {
            return None;
        }
        if site & Site::WRITTEN != 0 {
            return again.then_some(chain);
        }
        // Relaxed: of threads that ask at the same time, one writes; guards no other memory.
        let taken = place.site.compare_exchange(
            site,
            site | Site::WRITTEN,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        (taken.is_ok() || again).then_some(chain)
    }
}

/// The least is replaced first: empty places, then objects that are no contended locks.
fn worth(object: u64, site: u64) -> u8 {
    match (object, site & Site::WRITTEN) {
        (0, _) => 0,
        (_, 0) => 1,
        _ => 2,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    fn object(identity_hash: u32) -> ObjectId {
        ObjectId {
            class: ClassId(7),
            identity_hash,
        }
    }

    fn site(chain: u32) -> Site {
        Site {
            chain: ChainId(chain),
            epoch: 1,
        }
    }

    #[test]
    fn a_site_is_told_once_or_again() {
        let table = SiteTable::new().unwrap();
        table.add(object(1), site(5));
        assert_eq!(table.chain_to_write(object(1), 1, false), Some(ChainId(5)));
        assert_eq!(table.chain_to_write(object(1), 1, false), None);
        assert_eq!(table.chain_to_write(object(1), 1, true), Some(ChainId(5)));
        assert_eq!(table.chain_to_write(object(2), 1, true), None);
        let of_other_class = ObjectId {
            class: ClassId(8),
            ..object(1)
        };
        assert_eq!(table.chain_to_write(of_other_class, 1, true), None);
    }

    /// The trace may lack the description of its chain.
    #[test]
    fn a_site_of_an_older_epoch_is_not_told() {
        let table = SiteTable::new().unwrap();
        table.add(object(1), site(5));
        assert_eq!(table.chain_to_write(object(1), 2, true), None);
    }

    #[test]
    fn sites_from_before_a_method_was_gone_are_not_told() {
        let table = SiteTable::new().unwrap();
        table.add(object(1), site(5));
        table.forget();
        assert_eq!(table.chain_to_write(object(1), 1, true), None);
        table.add(object(2), site(6));
        assert_eq!(table.chain_to_write(object(2), 1, true), Some(ChainId(6)));
    }

    #[test]
    fn objects_that_are_called_the_same_have_no_site_unless_it_is_the_same() {
        let table = SiteTable::new().unwrap();
        table.add(object(1), site(5));
        table.add(object(1), site(5));
        assert_eq!(table.chain_to_write(object(1), 1, true), Some(ChainId(5)));
        table.add(object(1), site(6));
        assert_eq!(table.chain_to_write(object(1), 1, true), None);
        table.add(object(1), site(6));
        assert_eq!(table.chain_to_write(object(1), 1, true), None);
    }

    /// However many objects come, contended locks stay until all places are theirs.
    #[test]
    fn contended_locks_stay() {
        let table = SiteTable::new().unwrap();
        let locks = 0..1000;
        for lock in locks.clone() {
            table.add(object(lock), site(lock + 1));
            assert!(table.chain_to_write(object(lock), 1, false).is_some());
        }
        for other in 1_000_000..2_000_000 {
            table.add(object(other), site(5));
        }
        let known = locks.filter(|&lock| {
            let chain = table.chain_to_write(object(lock), 1, true);
            assert!(chain.is_none_or(|chain| chain == ChainId(lock + 1)));
            chain.is_some()
        });
        // More than four of a thousand in one of 16,384 buckets are rare.
        assert!(known.count() > 990);
        let newest = (1_990_000..2_000_000)
            .filter(|&it| table.chain_to_write(object(it), 1, true).is_some());
        assert!(newest.count() > 8_000);
    }

    /// Threads replace objects in the same few places: none finds the site of another object.
    #[test]
    fn no_thread_finds_the_site_of_another_object() {
        const THREADS: u32 = 4;
        const ROUNDS: u32 = 200_000;
        let table = SiteTable::new().unwrap();
        // Objects of few buckets: the same ones come again and again.
        let objects: Vec<u32> = (0..u32::MAX)
            .filter(|&it| {
                std::ptr::eq(
                    table.bucket(object(it).word()).unwrap(),
                    &raw const table.buckets[0],
                )
            })
            .take(16)
            .collect();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (table, objects) = (&table, &objects);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let wanted = objects[((round * 7 + thread) % 16) as usize];
                        table.add(object(wanted), site(wanted + 1));
                        let other = objects[((round * 5 + thread * 3) % 16) as usize];
                        let found = table.chain_to_write(object(other), 1, true);
                        assert!(found.is_none_or(|chain| chain == ChainId(other + 1)));
                    }
                });
            }
        });
    }
}
