//! How threads release, and how they unpark and interrupt each other.

use trace_format::{ChainId, Event, ExclusiveRelease, Hold, JavaThreadId, LockId, Permit, Unpark};

use super::{Frame, Given, Role, Simulator, Status, blocker, thread_id};
use crate::park::history::{Kind, Meaning, What};
use crate::park::script as park_script;
use crate::simulator::Action;

/// A release of an exclusive lock on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    at: usize,
    method: u8,
    hold: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    LookAtInterest,
    LookForWaiters,
    LookAgain,
    TakeNumber,
    Tell { number: (LockId, u64), time_ns: u64 },
    ClearOwner,
    ClearState,
    LookAtHead,
}

/// `doReleaseShared` on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShareRelease {
    at: usize,
    method: u8,
    role: Role,
    /// The head that has been treated.
    head: Option<u32>,
}

/// An unpark on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unparking {
    target: usize,
    role: Role,
    method: u8,
    stage: UnparkStage,
}

#[derive(Clone, Copy, Debug)]
enum UnparkStage {
    LookAtBlocker,
    TakeNumber {
        object: Option<usize>,
    },
    LookAtOwner {
        object: Option<usize>,
        number: (LockId, u64),
        time_ns: u64,
    },
    GivePermit {
        object: Option<usize>,
        meaning: usize,
    },
}

impl ShareRelease {
    pub(super) fn new(at: usize, method: u8, role: Role) -> Self {
        let head = None;
        Self {
            at,
            method,
            role,
            head,
        }
    }
}

impl Unparking {
    pub(super) fn new(target: usize, role: Role, method: u8) -> Self {
        let stage = UnparkStage::LookAtBlocker;
        Self {
            target,
            role,
            method,
            stage,
        }
    }

    fn sees(&self, at: usize) -> bool {
        match self.stage {
            UnparkStage::LookAtBlocker => false,
            UnparkStage::TakeNumber { object }
            | UnparkStage::LookAtOwner { object, .. }
            | UnparkStage::GivePermit { object, .. } => object == Some(at),
        }
    }

    fn chain(&self) -> ChainId {
        let role = match self.role {
            Role::PassOn => "pass/",
            Role::Cancel => "cancel/",
            Role::Release(None) => "unshare/",
            Role::Release(Some(_)) => "release/",
            _ => "",
        };
        park_script::chain_id(&format!("{role}{}", char::from(self.method)))
    }
}

impl Simulator {
    pub(super) fn begin_release(&mut self, thread: usize, at: usize, method: u8) {
        let object = &mut self.objects[at];
        if let Some(hold) = object.hold {
            let stage = match object.object.kind {
                Kind::ReentrantLock { .. } => Stage::LookAtInterest,
                _ => Stage::ClearState,
            };
            let release = Release {
                at,
                method,
                hold,
                stage,
            };
            self.call(thread, Frame::Release(release));
        } else {
            object.state += 1;
            let release = ShareRelease::new(at, method, Role::Release(None));
            self.call(thread, Frame::ShareRelease(release));
        }
    }

    /// `ReentrantLock.tryRelease`, then `AbstractQueuedSynchronizer.release`.
    pub(super) fn release(&mut self, thread: usize, mut release: Release) {
        let object = &mut self.objects[release.at];
        release.stage = match release.stage {
            Stage::LookAtInterest if object.interest => Stage::LookForWaiters,
            Stage::LookAtInterest => Stage::ClearOwner,
            Stage::LookForWaiters => {
                if object.queue.len() > 1 {
                    Stage::TakeNumber
                } else {
                    object.interest = false;
                    Stage::LookAgain
                }
            }
            Stage::LookAgain if object.queue.len() > 1 => {
                object.interest = true;
                Stage::TakeNumber
            }
            Stage::LookAgain => {
                object.noted_ns = None;
                Stage::ClearOwner
            }
            Stage::TakeNumber => Stage::Tell {
                number: self.next_number(Some(release.at), thread),
                time_ns: self.now_ns,
            },
            Stage::Tell { number, time_ns } => {
                self.report_release(thread, &release, number, time_ns);
                Stage::ClearOwner
            }
            Stage::ClearOwner => {
                object.owner = None;
                Stage::ClearState
            }
            Stage::ClearState => {
                object.hold = None;
                self.history.holds[release.hold].end_ns = Some(self.now_ns);
                Stage::LookAtHead
            }
            Stage::LookAtHead => {
                let is_asked = object
                    .queue
                    .first()
                    .is_some_and(|head| head.status != Status::Initial);
                if is_asked && let Some(target) = object.signal_successor() {
                    self.history.holds[release.hold].released_by = Some(release.method);
                    let role = Role::Release(Some(release.hold));
                    let unparking = Unparking::new(target, role, release.method);
                    self.call(thread, Frame::Unpark(unparking));
                }
                return;
            }
        };
        self.call(thread, Frame::Release(release));
    }

    /// As `AbstractOwnableSynchronizer.setExclusiveOwnerThread(null)` does in a traced VM.
    fn report_release(
        &mut self,
        thread: usize,
        release: &Release,
        (domain, sequence): (LockId, u64),
        time_ns: u64,
    ) {
        let object = &mut self.objects[release.at];
        let noted_ns = object.noted_ns.take();
        let object = object.object;
        self.history.holds[release.hold].reported = Some((time_ns, release.method));
        self.push_meaning(Meaning {
            domain,
            sequence,
            time_ns,
            thread: thread_id(thread),
            object,
            what: What::Release { hold: release.hold },
            shows: None,
        });
        let event = ExclusiveRelease {
            domain,
            sequence,
            time_ns,
            blocker: blocker(object),
            hold: noted_ns.map_or(Hold::BeforeContention, |noted_ns| Hold::For {
                duration_ns: time_ns - noted_ns,
            }),
            chain: park_script::chain_id(&format!("report/{}", char::from(release.method))),
        };
        self.write(thread, Event::ExclusiveRelease(event));
    }

    /// Opens the latch, if this is the last count. Then the next ones to use it use
    /// another one.
    pub(super) fn count_down(&mut self, thread: usize, at: usize, method: u8) {
        let latch = &mut self.objects[at];
        if latch.state > 0 {
            latch.state -= 1;
            if latch.state == 0 {
                let release = ShareRelease::new(at, method, Role::Release(None));
                self.call(thread, Frame::ShareRelease(release));
            }
        } else if self.threads.iter().all(|thread| !thread.uses(at)) {
            self.objects[at] = self.new_synchronizer(at, self.objects[at].object.kind);
        }
    }

    /// `doReleaseShared`.
    pub(super) fn release_shared(&mut self, thread: usize, mut release: ShareRelease) {
        let object = &mut self.objects[release.at];
        let head = object.queue.first().map(|head| head.id);
        if head.is_none() || release.head == head {
            return;
        }
        if object.queue.len() > 1 && object.queue[0].status == Status::Signal {
            let target = object.signal_successor();
            // Looks at the head again: the thread woken may have become it.
            release.head = head;
            self.call(thread, Frame::ShareRelease(release));
            if let Some(target) = target {
                let unparking = Unparking::new(target, release.role, release.method);
                self.call(thread, Frame::Unpark(unparking));
            }
            return;
        }
        if object.queue.len() > 1 && object.queue[0].status == Status::Initial {
            object.queue[0].status = Status::Propagate;
        }
        release.head = head;
        self.call(thread, Frame::ShareRelease(release));
    }

    /// `LockSupport.unpark` of a thread that is parked without a synchronizer, if
    /// there is one.
    pub(super) fn wake(&mut self, thread: usize, action: &Action, method: u8) {
        let is_parked = |thread: &super::Thread| match thread.frames[..] {
            [Frame::Park(parking)] => parking.is_blocked(),
            _ => false,
        };
        let first = usize::from(action.duration_ns);
        let mut all = (0..self.threads.len()).map(|at| (at + first) % self.threads.len());
        if let Some(target) = all.find(|&target| is_parked(&self.threads[target])) {
            let mut unparking = Unparking::new(target, Role::Wake, method);
            let object = self.threads[target].blocker;
            unparking.stage = UnparkStage::TakeNumber { object };
            self.call(thread, Frame::Unpark(unparking));
        }
    }

    /// `Thread.interrupt`.
    pub(super) fn interrupt(&mut self, thread: usize, target: usize) {
        self.threads[target].interrupted = true;
        let unparking = Unparking::new(target, Role::Interrupt, b'i');
        self.call(thread, Frame::Unpark(unparking));
    }

    pub(super) fn unpark(&mut self, thread: usize, mut unparking: Unparking) {
        let target = unparking.target;
        unparking.stage = match unparking.stage {
            UnparkStage::LookAtBlocker => {
                let object = self.threads[target].blocker;
                let object = object.filter(|_| unparking.role != Role::Interrupt);
                UnparkStage::TakeNumber { object }
            }
            UnparkStage::TakeNumber { object } => UnparkStage::LookAtOwner {
                object,
                number: self.next_number(object, target),
                time_ns: self.now_ns,
            },
            UnparkStage::LookAtOwner {
                object,
                number: (domain, sequence),
                time_ns,
            } => {
                let meaning = self.push_meaning(Meaning {
                    domain,
                    sequence,
                    time_ns,
                    thread: thread_id(thread),
                    object: object.map_or(self.nothing(), |at| self.objects[at].object),
                    what: What::Unpark {
                        method: unparking.method,
                        role: unparking.role,
                        target: thread_id(target),
                    },
                    shows: self.owner(object),
                });
                UnparkStage::GivePermit { object, meaning }
            }
            UnparkStage::GivePermit { meaning, .. } => {
                return self.give_permit(thread, &unparking, meaning);
            }
        };
        self.call(thread, Frame::Unpark(unparking));
    }

    /// `Parker::unpark`. A permit is of no use to a thread that has one.
    fn give_permit(&mut self, thread: usize, unparking: &Unparking, meaning: usize) {
        let target = &mut self.threads[unparking.target];
        let mut permit = Permit::NONE;
        let interrupt = unparking.role == Role::Interrupt;
        let event = self.history.meanings[meaning];
        if target.permit.is_none() {
            target.last_permit.0 += 1;
            permit = target.last_permit;
            target.permit = Some(Given {
                permit,
                interrupt,
                unseen: event.object.kind == Kind::Nothing,
                meaning,
            });
        }
        let unpark = Unpark {
            domain: event.domain,
            sequence: event.sequence,
            time_ns: event.time_ns,
            target: JavaThreadId(unparking.target as u64),
            permit,
            blocker: blocker(event.object),
            owner: JavaThreadId(self.owner_id(event.shows)),
            interrupt,
            never_acquired: false,
            waiters: 0,
            chain: unparking.chain(),
        };
        self.write(thread, Event::Unpark(unpark));
    }
}

impl super::Thread {
    /// The thread is in a method of the object.
    fn uses(&self, at: usize) -> bool {
        self.frames.iter().any(|frame| match frame {
            Frame::Acquire(acquire) => acquire.is_of(at),
            Frame::Cancel(cancel) => cancel.is_of(at),
            Frame::ShareRelease(release) => release.at == at,
            Frame::Unpark(unparking) => unparking.sees(at),
            Frame::Park(_) | Frame::Release(_) => false,
        })
    }
}
