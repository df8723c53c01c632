//! What owners did, by brute force.

use std::collections::BTreeSet;
use std::mem::take;

use proptest::prelude::*;
use trace_analysis::{Analysis, Detail, Entities, Findings, Limits, OwnerTimes, Wait};
use trace_format::file::VERSION;
use trace_format::{
    Capabilities, Event, Freeze, HookPart, Safepoint, SystemRecord, ThreadId, ThreadTimes,
};

use crate::delivery::delivery;
use crate::found::{self, FoundWait};
use crate::freezes::freezes;
use crate::random_programs::{actions, config, rules};
use crate::script;
use crate::simulator::simulate;
use crate::truth::{self, Known};

const SEEDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/analysis/owner_times.seeds"
);

/// What is found of events and of what the system did.
fn analyze(
    events: &[(ThreadId, Event<'_>)],
    system: &[SystemRecord],
    capabilities: Capabilities,
    detail: Detail,
) -> Findings {
    let mut ignore = |_: &Wait, _: &Entities| {};
    let mut analysis = Analysis::new(Limits::default())
        .with_detail(detail)
        .with_owner_times();
    let mut trace = analysis.begin_trace(VERSION, capabilities);
    for (thread, event) in &script::metadata_events() {
        trace.event(*thread, event, &mut ignore);
    }
    script::take_system(&mut trace, system, &mut ignore);
    for (thread, event) in events {
        trace.event(*thread, event, &mut ignore);
    }
    trace.finish(&mut ignore)
}

/// Asks at each moment at which anything changes what the owner of each wait does.
fn by_brute_force(waits: &[FoundWait], safepoints: &[Safepoint], freezes: &[Freeze]) -> OwnerTimes {
    let parts = waits.iter().flat_map(|wait| &wait.parts);
    let of_parts = parts.flat_map(|part| [part.start_ns, part.end_ns]);
    let of_safepoints = safepoints.iter();
    let of_safepoints = of_safepoints.flat_map(|at| [at.begin_ns, at.reached_ns, at.end_ns]);
    let of_freezes = freezes.iter();
    let of_freezes = of_freezes.flat_map(|freeze| [freeze.begin_ns, freeze.end_ns]);
    let times = of_parts.chain(of_safepoints).chain(of_freezes);
    let times: BTreeSet<u64> = times.collect();
    let times: Vec<u64> = times.into_iter().collect();
    let waits_then = |thread: &str, time_ns: u64| {
        let mut of_thread = waits.iter().filter(|wait| wait.thread == thread);
        of_thread.any(|wait| (wait.start_ns..wait.end_ns).contains(&time_ns))
    };
    let mut sum = OwnerTimes::default();
    for part in waits.iter().flat_map(|wait| &wait.parts) {
        let inside = times
            .windows(2)
            .filter(|time| part.start_ns <= time[0] && time[1] <= part.end_ns);
        for time in inside {
            let safepoint = safepoints
                .iter()
                .find(|safepoint| (safepoint.begin_ns..safepoint.end_ns).contains(&time[0]));
            let is_frozen = freezes
                .iter()
                .any(|freeze| (freeze.begin_ns..freeze.end_ns).contains(&time[0]));
            let place = match (&part.owner, safepoint) {
                _ if is_frozen => &mut sum.frozen_ns,
                (Err("free"), _) => &mut sum.free_ns,
                (Err(_), _) => &mut sum.unknown_ns,
                (Ok((owner, _)), _) if waits_then(owner, time[0]) => &mut sum.blocked_ns,
                (Ok(_), Some(safepoint)) if time[0] < safepoint.reached_ns => {
                    &mut sum.reaching_safepoint_ns
                }
                (Ok(_), Some(_)) => &mut sum.safepoint_ns,
                (Ok(_), None) => &mut sum.not_sampled_ns,
            };
            *place += time[1] - time[0];
        }
    }
    sum
}

/// What of the tracer's hooks lay in waits of their thread, and in what it owned while others waited.
fn hooks_by_brute_force(waits: &[FoundWait], hooks: &[HookPart], freezes: &[Freeze]) -> (u64, u64) {
    let inside_ns = |hook: &HookPart, is_inside: &dyn Fn(u64) -> bool| {
        let begin_ns = hook.end_ns - hook.duration_ns;
        let inside = (begin_ns..hook.end_ns).filter(|&at_ns| is_inside(at_ns));
        inside.count() as u64 * hook.weight
    };
    let is_frozen = |at_ns| {
        let mut freezes = freezes.iter();
        freezes.any(|freeze| (freeze.begin_ns..freeze.end_ns).contains(&at_ns))
    };
    let (mut of_waiting_ns, mut of_owners_ns) = (0, 0);
    for hook in hooks {
        let thread = format!("T{}", hook.thread.0);
        for wait in waits {
            if wait.thread == thread {
                let waited = |at_ns| (wait.start_ns..wait.end_ns).contains(&at_ns);
                of_waiting_ns += inside_ns(hook, &waited);
            }
            for part in &wait.parts {
                if matches!(&part.owner, Ok((owner, _)) if *owner == thread) {
                    let owned =
                        |at_ns| (part.start_ns..part.end_ns).contains(&at_ns) && !is_frozen(at_ns);
                    of_owners_ns += inside_ns(hook, &owned);
                }
            }
        }
    }
    (of_waiting_ns, of_owners_ns)
}

/// Those of each thread one after the other.
fn hooks() -> impl Strategy<Value = Vec<HookPart>> {
    let hook = (1..6_u32, 0..200_u64, 1..30_u64, 1..5_u64);
    prop::collection::vec(hook, 0..40).prop_map(|steps| {
        let mut ends_ns = [0; 6];
        let steps = steps.into_iter();
        let hooks = steps.map(|(thread, after_ns, duration_ns, weight)| {
            let end_ns = &mut ends_ns[thread as usize];
            *end_ns += after_ns + duration_ns;
            HookPart {
                thread: ThreadId(thread),
                end_ns: *end_ns,
                duration_ns,
                weight,
            }
        });
        hooks.collect()
    })
}

fn safepoints() -> impl Strategy<Value = Vec<Safepoint>> {
    let safepoint = (0..200_u64, 0..20_u64, 0..60_u64);
    prop::collection::vec(safepoint, 0..12).prop_map(|steps| {
        let mut at_ns = 0;
        let steps = steps.into_iter();
        let safepoints = steps.map(|(after_ns, to_reach_ns, stopped_ns)| {
            let begin_ns = at_ns + after_ns;
            let reached_ns = begin_ns + to_reach_ns;
            at_ns = reached_ns + stopped_ns;
            Safepoint {
                begin_ns,
                reached_ns,
                end_ns: at_ns,
            }
        });
        safepoints.collect()
    })
}

proptest! {
    #![proptest_config(config(SEEDS))]

    /// The waits that ended are the simulator's own, not what the analysis found.
    #[test]
    fn owner_times_are_the_truth(
        (rules, actions, delivery, safepoints, hooks, freezes) in
            (rules(Just(false)), actions(), delivery(0), safepoints(), hooks(), freezes()),
    ) {
        let history = simulate(rules, &actions);
        let arrived = delivery.deliver(&history.events);
        let events = arrived.events();
        let capabilities = history.capabilities();
        let mut waits = truth::waits(&history, &Known::new(&events));
        waits.extend(found::analyze_guaranteed(&events, Limits::default(), capabilities).open);
        let expected = by_brute_force(&waits, &safepoints, &freezes);
        let (of_waiting_ns, of_owners_ns) = hooks_by_brute_force(&waits, &hooks, &freezes);
        let safepoints = safepoints.into_iter().map(SystemRecord::Safepoint);
        let hooks = hooks.into_iter().map(SystemRecord::HookPart);
        let freezes = freezes.into_iter().map(SystemRecord::Freeze);
        let system: Vec<_> = safepoints.chain(hooks).chain(freezes).collect();
        // Of what waits have in common, and of each contention.
        let mut standard_errors_ns = BTreeSet::new();
        let details = [
            Detail::CODE,
            Detail::OWNERS,
            Detail::CODE.with_roots(),
            Detail::OWNERS.with_roots(),
            Detail::CONTENTIONS,
            Detail::CONTENTIONS.with_roots(),
        ];
        for detail in details {
            let found = analyze(&events, &system, capabilities, detail);
            let mut times = found.owner_times.expect("asked for");
            let of_hooks = [&mut times.hooks_of_waiting, &mut times.hooks_of_owners].map(take);
            let estimates_ns = of_hooks.map(|time| time.estimate_ns);
            prop_assert_eq!(estimates_ns, [of_waiting_ns, of_owners_ns]);
            standard_errors_ns.insert(of_hooks.map(|time| time.standard_error_ns()));
            prop_assert_eq!(times, expected);
            prop_assert_eq!(times.all_ns(), found.waits.sum(|_, _| true).duration_ns);
        }
        prop_assert_eq!(standard_errors_ns.len(), 1, "{:?}", standard_errors_ns);
    }
}

/// T1 owns the lock, is stopped for some time, and waits for a processor for some.
#[test]
fn an_owner_that_is_kept_from_running() {
    const MS: u64 = 1_000_000;
    let events = script::parse(
        "
        100000000 T2 enter b on L1
        400000000 T1 exit a held:long on L1
        400000000 T2 entered on L1
        ",
    );
    let times = |time, processor, delay| {
        SystemRecord::ThreadTimes(ThreadTimes {
            thread: ThreadId(1),
            time_ns: time * MS,
            processor_ns: processor * MS,
            run_delay_ns: delay * MS,
            timeslices: 0,
        })
    };
    let system = [
        times(50, 50, 0),
        SystemRecord::Safepoint(Safepoint {
            begin_ns: 100 * MS,
            reached_ns: 110 * MS,
            end_ns: 150 * MS,
        }),
        times(150, 110, 0),
        times(250, 110, 100),
        times(350, 210, 100),
        times(450, 210, 100),
        times(550, 300, 110),
    ];
    let findings = analyze(&events, &system, Capabilities::HOLDS, Detail::CODE);
    let found = findings.owner_times.expect("asked for");
    assert_eq!(
        (found.reaching_safepoint_ns, found.safepoint_ns),
        (10 * MS, 40 * MS)
    );
    // It may have waited for 100 ms, run as long, and slept for 50. That is known but for ticks, and
    // for where the delay lay that counts at 250: 50 of it may have been before 150, where the
    // owner did not run for 40 and perhaps for a tick more.
    let of = |ns| (ns / MS) as u32;
    assert!((50..=100).contains(&of(found.run_delay_ns)), "{found:?}");
    assert!(
        (100..=110).contains(&of(found.most_run_delay_ns)),
        "{found:?}"
    );
    assert!((80..=100).contains(&of(found.processor_ns)), "{found:?}");
    assert!((20..=50).contains(&of(found.off_processor_ns)), "{found:?}");
    assert_eq!(found.not_sampled_ns, 0);
    assert_eq!(found.all_ns(), 300 * MS);
}
