//! The background thread that takes buffers from the queue and writes the file
//! (paper, section 3.1).
//!
//! No thread wakes it: a system call in a Java thread would cost more than the
//! event. It looks at the queue every [`POLL_INTERVAL`], and every
//! [`SWEEP_INTERVAL`] it takes the buffers of all threads, so that a trace can
//! be read while it is written and no idle thread keeps events back. It does so
//! every [`NEWS_INTERVAL`] while there are new descriptions, and more often when
//! many threads with little to say hold much of the memory for buffers.

use std::collections::TryReserveError;
use std::io;
use std::mem;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use trace_format::{
    ChunkWriter, Counter, DoesNotFit, Event, FileHeader, LostEvents, SegmentEncoder, SystemRecord,
    ThreadId, ThreadRename,
};

use crate::buffers::buffer::Buffer;
use crate::buffers::file::BufferFile;
use crate::drain::freezes::FreezeWatch;
use crate::drain::retirement::Retirement;
use crate::drain::thread_times::ThreadTimesReader;
use crate::fallible::try_collect;
use crate::os;
use crate::output::Output;
use crate::output::progress::Extent;
use crate::output::stop_signal::Phase;
use crate::output::trace_file::Failure;
use crate::runtime::Runtime;
use crate::text;
use crate::threads::hook_costs::HookCosts;
use crate::threads::new_name::Name;
use crate::threads::thread_slot::ThreadSlot;

const POLL_INTERVAL: Duration = Duration::from_millis(15);
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// The same while there are new descriptions. Until a description is in the
/// trace, its reader keeps the events that refer to it, and all that follow those: of
/// many threads that begin at once, more than it can keep in a second.
const NEWS_INTERVAL: Duration = Duration::from_millis(100);
/// Of the checks at these intervals without news, the most that may pass before the
/// counters are written again.
const MAX_QUIET_CHECKS: u32 = 64;
/// How long the end of the JVM may wait for a named pipe to get a reader.
const LAST_CHANCE: Duration = Duration::from_secs(1);

/// Length of a segment that the drainer writes itself, in bytes, at most. The longest event
/// that it writes, a thread's name, fits.
const OWN_SEGMENT_LEN: usize = text::MAX_LEN + (1 << 10);

/// Length of the events from which a chunk is written, in bytes. Snappy's
/// window is as long.
const CHUNK_LEN: usize = 64 << 10;

/// Records in a chunk of what the JVM and the system did, at most.
const MAX_SYSTEM_RECORDS: usize = 512;

/// Starts the drainer.
pub(crate) fn spawn(
    runtime: &'static Runtime,
    output: Output,
    header: &FileHeader,
) -> io::Result<JoinHandle<()>> {
    // These take memory as if it were never short, so they do not belong in the drainer.
    let chunks = ChunkWriter::new(header.compressed);
    let header = header.encode();
    let mut output = output;
    // Whatever happens to the process, a file of buffers that it leaves belongs to a trace.
    let begun = if output.has_reader() {
        Ok(())
    } else {
        output.append(&header)
    };
    // At most fifteen characters of the name are shown.
    let builder = thread::Builder::new().name("locktrace-drain".to_owned());
    os::with_signals_blocked(|| {
        builder.spawn(move || Drainer::new(runtime, output, chunks).run(begun, &header))
    })
}

struct Drainer {
    runtime: &'static Runtime,
    output: Output,
    chunks: ChunkWriter,
    /// Buffers in the chunk that is being collected, and the events in them.
    collected: Amount,
    /// These buffers, which hold their events until the chunk is in the file.
    #[expect(clippy::vec_box, reason = "as the queue has them")]
    unwritten: Vec<Box<Buffer>>,
    /// Buffers in the file, and the events in them.
    written: Amount,
    events_chunks: u64,
    raw_bytes: u64,
    counters_chunks: u64,
    /// The last chunk of counters.
    last_counters: Vec<(Counter, u64)>,
    /// Checks since the last one that had news.
    quiet_checks: u32,
    /// The file has all events before this time.
    complete_until_ns: u64,
    /// Classes, methods, chains and threads that were known when buffers were taken last.
    described: u64,
    retirement: Retirement,
    thread_times: ThreadTimesReader,
    freezes: FreezeWatch,
    /// The part of the time since the last check for a freeze that the drainer asked for, or that the
    /// file of buffers took.
    asked: Duration,
    /// The system records to be written next.
    system: Vec<SystemRecord>,
    system_chunks: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    buffers: u64,
    events: u64,
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.buffers = self.buffers.saturating_add(other.buffers);
        self.events = self.events.saturating_add(other.events);
    }
}

impl Drainer {
    fn new(runtime: &'static Runtime, output: Output, chunks: ChunkWriter) -> Self {
        Self {
            runtime,
            output,
            chunks,
            collected: Amount::default(),
            unwritten: Vec::new(),
            written: Amount::default(),
            events_chunks: 0,
            raw_bytes: 0,
            counters_chunks: 0,
            last_counters: Vec::new(),
            quiet_checks: 0,
            complete_until_ns: 0,
            described: 0,
            retirement: Retirement::new(runtime),
            thread_times: ThreadTimesReader::new(),
            freezes: FreezeWatch::begin(runtime.clock.now_ns()),
            asked: Duration::ZERO,
            system: Vec::new(),
            system_chunks: 0,
        }
    }

    fn run(mut self, begun: Result<(), Failure>, header: &[u8]) {
        let recorded = begun.and_then(|()| self.record(header));
        if let Err(failure) = &recorded {
            self.runtime.buffers.close();
            self.output.give_up(failure);
            self.write_early_end(failure);
        }
        self.output.close();
        if let Some(buffers) = &self.runtime.buffers.file {
            buffers.remove();
        }
        if recorded.is_err() {
            self.unwritten = Vec::new();
            self.discard_all();
        }
        self.runtime.drainer.stop_signal.set(Phase::Finished);
    }

    /// Writes the trace, until it is to be stopped.
    fn record(&mut self, header: &[u8]) -> Result<(), Failure> {
        if self.output.has_reader() {
            self.await_reader()?;
            self.output.append(header)?;
        }
        let mut last_check = Instant::now();
        let mut last_sweep = Instant::now();
        while !self.rest() {
            self.keep_buffer_file();
            let check = last_check.elapsed() >= SWEEP_INTERVAL;
            let is_new =
                last_sweep.elapsed() >= NEWS_INTERVAL && self.described != self.runtime.described();
            if check || is_new || self.runtime.buffers.are_scarce() {
                last_sweep = Instant::now();
                self.described = self.runtime.described();
                let now_ns = self.runtime.clock.elapsed_ns();
                self.runtime.reclaim_all();
                self.complete_until_ns = now_ns;
            }
            self.write_queue()?;
            self.retirement.step()?;
            self.runtime.metadata.repeat_lost();
            if check {
                last_check = Instant::now();
                if self.runtime.threads.slots.take_renamed() {
                    self.write_names(ThreadSlot::unwritten_name)?;
                }
                self.output.check()?;
                self.write_news()?;
            }
            self.runtime.drainer.progress.publish(self.extent());
        }
        self.finish()
    }

    /// Waits until it is time to look again, and returns whether the trace is to end.
    fn rest(&mut self) -> bool {
        self.asked = self.asked.saturating_add(POLL_INTERVAL);
        self.runtime.drainer.stop_signal.wait(POLL_INTERVAL)
    }

    /// Notes in the file of buffers that the process lives, and reserves blocks there.
    fn keep_buffer_file(&mut self) {
        if let Some(buffers) = &self.runtime.buffers.file {
            let begin = Instant::now();
            buffers.set_alive(self.runtime.clock.elapsed_ns());
            buffers.make_room();
            self.asked = self.asked.saturating_add(begin.elapsed());
        }
    }

    /// Checks whether the process ran since the last time.
    fn look_for_freeze(&mut self) -> Result<(), Failure> {
        let asked = mem::take(&mut self.asked).saturating_add(self.output.take_appending());
        let (now_ns, thread_times) = (self.runtime.clock.now_ns(), &self.thread_times);
        let found = self
            .freezes
            .look(now_ns, asked, || thread_times.stolen_ns());
        Ok(found?)
    }

    fn extent(&self) -> Extent {
        Extent {
            len: self.output.len(),
            chunks: self.chunks_written(),
            complete_until_ns: self.complete_until_ns,
        }
    }

    fn chunks_written(&self) -> u64 {
        let events_and_counters = self.events_chunks.saturating_add(self.counters_chunks);
        events_and_counters.saturating_add(self.system_chunks)
    }

    /// Waits until a named pipe has a reader. Meanwhile events stay in their buffers,
    /// as far as they fit.
    fn await_reader(&mut self) -> Result<(), Failure> {
        while !self.output.connect()? {
            let ends = self.rest();
            self.look_for_freeze()?;
            if ends {
                return self.await_last_reader();
            }
        }
        Ok(())
    }

    /// The same while the end of the JVM waits.
    fn await_last_reader(&mut self) -> Result<(), Failure> {
        let begin = Instant::now();
        while !self.output.connect()? {
            if begin.elapsed() > LAST_CHANCE {
                return Err(Failure::NoReader);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Writes to the trace, too, why it ends. If that does not fit, the last chunk is
    /// cut off.
    fn write_early_end(&mut self, failure: &Failure) {
        let Some(reason) = failure.reason() else {
            return;
        };
        if self.output.len() == 0 {
            // Without a header it is no trace.
            return;
        }
        let time_ns = self.runtime.clock.elapsed_ns();
        let mut chunks = self.chunks_written();
        while self
            .output
            .append(self.chunks.early_end(time_ns, chunks, reason))
            .is_err()
            && self.output.cut_off_last()
        {
            chunks = chunks.saturating_sub(1);
        }
    }

    /// Discards the buffers of threads that have not noticed yet that the trace has ended.
    fn discard_all(&self) {
        loop {
            self.runtime.reclaim_all();
            self.runtime.buffers.queue.discard_all();
            if self.runtime.drainer.stop_signal.wait(SWEEP_INTERVAL) {
                return;
            }
        }
    }

    fn write_queue(&mut self) -> Result<(), Failure> {
        let ended = self.retirement.take_settled();
        let buffers = self.runtime.buffers.queue.take_all()?;
        // A freeze that was over when a buffer was taken is written before it.
        self.look_for_freeze()?;
        // Events in the buffers follow what happened before them.
        self.write_system()?;
        for buffer in in_order_of_threads(buffers)? {
            self.collect(buffer)?;
        }
        self.write_events()?;
        self.write_own(ended.events())
    }

    /// Writes the system records since the last time.
    fn write_system(&mut self) -> Result<(), Failure> {
        self.thread_times.read(self.runtime, &mut self.system)?;
        loop {
            self.system.try_reserve(MAX_SYSTEM_RECORDS)?;
            while self.system.len() < MAX_SYSTEM_RECORDS
                && let Some(safepoint) = self.runtime.facts.safepoints.take()
            {
                self.system.push(SystemRecord::Safepoint(safepoint));
            }
            // After the others: readers of earlier versions end there.
            while self.system.len() < MAX_SYSTEM_RECORDS
                && let Some(part) = self.runtime.facts.hook_parts.take()
            {
                self.system.push(SystemRecord::HookPart(part));
            }
            let freezes = self.freezes.take();
            self.system.try_reserve(freezes.len())?;
            self.system.extend(freezes);
            if self.system.is_empty() {
                return Ok(());
            }
            self.chunks.try_reserve_system(self.system.len())?;
            let chunk = self.chunks.system(self.system.drain(..));
            self.output.append(chunk)?;
            self.runtime.drainer.stop_signal.note_progress();
            self.system_chunks = self.system_chunks.saturating_add(1);
        }
    }

    fn collect(&mut self, mut buffer: Box<Buffer>) -> Result<(), Failure> {
        let amount = Amount {
            buffers: 1,
            events: buffer.events().into(),
        };
        let contains_metadata = buffer.contains_metadata();
        let (thread, index) = (buffer.thread(), buffer.index());
        let segment = buffer.segment();
        self.make_room(segment.len())?;
        self.unwritten.try_reserve(1)?;
        let collected = self
            .chunks
            .push_segment(thread, index, segment, contains_metadata);
        match collected {
            Ok(()) => {
                self.collected.add(amount);
                self.unwritten.push(buffer);
            }
            // Longer than any chunk; the tracer's limits leave no such buffer.
            Err(DoesNotFit) => {
                self.runtime.counts.losses.add_events(amount.events);
                self.runtime.counts.losses.add_buffer(contains_metadata);
                self.runtime.buffers.pool.keep(buffer);
            }
        }
        Ok(())
    }

    /// Writes the chunk that is being collected if it would become too long.
    fn make_room(&mut self, segment_len: usize) -> Result<(), Failure> {
        if self.chunks.raw_len().saturating_add(segment_len) > CHUNK_LEN {
            self.write_events()?;
        }
        Ok(self.chunks.try_reserve(segment_len)?)
    }

    fn write_events(&mut self) -> Result<(), Failure> {
        let raw_len = self.chunks.raw_len();
        if raw_len == 0 {
            return Ok(());
        }
        let collected = mem::take(&mut self.collected);
        let chunk = self.chunks.events();
        let written_end = self.output.len().saturating_add(chunk.len() as u64);
        for buffer in &self.unwritten {
            buffer.mark_written(written_end);
        }
        self.output.append(chunk)?;
        for buffer in self.unwritten.drain(..) {
            self.runtime.buffers.pool.keep(buffer);
        }
        self.runtime.drainer.stop_signal.note_progress();
        self.written.add(collected);
        self.events_chunks = self.events_chunks.saturating_add(1);
        self.raw_bytes = self.raw_bytes.saturating_add(raw_len as u64);
        Ok(())
    }

    /// Writes how many sequence numbers were lost since a thread got a buffer
    /// last.
    fn write_unrecorded_losses(&mut self) -> Result<(), Failure> {
        let events = self.runtime.counts.losses.take_unrecorded_numbers();
        let lost = (events > 0).then_some(Event::LostEvents(LostEvents { events }));
        self.write_own(lost.into_iter())
    }

    /// Writes new names of threads that write nothing themselves. As soon as one does, it repeats
    /// its name, in case this comes out of order.
    fn write_names(
        &mut self,
        new_name: impl Fn(&ThreadSlot) -> Option<Box<Name>>,
    ) -> Result<(), Failure> {
        let slots = self.runtime.threads.slots.iter();
        let names = try_collect(slots.filter_map(new_name))?;
        self.write_own(names.iter().map(|name| {
            Event::ThreadRename(ThreadRename {
                java_id: name.java_id,
                name: &name.text,
            })
        }))
    }

    /// Writes events in the name of no thread.
    fn write_own<'e>(&mut self, events: impl Iterator<Item = Event<'e>>) -> Result<(), Failure> {
        let mut events = events.peekable();
        while events.peek().is_some() {
            let mut segment = [0; OWN_SEGMENT_LEN];
            let mut encoder = SegmentEncoder::new();
            // The first one fits.
            while events
                .next_if(|event| encoder.encode(&mut segment, event).is_ok())
                .is_some()
            {}
            self.collect_own(&encoder, segment.get(..encoder.len()).unwrap_or_default())?;
        }
        self.write_events()
    }

    fn collect_own(&mut self, encoder: &SegmentEncoder, segment: &[u8]) -> Result<(), Failure> {
        self.make_room(segment.len())?;
        let contains_metadata = encoder.contains_metadata();
        let collected = self
            .chunks
            .push_segment(ThreadId::NONE, 0, segment, contains_metadata);
        if collected.is_ok() {
            self.collected.add(Amount {
                buffers: 1,
                events: encoder.events().into(),
            });
        }
        Ok(())
    }

    /// Writes the counters if an event was written or lost since the last time, and less
    /// and less often if not: if a JVM is killed while its threads are blocked, the
    /// trace shows for how long they were.
    fn write_news(&mut self) -> Result<(), Failure> {
        let counters = self.counters()?;
        // These grow by the counters alone, or with time.
        let is_news = |&&(counter, _): &&(Counter, u64)| {
            use Counter::{
                CompleteUntilNs, DrainerCpuNs, ElapsedCycles, FileBytes, Reclaims, StealNs,
                ThreadTimesCpuNs, ThreadTimesRead, ThreadTimesSkipped,
            };
            let grows_alone = matches!(
                counter,
                FileBytes
                    | DrainerCpuNs
                    | ElapsedCycles
                    | Reclaims
                    | CompleteUntilNs
                    | ThreadTimesRead
                    | ThreadTimesSkipped
                    | ThreadTimesCpuNs
                    | StealNs
            );
            !grows_alone
        };
        let last_counters = self.last_counters.iter();
        let news = counters.iter().filter(is_news);
        self.quiet_checks = if news.eq(last_counters.filter(is_news)) {
            self.quiet_checks.saturating_add(1)
        } else {
            0
        };
        if is_due(self.quiet_checks) {
            self.write_counters(counters)?;
        }
        Ok(())
    }

    fn write_counters(&mut self, counters: Vec<(Counter, u64)>) -> Result<(), Failure> {
        self.output
            .append(self.chunks.counters(counters.iter().copied()))?;
        self.runtime.drainer.stop_signal.note_progress();
        self.counters_chunks = self.counters_chunks.saturating_add(1);
        self.last_counters = counters;
        Ok(())
    }

    fn counters(&self) -> Result<Vec<(Counter, u64)>, TryReserveError> {
        let runtime = self.runtime;
        let costs = HookCosts::sum(runtime.threads.slots.iter().map(ThreadSlot::costs));
        let own = [
            (Counter::LostEvents, runtime.counts.losses.events()),
            (Counter::LostBuffers, runtime.counts.losses.buffers()),
            (
                Counter::LostMetadataBuffers,
                runtime.counts.losses.metadata_buffers(),
            ),
            (Counter::Events, self.written.events),
            (Counter::Buffers, self.written.buffers),
            (Counter::Chunks, self.events_chunks),
            (Counter::RawBytes, self.raw_bytes),
            (Counter::FileBytes, self.output.len()),
            (Counter::UntoldWaits, runtime.counts.losses.untold_waits()),
            (Counter::PeakBuffers, runtime.buffers.budget.peak_buffers()),
            (
                Counter::PeakBufferBytes,
                runtime.buffers.budget.peak_bytes(),
            ),
            (
                Counter::BuffersOutsideFile,
                runtime
                    .buffers
                    .file
                    .as_deref()
                    .map_or(0, BufferFile::misses),
            ),
            (Counter::DrainerCpuNs, os::thread_cpu_ns()),
            (Counter::Threads, runtime.ids.threads.count()),
            (Counter::Locks, runtime.ids.locks.count()),
            (Counter::Chains, runtime.chains.chains()),
            (Counter::ChainSetResets, runtime.chains.resets()),
            (Counter::MetadataRepeats, runtime.metadata.repeats()),
            (Counter::ChainsPurged, runtime.chains.purged()),
            (Counter::ElapsedCycles, runtime.clock.elapsed_cycles()),
            (
                Counter::PeakThreadBytes,
                runtime.counts.thread_memory.peak_bytes(),
            ),
            (Counter::Reclaims, runtime.buffers.reclaims()),
            (Counter::CompleteUntilNs, self.complete_until_ns),
            (Counter::LostSafepoints, runtime.facts.safepoints.lost()),
        ];
        let lost_hook_parts = [(Counter::LostHookParts, runtime.facts.hook_parts.lost())];
        let samples = runtime.counts.owner_samples.values().into_iter();
        let sites = runtime.counts.sites.values();
        let of_agent = runtime.agent_counts.values();
        // Counters that are 0 are left out.
        let optional = samples.chain(sites).chain(of_agent).chain(lost_hook_parts);
        let optional = optional.chain(self.freezes.counters());
        let optional = optional.filter(|&(_, value)| value > 0);
        let own = own.into_iter().chain(self.thread_times.counters());
        try_collect(own.chain(optional).chain(costs.counters()))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.retirement.purge()?;
        self.complete_until_ns = self.runtime.clock.elapsed_ns();
        self.runtime.reclaim_all();
        self.write_queue()?;
        // Once more, for buffers that were being written to.
        self.runtime.reclaim_all();
        self.runtime.buffers.close();
        self.write_queue()?;
        // After everything that threads have written.
        self.write_names(ThreadSlot::last_name)?;
        self.write_unrecorded_losses()?;
        self.write_counters(self.counters()?)?;
        let chunks = self.chunks_written();
        let end = self.chunks.end(self.runtime.clock.elapsed_ns(), chunks);
        self.output.append(end)?;
        self.output.check()
    }
}

/// Returns whether the counters are to be written after this many checks without news.
fn is_due(quiet_checks: u32) -> bool {
    quiet_checks == 0
        || quiet_checks.is_power_of_two()
        || quiet_checks.is_multiple_of(MAX_QUIET_CHECKS)
}

/// Puts the buffers of each thread in order. They are nearly always: only a
/// buffer that was taken from its thread can be overtaken by the next one. The
/// places of a thread's buffers among those of the others stay.
///
/// # Errors
///
/// Memory is short. The buffers are given back.
#[expect(clippy::vec_box, reason = "as the queue has them")]
fn in_order_of_threads(
    mut buffers: Vec<Box<Buffer>>,
) -> Result<impl Iterator<Item = Box<Buffer>>, TryReserveError> {
    let threads = try_collect(buffers.iter().map(|buffer| buffer.thread()))?;
    let mut places = try_collect(0..buffers.len())?;
    // Sorts that keep the order of equals take memory.
    places.sort_unstable_by_key(|&place| (threads.get(place).copied(), place));
    buffers.sort_unstable_by_key(|buffer| (buffer.thread(), buffer.index()));
    let mut in_order = try_collect(places.into_iter().zip(buffers))?;
    in_order.sort_unstable_by_key(|(place, _)| *place);
    Ok(in_order.into_iter().map(|(_, buffer)| buffer))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::buffers::buffer::BufferBudget;

    #[test]
    fn buffers_of_a_thread_are_put_in_order() {
        let budget: &BufferBudget = Box::leak(Box::default());
        let buffer = |(thread, index)| {
            let charge = budget.charge(1, 1000).unwrap();
            Buffer::try_new(charge, 1, ThreadId(thread), index).unwrap()
        };
        let overtaken = [(2, 6), (1, 1), (2, 5), (3, 9), (1, 0), (2, 4)];
        let in_order = in_order_of_threads(overtaken.into_iter().map(buffer).collect());
        let in_order: Vec<_> = in_order
            .unwrap()
            .map(|buffer| (buffer.thread().0, buffer.index()))
            .collect();
        assert_eq!(in_order, [(2, 4), (1, 0), (2, 5), (3, 9), (1, 1), (2, 6)]);
    }
}
