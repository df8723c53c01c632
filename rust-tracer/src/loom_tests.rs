//! Exhaustive tests of the lock-free modules by the loom model checker, which
//! runs them under every order of their atomic operations:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release -p rust-tracer --lib loom_tests
//! ```

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use trace_format::{
    ChainId, Event, JavaThreadId, LockId, LostNumbers, MethodId, Safepoint, SegmentDecoder,
    StackRange, ThreadId,
};

use crate::buffers::buffer::{Buffer, BufferBudget};
use crate::buffers::buffer_slot::BufferSlot;
use crate::buffers::pool::BufferPool;
use crate::buffers::queue::BufferQueue;
use crate::chains::entry::Added;
use crate::chains::grace_period::GracePeriod;
use crate::chains::key::{ChainKey, CodeUnit};
use crate::chains::set::{ChainKeeper, ChainSet};
use crate::chains::table::Table;
use crate::chains::unload_queue::UnloadQueue;
use crate::counters::Serial;
use crate::drain::retirement::Retirement;
use crate::facts::hook_parts::HookParts;
use crate::facts::safepoints::Safepoints;
use crate::runtime::{Runtime, Setup};
use crate::threads::identity::ThreadIdentity;
use crate::threads::new_name::{Name, NewName};
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slots::{OwnedThreadSlot, ThreadSlots};

fn new_buffer(index: u64) -> Box<Buffer> {
    let budget: &BufferBudget = Box::leak(Box::default());
    let charge = budget.charge(64, u64::MAX).unwrap();
    Buffer::try_new(charge, 64, ThreadId(1), index).unwrap()
}

/// Made in a thread with a larger stack, on which it stands at first.
fn new_runtime() -> &'static Runtime {
    let new = || -> &'static Runtime {
        Box::leak(Box::new(Runtime::new(Setup {
            max_chain_bytes: u64::MAX,
            ..Setup::default()
        })))
    };
    let thread = thread::Builder::new().stack_size(1 << 16).spawn(new);
    thread.unwrap().join().unwrap()
}

fn write(buffer: &mut Buffer, sequence: u64) {
    let event = Event::LostNumbers(LostNumbers {
        lock: LockId(1),
        first: sequence,
        count: 1,
    });
    buffer
        .write(|encoder, bytes| encoder.encode(bytes, &event))
        .unwrap();
    touch(buffer);
}

/// Stands for an access to the whole buffer: loom watches its own types only. It
/// fails if the access is not ordered after those of other threads.
fn touch(buffer: &mut Buffer) {
    buffer.next.with_mut(|_| ());
}

fn sequences(buffer: &mut Buffer) -> Vec<u64> {
    touch(buffer);
    let events = SegmentDecoder::new(buffer.segment()).map(Result::unwrap);
    events
        .map(|event| event.lock_and_sequence().unwrap().1)
        .collect()
}

/// Whenever a buffer is taken from its owner, each event is in one buffer.
#[test]
fn a_buffer_can_be_taken_at_any_time() {
    loom::model(|| {
        let slot = Arc::new(BufferSlot::default());
        let thief = thread::spawn({
            let slot = slot.clone();
            move || slot.take().ok()?.map(|mut buffer| sequences(&mut buffer))
        });
        for sequence in 1..=2 {
            let mut buffer = slot.check_out().unwrap_or_else(|| new_buffer(sequence));
            write(&mut buffer, sequence);
            slot.check_in(Some(buffer));
        }
        let stolen = thief.join().unwrap();
        let left = slot
            .take()
            .unwrap()
            .map(|mut buffer| sequences(&mut buffer));
        let written: Vec<u64> = [stolen, left].into_iter().flatten().flatten().collect();
        assert_eq!(written, [1, 2]);
    });
}

/// A kept buffer goes to one thread, with all that was done to it.
#[test]
fn a_kept_buffer_has_one_user() {
    loom::model(|| {
        let pool = Arc::new(BufferPool::default());
        let budget: &BufferBudget = Box::leak(Box::default());
        let take = move |pool: &BufferPool, index| {
            let mut buffer = pool.take(budget, u64::MAX, 64, ThreadId(1), index).unwrap();
            touch(&mut buffer);
            buffer
        };
        let drainer = thread::spawn({
            let pool = pool.clone();
            move || {
                for index in [1, 2] {
                    let mut buffer = new_buffer(index);
                    touch(&mut buffer);
                    pool.keep(buffer);
                }
            }
        });
        let other = thread::spawn({
            let pool = pool.clone();
            move || take(&pool, 3)
        });
        let mine = take(&pool, 4);
        let theirs = other.join().unwrap();
        drainer.join().unwrap();
        assert_eq!((mine.index(), theirs.index()), (4, 3));
        assert!(!std::ptr::eq(&*mine, &*theirs));
    });
}

/// The drainer gets every buffer once, those of a thread in order.
#[test]
fn submitted_buffers_arrive_in_order() {
    loom::model(|| {
        let queue = Arc::new(BufferQueue::default());
        let submitter = thread::spawn({
            let queue = queue.clone();
            move || [1, 2].map(|index| queue.push(new_buffer(index)))
        });
        let other_submitter = thread::spawn({
            let queue = queue.clone();
            move || queue.push(new_buffer(10))
        });
        let mut buffers = queue.take_all().unwrap();
        submitter.join().unwrap();
        other_submitter.join().unwrap();
        buffers.extend(queue.take_all().unwrap());

        let mut indexes: Vec<u64> = buffers.iter().map(|buffer| buffer.index()).collect();
        assert_eq!(indexes.len(), 3);
        indexes.retain(|&index| index != 10);
        assert_eq!(indexes, [1, 2]);
    });
}

/// Of two threads that add the same chain, one describes it.
#[test]
fn one_thread_describes_a_chain() {
    loom::model(|| {
        let shared = Arc::new((Table::new(), Serial::default()));
        let add = |(table, ids): &(Table, Serial), key| {
            table
                .add(ChainKey::new(&[key]), 1, u64::MAX, || {
                    ChainId(ids.next_u32())
                })
                .unwrap()
        };
        let adder = thread::spawn({
            let shared = shared.clone();
            move || [add(&shared, 1), add(&shared, 2)]
        });
        let mine = add(&shared, 1);
        let [theirs, other] = adder.join().unwrap();

        let id = match (mine, theirs) {
            (Added::Describe(id), Added::Known(known))
            | (Added::Known(known), Added::Describe(id)) => {
                assert_eq!(id, known);
                id
            }
            both => panic!("{both:?}"),
        };
        assert!(matches!(other, Added::Describe(other) if other != id));
        assert_eq!(shared.0.find(ChainKey::new(&[1]), 1), Some(id));
    });
}

/// A chain is found as it was added, or not at all.
#[test]
fn a_chain_is_found_whole() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let adder = thread::spawn({
            let table = table.clone();
            move || {
                table
                    .add(ChainKey::new(&[1]), 1, u64::MAX, || ChainId(7))
                    .unwrap()
            }
        });
        assert!(matches!(
            table.find(ChainKey::new(&[1]), 1),
            None | Some(ChainId(7))
        ));
        adder.join().unwrap();
    });
}

/// One of two threads describes a chain again in a new epoch.
#[test]
fn one_thread_describes_a_chain_again() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let add = |table: &Table, epoch| {
            table
                .add(ChainKey::new(&[1]), epoch, u64::MAX, || ChainId(1))
                .unwrap()
        };
        add(&table, 1);
        let adder = thread::spawn({
            let table = table.clone();
            move || add(&table, 2)
        });
        let both = [add(&table, 2), adder.join().unwrap()];
        assert!(
            both.contains(&Added::Describe(ChainId(1))) && both.contains(&Added::Known(ChainId(1)))
        );
    });
}

/// Whatever is unlinked meanwhile, other chains are found, and none has two
/// identifiers.
#[test]
fn chains_are_found_and_added_while_others_are_unlinked() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let add = |table: &Table, key| {
            table
                .add(ChainKey::new(&[key]), 1, u64::MAX, || ChainId(key as u32))
                .unwrap()
        };
        // The list is 3, 2, 1.
        (1..=3).for_each(|key| _ = add(&table, key));
        let other = thread::spawn({
            let table = table.clone();
            move || {
                assert_eq!(add(&table, 4), Added::Describe(ChainId(4)));
                assert_eq!(table.find(ChainKey::new(&[1]), 1), Some(ChainId(1)));
            }
        });
        // SAFETY: the entries are dropped after the other thread has ended.
        let (unlinked, _) = unsafe { table.unlink(|entry| matches!(entry.id(), ChainId(2 | 3))) };
        other.join().unwrap();
        assert_eq!(unlinked.entries().count(), 2);
        for key in 1..=4 {
            let expected = matches!(key, 1 | 4).then_some(ChainId(key as u32));
            assert_eq!(table.find(ChainKey::new(&[key]), 1), expected);
        }
    });
}

/// A chain that is added again while it is unlinked has its old identifier, or a
/// new one under which it is found.
#[test]
fn a_chain_can_come_again_while_it_is_unlinked() {
    loom::model(|| {
        let shared = Arc::new((Table::new(), Serial::default()));
        let add = |(table, ids): &(Table, Serial)| {
            table
                .add(ChainKey::new(&[7]), 1, u64::MAX, || ChainId(ids.next_u32()))
                .unwrap()
        };
        assert_eq!(add(&shared), Added::Describe(ChainId(1)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        // SAFETY: the entries are dropped after the other thread has ended.
        let (unlinked, _) = unsafe { shared.0.unlink(|entry| entry.id() == ChainId(1)) };
        let expected = match other.join().unwrap() {
            Added::Known(ChainId(1)) => None,
            Added::Describe(ChainId(2)) => Some(ChainId(2)),
            added => panic!("{added:?}"),
        };
        assert_eq!(unlinked.entries().count(), 1);
        assert_eq!(shared.0.find(ChainKey::new(&[7]), 1), expected);
    });
}

/// What is removed is not freed while somebody reads it: neither a thread that reads
/// again and again, nor one whose slot comes meanwhile. Loom fails if the access that
/// stands for the freeing is not ordered after the access of each reader.
#[test]
fn what_is_removed_outlives_its_readers() {
    loom::model(|| {
        let slots: &'static ThreadSlots = Box::leak(Box::default());
        // What can be found as long as the link is true.
        let shared = Arc::new((AtomicBool::new(true), UnsafeCell::new(())));
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                let mut slot = slots.take().unwrap();
                for _ in 0..2 {
                    let reading = slot.read();
                    if shared.0.load(Ordering::Acquire) {
                        shared.1.with(|_| ());
                    }
                    drop(reading);
                }
            }
        });
        shared.0.store(false, Ordering::Release);
        let mut period = GracePeriod::start(slots);
        while !period.is_over() {
            thread::yield_now();
        }
        shared.1.with_mut(|_| ());
        reader.join().unwrap();
    });
}

/// A set whose table is exchanged while a thread reads and adds: it finds what it has
/// added, or the empty table.
#[test]
fn a_table_is_exchanged_under_its_readers() {
    loom::model(|| {
        let slots: &'static ThreadSlots = Box::leak(Box::default());
        let set = Arc::new(ChainSet::new(slots, u64::MAX));
        let reader = thread::spawn({
            let set = set.clone();
            move || {
                let mut slot = slots.take().unwrap();
                let key = ChainKey::new(&[1]);
                let Some(Added::Describe(id)) = set.add(&mut slot, key, 1) else {
                    panic!("not added");
                };
                let found = set.find(&mut slot, key, 1);
                assert!(found.is_none() || found == Some(id));
            }
        });
        let mut keeper = ChainKeeper::new(&set);
        assert!(keeper.empty());
        while !keeper.is_ready() {
            keeper.step();
            thread::yield_now();
        }
        reader.join().unwrap();
    });
}

/// An entry arrives once or is counted as lost.
#[test]
fn entries_arrive_once() {
    loom::model(|| {
        let entries = Arc::new(UnloadQueue::default());
        let post = |entries: &UnloadQueue, method| {
            entries.post(CodeUnit::interpreted(method).unwrap());
        };
        post(&entries, MethodId(1));
        let poster = thread::spawn({
            let entries = entries.clone();
            move || [2, 3].map(|method| post(&entries, MethodId(method)))
        });
        let mut units = entries.take_all().unwrap();
        poster.join().unwrap();
        units.extend(entries.take_all().unwrap());
        units.sort_unstable();
        units.dedup();
        assert_eq!(units.len() as u64 + entries.lost(), 3);
        assert!(entries.lost() <= 1);
    });
}

/// When an identifier ends, all events about it are in the queue: the drainer
/// waits for a buffer that is being written to.
#[test]
fn identifiers_end_after_buffers_are_checked_in() {
    loom::model(|| {
        let runtime = new_runtime();
        let writer = thread::spawn(|| {
            let mut slot = write_and_post_unload(runtime);
            let buffer = slot.check_out();
            slot.check_in(buffer);
        });
        assert_ends_after_event(runtime);
        writer.join().unwrap();
    });
}

/// The same while another thread takes the buffer.
#[test]
fn identifiers_end_after_buffers_are_reclaimed() {
    loom::model(|| {
        let runtime = new_runtime();
        let writer = thread::spawn(|| drop(write_and_post_unload(runtime)));
        let reclaimer = thread::spawn(|| runtime.reclaim_all());
        assert_ends_after_event(runtime);
        writer.join().unwrap();
        reclaimer.join().unwrap();
    });
}

fn write_and_post_unload(runtime: &'static Runtime) -> OwnedThreadSlot {
    let mut slot = runtime.threads.slots.take().unwrap();
    write_to(&mut slot, 1);
    let unit = CodeUnit::interpreted(MethodId(7)).unwrap();
    runtime.unload_queue.post(unit);
    slot
}

/// As a tracer does.
fn write_to(slot: &mut OwnedThreadSlot, sequence: u64) {
    let mut buffer = slot.check_out().unwrap_or_else(|| {
        slot.note_buffer();
        new_buffer(sequence)
    });
    write(&mut buffer, sequence);
    slot.check_in(Some(buffer));
}

/// Buffers are found whenever they come, also where another thread takes those before.
#[test]
fn no_buffer_is_forgotten() {
    loom::model(|| {
        let runtime = new_runtime();
        let mut slot = runtime.threads.slots.take().unwrap();
        let reclaimer = thread::spawn(|| runtime.reclaim_all());
        write_to(&mut slot, 1);
        write_to(&mut slot, 2);
        reclaimer.join().unwrap();
        runtime.reclaim_all();
        let buffers = runtime.buffers.queue.take_all().unwrap();
        let written = buffers
            .into_iter()
            .flat_map(|mut buffer| sequences(&mut buffer));
        assert_eq!(written.collect::<Vec<_>>(), [1, 2]);
        drop(slot);
    });
}

/// What the drainer does. If the identifier has ended, its event is in the queue.
fn assert_ends_after_event(runtime: &'static Runtime) {
    let mut retirement = Retirement::new(runtime);
    retirement.purge().unwrap();
    let ended = retirement.take_settled();
    let mut buffers = runtime.buffers.queue.take_all().unwrap();
    if ended.events().count() > 0 {
        assert_eq!(sequences(&mut buffers[0]), [1]);
    }
}

/// A slot has one owner at a time, and a thread that looks at all slots finds them.
#[test]
fn thread_slots_have_one_owner() {
    loom::model(|| {
        let slots: &'static ThreadSlots = Box::leak(Box::default());
        let other = thread::spawn(|| {
            let mut slot = slots.take().unwrap();
            slot.check_out();
            slot.check_in(Some(new_buffer(1)));
            assert!(slots.iter().count() >= 1);
            drop(slot);
        });
        let mut slot = slots.take().unwrap();
        // The previous owner may have left its buffer.
        drop(slot.check_out());
        slot.check_in(Some(new_buffer(2)));
        other.join().unwrap();
        let left = slots
            .iter()
            .filter(|slot| slot.reclaim().unwrap().is_some());
        let left = left.count();
        assert_eq!(left, slots.iter().count());
    });
}

/// No two threads get the same slot, even if one that is about to be taken off the free ones is
/// taken, used and freed meanwhile, and no free one gets lost.
#[test]
fn free_slots_are_given_to_one_thread_each() {
    loom::model(|| {
        let slots: &'static ThreadSlots = Box::leak(Box::default());
        drop([(); 3].map(|()| slots.take().unwrap()));
        let other = thread::spawn(|| {
            let (top, second) = (slots.take().unwrap(), slots.take().unwrap());
            drop(top);
            second
        });
        let mine = [(); 2].map(|()| slots.take().unwrap());
        let theirs = other.join().unwrap();
        let mut numbers = [&mine[0], &mine[1], &theirs].map(|slot| slot.shared().number());
        numbers.sort_unstable();
        assert!(
            numbers.windows(2).all(|pair| pair[0] != pair[1]),
            "{numbers:?}"
        );
        assert!(numbers[2] <= 4, "{numbers:?}");
        drop((mine, theirs));
        let all = slots.iter().count();
        let taken: Vec<_> = (0..all).map(|_| slots.take().unwrap()).collect();
        assert_eq!(slots.iter().count(), all, "all were free");
        drop(taken);
    });
}

/// Of names that are given while the thread takes them and the drainer copies them, the last one arrives, at the
/// latest when all is over, and behind those before it. Each is copied once at most.
#[test]
fn the_last_name_arrives_last() {
    loom::model(|| {
        let new_name: &'static NewName = Box::leak(Box::default());
        let give = |name: &str| new_name.give(Name::try_new(JavaThreadId(1), name).unwrap());
        let taker = thread::spawn(|| [(); 2].map(|()| new_name.take()));
        let copier = thread::spawn(|| [(); 2].map(|()| new_name.copy()));
        give("first");
        give("second");
        let copied = copier.join().unwrap().into_iter().flatten();
        let copied: Vec<_> = copied.map(|name| name.text).collect();
        assert!(
            copied.len() < 2 || copied == ["first", "second"],
            "{copied:?}"
        );
        let taken = taker.join().unwrap().into_iter().chain([new_name.take()]);
        let names: Vec<_> = taken.flatten().map(|name| name.text).collect();
        assert!(
            names == ["second"] || names == ["first", "second"],
            "{names:?}"
        );
    });
}

/// Who takes the mark that some were renamed finds the names of all who left it.
#[test]
fn a_mark_stands_for_all_new_names() {
    loom::model(|| {
        let slots: &'static ThreadSlots = Box::leak(Box::default());
        let owned = [(); 2].map(|()| slots.take().unwrap());
        let others = [0, 1].map(|thread| {
            let slot = owned[thread].shared();
            thread::spawn(move || {
                slot.rename(JavaThreadId(1), "new").unwrap();
                slots.note_renamed();
            })
        });
        let look = || match slots.take_renamed() {
            true => slots.iter().filter_map(ThreadSlot::unwritten_name).count(),
            false => 0,
        };
        let early = look();
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(early + look(), 2);
    });
}

/// Safepoints arrive whole and in order, or are counted as lost, while places are used again.
#[test]
fn safepoints_arrive_whole_or_are_counted() {
    loom::model(|| {
        const ALL: u64 = 3;
        let safepoints = Arc::new(Safepoints::default());
        let vm_thread = thread::spawn({
            let safepoints = Arc::clone(&safepoints);
            move || {
                for number in 1..=ALL {
                    safepoints.add(Safepoint {
                        begin_ns: number,
                        reached_ns: number,
                        end_ns: number,
                    });
                }
            }
        });
        let mut taken = Vec::new();
        taken.extend(safepoints.take());
        vm_thread.join().unwrap();
        taken.extend(std::iter::from_fn(|| safepoints.take()));
        for found in &taken {
            assert_eq!([found.reached_ns, found.end_ns], [found.begin_ns; 2]);
        }
        assert!(taken.is_sorted_by(|a, b| a.begin_ns < b.begin_ns));
        assert_eq!(taken.len() as u64 + safepoints.lost(), ALL);
    });
}

/// Parts of hooks of several threads arrive whole, or are counted as lost.
#[test]
fn parts_of_hooks_arrive_whole_or_are_counted() {
    loom::model(|| {
        let parts = Arc::new(HookParts::default());
        let threads = [1, 2].map(|number| {
            let parts = Arc::clone(&parts);
            thread::spawn(move || {
                for time_ns in [1, 2] {
                    parts.add(ThreadId(number), time_ns, time_ns * u64::from(number));
                }
            })
        });
        let mut taken = Vec::new();
        taken.extend(parts.take());
        for thread in threads {
            thread.join().unwrap();
        }
        taken.extend(std::iter::from_fn(|| parts.take()));
        for found in &taken {
            assert_eq!(found.duration_ns, found.end_ns * u64::from(found.thread.0));
        }
        assert_eq!(taken.len() as u64 + parts.lost(), 4);
    });
}

/// A reader that finds the same number before and after has read data of that thread.
#[test]
fn an_identity_is_of_one_thread() {
    loom::model(|| {
        let identity = Arc::new(ThreadIdentity::default());
        let threads = thread::spawn({
            let identity = Arc::clone(&identity);
            move || {
                for number in [1, 2] {
                    identity.set(
                        ThreadId(number),
                        JavaThreadId(0),
                        StackRange::default(),
                        number,
                    );
                }
                identity.clear();
            }
        });
        let number = identity.number();
        if !number.is_none()
            && let Some(os_id) = identity.os_id(number)
        {
            assert_eq!(os_id, number.0);
        }
        threads.join().unwrap();
    });
}
