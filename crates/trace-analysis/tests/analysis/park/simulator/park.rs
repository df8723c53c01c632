//! How threads park: `LockSupport.park`, and below it `Parker::park`.

use trace_format::{
    ChainId, Event, JavaThreadId, LockId, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Permit,
};

use super::{Frame, Given, Simulator, blocker, thread_id};
use crate::park::history::{Kind, Meaning, Object, Park, ParkEnded, What};
use crate::park::script as park_script;

/// A park on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parking {
    at: Option<usize>,
    role: &'static str,
    method: u8,
    timed: bool,
    /// The call's first park.
    first: Option<usize>,
    /// The safepoint clock when the park began.
    safepoint_ns: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    SetBlocker,
    LookAtQueue,
    TakeNumber {
        continued: bool,
    },
    LookAtOwner {
        begin: Number,
        continued: bool,
    },
    TakePermit {
        park: usize,
    },
    Blocked {
        park: usize,
    },
    TakeEndNumber {
        park: usize,
        woken: Woken,
    },
    LookAtEndOwner {
        park: usize,
        woken: Woken,
        end: Number,
    },
    RememberPlace,
    ClearBlocker,
}

#[derive(Clone, Copy, Debug)]
struct Number {
    domain: LockId,
    sequence: u64,
    time_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Woken {
    permit: Option<Given>,
    waited: bool,
    timed_out: bool,
}

impl Parking {
    pub(super) fn new(at: Option<usize>, role: &'static str, method: u8, timed: bool) -> Self {
        Self {
            at,
            role,
            method,
            timed,
            first: None,
            safepoint_ns: 0,
            stage: Stage::SetBlocker,
        }
    }

    pub(super) fn of_call(self, parks: Option<(usize, usize)>) -> Self {
        let first = parks.map(|(first, _)| first);
        Self { first, ..self }
    }

    pub(super) fn is_blocked(&self) -> bool {
        matches!(self.stage, Stage::Blocked { .. })
    }

    fn chain(&self) -> ChainId {
        let method = char::from(self.method);
        let role = self.role;
        park_script::chain_id(&if role.is_empty() {
            method.to_string()
        } else {
            format!("{role}/{method}")
        })
    }
}

impl Simulator {
    /// Parks on an object that is no synchronizer, or on none.
    pub(super) fn begin_bare_park(&mut self, thread: usize, at: usize, method: u8, variant: u8) {
        let object = (self.objects[at].object.kind != Kind::Nothing).then_some(at);
        let parking = Parking::new(object, "", method, variant % 2 == 1);
        self.call(thread, Frame::Park(parking));
    }

    pub(super) fn park(&mut self, thread: usize, mut parking: Parking, choice: u8) {
        let at = parking.at;
        parking.stage = match parking.stage {
            Stage::SetBlocker => {
                self.threads[thread].blocker = at;
                Stage::LookAtQueue
            }
            Stage::LookAtQueue => {
                if let Some(at) = at {
                    let object = &mut self.objects[at];
                    let reports = matches!(
                        object.object.kind,
                        Kind::ReentrantLock { reports: true, .. }
                    );
                    object.interest |= reports;
                }
                let place = self.place_of(thread, at);
                let continued = place.is_some() && place == self.threads[thread].last_place;
                Stage::TakeNumber { continued }
            }
            Stage::TakeNumber { continued } => {
                parking.safepoint_ns = self.safepoint_ns;
                let begin = self.number(at, thread);
                Stage::LookAtOwner { begin, continued }
            }
            Stage::LookAtOwner { begin, continued } => {
                let park = self.write_begin(thread, &parking, begin, continued);
                Stage::TakePermit { park }
            }
            Stage::TakePermit { park } => {
                let permit = self.threads[thread].permit.take();
                if permit.is_some() || self.threads[thread].interrupted {
                    let woken = Woken {
                        permit,
                        waited: false,
                        timed_out: false,
                    };
                    Stage::TakeEndNumber { park, woken }
                } else {
                    Stage::Blocked { park }
                }
            }
            Stage::Blocked { park } => {
                let permit = self.threads[thread].permit.take();
                let timed_out = permit.is_none() && parking.timed && choice.is_multiple_of(4);
                let is_spurious = choice % 16 == 1;
                if permit.is_some() || timed_out || is_spurious {
                    let woken = Woken {
                        permit,
                        waited: true,
                        timed_out,
                    };
                    Stage::TakeEndNumber { park, woken }
                } else {
                    Stage::Blocked { park }
                }
            }
            Stage::TakeEndNumber { park, woken } => {
                let end = self.number(at, thread);
                Stage::LookAtEndOwner { park, woken, end }
            }
            Stage::LookAtEndOwner { park, woken, end } => {
                self.write_end(thread, &parking, park, woken, end);
                self.note_park(thread, park);
                if woken.timed_out {
                    self.note_time_out(thread);
                }
                Stage::RememberPlace
            }
            Stage::RememberPlace => {
                self.threads[thread].last_place = self.place_of(thread, at);
                Stage::ClearBlocker
            }
            Stage::ClearBlocker => {
                self.threads[thread].blocker = None;
                return;
            }
        };
        self.call(thread, Frame::Park(parking));
    }

    /// The identity hash code of the thread's node in the queue.
    fn place_of(&self, thread: usize, at: Option<usize>) -> Option<u32> {
        let mut queue = self.objects[at?].queue.iter();
        let own = queue.find(|node| node.thread == thread)?;
        Some(own.id)
    }

    fn number(&mut self, at: Option<usize>, thread: usize) -> Number {
        let (domain, sequence) = self.next_number(at, thread);
        Number {
            domain,
            sequence,
            time_ns: self.now_ns,
        }
    }

    fn object(&self, at: Option<usize>) -> Object {
        at.map_or(self.nothing(), |at| self.objects[at].object)
    }

    fn write_begin(
        &mut self,
        thread: usize,
        parking: &Parking,
        number: Number,
        continued: bool,
    ) -> usize {
        let park = self.history.parks.len();
        let object = self.object(parking.at);
        let shows = self.owner(parking.at);
        let begin = self.push_meaning(Meaning {
            domain: number.domain,
            sequence: number.sequence,
            time_ns: number.time_ns,
            thread: thread_id(thread),
            object,
            what: What::Begin,
            shows,
        });
        self.history.parks.push(Park {
            thread: thread_id(thread),
            object,
            first: parking.first.unwrap_or(park),
            method: parking.method,
            timed: parking.timed,
            begin,
            gave_up: false,
            end: None,
        });
        let event = ParkBegin {
            domain: number.domain,
            sequence: number.sequence,
            time_ns: number.time_ns,
            blocker: blocker(object),
            timeout: if parking.timed {
                ParkTimeout::After(1)
            } else {
                ParkTimeout::None
            },
            owner: JavaThreadId(self.owner_id(shows)),
            continued,
            monitor: false,
            chain: parking.chain(),
        };
        self.write(thread, Event::ParkBegin(event));
        park
    }

    fn write_end(
        &mut self,
        thread: usize,
        parking: &Parking,
        park: usize,
        woken: Woken,
        number: Number,
    ) {
        let object = self.object(parking.at);
        let shows = self.owner(parking.at);
        let interrupted = self.threads[thread].interrupted;
        let reason = match woken.permit {
            Some(Given {
                interrupt: true, ..
            }) => ParkEndReason::Interrupted,
            Some(_) if woken.waited => ParkEndReason::Unparked,
            Some(_) => ParkEndReason::PermitAvailable,
            None if woken.timed_out => ParkEndReason::TimedOut,
            None if interrupted => ParkEndReason::Interrupted,
            None => ParkEndReason::Spurious,
        };
        let meaning = self.push_meaning(Meaning {
            domain: number.domain,
            sequence: number.sequence,
            time_ns: number.time_ns,
            thread: thread_id(thread),
            object,
            what: What::End { park },
            shows,
        });
        let safepoint_ns = self.safepoint_ns - parking.safepoint_ns;
        self.history.parks[park].end = Some(ParkEnded {
            meaning,
            reason,
            unpark: woken.permit.map(|given| given.meaning),
            safepoint_ns,
        });
        let unseen = woken.permit.is_some_and(|given| given.unseen);
        let event = ParkEnd {
            domain: number.domain,
            sequence: number.sequence,
            time_ns: number.time_ns,
            reason,
            permit: woken.permit.map_or(Permit::NONE, |given| given.permit),
            unpark_elsewhere: unseen && object.kind != Kind::Nothing,
            owner: JavaThreadId(self.owner_id(shows)),
            safepoint_ns,
            monitor: false,
        };
        self.write(thread, Event::ParkEnd(event));
    }
}
