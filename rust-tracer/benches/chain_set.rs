//! The set of call chains against two maps: papaya's, which is lock-free, and one
//! in shards with a mutex each. All get the same hash, computed before.
//!
//! Those of one group are measured one after the other, so that they meet the
//! same state of the machine. The time of a lookup is the time of all threads together
//! divided by all their lookups.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::hint::black_box;
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use crossbeam_epoch::{Collector, LocalHandle};
use hashbrown::HashTable;
use papaya::Equivalent;
use rust_tracer::bench::{self, Chains, UnloadedCode};

/// As many as a server has, or some more.
const CHAINS: u32 = 1000;

/// A chain's key.
struct Chain {
    frames: Box<[u64]>,
    hash: u64,
}

/// Chains that have most frames in common, as those of a server have.
fn chains(count: u32, depth: usize) -> Vec<Chain> {
    let frame = |compile_id: u32| 1 << 63 | u64::from(compile_id) << 32 | 77;
    let chain = |number: u32| {
        let common = (1..depth as u32).map(|place| frame(place + number % 10));
        let frames: Box<[u64]> = common.chain([frame(1000 + number)]).collect();
        let hash = bench::hash(&frames);
        Chain { frames, hash }
    };
    (0..count).map(chain).collect()
}

/// A set of chains; all of them work the same.
trait Set: Sync {
    const NAME: &str;
    type Access<'a>
    where
        Self: 'a;
    fn empty() -> Self;
    fn access(&self) -> Self::Access<'_>;
    fn find(access: &mut Self::Access<'_>, chain: &Chain) -> Option<u32>;
    fn add(access: &mut Self::Access<'_>, chain: &Chain, id: u32);
    fn purge(&self, unloaded: &UnloadedCode);
}

impl Set for Chains {
    const NAME: &str = "chain set";
    type Access<'a> = bench::Access<'a>;

    fn empty() -> Self {
        Self::new()
    }

    fn access(&self) -> bench::Access<'_> {
        self.access().expect("memory")
    }

    fn find(access: &mut bench::Access<'_>, chain: &Chain) -> Option<u32> {
        access.find(&chain.frames, chain.hash).map(|id| id.0)
    }

    fn add(access: &mut bench::Access<'_>, chain: &Chain, _id: u32) {
        access.add(&chain.frames, chain.hash);
    }

    fn purge(&self, unloaded: &UnloadedCode) {
        self.keeper().purge(unloaded);
    }
}

/// Takes the hash that a chain has.
#[derive(Default)]
struct GivenHash(u64);

impl Hasher for GivenHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only whole numbers are hashed");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A key that papaya owns, and one that it is asked for.
struct Owned(Chain);
struct Borrowed<'a>(&'a Chain);

impl Hash for Owned {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0.hash);
    }
}

impl Hash for Borrowed<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0.hash);
    }
}

impl PartialEq for Owned {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash && self.0.frames == other.0.frames
    }
}

impl Eq for Owned {}

impl Equivalent<Owned> for Borrowed<'_> {
    fn equivalent(&self, key: &Owned) -> bool {
        self.0.hash == key.0.hash && self.0.frames == key.0.frames
    }
}

type Papaya = papaya::HashMap<Owned, u32, BuildHasherDefault<GivenHash>>;

fn copy_of(chain: &Chain) -> Chain {
    Chain {
        frames: chain.frames.clone(),
        hash: chain.hash,
    }
}

fn is_unloaded(frames: &[u64], unloaded: &UnloadedCode) -> bool {
    frames.iter().any(|&frame| unloaded.contains(frame))
}

impl Set for Papaya {
    const NAME: &str = "papaya";
    type Access<'a> = &'a Self;

    fn empty() -> Self {
        Self::default()
    }

    fn access(&self) -> &Self {
        self
    }

    fn find(access: &mut &Self, chain: &Chain) -> Option<u32> {
        access.pin().get(&Borrowed(chain)).copied()
    }

    fn add(access: &mut &Self, chain: &Chain, id: u32) {
        access.pin().get_or_insert(Owned(copy_of(chain)), id);
    }

    fn purge(&self, unloaded: &UnloadedCode) {
        self.pin()
            .retain(|key, _| !is_unloaded(&key.0.frames, unloaded));
    }
}

const SHARDS: usize = 64;

#[derive(Default)]
#[repr(align(128))]
struct Shard(Mutex<HashTable<(Chain, u32)>>);

struct Sharded([Shard; SHARDS]);

impl Sharded {
    fn with_shard<R>(&self, hash: u64, work: impl FnOnce(&mut HashTable<(Chain, u32)>) -> R) -> R {
        // The table uses the lower bits and the uppermost ones.
        let shard = &self.0[(hash >> 40) as usize % SHARDS].0;
        work(&mut shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Set for Sharded {
    const NAME: &str = "mutexes";
    type Access<'a> = &'a Self;

    fn empty() -> Self {
        Self(std::array::from_fn(|_| Shard::default()))
    }

    fn access(&self) -> &Self {
        self
    }

    fn find(access: &mut &Self, chain: &Chain) -> Option<u32> {
        access.with_shard(chain.hash, |table| {
            let found = table.find(chain.hash, |(key, _)| key.frames == chain.frames);
            found.map(|&(_, id)| id)
        })
    }

    fn add(access: &mut &Self, chain: &Chain, id: u32) {
        access.with_shard(chain.hash, |table| {
            let equal = |(key, _): &(Chain, u32)| key.frames == chain.frames;
            table
                .entry(chain.hash, equal, |(key, _)| key.hash)
                .or_insert_with(|| (copy_of(chain), id));
        });
    }

    fn purge(&self, unloaded: &UnloadedCode) {
        for shard in &self.0 {
            let mut table = shard.0.lock().unwrap_or_else(PoisonError::into_inner);
            table.retain(|(key, _)| !is_unloaded(&key.frames, unloaded));
        }
    }
}

fn filled<S: Set>(chains: &[Chain]) -> S {
    let set = S::empty();
    let mut access = set.access();
    for (chain, id) in chains.iter().zip(1..) {
        S::add(&mut access, chain, id);
    }
    drop(access);
    set
}

/// The time that each of `threads` threads needs for `lookups` lookups, for one
/// thread's share.
fn time_of_lookups<S: Set>(set: &S, chains: &[Chain], threads: u32, lookups: u64) -> Duration {
    /// Fewer are over before the next thread has started.
    const MIN_RUN: u64 = 100_000;
    let run = lookups.max(MIN_RUN);
    let start = Barrier::new(threads as usize);
    let work = |number: u32| {
        let mut access = set.access();
        let mut random = 0x9e37_79b9_7f4a_7c15 ^ u64::from(number);
        start.wait();
        let begin = Instant::now();
        for _ in 0..run {
            // Xorshift (Marsaglia 2003).
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let place = ((random >> 32) as usize * chains.len()) >> 32;
            black_box(S::find(&mut access, black_box(&chains[place])));
        }
        (begin, Instant::now())
    };
    let times: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join().unwrap());
        joined.collect()
    });
    let begin = times.iter().map(|&(begin, _)| begin).min().unwrap();
    let end = times.iter().map(|&(_, end)| end).max().unwrap();
    (end - begin).mul_f64(lookups as f64 / run as f64) / threads
}

fn lookup<S: Set>(criterion: &mut Criterion, group: &str, chains: &[Chain], threads: u32) {
    let set: S = filled(chains);
    criterion
        .benchmark_group(group)
        .bench_function(S::NAME, |bencher| {
            bencher.iter_custom(|lookups| time_of_lookups(&set, chains, threads, lookups));
        });
}

fn lookups(criterion: &mut Criterion) {
    for depth in [10, 50] {
        let chains = chains(CHAINS, depth);
        for threads in [1, 2, 8, 64] {
            let group = format!("find, depth {depth}, {threads} threads");
            lookup::<Chains>(criterion, &group, &chains, threads);
            lookup::<Papaya>(criterion, &group, &chains, threads);
            lookup::<Sharded>(criterion, &group, &chains, threads);
        }
    }
}

/// The cost of beginning and ending a lookup, by the number of threads with access to the set,
/// against crossbeam's epochs: in one collector, and with the threads spread over several, so
/// that each scan meets few of them. The threads take turns, as on one processor.
fn pins(criterion: &mut Criterion) {
    for turn in [1, 1000] {
        let mut group = criterion.benchmark_group(format!("pin, {turn} in a turn"));
        for threads in [10, 1000, 10_000] {
            let set = Chains::new();
            let access = || set.access().expect("memory");
            let mut accesses: Vec<_> = (0..threads).map(|_| access()).collect();
            group.bench_function(format!("chain set, {threads} threads"), |bencher| {
                bencher.iter_custom(|pins| {
                    time_of_turns(&mut accesses, pins, turn, bench::Access::pin)
                });
            });
            for count in [1, 64] {
                let collectors: Vec<Collector> = (0..count).map(|_| Collector::new()).collect();
                // Every 128th pin of a thread scans. Not all threads are to do so in the same turn.
                let mut handles: Vec<LocalHandle> = (0..threads)
                    .map(|thread| {
                        let handle = collectors[thread % count].register();
                        (0..thread % 128).for_each(|_| drop(handle.pin()));
                        handle
                    })
                    .collect();
                let name = format!("crossbeam-epoch, {count} collectors, {threads} threads");
                group.bench_function(name, |bencher| {
                    let pin = |handle: &mut LocalHandle| drop(handle.pin());
                    bencher.iter_custom(|pins| time_of_turns(&mut handles, pins, turn, pin));
                });
            }
        }
    }
}

/// The time of that many pins by threads that take turns of `turn` pins each.
fn time_of_turns<T>(threads: &mut [T], pins: u64, turn: u64, pin: impl Fn(&mut T)) -> Duration {
    let turns = pins.div_ceil(turn);
    let mut next = 0;
    let begin = Instant::now();
    for _ in 0..turns {
        let thread = black_box(&mut threads[next]);
        (0..turn).for_each(|_| pin(thread));
        next += 1;
        if next == threads.len() {
            next = 0;
        }
    }
    begin.elapsed().mul_f64(pins as f64 / (turns * turn) as f64)
}

/// A set as large as its bound allows, grown as the drainer lets it grow.
fn lookups_among_many(criterion: &mut Criterion) {
    let chains = chains(500_000, 10);
    let set = Chains::new();
    let mut access = set.access().expect("memory");
    let mut keeper = set.keeper();
    for (number, chain) in chains.iter().enumerate() {
        access.add(&chain.frames, chain.hash);
        if number % 1000 == 0 {
            keeper.step();
        }
    }
    let mut group = criterion.benchmark_group("500,000 chains, depth 10");
    group.bench_function("find", |bencher| {
        bencher.iter_custom(|lookups| time_of_lookups(&set, &chains, 1, lookups));
    });
    let unloaded = UnloadedCode::new(0..1);
    group.bench_function("purge of none", |bencher| {
        bencher.iter(|| keeper.purge(&unloaded))
    });
}

fn changes<S: Set>(criterion: &mut Criterion, chains: &[Chain]) {
    let depth = chains[0].frames.len();
    criterion
        .benchmark_group(format!("add 1000 chains, depth {depth}"))
        .bench_function(S::NAME, |bencher| {
            bencher.iter_batched(|| (), |()| filled::<S>(chains), BatchSize::SmallInput);
        });
    let unloaded = UnloadedCode::new((1000..2000).step_by(10));
    criterion
        .benchmark_group(format!("purge 100 of 1000 chains, depth {depth}"))
        .bench_function(S::NAME, |bencher| {
            bencher.iter_batched_ref(
                || filled::<S>(chains),
                |set| set.purge(&unloaded),
                BatchSize::SmallInput,
            );
        });
}

fn additions_and_purges(criterion: &mut Criterion) {
    for depth in [10, 50] {
        let chains = chains(CHAINS, depth);
        changes::<Chains>(criterion, &chains);
        changes::<Papaya>(criterion, &chains);
        changes::<Sharded>(criterion, &chains);
    }
}

criterion_group!(
    benches,
    pins,
    lookups,
    lookups_among_many,
    additions_and_purges
);
criterion_main!(benches);
