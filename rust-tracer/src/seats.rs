//! What other threads see of a thread that is traced.

use std::ptr;

use crate::buffer::Buffer;
use crate::buffer_slot::{BufferSlot, CheckedOut};
use crate::fallible::try_box;
use crate::hook_costs::HookCosts;
use crate::primitive::{AtomicBool, AtomicIsize, AtomicPtr, Ordering};

/// The shared part of a thread's tracer. Seats are never freed but used again,
/// so that anybody may look at all of them at any time.
///
/// Aligned to a pair of cache lines, which processors fetch together: a thread
/// writes to its seat with every event.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Seat {
    buffer: BufferSlot,
    /// Of all threads that ever had the seat.
    costs: HookCosts,
    taken: AtomicBool,
    /// Set before the seat is published and constant afterwards.
    next: AtomicPtr<Seat>,
}

impl Seat {
    /// Takes the thread's buffer, unless it is being written to.
    pub(crate) fn reclaim(&self) -> Result<Option<Box<Buffer>>, CheckedOut> {
        self.buffer.take()
    }

    /// What hooks have cost the threads of this seat.
    pub(crate) fn costs(&self) -> &HookCosts {
        &self.costs
    }
}

/// The right of one thread to a seat; frees the seat when dropped.
#[derive(Debug)]
pub(crate) struct OwnedSeat {
    seat: &'static Seat,
    seats: &'static Seats,
}

impl OwnedSeat {
    /// Takes the thread's buffer, if it has one, to write to it.
    pub(crate) fn check_out(&mut self) -> Option<Box<Buffer>> {
        self.seat.buffer.check_out()
    }

    /// Puts a buffer, checked out or new, where others can take it; `None` if the
    /// thread has none any more.
    pub(crate) fn check_in(&mut self, buffer: Option<Box<Buffer>>) {
        self.seat.buffer.check_in(buffer);
    }

    /// Where the thread counts, and no other thread.
    pub(crate) fn costs(&mut self) -> &HookCosts {
        &self.seat.costs
    }
}

impl Drop for OwnedSeat {
    fn drop(&mut self) {
        // Release: the next thread sees what this one did with the seat.
        self.seat.taken.store(false, Ordering::Release);
        self.seats.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// All seats of a runtime.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    newest: AtomicPtr<Seat>,
    /// Estimate of the seats that are free; spares threads the search for one
    /// where there is none.
    free: AtomicIsize,
}

impl Seats {
    /// A seat for a thread, or `None` when memory is short.
    pub(crate) fn take(&'static self) -> Option<OwnedSeat> {
        if self.free.load(Ordering::Relaxed) > 0 {
            // Acquire: sees what the previous thread did with the seat.
            let free = self.iter().find(|seat| {
                let taken = &seat.taken;
                !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
            });
            if let Some(seat) = free {
                self.free.fetch_sub(1, Ordering::Relaxed);
                return Some(OwnedSeat { seat, seats: self });
            }
        }
        let seat = try_box(Seat {
            taken: AtomicBool::new(true),
            ..Seat::default()
        })?;
        Some(OwnedSeat {
            seat: self.publish(Box::leak(seat)),
            seats: self,
        })
    }

    fn publish(&self, seat: &'static Seat) -> &'static Seat {
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            seat.next.store(newest, Ordering::Relaxed);
            // Release: who finds the seat sees it initialized.
            let published = self.newest.compare_exchange_weak(
                newest,
                ptr::from_ref(seat).cast_mut(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            match published {
                Ok(_) => return seat,
                Err(found) => newest = found,
            }
        }
    }

    /// All seats, the free ones included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Seat> + use<> {
        // Acquire: sees the seat initialized, and with it all older ones.
        let mut next = self.newest.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: null or a seat that `take` leaked, hence valid for ever.
            let seat: &'static Seat = unsafe { next.as_ref() }?;
            next = seat.next.load(Ordering::Relaxed);
            Some(seat)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;
    use crate::buffer::BufferBudget;

    #[test]
    fn seats_are_used_again() {
        let seats: &Seats = Box::leak(Box::default());
        for _ in 0..100 {
            let both = (seats.take().unwrap(), seats.take().unwrap());
            assert!(!ptr::eq(both.0.seat, both.1.seat));
        }
        assert_eq!(seats.iter().count(), 2);
    }

    #[test]
    fn no_two_threads_get_the_same_seat() {
        let seats: &Seats = Box::leak(Box::default());
        let budget: &BufferBudget = Box::leak(Box::default());
        thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || {
                    for round in 0..2000 {
                        let mut seat = seats.take().unwrap();
                        let charge = budget.charge(100, u64::MAX).unwrap();
                        seat.check_out();
                        seat.check_in(Buffer::try_new(charge, 100, number, round));
                        thread::yield_now();
                        // Another thread's, if it came to the same seat.
                        let buffer = seat.check_out().unwrap();
                        assert_eq!((buffer.thread(), buffer.index()), (number, round));
                        seat.check_in(None);
                    }
                });
            }
        });
        assert!(seats.iter().count() <= 8);
    }
}
