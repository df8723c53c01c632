//! Who was seen to own a lock.

use crate::model::entity::ThreadIndex;
use crate::resolve::stacks::Stacks;

/// Whom a thread saw owning a lock, in eight bytes: many events are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenOwner(u64);

impl SeenOwner {
    pub(crate) const NOBODY: Self = Self(0);
    /// No address: those of programs are below.
    const THREAD: u64 = 1 << 63;

    pub(crate) fn thread(thread: ThreadIndex) -> Self {
        Self(Self::THREAD | u64::from(thread.0))
    }

    /// The thread with this address on its stack.
    pub(crate) fn on_stack(address: u64) -> Self {
        Self(address & !Self::THREAD)
    }

    /// What is known of the owner that was seen then.
    pub(crate) fn at(self, time_ns: u64) -> Option<Holder> {
        match self {
            Self::NOBODY => None,
            Self(thread) if thread & Self::THREAD != 0 => {
                Some(Holder::Thread(ThreadIndex(thread as u32)))
            }
            Self(address) => Some(Holder::OnStack { address, time_ns }),
        }
    }
}

/// Who has a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Thread(ThreadIndex),
    /// The thread that had the address on its stack then: it may not have said yet who it is.
    OnStack {
        address: u64,
        time_ns: u64,
    },
}

impl Holder {
    /// It is this thread, which has said who it is.
    pub(crate) fn is(self, thread: ThreadIndex, stacks: &Stacks) -> bool {
        match self {
            Self::Thread(holder) => holder == thread,
            Self::OnStack { address, time_ns } => stacks.is_on(thread, address, time_ns),
        }
    }

    /// The thread, if it has ever said who it is.
    pub(crate) fn thread(self, stacks: &Stacks) -> Option<ThreadIndex> {
        match self {
            Self::Thread(thread) => Some(thread),
            Self::OnStack { address, time_ns } => stacks.thread_at(address, time_ns),
        }
    }
}
