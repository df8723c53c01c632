//! Profiles for the Firefox Profiler.
//!
//! Each thread has its waits as markers. The waits that it caused are the weights of its samples:
//! the call chains with which it released locks, each with the class of the lock on top. The format
//! has whole numbers for weights, so these are microseconds; the rest is carried over to the
//! thread's next sample.

mod marker;
mod samples;

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use foldhash::fast::RandomState;
use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerTiming, ProcessHandle, Profile,
    ReferenceTimestamp, SamplingInterval, StackHandle, ThreadHandle, Timestamp,
};
use trace_analysis::{Aspect, ChainIndex, Entities, MethodTable, Owner, ThreadIndex, Value, Wait};

use self::marker::WaitMarker;
use self::samples::{SampleKey, Samples};

/// A profile under construction.
pub struct ProfileBuilder {
    profile: Profile,
    /// The start of the profile, in nanoseconds since 1970.
    start_unix_ns: u64,
    markers: usize,
    /// Waits without a marker.
    left_out: u64,
}

/// The part of a profile that is about one run.
pub struct RunProfile<'a> {
    builder: &'a mut ProfileBuilder,
    process: ProcessHandle,
    /// From the profile's start to the run's, in nanoseconds.
    offset_ns: u64,
    threads: HashMap<ThreadIndex, ThreadHandle, RandomState>,
    /// Stands for the owner where none is known.
    nobody: Option<ThreadHandle>,
    stacks: HashMap<(ThreadHandle, ChainIndex), Option<StackHandle>, RandomState>,
    samples: Samples,
    /// The end of the last wait since the profile's start, and its thread.
    end: Option<(u64, ThreadHandle)>,
    methods: MethodTable,
}

impl ProfileBuilder {
    /// The most waits that become markers: about as many as the profiler can show.
    const MAX_MARKERS: usize = 1_000_000;

    /// Creates a profile of runs, the first of which began `start_unix_ns` nanoseconds after 1970.
    pub fn new(start_unix_ns: u64) -> Self {
        let start = Duration::from_nanos(start_unix_ns);
        let start = ReferenceTimestamp::from_duration_since_unix_epoch(start);
        // Makes a sample stand for as much as its weight says.
        let interval = SamplingInterval::from_nanos(1_000);
        let mut profile = Profile::new("java: lock contention", start, interval);
        profile.set_symbolicated(true);
        Self {
            profile,
            start_unix_ns,
            markers: 0,
            left_out: 0,
        }
    }

    /// Begins a run of the process `pid`.
    pub fn run(&mut self, start_unix_ns: u64, pid: u32) -> RunProfile<'_> {
        let offset_ns = start_unix_ns.saturating_sub(self.start_unix_ns);
        let start = Timestamp::from_nanos_since_reference(offset_ns);
        let process = self.profile.add_process("java", pid, start);
        RunProfile {
            builder: self,
            process,
            offset_ns,
            threads: HashMap::default(),
            nobody: None,
            stacks: HashMap::default(),
            samples: Samples::default(),
            end: None,
            methods: MethodTable::default(),
        }
    }

    /// Returns the number of waits that have no marker for want of memory. Samples include them.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Writes the profile as JSON.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, &self.profile)?;
        out.flush()
    }
}

impl RunProfile<'_> {
    /// Adds a wait, for which the analysis has found at least
    /// [`Detail::OWNERS`](trace_analysis::Detail).
    pub fn add(&mut self, wait: &Wait, entities: &Entities) {
        self.add_marker(wait, entities);
        let lock_class = self.value(Aspect::LockClass, wait, Owner::Free, entities);
        for blame in &wait.blame {
            let (thread, code) = match blame.owner {
                Owner::Thread { thread, chain } => (self.thread(thread), Value::Chain(chain)),
                Owner::Free => (self.nobody(), Value::Free),
                Owner::Frozen => (self.nobody(), Value::Frozen),
                Owner::Unknown(reason) => (self.nobody(), Value::UnknownOwner(reason)),
            };
            let key = SampleKey {
                thread,
                code,
                lock_class,
            };
            self.samples.add(key, wait.start_ns, blame.duration_ns);
        }
    }

    fn add_marker(&mut self, wait: &Wait, entities: &Entities) {
        let thread = self.thread(wait.thread);
        let start_ns = self.offset_ns.saturating_add(wait.start_ns);
        let end_ns = start_ns.saturating_add(wait.duration_ns);
        if self.end.is_none_or(|(last_ns, _)| last_ns < end_ns) {
            self.end = Some((end_ns, thread));
        }
        if self.builder.markers == ProfileBuilder::MAX_MARKERS {
            self.builder.left_out += 1;
            return;
        }
        self.builder.markers += 1;
        let longest = wait.blame.iter().max_by_key(|blame| blame.duration_ns);
        let owner = longest.map_or(Owner::Free, |blame| blame.owner);
        let aspects = [
            Aspect::LockClass,
            Aspect::Method,
            Aspect::OwnerThread,
            Aspect::OwnerMethod,
        ];
        let names = aspects.map(|aspect| self.value(aspect, wait, owner, entities).name(entities));
        let stack = self.stack(thread, wait.chain, entities);
        let profile = &mut self.builder.profile;
        let [lock_class, method, owner_thread, owner_method] =
            names.map(|name| profile.intern_string(&name));
        let marker = WaitMarker {
            lock_class,
            lock: profile.intern_string(&entities.lock_name(wait.lock)),
            kind: profile.intern_string(wait.kind.name()),
            method,
            owner_thread,
            owner_method,
        };
        let [start, end] = [start_ns, end_ns].map(Timestamp::from_nanos_since_reference);
        let marker = profile.add_marker(thread, MarkerTiming::Interval(start, end), marker);
        profile.set_marker_stack(thread, marker, stack);
    }

    fn value(&mut self, aspect: Aspect, wait: &Wait, owner: Owner, entities: &Entities) -> Value {
        aspect.value(wait, owner, entities, &mut self.methods)
    }

    fn thread(&mut self, thread: ThreadIndex) -> ThreadHandle {
        let next = self.threads.len() + 1;
        let (profile, process) = (&mut self.builder.profile, self.process);
        let start = Timestamp::from_nanos_since_reference(self.offset_ns);
        *self.threads.entry(thread).or_insert_with(|| {
            let number = u32::try_from(next).unwrap_or(u32::MAX);
            let thread = profile.add_thread(process, number, start, false);
            profile.set_thread_show_markers_in_timeline(thread, true);
            thread
        })
    }

    fn nobody(&mut self) -> ThreadHandle {
        let (profile, process) = (&mut self.builder.profile, self.process);
        let start = Timestamp::from_nanos_since_reference(self.offset_ns);
        *self.nobody.get_or_insert_with(|| {
            let thread = profile.add_thread(process, 0, start, false);
            profile.set_thread_name(thread, "<no owner known>");
            thread
        })
    }

    fn stack(
        &mut self,
        thread: ThreadHandle,
        chain: ChainIndex,
        entities: &Entities,
    ) -> Option<StackHandle> {
        if let Some(&known) = self.stacks.get(&(thread, chain)) {
            return known;
        }
        let mut labels = entities.frame_labels(chain);
        if labels.is_empty() {
            labels.push(entities.chain_label(chain, 0));
        }
        let profile = &mut self.builder.profile;
        let frames: Vec<_> = labels
            .iter()
            .rev()
            .map(|label| frame(profile, label))
            .collect();
        let stack = profile.intern_stack_frames(thread, frames.into_iter());
        self.stacks.insert((thread, chain), stack);
        stack
    }

    /// Ends the run: adds the samples, and gives the threads their last names.
    pub fn finish(mut self, entities: &Entities) {
        for (key, start_ns, weight) in std::mem::take(&mut self.samples).into_weights() {
            let SampleKey {
                thread,
                code,
                lock_class,
            } = key;
            let below = match code {
                Value::Chain(chain) => self.stack(thread, chain, entities),
                code => {
                    let profile = &mut self.builder.profile;
                    let frame = frame(profile, &code.name(entities));
                    let frame = profile.intern_frame(thread, frame);
                    Some(profile.intern_stack(thread, None, frame))
                }
            };
            let profile = &mut self.builder.profile;
            let on_top = frame(profile, &format!("[{}]", lock_class.name(entities)));
            let on_top = profile.intern_frame(thread, on_top);
            let stack = profile.intern_stack(thread, below, on_top);
            let start_ns = self.offset_ns.saturating_add(start_ns);
            let start = Timestamp::from_nanos_since_reference(start_ns);
            profile.add_sample(thread, start, Some(stack), CpuDelta::ZERO, weight);
        }
        // The profiler shows the time from the first sample to the last one.
        if let Some((end_ns, thread)) = self.end {
            let end = Timestamp::from_nanos_since_reference(end_ns);
            let profile = &mut self.builder.profile;
            profile.add_sample(thread, end, None, CpuDelta::ZERO, 0);
        }
        for (&index, &thread) in &self.threads {
            let name = entities.thread_long_label(index);
            self.builder.profile.set_thread_name(thread, &name);
        }
    }
}

fn frame(profile: &mut Profile, label: &str) -> FrameInfo {
    FrameInfo {
        frame: Frame::Label(profile.intern_string(label)),
        category_pair: CategoryHandle::OTHER.into(),
        flags: FrameFlags::empty(),
    }
}
