//! Decides whether a release ends a hold, or only an inner acquisition of the same monitor.
//!
//! At a release it is not known how often the thread has acquired the monitor, only later: if the
//! thread releases the monitor again, from a frame that was on its stack at the first release, and no
//! other thread owned it meanwhile, then that frame owned it all along, and the first release ended
//! only an inner acquisition. So the call chain of a release with outer frames that may own monitors
//! is written as a forward reference, which stands for the chain of the outermost release once that is
//! known. `Object.wait` is a release by code that owns the monitor again when it returns: there, too,
//! the last release counts, even if other threads owned the monitor meanwhile.

use rust_tracer::{AgentCounts, ThreadTracer};
use trace_format::{ChainId, ChainRef, ForwardRef, LockId, MethodId};

/// The most pending releases of one thread.
const MAX_PENDING: usize = 64;

/// A frame that may be found again on a later stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveFrame {
    pub(crate) method: MethodId,
    pub(crate) may_own_monitors: bool,
}

/// A release of a monitor.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) lock: LockId,
    /// Changes each time that the owner of the monitor does.
    pub(crate) turn: u32,
    pub(crate) chain: ChainId,
    /// The stack, from the outermost frame to the one that releases; `None` if outer frames are
    /// missing.
    pub(crate) stack: Option<Vec<LiveFrame>>,
    /// Whether it is by `Object.wait`, which the last frame calls.
    pub(crate) is_wait: bool,
}

/// A release that may have been an inner one.
#[derive(Debug)]
struct Pending {
    lock: LockId,
    /// `None` if other threads may own the monitor meanwhile.
    turn: Option<u32>,
    forward_ref: ForwardRef,
    /// The call chain, as far as is known.
    chain: ChainId,
    /// Outer frames that are not known to have returned.
    outer: Vec<LiveFrame>,
}

impl Pending {
    /// Returns whether one of the outer frames may own the monitor.
    fn may_be_inner(&self) -> bool {
        self.outer.iter().any(|frame| frame.may_own_monitors)
    }

    /// Learns from a later release of the same thread. Returns whether more may be learned.
    fn learn(&mut self, release: &Release, stack: &[LiveFrame]) -> bool {
        let is_same_lock = self.lock == release.lock;
        if is_same_lock && self.turn.is_some_and(|turn| turn != release.turn) {
            return false;
        }
        let pairs = self.outer.iter().zip(stack);
        let live = pairs.take_while(|(before, now)| before.method == now.method);
        let live = live.count();
        if is_same_lock && live == stack.len() {
            // The frame that releases now was on the stack then.
            self.chain = release.chain;
            self.outer.truncate(live.saturating_sub(1));
        } else {
            self.outer.truncate(live);
        }
        self.may_be_inner()
    }
}

/// The pending releases of one thread.
#[derive(Debug, Default)]
pub(crate) struct InnerExits(Vec<Pending>);

impl InnerExits {
    /// Adds a release. Returns the reference to its call chain.
    pub(crate) fn release(
        &mut self,
        tracer: &mut ThreadTracer,
        counts: &AgentCounts,
        release: Release,
    ) -> ChainRef {
        let chain = ChainRef::Chain(release.chain);
        let Some(stack) = release.stack.as_deref() else {
            self.end(tracer, counts);
            return chain;
        };
        self.0.retain_mut(|pending| {
            let is_kept = pending.learn(&release, stack);
            if !is_kept {
                tracer.resolve_forward(pending.forward_ref, pending.chain);
            }
            is_kept
        });
        let outer = match stack.split_last() {
            Some((_, outer)) if !release.is_wait => outer,
            _ => stack,
        };
        let mut pending = Pending {
            lock: release.lock,
            turn: (!release.is_wait).then_some(release.turn),
            forward_ref: ForwardRef(0),
            chain: release.chain,
            outer: outer.to_vec(),
        };
        if !pending.may_be_inner() {
            return chain;
        }
        if self.0.len() >= MAX_PENDING || self.0.try_reserve(1).is_err() {
            counts.ambiguous_exits.add(1);
            return chain;
        }
        pending.forward_ref = tracer.new_forward_ref();
        let chain = ChainRef::Forward(pending.forward_ref);
        self.0.push(pending);
        chain
    }

    /// Ends the releases of a monitor that the thread does not own.
    pub(crate) fn not_owned(&mut self, tracer: &mut ThreadTracer, lock: LockId) {
        self.0.retain(|pending| {
            let is_other = pending.lock != lock;
            if !is_other {
                tracer.resolve_forward(pending.forward_ref, pending.chain);
            }
            is_other
        });
    }

    /// Ends all releases, of which no more will be learned.
    pub(crate) fn end(&mut self, tracer: &mut ThreadTracer, counts: &AgentCounts) {
        for pending in self.0.drain(..) {
            counts.ambiguous_exits.add(1);
            tracer.resolve_forward(pending.forward_ref, pending.chain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(methods: &[u32]) -> Vec<LiveFrame> {
        let frame = |&method| LiveFrame {
            method: MethodId(method),
            may_own_monitors: method < 100,
        };
        methods.iter().map(frame).collect()
    }

    /// A release of lock 1 with chain 7, from methods 200, 10 and 20.
    fn pending() -> Pending {
        Pending {
            lock: LockId(1),
            turn: Some(5),
            forward_ref: ForwardRef(1),
            chain: ChainId(7),
            outer: frames(&[200, 10, 20]),
        }
    }

    fn learn(pending: &mut Pending, lock: u32, turn: u32, methods: &[u32]) -> bool {
        let release = Release {
            lock: LockId(lock.into()),
            turn,
            chain: ChainId(8),
            stack: None,
            is_wait: false,
        };
        pending.learn(&release, &frames(methods))
    }

    #[test]
    fn a_frame_that_was_there_had_the_monitor() {
        let mut inner = pending();
        assert!(!learn(&mut inner, 1, 5, &[200, 10]));
        assert_eq!(inner.chain, ChainId(8));
    }

    #[test]
    fn an_outer_one_may_have_had_it_even_longer() {
        let mut inner = pending();
        assert!(learn(&mut inner, 1, 5, &[200, 10, 20]));
        assert_eq!((inner.chain, inner.outer), (ChainId(8), frames(&[200, 10])));
    }

    #[test]
    fn sisters_tell_nothing() {
        let mut inner = pending();
        assert!(learn(&mut inner, 1, 5, &[200, 10, 30, 40]));
        assert_eq!((inner.chain, inner.outer), (ChainId(7), frames(&[200, 10])));
    }

    #[test]
    fn frames_that_have_returned_did_not_have_it() {
        let mut inner = pending();
        assert!(!learn(&mut inner, 1, 5, &[200, 30]));
        assert_eq!(inner.chain, ChainId(7));
    }

    #[test]
    fn others_had_it_meanwhile() {
        let mut inner = pending();
        assert!(!learn(&mut inner, 1, 6, &[200, 10]));
        assert_eq!(inner.chain, ChainId(7));
    }

    #[test]
    fn others_may_have_it_during_a_wait() {
        let mut inner = Pending {
            turn: None,
            ..pending()
        };
        assert!(!learn(&mut inner, 1, 6, &[200, 10]));
        assert_eq!(inner.chain, ChainId(8));
    }

    #[test]
    fn another_lock_is_another_one() {
        let mut inner = pending();
        assert!(learn(&mut inner, 2, 6, &[200, 10]));
        assert_eq!(inner.chain, ChainId(7));
    }
}
