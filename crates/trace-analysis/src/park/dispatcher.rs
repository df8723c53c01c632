//! The park thread dispatcher and the park blocker dispatcher (paper, section
//! 4.1).

use rustc_hash::FxHashMap;
use trace_format::{LockId, ParkEndReason};

use super::event::{Numbered, ParkEvent};
use super::lock_analyzer::{Begin, End, LockAnalyzer, Losses, Sink, Unpark};
use super::permits::{Permits, Waker};
use super::waker::{WaitForWaker, Woken};
use super::{CodeTable, Synchronizer};
use crate::contention::Wait;
use crate::counter::{Counter, Counters};
use crate::entity::{Entities, LockIndex, ThreadIndex};
use crate::rearranger::Step;

/// Passes the ordered events of parked threads to the analyzers of what they are
/// parked on.
#[derive(Debug)]
pub(crate) struct ParkDispatcher {
    domains: FxHashMap<LockId, Domain>,
    analyzers: FxHashMap<LockIndex, LockAnalyzer>,
    /// So many analyzers are kept before those that are not in use are forgotten.
    max_analyzers: usize,
    codes: CodeTable,
    wait: Wait,
}

/// The state of one domain.
#[derive(Debug, Default)]
struct Domain {
    /// The threads that are parked with a begin of this domain.
    parked: FxHashMap<ThreadIndex, Parked>,
    /// Who woke the threads up that parked here last, and on what.
    wakers: FxHashMap<ThreadIndex, (LockIndex, Waker)>,
    losses: Losses,
}

#[derive(Clone, Copy, Debug)]
enum Parked {
    /// The lock's analyzer knows the rest.
    OnLock(LockIndex),
    /// On something else; with what was lost before the begin.
    ForWaker(WaitForWaker, Losses),
}

/// Fewer analyzers are never forgotten.
const MIN_ANALYZERS: usize = 1 << 14;

impl ParkDispatcher {
    pub(crate) fn new() -> Self {
        Self {
            domains: FxHashMap::default(),
            analyzers: FxHashMap::default(),
            max_analyzers: 0,
            codes: CodeTable::default(),
            wait: Wait::blank(),
        }
    }

    /// Replays the next step of `domain`.
    pub(crate) fn dispatch(
        &mut self,
        domain: LockId,
        step: Step<ParkEvent>,
        permits: &mut Permits<Numbered>,
        entities: &Entities,
        counters: &mut Counters,
        on_wait: &mut dyn FnMut(&mut Wait, &mut Counters),
    ) {
        let domain = self.domains.entry(domain).or_default();
        let mut sink = Sink {
            wait: &mut self.wait,
            counters,
            on_wait,
        };
        match step {
            Step::Gap { numbers } => {
                let losses = &mut domain.losses;
                losses.all = losses.all.saturating_add(numbers);
                losses.of_nobody = losses.of_nobody.saturating_add(numbers);
            }
            Step::Event(ParkEvent::Lost { thread }) => {
                domain.losses.all = domain.losses.all.saturating_add(1);
                // A parked thread writes nothing but the end.
                if let Some(parked) = domain.parked.remove(&thread) {
                    abandon(&mut self.analyzers, parked, thread, sink.counters);
                }
            }
            Step::Event(ParkEvent::Begin {
                thread,
                time_ns,
                lock,
                synchronizer,
                owner,
                continued,
                timed,
                chain,
            }) => {
                if let Some(parked) = domain.parked.remove(&thread) {
                    abandon(&mut self.analyzers, parked, thread, sink.counters);
                }
                let code = self.codes.of_chain(chain, entities);
                let known = self.analyzers.get(&lock);
                let is_lock = synchronizer.is_lock()
                    || synchronizer == Synchronizer::Queued
                        && (!code.shares
                            || owner.is_some()
                            || known.is_some_and(LockAnalyzer::knows_owner));
                if is_lock {
                    let analyzer = self.analyzers.entry(lock);
                    let analyzer = analyzer
                        .or_insert_with(|| LockAnalyzer::new(lock, synchronizer, domain.losses));
                    domain.catch_up(analyzer, sink.counters);
                    let begin = Begin {
                        thread,
                        time_ns,
                        owner,
                        continued,
                        chain,
                        code,
                    };
                    analyzer.begin(&begin, &mut sink);
                    domain.parked.insert(thread, Parked::OnLock(lock));
                } else {
                    let wait = WaitForWaker {
                        lock,
                        synchronizer,
                        code,
                        chain,
                        start_ns: time_ns,
                        timed,
                    };
                    let parked = Parked::ForWaker(wait, domain.losses);
                    domain.parked.insert(thread, parked);
                }
            }
            Step::Event(ParkEvent::End {
                thread,
                java_id,
                time_ns,
                reason,
                permit,
                unpark_elsewhere,
                owner,
                safepoint_ns,
            }) => {
                let waker = permits.take(java_id, permit);
                let Some(parked) = domain.parked.remove(&thread) else {
                    sink.counters.add(Counter::EnteredWithoutEnter, 1);
                    return;
                };
                let lock = match parked {
                    Parked::OnLock(lock) => {
                        if let Some(analyzer) = self.analyzers.get_mut(&lock) {
                            domain.catch_up(analyzer, sink.counters);
                            let releases = |waker: &Waker| {
                                let code = self.codes.of_chain(waker.chain, entities);
                                unpark_elsewhere
                                    && reason != ParkEndReason::Interrupted
                                    && !code.no_release
                                    && !code.passes_on
                            };
                            let end = End {
                                thread,
                                time_ns,
                                owner,
                                safepoint_ns,
                                reason,
                                unseen_waker: waker.filter(releases),
                            };
                            analyzer.end(&end, sink.counters);
                        }
                        lock
                    }
                    Parked::ForWaker(wait, losses) => {
                        let woken = Woken {
                            thread,
                            time_ns,
                            reason,
                            waker,
                            safepoint_ns,
                            may_be_two_waits: domain.losses.of_nobody - losses.of_nobody >= 2,
                        };
                        wait.describe(&woken, sink.wait);
                        (sink.on_wait)(sink.wait, sink.counters);
                        wait.lock
                    }
                };
                match waker {
                    Some(waker) => domain.wakers.insert(thread, (lock, waker)),
                    None => domain.wakers.remove(&thread),
                };
            }
            Step::Event(ParkEvent::Unpark {
                thread,
                time_ns,
                target,
                permit,
                lock,
                owner,
                chain,
            }) => {
                let code = self.codes.of_chain(chain, entities);
                if let Some(&(woken_on, waker)) = domain.wakers.get(&thread)
                    && code.passes_on
                    && woken_on == lock
                {
                    permits.replace(target, permit, waker);
                }
                if let Some(analyzer) = self.analyzers.get_mut(&lock) {
                    domain.catch_up(analyzer, sink.counters);
                    let unpark = Unpark {
                        thread,
                        time_ns,
                        owner,
                        chain,
                        code,
                    };
                    analyzer.unpark(&unpark, &mut sink);
                }
            }
        }
        self.forget_unused(counters, on_wait);
    }

    /// Ends the waits that have ended, and counts those that have not.
    pub(crate) fn finish(
        mut self,
        counters: &mut Counters,
        on_wait: &mut dyn FnMut(&mut Wait, &mut Counters),
    ) {
        let mut sink = Sink {
            wait: &mut self.wait,
            counters,
            on_wait,
        };
        let mut analyzers: Vec<_> = self.analyzers.into_iter().collect();
        analyzers.sort_unstable_by_key(|&(lock, _)| lock);
        for (_, mut analyzer) in analyzers {
            for open_ns in analyzer.finish(&mut sink) {
                sink.counters.add(Counter::OpenWaits, 1);
                sink.counters.add(Counter::OpenWaitsNs, open_ns);
            }
        }
        let parked = self
            .domains
            .values()
            .flat_map(|domain| domain.parked.values());
        let for_waker = parked.filter(|parked| matches!(parked, Parked::ForWaker(..)));
        sink.counters
            .add(Counter::OpenWaits, for_waker.count() as u64);
    }

    /// Nothing in the trace says that a lock will not be used again. So those are
    /// forgotten now and then on which no thread is parked.
    fn forget_unused(
        &mut self,
        counters: &mut Counters,
        on_wait: &mut dyn FnMut(&mut Wait, &mut Counters),
    ) {
        if self.analyzers.len() <= self.max_analyzers.max(MIN_ANALYZERS) {
            return;
        }
        let mut sink = Sink {
            wait: &mut self.wait,
            counters,
            on_wait,
        };
        let unused = self
            .analyzers
            .iter()
            .filter(|(_, analyzer)| !analyzer.is_in_use());
        let mut unused: Vec<_> = unused.map(|(&lock, _)| lock).collect();
        unused.sort_unstable();
        for lock in unused {
            if let Some(mut analyzer) = self.analyzers.remove(&lock) {
                analyzer.finish(&mut sink);
            }
        }
        self.max_analyzers = self.analyzers.len() * 2;
    }
}

impl Domain {
    /// Tells an analyzer what has been lost since its last event.
    fn catch_up(&self, analyzer: &mut LockAnalyzer, counters: &mut Counters) {
        analyzer.lost(self.losses, counters);
    }
}

/// The thread went on, but the end of its park is lost.
fn abandon(
    analyzers: &mut FxHashMap<LockIndex, LockAnalyzer>,
    parked: Parked,
    thread: ThreadIndex,
    counters: &mut Counters,
) {
    counters.add(Counter::WaitsWithoutEntered, 1);
    if let Parked::OnLock(lock) = parked
        && let Some(analyzer) = analyzers.get_mut(&lock)
    {
        analyzer.abandon(thread);
    }
}
