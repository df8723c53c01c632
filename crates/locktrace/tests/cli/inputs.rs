//! Every command says the same of a trace wherever it comes from, and with any number of threads.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;
use trace_format::TraceReader;

use crate::Run;
use crate::sample::Sample;

/// What the commands print in all their forms.
const COMMANDS: [&str; 6] = [
    "report",
    "report --format json --by lock,owner-thread,thread --kind all",
    "contentions --kind all",
    "contentions --kind all --format csv",
    "stat",
    "stat --format json",
];

/// Where the header has the number of the process, and how long the checksum is in its end.
const PID: Range<usize> = 20..24;
const CHECKSUM_LEN: usize = 4;

/// The traces of all versions of the format, and the demo's, in a directory. They say that this
/// process writes them, which goes on.
fn traces(directory: &Path) -> Vec<PathBuf> {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace-format/tests/golden");
    let golden = fs::read_dir(golden).expect("a folder");
    let golden = golden.map(|entry| entry.expect("readable").path());
    let golden = golden.filter(|path| path.extension().is_some_and(|name| name == "lct"));
    let demo = Sample::demo().save(directory, "demo.lct");
    let traces = golden.chain([demo]).map(|path| {
        let bytes = fs::read(&path).expect("readable");
        let mut reader = TraceReader::new(bytes.as_slice()).expect("a trace");
        let header = reader.offset() as usize;
        assert!(reader.next_chunk().expect("readable").is_some());
        let copy = directory.join(path.file_name().expect("a name"));
        let mut own = bytes[..header - CHECKSUM_LEN].to_vec();
        own[PID].copy_from_slice(&process::id().to_le_bytes());
        own.extend(crc32c::crc32c(&own).to_le_bytes());
        fs::write(&copy, [own.as_slice(), &bytes[header..]].concat()).expect("a writable folder");
        copy
    });
    traces.collect()
}

fn locktrace(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("locktrace").expect("built by cargo");
    command.args(arguments.split_whitespace());
    command
}

/// What is printed if the trace is called `name`.
fn said(run: &Run, name: &Path) -> (Option<i32>, String, String) {
    let called = |text: &str| text.replace(&name.display().to_string(), "TRACE");
    (run.code, called(&run.stdout), called(&run.stderr))
}

/// Runs a command on a socket from which a trace comes.
fn from_socket(command: &str, trace: &Path) -> (Option<i32>, String, String) {
    let path = trace.with_extension("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    let bytes = fs::read(trace).expect("readable");
    let writer = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a reader");
        for piece in bytes.chunks(777) {
            socket.write_all(piece).expect("a reader");
        }
    });
    let run = Run::of(locktrace(command).arg(&path));
    writer.join().expect("written");
    fs::remove_file(&path).expect("there");
    said(&run, &path)
}

/// Runs a command on a file that is written meanwhile.
fn from_growing_file(command: &str, trace: &Path) -> (Option<i32>, String, String) {
    let path = trace.with_extension("growing");
    let bytes = fs::read(trace).expect("readable");
    let (first, rest) = bytes.split_at(bytes.len() / 3);
    let (first, rest) = (first.to_vec(), rest.to_vec());
    fs::write(&path, first).expect("a writable folder");
    let mut file = fs::File::options().append(true).open(&path).expect("there");
    let writer = thread::spawn(move || {
        for piece in rest.chunks(rest.len() / 2 + 1) {
            thread::sleep(Duration::from_millis(60));
            file.write_all(piece).expect("a writable folder");
        }
    });
    let run = Run::of(locktrace(command).arg("--follow").arg(&path));
    writer.join().expect("written");
    said(&run, &path)
}

/// Traces at once, for most of the time is that in which files grow.
#[test]
fn all_inputs_say_the_same() {
    let directory = TempDir::new().expect("a temporary directory");
    let traces = traces(directory.path());
    thread::scope(|scope| {
        for trace in &traces {
            scope.spawn(|| check_inputs(trace));
        }
    });
}

fn check_inputs(trace: &Path) {
    for command in COMMANDS {
        let alone = match command.starts_with("report") {
            true => format!("{command} --threads 1"),
            false => command.to_owned(),
        };
        let expected = said(&Run::of(locktrace(&alone).arg(trace)), trace);
        assert!(matches!(expected.0, Some(0 | 1)), "{expected:?}");
        let threads: &[&str] = match command.starts_with("report") {
            true => &["--threads 1", "--threads 2", "--threads 8"],
            false => &[""],
        };
        for threads in threads {
            let command = format!("{command} {threads}");
            let what = format!("{command}: {}", trace.display());
            let file = Run::of(locktrace(&command).arg(trace));
            assert_eq!(said(&file, trace), expected, "{what}, file");
            let mut piped = locktrace(&command);
            let piped = Run::of(piped.arg("-").pipe_stdin(trace).expect("readable"));
            assert_eq!(said(&piped, Path::new("<stdin>")), expected, "{what}, pipe");
            assert_eq!(from_socket(&command, trace), expected, "{what}, socket");
            let growing = from_growing_file(&command, trace);
            assert_eq!(growing, expected, "{what}, growing file");
        }
    }
}
