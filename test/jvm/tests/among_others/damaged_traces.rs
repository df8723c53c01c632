//! A real trace, cut off at any byte and damaged in thousands of ways, is
//! still analyzed as far as possible, or refused.
//!
//! `LOCKTRACE_NIGHTLY=1` cuts it off at every byte, and damages it eight times as often.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

use jvm_tests::{Jvm, analyze, is_nightly, scratch_directory};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use trace_format::chunk::{self, ChunkHeader, HEADER_LEN};

/// The number of bytes cut off at the end, one by one or several at once. Events have all lengths,
/// so a prime number meets all places in them.
const CUT_BYTES: usize = 64 << 10;
const CUT_AT_ONCE: usize = 11;

/// The number of damaged traces of each kind.
const DAMAGED_TRACES: usize = 1_250;
const NIGHTLY_DAMAGED_TRACES: usize = 10_000;

/// The machine's processors.
const WORKERS: usize = 2;

#[test]
fn cut_off_at_any_byte() {
    let trace = sound_trace();
    let whole = count_waits(&in_a_file("whole", trace).1).expect("a sound trace");
    assert!(whole > 0);
    let at_once = if is_nightly() { 1 } else { CUT_AT_ONCE };

    in_parallel(
        trace.len() - CUT_BYTES..trace.len(),
        |lengths, file, path| {
            let mut waits_in_longer = whole;
            for len in lengths.rev().step_by(at_once) {
                file.set_len(len as u64).expect("a file can be cut");
                let waits = count_waits(path).expect("the header is there");
                assert!(
                    waits <= waits_in_longer,
                    "{waits} waits in {len} bytes, {waits_in_longer} in {at_once} more"
                );
                waits_in_longer = waits;
            }
        },
    );
}

#[test]
fn damaged_at_random() {
    let trace = sound_trace();
    in_parallel(0..damaged_traces(), |seeds, file, path| {
        for seed in seeds {
            let mut random = StdRng::seed_from_u64(seed as u64);
            let mut damaged = trace.to_vec();
            for _ in 0..random.random_range(1..=8) {
                damage(&mut damaged, &mut random);
            }
            rewrite(file, &damaged);
            count_waits(path);
        }
    });
    assert_little_memory();
}

/// The checksums of the damaged chunks are right, so that the damage reaches
/// what is behind them.
#[test]
fn damaged_on_purpose() {
    let trace = sound_trace();
    let chunks = chunks(trace);
    in_parallel(0..damaged_traces(), |seeds, file, path| {
        for seed in seeds {
            let mut random = StdRng::seed_from_u64(seed as u64);
            let mut damaged = trace.to_vec();
            let at = &chunks[random.random_range(0..chunks.len())];
            for _ in 0..random.random_range(1..=8) {
                let byte = random.random_range(at.start + HEADER_LEN..at.end);
                damaged[byte] = random.random();
            }
            repair_checksums(&mut damaged[at.clone()]);
            rewrite(file, &damaged);
            count_waits(path);
        }
    });
    assert_little_memory();
}

fn damaged_traces() -> usize {
    if is_nightly() {
        NIGHTLY_DAMAGED_TRACES
    } else {
        DAMAGED_TRACES
    }
}

/// A small trace of a real program, in many small pieces: each of its threads
/// hands in a few events when it ends. Not compressed, so that damage is spread
/// over events of all types.
fn sound_trace() -> &'static [u8] {
    static TRACE: OnceLock<Vec<u8>> = OnceLock::new();
    TRACE.get_or_init(|| {
        let run = Jvm::traced(&["scenarios.ThreadCrowd", "1800", "2"])
            .flags(["-XX:-LockContentionTraceCompression"])
            .run();
        let trace = fs::read(run.trace()).expect("the trace was written");
        let len = trace.len();
        let expected = CUT_BYTES + 1_000..200 << 10;
        assert!(
            expected.contains(&len),
            "{len} bytes: adapt the number of threads"
        );
        trace
    })
}

/// The number of waits in a trace, `None` if it is refused; whatever is found
/// must add up.
fn count_waits(path: &Path) -> Option<u64> {
    let mut waits = 0;
    let summary = analyze(path, |wait, _| {
        let blamed_ns: u64 = wait.contentions.iter().map(|part| part.duration_ns).sum();
        assert_eq!(blamed_ns, wait.duration_ns, "{wait:?}");
        waits += 1;
    });
    summary.ok().map(|_| waits)
}

/// Overwrites, moves, doubles or removes some bytes.
fn damage(trace: &mut Vec<u8>, random: &mut StdRng) {
    let start = random.random_range(0..trace.len());
    let end = (start + random.random_range(1..=64)).min(trace.len());
    match random.random_range(0..4) {
        0 => random.fill(&mut trace[start..end]),
        1 => trace[start] ^= 1 << random.random_range(0..8),
        2 => {
            let copy = trace[start..end].to_vec();
            let at = random.random_range(0..trace.len());
            trace.splice(at..at, copy);
        }
        _ => {
            trace.drain(start..end);
        }
    }
}

/// Returns the positions of the chunks of a sound trace.
fn chunks(trace: &[u8]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut at = trace
        .windows(chunk::MAGIC.len())
        .position(|bytes| bytes == chunk::MAGIC)
        .expect("a trace has chunks");
    while at < trace.len() {
        let header = header(&trace[at..]);
        let end = at + HEADER_LEN + header.stored_len as usize;
        chunks.push(at..end);
        at = end;
    }
    chunks
}

fn repair_checksums(chunk: &mut [u8]) {
    let mut header = header(chunk);
    header.payload_checksum = crc32c::crc32c(&chunk[HEADER_LEN..]);
    chunk[..HEADER_LEN].copy_from_slice(&header.encode());
}

fn header(chunk: &[u8]) -> ChunkHeader {
    let bytes = chunk.first_chunk().expect("a chunk has a header");
    ChunkHeader::decode(bytes).expect("a sound trace has sound chunks")
}

/// Lets each worker do a part of the cases with its own copy of the trace.
fn in_parallel(cases: Range<usize>, work: impl Fn(Range<usize>, &File, &Path) + Sync) {
    let share = cases.len().div_ceil(WORKERS);
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let start = cases.start + worker * share;
            let end = (start + share).min(cases.end);
            let work = &work;
            scope.spawn(move || {
                let (_directory, path) = in_a_file("damaged", sound_trace());
                let file = File::options()
                    .write(true)
                    .open(&path)
                    .expect("just created");
                work(start..end, &file, &path);
            });
        }
    });
}

fn in_a_file(name: &str, trace: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = scratch_directory(name);
    let path = directory.path().join("trace.lct");
    fs::write(&path, trace).expect("a scratch directory is writable");
    (directory, path)
}

fn rewrite(file: &File, bytes: &[u8]) {
    file.write_all_at(bytes, 0)
        .expect("a scratch file is writable");
    file.set_len(bytes.len() as u64).expect("a file can be cut");
}

/// No length in a damaged trace led to a large allocation: this process never
/// had more than a quarter of a gigabyte, of which the traces take little.
fn assert_little_memory() {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("Linux");
    let kib: u64 = peak
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number of KiB");
    assert!(kib < 256 << 10, "{kib} KiB");
}
