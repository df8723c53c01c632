//! How threads acquire monitors.

use trace_format::{
    ClassId, ContendedEnter, ContendedEntered, Event, LockDescription, LockId, LockOwner, ThreadId,
};

use super::{Activity, Enter, Owner, Simulator, Wish};
use crate::history::TrueWait;
use crate::script;

impl Simulator {
    pub(super) fn spin(&mut self, thread: usize, wish: Wish, tries_left: u8) {
        if self.monitors[wish.object].owner.is_none() {
            self.acquire(thread, wish);
            self.activities[thread] = Activity::Running;
        } else if tries_left > 0 {
            let tries_left = tries_left - 1;
            self.activities[thread] = Activity::Spinning { wish, tries_left };
        } else {
            self.write_enter(thread, wish);
        }
    }

    fn write_enter(&mut self, thread: usize, wish: Wish) {
        let object = wish.object;
        if self.monitors[object].lock == LockId::NONE {
            self.monitors[object].lock = self.next_lock;
            self.next_lock.0 += 1;
            let description = Event::LockDescription(LockDescription {
                lock: self.monitors[object].lock,
                class: ClassId(1),
                mirrored_class: ClassId::NONE,
                identity_hash: object as u32 + 1,
                monitor_address: 0,
            });
            self.write(thread, description);
        }
        let (lock, sequence) = self.next_sequence(object);
        let time_ns = self.now_ns;
        let event = Event::ContendedEnter(ContendedEnter {
            lock,
            sequence,
            time_ns,
            chain: wish.chain,
            after_wait: wish.after_wait.is_some(),
            owner: self.see_owner(object),
        });
        self.write(thread, event);
        let safepoint_ns = self.safepoint_ns;
        let enter = Enter {
            sequence,
            time_ns,
            safepoint_ns,
        };
        self.activities[thread] = Activity::Blocked { wish, enter };
        if !self.rules.races {
            self.queue(thread, object);
        }
    }

    fn see_owner(&mut self, object: usize) -> LockOwner {
        let Some(owner) = &mut self.monitors[object].owner else {
            return LockOwner::NotKnown;
        };
        owner.seen = true;
        match ThreadId(owner.thread as u32) {
            // Not a number that a tracer gives to a thread: it is on its stack.
            ThreadId::NONE => LockOwner::OnStack(script::stack_of(ThreadId::NONE).lowest + 1),
            thread => LockOwner::Thread(thread),
        }
    }

    fn queue(&mut self, thread: usize, object: usize) {
        let queue = &mut self.monitors[object].queue;
        if !queue.contains(&thread) {
            queue.push(thread);
        }
    }

    /// Enters a monitor if it is free: the thread scheduled first gets it, queued or not.
    pub(super) fn try_to_enter(&mut self, thread: usize, wish: Wish, enter: Enter) {
        let monitor = &self.monitors[wish.object];
        if monitor.owner.is_some() {
            return self.queue(thread, wish.object);
        }
        if monitor.queue.contains(&thread) && self.now_ns < monitor.queue_runs_ns {
            return;
        }
        self.acquire(thread, wish);
        let safepoint_ns = self.safepoint_ns - enter.safepoint_ns;
        self.activities[thread] = Activity::Acquired {
            wish,
            enter,
            safepoint_ns,
        };
        if !self.rules.races {
            self.write_entered(thread, wish, enter, safepoint_ns);
        }
    }

    fn acquire(&mut self, thread: usize, wish: Wish) {
        let monitor = &mut self.monitors[wish.object];
        monitor.queue.retain(|&queued| queued != thread);
        monitor.owner = Some(Owner {
            thread,
            seen: false,
            since_ns: self.now_ns,
            entered: None,
        });
        match wish.after_wait {
            Some(forward_ref) => monitor.forward_ref = forward_ref,
            None => self.regions[thread].push((wish.object, wish.chain)),
        }
    }

    pub(super) fn write_entered(
        &mut self,
        thread: usize,
        wish: Wish,
        enter: Enter,
        safepoint_ns: u64,
    ) {
        let object = wish.object;
        let (lock, sequence) = self.next_sequence(object);
        let owner = self.monitors[object].owner.as_mut().expect("the thread");
        owner.entered = Some(sequence);
        let time_ns = owner.since_ns;
        let event = Event::ContendedEntered(ContendedEntered {
            lock,
            sequence,
            time_ns,
            safepoint_ns,
        });
        self.write(thread, event);
        self.history.waits.push(TrueWait {
            object,
            lock,
            thread: ThreadId(thread as u32),
            chain: wish.chain,
            after_wait: wish.after_wait.is_some(),
            start_ns: enter.time_ns,
            end_ns: time_ns,
            safepoint_ns,
            enter: enter.sequence,
            entered: sequence,
        });
        self.activities[thread] = Activity::Running;
    }
}
