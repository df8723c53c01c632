//! The writing of events by one thread.

use std::mem;
use std::ops::Range;

use trace_format::{
    ChainId, ClassDescription, ContendedEnter, ContendedEntered, ContendedExit, DoesNotFit, Event,
    ExclusiveRelease, ForwardRef, ForwardResolved, Frame, Hook, JavaThreadId, LoaderId,
    LoaderUnload, LockDescription, LockRetired, LockSite, LostEvents, MethodDescription,
    OwnerSample, ParkBegin, ParkEnd, SegmentEncoder, StackRange, ThreadEnd, ThreadId, ThreadRename,
    ThreadStart, Unpark,
};

use crate::buffers::buffer::Buffer;
use crate::buffers::lengths::{SMALL_CAPACITY, USUAL_CAPACITY};
use crate::chains::entry::Added;
use crate::chains::key::ChainKey;
use crate::cycles::{self, HookCycles};
use crate::facts::hook_parts;
use crate::fallible::{try_box, try_to_string};
use crate::lock::Lock;
use crate::runtime::Runtime;
use crate::site_table::{ObjectId, Site};
use crate::threads::hook_costs::INTERRUPTED_CYCLES;
use crate::threads::new_name::Name;
use crate::threads::owners_seen::SeenOwner;
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slots::OwnedThreadSlot;

/// Sizes of buffers are spread evenly in this range, in bytes, so that threads that
/// do the same do not submit their buffers at the same time (paper, section 3.1).
const BUFFER_LENS: Range<usize> = 8 << 10..USUAL_CAPACITY;
/// When this many buffers are in use …
const MANY_BUFFERS: u64 = 24;
/// … the sizes of others are in this range: most of many threads write little.
const SMALL_BUFFER_LENS: Range<usize> = 4 << 10..SMALL_CAPACITY;

/// Longest event without text and frames, in bytes: type, flags, and eight
/// numbers in a park.
const MAX_PLAIN_EVENT_LEN: usize = 2 + 8 * 10;

/// Most frames of a chain; more would not fit into a chunk of the file.
const MAX_FRAMES: usize = 1 << 14;

/// Writes the events of one thread, which alone uses it. Another thread may have
/// created it: nothing in it depends on the thread.
#[derive(Debug)]
pub struct ThreadTracer {
    runtime: &'static Runtime,
    slot: OwnedThreadSlot,
    thread: ThreadId,
    /// Index of the next buffer.
    next_buffer: u64,
    /// State of a xorshift generator; never 0.
    random: u64,
    start_ns: u64,
    java_id: JavaThreadId,
    name: String,
    /// It is not the one that the thread started with.
    is_renamed: bool,
    vm_thread: u64,
    stack: StackRange,
    /// The epoch in which the thread was described last.
    described_in: u32,
}

/// A unit that is written as a whole.
enum Record<'a> {
    Event(Event<'a>),
    /// An [`Event::Chain`] whose frames stand elsewhere.
    Chain {
        chain: ChainId,
        frames: &'a [Frame],
        truncated: bool,
    },
}

impl ThreadTracer {
    /// The memory of a tracer and its slot.
    const MEMORY_BYTES: i64 = (size_of::<Self>() + size_of::<ThreadSlot>()).cast_signed() as i64;

    /// Returns a tracer for a thread that starts at `time_ns`, or `None` when memory is
    /// short.
    pub fn start(
        runtime: &'static Runtime,
        java_id: JavaThreadId,
        name: &str,
        vm_thread: u64,
        stack: StackRange,
        time_ns: u64,
    ) -> Option<Box<Self>> {
        let name = try_to_string(name)?;
        let slot = runtime.threads.slots.take()?;
        let thread = ThreadId(runtime.ids.threads.next_u32());
        let mut tracer = try_box(Self {
            runtime,
            slot,
            thread,
            next_buffer: 0,
            random: u64::from(thread).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            start_ns: runtime.clock.since_start_ns(time_ns),
            java_id,
            name,
            is_renamed: false,
            vm_thread,
            stack,
            described_in: 0,
        })?;
        runtime.counts.thread_memory.add(Self::MEMORY_BYTES);
        let number = tracer.slot.shared().number();
        runtime.threads.numbers.add(vm_thread, thread, number);
        tracer.set_os_id(0);
        tracer.describe_thread();
        // The name of the slot's previous thread, if it was being copied just when that ended.
        tracer.write_new_name();
        Some(tracer)
    }

    /// Sets the number by which the operating system knows the thread.
    pub(crate) fn set_os_id(&mut self, os_id: u32) {
        let (thread, java_id, stack) = (self.thread, self.java_id, self.stack);
        self.slot.identity().set(thread, java_id, stack, os_id);
    }

    /// Ends the tracer with the thread.
    pub fn end(mut self, time_ns: u64) {
        let time_ns = self.runtime.clock.since_start_ns(time_ns);
        self.write_event(Event::ThreadEnd(ThreadEnd { time_ns }));
        self.leave();
    }

    /// Ends the tracer of a thread that goes on, because the trace ends. Its buffer goes to the
    /// drainer, which finds the last name in the slot.
    pub fn leave(mut self) {
        let numbers = &self.runtime.threads.numbers;
        numbers.remove(self.vm_thread, self.thread);
        self.submit_buffer();
        self.runtime.counts.thread_memory.add(-Self::MEMORY_BYTES);
    }

    /// Hands the thread's buffer to the drainer if buffers are scarce, because the thread will not
    /// write for some time.
    pub fn rest(&mut self) {
        if self.runtime.buffers.are_scarce() {
            self.submit_buffer();
        }
    }

    /// Renames the thread.
    pub fn rename(&mut self, name: &str) {
        self.runtime.rename(self.slot.shared(), self.java_id, name);
    }

    /// Describes a lock that the caller has claimed.
    pub fn describe_lock(&mut self, description: LockDescription) {
        self.write_event(Event::LockDescription(description));
    }

    /// Notes where the thread has allocated an object, in case it becomes a contended lock.
    pub(crate) fn allocated(&self, object: ObjectId, chain: ChainId) {
        if let Some(sites) = &self.runtime.sites {
            let epoch = self.runtime.metadata_epoch();
            sites.add(object, Site { chain, epoch });
        }
    }

    /// Writes where an object was allocated that is a contended lock, if that is known. Without
    /// `again`, only if the trace does not have it yet.
    pub(crate) fn write_site(&mut self, object: ObjectId, again: bool) {
        let Some(sites) = &self.runtime.sites else {
            return;
        };
        if let Some(chain) = sites.chain_to_write(object, self.runtime.metadata_epoch(), again) {
            self.write_event(Event::LockSite(LockSite {
                class: object.class,
                identity_hash: object.identity_hash,
                chain,
            }));
        }
    }

    /// Ends a lock whose monitor is deflated, and makes the monitor a fresh one.
    pub fn retire_lock(&mut self, lock: &Lock) {
        if lock.id().is_none() {
            return;
        }
        self.write_event(Event::LockRetired(LockRetired {
            lock: lock.id(),
            sequence: lock.next_sequence(),
        }));
        lock.reset();
    }

    /// Notes that the thread is about to block on a lock. Times, here and in the
    /// events below, are those of the JVM's clock.
    pub fn contended_enter(&mut self, enter: ContendedEnter) {
        self.runtime.threads.owners_seen.note_seen(enter.owner);
        let time_ns = self.runtime.clock.since_start_ns(enter.time_ns);
        self.write_event(Event::ContendedEnter(ContendedEnter { time_ns, ..enter }));
    }

    /// Notes that the thread acquired the lock it was blocked on.
    pub fn contended_entered(&mut self, entered: ContendedEntered) {
        let time_ns = self.runtime.clock.since_start_ns(entered.time_ns);
        self.write_event(Event::ContendedEntered(ContendedEntered {
            time_ns,
            ..entered
        }));
    }

    /// Notes that the thread released a lock that others wait for.
    pub fn contended_exit(&mut self, exit: ContendedExit) {
        self.note_as_owner();
        let time_ns = self.runtime.clock.since_start_ns(exit.time_ns);
        self.write_event(Event::ContendedExit(ContendedExit { time_ns, ..exit }));
    }

    /// Notes that the thread parks.
    pub fn park_begin(&mut self, park: ParkBegin) {
        if !park.owner.is_none() {
            let owners = &self.runtime.threads.owners_seen;
            owners.note(SeenOwner::Java(park.owner));
        }
        let time_ns = self.runtime.clock.since_start_ns(park.time_ns);
        self.write_event(Event::ParkBegin(ParkBegin { time_ns, ..park }));
    }

    /// Notes that the thread no longer parks.
    pub fn park_end(&mut self, park: ParkEnd) {
        let time_ns = self.runtime.clock.since_start_ns(park.time_ns);
        self.write_event(Event::ParkEnd(ParkEnd { time_ns, ..park }));
    }

    /// Notes that the thread unparks another one.
    pub fn unpark(&mut self, unpark: Unpark) {
        let time_ns = self.runtime.clock.since_start_ns(unpark.time_ns);
        self.write_event(Event::Unpark(Unpark { time_ns, ..unpark }));
    }

    /// Notes that the thread is about to release a synchronizer that it owns alone.
    pub fn exclusive_release(&mut self, release: ExclusiveRelease) {
        self.note_as_owner();
        let time_ns = self.runtime.clock.since_start_ns(release.time_ns);
        self.write_event(Event::ExclusiveRelease(ExclusiveRelease {
            time_ns,
            ..release
        }));
    }

    /// Notes where another thread stands that owns a lock for which others wait.
    pub(crate) fn owner_sample(&mut self, sample: OwnerSample) {
        self.write_event(Event::OwnerSample(OwnerSample {
            time_ns: self.runtime.clock.since_start_ns(sample.time_ns),
            since_ns: self.runtime.clock.since_start_ns(sample.since_ns),
            ..sample
        }));
    }

    /// Notes that the thread owns a lock for which others wait.
    fn note_as_owner(&self) {
        let owners = &self.runtime.threads.owners_seen;
        owners.note(SeenOwner::Thread(self.thread));
    }

    /// Returns a fresh forward reference, to be resolved later.
    pub fn new_forward_ref(&self) -> ForwardRef {
        ForwardRef(self.runtime.ids.forward_refs.next())
    }

    /// Names the chain that a forward reference stands for.
    pub fn resolve_forward(&mut self, forward_ref: ForwardRef, chain: ChainId) {
        self.write_event(Event::ForwardResolved(ForwardResolved {
            forward_ref,
            chain,
        }));
    }

    /// Returns the chain with the given key; none if it must be added. `saved` of its frames were
    /// not visited.
    pub fn find_chain(&mut self, key: ChainKey<'_>, saved: usize) -> ChainId {
        let epoch = self.runtime.metadata_epoch();
        let found = self.runtime.chains.find(&mut self.slot, key, epoch);
        self.slot
            .costs()
            .add_chain(found.is_some(), key.frames.len(), saved);
        found.unwrap_or_default()
    }

    /// Returns the chain that the thread has found or added in `epoch`; none if another epoch has
    /// begun since. `saved` of its `len` frames were not visited.
    pub(crate) fn chain_again(
        &mut self,
        chain: ChainId,
        epoch: u32,
        len: usize,
        saved: usize,
    ) -> ChainId {
        if epoch != self.runtime.metadata_epoch() {
            return ChainId::NONE;
        }
        self.slot.costs().add_chain(true, len, saved);
        chain
    }

    /// Counts a hook that ends now. Its cycles count for `weight` hooks, of which the others were not
    /// measured; 0 if this one was not either.
    pub fn end_hook(&mut self, kind: Hook, cycles: HookCycles, weight: u32) {
        if weight == 0 {
            return self.slot.costs().add_hook(kind);
        }
        let end = cycles::now();
        let first = cycles::between(cycles.before_break.0, cycles.before_break.1);
        let last = cycles::between(cycles.begin, end);
        let all = first.saturating_add(last);
        self.slot.costs().add_measured_hook(kind, all, weight);
        // Each hook has the same probability, whatever the patterns of a program. Time during which
        // the thread had no processor is not the tracer's.
        let is_chosen = hook_parts::is_chosen(weight, self.next_random());
        if is_chosen && all <= INTERRUPTED_CYCLES {
            self.note_parts(cycles.before_break.1, first, (end, last));
        }
    }

    /// Notes when the tracer ran in a hook: for `first` cycles before the break, and for `last`
    /// cycles before the end.
    fn note_parts(&self, break_begin: u64, first: u64, (end, last): (u64, u64)) {
        let end_ns = self.runtime.clock.now_ns();
        let ns_per_cycle = self.runtime.clock.ns_per_cycle();
        let duration_ns = |cycles: u64| (cycles as f64 * ns_per_cycle) as u64;
        for (part_end, cycles) in [(break_begin, first), (end, last)] {
            if cycles > 0 {
                let ago_ns = duration_ns(end.saturating_sub(part_end));
                let part_end_ns = end_ns.saturating_sub(ago_ns);
                let parts = &self.runtime.facts.hook_parts;
                parts.add(self.thread, part_end_ns, duration_ns(cycles));
            }
        }
    }

    /// Adds a chain unless another thread did; none when memory is short.
    pub fn add_chain(&mut self, key: ChainKey<'_>, frames: &[Frame], truncated: bool) -> ChainId {
        let epoch = self.runtime.metadata_epoch();
        let added = self.runtime.chains.add(&mut self.slot, key, epoch);
        match added {
            Some(Added::Known(chain)) => chain,
            Some(Added::Describe(chain)) => {
                let truncated = truncated || frames.len() > MAX_FRAMES;
                let frames = frames.get(..MAX_FRAMES).unwrap_or(frames);
                self.write(&Record::Chain {
                    chain,
                    frames,
                    truncated,
                });
                chain
            }
            None => ChainId::NONE,
        }
    }

    /// Describes a class.
    pub fn describe_class(&mut self, description: ClassDescription<'_>) {
        self.write_event(Event::Class(description));
    }

    /// Describes a method.
    pub fn describe_method(&mut self, description: MethodDescription<'_>) {
        self.write_event(Event::Method(description));
    }

    /// Notes that the classes of a loader are unloaded.
    pub(crate) fn loader_unloaded(&mut self, loader: LoaderId, time_ns: u64) {
        let time_ns = self.runtime.clock.since_start_ns(time_ns);
        self.write_event(Event::LoaderUnload(LoaderUnload { loader, time_ns }));
    }

    fn describe_thread(&mut self) {
        self.described_in = self.runtime.metadata_epoch();
        // Taken out, because writing changes `self`.
        let name = mem::take(&mut self.name);
        let start = Event::ThreadStart(ThreadStart {
            time_ns: self.start_ns,
            java_id: self.java_id,
            name: &name,
            stack: self.stack,
        });
        self.write(&Record::Event(start));
        // Another name may have been written before, which the start does not change.
        if self.is_renamed {
            let java_id = self.java_id;
            let rename = ThreadRename {
                java_id,
                name: &name,
            };
            self.write(&Record::Event(Event::ThreadRename(rename)));
        }
        self.name = name;
    }

    #[inline]
    fn write_event(&mut self, event: Event<'_>) {
        if self.described_in != self.runtime.metadata_epoch() {
            self.describe_thread();
        }
        self.write_new_name();
        self.write(&Record::Event(event));
    }

    /// Writes a new name that another thread has left in the slot. In file order the last name
    /// holds, so it follows everything that the thread has written, and precedes the next event.
    #[inline]
    fn write_new_name(&mut self) {
        if let Some(name) = self.slot.take_new_name() {
            self.write_name(*name);
        }
    }

    #[cold]
    fn write_name(&mut self, name: Name) {
        let rename = ThreadRename {
            java_id: name.java_id,
            name: &name.text,
        };
        self.write(&Record::Event(Event::ThreadRename(rename)));
        if name.java_id == self.java_id {
            self.name = name.text;
            self.is_renamed = true;
        }
    }

    #[inline]
    fn write(&mut self, record: &Record<'_>) {
        let buffer = self
            .slot
            .check_out()
            .or_else(|| self.new_buffer(record, false));
        let Some(mut buffer) = buffer else {
            self.slot.check_in(None);
            return self.lose(record);
        };
        if record.encode_to(&mut buffer).is_err() {
            buffer = self.make_room(buffer, record);
            if record.encode_to(&mut buffer).is_err() {
                self.lose(record);
            }
        }
        self.slot.check_in(Some(buffer));
    }

    /// Submits a full buffer and returns another one. If none is available,
    /// the events in the full one are lost.
    #[cold]
    fn make_room(&mut self, mut full: Box<Buffer>, record: &Record<'_>) -> Box<Buffer> {
        let contains_metadata = full.contains_metadata();
        if self.runtime.buffers.are_closed() {
            full.clear();
            return full;
        }
        if let Some(buffer) = self.new_buffer(record, contains_metadata) {
            self.runtime.buffers.submit(full);
            return buffer;
        }
        let lost_events = full.lose_events();
        self.runtime.counts.losses.add_events(lost_events);
        self.runtime.counts.losses.add_buffer(contains_metadata);
        if contains_metadata {
            self.runtime.metadata.note_loss();
        }
        full
    }

    /// Returns a buffer that `record` fits into.
    #[cold]
    fn new_buffer(&mut self, record: &Record<'_>, for_metadata: bool) -> Option<Box<Buffer>> {
        let max_bytes = self
            .runtime
            .buffers
            .max_bytes(for_metadata || record.is_metadata());
        let needed = MAX_PLAIN_EVENT_LEN.saturating_add(record.max_len());
        let capacity = self.random_buffer_len().max(needed);
        let buffers = &self.runtime.buffers;
        let mut buffer = buffers.pool.take(
            &buffers.budget,
            max_bytes,
            capacity,
            self.thread,
            self.next_buffer,
        )?;
        self.slot.note_buffer();
        self.next_buffer = self.next_buffer.wrapping_add(1);
        let unrecorded = self.runtime.counts.losses.take_unrecorded_numbers();
        if unrecorded > 0 {
            // Fits into an empty buffer.
            let _ = Record::Event(Event::LostEvents(LostEvents { events: unrecorded }))
                .encode_to(&mut buffer);
        }
        Some(buffer)
    }

    #[cold]
    fn lose(&mut self, record: &Record<'_>) {
        self.runtime.counts.losses.add_events(1);
        if record.is_numbered() {
            self.runtime.counts.losses.add_unrecorded_number();
        }
        if record.is_metadata() {
            self.runtime.metadata.note_loss();
        }
    }

    /// Hands everything written so far to the drainer.
    pub(crate) fn submit_buffer(&mut self) {
        if let Some(buffer) = self.slot.check_out() {
            self.runtime.buffers.submit(buffer);
        }
        self.slot.check_in(None);
    }

    fn random_buffer_len(&mut self) -> usize {
        let lens = if self.runtime.buffers.budget.buffers() < MANY_BUFFERS {
            BUFFER_LENS
        } else {
            SMALL_BUFFER_LENS
        };
        let offset = self.next_random().checked_rem(lens.len() as u64);
        lens.start
            .saturating_add(offset.unwrap_or_default() as usize)
    }

    fn next_random(&mut self) -> u64 {
        // Xorshift (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

impl Record<'_> {
    #[inline]
    fn encode_to(&self, buffer: &mut Buffer) -> Result<(), DoesNotFit> {
        buffer.write(|encoder: &mut SegmentEncoder, bytes| match *self {
            Self::Event(Event::ContendedExit(ref exit)) => encoder.encode_exit(bytes, exit),
            Self::Event(ref event) => encoder.encode(bytes, event),
            Self::Chain {
                chain,
                frames,
                truncated,
            } => encoder.encode_chain(bytes, chain, frames, truncated),
        })
    }

    fn is_metadata(&self) -> bool {
        match self {
            Self::Event(event) => event.is_metadata(),
            Self::Chain { .. } => true,
        }
    }

    fn is_numbered(&self) -> bool {
        match self {
            Self::Event(event) => event.lock_and_sequence().is_some(),
            Self::Chain { .. } => false,
        }
    }

    /// No encoding of the record is longer.
    fn max_len(&self) -> usize {
        const MAX_FRAME_LEN: usize = 3 * 5;
        let variable_len = match self {
            Self::Event(Event::Class(class)) => {
                let texts = [class.name, class.source_file, class.loader_class];
                texts
                    .map(str::len)
                    .into_iter()
                    .fold(0, usize::saturating_add)
            }
            Self::Event(Event::Method(method)) => {
                method.name.len().saturating_add(method.signature.len())
            }
            Self::Event(Event::ThreadStart(start)) => start.name.len(),
            Self::Event(Event::ThreadRename(rename)) => rename.name.len(),
            Self::Event(_) => 0,
            Self::Chain { frames, .. } => frames.len().saturating_mul(MAX_FRAME_LEN),
        };
        MAX_PLAIN_EVENT_LEN.saturating_add(variable_len)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use trace_format::{ChainDescription, LockId, LockOwner, MethodId, SegmentDecoder};

    use super::*;
    use crate::buffers::lengths::USUAL_LEN;
    use crate::runtime::Setup;

    /// Of the thread in the JVM.
    const ADDRESS: u64 = 0x7f00_1234_0000;

    fn runtime(max_buffer_bytes: u64) -> &'static Runtime {
        Box::leak(Box::new(Runtime::new(Setup {
            max_buffer_bytes,
            max_chain_bytes: 1 << 20,
            ..Setup::default()
        })))
    }

    fn tracer(runtime: &'static Runtime) -> Box<ThreadTracer> {
        ThreadTracer::start(
            runtime,
            JavaThreadId(7),
            "worker",
            ADDRESS,
            StackRange::default(),
            100,
        )
        .unwrap()
    }

    fn enter(tracer: &mut ThreadTracer, sequence: u64) {
        tracer.contended_enter(ContendedEnter {
            lock: LockId(1),
            sequence,
            time_ns: 200,
            chain: ChainId::NONE,
            after_wait: false,
            owner: LockOwner::NotKnown,
        });
    }

    /// The sequence numbers, the events that are no lock's in words.
    fn written(runtime: &Runtime) -> Vec<String> {
        runtime.reclaim_all();
        let mut buffers = runtime.buffers.queue.take_all().unwrap();
        let events = buffers
            .iter_mut()
            .flat_map(|buffer| SegmentDecoder::new(buffer.segment()));
        let in_words = |event: Event<'_>| match event.lock_and_sequence() {
            Some((_, sequence)) => sequence.to_string(),
            None => format!("{event:?}"),
        };
        events.map(|event| in_words(event.unwrap())).collect()
    }

    fn start_of(name: &str) -> String {
        let stack = StackRange::default();
        format!(
            "ThreadStart(ThreadStart {{ time_ns: 100, java_id: JavaThreadId(7), name: {name:?}, stack: {stack:?} }})"
        )
    }

    #[test]
    fn events_go_to_the_buffer_that_others_take() {
        let runtime = runtime(1 << 20);
        let mut tracer = tracer(runtime);
        enter(&mut tracer, 1);
        assert_eq!(written(runtime), [start_of("worker").as_str(), "1"]);
        enter(&mut tracer, 2);
        tracer.end(300);
        assert_eq!(
            written(runtime),
            ["2", "ThreadEnd(ThreadEnd { time_ns: 300 })"]
        );
    }

    #[test]
    fn a_thread_describes_itself_again_after_a_loss() {
        let runtime = runtime(1 << 20);
        let mut tracer = tracer(runtime);
        tracer.rename("renamed");
        enter(&mut tracer, 1);
        written(runtime);
        runtime.metadata.note_loss();
        runtime.metadata.repeat_lost();
        enter(&mut tracer, 2);
        let start = start_of("renamed");
        assert_eq!(written(runtime), [start, name("renamed"), "2".into()]);
    }

    fn name(name: &str) -> String {
        format!("ThreadRename(ThreadRename {{ java_id: JavaThreadId(7), name: {name:?} }})")
    }

    /// The last name in file order holds.
    #[test]
    fn a_name_stands_before_what_the_thread_writes_under_it() {
        let runtime = runtime(1 << 20);
        let mut tracer = tracer(runtime);
        enter(&mut tracer, 1);
        runtime.rename_thread(ADDRESS, JavaThreadId(7), "nothing is written under it");
        runtime.rename_thread(ADDRESS, JavaThreadId(7), "first");
        assert_eq!(written(runtime), [start_of("worker").as_str(), "1"]);
        enter(&mut tracer, 2);
        enter(&mut tracer, 3);
        tracer.rename("second");
        enter(&mut tracer, 4);
        runtime.rename_thread(ADDRESS, JavaThreadId(7), "third");
        tracer.end(300);
        runtime.rename_thread(ADDRESS, JavaThreadId(7), "of nobody");
        let (first, second, third) = (name("first"), name("second"), name("third"));
        let end = "ThreadEnd(ThreadEnd { time_ns: 300 })";
        assert_eq!(
            written(runtime),
            [&*first, "2", "3", &second, "4", &third, end]
        );
        assert_eq!(runtime.buffers.reclaims(), 2, "by the test itself");
    }

    #[test]
    fn a_thread_that_goes_on_without_a_tracer_leaves_its_name() {
        let runtime = runtime(1 << 20);
        let tracer = tracer(runtime);
        runtime.rename_thread(ADDRESS, JavaThreadId(7), "at last");
        tracer.leave();
        assert_eq!(written(runtime), [start_of("worker")]);
        let slot = runtime.threads.slots.newest().unwrap();
        assert_eq!(slot.last_name().unwrap().text, "at last");
    }

    /// One that finds no room in the table of numbers is looked for among all.
    #[test]
    fn one_of_very_many_threads_gets_its_name() {
        let runtime = runtime(1 << 20);
        for neighbour in 1..200_000 {
            let numbers = &runtime.threads.numbers;
            numbers.add(neighbour << 4, ThreadId(1000), 0);
        }
        let mut tracer = tracer(runtime);
        assert_eq!(runtime.threads.numbers.find_slot(ADDRESS), None);
        runtime.rename_thread(ADDRESS, JavaThreadId(7), "found");
        enter(&mut tracer, 1);
        let expected = [start_of("worker"), name("found"), "1".into()];
        assert_eq!(written(runtime), expected);
    }

    /// An event that is longer than any buffer gets one of its own size.
    #[test]
    fn long_events_fit() {
        let runtime = runtime(1 << 20);
        let mut tracer = tracer(runtime);
        let frames = vec![
            Frame {
                method: MethodId(u32::MAX),
                bci: i32::MAX,
                line: i32::MAX
            };
            MAX_FRAMES + 5
        ];
        assert_eq!(
            tracer.add_chain(ChainKey::new(&[1]), &frames, false),
            ChainId(1)
        );
        written(runtime);
        assert_eq!(
            tracer.add_chain(ChainKey::new(&[2]), &frames, false),
            ChainId(2)
        );
        runtime.reclaim_all();
        let mut buffers = runtime.buffers.queue.take_all().unwrap();
        let Some(Ok(Event::Chain(ChainDescription {
            chain: ChainId(2),
            frames,
            truncated: true,
        }))) = SegmentDecoder::new(buffers[0].segment()).next()
        else {
            panic!("no chain");
        };
        assert_eq!(frames.len(), MAX_FRAMES);
        assert_eq!(runtime.counts.losses.events(), 0);
    }

    /// Each hook with the same probability, whether each is measured or each seventeenth.
    #[test]
    fn hooks_are_chosen_by_chance() {
        const HOOKS: u32 = 100_000;
        let runtime = runtime(1 << 20);
        for (weight, break_begin) in [(1, 0), (17, 0), (17, 1)] {
            let mut tracer = tracer(runtime);
            let mut chosen = 0;
            for hook in 0..HOOKS {
                let is_measured = hook % weight == 0;
                let begin = cycles::now().saturating_sub(20_000);
                let before_break = (begin * break_begin, (begin + 10_000) * break_begin);
                let cycles = HookCycles {
                    begin,
                    before_break,
                };
                tracer.end_hook(Hook::Exit, cycles, u32::from(is_measured) * weight);
                while let Some(part) = runtime.facts.hook_parts.take() {
                    assert!(part.duration_ns > 0 && part.end_ns <= runtime.clock.now_ns());
                    chosen += 1;
                }
            }
            // Of a hook with a break there are two. Five standard deviations.
            let expected = f64::from(HOOKS / hook_parts::WEIGHT);
            let chosen = f64::from(chosen) / (1.0 + break_begin as f64);
            assert!(
                (chosen - expected).abs() < 5.0 * expected.sqrt(),
                "{chosen}"
            );
        }
        assert_eq!(runtime.facts.hook_parts.lost(), 0);
    }

    #[test]
    fn numbers_are_recorded_once_there_is_a_buffer() {
        let runtime = runtime(USUAL_LEN as u64);
        // Takes the memory that there is, its metadata twice as much.
        let budget = &runtime.buffers.budget;
        let all = budget.charge(2 * USUAL_LEN, u64::MAX).unwrap();
        let mut tracer = tracer(runtime);
        enter(&mut tracer, 1);
        enter(&mut tracer, 2);
        assert_eq!(written(runtime), [] as [&str; 0]);
        assert_eq!(runtime.counts.losses.events(), 3);

        drop(all);
        runtime.metadata.repeat_lost();
        enter(&mut tracer, 3);
        assert_eq!(
            written(runtime),
            [
                "LostEvents(LostEvents { events: 2 })",
                start_of("worker").as_str(),
                "3"
            ]
        );
    }

    #[test]
    fn a_closed_trace_takes_no_memory() {
        let runtime = runtime(1 << 20);
        let mut tracer = tracer(runtime);
        runtime.buffers.close();
        for sequence in 1..100_000 {
            enter(&mut tracer, sequence);
        }
        assert_eq!(runtime.buffers.budget.peak_buffers(), 1);
        tracer.end(300);
        assert_eq!(runtime.buffers.budget.bytes(), 0);
    }
}
