//! Recognizes threads that wait for work in a loop of their own.

use crate::model::entity::{ChainIndex, Entities, Frame};

/// Methods that a thread's loop may be away from `run`: the body of a lambda, or a
/// method that `run` calls for each item.
const MAX_INNER_METHODS: usize = 1;

impl Entities {
    /// Returns whether the thread takes from a queue, and does nothing else:
    /// the queue's method is called by the thread's `run`, or by a method that
    /// this calls. Of no pool that the analysis knows, but idle like a pool's
    /// worker if the queue is empty.
    pub fn is_worker_loop(&self, chain: ChainIndex) -> bool {
        let frames = self.chain(chain).frames();
        let Some(innermost_queue) = frames.iter().position(|frame| self.is_of_queue(frame)) else {
            return false;
        };
        let mut rest = &frames[innermost_queue..];
        let mut takes = false;
        while let [frame, outer @ ..] = rest
            && self.is_of_queue(frame)
        {
            takes = matches!(&*self.method(frame.method).name, "take" | "poll");
            rest = outer;
        }
        let run = rest.iter().position(|frame| self.is_run(frame));
        takes && run.is_some_and(|run| run <= MAX_INNER_METHODS && self.is_bottom(&rest[run..]))
    }

    /// `frames` are a `run` that nobody calls but the thread itself.
    fn is_bottom(&self, frames: &[Frame]) -> bool {
        match frames {
            [_] => true,
            [_, thread] => self.is_run(thread) && self.class_of(thread) == "java.lang.Thread",
            _ => false,
        }
    }

    fn is_run(&self, frame: &Frame) -> bool {
        &*self.method(frame.method).name == "run"
    }

    /// By its name: `LinkedBlockingQueue`, `ScheduledThreadPoolExecutor$DelayedWorkQueue`,
    /// `SynchronousQueue$TransferStack`.
    fn is_of_queue(&self, frame: &Frame) -> bool {
        let class = self.class_of(frame);
        let mut names = class.split(['.', '$']);
        names.any(|name| name.ends_with("Queue") || name.ends_with("Deque"))
    }

    fn class_of(&self, frame: &Frame) -> &str {
        let class = self.method(frame.method).class;
        class.map_or("", |class| self.class_name(class))
    }
}
