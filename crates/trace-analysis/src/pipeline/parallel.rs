//! Analysis of a trace by several threads.
//!
//! One thread reads the trace, binds its events to entities, and puts those of each monitor and of
//! each domain of parks in order, so all decisions that depend on the order of the trace are the
//! same as with a single thread. It passes the events to workers in batches, always to the same
//! worker for a monitor or a domain. Each worker has a sink of its own, and these are merged at the
//! end.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::thread::{ScopedJoinHandle, scope};

use trace_format::LockId;

use crate::blame::activity::owner_facts;
use crate::blame::facts::trace_end::TraceEnd;
use crate::collections::batch::{Batch, MAX_WAITING};
use crate::input::trace_file::TraceError;
use crate::input::trace_input::TraceInput;
use crate::model::entity::{ChainIndex, Entities};
use crate::model::entity_store::{EntityStore, Loan};
use crate::model::lock_group::{GroupShares, LOCK_GROUPS};
use crate::model::wait_sink::{DivisibleSink, WaitSink};
use crate::order::lock_event::LockEvent;
use crate::order::park::event::ParkEvent;
use crate::order::rearranger::Step;
use crate::order::system_fact::SystemFact;
use crate::pipeline::analysis::{Analysis, Findings};
use crate::pipeline::blame_stage::{BlameStage, Blamed, Stage};
use crate::pipeline::file_analysis::{Progress, TraceSummary};
use crate::resolve::stacks::StartedStack;

/// A task of a worker.
enum Task {
    Stack(StartedStack),
    Lock(LockId, Step<LockEvent>),
    Park(LockId, Step<ParkEvent>),
    /// Another pending chain exists.
    Pending,
    /// A pending chain stands for another one.
    Resolved {
        pending: ChainIndex,
        chain: ChainIndex,
    },
    System(SystemFact),
}

/// A message to a worker.
enum Message {
    Batch { tasks: Vec<Task>, entities: Loan },
    End { end: Arc<TraceEnd>, entities: Loan },
}

/// The workers, with the tasks not sent yet.
struct Workers {
    workers: Vec<Worker>,
    shares: GroupShares,
}

struct Worker {
    tasks: Batch<Task>,
    queue: SyncSender<Message>,
}

impl Worker {
    fn push(&mut self, task: Task, entities: &EntityStore) {
        if self.tasks.push(task) {
            self.send(entities);
        }
    }

    /// Sends the batch. If the worker is gone, it has panicked, which shows when it is joined.
    fn send(&mut self, entities: &EntityStore) {
        if let Some(tasks) = self.tasks.take() {
            let entities = entities.lend();
            let _ = self.queue.send(Message::Batch { tasks, entities });
        }
    }

    /// Sends the rest, and ends the trace.
    fn end(mut self, end: &Arc<TraceEnd>, entities: &EntityStore) {
        self.send(entities);
        let last = Message::End {
            end: Arc::clone(end),
            entities: entities.lend(),
        };
        let _ = self.queue.send(last);
    }
}

/// Returns a thread's result.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

impl Workers {
    /// Adds a task for each worker.
    fn push_to_all(&mut self, task: impl Fn() -> Task, entities: &EntityStore) {
        for worker in &mut self.workers {
            worker.push(task(), entities);
        }
    }
}

impl Stage for Workers {
    fn stack(&mut self, started: StartedStack, entities: &EntityStore) {
        self.push_to_all(|| Task::Stack(started), entities);
    }

    fn lock(&mut self, lock: LockId, step: Step<&LockEvent>, entities: &EntityStore) {
        let worker = self.shares.worker(lock);
        self.workers[worker].push(Task::Lock(lock, step.copied()), entities);
    }

    fn park(&mut self, domain: LockId, step: Step<&ParkEvent>, entities: &EntityStore) {
        let worker = self.shares.worker(domain);
        self.workers[worker].push(Task::Park(domain, step.copied()), entities);
    }

    fn pending(&mut self, entities: &EntityStore) {
        self.push_to_all(|| Task::Pending, entities);
    }

    fn resolved(&mut self, pending: ChainIndex, chain: ChainIndex, entities: &EntityStore) {
        self.push_to_all(|| Task::Resolved { pending, chain }, entities);
    }

    fn system(&mut self, fact: SystemFact, entities: &EntityStore) {
        self.push_to_all(|| Task::System(fact), entities);
    }

    fn settle(&mut self, entities: &EntityStore) {
        for worker in &mut self.workers {
            worker.send(entities);
        }
    }
}

/// The state of a worker.
struct Work {
    blaming: BlameStage,
    queue: Receiver<Message>,
    empty: Sender<Vec<Task>>,
}

impl Work {
    fn run(mut self, sink: &mut dyn WaitSink) -> Blamed {
        // The reader may be gone, and needs no empty batch then.
        for message in self.queue {
            match message {
                Message::Batch {
                    mut tasks,
                    entities,
                } => {
                    for task in &tasks {
                        run(task, &mut self.blaming, &entities, sink);
                    }
                    tasks.clear();
                    drop(entities);
                    let _ = self.empty.send(tasks);
                }
                Message::End { end, entities } => {
                    return self.blaming.finish(&end, &entities, sink);
                }
            }
        }
        // The reading failed.
        Blamed::default()
    }
}

#[inline]
fn run(task: &Task, blaming: &mut BlameStage, entities: &Entities, sink: &mut dyn WaitSink) {
    match *task {
        Task::Stack(started) => blaming.stacks().add(started),
        Task::Lock(lock, ref step) => blaming.lock(lock, step.as_ref(), entities, sink),
        Task::Park(domain, ref step) => blaming.park(domain, step.as_ref(), entities, sink),
        Task::Pending => blaming.pending(),
        Task::Resolved { pending, chain } => blaming.resolved(pending, chain, entities, sink),
        Task::System(fact) => blaming.system(fact),
    }
}

/// Returns the number of workers, in addition to the thread that reads: a number among which the
/// groups of locks can be divided evenly.
fn worker_count(threads: usize) -> usize {
    let power_of_two = 1 << threads.max(1).ilog2();
    power_of_two.min(LOCK_GROUPS)
}

impl TraceInput {
    /// Runs the trace through `analysis` as [`analyze`](Self::analyze) does, with this many
    /// threads. The result is the same, except for the order of the waits: they are distributed
    /// over the parts of `sink`.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub fn analyze_with<S: DivisibleSink>(
        mut self,
        threads: NonZeroUsize,
        analysis: &mut Analysis,
        sink: &mut S,
        mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<TraceSummary, TraceError> {
        if threads.get() == 1 {
            return self.analyze(analysis, sink, on_progress);
        }
        let has_conditions = analysis.selection().has_conditions();
        let (mut ingest, setup) = analysis.begin(self.version(), self.header().capabilities);
        // Names may change, so conditions depend on when a name is looked up first; and an owner
        // waits for locks of any group.
        let workers = match has_conditions || setup.owner_times || setup.detail.roots {
            true => 1,
            false => worker_count(threads.get()),
        };
        let range = setup.selection.range();
        scope(|scope| {
            let start = |_| {
                let (queue, messages) = sync_channel(MAX_WAITING);
                let (tasks, empty) = Batch::new();
                let mut blaming = BlameStage::new(setup);
                let adding_up = setup.owner_times.then(|| {
                    let (to_thread, adding_up) = owner_facts::queue();
                    blaming.pass_owner_facts_to(to_thread);
                    scope.spawn(|| adding_up.run())
                });
                let work = Work {
                    blaming,
                    queue: messages,
                    empty,
                };
                let mut part = sink.part();
                let worker = Worker { tasks, queue };
                let thread = scope.spawn(|| (work.run(&mut part), part));
                (worker, (thread, adding_up))
            };
            let (queues, threads): (Vec<_>, Vec<_>) = (0..workers).map(start).unzip();
            let mut workers = Workers {
                workers: queues,
                shares: GroupShares::new(workers),
            };
            while let Some(chunk) = self.next_chunk()? {
                ingest.chunk(chunk, &mut workers);
                let bytes = self.offset();
                let total_bytes = self.byte_len().unwrap_or(bytes);
                if on_progress(Progress { bytes, total_bytes }).is_break() {
                    break;
                }
            }
            let end = Arc::new(ingest.finish(&mut workers));
            let mut blamed = Blamed::default();
            for worker in workers.workers {
                worker.end(&end, ingest.entities());
            }
            for (thread, adding_up) in threads {
                let (found, part) = join(thread);
                blamed.merge(found);
                sink.merge(part);
                if let Some(times) = adding_up.map(join) {
                    blamed.owner_times.get_or_insert_default().merge(&times);
                }
            }
            Ok(TraceSummary::new(
                &self,
                range,
                Findings::new(ingest, blamed),
            ))
        })
    }
}
