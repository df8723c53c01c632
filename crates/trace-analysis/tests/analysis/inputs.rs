//! A trace says the same wherever it comes from, and what it said in the middle stays true.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use proptest::prelude::*;
use tempfile::NamedTempFile;
use trace_analysis::{
    Analysis, Entities, Limits, OpenWait, TraceError, TraceFile, TraceInput, Wait, WaitId, WaitSink,
};

/// What a trace may come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    File,
    Pipe,
    Socket,
    /// A file that is written while it is read.
    Growing,
}

impl Source {
    pub(crate) const ALL: [Self; 4] = [Self::File, Self::Pipe, Self::Socket, Self::Growing];

    /// Begins to read the trace in a file.
    pub(crate) fn open(self, path: &Path) -> Result<TraceInput, TraceError> {
        let bytes = || fs::read(path).expect("readable");
        match self {
            Self::File => TraceInput::open(path),
            Self::Pipe => {
                let (reader, writer) = io::pipe().expect("a pipe");
                write_into(writer, bytes());
                TraceInput::of_source(path, reader)
            }
            Self::Socket => {
                let (reader, writer) = UnixStream::pair().expect("a socket");
                write_into(writer, bytes());
                TraceInput::of_source(path, reader)
            }
            Self::Growing => follow(bytes()),
        }
    }
}

/// Writes from another thread, in pieces of several sizes, as long as somebody reads.
fn write_into(mut writer: impl Write + Send + 'static, bytes: Vec<u8>) {
    thread::spawn(move || {
        let mut rest = bytes.as_slice();
        let mut len = 1;
        while !rest.is_empty() {
            len = len * 7 % 4093 + 1;
            let (piece, later) = rest.split_at(len.min(rest.len()));
            if writer.write_all(piece).is_err() {
                return;
            }
            rest = later;
        }
    });
}

/// Follows a file in which there is only the header at first. Whenever its end is seen, some
/// more is written, and the writer is not there any more then.
fn follow(bytes: Vec<u8>) -> Result<TraceInput, TraceError> {
    let mut file = NamedTempFile::new().expect("a temporary file");
    let path = file.path().to_owned();
    let mut written = bytes.len().min(64);
    file.write_all(&bytes[..written]).expect("it fits");
    let mut piece = 1;
    TraceInput::follow(&path, move || {
        piece = piece * 7 % 4093 + 1;
        let end = bytes.len().min(written + piece);
        file.write_all(&bytes[written..end]).expect("it fits");
        written = end;
        false
    })
}

/// The waits in the order in which they come.
#[derive(Default)]
struct Waits(Vec<Wait>);

impl WaitSink for Waits {
    fn wait(&mut self, wait: &Wait, _: &Entities) {
        self.0.push(wait.clone());
    }
}

fn analyze(input: TraceInput, limits: Limits) -> (Vec<Wait>, String) {
    let mut waits = Waits::default();
    let mut analysis = Analysis::new(limits);
    let summary = input
        .analyze(&mut analysis, &mut waits, |_| ControlFlow::Continue(()))
        .expect("readable");
    let mut said = format!(
        "{} {:?} {:?} {:?}",
        summary.duration_ns, summary.counters, summary.waits, summary.damage
    );
    said.push_str(&format!("{:?}", summary.statistics.events));
    (waits.0, said)
}

/// What is found in a trace is the same wherever it comes from, and nothing that was known in the
/// middle of it changes but that waits end.
pub(crate) fn assert_known_early(path: &Path, limits: Limits) -> Result<(), TestCaseError> {
    let file = TraceFile::open(path).expect("a trace");
    let whole = analyze(file.input().expect("readable"), limits);
    // Another one for another trace: all take as long as the rest.
    let source = Source::ALL[file.byte_len() as usize % Source::ALL.len()];
    let input = source.open(path).expect("a trace");
    prop_assert_eq!(&analyze(input, limits), &whole, "{:?}", source);

    let mut input = file.input().expect("readable");
    let mut analysis = Analysis::new(limits);
    let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
    let mut waits = Waits::default();
    let mut open: BTreeMap<WaitId, OpenWait> = BTreeMap::new();
    let mut complete_until_ns = 0;
    let mut last = Vec::new();
    while let Some(chunk) = input.next_chunk().expect("readable") {
        trace.chunk(chunk, &mut waits);
        let snapshot = trace.snapshot();
        prop_assert_eq!(&waits.0[..], &whole.0[..waits.0.len()]);
        prop_assert!(snapshot.complete_until_ns >= complete_until_ns);
        complete_until_ns = snapshot.complete_until_ns;
        let selected = snapshot.waits.sum(|_, _| true).waits;
        prop_assert_eq!(selected, waits.0.len() as u64);
        let ended = |id| waits.0.iter().any(|wait| wait.id == id);
        let waits_for_events = snapshot.pending_events + snapshot.events_without_names > 0;
        last = if waits_for_events {
            Vec::new()
        } else {
            snapshot.open.clone()
        };
        for wait in snapshot.open {
            prop_assert!(!ended(wait.id), "{:?} has ended", wait);
            let before = open.insert(wait.id, wait);
            // Others may have got the lock meanwhile.
            let begun = |wait: OpenWait| OpenWait {
                holder: None,
                ..wait
            };
            prop_assert!(before.is_none_or(|before| begun(before) == begun(wait)));
        }
    }
    trace.finish(&mut waits);
    prop_assert_eq!(&waits.0, &whole.0);
    for wait in &waits.0 {
        if let Some(open) = open.get(&wait.id) {
            let begun = (open.mechanism, open.lock, open.thread, open.chain);
            prop_assert_eq!((wait.mechanism, wait.lock, wait.thread, wait.chain), begun);
            prop_assert_eq!(wait.whole_start_ns, open.start_ns);
        }
    }
    // What comes after the last chunk changes no owner.
    for wait in waits.0.iter().filter(|wait| !wait.ended()) {
        if let Some(open) = last.iter().find(|open| open.id == wait.id) {
            prop_assert_eq!(open.kind, wait.kind);
            prop_assert_eq!(open.holder, wait.holder);
        }
    }
    Ok(())
}

#[test]
fn a_growing_file_is_read_to_the_end_of_the_trace() {
    let golden = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../trace-format/tests/golden/v3.lct"
    ));
    let whole = TraceFile::open(golden).and_then(|file| file.input());
    let whole = analyze(whole.expect("a trace"), Limits::default());
    assert!(!whole.0.is_empty());
    let bytes = fs::read(golden).expect("readable");
    let growing = tempfile::NamedTempFile::new().expect("a temporary file");
    let path = growing.path().to_owned();
    let writer = std::thread::spawn(move || {
        let mut file = growing.as_file();
        for part in bytes.chunks(bytes.len() / 10 + 1) {
            file.write_all(part).expect("it fits");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        growing
    });
    let input = TraceInput::follow(&path, || true).expect("a trace");
    assert_eq!(analyze(input, Limits::default()), whole);
    writer.join().expect("written");
}

#[test]
fn a_file_that_will_not_grow_any_more_ends() {
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../trace-format/tests/golden/v3.lct"
    );
    let bytes = fs::read(golden).expect("readable");
    let mut torn = tempfile::NamedTempFile::new().expect("a temporary file");
    torn.write_all(&bytes[..bytes.len() - 10]).expect("it fits");
    let input = TraceInput::follow(torn.path(), || false).expect("a trace");
    let followed = analyze(input, Limits::default());
    let read = TraceInput::open(torn.path()).expect("a trace");
    assert_eq!(followed, analyze(read, Limits::default()));
}
