//! Random programs in a simulated JVM: whatever happens, and whatever gets
//! lost, the blame for each wait adds up and is never wrong.

use proptest::collection::vec;
use proptest::prelude::*;
use trace_analysis::{Counter, Limits};
use trace_format::{Event, SegmentDecoder, SegmentEncoder, ThreadId};

use crate::found::{Analyzed, FoundWait, analyze};
use crate::reference;
use crate::simulator::{Action, History, Rules, simulate};

/// How the events get from the threads to the analysis.
#[derive(Clone, Debug)]
struct Delivery {
    /// Sizes of buffers in bytes, used in turn.
    buffer_sizes: Vec<usize>,
    /// What decides the order in which buffers arrive.
    order: Vec<u16>,
    /// Buffers that get lost.
    lost: Vec<bool>,
    /// The numbers in lost buffers are listed.
    losses_listed: bool,
}

fn rules(races: impl Strategy<Value = bool>) -> impl Strategy<Value = Rules> {
    let rules = (2..=6u8, 1..=3u8, races);
    rules.prop_map(|(threads, monitors, races)| Rules {
        threads,
        monitors,
        races,
    })
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action =
        any::<(u8, u8, u8, u8)>().prop_map(|(thread, choice, monitor, duration_ns)| Action {
            thread,
            choice,
            monitor,
            duration_ns,
        });
    vec(action, 0..600)
}

fn delivery(loss: f64) -> impl Strategy<Value = Delivery> {
    let lost = vec(prop::bool::weighted(loss), 1..40);
    let parts = (
        vec(32..200usize, 1..8),
        vec(any::<u16>(), 1..40),
        lost,
        any::<bool>(),
    );
    parts.prop_map(|(buffer_sizes, order, lost, losses_listed)| Delivery {
        buffer_sizes,
        order,
        lost,
        losses_listed,
    })
}

impl Delivery {
    /// The events as they arrive: encoded into buffers, shuffled, with losses.
    fn deliver(&self, history: &History) -> Vec<(ThreadId, Event<'static>)> {
        let mut sizes = self.buffer_sizes.iter().cycle();
        let mut buffers: Vec<(ThreadId, Vec<u8>)> = Vec::new();
        for (thread, events) in (0..).zip(&history.events) {
            buffers.extend(
                encode(events, &mut sizes)
                    .into_iter()
                    .map(|bytes| (thread, bytes)),
            );
        }
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_key(|&at| self.order[at % self.order.len()]);
        let mut arrived = Vec::new();
        for at in order {
            let (thread, bytes) = &buffers[at];
            let lost = self.lost[at % self.lost.len()];
            for event in SegmentDecoder::new(bytes) {
                let event = owned(event.expect("what was encoded"));
                if !lost {
                    arrived.push((*thread, event));
                } else if let Some((lock, sequence)) = event.lock_and_sequence()
                    && self.losses_listed
                {
                    arrived.push((*thread, Event::LostNumber { lock, sequence }));
                }
            }
        }
        arrived
    }
}

fn encode<'s>(events: &[Event<'_>], sizes: &mut impl Iterator<Item = &'s usize>) -> Vec<Vec<u8>> {
    let mut buffers = Vec::new();
    let mut encoder = SegmentEncoder::new();
    let mut bytes = vec![0; *sizes.next().expect("endless")];
    for event in events {
        if encoder.encode(&mut bytes, event).is_err() {
            bytes.truncate(encoder.len());
            buffers.push(bytes);
            encoder = SegmentEncoder::new();
            bytes = vec![0; *sizes.next().expect("endless")];
            encoder
                .encode(&mut bytes, event)
                .expect("fits an empty buffer");
        }
    }
    bytes.truncate(encoder.len());
    buffers.push(bytes);
    buffers
}

/// The events of the simulator hold no text.
fn owned(event: Event<'_>) -> Event<'static> {
    match event {
        Event::LockDescription {
            lock,
            class,
            mirrored_class,
            identity_hash,
            monitor_address,
        } => Event::LockDescription {
            lock,
            class,
            mirrored_class,
            identity_hash,
            monitor_address,
        },
        Event::ContendedEnter {
            lock,
            sequence,
            time_ns,
            chain,
            after_wait,
        } => Event::ContendedEnter {
            lock,
            sequence,
            time_ns,
            chain,
            after_wait,
        },
        Event::ContendedEntered {
            lock,
            sequence,
            time_ns,
            safepoint_ns,
        } => Event::ContendedEntered {
            lock,
            sequence,
            time_ns,
            safepoint_ns,
        },
        Event::ContendedExit {
            lock,
            sequence,
            time_ns,
            chain,
        } => Event::ContendedExit {
            lock,
            sequence,
            time_ns,
            chain,
        },
        Event::LockRetired { lock, sequence } => Event::LockRetired { lock, sequence },
        Event::ForwardResolved { forward_ref, chain } => {
            Event::ForwardResolved { forward_ref, chain }
        }
        other => panic!("{other:?} is not simulated"),
    }
}

/// What holds for every analysis.
fn assert_conserved(analyzed: &Analyzed) -> Result<(), TestCaseError> {
    prop_assert_eq!(analyzed.counters.value(Counter::UnbalancedWaits), 0);
    for wait in &analyzed.waits {
        let mut at_ns = wait.start_ns;
        for part in &wait.parts {
            prop_assert_eq!(part.start_ns, at_ns, "gap in {}", wait);
            prop_assert!(
                part.end_ns > part.start_ns || wait.parts.len() == 1,
                "{}",
                wait
            );
            prop_assert!(
                !matches!(&part.owner, Ok((thread, _)) if *thread == wait.thread),
                "blamed on itself: {}",
                wait
            );
            at_ns = part.end_ns;
        }
        prop_assert_eq!(at_ns, wait.end_ns, "{}", wait);
    }
    Ok(())
}

fn sorted(mut waits: Vec<FoundWait>) -> Vec<FoundWait> {
    waits.sort();
    waits
}

/// Every wait is found, and nobody is blamed who was not there.
fn assert_true(analyzed: &Analyzed, history: &History, races: bool) -> Result<(), TestCaseError> {
    prop_assert_eq!(analyzed.waits.len(), history.waits.len());
    for wait in &analyzed.waits {
        let Some(truth) = history.waits.iter().find(|truth| {
            format!("T{}", truth.thread) == wait.thread && truth.start_ns == wait.start_ns
        }) else {
            return Err(TestCaseError::fail(format!("did not happen: {wait}")));
        };
        prop_assert_eq!(truth.end_ns, wait.end_ns);
        prop_assert_eq!(&wait.method, &char::from(truth.chain as u8).to_string());
        prop_assert_eq!(wait.kind == "reenter-after-wait", truth.after_wait);
        prop_assert_eq!(&wait.lock, &format!("Lock@{:x}", truth.monitor + 1));

        for part in &wait.parts {
            let holds = history.holds.iter().filter(|hold| {
                hold.monitor == truth.monitor
                    && hold.start_ns < part.end_ns
                    && hold.end_ns > part.start_ns
            });
            match &part.owner {
                Ok((thread, method)) => {
                    let blamed = holds.clone().find(|hold| hold.end_ns == part.end_ns);
                    let Some(blamed) = blamed else {
                        return Err(TestCaseError::fail(format!("nobody released: {wait}")));
                    };
                    prop_assert_eq!(thread, &format!("T{}", blamed.thread));
                    let chain = char::from(blamed.chain as u8).to_string();
                    // Inside its method still when the simulation ended.
                    prop_assert!(*method == chain || method == "?", "{}", wait);
                    if blamed.entered && blamed.start_ns > wait.start_ns {
                        prop_assert!(part.start_ns >= blamed.start_ns, "{}", wait);
                    }
                    if !races {
                        prop_assert_eq!(holds.count(), 1, "more than one owner: {}", wait);
                    }
                }
                Err("handoff") if !races => {
                    prop_assert_eq!(holds.count(), 0, "the lock was held: {}", wait);
                }
                Err(reason) => prop_assert!(races && *reason != "lost", "{}: {}", reason, wait),
            }
        }
    }
    Ok(())
}

proptest! {
    /// Without losses the analysis tells the truth: exactly, or where races of
    /// the JVM hide it, as far as the events tell.
    #[test]
    fn blame_is_true(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), delivery(0.0)),
    ) {
        let history = simulate(rules, &actions);
        let events = delivery.deliver(&history);
        let analyzed = analyze(&events, Limits::default());
        assert_conserved(&analyzed)?;
        assert_true(&analyzed, &history, rules.races)?;
        prop_assert_eq!(sorted(analyzed.waits), sorted(reference::waits(&events)));
        let skipped = analyzed.counters.value(Counter::GapsSkipped);
        prop_assert_eq!(skipped + analyzed.counters.value(Counter::LateEvents), 0);
    }

    /// With losses and with clocks that disagree, the analysis follows the rules
    /// of blame.
    #[test]
    fn blame_follows_the_rules(
        (rules, actions, delivery, skews) in
            (rules(any::<bool>()), actions(), delivery(0.2), vec(0..12u64, 6)),
    ) {
        let mut history = simulate(rules, &actions);
        for (events, skew_ns) in history.events.iter_mut().zip(skews) {
            events.iter_mut().for_each(|event| delay(event, skew_ns));
        }
        let events = delivery.deliver(&history);
        let analyzed = analyze(&events, Limits::default());
        assert_conserved(&analyzed)?;
        prop_assert_eq!(sorted(analyzed.waits), sorted(reference::waits(&events)));
    }

    /// However few events may be held back, blame adds up.
    #[test]
    fn blame_adds_up_in_little_memory(
        (rules, actions, delivery, max_pending_events) in
            (rules(any::<bool>()), actions(), delivery(0.1), 0..20usize),
    ) {
        let events = delivery.deliver(&simulate(rules, &actions));
        let analyzed = analyze(&events, Limits { max_pending_events });
        assert_conserved(&analyzed)?;
    }
}

fn delay(event: &mut Event<'_>, skew_ns: u64) {
    if let Event::ContendedEnter { time_ns, .. }
    | Event::ContendedEntered { time_ns, .. }
    | Event::ContendedExit { time_ns, .. } = event
    {
        *time_ns += skew_ns;
    }
}
