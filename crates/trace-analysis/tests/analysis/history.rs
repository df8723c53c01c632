//! What happened in a simulated program: the truth.

use trace_format::{Capabilities, ChainId, Event, ForwardRef, LockId, ThreadId};

/// What happened, and what the threads wrote about it.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The events of each thread in the order of writing, the last thread being
    /// the JVM's own.
    pub(crate) events: Vec<Vec<Written>>,
    /// Holds that ended, in the order of their ends.
    pub(crate) holds: Vec<Hold>,
    /// Waits that ended.
    pub(crate) waits: Vec<TrueWait>,
    /// Waits that had not ended.
    pub(crate) open: Vec<OpenWait>,
    /// Threads could act while another one released a monitor.
    pub(crate) races: bool,
    /// Exits say for how long the monitor was held.
    pub(crate) reports_holds: bool,
}

impl History {
    /// What the tracer guarantees.
    pub(crate) fn capabilities(&self) -> Capabilities {
        match self.reports_holds {
            true => Capabilities::HOLDS,
            false => Capabilities::default(),
        }
    }

    /// Exits that can stand for those which follow them do.
    pub(crate) fn add_exits(&mut self) {
        for events in &mut self.events {
            let mut last_follows = false;
            events.dedup_by(|next, last| {
                let (Event::ContendedExit(exit), Event::ContendedExit(next_exit)) =
                    (&mut last.event, &next.event)
                else {
                    last_follows = false;
                    return false;
                };
                let both = exit.and(next_exit).filter(|_| last_follows);
                last_follows = exit.is_followed_by(next_exit);
                if let Some(both) = both {
                    *exit = both;
                    last.step = next.step;
                }
                both.is_some()
            });
        }
    }
}

/// An event and when it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// The step of the program.
    pub(crate) step: usize,
    pub(crate) event: Event<'static>,
}

/// Some thread held the monitor of an object, without interruption.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) object: usize,
    pub(crate) thread: ThreadId,
    /// Where the thread held it: the code that acquired it first.
    pub(crate) chain: ChainId,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Number of the entered event, if the acquisition wrote one.
    pub(crate) entered: Option<u64>,
    /// The exit event, if the release wrote one.
    pub(crate) exit: Option<Exit>,
}

/// An exit event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) lock: LockId,
    pub(crate) sequence: u64,
    /// Shortly before the release.
    pub(crate) time_ns: u64,
    /// Set if the monitor was released by `Object.wait`.
    pub(crate) forward_ref: Option<ForwardRef>,
    /// What it says about the hold.
    pub(crate) hold: trace_format::Hold,
}

/// A thread waited for the monitor of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrueWait {
    pub(crate) object: usize,
    pub(crate) lock: LockId,
    pub(crate) thread: ThreadId,
    pub(crate) chain: ChainId,
    pub(crate) after_wait: bool,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) safepoint_ns: u64,
    /// Number of the enter event.
    pub(crate) enter: u64,
    /// Number of the entered event.
    pub(crate) entered: u64,
}

/// A thread still waited when the program ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenWait {
    pub(crate) object: usize,
    pub(crate) thread: ThreadId,
    pub(crate) start_ns: u64,
    /// The thread that held the lock.
    pub(crate) holder: Option<ThreadId>,
    /// An event shows that.
    pub(crate) holder_seen: bool,
}

impl Hold {
    /// When the owner says that it released the monitor.
    pub(crate) fn seen_end_ns(&self) -> u64 {
        self.exit.map_or(self.end_ns, |exit| exit.time_ns)
    }
}
