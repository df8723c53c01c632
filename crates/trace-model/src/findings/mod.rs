//! Finds what to fix first.
//!
//! A finding is about code that held locks of one class while others waited for them, directly or behind
//! others that waited for these. Its [`pattern`] decides what it says and which remedy it names.

mod candidate;
mod code;
mod confidence;
mod deadlock;
mod evidence;
mod facts;
mod finding;
mod hang;
mod pattern;
mod quiet;
mod run;
mod saving;
mod stuck;
mod unexplained;

use trace_analysis::{Entities, StillBlocked, WaitKind, WhatIf};

use self::candidate::Candidates;
use self::code::CodeNames;
use self::saving::sort_by_saving;

pub use deadlock::{DeadlockRecord, DeadlockedThread, deadlocks};
pub use evidence::Evidence;
pub use finding::{
    Code, Finding, FindingConfidence, Kept, Named, OnProcessor, OwnerPlace, Saving, Through,
    WaitingCode,
};
pub use hang::{HangHolder, HangRecord, hangs};
pub use quiet::{OtherWaits, Quiet};
pub use run::Run;
pub use stuck::StuckThread;
pub use unexplained::UnexplainedThreads;

/// The most findings: a person reads no more.
const MAX_FINDINGS: usize = 5;

/// What follows from the evidence.
#[derive(Clone, Debug, Default)]
pub struct Conclusions {
    /// What to fix first, the most important first.
    pub findings: Vec<Finding>,
    /// Threads that blocked each other for good.
    pub deadlocks: Vec<DeadlockRecord>,
    /// What else keeps threads waiting for good, or seems to.
    pub hangs: Vec<HangRecord>,
    /// How long threads waited for locks while the process ran, in nanoseconds.
    pub contention_ns: u64,
    /// The same while it did not run.
    pub frozen_ns: u64,
    /// If no lock is worth changing: how little threads were blocked.
    pub quiet: Option<Quiet>,
    /// What threads waited for that is no lock.
    pub other_waits: Vec<OtherWaits>,
    /// Threads most of whose time is in no recorded wait; of one trace.
    pub unexplained: Vec<UnexplainedThreads>,
}

impl Conclusions {
    /// Predicts what the findings save, and sorts them by that.
    pub fn predict_savings(
        &mut self,
        what_if: &mut WhatIf,
        processors: Option<u64>,
        entities: &Entities,
    ) {
        let waits_itself: Vec<bool> = self
            .findings
            .iter()
            .map(|it| self.waits_itself(it))
            .collect();
        for (finding, waits_itself) in self.findings.iter_mut().zip(waits_itself) {
            match waits_itself {
                true => finding.unreliable = Some(WAITS_ITSELF),
                false => finding.predict_saving(what_if, processors, entities),
            }
        }
        sort_by_saving(&mut self.findings, |duration_ns| {
            what_if.busy_share(duration_ns, processors, entities)
        });
    }

    /// Returns whether its owner mostly waited for the lock of another finding while others waited for it: without its own
    /// lock it would wait there still.
    fn waits_itself(&self, finding: &Finding) -> bool {
        let through = self.findings.iter().flat_map(|other| &other.through);
        let own = through.filter(|it| {
            it.lock_class.key == finding.lock_class.key
                && (finding.owner.as_ref()).is_some_and(|owner| owner.key == it.owner.key)
        });
        let waited_ns: u64 = own.map(|it| it.duration_ns.ns()).sum();
        waited_ns > finding.duration_ns.ns()
    }
}

/// Why nothing is predicted: the owner waits for another lock meanwhile.
const WAITS_ITSELF: &str = "waits-itself";

impl Evidence {
    /// Returns what follows. `still_blocked` has the threads that waited when the traces ended.
    pub fn conclude<'a>(
        &self,
        still_blocked: impl Iterator<Item = &'a StillBlocked> + Clone,
        run: Run<'_>,
        entities: &Entities,
    ) -> Conclusions {
        let run_ns = run.duration_ns;
        let mut stuck = deadlock::stuck_threads(still_blocked.clone());
        stuck.extend(hang::stuck_threads(still_blocked.clone(), entities));
        let evidence = self.with_open(&stuck, entities);
        let deadlocks = deadlocks(still_blocked.clone(), entities);
        let hangs = hangs(still_blocked, entities);
        let names = CodeNames::new(entities, evidence.methods());
        let candidates = Candidates {
            evidence: &evidence,
            names: &names,
            run,
        };
        let others_ns = evidence.kind(WaitKind::Contention).running_ns();
        let mut stuck_ns = deadlock::blocked_ns(&deadlocks);
        stuck_ns.add_sum(hang::blocked_ns(&hangs));
        let mut total_ns = others_ns;
        total_ns.add_sum(stuck_ns);
        let mut findings = deadlock::findings(&deadlocks, total_ns, run_ns);
        findings.extend(hang::findings(&hangs, total_ns, run_ns));
        let quiet = evidence.quiet(run).filter(|_| findings.is_empty());
        let mut others = candidates.findings(stuck_ns, quiet.is_some());
        let is_pool = |it: &Finding| it.pattern == pattern::POOL_TOO_SMALL;
        let quiet = quiet.filter(|_| !others.iter().any(is_pool));
        others.retain(|other| !hang::join(&mut findings, other, entities));
        findings.append(&mut others);
        findings.truncate(MAX_FINDINGS);
        let frozen_ns = evidence.kind(WaitKind::Contention).frozen_ns.ns();
        Conclusions {
            deadlocks,
            hangs,
            contention_ns: others_ns.ns(),
            frozen_ns,
            quiet,
            other_waits: evidence.other_waits(&names),
            unexplained: unexplained::unexplained(&evidence, run.lives, run_ns, entities),
            findings,
        }
    }
}
