//! How threads release monitors, and wait in `Object.wait`.

use trace_format::{
    ChainId, ChainRef, ContendedExit, Event, ForwardRef, ForwardResolved, ThreadId,
};

use super::{Activity, INSIDE_WAIT, Owner, Release, Simulator, Wish};
use crate::history::{Exit, Hold};

impl Simulator {
    pub(super) fn begin_release(
        &mut self,
        thread: usize,
        object: usize,
        chain: ChainId,
        to_wait: bool,
    ) {
        let monitor = &mut self.monitors[object];
        let pending = std::mem::take(&mut monitor.forward_ref);
        if to_wait {
            monitor.wait_set.push(thread);
        }
        let mut release = Release {
            object,
            chain,
            to_wait: to_wait.then_some(pending),
            resolves: if to_wait { ForwardRef::NONE } else { pending },
            exit: None,
            released: false,
        };
        self.take_exit_number(&mut release);
        self.activities[thread] = Activity::Releasing(release);
        while !self.rules.races
            && let Activity::Releasing(release) = self.activities[thread]
        {
            self.go_on_releasing(thread, release);
        }
    }

    /// Takes the number of an exit event if a thread contends. Those that are
    /// notified do not need it.
    fn take_exit_number(&mut self, release: &mut Release) {
        let object = release.object;
        if !self.has_contenders(object) {
            return;
        }
        if release.to_wait == Some(ForwardRef::NONE) {
            release.to_wait = Some(self.next_forward_ref);
            self.next_forward_ref.0 += 1;
        }
        let (lock, sequence) = self.next_sequence(object);
        let (time_ns, forward_ref) = (self.now_ns, release.to_wait);
        let hold = self.hold(object);
        release.exit = Some(Exit {
            lock,
            sequence,
            time_ns,
            forward_ref,
            hold,
        });
    }

    pub(super) fn go_on_releasing(&mut self, thread: usize, mut release: Release) {
        if !release.released {
            self.let_go(thread, &release);
            release.released = true;
            self.activities[thread] = Activity::Releasing(release);
            return;
        }
        // Nobody was queued, but now somebody is: the monitor is taken again to
        // wake them.
        let monitor = &mut self.monitors[release.object];
        if release.exit.is_none() && !monitor.queue.is_empty() && monitor.owner.is_none() {
            monitor.owner = Some(Owner {
                thread,
                seen: false,
                since_ns: self.now_ns,
                entered: None,
            });
            self.take_exit_number(&mut release);
            self.let_go(thread, &release);
        }
        self.write_exit(thread, &release);
        self.activities[thread] = match release.to_wait {
            None => Activity::Running,
            Some(forward_ref) => Activity::Waiting(Wish {
                object: release.object,
                chain: INSIDE_WAIT,
                after_wait: Some(forward_ref),
            }),
        };
    }

    fn let_go(&mut self, thread: usize, release: &Release) {
        let owner = self.monitors[release.object]
            .owner
            .take()
            .expect("the thread");
        self.monitors[release.object].queue_runs_ns = self.now_ns + self.rules.wakeup_ns;
        self.history.holds.push(Hold {
            object: release.object,
            thread: ThreadId(thread as u32),
            chain: release.chain,
            start_ns: owner.since_ns,
            end_ns: self.now_ns,
            entered: owner.entered,
            exit: release.exit,
        });
    }

    fn write_exit(&mut self, thread: usize, release: &Release) {
        let chain = release.chain;
        if let Some(Exit {
            lock,
            sequence,
            time_ns,
            forward_ref,
            hold,
        }) = release.exit
        {
            let chain = forward_ref.map_or(ChainRef::Chain(chain), ChainRef::Forward);
            self.write(
                thread,
                Event::ContendedExit(ContendedExit {
                    lock,
                    sequence,
                    time_ns,
                    hold,
                    chain,
                }),
            );
        }
        if release.resolves != ForwardRef::NONE {
            let forward_ref = release.resolves;
            self.write(
                thread,
                Event::ForwardResolved(ForwardResolved { forward_ref, chain }),
            );
        }
    }

    /// Lets every thread write the number that it took or is to take.
    pub(super) fn write_what_has_a_number(&mut self) {
        for thread in 0..self.activities.len() {
            match self.activities[thread] {
                Activity::Acquired {
                    wish,
                    enter,
                    safepoint_ns,
                } => {
                    self.write_entered(thread, wish, enter, safepoint_ns);
                }
                Activity::Releasing(release) => {
                    if !release.released {
                        self.let_go(thread, &release);
                    }
                    self.write_exit(thread, &release);
                }
                _ => {}
            }
        }
    }

    pub(super) fn go_on_waiting(&mut self, thread: usize, wish: Wish, choice: u8) {
        let wait_set = &mut self.monitors[wish.object].wait_set;
        let times_out = choice.is_multiple_of(4);
        if times_out {
            wait_set.retain(|&waiting| waiting != thread);
        }
        if !wait_set.contains(&thread) {
            self.spin(thread, wish, choice % 3);
        }
    }
}
