//! Identifiers that end: what was read before keeps its names, and what comes
//! after is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use proptest::prelude::*;
use tempfile::NamedTempFile;
use trace_analysis::{Counter, Counters, Limits};
use trace_format::{
    ChainDescription, ChainId, ChainRef, ChainRetired, ChunkWriter, ClassDescription, ClassId,
    ContendedEnter, ContendedEntered, ContendedExit, Event, FileHeader, ForwardRef,
    ForwardResolved, Frame, LoaderId, LoaderUnload, LockDescription, LockId, MethodDescription,
    MethodId, MethodRetired, PARK_DOMAINS, ThreadId,
};

use crate::delivery::{delivery, encode, park_delivery};
use crate::found::{Analyzed, analyze, analyze_file};
use crate::park::random as random_parks;
use crate::random_programs::{actions, config, rules, sorted};
use crate::script::{self, chain_id, metadata_events};
use crate::{park::script as park_script, park::simulator as park_simulator, simulator};

const SEEDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/analysis/retirement.seeds"
);

type Events = Vec<(ThreadId, Event<'static>)>;

/// Counters that say that a name is missing.
const UNKNOWN: [Counter; 4] = [
    Counter::RetiredReferences,
    Counter::ChainsNotDescribed,
    Counter::MethodsNotDescribed,
    Counter::ClassesNotDescribed,
];

fn unknown(counters: &Counters) -> [u64; 4] {
    UNKNOWN.map(|counter| counters.value(counter))
}

fn waits(analyzed: &Analyzed) -> Vec<String> {
    analyzed.waits.iter().map(ToString::to_string).collect()
}

/// The end of the chain and of the method `a`, `b`...
fn retire(method: &str) -> Events {
    let (chain, method) = (chain_id(method), method_id(method));
    let ends = [
        Event::ChainRetired(ChainRetired { chain }),
        Event::MethodRetired(MethodRetired { method }),
    ];
    ends.map(|event| (ThreadId::NONE, event)).into()
}

/// The method with the same number as its chain.
fn method_id(method: &str) -> MethodId {
    MethodId(chain_id(method).0)
}

/// Writes `events` in this order, each run of one thread into a buffer.
fn file(events: &[(ThreadId, Event<'_>)]) -> NamedTempFile {
    let header = FileHeader {
        compressed: false,
        start_unix_ns: 0,
        pid: 1,
        jvm: String::new(),
        ..FileHeader::default()
    };
    let mut bytes = header.encode();
    let mut writer = ChunkWriter::new(false);
    let mut buffers: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let mut chunks = 0;
    for run in events.chunk_by(|(a, _), (b, _)| a == b) {
        let thread = run[0].0;
        for events in run.chunks(100) {
            let index = buffers.entry(thread).or_default();
            let events: Vec<_> = events.iter().map(|(_, event)| event.clone()).collect();
            writer
                .push_segment(thread, *index, &encode(&events), true)
                .expect("it fits");
            *index += 1;
            bytes.extend(writer.events());
            chunks += 1;
        }
    }
    bytes.extend(writer.end(0, chunks));
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(&bytes).expect("it fits");
    file
}

fn analyze_as_file(events: &[(ThreadId, Event<'_>)]) -> Analyzed {
    analyze_file(file(events).path(), Limits::default()).0
}

const SCRIPT: &str = "
    5 T3 exit c
    10 T2 enter b
    50 T1 exit a
    55 T2 entered
";
const WAIT: &str = "T2 enter b on Lock@1: 10-50 T1 a, 50-55 <handoff>";

/// In memory and as a file, the one wait is found, and all that it refers to.
fn check_the_wait(events: &[(ThreadId, Event<'_>)]) {
    for analyzed in [analyze(events, Limits::default()), analyze_as_file(events)] {
        assert_eq!(waits(&analyzed), [WAIT]);
        assert_eq!(unknown(&analyzed.counters), [0; 4]);
    }
}

#[test]
fn what_ends_right_after_its_use_keeps_its_name() {
    let mut events = metadata_events();
    for event in script::parse(SCRIPT) {
        let chain = direct_chain(&event.1, &BTreeMap::new());
        events.push(event);
        if let Some(chain) = chain {
            let method = MethodId(chain.0);
            events.push((ThreadId::NONE, Event::ChainRetired(ChainRetired { chain })));
            events.push((
                ThreadId::NONE,
                Event::MethodRetired(MethodRetired { method }),
            ));
        }
    }
    check_the_wait(&events);
}

#[test]
fn what_is_released_after_the_end_keeps_its_name() {
    // The first number comes last: all others are held back until then.
    let mut events = metadata_events();
    let mut script = script::parse(SCRIPT);
    let first = script.remove(1);
    script.reverse();
    events.extend(script);
    events.extend(retire("a"));
    events.extend(retire("b"));
    events.push(first);
    check_the_wait(&events);
}

#[test]
fn each_use_after_the_end_is_counted() {
    let mut events = metadata_events();
    events.extend(script::parse("10 T2 enter b on L1\n 15 T2 entered on L1"));
    events.extend(retire("b"));
    events.extend(script::parse(
        "
        20 T2 enter b on L2
        25 T2 entered on L2
        30 T3 enter b on L2
        35 T3 entered on L2
        40 T1 resolve 9 b
        ",
    ));
    for analyzed in [
        analyze(&events, Limits::default()),
        analyze_as_file(&events),
    ] {
        assert_eq!(
            waits(&analyzed),
            [
                "T2 enter b on Lock@1: 10-15 <no-exit>",
                "T2 enter ? on Lock@2: 20-25 <no-exit>",
                "T3 enter ? on Lock@2: 30-35 <no-exit>",
            ]
        );
        assert_eq!(unknown(&analyzed.counters), [3, 0, 0, 0]);
    }
}

#[test]
fn chain_of_a_method_that_has_ended_does_not_name_it() {
    let mut events = metadata_events();
    let method = method_id("b");
    events.push((
        ThreadId::NONE,
        Event::MethodRetired(MethodRetired { method }),
    ));
    events.extend(script::parse("10 T2 enter b\n 15 T2 entered"));
    for analyzed in [
        analyze(&events, Limits::default()),
        analyze_as_file(&events),
    ] {
        assert_eq!(
            waits(&analyzed),
            ["T2 enter <method #98 not described> on Lock@1: 10-15 <no-exit>"]
        );
        assert_eq!(unknown(&analyzed.counters), [1, 0, 0, 0]);
    }
}

/// A wait of thread 2 for an object of `class`.
fn wait_for(lock: u64, class: u32) -> Events {
    let (lock, class) = (LockId(PARK_DOMAINS + lock), ClassId(class));
    let mut events = script::parse("10 T2 enter b\n 15 T2 entered");
    for (_, event) in &mut events {
        match event {
            Event::LockDescription(LockDescription {
                lock: described,
                class: of_class,
                ..
            }) => (*described, *of_class) = (lock, class),
            Event::ContendedEnter(ContendedEnter { lock: of, .. })
            | Event::ContendedEntered(ContendedEntered { lock: of, .. }) => {
                *of = lock;
            }
            _ => unreachable!("a wait"),
        }
    }
    events
}

#[test]
fn second_loader_at_an_address_is_not_the_first() {
    const LOADER: LoaderId = LoaderId(0x7f00_0000_1000);
    let class = |class, name| {
        let event = Event::Class(ClassDescription {
            class: ClassId(class),
            super_class: ClassId::NONE,
            loader: LOADER,
            name,
            source_file: "",
            loader_class: "Plugins",
        });
        vec![(ThreadId(1), event)]
    };
    let unload = |time_ns| {
        let loader = LOADER;
        let unload = Event::LoaderUnload(LoaderUnload { loader, time_ns });
        vec![(ThreadId(3), unload)]
    };
    let of_loader = "T2 enter b on";
    let events = [
        metadata_events(),
        class(10, "First"),
        wait_for(1, 10),
        unload(20),
        class(11, "Second"),
        wait_for(2, 11),
        wait_for(3, 10),
        unload(40),
        wait_for(4, 11),
        class(12, "Third"),
        wait_for(5, 12),
    ]
    .concat();
    for analyzed in [
        analyze(&events, Limits::default()),
        analyze_as_file(&events),
    ] {
        let locks = [
            "First",
            "Second",
            "<class #10 not described>",
            "<class #11 not described>",
            "Third",
        ];
        let expected = locks.map(|lock| format!("{of_loader} {lock}@1: 10-15 <no-exit>"));
        assert_eq!(waits(&analyzed), expected);
        assert_eq!(unknown(&analyzed.counters), [2, 0, 0, 0]);
    }
}

#[test]
fn description_that_comes_once_more_after_a_loss_is_not_missed() {
    // The first description of method b is lost.
    let (method_b, others): (Events, Events) =
        metadata_events().into_iter().partition(|(_, event)| {
            matches!(event, Event::Method(MethodDescription { name: "b", .. }))
        });
    let chain = 1000;
    let frames = vec![Frame {
        method: method_id("b"),
        bci: 7,
        line: 7,
    }];
    let again = Event::Chain(ChainDescription {
        chain: ChainId(chain),
        frames,
        truncated: false,
    });
    let mut later = script::parse("20 T2 enter b on L2\n 25 T2 entered on L2");
    for (_, event) in &mut later {
        if let Event::ContendedEnter(ContendedEnter { chain: of, .. }) = event {
            *of = ChainId(chain);
        }
    }
    let events = [
        others,
        script::parse("10 T2 enter b on L1\n 15 T2 entered on L1"),
        vec![(
            ThreadId::NONE,
            Event::ChainRetired(ChainRetired {
                chain: chain_id("b"),
            }),
        )],
        method_b,
        vec![(ThreadId(1), again)],
        later,
    ]
    .concat();
    let analyzed = analyze_as_file(&events);
    assert_eq!(
        waits(&analyzed),
        [
            "T2 enter b on Lock@1: 10-15 <no-exit>",
            "T2 enter b on Lock@2: 20-25 <no-exit>",
        ]
    );
    assert_eq!(unknown(&analyzed.counters), [0; 4]);
}

/// What an event can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Class(ClassId),
    Method(MethodId),
    Chain(ChainId),
}

/// The chain that the event names.
fn direct_chain(
    event: &Event<'_>,
    forward_refs: &BTreeMap<ForwardRef, ChainId>,
) -> Option<ChainId> {
    match *event {
        Event::ContendedEnter(ContendedEnter { chain, .. })
        | Event::ContendedExit(ContendedExit {
            chain: ChainRef::Chain(chain),
            ..
        })
        | Event::ForwardResolved(ForwardResolved { chain, .. }) => Some(chain),
        Event::ContendedExit(ContendedExit {
            chain: ChainRef::Forward(forward_ref),
            ..
        }) => forward_refs.get(&forward_ref).copied(),
        Event::ParkBegin(park) => Some(park.chain),
        Event::Unpark(unpark) => Some(unpark.chain),
        Event::ExclusiveRelease(release) => Some(release.chain),
        _ => None,
    }
    .filter(|chain| !chain.is_none())
}

fn forward_refs(events: &[(ThreadId, Event<'_>)]) -> BTreeMap<ForwardRef, ChainId> {
    let resolved = events.iter().filter_map(|(_, event)| match *event {
        Event::ForwardResolved(ForwardResolved { forward_ref, chain }) => {
            Some((forward_ref, chain))
        }
        _ => None,
    });
    resolved.collect()
}

/// The events of a program, in which each description stands right before the
/// first event that needs it, and each end right after the last one. Loaders take
/// the first address that is free.
struct Tight<'a> {
    descriptions: BTreeMap<Id, Event<'a>>,
    /// What is needed, by the position of the event that needs it first or last.
    first: BTreeMap<usize, BTreeSet<Id>>,
    last: BTreeMap<usize, BTreeSet<Id>>,
}

impl<'a> Tight<'a> {
    fn new(metadata: &Events, events: &[(ThreadId, Event<'a>)]) -> Self {
        let described = metadata.iter().filter_map(|(_, event)| {
            let id = match *event {
                Event::Class(ClassDescription { class, .. }) => Id::Class(class),
                Event::Method(MethodDescription { method, .. }) => Id::Method(method),
                Event::Chain(ChainDescription { chain, .. }) => Id::Chain(chain),
                _ => return None,
            };
            Some((id, event.clone()))
        });
        let mut tight = Self {
            descriptions: described.collect(),
            first: BTreeMap::new(),
            last: BTreeMap::new(),
        };
        let forward_refs = forward_refs(events);
        let mut ranges: BTreeMap<Id, (usize, usize)> = BTreeMap::new();
        for (position, (_, event)) in events.iter().enumerate() {
            let mut needed = BTreeSet::new();
            for id in direct(event, &forward_refs) {
                tight.need(id, &mut needed);
            }
            for id in needed {
                ranges.entry(id).or_insert((position, position)).1 = position;
            }
        }
        for (id, (first, last)) in ranges {
            tight.first.entry(first).or_default().insert(id);
            tight.last.entry(last).or_default().insert(id);
        }
        tight
    }

    /// What `id` is described by, and itself.
    fn need(&self, id: Id, needed: &mut BTreeSet<Id>) {
        let Some(description) = self.descriptions.get(&id) else {
            return;
        };
        if !needed.insert(id) {
            return;
        }
        match description {
            Event::Class(ClassDescription { super_class, .. }) => {
                self.need(Id::Class(*super_class), needed)
            }
            Event::Method(MethodDescription { class, .. }) => self.need(Id::Class(*class), needed),
            Event::Chain(ChainDescription { frames, .. }) => {
                for frame in frames {
                    self.need(Id::Method(frame.method), needed);
                }
            }
            _ => unreachable!("a description"),
        }
    }

    fn write(&self, events: &[(ThreadId, Event<'a>)]) -> Vec<(ThreadId, Event<'a>)> {
        let threads = metadata_events().into_iter();
        let mut written: Vec<(ThreadId, Event<'a>)> = threads
            .filter(|(_, event)| matches!(event, Event::ThreadStart(_)))
            .collect();
        let mut loaders: BTreeMap<LoaderId, ClassId> = BTreeMap::new();
        for (position, event) in events.iter().enumerate() {
            for id in self.first.get(&position).into_iter().flatten() {
                let mut description = self.descriptions[id].clone();
                if let Event::Class(ClassDescription { class, loader, .. }) = &mut description {
                    *loader = (1..)
                        .map(LoaderId)
                        .find(|address| !loaders.contains_key(address))
                        .expect("endless");
                    loaders.insert(*loader, *class);
                }
                written.push((event.0, description));
            }
            written.push(event.clone());
            for id in self.last.get(&position).into_iter().flatten().rev() {
                written.push(match *id {
                    Id::Chain(chain) => {
                        (ThreadId::NONE, Event::ChainRetired(ChainRetired { chain }))
                    }
                    Id::Method(method) => (
                        ThreadId::NONE,
                        Event::MethodRetired(MethodRetired { method }),
                    ),
                    Id::Class(class) => {
                        let (&loader, _) = loaders
                            .iter()
                            .find(|&(_, &of)| of == class)
                            .expect("described");
                        loaders.remove(&loader);
                        (
                            ThreadId(9),
                            Event::LoaderUnload(LoaderUnload { loader, time_ns: 0 }),
                        )
                    }
                });
            }
        }
        written
    }
}

/// What the event names.
fn direct(event: &Event<'_>, forward_refs: &BTreeMap<ForwardRef, ChainId>) -> Vec<Id> {
    let class = match *event {
        Event::LockDescription(LockDescription { class, .. }) => Some(class),
        Event::ParkBegin(park) => Some(park.blocker.class),
        Event::Unpark(unpark) => Some(unpark.blocker.class),
        Event::ExclusiveRelease(release) => Some(release.blocker.class),
        _ => None,
    };
    let chain = direct_chain(event, forward_refs).map(Id::Chain);
    class.map(Id::Class).into_iter().chain(chain).collect()
}

/// Ends that come as early as they may change nothing.
fn assert_tight_is_the_same(events: &[(ThreadId, Event<'_>)]) -> Result<(), TestCaseError> {
    let metadata = metadata();
    let mut plain: Vec<(ThreadId, Event<'_>)> = metadata.clone();
    plain.extend_from_slice(events);
    let plain = analyze(&plain, Limits::default());
    let tight = Tight::new(&metadata, events).write(events);
    for tight in [analyze(&tight, Limits::default()), analyze_as_file(&tight)] {
        prop_assert_eq!(unknown(&tight.counters), [0; 4]);
        prop_assert_eq!(sorted(tight.waits), sorted(plain.waits.clone()));
    }
    Ok(())
}

/// The chain of one event ends somewhere: its uses from there on are counted.
fn assert_late_uses_are_counted(
    events: &[(ThreadId, Event<'_>)],
    chosen: prop::sample::Index,
    end: prop::sample::Index,
) -> Result<(), TestCaseError> {
    // A forward reference does not name the chain: what resolves it does.
    let unresolved = BTreeMap::new();
    let chain_of = |(_, event): &(ThreadId, Event<'_>)| direct_chain(event, &unresolved);
    let used: Vec<ChainId> = events.iter().filter_map(chain_of).collect();
    prop_assume!(!used.is_empty());
    let chain = *chosen.get(&used);
    let end = end.index(events.len());
    let late = events[end..]
        .iter()
        .filter(|event| chain_of(event) == Some(chain));
    let expected = late.count() as u64;

    let mut with_end: Vec<(ThreadId, Event<'_>)> = metadata();
    with_end.extend_from_slice(&events[..end]);
    with_end.push((ThreadId::NONE, Event::ChainRetired(ChainRetired { chain })));
    with_end.extend_from_slice(&events[end..]);
    for analyzed in [
        analyze(&with_end, Limits::default()),
        analyze_as_file(&with_end),
    ] {
        prop_assert_eq!(unknown(&analyzed.counters), [expected, 0, 0, 0]);
    }
    Ok(())
}

/// What scripts and simulated programs refer to.
fn metadata() -> Events {
    [metadata_events(), park_script::metadata_events()].concat()
}

proptest! {
    #![proptest_config(config(SEEDS))]

    #[test]
    fn locks_keep_their_names(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), delivery(0)),
    ) {
        let history = simulator::simulate(rules, &actions);
        assert_tight_is_the_same(&delivery.deliver(&history.events).events())?;
    }

    #[test]
    fn parks_keep_their_names(
        (rules, actions, delivery) in
            (random_parks::rules(any::<bool>()), actions(), park_delivery(0)),
    ) {
        let history = park_simulator::simulate(&rules, &actions);
        assert_tight_is_the_same(&delivery.deliver(&history.events).events())?;
    }

    #[test]
    fn late_uses_are_counted(
        (rules, actions, delivery) in (rules(any::<bool>()), actions(), delivery(0)),
        chosen: prop::sample::Index,
        end: prop::sample::Index,
    ) {
        let history = simulator::simulate(rules, &actions);
        let arrived = delivery.deliver(&history.events);
        assert_late_uses_are_counted(&arrived.events(), chosen, end)?;
    }

    #[test]
    fn late_uses_by_parks_are_counted(
        (rules, actions, delivery) in
            (random_parks::rules(any::<bool>()), actions(), park_delivery(0)),
        chosen: prop::sample::Index,
        end: prop::sample::Index,
    ) {
        let history = park_simulator::simulate(&rules, &actions);
        let arrived = delivery.deliver(&history.events);
        assert_late_uses_are_counted(&arrived.events(), chosen, end)?;
    }
}
