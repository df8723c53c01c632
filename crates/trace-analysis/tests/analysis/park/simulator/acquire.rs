//! How threads acquire: `AbstractQueuedSynchronizer.acquireQueued` and its likes.

use super::park::Parking;
use super::release::ShareRelease;
use super::{Frame, Hold, Node, Role, Simulator, Status, Unparking, thread_id};
use crate::park::history::Kind;

/// An acquisition on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquire {
    at: usize,
    method: u8,
    timed: bool,
    interruptible: bool,
    stage: Stage,
    /// Identity hash code of the node in the queue.
    node: u32,
    /// The first and the last park of this call.
    parks: Option<(usize, usize)>,
    was_interrupted: bool,
    timed_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody needs to queue up for a lock that is free.
    Barge,
    Enqueue,
    Try,
    /// Asks the node before for a signal, so that the next park is not in vain.
    AskForSignal,
    Park,
    WokenUp,
    TellOwner {
        queued: bool,
    },
    SetOwner {
        queued: bool,
    },
    BecomeHead,
    Acquired,
}

/// The queue's node of a thread that gives up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cancel {
    at: usize,
    node: u32,
    method: u8,
    marked: bool,
}

impl Acquire {
    pub(super) fn is_of(&self, at: usize) -> bool {
        self.at == at
    }

    pub(super) fn has_just_woken_up(&self) -> bool {
        self.stage == Stage::WokenUp
    }
}

impl Cancel {
    pub(super) fn is_of(&self, at: usize) -> bool {
        self.at == at
    }
}

impl Simulator {
    pub(super) fn begin_acquire(&mut self, thread: usize, at: usize, method: u8, variant: u8) {
        let acquire = Acquire {
            at,
            method,
            timed: variant % 4 == 1,
            interruptible: matches!(variant % 4, 1 | 2),
            stage: Stage::Barge,
            node: 0,
            parks: None,
            was_interrupted: false,
            timed_out: false,
        };
        self.call(thread, Frame::Acquire(acquire));
    }

    pub(super) fn acquire(&mut self, thread: usize, mut acquire: Acquire) {
        let at = acquire.at;
        let shared = !self.objects[at].object.kind.is_exclusive();
        acquire.stage = match acquire.stage {
            Stage::Barge => {
                let queue = &self.objects[at].queue;
                let is_fair = matches!(
                    self.objects[at].object.kind,
                    Kind::ReentrantLock { fair: true, .. }
                );
                let waits_its_turn = is_fair && queue.len() > 1;
                if !waits_its_turn && self.try_acquire(thread, &acquire) {
                    Stage::TellOwner { queued: false }
                } else {
                    Stage::Enqueue
                }
            }
            Stage::Enqueue => {
                if self.objects[at].queue.is_empty() {
                    let head = self.new_node(0, false);
                    self.objects[at].queue.push(head);
                }
                let node = self.new_node(thread, shared);
                acquire.node = node.id;
                self.objects[at].queue.push(node);
                Stage::Try
            }
            Stage::Try => {
                if self.objects[at].position(acquire.node) == 1
                    && self.try_acquire(thread, &acquire)
                {
                    Stage::TellOwner { queued: true }
                } else if acquire.timed_out {
                    return self.give_up(thread, &acquire);
                } else {
                    Stage::AskForSignal
                }
            }
            Stage::AskForSignal => {
                if self.objects[at].ask_for_signal(acquire.node) {
                    Stage::Park
                } else {
                    Stage::Try
                }
            }
            Stage::Park => {
                let role = if shared { "share" } else { "lock" };
                let parking = Parking::new(Some(at), role, acquire.method, acquire.timed);
                let parking = parking.of_call(acquire.parks);
                acquire.stage = Stage::WokenUp;
                self.call(thread, Frame::Acquire(acquire));
                return self.call(thread, Frame::Park(parking));
            }
            Stage::WokenUp => {
                if std::mem::take(&mut self.threads[thread].interrupted) {
                    if acquire.interruptible {
                        return self.give_up(thread, &acquire);
                    }
                    acquire.was_interrupted = true;
                }
                Stage::Try
            }
            Stage::TellOwner { queued } => {
                let object = &mut self.objects[at];
                if object.interest
                    && let Some(hold) = object.hold
                {
                    object.noted_ns = Some(self.now_ns);
                    self.history.holds[hold].noted_ns = Some(self.now_ns);
                }
                Stage::SetOwner { queued }
            }
            Stage::SetOwner { queued } => {
                let object = &mut self.objects[at];
                if let Kind::ReentrantLock { .. } = object.object.kind {
                    object.owner = object.hold;
                }
                if queued {
                    Stage::BecomeHead
                } else {
                    Stage::Acquired
                }
            }
            Stage::BecomeHead => {
                let passes_on = self.objects[at].become_head(acquire.node);
                acquire.stage = Stage::Acquired;
                self.call(thread, Frame::Acquire(acquire));
                if passes_on {
                    let release = ShareRelease::new(at, acquire.method, Role::PassOn);
                    self.call(thread, Frame::ShareRelease(release));
                }
                return;
            }
            Stage::Acquired => {
                if !matches!(self.objects[at].object.kind, Kind::Latch { .. }) {
                    self.threads[thread].acquired.push(at);
                }
                if acquire.was_interrupted {
                    self.interrupt(thread, thread);
                }
                return;
            }
        };
        self.call(thread, Frame::Acquire(acquire));
    }

    /// The last park of this thread's call has ended.
    pub(super) fn note_park(&mut self, thread: usize, park: usize) {
        if let Some(Frame::Acquire(acquire)) = self.threads[thread].frames.last_mut() {
            let first = acquire.parks.map_or(park, |(first, _)| first);
            acquire.parks = Some((first, park));
        }
    }

    /// The time of this thread's call is over.
    pub(super) fn note_time_out(&mut self, thread: usize) {
        if let Some(Frame::Acquire(acquire)) = self.threads[thread].frames.last_mut() {
            acquire.timed_out = true;
        }
    }

    fn try_acquire(&mut self, thread: usize, acquire: &Acquire) -> bool {
        let start_ns = self.now_ns;
        let object = &mut self.objects[acquire.at];
        match object.object.kind {
            Kind::Latch { .. } => object.state == 0,
            Kind::Semaphore { .. } => {
                let is_left = object.state > 0;
                object.state -= u32::from(is_left);
                is_left
            }
            _ if object.hold.is_some() => false,
            _ => {
                object.hold = Some(self.history.holds.len());
                self.history.holds.push(Hold {
                    thread: thread_id(thread),
                    object: object.object,
                    start_ns,
                    end_ns: None,
                    park: acquire.parks.map(|(_, last)| last),
                    released_by: None,
                    noted_ns: None,
                    reported: None,
                });
                true
            }
        }
    }

    fn give_up(&mut self, thread: usize, acquire: &Acquire) {
        if let Some((_, last)) = acquire.parks {
            self.history.parks[last].gave_up = true;
        }
        let cancel = Cancel {
            at: acquire.at,
            node: acquire.node,
            method: acquire.method,
            marked: false,
        };
        self.call(thread, Frame::Cancel(cancel));
    }

    /// `cancelAcquire`.
    pub(super) fn cancel(&mut self, thread: usize, cancel: Cancel) {
        let queue = &mut self.objects[cancel.at].queue;
        let own = queue.iter().position(|node| node.id == cancel.node);
        if !cancel.marked {
            let own = &mut queue[own.expect("not removed before")];
            own.thread = 0;
            own.status = Status::Cancelled;
            let marked = true;
            return self.call(thread, Frame::Cancel(Cancel { marked, ..cancel }));
        }
        // The next thread in the queue may have removed the node.
        let own = own.map_or(1, |own| {
            queue.remove(own);
            own
        });
        if own >= queue.len() {
            return;
        }
        let mut before = queue[..own].iter_mut().rev();
        let before = before.find(|node| !node.is_cancelled());
        let before = before.expect("the head is not cancelled");
        if before.thread != 0 {
            before.status = Status::Signal;
        } else if let Some(target) = successor(&queue[own..]) {
            let role = Role::Cancel;
            let unparking = Unparking::new(target, role, cancel.method);
            self.call(thread, Frame::Unpark(unparking));
        }
    }
}

impl super::Synchronizer {
    fn position(&self, node: u32) -> usize {
        let at = self.queue.iter().position(|other| other.id == node);
        at.expect("in the queue while it waits")
    }

    /// `shouldParkAfterFailedAcquire`.
    fn ask_for_signal(&mut self, node: u32) -> bool {
        let before = self.position(node) - 1;
        match self.queue[before].status {
            Status::Signal => true,
            Status::Cancelled => {
                self.queue.remove(before);
                false
            }
            Status::Initial | Status::Propagate => {
                self.queue[before].status = Status::Signal;
                false
            }
        }
    }

    /// `setHeadAndPropagate`. Whether the next thread is to be woken, too.
    fn become_head(&mut self, node: u32) -> bool {
        let old = self.queue[0].status;
        self.queue.drain(..self.position(node));
        let head = &mut self.queue[0];
        head.thread = 0;
        let is_left = match self.object.kind {
            Kind::Semaphore { .. } => self.state > 0,
            Kind::Latch { .. } => true,
            _ => return false,
        };
        let asked = |status| matches!(status, Status::Signal | Status::Propagate);
        let next_shares = self.queue.get(1).is_none_or(|next| next.shared);
        (is_left || asked(old) || asked(self.queue[0].status)) && next_shares
    }

    /// `unparkSuccessor` of the head: who is to be unparked.
    pub(super) fn signal_successor(&mut self) -> Option<usize> {
        let head = self.queue.first_mut()?;
        head.status = Status::Initial;
        successor(&self.queue[1..])
    }
}

/// The first thread that has not given up.
fn successor(queue: &[Node]) -> Option<usize> {
    let mut waiting = queue.iter().filter(|node| !node.is_cancelled());
    waiting.next().map(|node| node.thread)
}

impl Node {
    fn is_cancelled(&self) -> bool {
        self.status == Status::Cancelled
    }
}
