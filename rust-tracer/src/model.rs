//! Exhaustive tests of the lock-free modules by the loom model checker, which
//! runs them under every order of their atomic operations:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release -p rust-tracer --lib model
//! ```

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use trace_format::{Event, SegmentDecoder};

use crate::buffer::{Buffer, BufferBudget};
use crate::buffer_queue::BufferQueue;
use crate::buffer_slot::BufferSlot;
use crate::chain_set::{Added, ChainSet};
use crate::grace::{GracePeriod, Presence};
use crate::primitive::{AtomicU64, Ordering};
use crate::seats::{Seat, Seats};

fn new_buffer(index: u64) -> Box<Buffer> {
    let budget: &BufferBudget = Box::leak(Box::default());
    Buffer::try_new(budget, u64::MAX, 64, 1, index).unwrap()
}

fn write(buffer: &mut Buffer, sequence: u64) {
    let event = Event::LostNumber { lock: 1, sequence };
    buffer
        .write(|encoder, bytes| encoder.encode(bytes, &event))
        .unwrap();
}

fn sequences(buffer: &Buffer) -> Vec<u64> {
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
            move || slot.take()
        });
        for sequence in 1..=2 {
            let mut buffer = slot.take().unwrap_or_else(|| new_buffer(sequence));
            write(&mut buffer, sequence);
            slot.check_in(buffer);
        }
        let stolen = thief.join().unwrap();
        let left = slot.take();
        let written: Vec<u64> = [stolen, left]
            .iter()
            .flatten()
            .flat_map(|buffer| sequences(buffer))
            .collect();
        assert_eq!(written, [1, 2]);
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
        let mut buffers = queue.take_all();
        submitter.join().unwrap();
        other_submitter.join().unwrap();
        buffers.extend(queue.take_all());

        let mut indexes: Vec<u64> = buffers.iter().map(Buffer::index).collect();
        assert_eq!(indexes.len(), 3);
        indexes.retain(|&index| index != 10);
        assert_eq!(indexes, [1, 2]);
    });
}

/// Of two threads that add the same chain, one describes it.
#[test]
fn one_thread_describes_a_chain() {
    loom::model(|| {
        let set = Arc::new(ChainSet::new(1 << 20));
        let adder = thread::spawn({
            let set = set.clone();
            move || {
                let presence = Presence::default();
                [
                    set.add(&presence.enter(), &[1], 1),
                    set.add(&presence.enter(), &[2], 1),
                ]
            }
        });
        let presence = Presence::default();
        let mine = set.add(&presence.enter(), &[1], 1).unwrap();
        let [theirs, other] = adder.join().unwrap().map(Option::unwrap);

        let id = match (mine, theirs) {
            (Added::Describe(id), Added::Known(known))
            | (Added::Known(known), Added::Describe(id)) => {
                assert_eq!(id, known);
                id
            }
            both => panic!("{both:?}"),
        };
        assert!(matches!(other, Added::Describe(other) if other != id));
        assert_eq!(set.find(&presence.enter(), &[1], 1), Some(id));
    });
}

/// One of two threads describes a chain again in a new epoch.
#[test]
fn one_thread_describes_a_chain_again() {
    loom::model(|| {
        let set = Arc::new(ChainSet::new(1 << 20));
        let presence = Presence::default();
        set.add(&presence.enter(), &[1], 1).unwrap();
        let adder = thread::spawn({
            let set = set.clone();
            move || set.add(&Presence::default().enter(), &[1], 2).unwrap()
        });
        let both = [
            set.add(&presence.enter(), &[1], 2).unwrap(),
            adder.join().unwrap(),
        ];
        assert!(both.contains(&Added::Describe(1)) && both.contains(&Added::Known(1)));
    });
}

/// What was replaced is not touched once its grace period is over. The cells
/// stand for two tables; loom objects if one is read and changed at once.
#[test]
fn a_grace_period_outlasts_all_readers() {
    loom::model(|| {
        let tables = Arc::new([UnsafeCell::new(1), UnsafeCell::new(1)]);
        let current = Arc::new(AtomicU64::new(0));
        let presence = Arc::new(Presence::default());
        let reader = thread::spawn({
            let (tables, current, presence) = (tables.clone(), current.clone(), presence.clone());
            move || {
                for _ in 0..2 {
                    let present = presence.enter();
                    let table = current.load(Ordering::Acquire) as usize;
                    // SAFETY: loom checks that nobody changes the cell now.
                    tables[table].with(|value| assert_eq!(unsafe { *value }, 1));
                    drop(present);
                }
            }
        });
        current.swap(1, Ordering::AcqRel);
        let mut grace_period = GracePeriod::begin([&*presence].into_iter());
        while !grace_period.is_over() {
            thread::yield_now();
        }
        // SAFETY: loom checks that nobody reads the cell now.
        tables[0].with_mut(|value| unsafe { *value = 0 });
        reader.join().unwrap();
    });
}

/// A seat has one owner at a time, and whoever looks at all seats finds them.
#[test]
fn seats_have_one_owner() {
    loom::model(|| {
        let seats: &'static Seats = Box::leak(Box::default());
        let other = thread::spawn(|| {
            let mut seat = seats.take().unwrap();
            seat.check_in(new_buffer(1));
            assert!(seats.iter().count() >= 1);
            drop(seat);
        });
        let mut seat = seats.take().unwrap();
        // The previous owner may have left its buffer.
        drop(seat.check_out());
        seat.check_in(new_buffer(2));
        other.join().unwrap();
        let left = seats.iter().filter_map(Seat::reclaim).count();
        assert_eq!(left, seats.iter().count());
    });
}
