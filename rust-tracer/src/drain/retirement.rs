//! How identifiers of call chains and methods end.
//!
//! When code is gone no thread has a frame of it, so everything ever recorded
//! about it is in some thread's buffer, or was handed to the drainer before. The
//! drainer then removes the chains with such frames from the set, takes the
//! buffer of each thread once, and when all these are in the file it writes which
//! identifiers have ended. After that, nothing refers to them.

use std::collections::TryReserveError;
use std::mem;
use std::time::{Duration, Instant};

use trace_format::{ChainId, ChainRetired, Event, MethodId, MethodRetired};

use crate::chains::set::ChainKeeper;
use crate::chains::unloaded_code::UnloadedCode;
use crate::fallible::{try_collect, try_extend};
use crate::os;
use crate::runtime::Runtime;
use crate::threads::thread_slot::ThreadSlot;

/// Least time between two purges of the set of chains.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// A purge looks at all chains. It may take one part in this many of a processor.
const INTERVAL_PER_DURATION: u32 = 50;

/// Forgets chains for the drainer, and decides when it writes that.
#[derive(Debug)]
pub(crate) struct Retirement {
    runtime: &'static Runtime,
    chains: ChainKeeper<'static>,
    next_purge: Instant,
    /// The number of lost entries when the set was last emptied because of them.
    lost_entries: u64,
    ended: Identifiers,
    /// Threads whose buffers may hold events that refer to these.
    unsettled: Vec<&'static ThreadSlot>,
}

/// Identifiers that have ended.
#[derive(Debug, Default)]
pub(crate) struct Identifiers {
    chains: Vec<ChainId>,
    methods: Vec<MethodId>,
}

impl Identifiers {
    /// Returns the events about them.
    pub(crate) fn events(self) -> impl Iterator<Item = Event<'static>> {
        let chains = self.chains.into_iter();
        let methods = self.methods.into_iter();
        chains
            .map(|chain| Event::ChainRetired(ChainRetired { chain }))
            .chain(methods.map(|method| Event::MethodRetired(MethodRetired { method })))
    }

    fn is_empty(&self) -> bool {
        self.chains.is_empty() && self.methods.is_empty()
    }
}

impl Retirement {
    pub(crate) fn new(runtime: &'static Runtime) -> Self {
        Self {
            runtime,
            chains: ChainKeeper::new(&runtime.chains),
            next_purge: Instant::now(),
            lost_entries: 0,
            ended: Identifiers::default(),
            unsettled: Vec::new(),
        }
    }

    /// To be called repeatedly: keeps the set of chains within its bounds,
    /// and forgets chains of unloaded code now and then.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn step(&mut self) -> Result<(), TryReserveError> {
        self.chains.step();
        let is_finished = self.chains.is_ready() && self.ended.is_empty();
        if is_finished && Instant::now() >= self.next_purge {
            self.purge()?;
        }
        Ok(())
    }

    /// Forgets chains of unloaded code.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn purge(&mut self) -> Result<(), TryReserveError> {
        let begin_ns = os::thread_cpu_ns();
        let lost_entries = self.runtime.unload_queue.lost();
        let unloaded = UnloadedCode::new(self.runtime.unload_queue.take_all()?)?;
        if unloaded.is_empty() {
            return Ok(());
        }
        if lost_entries == self.lost_entries {
            try_extend(&mut self.ended.chains, self.chains.purge(&unloaded)?)?;
        } else if self.chains.empty() {
            // The chains of the lost entries must not stay for ever.
            self.lost_entries = lost_entries;
        }
        try_extend(&mut self.ended.methods, unloaded.methods())?;
        self.unsettled = try_collect(self.runtime.threads.slots.iter())?;

        let duration = Duration::from_nanos(os::thread_cpu_ns().saturating_sub(begin_ns));
        let interval = duration.saturating_mul(INTERVAL_PER_DURATION);
        self.next_purge = Instant::now()
            .checked_add(interval.max(MIN_INTERVAL))
            .unwrap_or(self.next_purge);
        Ok(())
    }

    /// Returns the identifiers to be written after all buffers now in the queue. Takes
    /// the buffers of threads that may still refer to them.
    pub(crate) fn take_settled(&mut self) -> Identifiers {
        let runtime = self.runtime;
        self.unsettled.retain(|slot| runtime.reclaim(slot).is_err());
        // In this order: a thread that takes buffers announces it first.
        if self.unsettled.is_empty() && !runtime.buffers.are_reclaimed() {
            mem::take(&mut self.ended)
        } else {
            Identifiers::default()
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use trace_format::{
        ContendedEnter, JavaThreadId, LockId, LockOwner, SegmentDecoder, StackRange,
    };

    use super::*;
    use crate::chains::key::{ChainKey, CodeUnit};
    use crate::runtime::Setup;
    use crate::tracer::ThreadTracer;

    fn runtime() -> &'static Runtime {
        Box::leak(Box::new(Runtime::new(Setup {
            max_buffer_bytes: 1 << 20,
            max_chain_bytes: 1 << 20,
            ..Setup::default()
        })))
    }

    fn method(id: u32) -> CodeUnit {
        CodeUnit::interpreted(MethodId(id)).unwrap()
    }

    fn events(retirement: &mut Retirement) -> Vec<Event<'static>> {
        retirement.take_settled().events().collect()
    }

    #[test]
    fn identifiers_end_after_their_events_are_in_the_queue() {
        let runtime = runtime();
        let mut retirement = Retirement::new(runtime);
        let mut tracer =
            ThreadTracer::start(runtime, JavaThreadId(1), "", 0, StackRange::default(), 0).unwrap();
        let chain = tracer.add_chain(ChainKey::new(&[5 << 16, 7 << 16 | 3]), &[], false);
        tracer.contended_enter(ContendedEnter {
            lock: LockId(1),
            sequence: 1,
            time_ns: 0,
            chain,
            after_wait: false,
            owner: LockOwner::NotKnown,
        });
        runtime.unload_queue.post(method(7));
        retirement.step().unwrap();
        assert_eq!(
            events(&mut retirement),
            [
                Event::ChainRetired(ChainRetired { chain }),
                Event::MethodRetired(MethodRetired {
                    method: MethodId(7)
                })
            ]
        );
        let mut buffers = runtime.buffers.queue.take_all().unwrap();
        let last = SegmentDecoder::new(buffers[0].segment()).last();
        assert!(matches!(last, Some(Ok(Event::ContendedEnter(_)))));
        assert_eq!(events(&mut retirement), []);
        assert_eq!(runtime.chains.purged(), 1);
    }

    #[test]
    fn a_buffer_that_is_being_written_to_is_waited_for() {
        let runtime = runtime();
        let mut retirement = Retirement::new(runtime);
        let mut slot = runtime.threads.slots.take().unwrap();
        slot.check_out();
        runtime.unload_queue.post(method(7));
        retirement.step().unwrap();
        assert_eq!(events(&mut retirement), []);
        // Unloads that come meanwhile are next.
        runtime.unload_queue.post(method(8));
        retirement.next_purge = Instant::now();
        (0..10).for_each(|_| retirement.step().unwrap());
        slot.check_in(None);
        let ended = |method| [Event::MethodRetired(MethodRetired { method })];
        assert_eq!(events(&mut retirement), ended(MethodId(7)));
        // Those of a thread that came afterwards do not matter.
        retirement.step().unwrap();
        let mut late = runtime.threads.slots.take().unwrap();
        late.check_out();
        assert_eq!(events(&mut retirement), ended(MethodId(8)));
    }

    /// If notices of unloaded code were lost, all chains are forgotten.
    #[test]
    fn lost_notices_empty_the_set() {
        let runtime = runtime();
        let mut retirement = Retirement::new(runtime);
        let mut tracer =
            ThreadTracer::start(runtime, JavaThreadId(1), "", 0, StackRange::default(), 0).unwrap();
        let key = ChainKey::new(&[7 << 16]);
        tracer.add_chain(key, &[], false);
        let mut entries = 0;
        while runtime.unload_queue.lost() == 0 {
            entries += 1;
            runtime.unload_queue.post(method(1000 + entries));
        }
        retirement.purge().unwrap();
        assert_eq!(tracer.find_chain(key, 0), ChainId::NONE);
        assert_eq!((runtime.chains.resets(), runtime.chains.purged()), (1, 0));
        assert_eq!(events(&mut retirement).len(), entries as usize - 1);

        // Once.
        tracer.add_chain(key, &[], false);
        runtime.unload_queue.post(method(1));
        retirement.purge().unwrap();
        assert_eq!(tracer.find_chain(key, 0), ChainId(2));
    }
}
